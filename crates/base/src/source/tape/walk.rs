//! The way from bracket to bracket: whether each stands where it may, and what it opens or closes.

use smallvec::SmallVec;

use super::events::Events;
use super::mark::mark;

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

/// What was found on the way through the text of a value.
pub struct Walk {
    /// The parts.
    pub parts: Vec<Part>,
    /// There are more of them than were wanted, and the way was not gone to its end.
    pub too_many: bool,
    /// Some name of a member is written with escapes.
    pub escaped_names: bool,
    /// Some name of a member is one that `serde_json` reserves.
    pub reserved: bool,
    /// Something is written as `\u…`.
    pub unicode: bool,
    /// Some object may have a name twice; it is certain that none has where this is not so and no name is escaped.
    pub repeats: bool,
    /// Levels of lists and objects.
    pub deepest: usize,
}

/// How the names begin that `serde_json` reserves.
const RESERVED: &[u8] = b"$serde_json::";

/// Levels that `serde_json` certainly reads.
const PLAIN_LEVELS: usize = 100;

impl Walk {
    /// Whether `serde_json` makes a value of it, with what is written and nothing else.
    pub fn is_plain(&self) -> bool {
        self.deepest <= PLAIN_LEVELS && !self.unicode && !self.reserved
    }

    /// Walks to the end, and keeps the parts of this many levels, the value itself being the first, where there are no more than
    /// `most`. `None` where it is not JSON.
    pub fn through(bytes: &[u8], levels: u32, most: usize) -> Option<Walk> {
        // Places are kept in few bytes.
        u32::try_from(bytes.len()).ok()?;
        let expected = if levels < 2 { levels as usize } else { bytes.len().min(1 << 16) / 32 + 4 };
        let mut found = Walk {
            parts: Vec::with_capacity(expected),
            too_many: false,
            escaped_names: false,
            reserved: false,
            unicode: false,
            repeats: false,
            deepest: 0,
        };
        let mut events = Events::new(bytes);
        // What is left of the block that is looked at.
        let mut left = 0_u64;
        // The containers that are open: the part of each, whether what it is in is an object, and the marks of the names in that.
        // Few values nest deeper than what needs no heap.
        let mut open: SmallVec<[(u32, bool, u64); 16]> = SmallVec::new();
        let (mut depth, mut in_object, mut marks) = (0, false, 0_u64);
        let levels = levels as usize;

        macro_rules! next {
            () => {{
                while left == 0 {
                    left = events.fill()?;
                }
                let place = events.at + left.trailing_zeros();
                left &= left - 1;
                place
            }};
        }
        macro_rules! byte {
            ($at:expr) => {
                *bytes.get($at as usize)?
            };
        }
        macro_rules! keep {
            ($start:expr, $end:expr) => {
                if depth < levels {
                    let next = found.parts.len() as u32 + 1;
                    found.parts.push(Part { start: $start, end: $end, next });
                }
            };
        }
        // The name of a member; gives where its value begins.
        macro_rules! name {
            ($at:expr) => {{
                let (start, end) = ($at, next!());
                keep!(start, end + 1);
                let name = bytes.get(start as usize + 1..end as usize)?;
                found.escaped_names |= events.may_escape(start, end) && name.contains(&b'\\');
                let mark = mark(name);
                found.repeats |= marks & mark != 0;
                marks |= mark;
                found.reserved |= name.first() == Some(&b'$') && name.starts_with(RESERVED);
                let colon = next!();
                if byte!(colon) != b':' {
                    return None;
                }
                next!()
            }};
        }
        macro_rules! open {
            ($is_object:expr, $at:expr) => {
                let part = found.parts.len() as u32;
                keep!($at, $at + 1);
                open.push((part, in_object, std::mem::take(&mut marks)));
                in_object = $is_object;
                depth += 1;
                found.deepest = found.deepest.max(depth);
            };
        }
        macro_rules! close {
            ($at:expr) => {
                let part;
                (part, in_object, marks) = open.pop()?;
                depth -= 1;
                if depth < levels {
                    let next = found.parts.len() as u32;
                    let part = found.parts.get_mut(part as usize)?;
                    (part.end, part.next) = ($at + 1, next);
                }
            };
        }

        let mut at = next!();
        loop {
            if found.parts.len() > most {
                return Some(Walk { too_many: true, ..found });
            }
            // Here begins a value.
            match byte!(at) {
                b'"' => {
                    let end = next!();
                    keep!(at, end + 1);
                }
                b'{' => {
                    open!(true, at);
                    at = next!();
                    match byte!(at) {
                        b'"' => {
                            at = name!(at);
                            continue;
                        }
                        b'}' => {
                            close!(at);
                        }
                        _ => return None,
                    }
                }
                b'[' => {
                    open!(false, at);
                    at = next!();
                    if byte!(at) != b']' {
                        continue;
                    }
                    close!(at);
                }
                _ => {
                    let length = bare(bytes.get(at as usize..)?)?;
                    keep!(at, at + length as u32);
                }
            }
            // Here one has ended, and what it is in goes on or ends.
            loop {
                if depth == 0 {
                    while left == 0 {
                        match events.fill() {
                            Some(more) => left = more,
                            None => {
                                found.unicode = events.unicode;
                                return events.well_ended().then_some(found);
                            }
                        }
                    }
                    return None;
                }
                at = next!();
                match (byte!(at), in_object) {
                    (b',', true) => {
                        at = next!();
                        if byte!(at) != b'"' {
                            return None;
                        }
                        at = name!(at);
                        break;
                    }
                    (b',', false) => {
                        at = next!();
                        break;
                    }
                    (b'}', true) | (b']', false) => {
                        close!(at);
                    }
                    _ => return None,
                }
            }
        }
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
