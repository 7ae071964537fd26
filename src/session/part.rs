//! A session in parts, for those too long to be held whole: turns that are complete, handed on while the rest is read.
//!
//! A part holds its turns as a [`Session`] of their own, whose places count from the part's beginning; turns and calls
//! keep the numbers they have in the whole.

use std::ops::Range;

use super::{Call, Session, Turn};

/// Some turns of a session, with everything that was said up to the next one.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The turns. [`Turn::messages`] and [`Turn::calls`] are places in this part; diagnostics and offered tools are
    /// with the last part alone.
    pub session: Session,
    /// Calls in the parts before.
    pub first: u32,
    /// Calls of parts before whose result stands in this one, by index; their arguments are gone.
    pub answered: Vec<Call>,
}

impl Part {
    /// A call that this part knows of, by its index in the whole session.
    pub fn call(&self, index: u32) -> Option<&Call> {
        View::from(self).call(index)
    }

    /// The turn with this number.
    pub fn turn(&self, number: u32) -> Option<&Turn> {
        let first = self.session.turns.first()?.number;
        self.session.turns.get(number.checked_sub(first)? as usize)
    }
}

/// A part of a session, or all of it.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The turns.
    pub session: &'a Session,
    first: u32,
    answered: &'a [Call],
}

impl<'a> From<&'a Session> for View<'a> {
    fn from(session: &'a Session) -> View<'a> {
        View { session, first: 0, answered: &[] }
    }
}

impl<'a> From<&'a Part> for View<'a> {
    fn from(part: &'a Part) -> View<'a> {
        View { session: &part.session, first: part.first, answered: &part.answered }
    }
}

impl<'a> View<'a> {
    /// A call, by its index in the whole session.
    pub fn call(self, index: u32) -> Option<&'a Call> {
        match index.checked_sub(self.first) {
            Some(place) => self.session.calls.get(place as usize),
            None => {
                let place = self.answered.binary_search_by_key(&index, |call| call.at.index).ok()?;
                self.answered.get(place)
            }
        }
    }

    /// The calls whose result stands in this part, if any does.
    pub fn answered(self) -> impl Iterator<Item = &'a Call> {
        self.answered.iter().chain(&self.session.calls)
    }

    /// What stands between the turn before and this one, as places of messages.
    pub fn before(self, turn: &Turn) -> Range<usize> {
        let turns = &self.session.turns;
        let place = turns.first().map_or(0, |first| turn.number.saturating_sub(first.number));
        let before = place.checked_sub(1).and_then(|place| turns.get(place as usize));
        before.map_or(0, |before| before.messages.end)..turn.messages.start
    }

    /// What stands behind the last turn, as places of messages.
    pub fn behind(self) -> Range<usize> {
        let from = self.session.turns.last().map_or(0, |turn| turn.messages.end);
        from..self.session.messages.len()
    }
}
