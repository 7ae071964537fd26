//! Calls in what a model said, which no reader took for calls: told of every format alike, so that a session in which nothing
//! was read does not pass for one in which nothing was done.
//!
//! Structure counts wherever a response has no call; calls that are written in a text only where the session has none, since
//! a model that is given a way to call tools has no other, and may explain or quote them.

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
    let said = callless.filter_map(|turn| session.messages.get(turn.messages.clone())).flatten();
    let mut said = said.filter(|message| matches!(message.kind, MessageKind::Response(_)));
    let Some((line, what)) =
        said.find_map(|message| Some((message.line, overlooked(session, &message.content)?)))
    else {
        return;
    };
    let lost = Diagnostic::lost(code::DAMAGED_RECORD, Loss::MayHoldCalls, suspicion::overlooked(what));
    let line = u64::from(line.max(session.origin.line));
    session.diagnostics.push(lost.on_line(Arc::clone(&session.origin.file), line));
}

fn overlooked(session: &Session, content: &Body) -> Option<&'static str> {
    if content.form() == Some(Form::Json) && Node::parse(content.raw()).is_ok_and(calls::are_structured_in) {
        return Some("the content of a response");
    }
    let text = content.said().filter(|_| session.calls.is_empty())?;
    (tags::is_json_call(text) || is_written(session, text)).then_some("the text of a response")
}

/// Whether a text ends with calls.
fn is_written(session: &Session, text: &str) -> bool {
    // Tags that are named after tools are told from others by what was offered or explained.
    let explained = |tag: &str| {
        let tag = format!("<{tag}>");
        let others = session.messages.iter().filter(|message| &*message.role == "system");
        others.into_iter().any(|message| message.content.shown().contains(&tag))
    };
    let offered = |tool: &str| {
        session.offered.iter().flat_map(|from| &*from.tools).any(|offered| &*offered.name == tool)
    };
    let written = tags::written(text, |tag| offered(tag) || explained(tag));
    written.at_end && !written.calls.is_empty()
}
