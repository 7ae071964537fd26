//! What may be a call in a form that is not read: told of a session in which no call was found, so that it does not pass
//! for one in which nothing was done.

use crate::diagnostic::Loss;
use crate::recording::contract::Unit;
use crate::recording::input::lines::Lines;
use crate::recording::input::shallow::{Kind, Members, Node};
use crate::session::build::Builder;
use crate::session::{Damage, OLD_OPERATION_ROLE, OPERATION_ROLE};
use crate::source::quoted;

/// The first place of a session that may hold a call.
#[derive(Default)]
pub struct Suspicion(Option<(u32, String)>);

/// Words in the names of what holds calls.
const WORDS: [&str; 8] = ["tool", "call", "function", "action", "command", "step", "invo", "execut"];
/// Names with such words that are read, or that say which tools there are.
const KNOWN: [&str; 13] = [
    "tool_calls",
    "function_call",
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
/// Who proposes no calls.
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

/// Looks through a session that was read, where it has no call: through its own members, and through its messages.
pub fn look(
    builder: &mut Builder,
    unit: &Unit<'_>,
    session: Option<&Members<'_>>,
    messages: Option<Node<'_>>,
) {
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

/// That calls must have been in a response which ended for this reason; asked where none is in it.
pub fn promised(reason: Option<Node<'_>>) -> Option<Damage> {
    promised_by(&reason?.tried().text()?)
}

/// The same of a reason that was read already. Interfaces spell it in their own ways: `tool_use`, `tool-calls`, `TOOL_CALL`.
pub fn promised_by(reason: &str) -> Option<Damage> {
    const REASONS: [&str; 5] = ["tool_use", "tool_calls", "tool_call", "function_call", "function_calls"];
    let word = reason.to_ascii_lowercase().replace('-', "_");
    REASONS.contains(&&*word).then(|| {
        let reason = quoted(reason);
        Damage::calls(format!("a response ended to call a tool ({reason}), and no call can be read in it"))
    })
}

/// Why a model stopped, as a message, a choice or what is recorded about it says.
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
    /// Looks at a message, where the session has no call so far.
    pub fn message(&mut self, builder: &Builder, message: &Members<'_>, line: impl FnOnce() -> u32) {
        if self.0.is_none() && builder.call_count() == 0 {
            self.0 = within(message).map(|what| (line(), what));
        }
    }

    /// Says so, where no call came.
    pub fn tell(self, builder: &mut Builder) {
        let Some((line, what)) = self.0.filter(|_| builder.call_count() == 0) else { return };
        let message = format!(
            "{what} may hold calls, and is left out: calls are read from `tool_calls` and `function_call` of messages"
        );
        builder.at_line(line).lost(Loss::MayHoldCalls, message);
    }
}

/// What of a message may hold calls.
fn within(message: &Members<'_>) -> Option<String> {
    let role = message.get("role").and_then(Node::text).unwrap_or_default();
    if OTHERS.contains(&&*role) {
        return None;
    }
    let content = message.try_get("content");
    // One that says nothing does something.
    let silent = content.is_none() && ["tool_calls", "function_call"].iter().all(|key| !message.has(key));
    named(message, |_| silent).or_else(|| content.and_then(Node::items)?.into_iter().find_map(part))
}

/// A member that may hold calls, by its name, or as `also` says.
fn named(object: &Members<'_>, also: impl Fn(&str) -> bool) -> Option<String> {
    let may = |name: &str| !KNOWN.contains(&name) && (speaks_of_calls(name) || also(name));
    let found = object.iter().find(|(name, value)| may(name) && holds_something(*value));
    found.map(|(name, _)| quoted(name).to_string())
}

/// A part of a content that may be a call.
fn part(item: Node<'_>) -> Option<String> {
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

fn holds_something(value: Node<'_>) -> bool {
    match value.kind() {
        Kind::List => value.first_item().is_some(),
        Kind::Object => value.members().is_some_and(|members| members.first().is_some()),
        _ => false,
    }
}
