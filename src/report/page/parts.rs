//! Common parts of pages.

use maud::{Markup, html};

use crate::report::End;
use rulestep_engine::monitor::RuleId;

/// Bytes after which no more findings, and no more of a transcript, are put into a page.
const ROOM: usize = 4 << 20;

/// The parts that a page has room for.
pub fn fitting(parts: impl Iterator<Item = Markup>) -> Vec<Markup> {
    let fits = |room: &mut usize, part: Markup| {
        *room = room.checked_sub(part.0.len())?;
        Some(part)
    };
    parts.scan(ROOM, fits).collect()
}

/// The command that shows what a page leaves out.
pub fn all(end: &End<'_>) -> Markup {
    html! { @if let Some(command) = end.all() { p.meta { "This command lists all: " code { (command) } } } }
}

/// The anchor of a group.
pub fn anchor(rule: Option<RuleId>) -> String {
    rule.map_or("rule-none".to_owned(), |RuleId(number)| format!("rule-{number}"))
}

/// With a capital letter.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
