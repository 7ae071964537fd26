//! Inserts and removes items of lists and objects in a text, with nothing else changed.

use jsonc_parser::common::Range;
use serde::Serialize as _;
use serde_json::ser::PrettyFormatter;
use serde_json::{Serializer, Value};

/// Whether nothing is set.
pub fn is_empty(text: &str) -> bool {
    text.trim().is_empty() || text.split_whitespace().collect::<String>() == "{}"
}

/// The text with something else in this place.
pub fn replace(text: &str, range: Range, new: &str) -> String {
    let (before, after) = (text.get(..range.start), text.get(range.end..));
    format!("{}{new}{}", before.unwrap_or_default(), after.unwrap_or_default())
}

/// A part of the text.
pub fn slice(text: &str, start: usize, end: usize) -> &str {
    text.get(start..end).unwrap_or_default()
}

fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// The white space that the line of this place begins with.
fn indent(text: &str, at: usize) -> &str {
    let line = slice(text, 0, at).rfind('\n').map_or(0, |end| end + 1);
    let rest = slice(text, line, text.len());
    rest.get(..rest.len() - rest.trim_start_matches([' ', '\t']).len()).unwrap_or_default()
}

/// One step of indentation, as the text has it.
fn unit(text: &str) -> &str {
    let mut lines = text.lines().filter(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty());
    lines.next().map_or("  ", |line| indent(line, 0))
}

/// Whether the text is written on one line, as a program does.
fn is_compact(text: &str) -> bool {
    !text.trim_end().contains('\n') && !is_empty(text)
}

/// A value, written as the text is.
pub fn pretty(text: &str, value: &Value) -> String {
    if is_compact(text) {
        return value.to_string();
    }
    let mut out = Vec::new();
    let formatter = PrettyFormatter::with_indent(unit(text).as_bytes());
    // Writing to memory does not fail.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut out, formatter));
    String::from_utf8_lossy(&out).into_owned()
}

/// The text with an item after all others of a list or object.
pub fn insert(text: &str, container: Range, items: &[Range], item: &str) -> String {
    let (open, close) = (container.start + 1, container.end.saturating_sub(1));
    let Some(last) = items.last() else {
        if is_compact(text) {
            return replace(text, Range { start: open, end: open }, item);
        }
        let (outer, line_end) = (indent(text, container.start), line_end(text));
        let inner = format!("{outer}{}", unit(text));
        let item = item.replace('\n', &format!("{line_end}{inner}"));
        let new = format!("{line_end}{inner}{item}{line_end}{outer}");
        // A comment in it comes first.
        let at = slice(text, 0, close).trim_end().len().max(open);
        return replace(text, Range { start: at, end: at }, &new);
    };
    let first = items.first().unwrap_or(last);
    let line_start = format!("{}{}", line_end(text), indent(text, first.start));
    let item = item.replace('\n', &line_start);
    let new = match slice(text, open, first.start).contains('\n') {
        true => format!("{line_start}{item}"),
        false if slice(text, open, close).contains([' ', '\n']) => format!(" {item}"),
        false => item,
    };
    // After a comment that belongs to the last item; the comma is before it.
    let end = slice(text, 0, close).trim_end().len().max(last.end);
    let text = replace(text, Range { start: end, end }, &new);
    replace(&text, Range { start: last.end, end: last.end }, ",")
}

/// The text without an item: what [`insert`] does, undone.
pub fn cut(text: &str, container: Range, items: &[Range], item: Range) -> String {
    let index = items.iter().position(|other| *other == item).unwrap_or_default();
    let before = |start: usize| slice(text, 0, start).trim_end().len();
    let open = container.start + 1;
    if let Some(next) = items.get(index + 1) {
        let end = comma(text, item.end, next.start) + 1;
        return replace(text, Range { start: before(item.start).max(open), end }, "");
    }
    let without = replace(text, Range { start: before(item.start).max(open), end: item.end }, "");
    if let Some(last) = index.checked_sub(1).and_then(|index| items.get(index)) {
        let comma = comma(text, last.end, item.start);
        return replace(&without, Range { start: comma, end: comma + 1 }, "");
    }
    let start = before(item.start).max(open);
    let closing = format!("{}{}", line_end(text), indent(text, container.start));
    match slice(&without, start, without.len()).starts_with(&closing) {
        true => replace(&without, Range { start, end: start + closing.len() }, ""),
        false => without,
    }
}

/// The comma between two items, outside comments.
fn comma(text: &str, start: usize, end: usize) -> usize {
    let mut at = start;
    while let rest = slice(text, at, end)
        && !rest.is_empty()
        && !rest.starts_with(',')
    {
        let comment = match rest.get(..2) {
            Some("//") => rest.find('\n'),
            Some("/*") => rest.find("*/").map(|end| end + 2),
            _ => None,
        };
        at += comment.unwrap_or_else(|| rest.chars().next().map_or(1, char::len_utf8));
    }
    at
}
