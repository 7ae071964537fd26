//! The part of a rollout that a fork copied from another session.
//!
//! A fork begins with the lines of the other session, rewritten at the time of the fork, and nothing marks where they
//! end. But turns have their start time: beside their id, or in the id itself, which begins with the time in newer
//! versions.

use crate::input::shallow::{Members, Node};
use crate::input::time;
use rulestep_base::session::Millis;

/// A session that begins with a copy of another one.
pub struct Fork {
    /// The other one.
    pub from: Box<str>,
    /// When the fork was made, if it is recorded.
    began: Option<Millis>,
    /// Items before its first own turn.
    own: Option<usize>,
    /// The turn that was named last, if it is known to have begun before that.
    past: Option<Box<str>>,
}

/// A turn with only the second in which it began may have begun at the end of that second.
const SECOND: Millis = 999;

impl Fork {
    /// For the session with this id, whose first line this is.
    pub fn new(from: &str, id: &str, meta: &Members<'_>) -> Fork {
        let said = time::of(meta, &["timestamp"]).ok().flatten();
        let began = [said, within(id)].into_iter().flatten().min();
        Fork { from: from.into(), began, own: None, past: None }
    }

    /// A turn begins after this many items.
    pub fn enter(&mut self, turn: &Members<'_>, items: usize) {
        if self.own.is_some() {
            return;
        }
        let id = turn.get("turn_id").and_then(Node::text).unwrap_or_default();
        let began = within(&id).or_else(|| Some(turn.get("started_at").and_then(time::instant)? + SECOND));
        match began.zip(self.began) {
            Some((turn, fork)) if turn >= fork => self.own = Some(items),
            Some(_) => self.past = Some(id.as_ref().into()),
            // A turn is named twice, and not each time with its instant.
            None => self.past = self.past.take().filter(|past| !id.is_empty() && **past == *id),
        }
    }

    /// No more than this many items are left.
    pub fn take_back(&mut self, items: usize) {
        self.own = self.own.map(|own| own.min(items));
    }

    /// Whether the item with this number, of this time, is certainly a copy.
    pub fn is_copied(&self, item: usize, at: Option<Millis>) -> bool {
        match self.own {
            Some(own) => item < own,
            None => self.past.is_some() || at.zip(self.began).is_some_and(|(at, began)| at < began),
        }
    }

    /// Whether the log does not mark the end of the copy.
    pub fn is_open(&self) -> bool {
        self.own.is_none() && self.past.is_none()
    }
}

/// The time with which an id of version 7 begins.
fn within(id: &str) -> Option<Millis> {
    let digits: String = id.chars().filter(|c| *c != '-').collect();
    let is_timed = digits.len() == 32 && digits.as_bytes().get(12) == Some(&b'7');
    Millis::from_str_radix(digits.get(..12).filter(|_| is_timed)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_version_7_begin_with_their_time() {
        assert_eq!(within("019df362-aa9f-7011-903e-4a0878d49fa0"), Some(0x019d_f362_aa9f));
        for id in
            ["019df362-aa9f-4011-903e-4a0878d49fa0", "019df362-aa9f-7011", "", "turn-1", "ääääääääääääääää"]
        {
            assert_eq!(within(id), None, "{id}");
        }
    }
}
