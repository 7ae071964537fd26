//! The parts that sentences are made of: recorded text made safe for a screen, names, numbers, lists, places of calls.
//!
//! Rules word what they find with these (see [`monitor`](crate::monitor)); nothing here knows a rule.

pub mod clean;
mod phrases;
pub mod sentence;

use std::borrow::Cow;

pub use phrases::{all, count, joined, line, list, name, skipped, thousands};
pub use sentence::Sentence;

use crate::session::{CallRef, Session};

/// Where a call is, for people: the turn, and the call where the turn has several.
pub fn at(call: CallRef, session: &Session) -> String {
    match session.turn(call.turn) {
        Some(turn) if turn.calls.len() > 1 => format!("turn {} call {}", call.turn, call.call),
        _ => format!("turn {}", call.turn),
    }
}

/// The tool of a call, as a part of a sentence.
pub fn tool_of(call: CallRef, session: &Session) -> Cow<'_, str> {
    session.calls.get(call.index as usize).map_or(Cow::Borrowed("a call"), |call| sentence::name(&call.tool))
}
