//! Positions in a text as an editor counts them: lines from 0, and characters in the negotiated unit.

use lsp_types::{InitializeParams, Position, PositionEncodingKind, Range, TextDocumentContentChangeEvent};

use rulestep_base::source::Span;

/// The unit of characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Its bytes.
    Utf8,
    /// One, or two beyond the basic plane: the default if nothing was agreed on.
    #[default]
    Utf16,
    /// One.
    Utf32,
}

impl Encoding {
    /// The first unit of those that the editor offers; it need not offer any.
    pub fn agreed(asked: &InitializeParams) -> Encoding {
        let offered =
            asked.capabilities.general.as_ref().and_then(|general| general.position_encodings.as_ref());
        let known = |kind: &PositionEncodingKind| match kind.as_str() {
            "utf-8" => Some(Encoding::Utf8),
            "utf-16" => Some(Encoding::Utf16),
            "utf-32" => Some(Encoding::Utf32),
            _ => None,
        };
        offered.and_then(|offered| offered.iter().find_map(known)).unwrap_or_default()
    }

    /// The word for it.
    pub fn kind(self) -> PositionEncodingKind {
        match self {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
            Encoding::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn units(self, character: char) -> usize {
        match self {
            Encoding::Utf8 => character.len_utf8(),
            Encoding::Utf16 => character.len_utf16(),
            Encoding::Utf32 => 1,
        }
    }

    /// The byte of a place. One beyond the end of its line is that end, one within a character its beginning.
    pub fn offset(self, text: &str, place: Position) -> usize {
        let Some(start) = line_start(text, place.line) else { return text.len() };
        let mut left = place.character as usize;
        let mut at = start;
        for character in text.get(start..).unwrap_or_default().chars() {
            let units = self.units(character);
            if matches!(character, '\n' | '\r') || left < units {
                break;
            }
            left -= units;
            at += character.len_utf8();
        }
        at
    }

    /// The place of a byte.
    pub fn position(self, text: &str, offset: usize) -> Position {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = text.get(..offset).unwrap_or_default();
        let (mut line, mut start) = (0, 0);
        for next in line_starts(text).skip(1).take_while(|next| *next <= offset) {
            (line, start) = (line + 1, next);
        }
        let characters = before.get(start..).unwrap_or_default().chars();
        let units: usize = characters.map(|character| self.units(character)).sum();
        Position { line, character: u32::try_from(units).unwrap_or(u32::MAX) }
    }

    /// The range of a part of a text.
    pub fn range(self, text: &str, span: Span) -> Range {
        Range { start: self.position(text, span.start), end: self.position(text, span.end) }
    }

    /// A text after a change.
    pub fn changed(self, text: &str, change: TextDocumentContentChangeEvent) -> String {
        let Some(Range { start, end }) = change.range else { return change.text };
        let start = self.offset(text, start);
        let end = self.offset(text, end).max(start);
        let before = text.get(..start).unwrap_or_default();
        [before, &change.text, text.get(end..).unwrap_or_default()].concat()
    }
}

/// The beginnings of lines. A line ends in LF, CR LF, or CR alone.
fn line_starts(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let ends = memchr::memchr2_iter(b'\n', b'\r', bytes)
        .filter(|at| bytes.get(*at) == Some(&b'\n') || bytes.get(at + 1) != Some(&b'\n'));
    std::iter::once(0).chain(ends.map(|at| at + 1))
}

fn line_start(text: &str, line: u32) -> Option<usize> {
    line_starts(text).nth(line as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_the_agreed_unit() {
        let text = "a𝒳é\r\nb\rc\n";
        let cases = [
            (Encoding::Utf8, [0, 1, 5, 7]),
            (Encoding::Utf16, [0, 1, 3, 4]),
            (Encoding::Utf32, [0, 1, 2, 3]),
        ];
        for (encoding, columns) in cases {
            for (offset, column) in [0, 1, 5, 7].into_iter().zip(columns) {
                let place = Position { line: 0, character: column };
                assert_eq!(encoding.position(text, offset), place, "{encoding:?}");
                assert_eq!(encoding.offset(text, place), offset, "{encoding:?}");
            }
            // Beyond the end of the line, within a character, beyond the end of the text.
            assert_eq!(encoding.offset(text, Position { line: 0, character: 99 }), 7);
            assert_eq!(encoding.position(text, 3), Position { line: 0, character: 1 });
            assert_eq!(encoding.offset(text, Position { line: 9, character: 0 }), text.len());
            assert_eq!(encoding.position(text, 9), Position { line: 1, character: 0 });
            assert_eq!(encoding.position(text, 11), Position { line: 2, character: 0 });
            assert_eq!(encoding.position(text, 13), Position { line: 3, character: 0 });
        }
        assert_eq!(Encoding::Utf16.offset(text, Position { line: 0, character: 2 }), 1, "between surrogates");
    }
}
