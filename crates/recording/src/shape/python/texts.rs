//! Texts of Python: their prefixes, quotes and escapes.

use super::Literal;

impl Literal<'_> {
    /// Adjacent texts are one.
    pub(super) fn texts(&mut self) -> Option<()> {
        let mut whole = String::new();
        while let Some((raw, bytes)) = self.prefix() {
            self.text(raw, bytes, &mut whole)?;
            self.blanks();
        }
        self.json.push_str(&serde_json::to_string(&whole).ok()?);
        Some(())
    }

    /// The prefix of a text that begins here, passed over: whether it is raw, and whether it is bytes.
    pub(super) fn prefix(&mut self) -> Option<(bool, bool)> {
        let length = self.rest.find(['\'', '"']).filter(|length| *length <= 2)?;
        let prefix = self.rest.get(..length)?.to_ascii_lowercase();
        let kind = match prefix.as_str() {
            "" | "u" => (false, false),
            "r" => (true, false),
            "b" => (false, true),
            "br" | "rb" => (true, true),
            _ => return None,
        };
        self.skip(length);
        Some(kind)
    }

    fn text(&mut self, raw: bool, bytes: bool, into: &mut String) -> Option<()> {
        let quote = self.rest.chars().next()?;
        let triple = self.rest.get(..3).is_some_and(|start| start.chars().all(|c| c == quote));
        self.skip(if triple { 3 } else { 1 });
        // A character beyond U+FFFF may be written as two escapes.
        let mut high: Option<u32> = None;
        loop {
            let c = self.rest.chars().next()?;
            if c == quote
                && (!triple || self.rest.get(..3).is_some_and(|end| end.chars().all(|c| c == quote)))
            {
                self.skip(if triple { 3 } else { 1 });
                if high.is_some() {
                    into.push(char::REPLACEMENT_CHARACTER);
                }
                return Some(());
            }
            self.skip(c.len_utf8());
            let unit = match c {
                '\n' | '\r' if !triple => return None,
                '\\' if raw => {
                    let next = self.rest.chars().next()?;
                    self.skip(next.len_utf8());
                    into.push('\\');
                    u32::from(next)
                }
                '\\' => match self.escape(bytes)? {
                    Some(unit) => unit,
                    None => continue,
                },
                other => u32::from(other),
            };
            if bytes && unit > 0x7F {
                return None;
            }
            join_surrogates(unit, &mut high, into);
        }
    }

    /// After a backslash: the character's number, or nothing for an escaped line end.
    fn escape(&mut self, bytes: bool) -> Option<Option<u32>> {
        let c = self.rest.chars().next()?;
        let simple = match c {
            '0'..='7' => return self.digits(1, 3, 8).map(Some),
            '\\' | '\'' | '"' => c,
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '\n' | '\r' | 'x' => c,
            'u' | 'U' if !bytes => c,
            // Names of characters would need their table.
            'N' if !bytes => return None,
            // An unknown escape is the two characters that it is: the second is read next.
            _ => return Some(Some(u32::from('\\'))),
        };
        self.skip(1);
        match c {
            '\n' => Some(None),
            '\r' => {
                self.take('\n');
                Some(None)
            }
            'x' => self.digits(2, 2, 16).map(Some),
            'u' => self.digits(4, 4, 16).map(Some),
            'U' => self.digits(8, 8, 16).filter(|unit| *unit <= 0x10_FFFF).map(Some),
            _ => Some(Some(u32::from(simple))),
        }
    }

    /// The number that `least` to `most` digits of a radix write.
    fn digits(&mut self, least: usize, most: usize, radix: u32) -> Option<u32> {
        let length = self.rest.chars().take(most).take_while(|c| c.is_digit(radix)).count();
        if length < least {
            return None;
        }
        let value = u32::from_str_radix(self.rest.get(..length)?, radix).ok();
        self.skip(length);
        value
    }
}

/// Adds a character by its number; a surrogate waits for its other half.
fn join_surrogates(unit: u32, high: &mut Option<u32>, into: &mut String) {
    match (high.take(), unit) {
        (Some(high), 0xDC00..=0xDFFF) => {
            let joined = 0x1_0000 + ((high - 0xD800) << 10) + (unit - 0xDC00);
            into.push(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
            return;
        }
        (Some(_), _) => into.push(char::REPLACEMENT_CHARACTER),
        (None, _) => {}
    }
    match unit {
        0xD800..=0xDBFF => *high = Some(unit),
        other => into.push(char::from_u32(other).unwrap_or(char::REPLACEMENT_CHARACTER)),
    }
}
