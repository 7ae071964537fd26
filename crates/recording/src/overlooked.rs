//! Calls in the model's text that no reader took for calls. They are reported for every format, so that a session in
//! which nothing was read does not pass for one in which nothing was done.
//!
//! Structure counts in every response without a call. Calls written in a text count if the session has no others;
//! beside others they count only if the model was instructed to write them or is answered as if it was: a model with
//! another way to call tools may explain or quote them.

use std::sync::Arc;

use crate::input::calls;
use crate::input::shallow::Node;
use crate::shape::{suspicion, tags};
use rulestep_base::diagnostic::{Diagnostic, Loss, code};
use rulestep_base::session::{Body, Form, MessageKind, Session};

/// Reports the first call that may have been overlooked, unless calls are known to be missing.
pub fn tell(session: &mut Session) {
    if session.diagnostics.iter().any(Diagnostic::may_lose_calls) {
        return;
    }
    let mut said = session.messages.iter().enumerate();
    let found = said.find_map(|(place, said)| {
        let what = match said.kind {
            MessageKind::Response(turn) => of_response(session, turn, place, &said.content),
            MessageKind::Said if !SPEAKERS.contains(&&*said.role) => {
                of_stranger(session, place, &said.content)
            }
            _ => None,
        };
        Some((said.line, what?))
    });
    let Some((line, what)) = found else { return };
    let lost = Diagnostic::lost(code::DAMAGED_RECORD, Loss::MayHoldCalls, suspicion::overlooked(what));
    let line = u64::from(line.max(session.origin.line));
    session.diagnostics.push(lost.on_line(Arc::clone(&session.origin.file), line));
}

/// Speakers whose words are never calls. Other names may be the model.
const SPEAKERS: [&str; 4] = ["user", "system", "developer", "human"];

fn of_response(session: &Session, turn: u32, place: usize, content: &Body) -> Option<&'static str> {
    let calls = session.turn(turn).map_or(&[][..], |turn| session.calls_of(turn));
    match calls {
        [] => overlooked(session, place, content),
        // Readers that recognise calls in a content leave them there; one that was not read is not among the turn's.
        calls => {
            // Most contents are words.
            let speaks =
                |word: &str| memchr::memmem::find(content.raw().as_bytes(), word.as_bytes()).is_some();
            if !["all", "ool", "nvocation"].into_iter().any(speaks) {
                return None;
            }
            let list = (content.form() == Some(Form::Json)).then(|| Node::parse(content.raw()).ok()?.items());
            let is_known = |part: Node<'_>| {
                let Some(part) = part.members() else { return false };
                let text = |keys: &[&str]| part.any(keys).and_then(Node::id);
                let (id, name) = (text(&calls::IDS), text(&calls::CALLED));
                let same =
                    |own: Option<&str>, other: Option<&str>| own.is_none() || other.is_none() || own == other;
                calls.iter().any(|call| {
                    same(call.id.as_deref(), id.as_deref()) && same(Some(&call.tool), name.as_deref())
                })
            };
            let unread = list.flatten()?.into_iter().any(|part| suspicion::is_call(part) && !is_known(part));
            unread.then_some("a part of the content of a response")
        }
    }
}

fn of_stranger(session: &Session, place: usize, content: &Body) -> Option<&'static str> {
    overlooked(session, place, content).map(|_| "what somebody unknown says")
}

fn overlooked(session: &Session, place: usize, content: &Body) -> Option<&'static str> {
    if content.form() == Some(Form::Json) && Node::parse(content.raw()).is_ok_and(calls::are_structured_in) {
        return Some("the content of a response");
    }
    let text = content.said()?;
    let json = session.calls.is_empty() && tags::is_json_call(text);
    (json || is_written(session, place, text)).then_some("the text of a response")
}

/// Whether a text ends with calls that were meant to run; it is the text of the message at this position.
fn is_written(session: &Session, place: usize, text: &str) -> bool {
    // Tags named after tools are recognised by what was offered or explained.
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

/// Whether a tag was explained to the model.
fn explained(session: &Session, tag: &str) -> bool {
    let told = session.messages.iter().filter(|message| matches!(&*message.role, "system" | "developer"));
    told.into_iter().any(|message| message.content.shown().contains(tag))
}
