//! Sessions of OpenCode: `opencode export`, an object with `info` and `messages`, and the stream of `opencode run
//! --format json`.
//!
//! A message of the model holds everything up to the user's next message: several responses, each between `step-start`
//! and `step-finish`. A part for a tool is a call with its result.

use std::borrow::Cow;

use crate::contract::{Format, Sample};
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::scribe::{Scribe, body};
use crate::shape::status::{Status, status};
use crate::shape::suspicion;
use crate::shape::transcript::{self, Conversation};
use rulestep_base::session::{Body, Damage};

pub(crate) const FORMAT: Format = Format {
    name: "opencode",
    title: "sessions of OpenCode, and the stream of `opencode run`",
    source: "`opencode export SESSION`, or `opencode run --format json PROMPT`",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader: transcript::reader::<OpenCode>,
};

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| match value.get("messages") {
        Some(messages) => {
            messages.first_item().and_then(Node::members).is_some_and(|first| is_message(&first))
        }
        None => is_message(value) || is_event(value),
    })
}

fn is_message(value: &Members<'_>) -> bool {
    let info = value.get("info").and_then(Node::members);
    value.has("parts") && info.is_some_and(|info| info.has("sessionID") && info.has("role"))
}

fn is_event(value: &Members<'_>) -> bool {
    value.has("type") && value.has("sessionID") && value.any(&["part", "error", "reason"]).is_some()
}

/// OpenCode's texts for refused calls, in the error of a part.
const REFUSED: [(&str, &str); 3] = [
    (
        "The user rejected permission to use this specific tool call",
        "the error says that the user rejected the call",
    ),
    (
        "The user has specified a rule which prevents you from using",
        "the error says that a rule prevents the call",
    ),
    ("Permission denied by ruleset", "the error says that a rule prevents the call"),
];

#[derive(Default)]
struct OpenCode {
    /// Responses so far.
    responses: u64,
}

impl Conversation for OpenCode {
    const EXPECTED: &'static str = "neither a session, a message nor an event";

    fn entries<'a>(whole: &Members<'a>) -> Option<Node<'a>> {
        whole.get("messages")
    }

    fn is_entry(value: &Members<'_>) -> bool {
        value.has("parts") || value.has("type")
    }

    fn id<'a>(whole: &Members<'a>) -> Option<Cow<'a, str>> {
        whole.get("info").and_then(Node::members)?.get("id")?.id()
    }

    fn key<'a>(entry: &Members<'a>) -> Option<Cow<'a, str>> {
        let of_message = || entry.try_get("info").and_then(Node::members)?.get("sessionID");
        entry.get("sessionID").or_else(of_message).and_then(Node::id)
    }

    fn about(&mut self, whole: &Members<'_>, scribe: &mut Scribe) {
        let info = whole.get("info").and_then(Node::members).unwrap_or_default();
        if let Some(title) = info.try_get("title").and_then(Node::text) {
            scribe.builder.title(&title);
        }
        if let Some(parent) = info.get("parentID").and_then(Node::id) {
            scribe.builder.parent(parent.as_ref());
        }
        scribe.about_as("cwd", info.get("directory"));
        scribe.about(&info, &["version", "projectID"]);
    }

    fn entry(&mut self, entry: &Members<'_>, scribe: &mut Scribe) -> Result<(), String> {
        if let Some(parts) = entry.get("parts") {
            self.message(entry, parts, scribe);
            return Ok(());
        }
        scribe.at(entry, &["timestamp"]);
        let kind = entry.get("type").and_then(Node::text).unwrap_or_default();
        match (&*kind, entry.get("part")) {
            ("error", _) => scribe.said("system", body(entry, &["error"])),
            ("done", None) => {}
            (_, Some(part)) => self.part(part, true, scribe),
            (kind, None) => return Err(kind.to_owned()),
        }
        Ok(())
    }
}

impl OpenCode {
    fn message(&mut self, message: &Members<'_>, parts: Node<'_>, scribe: &mut Scribe) {
        let info = message.get("info").and_then(Node::members).unwrap_or_default();
        let time = info.get("time").and_then(Node::members).unwrap_or_default();
        scribe.at(&time, &["created"]);
        let path = info.get("path").and_then(Node::members).unwrap_or_default();
        scribe.about_as("cwd", path.get("cwd"));
        scribe.about_as("model", info.get("modelID"));
        let role = info.get("role").and_then(Node::text).unwrap_or_else(|| {
            scribe.builder.damaged(Damage::calls("a message has no role; it is read as one of the model"));
            "assistant".into()
        });
        let is_model = role == "assistant";
        self.end_response(scribe);
        match parts.items() {
            Some(parts) => parts.into_iter().for_each(|part| self.part(part, is_model, scribe)),
            None => {
                let odd = format!("the parts of a message are {}, not a list", parts.said_kind());
                scribe.builder.damaged(Damage::calls(odd));
            }
        }
        if let Some(error) = info.get("error") {
            scribe.said("system", error.body());
        }
        self.end_response(scribe);
    }

    fn end_response(&mut self, scribe: &mut Scribe) {
        self.responses += 1;
        scribe.end_response();
    }

    fn part(&mut self, part: Node<'_>, is_model: bool, scribe: &mut Scribe) {
        let Some(members) = part.members() else {
            let odd = format!("a part is {}, not an object; it is left out", part.said_kind());
            return scribe.builder.damaged(Damage::calls(odd));
        };
        let kind = members.get("type").and_then(Node::text).unwrap_or_default();
        let key = self.responses.to_string();
        match &*kind {
            "text" if is_model => scribe.response(Some(&key), body(&members, &["text"])),
            "text" => scribe.said("user", body(&members, &["text"])),
            "tool" => {
                scribe.ensure_response(&key);
                tool(&members, scribe);
            }
            "step-start" => self.end_response(scribe),
            "step-finish" => {
                let promised = suspicion::promised(members.get("reason"));
                if scribe.builder.calls_in_turn() == 0 {
                    promised.into_iter().for_each(|odd| scribe.builder.damaged(odd));
                }
                self.end_response(scribe);
            }
            "reasoning" | "snapshot" | "patch" | "file" | "agent" | "retry" | "compaction" | "subtask" => {}
            _ => scribe.unknown_part(part),
        }
    }
}

/// A call, and how it ended if it did.
fn tool(part: &Members<'_>, scribe: &mut Scribe) {
    let id = part.get("callID").and_then(Node::id);
    let name = part.get("tool").and_then(Node::text).unwrap_or_default();
    let state = part.get("state").and_then(Node::members).unwrap_or_default();
    let time = state.try_get("time").and_then(Node::members).unwrap_or_default();
    scribe.at(&time, &["start"]);
    scribe.call(id.as_deref(), &name, body(&state, &["input"]));
    scribe.at(&time, &["end"]);
    let word = state.get("status").map(|word| word.text().unwrap_or_default());
    let content = body(&state, if state.has("error") { &["error"] } else { &["output"] });
    let ended = match word.as_deref().map(status) {
        _ if state.has("error") => refused(&content),
        Some(Status::Succeeded) if exited(&state) => Status::Succeeded,
        Some(Status::Open) | None if content.is_missing() => return,
        Some(Status::Open) | None => Status::Open,
        _ => Status::Failed,
    };
    scribe.later_result(id.as_deref(), content, ended);
}

/// Whether a completed command exited with 0, which is recorded beside the part's state.
fn exited(state: &Members<'_>) -> bool {
    let about = state.get("metadata").and_then(Node::members).unwrap_or_default();
    about.get("exit").is_none_or(|code| code.kind() != Kind::Number || code.number() == Some(0i64))
}

fn refused(error: &Body) -> Status {
    let how = REFUSED.iter().find(|(text, _)| error.shows(text));
    how.map_or(Status::Failed, |(_, how)| Status::Refused(how))
}
