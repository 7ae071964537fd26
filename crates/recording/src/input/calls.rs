//! Recognises what looks like a call, however it is recorded: by the names of members, by types, and in texts.
//!
//! It decides what the loss of an unknown part means: if something in it looks like a call, calls may be lost;
//! otherwise no harm is done.

use crate::input::shallow::{Kind, Members, Node};
use rulestep_base::diagnostic::Loss;

/// Names of what holds calls, as letters alone and without an `s` at the end.
pub const STEMS: [&str; 10] = [
    "toolcall",
    "functioncall",
    "tooluse",
    "toolinvocation",
    "functioninvocation",
    "toolrequest",
    "toolscalled",
    "toolsused",
    "call",
    "invocation",
];
/// Members of a call that hold the tool's name and the arguments.
pub const CALLED: [&str; 8] =
    ["name", "tool", "tool_name", "toolName", "function", "function_name", "action", "recipient_name"];
pub const GIVEN: [&str; 9] = [
    "arguments",
    "args",
    "input",
    "parameters",
    "params",
    "tool_input",
    "action_input",
    "tool_args",
    "tool_kwargs",
];

/// Members that identify a call.
pub const IDS: [&str; 6] = ["call_id", "id", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId"];

/// Tags with which models write calls into their text, and the names of members that hold calls, as they appear in a
/// text.
const MARKS: [&str; 7] = [
    "<function=",
    "<tool_call>",
    "<function_calls>",
    "<invoke name=",
    "\"tool_calls\"",
    "\"function_call\"",
    "\"tool_use\"",
];
/// Parts of names, as letters alone, that mark a record as one about a call.
const KINDS: [&str; 6] =
    ["toolcall", "functioncall", "tooluse", "toolinvocation", "toolrequest", "commandexecution"];
/// Members that say what kind of record an object is.
pub const KIND: [&str; 6] = ["type", "kind", "event", "record", "method", "object"];
/// Deeper nesting is not searched, and so may hold anything.
const LEVELS: u8 = 24;

/// The letters of a name, without an `s` at the end.
pub fn stem(name: &str) -> String {
    let letters = name.chars().filter(char::is_ascii_alphabetic).map(|letter| letter.to_ascii_lowercase());
    let letters: String = letters.collect();
    letters.trim_end_matches('s').to_owned()
}

/// Whether something in a value looks like a call.
pub fn are_in(value: Node<'_>) -> bool {
    ANY.inside(value, LEVELS)
}

/// The same of the members of an object.
pub fn are_among(members: &Members<'_>) -> bool {
    ANY.among(members, LEVELS)
}

/// The same by structure alone: texts do not count.
pub fn are_structured_in(value: Node<'_>) -> bool {
    let look = Look { texts: false, is_call };
    look.inside(value, LEVELS)
}

/// The same for JSON that a model wrote as its text, which is far more often data than a call.
pub fn are_proposed_in(value: Node<'_>) -> bool {
    let look = Look { texts: false, is_call: is_proposal };
    look.inside(value, LEVELS)
}

/// The loss of an object of an unknown kind: calls, if its type suggests one or something in it looks like one. A value
/// that is not an object may have been anything.
pub fn loss_of(value: Node<'_>) -> Loss {
    let members = value.tried().members();
    let kind = members.as_ref().and_then(|members| members.any(&KIND)?.tried().text());
    let speaks = kind.is_some_and(|kind| speaks_of_one(&kind));
    let harmless = members.is_some() && !speaks && !are_in(value);
    if harmless { Loss::Harmless } else { Loss::MayHoldCalls }
}

/// What counts as a call during a search.
struct Look {
    /// Calls that are written in texts.
    texts: bool,
    is_call: fn(&Members<'_>) -> bool,
}

/// All that may be a call.
const ANY: Look = Look { texts: true, is_call };

impl Look {
    fn among(&self, members: &Members<'_>, levels: u8) -> bool {
        let is_one = |(name, value): (&str, Node<'_>)| {
            STEMS.contains(&&*stem(name)) && holds_something(value) || self.inside(value, levels)
        };
        (self.is_call)(members) || members.iter().any(is_one)
    }

    fn inside(&self, value: Node<'_>, levels: u8) -> bool {
        let Some(levels) = levels.checked_sub(1) else { return true };
        // Looking at it here does not mean that a reader could read it.
        let value = value.tried();
        match value.kind() {
            Kind::Text => self.texts && value.text().is_none_or(|text| in_text(&text)),
            Kind::List => {
                value.items().is_none_or(|items| items.into_iter().any(|item| self.inside(item, levels)))
            }
            Kind::Object => value.members().is_none_or(|members| self.among(&members, levels)),
            _ => false,
        }
    }
}

/// Whether an object names a tool and gives it an object, or an argument that only calls have.
fn is_proposal(members: &Members<'_>) -> bool {
    const OWN: [&str; 5] = ["arguments", "tool_input", "action_input", "tool_args", "tool_kwargs"];
    let named = members.any(&CALLED).is_some_and(|called| called.kind() == Kind::Text);
    let given = members.any(&GIVEN).is_some_and(|given| given.kind() == Kind::Object && !is_schema(given));
    named && (given || members.any(&OWN).is_some())
}

/// Whether a text contains a call, as models write them without an interface for tools.
pub fn in_text(text: &str) -> bool {
    MARKS.iter().any(|mark| memchr::memmem::find(text.as_bytes(), mark.as_bytes()).is_some())
}

/// Whether the type of a record says that it is of a call.
pub fn speaks_of_one(kind: &str) -> bool {
    let stem = stem(kind);
    STEMS.contains(&&*stem) || stem.ends_with("call") || KINDS.iter().any(|part| stem.contains(part))
}

/// Whether an object has what a call has.
pub fn is_call(members: &Members<'_>) -> bool {
    let called = members.any(&CALLED);
    let given = members.any(&GIVEN).filter(|given| !is_schema(*given));
    let kind = || members.any(&KIND).map(Node::tried).and_then(Node::text);
    called.is_some() && given.is_some()
        || (called.is_some() || given.is_some()) && kind().is_some_and(|kind| speaks_of_one(&kind))
}

/// Whether a value says what arguments a tool takes: it is offered, not called.
fn is_schema(value: Node<'_>) -> bool {
    let members = value.tried().members();
    members.is_some_and(|members| members.has("properties") || members.has("$schema"))
}

/// Whether a list or an object is not empty.
pub fn holds_something(value: Node<'_>) -> bool {
    match value.kind() {
        Kind::List => value.tried().first_item().is_some(),
        Kind::Object => value.tried().members().is_some_and(|members| members.first().is_some()),
        _ => false,
    }
}
