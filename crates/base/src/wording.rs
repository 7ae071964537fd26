//! Parts of sentences: recorded text made safe for a screen, names, numbers, lists, positions of calls.
//!
//! Dialects word their findings with these; nothing here knows a rule.

pub mod clean;
pub mod glyph;
mod phrases;
pub mod sentence;

use std::borrow::Cow;

pub use phrases::{all, count, joined, line, list, name, skipped, thousands};
pub use sentence::Sentence;

use crate::session::{CallRef, Session};

/// The position of a call, for people: the turn, and the call if the turn has several.
pub fn at(call: CallRef, session: &Session) -> String {
    let (whose, call) = session.whose(call);
    let place = match whose.turn(call.turn) {
        Some(turn) if turn.calls.len() > 1 => format!("turn {} call {}", call.turn, call.call),
        _ => format!("turn {}", call.turn),
    };
    if std::ptr::eq(whose, session) {
        return place;
    }
    let of = match (&whose.parent, &session.parent) {
        (_, Some(parent)) if *parent == whose.id => "the parent session",
        (Some(parent), _) if *parent == session.id => "the subagent",
        _ => "session",
    };
    format!("{place} of {of} {}", sentence::name(&whose.id))
}

/// The tool of a call, as a part of a sentence.
pub fn tool_of(call: CallRef, session: &Session) -> Cow<'_, str> {
    let (session, call) = session.whose(call);
    session.calls.get(call.index as usize).map_or(Cow::Borrowed("a call"), |call| sentence::name(&call.tool))
}
