//! Sessions of Goose: JSON Lines of a header and messages, as older versions keep them
//! (`~/.local/share/goose/sessions`), and `goose session export --format json`, an object with the messages in
//! `conversation`.
//!
//! Calls and results are parts, each with its own `status`: for a call it says whether it could be read.

use crate::contract::{Format, Sample};
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::offer;
use crate::shape::scribe::{Scribe, body, words};
use crate::shape::status::{Status, status};
use crate::shape::transcript::{self, Conversation};
use rulestep_base::session::{Body, Damage};

pub(crate) const FORMAT: Format = Format {
    name: "goose",
    title: "sessions of Goose",
    source: "`goose session export --format json`; older versions: `~/.local/share/goose/sessions/*.jsonl`",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader: transcript::reader::<Goose>,
};

/// Types of parts that hold calls.
const CALLS: [&str; 2] = ["toolRequest", "frontendToolRequest"];

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| {
        let conversation = value.get("conversation").and_then(Node::items).unwrap_or_default();
        is_header(value) && (value.has("message_count") || value.has("conversation"))
            || is_own(value)
            || conversation.into_iter().filter_map(Node::members).any(|message| is_own(&message))
    })
}

fn is_header(value: &Members<'_>) -> bool {
    value.has("working_dir") && !value.has("role")
}

fn is_own(message: &Members<'_>) -> bool {
    let content = message.try_get("content").filter(|_| message.has("role"));
    let parts = content.and_then(Node::items).unwrap_or_default();
    parts.into_iter().filter_map(|part| part.tried().members()).any(|part| {
        let kind = part.try_get("type").and_then(Node::text).unwrap_or_default();
        CALLS.contains(&&*kind) || kind == "toolResponse"
    })
}

#[derive(Default)]
struct Goose;

/// The text with which a refusal by the user is reported to the model.
const DECLINED: &str = "The user has declined to run this tool";

impl Conversation for Goose {
    const EXPECTED: &'static str = "neither a session nor a message";

    fn entries<'a>(whole: &Members<'a>) -> Option<Node<'a>> {
        whole.get("conversation")
    }

    fn is_entry(value: &Members<'_>) -> bool {
        value.has("role") || is_header(value)
    }

    fn begins(entry: &Members<'_>) -> bool {
        is_header(entry)
    }

    fn about(&mut self, whole: &Members<'_>, scribe: &mut Scribe) {
        let title = ["name", "description"].iter().find_map(|key| whole.try_get(key)?.text());
        title.into_iter().for_each(|title| scribe.builder.title(&title));
        scribe.about_as("cwd", whole.get("working_dir"));
        scribe.about_as("permissionMode", whole.get("goose_mode"));
        if let Some(offer) = whole.get("tools").and_then(offer::tools) {
            scribe.builder.offered(1, offer.tools);
        }
    }

    fn entry(&mut self, message: &Members<'_>, scribe: &mut Scribe) -> Result<(), String> {
        if is_header(message) {
            self.about(message, scribe);
            return Ok(());
        }
        scribe.at(message, &["created"]);
        let role = message.get("role").and_then(Node::text).unwrap_or_default();
        let is_model = role == "assistant";
        let Some(content) = message.get("content") else {
            scribe.builder.damaged(Damage::calls("a message has no content"));
            return Ok(());
        };
        scribe.end_response();
        const KEY: &str = "message";
        for part in scribe.parts(content) {
            let Some(members) = part.members() else {
                scribe.odd_part(part);
                continue;
            };
            match &*members.get("type").and_then(Node::text).unwrap_or_default() {
                "text" if is_model => scribe.response(Some(KEY), body(&members, &["text"])),
                "text" => scribe.said(&role, body(&members, &["text"])),
                kind if is_model && CALLS.contains(&kind) => {
                    scribe.ensure_response(KEY);
                    call(&members, scribe);
                }
                "toolResponse" => result(&members, scribe),
                "thinking"
                | "redactedThinking"
                | "reasoning"
                | "image"
                | "toolConfirmationRequest"
                | "actionRequired"
                | "systemNotification"
                | "contextLengthExceeded"
                | "summarizationRequested"
                | "conversationCompacted" => {}
                _ => scribe.unknown_part(part),
            }
        }
        Ok(())
    }
}

fn call(part: &Members<'_>, scribe: &mut Scribe) {
    let id = part.get("id").and_then(Node::id);
    let called = part.get("toolCall").and_then(Node::members).unwrap_or_default();
    let value = called.get("value").and_then(Node::members);
    match value {
        Some(value) => {
            let tool = value.get("name").and_then(Node::text).unwrap_or_default();
            scribe.call(id.as_deref(), &tool, body(&value, &["arguments"]));
        }
        None => scribe.builder.damaged(Damage::calls("a call could not be read by Goose; it is left out")),
    }
}

fn result(part: &Members<'_>, scribe: &mut Scribe) {
    let id = part.get("id").and_then(Node::id);
    let told = part.get("toolResult").and_then(Node::members).unwrap_or_default();
    let value = told.get("value");
    let result = value.filter(|value| value.kind() == Kind::Object).and_then(Node::members);
    let content = match (&result, value) {
        _ if told.has("error") => body(&told, &["error"]),
        (Some(result), _) => result.get("content").map_or(Body::MISSING, words),
        (None, Some(value)) => words(value),
        (None, None) => Body::MISSING,
    };
    let marked = result.as_ref().and_then(|result| result.any(&["isError", "is_error"]));
    let failed = marked.is_some_and(|mark| mark.bool().unwrap_or(true));
    let word = told.get("status").and_then(Node::text).unwrap_or_default();
    let ended = match status(&word) {
        _ if content.shows(DECLINED) => Status::Refused("the result says that the user declined the call"),
        Status::Succeeded if !failed => Status::Succeeded,
        _ => Status::Failed,
    };
    scribe.result(id.as_deref(), content, ended);
}
