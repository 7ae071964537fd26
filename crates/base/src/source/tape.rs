//! One pass over the text of a JSON value: whether it is valid, and the positions of its parts.
//!
//! Sixty-four bytes are looked at together, as `simdjson` does, so the inside of a string costs next to nothing; only
//! brackets, commas, colons, quotes and the first byte of a number or word are looked at one by one. Valid JSON is what
//! `serde_json` skips without an error.

use std::borrow::Cow;
use std::collections::HashMap;

use smallvec::SmallVec;

mod blocks;
mod events;
mod mark;
#[cfg(test)]
mod tests;
mod walk;

pub use blocks::before_slash;
pub use mark::mark;
use walk::{Part, Walk};

/// The parts of a value, in the order of the text.
#[derive(Clone)]
pub struct Tape<'a> {
    text: &'a str,
    parts: Vec<Part>,
    /// Whether some member's name is written with escapes.
    escaped_names: bool,
    /// Whether `serde_json` reads it exactly as written.
    plain: bool,
    /// Whether something is written as `\u…`.
    unicode: bool,
    /// Whether the parts of all levels are present.
    whole: bool,
}

/// With more parts than this, only those of the first level are kept; the others are found on demand.
const MOST_PARTS: usize = 1 << 22;

/// With more parts than this, unused memory is returned.
const MANY_PARTS: usize = 1 << 16;

impl<'a> Tape<'a> {
    /// The parts of all levels. `None` if the text is not one JSON value.
    pub fn of(text: &'a str) -> Option<Tape<'a>> {
        Tape::of_few(text, MOST_PARTS)
    }

    /// The same, if there are no more than this many.
    pub fn of_few(text: &'a str, most: usize) -> Option<Tape<'a>> {
        let walk = Walk::through(text.as_bytes(), u32::MAX, most)?;
        if walk.too_many { Tape::flat(text) } else { Some(Tape { whole: true, ..Tape::after(walk, text) }) }
    }

    /// The value and its direct parts.
    pub fn flat(text: &'a str) -> Option<Tape<'a>> {
        Tape::down_to(text, 1)
    }

    /// The value and its parts down to this many levels. All of the text is checked in any case.
    pub fn down_to(text: &'a str, levels: u32) -> Option<Tape<'a>> {
        Some(Tape::after(Walk::through(text.as_bytes(), levels.saturating_add(1), usize::MAX)?, text))
    }

    /// Whether `serde_json` reads a text exactly as written, see [`Tape::is_plain`].
    pub fn plain(text: &str) -> bool {
        Walk::through(text.as_bytes(), 0, usize::MAX).is_some_and(|walk| walk.is_plain())
    }

    /// The same, and whether some object in it may have a name [twice](Tape::twice).
    pub fn plain_or_repeating(text: &str) -> (bool, bool) {
        let walk = Walk::through(text.as_bytes(), 0, usize::MAX);
        walk.map_or((false, false), |walk| (walk.is_plain(), walk.repeats || walk.escaped_names))
    }

    fn after(walk: Walk, text: &'a str) -> Tape<'a> {
        let plain = walk.is_plain();
        let Walk { mut parts, escaped_names, unicode, .. } = walk;
        if parts.len() > MANY_PARTS {
            parts.shrink_to_fit();
        }
        Tape { text, parts, escaped_names, plain, unicode, whole: false }
    }

    /// Whether `serde_json` reads it exactly as written. A text that it can skip may still be refused or read
    /// differently: deep nesting, halves of surrogate pairs, names that it reserves.
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// Whether something in it is written as `\u…`.
    pub fn has_unicode(&self) -> bool {
        self.unicode
    }

    /// Whether the inside of a part is on the tape as well.
    pub fn holds_inside(&self, part: u32) -> bool {
        self.whole || part == 0
    }

    /// The whole text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Whether some member's name is written with escapes.
    pub fn has_escaped_names(&self) -> bool {
        self.escaped_names
    }

    /// A part by its number; the value itself is the first.
    pub fn part(&self, number: u32) -> Option<Part> {
        self.parts.get(number as usize).copied()
    }

    /// The bytes of a part that is a name without escapes.
    pub fn name(&self, number: u32) -> &'a [u8] {
        self.part(number).and_then(|part| self.inside(part)).unwrap_or_default()
    }

    /// The numbers of the parts inside a part: the first, and the one after the last.
    pub fn within(&self, part: u32) -> (u32, u32) {
        (part + 1, self.part(part).map_or(0, |part| part.next))
    }

    /// The number of direct parts among these.
    pub fn count(&self, (first, end): (u32, u32)) -> usize {
        let next = |number: &u32| self.part(*number).map(|part| part.next);
        std::iter::successors(Some(first), next).take_while(|number| *number < end).count()
    }

    /// The value of the last member of this name among the parts of an object, whose names have no escapes.
    pub fn member(&self, parts: (u32, u32), name: &[u8]) -> Option<u32> {
        self.members(parts, name).map(|(_, last)| last)
    }

    /// The values of the first and of the last member of this name, in the same way: usually the same.
    pub fn members(&self, (mut next, end): (u32, u32), name: &[u8]) -> Option<(u32, u32)> {
        let mut found = None;
        while next < end {
            let part = self.part(next)?;
            if (part.end - part.start) as usize == name.len() + 2 && self.inside(part)? == name {
                found = Some((found.map_or(next + 1, |(first, _)| first), next + 1));
            }
            next = self.part(next + 1)?.next;
        }
        found
    }

    /// The name of a member that some object has twice with two values, at any level.
    pub fn twice(&self) -> Option<Cow<'a, str>> {
        let is_object = |part: &&Part| self.text.as_bytes().get(part.start as usize) == Some(&b'{');
        let objects = (0..).zip(&self.parts).filter(|(_, part)| is_object(part));
        objects.map(|(number, _)| self.within(number)).find_map(|within| self.twice_among(within))
    }

    fn twice_among(&self, (first, end): (u32, u32)) -> Option<Cow<'a, str>> {
        let mut seen: SmallVec<[(Cow<'a, str>, &'a str); 16]> = SmallVec::new();
        let mut many = HashMap::new();
        let mut next = first;
        while next < end {
            let (name, value) = (self.text_of(self.part(next)?), self.part(next + 1)?);
            let name = match name.contains('\\') {
                true => serde_json::from_str::<String>(name).ok().map(Cow::Owned),
                false => name.get(1..name.len() - 1).map(Cow::Borrowed),
            }?;
            next = value.next;
            let value = self.text_of(value);
            // Few objects have many members.
            if seen.len() < 16 {
                if seen.iter().any(|(other, before)| *other == name && *before != value) {
                    return Some(name);
                }
                seen.push((name, value));
            } else {
                if many.is_empty() {
                    many.extend(seen.iter().cloned());
                }
                if many.insert(name.clone(), value).is_some_and(|before| before != value) {
                    return Some(name);
                }
            }
        }
        None
    }

    fn inside(&self, quoted: Part) -> Option<&'a [u8]> {
        self.text.as_bytes().get(quoted.start as usize + 1..quoted.end as usize - 1)
    }

    /// The text of a part.
    pub fn text_of(&self, part: Part) -> &'a str {
        self.text.get(part.start as usize..part.end as usize).unwrap_or_default()
    }
}
