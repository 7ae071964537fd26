//! A named text, and positions in it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

/// A named text. Cheap to clone.
#[derive(Clone)]
pub struct Source {
    inner: Arc<Inner>,
}

struct Inner {
    name: Arc<str>,
    text: Arc<str>,
    /// Byte offsets at which lines begin, found on first use.
    line_starts: OnceLock<Vec<usize>>,
    /// Whether all its bytes are ASCII, so that columns need not be counted.
    is_ascii: OnceLock<bool>,
    /// Bytes that were parsed to make fixes.
    read_for_fixes: AtomicUsize,
}

/// A part of a source: byte offsets, half open.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

/// The beginning of a span, as an editor counts: from 1, columns in characters.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
}

impl Source {
    /// A text and the name it is shown under. A byte order mark at the beginning is removed.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Source {
        let text = text.into();
        let text = match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.into(),
            None => text,
        };
        let (line_starts, is_ascii, read_for_fixes) = (OnceLock::new(), OnceLock::new(), AtomicUsize::new(0));
        Source { inner: Arc::new(Inner { name: name.into(), text, line_starts, is_ascii, read_for_fixes }) }
    }

    /// The name: the path as the user gave it.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The name, shared.
    pub fn shared_name(&self) -> Arc<str> {
        Arc::clone(&self.inner.name)
    }

    /// Whether it is the same text in memory, not only an equal one.
    pub fn is(&self, other: &Source) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Whether another fix of this text may be computed: each parses the whole text, and a text may have as many
    /// warnings as lines.
    pub fn affords_fix(&self) -> bool {
        /// Bytes that may be parsed for the fixes of one text.
        const MOST: usize = 2 << 20;
        self.inner.read_for_fixes.fetch_add(self.text().len(), Ordering::Relaxed) <= MOST
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.inner.text
    }

    /// The position of a byte offset. An offset beyond the end, or within a character, is moved back to the nearest
    /// valid one.
    pub fn position(&self, offset: usize) -> Position {
        let offset = floor_boundary(self.text(), offset);
        let starts = self.line_starts();
        let line = starts.partition_point(|&start| start <= offset);
        let line_start = starts.get(line.saturating_sub(1)).copied().unwrap_or_default();
        let before = self.text().get(line_start..offset).unwrap_or_default();
        let is_ascii = *self.inner.is_ascii.get_or_init(|| self.text().is_ascii());
        let column = if is_ascii { before.len() } else { before.chars().count() };
        Position { line: to_u32(line), column: to_u32(column + 1) }
    }

    /// The text of a line (from 1), without its line end.
    pub fn line(&self, number: u32) -> Option<&str> {
        self.line_span(number).map(|span| self.slice(span))
    }

    /// The bytes of a line (from 1), without its line end.
    pub fn line_span(&self, number: u32) -> Option<Span> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        let starts = self.line_starts();
        let start = *starts.get(index)?;
        let next = starts.get(index + 1).copied().unwrap_or(self.text().len());
        let line = self.text().get(start..next)?;
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        Some(Span { start, end: start + line.len() })
    }

    /// The number of lines. A line end at the very end of the text begins no further line; an empty text has
    /// one line.
    pub fn line_count(&self) -> u32 {
        to_u32(self.line_starts().len())
    }

    /// The text of a span; empty if the span is not a part of this text.
    pub fn slice(&self, span: Span) -> &str {
        self.text().get(span.start..span.end).unwrap_or_default()
    }

    fn line_starts(&self) -> &[usize] {
        self.inner.line_starts.get_or_init(|| {
            let text = self.text();
            let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1).filter(|&at| at < text.len());
            std::iter::once(0).chain(after_breaks).collect()
        })
    }
}

impl PartialEq for Source {
    fn eq(&self, other: &Source) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner) || (self.name() == other.name() && self.text() == other.text())
    }
}

impl Eq for Source {}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("name", &self.name()).field("bytes", &self.text().len()).finish()
    }
}

impl Span {
    /// From the first byte to the one after the last.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end: end.max(start) }
    }

    /// An empty span at a position.
    pub fn empty(at: usize) -> Span {
        Span { start: at, end: at }
    }

    /// From the beginning of this span to the end of another.
    pub fn to(self, other: Span) -> Span {
        Span::new(self.start, other.end)
    }

    /// Whether it has no bytes.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Whether a byte offset is in it.
    pub fn contains(self, offset: usize) -> bool {
        self.start <= offset && offset < self.end
    }

    /// Its part on its first line of `text`.
    pub fn first_line(self, text: &str) -> Span {
        let line = text.get(self.start..self.end).and_then(|all| all.lines().next()).unwrap_or_default();
        Span::new(self.start, self.start + line.trim_end().len())
    }
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// The last character boundary that is not after `offset`.
pub fn floor_boundary(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Whether a letter cannot be seen: control characters beyond ASCII (`U+009B` begins escape sequences too), and
/// characters without width.
pub fn is_unseen(letter: char) -> bool {
    matches!(
        letter,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}' | '\u{2029}'
            | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Lines and columns beyond what an editor can count are shown as the last it can.
fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters() {
        let source = Source::new("a.yaml", "añb\r\nß: 1\n");
        let at = |offset| source.position(offset).to_string();
        assert_eq!([at(0), at(1), at(3), at(6), at(8)], ["1:1", "1:2", "1:3", "2:1", "2:2"]);
        assert_eq!(at(2), "1:2", "within a character");
        assert_eq!(at(99), "2:6", "beyond the end");
        assert_eq!(source.line_count(), 2);
        assert_eq!((source.line(1), source.line(2), source.line(3)), (Some("añb"), Some("ß: 1"), None));
        assert_eq!(source.line(0), None);
    }

    #[test]
    fn an_empty_text_has_one_line() {
        let source = Source::new("a.yaml", "");
        assert_eq!((source.line_count(), source.line(1)), (1, Some("")));
        assert_eq!(source.position(0).to_string(), "1:1");
    }

    #[test]
    fn the_byte_order_mark_is_no_part_of_the_text() {
        let source = Source::new("a.yaml", "\u{feff}a: 1");
        assert_eq!(source.text(), "a: 1");
        assert_eq!(source.position(0).to_string(), "1:1");
    }

    #[test]
    fn the_first_line_of_a_span_ends_before_its_line_end() {
        let text = "ab: \n  c";
        assert_eq!(Span::new(0, 8).first_line(text), Span::new(0, 3));
        assert_eq!(Span::new(1, 2).first_line(text), Span::new(1, 2));
        assert_eq!(Span::empty(3).first_line(text), Span::empty(3));
    }
}
