//! `explain filter`: the terms of `--where`, and of the filters in the workbench.

use crate::cli::args::Format;
use crate::cli::exit::{Exit, Failure};
use crate::cli::hanging::hanging;
use crate::cli::screen::Screen;
use crate::explore::filter::{FORMS, STATE_KEY, meanings};

/// Columns before the meaning.
const INDENT: usize = 18;

/// How terms are combined.
const TOGETHER: [&str; 3] = [
    "A filter is one or more terms with blanks between them. A session is shown or used if all of them match it: \
     `tool:deploy is:error since:7d`.",
    "Terms about calls (`tool:`, `turn:`, `rule:`, `code:` and most values of `is:`) must match the same call, so `tool:deploy \
     is:error` is a deployment that failed. With only negated terms about calls, a session matches if none of its calls does: \
     `!is:error` is a session without an error.",
    "In the list of findings of the workbench, each finding is filtered by itself instead of each session.",
];

/// The page.
pub fn page(format: Format, screen: &mut Screen) -> Result<Exit, Failure> {
    match format {
        Format::Json => data(screen)?,
        Format::Text => text(screen)?,
    }
    Ok(Exit::Clean)
}

fn text(screen: &mut Screen) -> Result<(), Failure> {
    let out = screen.out();
    let [first, rest @ ..] = TOGETHER;
    writeln!(out, "{}\n\nForms of a term:", hanging("", 0, first))?;
    for (form, meaning) in FORMS {
        writeln!(out, "{}", hanging(&format!("  {form}"), INDENT, meaning))?;
    }
    let is_state = |term: &str| term.starts_with(STATE_KEY) && !term.ends_with(':');
    for (title, states) in [("Keys", false), ("Values of `is:`", true)] {
        writeln!(out, "\n{title}:")?;
        for (term, meaning) in meanings().filter(|(term, _)| is_state(term) == states) {
            writeln!(out, "{}", hanging(&format!("  {term}"), INDENT, meaning))?;
        }
    }
    for paragraph in rest {
        writeln!(out, "\n{}", hanging("", 0, paragraph))?;
    }
    Ok(())
}

/// A term a line.
pub fn data(screen: &mut Screen) -> Result<(), Failure> {
    let forms = FORMS.map(|(form, meaning)| (form.to_owned(), meaning));
    for (term, meaning) in forms.into_iter().chain(meanings()) {
        writeln!(screen.out(), "{}", serde_json::json!({"term": term, "text": meaning}))?;
    }
    Ok(())
}
