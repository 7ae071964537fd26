//! Character classes, `[…]`.

use super::super::ast::Node;
use super::super::bad_pattern::BadPattern;
use super::super::set::Set;
use super::{Parser, ascii, class_escape};

/// One side of a possible range.
enum Item {
    Unit(u16),
    Set(Set),
}

impl Parser<'_> {
    /// A class whose `[` has been read.
    pub(super) fn class(&mut self, start: usize) -> Result<Node, BadPattern> {
        let negated = self.peek_ascii() == Some(b'^');
        self.at += usize::from(negated);
        let mut ranges = Vec::new();
        loop {
            if self.peek_ascii() == Some(b']') {
                self.at += 1;
                break;
            }
            let item_at = self.at;
            let low = self.class_item(start)?;
            let dash = self.peek_ascii() == Some(b'-') && self.ascii_at(self.at + 1) != Some(b']');
            if !dash {
                add(&mut ranges, &low);
                continue;
            }
            self.at += 1;
            let high = self.class_item(start)?;
            match (&low, &high) {
                (Item::Unit(low), Item::Unit(high)) if low <= high => ranges.push((*low, *high)),
                (Item::Unit(_), Item::Unit(_)) => {
                    return Err(self.syntax(item_at, "range out of order in a character class"));
                }
                // `[\w-a]` is not a range: all three are literal.
                _ => {
                    add(&mut ranges, &low);
                    add(&mut ranges, &Item::Unit(u16::from(b'-')));
                    add(&mut ranges, &high);
                }
            }
        }
        let set = self.closed(Set::new(ranges));
        let set = if negated { set.complement() } else { set };
        Ok(self.set(set))
    }

    fn class_item(&mut self, start: usize) -> Result<Item, BadPattern> {
        let Some(unit) = self.peek() else {
            return Err(self.syntax(start, "this character class is not closed"));
        };
        let at = self.at;
        self.at += 1;
        if ascii(unit) != Some(b'\\') {
            return Ok(Item::Unit(unit));
        }
        let Some(escaped) = self.peek() else {
            return Err(self.syntax(at, "`\\` at the end of the pattern"));
        };
        if let Some(set) = class_escape(escaped) {
            self.at += 1;
            return Ok(Item::Set(set));
        }
        match ascii(escaped) {
            Some(b'b') => {
                self.at += 1;
                Ok(Item::Unit(0x08))
            }
            Some(b'c') => {
                // Inside a class digits and `_` make control characters too.
                let control =
                    self.ascii_at(self.at + 1).filter(|next| next.is_ascii_digit() || *next == b'_');
                match control {
                    Some(next) => {
                        self.at += 2;
                        Ok(Item::Unit(u16::from(next % 32)))
                    }
                    None => self.character_escape(at).map(Item::Unit),
                }
            }
            _ => self.character_escape(at).map(Item::Unit),
        }
    }
}

fn add(ranges: &mut Vec<(u16, u16)>, item: &Item) {
    match item {
        Item::Unit(unit) => ranges.push((*unit, *unit)),
        Item::Set(set) => ranges.extend_from_slice(set.ranges()),
    }
}
