//! One pass over the text of a JSON value: whether it is one, and where each of its parts stands.
//!
//! Sixty-four bytes are looked at together, as `simdjson` does, so the inside of a text costs next to nothing; only brackets,
//! commas, colons, quotes and the first byte of a number or word are looked at one by one. What is JSON is what
//! `serde_json` passes over without complaint.

mod blocks;
#[cfg(test)]
mod tests;
mod walk;

use walk::{Part, Walk};

/// The parts of a value, in the order in which they stand.
#[derive(Clone)]
pub struct Tape<'a> {
    text: &'a str,
    parts: Vec<Part>,
    /// Some name of a member is written with escapes.
    escaped_names: bool,
}

/// Parts of a value beyond which only those at its first level are kept; the others are found when they are asked for.
const MOST_PARTS: usize = 1 << 22;

impl<'a> Tape<'a> {
    /// The parts of all levels. `None` where the text is not one JSON value.
    pub fn of(text: &'a str) -> Option<Tape<'a>> {
        let mut walk = Walk::new(text.as_bytes(), u32::MAX);
        if walk.run(MOST_PARTS)? { Some(Tape::after(walk, text)) } else { Tape::flat(text) }
    }

    /// The value and what is directly in it.
    pub fn flat(text: &'a str) -> Option<Tape<'a>> {
        let mut walk = Walk::new(text.as_bytes(), 1);
        walk.run(usize::MAX)?.then(|| Tape::after(walk, text))
    }

    fn after(walk: Walk<'_>, text: &'a str) -> Tape<'a> {
        Tape { text, parts: walk.parts, escaped_names: walk.escaped_names }
    }

    /// The whole text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Whether the name of some member is written with escapes.
    pub fn has_escaped_names(&self) -> bool {
        self.escaped_names
    }

    /// A part by its number; the value itself is the first.
    pub fn part(&self, number: u32) -> Option<Part> {
        self.parts.get(number as usize).copied()
    }

    /// The bytes of a part that is a name without escapes.
    pub fn name(&self, number: u32) -> &'a [u8] {
        let part = self.part(number).map(|part| part.start as usize + 1..part.end as usize - 1);
        part.and_then(|part| self.text.as_bytes().get(part)).unwrap_or_default()
    }

    /// The text of a part.
    pub fn text_of(&self, part: Part) -> &'a str {
        self.text.get(part.start as usize..part.end as usize).unwrap_or_default()
    }
}
