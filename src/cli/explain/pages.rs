//! The pages of `explain`: of a code, a policy language, a key or a topic, and the list of all.

use serde::Serialize;

use super::{filter, formats, marks};
use crate::cli::args::{self, Format, PAGES};
use crate::cli::exit::{Exit, Failure};
use crate::cli::screen::Screen;
use crate::report::{Look, reference as report};
use rulestep_base::diagnostic::{Code, Page, PageKind};
use rulestep_base::source::nearest::nearest;
use rulestep_engine::dialect::lookup::{self, Match, Reference, nearest_path};
use rulestep_engine::dialect::{self, DIALECTS, Dialect};
use rulestep_engine::run::SEMANTICS;
use rulestep_recording::{self as recording, FORMATS};

/// The page of this name.
pub fn page(name: &str, format: Format, screen: &mut Screen) -> Result<Exit, Failure> {
    if let Some(page) = dialect::page(name) {
        match format {
            Format::Json => data(page, screen)?,
            Format::Text => write!(screen.out(), "{}: {}\n\n{}", page.code, page.title, page.text)?,
        }
        return Ok(Exit::Clean);
    }
    if let Some((page, asked)) = lookup::asked(name) {
        return key(page, asked, format, screen);
    }
    if let Some(recorded) = recording::named(name) {
        return formats::one(recorded, format, screen);
    }
    let topic = topics().find(|(topic, _)| topic == name).map(|(_, text)| text);
    let dialect = dialect::meant(name);
    let Some(text) = dialect.map(|dialect| dialect.reference).or(topic) else {
        let codes = dialect::codes().map(|page| page.code.as_str().to_owned());
        let dialects =
            DIALECTS.iter().flat_map(|dialect| [dialect.name.to_owned(), dialect.plural().to_owned()]);
        let others = args::pages().chain(FORMATS.iter().map(|format| format.name));
        let known = codes.chain(dialects).chain(topics().map(|(topic, _)| topic));
        let known: Vec<String> = known.chain(others.map(str::to_owned)).collect();
        let failure = Failure::usage(format!("there is no code, policy language, format or topic `{name}`"));
        return Err(match nearest(name, known.iter().map(String::as_str)) {
            Some(near) => failure.help(format!("did you mean `{near}`?")),
            None => failure.help("`rulestep explain` lists all pages"),
        });
    };
    match (format, dialect) {
        (Format::Json, Some(dialect)) => reference_data(dialect, screen)?,
        (Format::Json, None) => topic_data(name, text, screen)?,
        (Format::Text, _) => {
            let look = Look { color: screen.color, ..Look::default() };
            report::text(text, &look, screen.out())?;
        }
    }
    Ok(Exit::Clean)
}

/// The entries of a key, or of all keys of a place.
fn key(page: &Reference, asked: &str, format: Format, screen: &mut Screen) -> Result<Exit, Failure> {
    let sections = || page.sections_named(asked).into_iter().flat_map(|section| page.keys_of(section));
    let found = page.named(asked);
    let found: Vec<Match<'_>> = if found.is_empty() { sections().collect() } else { found };
    if found.is_empty() {
        let name = page.dialect.name;
        let failure = Failure::usage(format!("{} have no key `{asked}`", page.dialect.plural()));
        return Err(match nearest_path(page, asked) {
            Some(near) => failure.help(format!("did you mean `{near}`?")),
            None => failure.help(format!("`rulestep explain {name}` lists all keys")),
        });
    }
    let look = Look { color: screen.color, ..Look::default() };
    for (place, found) in found.iter().enumerate() {
        match format {
            Format::Json => writeln!(screen.out(), "{}", report::data(found))?,
            Format::Text => {
                if place > 0 {
                    writeln!(screen.out())?;
                }
                report::entry(found, &look, report::WIDTH, screen.out())?;
            }
        }
    }
    Ok(Exit::Clean)
}

/// The semantics of every dialect, then each of its parts under its heading.
fn topics() -> impl Iterator<Item = (String, &'static str)> {
    let parts = SEMANTICS.split("\n# ").skip(1).filter_map(|part| part.split_once("\n\n"));
    let parts = parts.map(|(heading, text)| (heading.to_lowercase().replace(' ', "-"), text));
    std::iter::once(("semantics".to_owned(), SEMANTICS)).chain(parts)
}

/// Lists all pages.
pub fn list(format: Format, screen: &mut Screen) -> Result<Exit, Failure> {
    let width = dialect::codes().map(|page| page.code.as_str().len()).max().unwrap_or_default();
    if format == Format::Text {
        writeln!(screen.out(), "Policy languages, each with a reference page:")?;
    }
    for dialect in DIALECTS {
        match format {
            Format::Json => reference_data(dialect, screen)?,
            Format::Text => writeln!(screen.out(), "  {:<width$}  {}", dialect.name, dialect.title)?,
        }
    }
    if format == Format::Text {
        let parts: Vec<String> = topics().skip(1).map(|(topic, _)| topic).collect();
        writeln!(screen.out(), "Topics that all languages share:")?;
        writeln!(
            screen.out(),
            "  {:<width$}  how Rulestep decides calls; its parts are the other topics",
            "semantics"
        )?;
        for parts in parts.chunks(8) {
            writeln!(screen.out(), "  {}", parts.join(", "))?;
        }
        writeln!(screen.out(), "Other pages:")?;
        for (name, title) in PAGES {
            writeln!(screen.out(), "  {name:<width$}  {title}")?;
        }
    } else {
        topic_data("semantics", SEMANTICS, screen)?;
        formats::data(screen)?;
        marks::data(screen)?;
        filter::data(screen)?;
    }
    for (kind, title) in [
        (PageKind::Finding, "Findings, why a rule stops or reports a call"),
        (PageKind::Problem, "Problems in policies, recordings and cases"),
    ] {
        let mut pages = dialect::codes().filter(|page| page.kind == kind);
        match format {
            Format::Json => pages.try_for_each(|page| data(page, screen))?,
            Format::Text => {
                writeln!(screen.out(), "{title}:")?;
                for page in pages {
                    writeln!(screen.out(), "  {:<width$}  {}", page.code, page.title)?;
                }
            }
        }
    }
    Ok(Exit::Clean)
}

fn reference_data(dialect: &Dialect, screen: &mut Screen) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Line {
        dialect: &'static str,
        title: &'static str,
        text: &'static str,
    }
    let line = Line { dialect: dialect.name, title: dialect.title, text: dialect.reference };
    serde_json::to_writer(screen.out(), &line).map_err(std::io::Error::from)?;
    Ok(writeln!(screen.out())?)
}

fn topic_data(topic: &str, text: &str, screen: &mut Screen) -> Result<(), Failure> {
    serde_json::to_writer(screen.out(), &serde_json::json!({"topic": topic, "text": text}))
        .map_err(std::io::Error::from)?;
    Ok(writeln!(screen.out())?)
}

fn data(page: &Page, screen: &mut Screen) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Line {
        code: Code,
        kind: PageKind,
        title: &'static str,
        text: &'static str,
    }
    let line = Line { code: page.code, kind: page.kind, title: page.title, text: page.text };
    serde_json::to_writer(screen.out(), &line).map_err(std::io::Error::from)?;
    Ok(writeln!(screen.out())?)
}
