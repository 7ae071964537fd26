//! Calls in what a model said, which no reader took for calls: told of every format alike, so that a session in which nothing
//! was read does not pass for one in which nothing was done.
//!
//! Structure counts wherever a response has no call. Calls that are written in a text count where the session has no others, and
//! beside others only if the model was told to write them or is answered as if it had: a model that is given another way to
//! call tools may explain or quote them.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Loss, code};
use crate::recording::input::calls;
use crate::recording::input::shallow::Node;
use crate::recording::shape::{suspicion, tags};
use crate::session::{Body, Form, MessageKind, Session};

/// Says so of the first place where that is so, unless calls are known to be missing.
pub fn tell(session: &mut Session) {
    if session.diagnostics.iter().any(Diagnostic::may_lose_calls) {
        return;
    }
    let callless = session.turns.iter().filter(|turn| turn.calls.is_empty());
    let mut said = callless.flat_map(|turn| turn.messages.clone()).filter_map(|place| {
        let message = session.messages.get(place)?;
        matches!(message.kind, MessageKind::Response(_)).then_some((place, message))
    });
    let found = said.find_map(|(place, said)| Some((said.line, overlooked(session, place, &said.content)?)));
    let Some((line, what)) = found else { return };
    let lost = Diagnostic::lost(code::DAMAGED_RECORD, Loss::MayHoldCalls, suspicion::overlooked(what));
    let line = u64::from(line.max(session.origin.line));
    session.diagnostics.push(lost.on_line(Arc::clone(&session.origin.file), line));
}

fn overlooked(session: &Session, place: usize, content: &Body) -> Option<&'static str> {
    if content.form() == Some(Form::Json) && Node::parse(content.raw()).is_ok_and(calls::are_structured_in) {
        return Some("the content of a response");
    }
    let text = content.said()?;
    let json = session.calls.is_empty() && tags::is_json_call(text);
    (json || is_written(session, place, text)).then_some("the text of a response")
}

/// Whether a text ends with calls that were meant to be done; it is that of the message at this place.
fn is_written(session: &Session, place: usize, text: &str) -> bool {
    // Tags that are named after tools are told from others by what was offered or explained.
    let offered = |tool: &str| {
        session.offered.iter().flat_map(|from| &*from.tools).any(|offered| &*offered.name == tool)
    };
    let written = tags::written(text, |tag| offered(tag) || explained(session, &format!("<{tag}>")));
    let called = written.at_end && !written.calls.is_empty();
    called
        && (session.calls.is_empty() || written.opener.is_some_and(|tag| explained(session, tag)) || {
            let next = session.messages.get(place + 1..).unwrap_or_default().first();
            next.is_some_and(|next| tags::is_answer(next.content.shown()))
        })
}

/// Whether the model was told of a tag.
fn explained(session: &Session, tag: &str) -> bool {
    let told = session.messages.iter().filter(|message| matches!(&*message.role, "system" | "developer"));
    told.into_iter().any(|message| message.content.shown().contains(tag))
}
