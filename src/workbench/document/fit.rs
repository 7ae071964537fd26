//! Breaks long lines again at the ends of the screen's rows, so that every row is as full as its words allow.

use std::collections::BTreeSet;

use super::{Document, LONGEST, Line, Token};
use crate::workbench::text::{self, Marks};

/// Columns before a line: the sign of what can be folded.
pub const GUTTER: usize = 2;
/// Columns a level of nesting is moved in.
const STEP: usize = 2;

impl Line {
    /// Columns of its indentation, at most half the width.
    pub fn indent(&self, width: usize) -> usize {
        (self.depth * STEP).min(width / 2)
    }

    /// Columns for its text.
    pub fn room(&self, width: usize) -> usize {
        width.saturating_sub(GUTTER + self.indent(width)).max(1)
    }
}

impl Document {
    /// Breaks long lines for a screen of this width; returns the new row of the cursor at `row`.
    pub fn fit(&mut self, width: usize, marks: Marks, row: usize) -> usize {
        if self.fits == Some((width, marks)) {
            return row;
        }
        self.fits = Some((width, marks));
        let (first, offset) = self.offset_of(self.visible.get(row).copied().unwrap_or(0));
        // The new index of each line.
        let mut places: Vec<usize> = Vec::with_capacity(self.lines.len());
        let mut lines: Vec<Line> = Vec::with_capacity(self.lines.len());
        let mut old = std::mem::take(&mut self.lines).into_iter().peekable();
        while let Some(mut line) = old.next() {
            let place = lines.len();
            places.push(place);
            line.parent = line.parent.and_then(|parent| places.get(parent).copied());
            let token: fn(String) -> Token = match &line.token {
                Token::String(_) => Token::String,
                Token::Text(_) => Token::Text,
                _ => {
                    lines.push(line);
                    continue;
                }
            };
            let before = line.key.as_ref().map_or(0, |key| key.len() + 2);
            let mut comma = std::mem::take(&mut line.comma);
            let mut whole = line.text();
            while let Some(more) = old.next_if(|next| next.goes_on) {
                places.push(place);
                comma = more.comma;
                if let Token::String(part) | Token::Text(part) = &more.token {
                    whole.push_str(part);
                }
            }
            line.comma = comma;
            broken(&line, &whole, before, token, (width, marks), &mut lines);
        }
        for line in lines.iter_mut().filter(|line| !matches!(line.token, Token::String(_) | Token::Text(_))) {
            line.end = places.get(line.end).copied().unwrap_or(line.end);
        }
        let folded = self.folded.iter().filter_map(|at| places.get(*at).copied());
        self.folded = folded.collect::<BTreeSet<_>>();
        self.lines = lines;
        self.show_lines();
        self.row_of(self.at_offset(places.get(first).copied().unwrap_or(0), offset))
    }

    /// The first line of this continued text, and the number of its bytes before this line.
    fn offset_of(&self, at: usize) -> (usize, usize) {
        let (mut first, mut offset) = (at, 0);
        while self.lines.get(first).is_some_and(|line| line.goes_on)
            && let Some(before) = first.checked_sub(1)
        {
            first = before;
            offset += self.lines.get(first).map_or(0, |line| line.text().len());
        }
        (first, offset)
    }

    /// The line that has this byte of what begins at `first`.
    fn at_offset(&self, first: usize, offset: usize) -> usize {
        let (mut at, mut before) = (first, 0);
        while let Some(line) = self.lines.get(at)
            && self.lines.get(at + 1).is_some_and(|next| next.goes_on)
        {
            before += line.text().len();
            if before > offset {
                break;
            }
            at += 1;
        }
        at
    }
}

/// Adds the lines that `whole` is broken into, which begins with the key of `line`: as many rows of the screen as a line may have
/// characters.
fn broken(
    line: &Line,
    whole: &str,
    key: usize,
    token: fn(String) -> Token,
    (width, marks): (usize, Marks),
    lines: &mut Vec<Line>,
) {
    let room = line.room(width);
    let rows = (LONGEST / room).max(1);
    let mut from = 0;
    loop {
        let rest = whole.get(from..).unwrap_or_default();
        let mut end = from + text::filled(rest, room, rows, marks);
        let mut more = rows;
        while end <= key && end < whole.len() {
            more += 1;
            end = from + text::filled(rest, room, more, marks);
        }
        // A row holds something, so that this ends.
        let last = end >= whole.len() || end <= from;
        let end = if last { whole.len() } else { end };
        let part = whole.get(from.max(key)..end).unwrap_or_default();
        lines.push(Line {
            key: line.key.clone().filter(|_| from == 0),
            token: token(part.to_owned()),
            comma: line.comma && last,
            goes_on: from > 0,
            end: lines.len(),
            ..line.clone()
        });
        if last {
            return;
        }
        from = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lines(document: &Document) -> Vec<String> {
        (0..document.rows()).map(|row| document.line(row).unwrap().text()).collect()
    }

    #[test]
    fn long_lines_are_broken_at_words_where_rows_of_the_screen_end() {
        for width in [12, 38, 74, 114, 250] {
            let text = "word ".repeat(400);
            let mut document = Document::of_value(&json!({"content": text, "n": [1]}));
            let before = document.rows();
            assert_eq!(document.fit(width, Marks::Unicode, before - 1), document.rows() - 1, "the last row");
            let lines = lines(&document);
            assert_eq!(lines[1..lines.len() - 4].concat(), format!("\"content\": \"{text}\","));
            for (at, line) in lines.iter().enumerate().take(lines.len() - 5).skip(1) {
                let (line, room) = (line.trim_end(), document.line(at).unwrap().room(width));
                let rows = text::wrap(line, room, 400, Marks::Unicode);
                assert!(!line.starts_with(' ') && line.ends_with("word"), "{width} {line:?}");
                // No word more has room in it.
                assert!(rows.iter().all(|row| row.width + 5 > room || at == 1), "{width} {rows:?}");
            }
            for row in 0..document.rows() {
                assert!(document.path(row).is_some_and(|path| path.starts_with('$')));
            }
            assert_eq!(document.path(2).unwrap(), "$.content");
            assert_eq!(document.path(document.rows() - 3).unwrap(), "$.n[0]");
        }
    }

    #[test]
    fn whoever_reads_stays_at_the_same_words_and_folds_stay() {
        let words: String = (0..500).map(|number| format!("w{number} ")).collect();
        let mut document = Document::of_value(&json!({"a": {"b": 1}, "text": words}));
        document.fit(120, Marks::Unicode, 0);
        document.toggle(1);
        let row = document.find("w250 ", 0, true).unwrap();
        for width in [30, 80, 200, 120] {
            let now = document.fit(width, Marks::Unicode, row);
            assert_eq!(document.folded(1), Some(1), "{width}");
            let again = document.find("w250 ", 0, true).unwrap();
            assert!(now.abs_diff(again) <= 1 + 200 / width, "{width} {now} {again}");
            document.fit(120, Marks::Unicode, now);
        }
        // Also what is broken over two lines.
        document.fit(30, Marks::Unicode, 0);
        assert!(
            (0..499).all(|number| document.find(&format!("w{number} w{}", number + 1), 0, true).is_some())
        );
    }

    #[test]
    fn megabytes_take_no_time_that_is_felt() {
        let text = format!("{}é", "some words ".repeat(400_000));
        let mut document = Document::of_value(&json!({"text": text}));
        let begun = std::time::Instant::now();
        document.fit(80, Marks::Unicode, 0);
        // A build without optimisation takes some ten times as long.
        assert!(begun.elapsed() < std::time::Duration::from_secs(5), "{:?}", begun.elapsed());
        assert!(document.rows() > 20_000);
    }

    #[test]
    fn keys_that_are_wider_than_the_room_are_no_end() {
        let key = "key ".repeat(30);
        for width in [0, 1, 3, 9] {
            let mut document = Document::of_value(&json!({ &key: "x ".repeat(100) }));
            document.fit(width, Marks::Ascii, 0);
            let lines = lines(&document);
            assert_eq!(lines[1..lines.len() - 1].concat(), format!("\"{key}\": \"{}\"", "x ".repeat(100)));
        }
    }
}
