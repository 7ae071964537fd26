//! The way from bracket to bracket: whether each stands where it may, and what it opens or closes.

use super::blocks::{Block, Blocks};

/// A value, or the name of a member, which its value follows.
#[derive(Clone, Copy)]
pub struct Part {
    /// Its first byte.
    pub start: u32,
    /// The byte after its last one.
    pub end: u32,
    /// The part that follows this one and all that is in it.
    pub next: u32,
}

/// What may come next.
#[derive(Clone, Copy, PartialEq)]
enum Expected {
    Value,
    /// After `[`.
    ValueOrEnd,
    /// After `{`.
    NameOrEnd,
    Name,
    Colon,
    CommaOrEnd,
    /// The quote that closes a value, and the one that closes a name.
    EndOfText,
    EndOfName,
    Nothing,
}

/// The way through the text of a value.
pub struct Walk<'t> {
    bytes: &'t [u8],
    /// Levels below the value whose parts are kept.
    levels: u32,
    /// The parts so far.
    pub parts: Vec<Part>,
    /// The containers that are open: whether each is an object, and its part.
    open: Vec<(bool, u32)>,
    expected: Expected,
    /// Where the text begins that is open.
    text: u32,
    /// Some name of a member is written with escapes.
    pub escaped_names: bool,
    /// Some name of a member is one that `serde_json` reserves.
    pub reserved: bool,
    /// Something is written as `\u…`.
    pub unicode: bool,
    /// Levels of lists and objects.
    pub deepest: usize,
}

/// How the names begin that `serde_json` reserves.
const RESERVED: &[u8] = b"$serde_json::";

impl<'t> Walk<'t> {
    /// For the parts so many levels below the value.
    pub fn new(bytes: &'t [u8], levels: u32) -> Walk<'t> {
        let parts = if levels == 0 { 1 } else { bytes.len().min(1 << 16) / 64 + 4 };
        Walk {
            bytes,
            levels,
            parts: Vec::with_capacity(parts),
            open: Vec::new(),
            expected: Expected::Value,
            text: 0,
            escaped_names: false,
            reserved: false,
            unicode: false,
            deepest: 0,
        }
    }

    /// Walks to the end; gives whether there were no more than so many parts. `None` where it is not JSON.
    pub fn run(&mut self, most: usize) -> Option<bool> {
        // Places are kept in few bytes.
        u32::try_from(self.bytes.len()).ok()?;
        let mut blocks = Blocks::default();
        let (whole, rest) = self.bytes.as_chunks::<64>();
        let mut at = 0;
        for block in whole {
            self.block(blocks.next(block)?, at)?;
            if self.parts.len() > most {
                return Some(false);
            }
            at += 64;
        }
        let mut last = [b' '; 64];
        last.get_mut(..rest.len())?.copy_from_slice(rest);
        self.block(blocks.next(&last)?, at)?;
        (self.expected == Expected::Nothing && !blocks.in_text()).then_some(true)
    }

    #[inline]
    fn block(&mut self, block: Block, at: u32) -> Option<()> {
        let mut escaped = block.rare_escapes;
        while escaped != 0 {
            self.escape(at + escaped.trailing_zeros())?;
            escaped &= escaped - 1;
        }
        let mut events = block.events;
        while events != 0 {
            self.event(at + events.trailing_zeros())?;
            events &= events - 1;
        }
        Some(())
    }

    /// What a backslash is before, other than a quote or a backslash.
    fn escape(&mut self, at: u32) -> Option<()> {
        let at = at as usize;
        match self.bytes.get(at)? {
            b'n' | b't' | b'r' | b'/' | b'b' | b'f' => Some(()),
            b'u' => {
                self.unicode = true;
                let digits = self.bytes.get(at + 1..at + 5)?;
                digits.iter().all(u8::is_ascii_hexdigit).then_some(())
            }
            _ => None,
        }
    }

    /// A bracket, a comma, a colon, a quote, or the first byte of a number or word.
    #[inline]
    fn event(&mut self, at: u32) -> Option<()> {
        use Expected::{Colon, CommaOrEnd, EndOfName, EndOfText, Name, NameOrEnd, Value, ValueOrEnd};
        let byte = *self.bytes.get(at as usize)?;
        match (byte, self.expected) {
            (b'"', EndOfText) => {
                self.keep(self.text, at + 1);
                self.close_value();
            }
            (b'"', EndOfName) => {
                self.keep(self.text, at + 1);
                let name = self.bytes.get(self.text as usize + 1..at as usize)?;
                self.escaped_names = self.escaped_names || memchr::memchr(b'\\', name).is_some();
                self.reserved |= name.starts_with(RESERVED);
                self.expected = Colon;
            }
            (b'"', Value | ValueOrEnd) => (self.text, self.expected) = (at, EndOfText),
            (b'"', Name | NameOrEnd) => (self.text, self.expected) = (at, EndOfName),
            (b':', Colon) => self.expected = Value,
            (b',', CommaOrEnd) => {
                self.expected = if self.open.last()?.0 { Name } else { Value };
            }
            (b'{' | b'[', Value | ValueOrEnd) => {
                let is_object = byte == b'{';
                let part = self.parts.len() as u32;
                self.keep(at, at + 1);
                self.open.push((is_object, part));
                self.deepest = self.deepest.max(self.open.len());
                self.expected = if is_object { NameOrEnd } else { ValueOrEnd };
            }
            (b'}', CommaOrEnd | NameOrEnd) => self.close(true, at)?,
            (b']', CommaOrEnd | ValueOrEnd) => self.close(false, at)?,
            (_, Value | ValueOrEnd) => {
                let length = bare(self.bytes.get(at as usize..)?)?;
                self.keep(at, at + length as u32);
                self.close_value();
            }
            _ => return None,
        }
        Some(())
    }

    #[inline]
    fn keep(&mut self, start: u32, end: u32) {
        if self.open.len() as u32 <= self.levels {
            let next = self.parts.len() as u32 + 1;
            self.parts.push(Part { start, end, next });
        }
    }

    fn close(&mut self, is_object: bool, at: u32) -> Option<()> {
        let (opened_object, part) = self.open.pop()?;
        if opened_object != is_object {
            return None;
        }
        if self.open.len() as u32 <= self.levels {
            let next = self.parts.len() as u32;
            let part = self.parts.get_mut(part as usize)?;
            (part.end, part.next) = (at + 1, next);
        }
        self.close_value();
        Some(())
    }

    #[inline]
    fn close_value(&mut self) {
        self.expected = if self.open.is_empty() { Expected::Nothing } else { Expected::CommaOrEnd };
    }
}

/// Length of the number or word that this begins with. It ends where something else begins, or there is no JSON.
fn bare(bytes: &[u8]) -> Option<usize> {
    let ends = |byte: &u8| {
        matches!(byte, b',' | b']' | b'}' | b':' | b' ' | b'\n' | b'\t' | b'\r' | b'"' | b'[' | b'{')
    };
    let length = bytes.iter().position(ends).unwrap_or(bytes.len());
    let bare = bytes.get(..length)?;
    (matches!(bare, b"null" | b"true" | b"false") || is_number(bare)).then_some(length)
}

fn is_number(bytes: &[u8]) -> bool {
    fn digits(bytes: &[u8]) -> Option<&[u8]> {
        let length = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
        bytes.get(length..).filter(|_| length > 0)
    }
    fn rest(bytes: &[u8]) -> Option<&[u8]> {
        let whole = bytes.strip_prefix(b"-").unwrap_or(bytes);
        let mut rest = whole.strip_prefix(b"0").map_or_else(|| digits(whole), Some)?;
        if let Some(fraction) = rest.strip_prefix(b".") {
            rest = digits(fraction)?;
        }
        if let [b'e' | b'E', power @ ..] = rest {
            let power = match power {
                [b'+' | b'-', power @ ..] => power,
                power => power,
            };
            rest = digits(power)?;
        }
        Some(rest)
    }
    rest(bytes).is_some_and(<[u8]>::is_empty)
}
