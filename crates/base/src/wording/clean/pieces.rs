//! Text taken apart into the smallest parts that are safe to show.

use unicode_segmentation::{Graphemes, UnicodeSegmentation};
use unicode_width::UnicodeWidthStr;

use super::{Marks, Piece};

/// Columns from one tab stop to the next.
const TAB: usize = 4;
/// Combining characters that one base may have; a higher stack would reach into the lines above.
pub(super) const STACKED: usize = 6;

/// See [`pieces`](super::pieces()).
#[derive(Debug, Clone)]
pub struct Pieces<'a> {
    graphemes: Graphemes<'a>,
    /// The rest of a grapheme that has to be split.
    rest: &'a str,
    /// Its combining characters so far.
    stacked: usize,
    marks: Marks,
    column: usize,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        if self.rest.is_empty() {
            let grapheme = self.graphemes.next()?;
            let mut chars = grapheme.chars();
            if let (Some(only), None) = (chars.next(), chars.next())
                && (' '..='~').contains(&only)
            {
                self.column += 1;
                return Some(Piece { text: grapheme.into(), width: 1, mark: false });
            }
            self.rest = grapheme;
            self.stacked = 0;
        }
        let piece = self.take();
        self.column += piece.width;
        Some(piece)
    }
}

impl<'a> Pieces<'a> {
    /// Of a text that begins in a column.
    pub(super) fn of(text: &'a str, marks: Marks, column: usize) -> Pieces<'a> {
        Pieces { graphemes: text.graphemes(true), rest: "", stacked: 0, marks, column }
    }

    /// Bytes of the text that are left.
    pub(super) fn left(&self) -> usize {
        self.graphemes.as_str().len() + self.rest.len()
    }

    /// The longest harmless start of `rest`, or a mark for its first character.
    fn take(&mut self) -> Piece<'a> {
        let rest = self.rest;
        let mut end = 0;
        for (at, c) in rest.char_indices() {
            let variation = matches!(c, '\u{FE0E}' | '\u{FE0F}') && at > 0;
            if variation && at == end {
                // Harmless and without width of its own: separated by ending the piece here.
                let (before, after) = rest.split_at(at);
                self.rest = after.get(c.len_utf8()..).unwrap_or_default();
                return harmless(before);
            }
            let zero = c.width_is_zero();
            if is_hidden(c) || (zero && (at == 0 || self.stacked >= STACKED)) {
                break;
            }
            self.stacked += usize::from(zero);
            end = at + c.len_utf8();
        }
        let (before, after) = rest.split_at(end);
        if !before.is_empty() && UnicodeWidthStr::width(before) > 0 {
            self.rest = after;
            return harmless(before);
        }
        let mut chars = rest.chars();
        let first = chars.next().unwrap_or(' ');
        self.rest = chars.as_str();
        if first == '\t' {
            let width = TAB - self.column % TAB;
            return Piece { text: " ".repeat(width).into(), width, mark: false };
        }
        let text = mark_of(first, self.marks);
        let width = UnicodeWidthStr::width(text.as_str());
        Piece { text: text.into(), width, mark: true }
    }
}

fn harmless(text: &str) -> Piece<'_> {
    Piece { text: text.into(), width: UnicodeWidthStr::width(text), mark: false }
}

trait ZeroWidth {
    fn width_is_zero(self) -> bool;
}

impl ZeroWidth for char {
    fn width_is_zero(self) -> bool {
        unicode_width::UnicodeWidthChar::width(self).unwrap_or(0) == 0
    }
}

fn mark_of(c: char, marks: Marks) -> String {
    match (marks, c) {
        (Marks::Unicode, '\n') => "↵".into(),
        (Marks::Unicode, '\0'..='\x1f') => {
            char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{FFFD}').to_string()
        }
        (Marks::Unicode, '\x7f') => "␡".into(),
        (Marks::Unicode, _) => format!("⟨U+{:04X}⟩", u32::from(c)),
        (Marks::Ascii, '\n') => "\\n".into(),
        (Marks::Ascii, '\0'..='\x1f' | '\x7f') => {
            format!("^{}", char::from(u8::try_from(u32::from(c)).unwrap_or(b'?') ^ 0x40))
        }
        (Marks::Ascii, _) => format!("<U+{:04X}>", u32::from(c)),
    }
}

/// Characters that are invisible, look like a space, or move the text around them. Private ones as well: the font
/// decides which glyph they have.
pub(super) const fn is_hidden(c: char) -> bool {
    // U+FFFE and U+FFFF of every plane are not characters.
    c as u32 & 0xfffe == 0xfffe
        || matches!(c,
        '\0'..='\x1f' | '\x7f'..='\u{a0}'                // controls, no-break space
        | '\u{ad}'                                        // soft hyphen
        | '\u{34f}' | '\u{61c}'                           // joiner of graphemes, Arabic letter mark
        | '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}' // signs drawn around others
        | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' // fillers of Hangul
        | '\u{1680}'                                      // space of Ogham
        | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{2000}'..='\u{200f}'                         // spaces, zero width, left-to-right and right-to-left marks
        | '\u{2028}'..='\u{202f}'                         // line and paragraph ends, embeddings, overrides, narrow space
        | '\u{205f}'..='\u{206f}'                         // word joiner, invisible operators, isolates
        | '\u{2800}'                                      // braille without a dot
        | '\u{3000}'                                      // ideographic space
        | '\u{e000}'..='\u{f8ff}'                         // private
        | '\u{fdd0}'..='\u{fdef}'                         // no characters
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'            // variation selectors, byte order mark
        | '\u{fff0}'..='\u{fffc}'                         // interlinear annotation, object replacement
        | '\u{110bd}' | '\u{110cd}'                       // number signs of Kaithi
        | '\u{13430}'..='\u{1343f}' | '\u{13441}' | '\u{13442}' // joiners and blanks of hieroglyphs
        | '\u{16fe4}'                                     // filler of Khitan
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}' // shorthand; notes without a head, beams
        | '\u{e0000}'..='\u{e0fff}'                       // tags and more variation selectors
        | '\u{f0000}'..='\u{10ffff}') // private
}
