//! Reads words, literals, values and filters from a part of a template.
//!
//! LiquidJS parses leniently: it stops at the first character that does not continue a value and ignores the rest after
//! a comma or a closing parenthesis. The same texts are accepted and refused here, with the same meaning.

use super::text::{self, Text};
use super::unevaluable::{Outcome, Unevaluable};

mod values;

const NOTHING: &[u16] = &[];

/// Blanks of the tokenizer, which differ a little from the white space of `strip`.
pub(super) fn is_blank(unit: u16) -> bool {
    matches!(
        unit,
        9..=13 | 32 | 0xa0 | 0x1680 | 0x180e | 0x2000..=0x200a | 0x2028 | 0x2029 | 0x202f | 0x205f | 0x3000
    )
}

fn is_word(unit: u16) -> bool {
    match unit {
        45 | 48..=57 | 63 | 65..=90 | 95 | 97..=122 => true,
        0..=127 | 0x201c | 0x201d => false,
        other => !is_blank(other),
    }
}

/// A place in a template, and the end of the part it may read.
#[derive(Clone, Debug)]
pub(super) struct Scanner<'a> {
    pub(super) input: &'a [u16],
    pub(super) at: usize,
    pub(super) end: usize,
    nesting: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(input: &'a [u16], at: usize, end: usize) -> Self {
        Self { input, at, end, nesting: 0 }
    }

    pub(super) fn over(input: &'a [u16]) -> Self {
        Self::new(input, 0, input.len())
    }

    pub(super) fn done(&self) -> bool {
        self.at >= self.end
    }

    pub(super) fn peek(&self) -> Option<u16> {
        self.ahead(0)
    }

    fn ahead(&self, by: usize) -> Option<u16> {
        let at = self.at + by;
        (at < self.end).then(|| self.input.get(at).copied()).flatten()
    }

    pub(super) fn is_at(&self, unit: char) -> bool {
        self.peek().map(u32::from) == Some(u32::from(unit))
    }

    fn ahead_is(&self, by: usize, unit: char) -> bool {
        self.ahead(by).map(u32::from) == Some(u32::from(unit))
    }

    pub(super) fn slice(&self, from: usize, to: usize) -> &'a [u16] {
        self.input.get(from..to).unwrap_or(NOTHING)
    }

    pub(super) fn error(&self, message: impl Into<String>) -> Unevaluable {
        Unevaluable::Syntax { message: message.into(), offset: self.at }
    }

    pub(super) fn skip_blank(&mut self) {
        while self.peek().is_some_and(is_blank) {
            self.at += 1;
        }
    }

    /// Whether `pattern` (ASCII) is right before the place.
    pub(super) fn follows(&self, pattern: &str) -> bool {
        let Some(from) = self.at.checked_sub(pattern.len()) else { return false };
        self.input.get(from..self.at).is_some_and(|before| text::is(before, pattern))
    }

    /// Whether `pattern` is at the place.
    pub(super) fn meets(&self, pattern: &str) -> bool {
        pattern.encode_utf16().enumerate().all(|(by, unit)| self.input.get(self.at + by) == Some(&unit))
    }

    /// Skips past the next `pattern`; to the end, and false, if there is none.
    pub(super) fn read_to(&mut self, pattern: &str) -> bool {
        while self.at < self.end {
            self.at += 1;
            if self.follows(pattern) {
                return true;
            }
        }
        false
    }

    /// Like [`Self::read_to`] from the next character that is not blank, if wanted over quoted text.
    pub(super) fn read_to_delimiter(&mut self, delimiter: &str, over_quotes: bool) -> bool {
        self.skip_blank();
        while self.at < self.end {
            if over_quotes && self.at_quote() {
                self.read_quote_span();
                continue;
            }
            self.at += 1;
            if self.follows(delimiter) {
                return true;
            }
        }
        false
    }

    pub(super) fn identifier(&mut self) -> &'a [u16] {
        self.skip_blank();
        let from = self.at;
        while self.peek().is_some_and(is_word) {
            self.at += 1;
        }
        self.slice(from, self.at)
    }

    /// The name of a tag, or the `#` of an inline comment.
    pub(super) fn tag_name(&mut self) -> &'a [u16] {
        self.skip_blank();
        if self.input.get(self.at) == Some(&35) {
            self.at += 1;
            return self.slice(self.at - 1, self.at);
        }
        self.identifier()
    }

    fn at_quote(&self) -> bool {
        matches!(self.peek(), Some(34 | 39))
    }

    /// Skips past quoted text; to the end if it is not closed.
    fn read_quote_span(&mut self) {
        let quote = self.peek();
        self.at += 1;
        let mut escaped = false;
        while self.at < self.end {
            let unit = self.peek();
            self.at += 1;
            if unit == quote && !escaped {
                break;
            }
            escaped = !escaped && unit == Some(92);
        }
    }

    pub(super) fn quoted(&mut self) -> Outcome<Option<Text>> {
        self.skip_blank();
        if !self.at_quote() {
            return Ok(None);
        }
        let from = self.at;
        self.read_quote_span();
        let spelled = self.slice(from, self.at);
        unescape(spelled).map(Some).ok_or_else(|| self.error("`\\u` at the end of text that is not closed"))
    }
}

/// The text between the first and the last character (if the closing quote is missing, the last character counts as
/// it), escapes resolved. `None` where LiquidJS fails: at `\u` whose digits run into the end of open text.
fn unescape(spelled: &[u16]) -> Option<Text> {
    let last = spelled.len().saturating_sub(1);
    if !spelled.contains(&92) {
        return Some(spelled.get(1..last).unwrap_or(NOTHING).into());
    }
    let digit =
        |at: usize, base: u32| char::from_u32(u32::from(*spelled.get(at)?)).and_then(|c| c.to_digit(base));
    let mut out = Vec::with_capacity(spelled.len());
    let mut at = 1;
    while at < last {
        let unit = spelled.get(at).copied().unwrap_or(0);
        at += 1;
        if unit != 92 {
            out.push(unit);
            continue;
        }
        let escaped = spelled.get(at).copied().unwrap_or(0);
        match escaped {
            98 => out.push(8),
            102 => out.push(12),
            110 => out.push(10),
            114 => out.push(13),
            116 => out.push(9),
            118 => out.push(11),
            48..=55 => {
                let value = (0..3).map_while(|by| digit(at + by, 8));
                let (value, count) = value.fold((0, 0), |(sum, count), digit| (sum * 8 + digit, count + 1));
                out.push(value as u16);
                at += count;
                continue;
            }
            117 => {
                let value = (1..5).map_while(|by| digit(at + by, 16));
                let (value, count) = value.fold((0, 0), |(sum, count), digit| (sum * 16 + digit, count + 1));
                if count < 4 && at + count >= last {
                    return None;
                }
                out.push(value as u16);
                at += count;
            }
            other => out.push(other),
        }
        at += 1;
    }
    Some(out.into())
}
