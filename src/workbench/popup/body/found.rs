//! The matches in the rows of a line, also in a line that is broken over two of them.

use std::ops::Range;

use crate::workbench::document::Document;
use crate::workbench::text::{self, CleanLine, Marks};
use crate::workbench::theme::Role;

/// For each row of the line at `at`, the bytes of its text that are part of a place found. Text is compared as it is
/// shown.
pub fn in_rows(
    document: &Document,
    at: usize,
    rows: &[(Role, CleanLine)],
    query: &str,
    marks: Marks,
) -> Vec<Vec<Range<usize>>> {
    let Some(line) = document.line(at) else { return Vec::new() };
    let shown = |text: &str| text::show(text, marks).text();
    let (before, after) = document.around(at, query.len());
    let (before, mut text) = (shown(&before), shown(&line.text()));
    let own = before.len()..before.len() + text.len();
    text.insert_str(0, &before);
    text.push_str(&shown(&after));
    let places = places(&text, &shown(query));
    let mut from = own.start;
    let mut found = Vec::new();
    for (_, row) in rows {
        let row = row.text();
        // The end of a row may have taken the place of a blank. What a row has beyond the line is a note about it.
        let rest = text.get(from..own.end).unwrap_or_default();
        from += usize::from(!rest.starts_with(&row) && rest.starts_with(' '));
        let inside = |place: &Range<usize>| {
            let start = place.start.clamp(from, from + row.len()) - from;
            let end = place.end.min(own.end).clamp(from, from + row.len()) - from;
            let whole = row.is_char_boundary(start) && row.is_char_boundary(end);
            (start < end && whole).then_some(start..end)
        };
        found.push(places.iter().filter_map(inside).collect());
        from += row.len();
    }
    found
}

/// The bytes of `text` at which `query` is found, whatever the case.
fn places(text: &str, query: &str) -> Vec<Range<usize>> {
    if query.is_empty() {
        return Vec::new();
    }
    let mut lower = String::with_capacity(text.len());
    // Lower case may be longer or shorter: of each of its bytes, the character of the text that it comes from.
    let mut of = Vec::with_capacity(text.len() + 1);
    for (at, c) in text.char_indices() {
        lower.extend(c.to_lowercase());
        of.resize(lower.len(), at);
    }
    let query = query.to_lowercase();
    let end_of = |last: usize| {
        let rest = text.get(last..).and_then(|rest| rest.chars().next());
        last + rest.map_or(0, char::len_utf8)
    };
    let place = |(at, hit): (usize, &str)| {
        let (first, last) = (*of.get(at)?, *of.get((at + hit.len()).checked_sub(1)?)?);
        Some(first..end_of(last))
    };
    lower.match_indices(query.as_str()).filter_map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_of_the_text_whatever_the_case_and_its_length() {
        assert_eq!(places("ab AB ß", "aB"), [0..2, 3..5]);
        // The lower case of this letter takes three bytes instead of two.
        assert_eq!(places("\u{130}xy xy", "XY"), [2..4, 5..7]);
        assert!(places("xy", "").is_empty());
    }
}
