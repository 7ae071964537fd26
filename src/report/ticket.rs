//! Decisions as Markdown for a ticket or a chat.
//!
//! What a recording or a policy says is in code spans and code blocks, whose fences are longer than any run of backticks in
//! it: nothing in there can format, link, mention a user or be HTML, and it can be read in the raw text as well.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::account::{Account, Objection, Row};
use super::counts::incomplete_markdown;
use super::diff::markdown::fence;
use super::{End, words};
use rulestep_engine::monitor::Effect;

/// One decision: what was decided, why, by which lines of which rule, and what would change it.
///
/// ```text
/// ##### ✗ denied: `issue_refund(order_id: "ORD-124")`
/// ```
#[must_use]
pub fn decision(account: &Account) -> String {
    let mut text = String::new();
    let remark = account.remark.map(|remark| format!(" ({remark})")).unwrap_or_default();
    let what = match (&account.call, account.deciding()) {
        (Some(call), _) => span(call),
        (None, Some(rule)) => span(&rule.name),
        (None, None) => "the session".to_owned(),
    };
    let _ = writeln!(text, "##### {} {}{remark}: {what}\n", account.glyph.unicode(), account.decision);
    let mut objections = account.objections.iter();
    let first = objections.next();
    match first {
        Some(objection) => {
            let _ = writeln!(text, "{}{}\n", span(&objection.headline), code(objection));
        }
        None if account.undecided => text.push_str("No rule can decide this call.\n\n"),
        None => text.push_str("No rule objects to this call.\n\n"),
    }
    if let Some(rule) = first {
        let _ = writeln!(text, "- Rule: {}, {}", span(&rule.name), span(&rule.place));
    }
    let _ = writeln!(
        text,
        "- Where: session {}, {}, {}",
        span(&account.session),
        account.place,
        span(&account.file)
    );
    first.into_iter().flat_map(|first| &first.rows).chain(&account.rows).for_each(|row| item(&mut text, row));
    for other in objections {
        let also = if other.effect == Effect::Report { "Report" } else { "Also" };
        let (headline, name) = (span(&other.headline), span(&other.name));
        let _ = writeln!(text, "- {also}: {headline}{}, {name}, {}", code(other), span(&other.place));
    }
    if let Some(rule) = first.filter(|rule| !rule.yaml.is_empty()) {
        text.push('\n');
        block(&mut text, rule);
    }
    text
}

/// Writes what was found in all sessions: the sums, then every finding that is described, by rule.
pub fn document(end: &End<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "### Rulestep: {}\n", end.run().summary)?;
    for line in end.caveats {
        writeln!(out, "**{line}**\n")?;
    }
    for line in incomplete_markdown(end.total, "judged") {
        writeln!(out, "{line}\n")?;
    }
    for (rule, group) in end.data.groups() {
        writeln!(out, "#### {}\n\n{}\n", span(&end.name(rule)), group.did(end.mode))?;
        for entry in &group.entries {
            writeln!(out, "{}", decision(&entry.account))?;
            for place in &entry.like.shown {
                writeln!(out, "- Also at {}", span(place))?;
            }
            if entry.like.more > 0 {
                writeln!(out, "- and {}", words::count(entry.like.more, "more call"))?;
            }
        }
        if group.rest() > 0 {
            writeln!(out, "\n{} of this rule not shown here.\n", words::count(group.rest(), "more finding"))?;
        }
    }
    if let Some(command) = end.all() {
        writeln!(out, "All findings: {}", span(&command))?;
    }
    Ok(())
}

fn item(text: &mut String, row: &Row) {
    match &row.lines[..] {
        [line] => {
            let _ = writeln!(text, "- {}: {}", row.label, span(line));
        }
        lines => {
            let _ = writeln!(text, "- {}:", row.label);
            for line in lines {
                let _ = writeln!(text, "  - {}", span(line));
            }
        }
    }
}

fn code(objection: &Objection) -> String {
    objection.code.map(|code| format!(" ({})", span(code.as_str()))).unwrap_or_default()
}

/// The rule's own lines.
fn block(text: &mut String, rule: &Objection) {
    let mut lines: String = rule.yaml.iter().map(|(_, line)| format!("{line}\n")).collect();
    if rule.yaml_goes_on {
        lines.push_str("…\n");
    }
    let fence = fence(&lines);
    let _ = writeln!(text, "{fence}yaml\n{lines}{fence}");
}

/// A line of any text as a code span that ends where the text does.
#[must_use]
pub fn span(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let ticks = "`".repeat(longest + 1);
    // One space at each end is no part of the code, and keeps a backtick there apart from the fence.
    let apart = text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']);
    match text.trim().is_empty() {
        true => format!("{ticks} {ticks}"),
        false if apart => format!("{ticks} {text} {ticks}"),
        false => format!("{ticks}{text}{ticks}"),
    }
}
