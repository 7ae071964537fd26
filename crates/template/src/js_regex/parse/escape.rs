//! Escapes: the text after a backslash.

use super::super::ast::Assert;
use super::super::bad_pattern::BadPattern;
use super::{Escape, Parser, ascii, class_escape};

impl Parser<'_> {
    /// After a backslash outside a class.
    pub(super) fn escape(&mut self, start: usize) -> Result<Escape, BadPattern> {
        let Some(unit) = self.peek() else {
            return Err(self.syntax(start, "`\\` at the end of the pattern"));
        };
        let assert = match ascii(unit) {
            Some(b'b') => Assert::Boundary,
            Some(b'B') => Assert::NoBoundary,
            Some(b'k') if !self.names.is_empty() => {
                self.at += 1;
                return self.named_backreference(start).map(Escape::Backreference);
            }
            Some(b'1'..=b'9') => {
                if let Some((number, after)) = self.number(self.at)
                    && number <= self.group_count
                {
                    self.at = after;
                    return Ok(Escape::Backreference(number));
                }
                return self.character_escape(start).map(Escape::Unit);
            }
            _ => {
                if let Some(set) = class_escape(unit) {
                    self.at += 1;
                    return Ok(Escape::Set(self.closed(set)));
                }
                return self.character_escape(start).map(Escape::Unit);
            }
        };
        self.at += 1;
        Ok(Escape::Assert(assert))
    }

    fn named_backreference(&mut self, start: usize) -> Result<u32, BadPattern> {
        let mut name = None;
        if self.peek_ascii() == Some(b'<') {
            self.at += 1;
            name = self.group_name();
        }
        let group = name.and_then(|name| self.names.get(&name).copied());
        group.ok_or_else(|| self.syntax(start, "`\\k` does not name a group"))
    }

    /// After a backslash that begins neither a set, an assertion nor a reference: its unit.
    pub(super) fn character_escape(&mut self, start: usize) -> Result<u16, BadPattern> {
        let Some(unit) = self.peek() else {
            return Err(self.syntax(start, "`\\` at the end of the pattern"));
        };
        let Some(letter) = ascii(unit) else {
            self.at += 1;
            return Ok(unit);
        };
        if letter == b'c' {
            // `\c1` is a backslash, and `c1` follows as usual.
            let control = self.ascii_at(self.at + 1).filter(u8::is_ascii_alphabetic);
            self.at += if control.is_some() { 2 } else { 0 };
            return Ok(control.map_or(u16::from(b'\\'), |letter| u16::from(letter % 32)));
        }
        self.at += 1;
        Ok(match letter {
            b'f' => 0x0C,
            b'n' => 0x0A,
            b'r' => 0x0D,
            b't' => 0x09,
            b'v' => 0x0B,
            b'0'..=b'7' => self.octal(letter),
            b'x' => self.hex(2).unwrap_or(unit),
            b'u' | b'p' | b'P' if self.peek_ascii() == Some(b'{') => {
                return Err(self.unsupported(start, self.at + 1));
            }
            b'u' => self.hex(4).unwrap_or(unit),
            b'k' if !self.names.is_empty() => return Err(self.syntax(start, "`\\k` does not name a group")),
            _ => unit,
        })
    }

    /// Up to three octal digits with a value below 256; the first is already read.
    fn octal(&mut self, first: u8) -> u16 {
        let mut value = u16::from(first - b'0');
        for _ in 0..2 {
            let Some(digit) = self.peek_ascii().filter(|digit| matches!(digit, b'0'..=b'7')) else { break };
            if value >= 32 {
                break;
            }
            value = value * 8 + u16::from(digit - b'0');
            self.at += 1;
        }
        value
    }

    /// Exactly this many hexadecimal digits, or nothing.
    pub(super) fn hex(&mut self, digits: usize) -> Option<u16> {
        let mut value = 0u16;
        for offset in 0..digits {
            let digit = char::from(self.ascii_at(self.at + offset)?).to_digit(16)?;
            value = value << 4 | u16::try_from(digit).ok()?;
        }
        self.at += digits;
        Some(value)
    }
}
