//! The part of a session that is kept.

use crate::session::{Call, Session};

/// The part of a session that is kept. A turn is removed with its calls, a call with its result; every other message is
/// kept or removed by itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Part {
    turns: Vec<bool>,
    calls: Vec<bool>,
    messages: Vec<bool>,
    alternatives: Vec<bool>,
}

impl Part {
    /// All of it.
    pub fn whole(session: &Session) -> Part {
        Part {
            turns: vec![true; session.turns.len()],
            calls: vec![true; session.calls.len()],
            messages: vec![true; session.messages.len()],
            alternatives: vec![true; session.alternatives.len()],
        }
    }

    /// All up to the end of a turn (from 1): its response, its calls, and the messages before the next response.
    pub fn up_to(session: &Session, turn: u32) -> Part {
        let mut part = Part::whole(session);
        let Some(last) = session.turn(turn) else { return part };
        let end = session.after(last).end;
        part.turns.iter_mut().skip(turn as usize).for_each(|stays| *stays = false);
        part.messages.iter_mut().skip(end).for_each(|stays| *stays = false);
        part
    }

    /// Removes an alternative (by its position in [`Session::alternatives`]).
    pub fn drop_alternative(&mut self, place: usize) {
        if let Some(stays) = self.alternatives.get_mut(place) {
            *stays = false;
        }
    }

    /// Whether an alternative is kept, if its turn is.
    pub fn has_alternative(&self, place: usize) -> bool {
        self.alternatives.get(place) == Some(&true)
    }

    /// Removes a turn (from 1).
    pub fn drop_turn(&mut self, turn: u32) {
        if let Some(stays) = (turn as usize).checked_sub(1).and_then(|place| self.turns.get_mut(place)) {
            *stays = false;
        }
    }

    /// Removes a call (by index).
    pub fn drop_call(&mut self, call: u32) {
        if let Some(stays) = self.calls.get_mut(call as usize) {
            *stays = false;
        }
    }

    /// Removes a message (by its position in [`Session::messages`]) that is neither a response nor a call's result.
    pub fn drop_message(&mut self, message: usize) {
        if let Some(stays) = self.messages.get_mut(message) {
            *stays = false;
        }
    }

    /// Whether a turn is kept.
    pub fn has_turn(&self, turn: u32) -> bool {
        (turn as usize).checked_sub(1).and_then(|place| self.turns.get(place)) == Some(&true)
    }

    /// Whether a call is kept, its turn included.
    pub fn has_call(&self, call: &Call) -> bool {
        self.has_turn(call.at.turn) && self.calls.get(call.at.index as usize) == Some(&true)
    }

    /// Whether a message is kept that is neither a response nor a call's result.
    pub fn has_message(&self, message: usize) -> bool {
        self.messages.get(message) == Some(&true)
    }
}
