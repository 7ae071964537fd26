//! Group names, and the first pass over a pattern that finds the number and names of its groups: whether `\2` and `\k`
//! refer to groups depends on groups that may come later.

use super::{Parser, ascii};

impl Parser<'_> {
    /// Counts the capturing groups and notes their names. What is malformed is left to the real reading.
    pub(super) fn scan_groups(&mut self) {
        let start = self.at;
        let mut in_class = false;
        while let Some(unit) = self.peek() {
            self.at += 1;
            match ascii(unit) {
                Some(b'\\') => self.at += 1,
                Some(b'[') => in_class = true,
                Some(b']') => in_class = false,
                Some(b'(') if !in_class => self.scan_group(),
                _ => {}
            }
        }
        self.at = start;
    }

    fn scan_group(&mut self) {
        let named = self.looking_at("?<") && !self.looking_at("?<=") && !self.looking_at("?<!");
        if self.peek_ascii() == Some(b'?') && !named {
            return;
        }
        self.group_count += 1;
        if named {
            let before = self.at;
            self.at += 2;
            match self.group_name() {
                Some(name) => {
                    self.names.entry(name).or_insert(self.group_count);
                }
                None => self.at = before,
            }
        }
    }

    /// A name and the `>` after it: an identifier of JavaScript, in which letters may be `\u` escapes.
    pub(super) fn group_name(&mut self) -> Option<String> {
        let mut name = String::new();
        loop {
            let unit = self.peek()?;
            self.at += 1;
            let letter = match ascii(unit) {
                Some(b'>') => return (!name.is_empty()).then_some(name),
                Some(b'\\') => self.name_escape()?,
                _ => self.code_point(unit)?,
            };
            let fits = if name.is_empty() {
                letter == '$' || letter == '_' || unicode_ident::is_xid_start(letter)
            } else {
                letter == '$'
                    || letter == '\u{200c}'
                    || letter == '\u{200d}'
                    || unicode_ident::is_xid_continue(letter)
            };
            if !fits {
                return None;
            }
            name.push(letter);
        }
    }

    /// The letter whose first unit has just been read.
    fn code_point(&mut self, first: u16) -> Option<char> {
        let second = self.peek().filter(|_| (0xD800..0xDC00).contains(&first));
        let units = [first, second.unwrap_or_default()];
        let letter = char::decode_utf16(units).next()?.ok()?;
        self.at += letter.len_utf16() - 1;
        Some(letter)
    }

    /// `u0061`, `u{61}` or a pair of surrogates, after a backslash.
    fn name_escape(&mut self) -> Option<char> {
        if self.peek_ascii() != Some(b'u') {
            return None;
        }
        self.at += 1;
        // `u{61}` would be allowed here too, but is not supported anywhere.
        let first = self.hex(4)?;
        let mut units = [first, 0];
        if (0xD800..0xDC00).contains(&first) && self.looking_at("\\u") {
            self.at += 2;
            units = [first, self.hex(4)?];
        }
        char::decode_utf16(units).next()?.ok()
    }
}
