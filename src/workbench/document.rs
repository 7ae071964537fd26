//! A whole body as lines: JSON pretty-printed, each line with its JSONPath and what it folds; any other text as its
//! lines. Built once when a body is opened; nothing here draws.

use std::collections::BTreeSet;

use serde_json::Value;

use super::text::Marks;

mod fit;
mod lines;

pub use fit::GUTTER;

/// A body laid out in lines.
#[derive(Debug, Clone, Default)]
pub struct Document {
    lines: Vec<Line>,
    /// Lines that are folded.
    folded: BTreeSet<usize>,
    /// Lines on screen, in order.
    visible: Vec<usize>,
    json: bool,
    /// The width and the marks that long lines are broken for.
    fits: Option<(usize, Marks)>,
}

/// A line of a [`Document`].
#[derive(Debug, Clone)]
pub struct Line {
    /// How deep it is nested.
    pub depth: usize,
    /// The key it begins with, as JSON text.
    pub key: Option<String>,
    /// The content after the key.
    pub token: Token,
    /// A comma follows it, or what closes it.
    pub comma: bool,
    /// Whether it continues the line before, which was too long.
    pub goes_on: bool,
    /// The last line of what begins here.
    end: usize,
    /// Members or elements of what begins here.
    size: usize,
    /// The line that opens what this one is in.
    parent: Option<usize>,
    step: Option<Step>,
}

/// The content of a line after its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// `{` or `[`, closed on a later line.
    Open(char),
    /// `}` or `]`.
    Close(char),
    /// A string, with its quotes and escapes, or a part of one.
    String(String),
    /// A number, `true`, `false`, `null`, `{}` or `[]`.
    Word(String),
    /// Text that is not JSON.
    Text(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// Number of lines up to which matches are counted.
pub const COUNTED: usize = 20_000;

/// Most characters of a line, rounded to whole rows of the screen if its width is known; longer text continues in the
/// next line, so that no line is taller than a screen and none costs more than it shows.
const LONGEST: usize = 200;

impl Document {
    /// The lines of a JSON value.
    pub fn of_value(value: &Value) -> Self {
        let mut document = Self { json: true, ..Self::default() };
        document.value(value, None, None, 0, None, false);
        document.show_lines();
        document
    }

    /// The lines of any text.
    pub fn of_text(text: &str) -> Self {
        let mut document = Self::default();
        for line in text.split('\n') {
            let line = line.strip_suffix('\r').unwrap_or(line);
            document.long(line, 0, None, None, None, false, Token::Text);
        }
        document.show_lines();
        document
    }

    /// The number of visible lines, without folded ones.
    pub fn rows(&self) -> usize {
        self.visible.len()
    }

    /// The line at this row.
    pub fn line(&self, row: usize) -> Option<&Line> {
        self.lines.get(*self.visible.get(row)?)
    }

    /// The JSONPath of this row; of a closing bracket's row, that of its opening.
    pub fn path(&self, row: usize) -> Option<String> {
        let steps = self.steps(row)?;
        let mut path = String::from("$");
        for step in steps {
            match step {
                Step::Key(key) if is_name(key) => {
                    path.push('.');
                    path.push_str(key);
                }
                Step::Key(key) => {
                    path.push_str("['");
                    path.push_str(&quoted(key));
                    path.push_str("']");
                }
                Step::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        Some(path)
    }

    /// The part of `value`, the value this document was made of, at this row.
    pub fn part<'v>(&self, row: usize, value: &'v Value) -> Option<&'v Value> {
        self.steps(row)?.into_iter().try_fold(value, |value, step| match step {
            Step::Key(key) => value.get(key),
            Step::Index(index) => value.get(index),
        })
    }

    /// The number of members or elements that the folded line at this row hides; `None` when it is not folded.
    pub fn folded(&self, row: usize) -> Option<usize> {
        let at = *self.visible.get(row)?;
        self.folded.contains(&at).then(|| self.lines.get(at).map_or(0, |line| line.size))
    }

    /// Folds or unfolds what begins at this row, else what the row is in; returns the new row of the cursor.
    pub fn toggle(&mut self, row: usize) -> usize {
        let Some(at) = self.visible.get(row).copied() else { return row };
        let opens = |at: usize| self.lines.get(at).is_some_and(|line| line.end > at);
        let target = if opens(at) { Some(at) } else { self.lines.get(at).and_then(|line| line.parent) };
        let Some(target) = target else { return row };
        if !self.folded.remove(&target) {
            self.folded.insert(target);
        }
        self.show_lines();
        self.row_of(target)
    }

    /// Folds everything below the first level; returns the new row of the cursor at `row`.
    pub fn fold_all(&mut self, row: usize) -> usize {
        let at = self.visible.get(row).copied().unwrap_or(0);
        self.folded = (0..self.lines.len())
            .filter(|at| self.lines.get(*at).is_some_and(|line| line.end > *at && line.depth > 0))
            .collect();
        self.show_lines();
        self.row_of(at)
    }

    /// Unfolds everything; returns the new row of the cursor at `row`.
    pub fn unfold_all(&mut self, row: usize) -> usize {
        let at = self.visible.get(row).copied().unwrap_or(0);
        self.folded.clear();
        self.show_lines();
        self.row_of(at)
    }

    /// The next row from `row` on, `row` not included, whose line contains `query` in any case, with wrap-around;
    /// unfolds what hides it.
    pub fn find(&mut self, query: &str, row: usize, forward: bool) -> Option<usize> {
        let query = query.to_lowercase();
        let from = self.visible.get(row).copied().unwrap_or(0);
        let count = self.lines.len();
        let found = (1..=count)
            .map(|by| if forward { (from + by) % count } else { (from + count - by % count) % count })
            .find(|at| self.contains(*at, &query))?;
        let mut parent = self.lines.get(found).and_then(|line| line.parent);
        while let Some(at) = parent {
            self.folded.remove(&at);
            parent = self.lines.get(at).and_then(|line| line.parent);
        }
        self.show_lines();
        Some(self.row_of(found))
    }

    /// The number of the match at this row, from 1, and the number of matches, folded ones included; `None` in a
    /// document so long that counting them would be slow.
    pub fn places(&self, query: &str, row: usize) -> Option<(usize, usize)> {
        if self.lines.len() > COUNTED {
            return None;
        }
        let query = query.to_lowercase();
        let here = self.visible.get(row).copied().unwrap_or(0);
        let found: Vec<usize> = (0..self.lines.len()).filter(|at| self.contains(*at, &query)).collect();
        Some((found.iter().filter(|at| **at <= here).count(), found.len()))
    }

    /// Whether `query` (lower case) is found in the line at this row.
    pub fn begins_at(&self, row: usize, query: &str) -> bool {
        self.visible.get(row).is_some_and(|at| self.contains(*at, query))
    }

    fn contains(&self, at: usize, query: &str) -> bool {
        let Some(line) = self.lines.get(at) else { return false };
        let mut text = line.text().to_lowercase();
        let own = text.len();
        // A match across broken lines belongs to the line where it begins.
        text.extend(self.goes_on(at, query.len()).map(|text| text.to_lowercase()));
        text.find(query).is_some_and(|found| found < own)
    }

    /// The lines that continue this one, up to `reach` bytes.
    fn goes_on(&self, at: usize, reach: usize) -> impl Iterator<Item = String> {
        let mut left = reach;
        self.lines.iter().skip(at + 1).take_while(|next| next.goes_on).map(Line::text).take_while(
            move |text| {
                let more = left > 0;
                left = left.saturating_sub(text.len());
                more
            },
        )
    }

    /// The text before and after the line at this row that was broken off because of its length, up to `reach` bytes.
    pub fn around(&self, row: usize, reach: usize) -> (String, String) {
        let Some(at) = self.visible.get(row).copied() else { return Default::default() };
        let mut before = Vec::new();
        let (mut first, mut left) = (at, reach);
        while left > 0
            && self.lines.get(first).is_some_and(|line| line.goes_on)
            && let Some(line) = first.checked_sub(1).and_then(|first| self.lines.get(first))
        {
            first -= 1;
            let text = line.text();
            left = left.saturating_sub(text.len());
            before.push(text);
        }
        before.reverse();
        (before.concat(), self.goes_on(at, reach).collect())
    }

    /// The number of lines of the match of `query` in the line at this row.
    pub fn lines_of(&self, query: &str, row: usize) -> usize {
        let Some(at) = self.visible.get(row).copied() else { return 1 };
        let (query, own) = (query.to_lowercase(), self.lines.get(at).map(Line::text).unwrap_or_default());
        let mut text = own.to_lowercase();
        let mut ends = vec![text.len()];
        for next in self.goes_on(at, query.len()) {
            text.push_str(&next.to_lowercase());
            ends.push(text.len());
        }
        let end = text.find(&query).map_or(0, |found| found + query.len());
        1 + ends.iter().filter(|line| **line < end).count()
    }

    fn steps(&self, row: usize) -> Option<Vec<&Step>> {
        if !self.json {
            return None;
        }
        let mut steps = Vec::new();
        let mut at = Some(*self.visible.get(row)?);
        while let Some(line) = at.and_then(|at| self.lines.get(at)) {
            if let Some(step) = &line.step {
                steps.push(step);
            }
            at = line.parent;
        }
        steps.reverse();
        Some(steps)
    }

    fn row_of(&self, at: usize) -> usize {
        // The line itself, or the one that is folded over it.
        self.visible.partition_point(|line| *line <= at).saturating_sub(1)
    }

    fn show_lines(&mut self) {
        self.visible.clear();
        let mut at = 0;
        while at < self.lines.len() {
            self.visible.push(at);
            at = match self.lines.get(at) {
                Some(line) if self.folded.contains(&at) => line.end + 1,
                _ => at + 1,
            };
        }
    }
}

impl Line {
    /// Whether something begins here that can be folded.
    pub fn opens(&self) -> bool {
        matches!(self.token, Token::Open(_))
    }

    /// The line as text, without its indentation.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if let Some(key) = &self.key {
            text.push_str(key);
            text.push_str(": ");
        }
        match &self.token {
            Token::Open(sign) | Token::Close(sign) => text.push(*sign),
            Token::String(part) | Token::Word(part) | Token::Text(part) => text.push_str(part),
        }
        if self.comma && !self.opens() {
            text.push(',');
        }
        text
    }
}

/// Whether RFC 9535 allows it after a dot. ASCII only, which every JSONPath library reads.
fn is_name(key: &str) -> bool {
    let mut chars = key.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// `key` in single quotes, as in a normalized path.
fn quoted(key: &str) -> String {
    let mut text = String::new();
    for c in key.chars() {
        match c {
            '\'' => text.push_str("\\'"),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            '\0'..='\x1f' => text.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use jsonpath_rust::JsonPath;
    use serde_json::json;

    fn shown(document: &Document) -> Vec<String> {
        (0..document.rows())
            .map(|row| {
                let line = document.line(row).unwrap();
                format!("{}{}", "  ".repeat(line.depth), line.text())
            })
            .collect()
    }

    fn sample() -> Value {
        json!({"eligible": true, "order": {"id": "ORD-1", "lines": [1, {"sku": null}]}, "odd key": [], "it's": 1.50})
    }

    #[test]
    fn looks_like_pretty_json() {
        let document = Document::of_value(&sample());
        let want = serde_json::to_string_pretty(&sample()).unwrap();
        assert_eq!(shown(&document).join("\n"), want);
    }

    #[test]
    fn every_line_has_the_path_of_its_value() {
        let value = sample();
        let document = Document::of_value(&value);
        let mut paths = Vec::new();
        for row in 0..document.rows() {
            let path = document.path(row).unwrap();
            let found = value.query(&path).unwrap();
            assert_eq!(found, [document.part(row, &value).unwrap()], "{path}");
            paths.push(path);
        }
        assert_eq!(paths[1], "$.eligible");
        assert_eq!(paths[5], "$.order.lines[0]");
        assert_eq!(paths[7], "$.order.lines[1].sku");
        assert_eq!(paths[8], "$.order.lines[1]", "what closes is what opened");
        assert!(paths.contains(&"$['odd key']".to_owned()) && paths.contains(&"$['it\\'s']".to_owned()));
    }

    #[test]
    fn folds() {
        let mut document = Document::of_value(&sample());
        let all = document.rows();
        assert_eq!(document.toggle(3), 2, "a line without anything to fold folds what it stands in");
        assert_eq!(document.folded(2), Some(2));
        assert_eq!(document.line(3).unwrap().text(), "\"odd key\": [],");
        assert_eq!(document.toggle(2), 2);
        assert_eq!(document.rows(), all);
        document.fold_all(7);
        assert_eq!(document.rows(), 6);
        let row = document.find("SKU", 0, true).unwrap();
        assert_eq!(document.path(row).unwrap(), "$.order.lines[1].sku");
        assert_eq!(document.unfold_all(0), 0);
        assert_eq!(document.rows(), all);
    }

    #[test]
    fn finds_around_the_end_both_ways() {
        let mut document = Document::of_text("one\ntwo\r\nthree two\n");
        assert_eq!(shown(&document), ["one", "two", "three two", ""]);
        assert_eq!(document.find("two", 1, true), Some(2));
        assert_eq!(document.find("two", 2, true), Some(1));
        assert_eq!(document.find("two", 1, false), Some(2));
        assert_eq!(document.find("none", 0, true), None);
        assert_eq!(document.path(0), None);
        assert_eq!(Document::of_text("").rows(), 1);
    }

    #[test]
    fn long_text_goes_on_and_is_found_across_the_break() {
        let text = format!("{}needle{}", "x".repeat(LONGEST - 3), "y".repeat(LONGEST));
        let mut document = Document::of_text(&text);
        assert_eq!(document.rows(), 3);
        assert!(document.line(1).unwrap().goes_on);
        assert_eq!(document.find("needle", 2, true), Some(0));
        let long = json!({"a": "é".repeat(500)});
        let document = Document::of_value(&long);
        assert_eq!(document.path(3).unwrap(), "$.a");
        assert_eq!(document.rows(), 2 + 3);
    }
}
