//! Possible calls in a form that is not read. They are reported wherever something looks like a call; for a session in
//! which no call was found, also where something only might be one, so that it does not pass for a session in which
//! nothing was done.

use serde_json::Value;

use crate::contract::Unit;
use crate::input::calls::{CALLED, GIVEN, STEMS, holds_something, stem};
use crate::input::lines::Lines;
use crate::input::shallow::{Kind, Members, Node};
use rulestep_base::diagnostic::{Diagnostic, Loss};
use rulestep_base::session::build::Builder;
use rulestep_base::session::{Damage, OLD_OPERATION_ROLE, OPERATION_ROLE};
use rulestep_base::source::quoted;

/// The first place of a session that may hold a call.
#[derive(Default)]
pub struct Suspicion(Option<(u32, String)>);

/// Words in the names of what holds calls.
const WORDS: [&str; 8] = ["tool", "call", "function", "action", "command", "step", "invo", "execut"];
/// Names with such words that are read, or that say which tools there are.
const KNOWN: [&str; 11] = [
    "tool_call_id",
    "tools",
    "tools_at",
    "functions",
    "available_tools",
    "tool_choice",
    "tool_config",
    "tool_definitions",
    "tool_schemas",
    "toolkit",
    "toolkits",
];
/// Speakers that propose no calls.
const OTHERS: [&str; 8] =
    ["system", "developer", "user", "human", "tool", "function", OPERATION_ROLE, OLD_OPERATION_ROLE];
/// Members that name a tool, in a part of a content.
const NAMES: [&str; 6] = ["name", "tool", "tool_name", "function", "action", "command"];
/// Parts of a content that are words, pictures and the like.
const SAID: [&str; 19] = [
    "text",
    "output_text",
    "input_text",
    "summary_text",
    "refusal",
    "thinking",
    "redacted_thinking",
    "reasoning",
    "image",
    "image_url",
    "input_image",
    "image_file",
    "audio",
    "input_audio",
    "video",
    "media",
    "file",
    "input_file",
    "document",
];

/// Members of a message in the chat form that hold calls.
pub const CHAT: [&str; 2] = ["tool_calls", "function_call"];

/// A member of a message that looks like calls, and is not one of those that are `read`. Only names are compared,
/// except for members whose names suggest calls.
pub fn unread(message: &Members<'_>, read: &[&str]) -> Option<String> {
    let is_read = |name: &[u8]| is_usual(name) || read.iter().any(|read| read.as_bytes() == name);
    if message.are_named(is_read) {
        return None;
    }
    let looks_so = |(name, value): &(&str, Node<'_>)| {
        !is_read(name.as_bytes()) && !KNOWN.contains(name) && looks_like_calls(name, value.tried())
    };
    message.iter().find(looks_so).map(|(name, _)| quoted(name).to_string())
}

/// A member of a session besides its messages that looks like calls, unless it only lists calls that were read.
fn of_session(builder: &Builder, session: &Members<'_>) -> Option<String> {
    let calls = &builder.so_far().calls;
    let is_read = |item: Node<'_>| {
        let named = item.tried().members().and_then(|item| {
            let inner = item.try_get("function").and_then(Node::members);
            inner.unwrap_or(item).any(&CALLED).map(Node::tried)?.text()
        });
        named.is_some_and(|name| calls.iter().any(|call| *call.tool == *name))
    };
    let mut found = session.iter().map(|(name, value)| (name, value.tried())).filter(|(name, value)| {
        let items = value.items().unwrap_or_else(|| vec![*value]);
        STEMS.contains(&&*stem(name)) && looks_like_call(*value, 2) && !items.into_iter().all(is_read)
    });
    found.next().map(|(name, _)| quoted(name).to_string())
}

/// A list of messages besides those that are read, with a call that is not among theirs.
fn other_messages(builder: &Builder, session: &Members<'_>) -> Option<String> {
    let calls = &builder.so_far().calls;
    let is_known = |call: Node<'_>| {
        let Some(call) = call.tried().members() else { return false };
        let inner = call.try_get("function").and_then(Node::members);
        let name = inner.as_ref().unwrap_or(&call).any(&CALLED).map(Node::tried).and_then(Node::text);
        let (Some(id), Some(name)) = (call.try_get("id").and_then(Node::id), name) else { return false };
        // Ids come again: one that is known may be of another call.
        calls.iter().any(|call| call.id.as_deref() == Some(&*id) && *call.tool == *name)
    };
    let calls_in = |message: Node<'_>| {
        let Some(message) = message.tried().members() else { return false };
        let inner = message.try_get("message").and_then(Node::members);
        let message = inner.unwrap_or(message);
        let listed = message.try_get("tool_calls").and_then(Node::items).unwrap_or_default();
        listed.into_iter().any(|call| !is_known(call))
            || message.try_get("function_call").is_some_and(holds_something)
            || calls_in_content(&message).is_some_and(|call| !is_known(call))
    };
    let holds = |value: Node<'_>| {
        let within = value.members().and_then(|members| members.try_get("messages"));
        let items = within.unwrap_or(value).items();
        let within =
            |item: Node<'_>| item.tried().items().is_some_and(|items| items.into_iter().any(calls_in));
        items.is_some_and(|items| items.into_iter().any(|item| calls_in(item) || within(item)))
    };
    let mut others = session.iter().filter(|(name, _)| *name != "messages" && !KNOWN.contains(name));
    others.find(|(_, value)| holds(value.tried())).map(|(name, _)| quoted(name).to_string())
}

/// The first part of a content that is a call.
pub fn calls_in_content<'a>(message: &Members<'a>) -> Option<Node<'a>> {
    let parts = message.try_get("content").filter(|content| content.kind() == Kind::List)?.items()?;
    parts.into_iter().find(|part| is_call(*part))
}

/// Whether a part of a content is a call by its type.
pub fn is_call(part: Node<'_>) -> bool {
    let kind = part.members().and_then(|part| part.get("type")).and_then(Node::text);
    kind.is_some_and(|kind| STEMS.contains(&&*stem(&kind)))
}

/// The same for a member that was read into a tree; `read` are those that hold calls.
pub fn is_unread(name: &str, value: &Value, read: &[&str]) -> bool {
    let holds = match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::String(text) => text.contains(['{', '[', '(']),
        _ => false,
    };
    holds && !is_usual(name.as_bytes()) && !read.contains(&name) && STEMS.contains(&&*stem(name))
}

/// A role whose messages look like calls.
pub fn of_role(role: &str) -> Option<String> {
    let may = !OTHERS.contains(&role) && STEMS.contains(&&*stem(role));
    may.then(|| format!("a message of the role {}", quoted(role)))
}

/// The message that a part in the chat form may hold calls, and is not read as such.
pub fn left_out(what: &str) -> String {
    format!(
        "{what} may hold calls, and is left out: calls are read from `tool_calls` and `function_call` of messages"
    )
}

/// The same for any other form.
pub fn lost(what: &str) -> Damage {
    Damage::calls(format!("{what} may hold calls, and is left out"))
}

/// The same for the model's text in a format that has no calls there.
pub fn overlooked(what: &str) -> String {
    format!("{what} looks like a call in a form that is not read here; it is read as what is said")
}

/// Names of nearly all members that messages have.
fn is_usual(name: &[u8]) -> bool {
    matches!(
        name,
        b"role"
            | b"content"
            | b"id"
            | b"type"
            | b"name"
            | b"parts"
            | b"refusal"
            | b"model"
            | b"usage"
            | b"timestamp"
            | b"at"
            | b"created_at"
            | b"index"
            | b"metadata"
            | b"annotations"
            | b"audio"
            | b"reasoning"
            | b"reasoning_content"
            | b"finish_reason"
            | b"stop_reason"
    )
}

fn looks_like_calls(name: &str, value: Node<'_>) -> bool {
    if !speaks_of_calls(name) {
        return false;
    }
    let holds = || match value.kind() {
        // As another program wrote them.
        Kind::Text => value.json().contains(['{', '[', '(']),
        _ => holds_something(value),
    };
    if STEMS.contains(&&*stem(name)) {
        return holds();
    }
    let gives_back =
        ["result", "output", "response"].iter().any(|word| name.to_ascii_lowercase().contains(word));
    !gives_back && looks_like_call(value, 2)
}

/// Whether it, or an item of it, has the members of a call.
fn looks_like_call(value: Node<'_>, levels: u8) -> bool {
    let Some(levels) = levels.checked_sub(1) else { return false };
    match value.kind() {
        Kind::List => {
            value.items().is_some_and(|items| items.into_iter().any(|item| looks_like_call(item, levels)))
        }
        Kind::Object => value.members().is_some_and(|members| {
            let called = members.any(&CALLED);
            // A definition of a tool looks similar.
            let is_offered = members.has("description") && members.has("parameters");
            let given = called.is_some() && members.any(&GIVEN).is_some() && !is_offered;
            given || called.is_some_and(|called| called.kind() == Kind::Object)
        }),
        _ => false,
    }
}

/// Looks through a session that was read: through its own members, and if it has no call through its messages as well.
pub fn look(
    builder: &mut Builder,
    unit: &Unit<'_>,
    session: Option<&Members<'_>>,
    messages: Option<Node<'_>>,
) {
    let beside = |session| of_session(builder, session).or_else(|| other_messages(builder, session));
    if let Some(what) = session.and_then(beside) {
        builder.at_line(unit.line).lost(Loss::MayHoldCalls, left_out(&what));
    }
    if builder.call_count() > 0 {
        return;
    }
    let mut found = Suspicion::default();
    let mut lines = Lines::new(unit.node, unit.line);
    for item in messages.and_then(Node::items).unwrap_or_default() {
        if let Some(message) = item.members() {
            found.message(builder, &message, || lines.of(item));
        }
    }
    if let Some(name) = session.and_then(|session| named(session, |_| false)) {
        found.0.get_or_insert((unit.line, name));
    }
    found.tell(builder);
}

/// Reports that a response which ended for this reason must have had calls; used if it has none.
pub fn promised(reason: Option<Node<'_>>) -> Option<Damage> {
    promised_by(&reason?.tried().text()?)
}

/// The same for a reason that was read already. Interfaces spell it in their own ways: `tool_use`, `tool-calls`,
/// `TOOL_CALL`, `toolUse`.
pub fn promised_by(reason: &str) -> Option<Damage> {
    const REASONS: [&str; 3] = ["tooluse", "toolcall", "functioncall"];
    REASONS.contains(&&*stem(reason)).then(|| {
        let reason = quoted(reason);
        Damage::calls(format!("a response ended to call a tool ({reason}), and no call can be read in it"))
    })
}

/// Why a model stopped, by a message, a choice or the record of either.
pub fn reason<'a>(message: &Members<'a>) -> Option<Node<'a>> {
    let own =
        |members: &Members<'a>| members.any(&["finish_reason", "stop_reason", "finishReason", "stopReason"]);
    let about = || {
        let abouts = ["response_metadata", "generation_info"];
        abouts.iter().find_map(|key| own(&message.get(key)?.tried().members()?))
    };
    own(message).or_else(about)
}

impl Suspicion {
    /// Looks at a message of a session without a call so far.
    pub fn message(&mut self, builder: &Builder, message: &Members<'_>, line: impl FnOnce() -> u32) {
        if self.0.is_none() && builder.call_count() == 0 {
            self.0 = within(message).map(|what| (line(), what));
        }
    }

    /// Says so, where no call came.
    pub fn tell(self, builder: &mut Builder) {
        let is_told = builder.so_far().diagnostics.iter().any(Diagnostic::may_lose_calls);
        let Some((line, what)) = self.0.filter(|_| builder.call_count() == 0 && !is_told) else { return };
        builder.at_line(line).lost(Loss::MayHoldCalls, left_out(&what));
    }
}

/// The part of a message that may hold calls.
fn within(message: &Members<'_>) -> Option<String> {
    let role = message.get("role").and_then(Node::text).unwrap_or_default();
    if OTHERS.contains(&&*role) {
        return None;
    }
    let content = message.try_get("content");
    // One that says nothing does something.
    let silent = content.is_none() && CHAT.iter().all(|key| !message.has(key));
    named(message, |_| silent).or_else(|| content.and_then(Node::items)?.into_iter().find_map(part))
}

/// A member that may hold calls, by its name, or as `also` says.
fn named(object: &Members<'_>, also: impl Fn(&str) -> bool) -> Option<String> {
    let is_read = |name: &str| CHAT.contains(&name) || KNOWN.contains(&name);
    let may = |name: &str| !is_read(name) && (speaks_of_calls(name) || also(name));
    let found = object.iter().find(|(name, value)| may(name) && holds_something(*value));
    found.map(|(name, _)| quoted(name).to_string())
}

/// A part of a content that may be a call.
pub fn part(item: Node<'_>) -> Option<String> {
    let members = item.members()?;
    let kind = members.get("type").and_then(Node::text).unwrap_or_default();
    let may = speaks_of_calls(&kind) || members.any(&NAMES).is_some();
    (may && !SAID.contains(&&*kind)).then(|| match &*kind {
        "" => "a part of a content".to_owned(),
        kind => format!("a part of the type {}", quoted(kind)),
    })
}

fn speaks_of_calls(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}
