//! Messages of PydanticAI: a list of requests and responses made of parts. A call that has to be made again is answered
//! by a `retry-prompt`: it failed.

use crate::contract::{Format, Sample};
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::scribe::{Scribe, body};
use crate::shape::status::{Status, status};
use crate::shape::transcript::{self, Conversation};
use rulestep_base::session::Damage;

pub(crate) const FORMAT: Format = Format {
    name: "pydantic-ai",
    title: "messages of PydanticAI",
    source: "write `result.all_messages_json()` to a file",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader: transcript::reader::<PydanticAi>,
};

/// Keys under which an object holds messages.
const MESSAGES: [&str; 4] = ["messages", "message_history", "all_messages", "new_messages"];

fn recognise(sample: &Sample<'_>) -> bool {
    let first = |list: Node<'_>| {
        let first = list.tried().first_item().and_then(Node::members);
        first.is_some_and(|first| is_message(&first))
    };
    sample.objects().any(|value| is_message(value) || value.any(&MESSAGES).is_some_and(first))
        || sample.lists().any(first)
}

fn is_message(value: &Members<'_>) -> bool {
    let kind = value.try_get("kind").and_then(Node::text);
    let parts = value.try_get("parts").filter(|parts| parts.kind() == Kind::List);
    kind.is_some_and(|kind| matches!(&*kind, "request" | "response")) && parts.is_some()
}

#[derive(Default)]
struct PydanticAi;

impl Conversation for PydanticAi {
    const EXPECTED: &'static str = "not a message";

    fn entries<'a>(whole: &Members<'a>) -> Option<Node<'a>> {
        whole.any(&MESSAGES)
    }

    fn is_entry(value: &Members<'_>) -> bool {
        value.has("parts")
    }

    fn key<'a>(message: &Members<'a>) -> Option<std::borrow::Cow<'a, str>> {
        message.get("conversation_id").and_then(Node::id)
    }

    fn entry(&mut self, message: &Members<'_>, scribe: &mut Scribe) -> Result<(), String> {
        scribe.at(message, &["timestamp"]);
        scribe.end_response();
        if let Some(told) = message.get("instructions") {
            scribe.builder.context_once("instructions", told.value().unwrap_or_default());
        }
        let Some(parts) = message.get("parts") else {
            scribe.builder.damaged(Damage::calls("a message has no parts"));
            return Ok(());
        };
        for part in scribe.parts(parts) {
            match part.members() {
                Some(members) => self::part(part, &members, scribe),
                None => scribe.odd_part(part),
            }
        }
        Ok(())
    }
}

fn part(node: Node<'_>, part: &Members<'_>, scribe: &mut Scribe) {
    const KEY: &str = "message";
    let kind = part.get("part_kind").and_then(Node::text).unwrap_or_default();
    let id = part.get("tool_call_id").and_then(Node::id);
    scribe.at(part, &["timestamp"]);
    match &*kind {
        "system-prompt" | "instruction" => scribe.said("system", body(part, &["content"])),
        "user-prompt" => scribe.said("user", body(part, &["content"])),
        "text" => scribe.response(Some(KEY), body(part, &["content"])),
        "tool-call" | "builtin-tool-call" => {
            scribe.ensure_response(KEY);
            let tool = part.get("tool_name").and_then(Node::text).unwrap_or_default();
            scribe.call(id.as_deref(), &tool, body(part, &["args"]));
        }
        "tool-return" => scribe.result(id.as_deref(), body(part, &["content"]), ended(part)),
        "builtin-tool-return" => scribe.later_result(id.as_deref(), body(part, &["content"]), ended(part)),
        "retry-prompt" if part.get("tool_name").is_some() => {
            scribe.result(id.as_deref(), body(part, &["content"]), Status::Failed);
        }
        "retry-prompt" => scribe.said("user", body(part, &["content"])),
        "thinking" | "file" | "compaction" | "speech" | "tool-availability-delta" => {}
        _ => scribe.unknown_part(node),
    }
}

/// Older versions have no `outcome`: a return was a success, unless it has the text of a denial.
fn ended(part: &Members<'_>) -> Status {
    let Some(outcome) = part.get("outcome") else {
        let denied = body(part, &["content"]).shown() == "The tool call was denied.";
        return if denied {
            Status::Refused("the result says that the call was denied")
        } else {
            Status::Succeeded
        };
    };
    match status(&outcome.text().unwrap_or_default()) {
        Status::Unknown => Status::Failed,
        known => known,
    }
}
