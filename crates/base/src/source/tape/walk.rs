//! The walk from bracket to bracket: whether each is allowed at its position, and what it opens or closes.

use smallvec::SmallVec;

use super::events::Events;
use super::mark::mark;

/// A value, or the name of a member, which is followed by its value.
#[derive(Clone, Copy)]
pub struct Part {
    /// Its first byte.
    pub start: u32,
    /// The byte after its last one.
    pub end: u32,
    /// The number of the part after this one and all that is in it.
    pub next: u32,
}

/// The results of a walk through the text of a value.
pub struct Walk {
    /// The parts.
    pub parts: Vec<Part>,
    /// Whether there are more than were wanted, so that the walk ended early.
    pub too_many: bool,
    /// Whether some member's name is written with escapes.
    pub escaped_names: bool,
    /// Whether some member's name is reserved by `serde_json`.
    pub reserved: bool,
    /// Whether something is written as `\u…`.
    pub unicode: bool,
    /// Whether some object may have a name twice; `false` is certain if no name is escaped.
    pub repeats: bool,
    /// Levels of lists and objects.
    pub deepest: usize,
}

/// The beginning of names that `serde_json` reserves.
const RESERVED: &[u8] = b"$serde_json::";

/// Nesting that `serde_json` certainly reads.
const PLAIN_LEVELS: usize = 100;

impl Walk {
    /// Whether `serde_json` reads it exactly as written.
    pub fn is_plain(&self) -> bool {
        self.deepest <= PLAIN_LEVELS && !self.unicode && !self.reserved
    }

    /// Walks to the end, and keeps the parts of this many levels, the value itself being the first, if there are no
    /// more than `most`. `None` if it is not JSON.
    pub fn through(bytes: &[u8], levels: u32, most: usize) -> Option<Walk> {
        // Positions are kept in few bytes.
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
        // The rest of the current block.
        let mut left = 0_u64;
        // The open containers: the part of each, whether its parent is an object, and the marks of the parent's names.
        // Few values nest deeper than fits without the heap.
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
        // The name of a member; returns the position of its value.
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
            // Here a value has ended, and its container continues or ends.
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

/// Length of the number or word at the beginning. It ends where another token begins; `None` if it is not JSON.
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
