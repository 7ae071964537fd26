//! Sessions of Pi, and of OpenClaw, which is built on it: JSON Lines of a header and entries; those of the type
//! `message` hold messages, calls and results.
//!
//! Each entry names the one it follows. If the user went back in a session and continued from there, the earlier calls
//! happened all the same, so entries count in the order of the file.

use crate::contract::{Format, Sample};
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::scribe::{Scribe, body, words};
use crate::shape::status::{Status, status};
use crate::shape::suspicion;
use crate::shape::transcript::{self, Conversation};
use rulestep_base::session::{Body, Damage};

pub(crate) const FORMAT: Format = Format {
    name: "pi",
    title: "sessions of Pi and OpenClaw",
    source: "`~/.pi/agent/sessions/*/*.jsonl`; OpenClaw: `~/.openclaw/agents/*/sessions/*.jsonl`",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader: transcript::reader::<Pi>,
};

/// Types of parts that are calls; OpenClaw keeps those of some providers as they are.
const CALLS: [&str; 6] = ["toolCall", "toolUse", "functionCall", "tool_use", "tool_call", "function_call"];
/// Beginnings of the results of calls that were not run.
const NOT_RUN: [(&str, &str); 3] = [
    ("Validation failed for tool \"", "the result says that the arguments are not what the tool takes"),
    ("Tool execution was blocked", "the result says that the call was blocked"),
    ("Skipped due to queued user message.", "the result says that the call was skipped"),
];

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| {
        let message = || value.try_get("message").and_then(Node::members);
        is_header(value) && value.has("cwd") && value.has("timestamp")
            || value.has("parentId")
                && is(value, "message")
                && message().is_some_and(|message| message.has("role"))
    })
}

fn is(entry: &Members<'_>, kind: &str) -> bool {
    entry.try_get("type").and_then(Node::text).is_some_and(|given| given == kind)
}

fn is_header(entry: &Members<'_>) -> bool {
    is(entry, "session")
}

#[derive(Default)]
struct Pi;

impl Conversation for Pi {
    const EXPECTED: &'static str = "not an entry of a session";

    fn entries<'a>(_: &Members<'a>) -> Option<Node<'a>> {
        None
    }

    fn is_entry(value: &Members<'_>) -> bool {
        value.has("type")
    }

    fn begins(entry: &Members<'_>) -> bool {
        is_header(entry)
    }

    fn entry(&mut self, entry: &Members<'_>, scribe: &mut Scribe) -> Result<(), String> {
        scribe.at(entry, &["timestamp"]);
        let kind = entry.get("type").and_then(Node::text).unwrap_or_default();
        match &*kind {
            "session" => {
                if let Some(id) = entry.get("id").and_then(Node::id) {
                    scribe.builder.id(&*id);
                }
                scribe.about(entry, &["cwd", "parentSession"]);
            }
            "message" => match entry.get("message").and_then(Node::members) {
                Some(message) => self.message(&message, scribe),
                None => scribe.builder.damaged(Damage::calls("an entry has no message; it is left out")),
            },
            "custom_message" => scribe.said("user", entry.get("content").map_or(Body::MISSING, words)),
            "compaction" | "branch_summary" => scribe.said("user", body(entry, &["summary"])),
            "session_info" => {
                if let Some(name) = entry.try_get("name").and_then(Node::text) {
                    scribe.builder.title(&name);
                }
            }
            "model_change" => scribe.about_as("model", entry.get("modelId")),
            "thinking_level_change" | "custom" | "label" | "context_transform" | "ephemeral" => {}
            _ => return Err(kind.into_owned()),
        }
        Ok(())
    }
}

impl Pi {
    fn message(&mut self, message: &Members<'_>, scribe: &mut Scribe) {
        let role = message.get("role").and_then(Node::text).unwrap_or_default();
        match &*role {
            "user" | "custom" | "hookMessage" => {
                scribe.said("user", message.get("content").map_or(Body::MISSING, words));
            }
            "system" => scribe.said("system", message.get("content").map_or(Body::MISSING, words)),
            // Commands of the user, and the agent's summaries for the model.
            "bashExecution" => scribe.said("user", body(message, &["command"])),
            "branchSummary" | "compactionSummary" => scribe.said("user", body(message, &["summary"])),
            "toolResult" => result(message, scribe),
            "assistant" => response(message, scribe),
            _ => {
                let odd = "a message has no known role; it is read as one of the model";
                scribe.builder.damaged(Damage::calls(odd));
                response(message, scribe);
            }
        }
    }
}

fn response(message: &Members<'_>, scribe: &mut Scribe) {
    let Some(content) = message.get("content") else {
        return scribe.builder.damaged(Damage::calls("a message has no content"));
    };
    scribe.end_response();
    const KEY: &str = "message";
    let reason = message.get("stopReason");
    let word = reason.and_then(Node::text).unwrap_or_default();
    let mut ids = Vec::new();
    for part in scribe.parts(content) {
        let Some(members) = part.members() else {
            scribe.odd_part(part);
            continue;
        };
        match &*members.get("type").and_then(Node::text).unwrap_or_default() {
            "text" => scribe.response(Some(KEY), body(&members, &["text"])),
            kind if CALLS.contains(&kind) => {
                scribe.ensure_response(KEY);
                let id = members.get("id").and_then(Node::id);
                let tool = members.get("name").and_then(Node::text).unwrap_or_default();
                scribe.call(id.as_deref(), tool.trim(), body(&members, &["arguments", "input"]));
                ids.push(id);
            }
            "thinking" | "image" => {}
            _ => scribe.unknown_part(part),
        }
    }
    if ids.is_empty() {
        suspicion::promised(reason).into_iter().for_each(|odd| scribe.builder.damaged(odd));
    }
    // The calls of a response that was broken off are never run.
    if matches!(&*word, "aborted" | "error") {
        let how = Status::Refused("the response was broken off, so its calls did not run");
        for id in ids {
            scribe.later_result(id.as_deref(), body(message, &["errorMessage"]), how);
        }
    }
}

fn result(message: &Members<'_>, scribe: &mut Scribe) {
    let id = message.any(&["toolCallId", "toolUseId"]).and_then(Node::id);
    let content = message.get("content").map_or(Body::MISSING, words);
    let failed = message.get("isError").is_some_and(|mark| mark.bool().unwrap_or(true));
    // OpenClaw returns a tool's error as a result, and marks it beside the result.
    let details = message.try_get("details").filter(|details| details.kind() == Kind::Object);
    let details = details.and_then(Node::members).unwrap_or_default();
    let told = details.try_get("status").and_then(Node::text).map(|word| status(&word));
    let exit = details
        .get("exitCode")
        .is_some_and(|code| code.kind() == Kind::Number && code.number() != Some(0i64));
    let tool = message.try_get("toolName").and_then(Node::text).unwrap_or_default();
    let not_found = || content.shows("Tool ") && content.shown() == format!("Tool {tool} not found");
    let ended = match (failed, told) {
        (true, _) if not_found() => Status::Refused("the result says that there is no such tool"),
        (true, told) => {
            let how =
                NOT_RUN.iter().find(|(text, _)| content.shows(text)).map(|(_, how)| Status::Refused(how));
            how.or(told.filter(|told| matches!(told, Status::Refused(_)))).unwrap_or(Status::Failed)
        }
        (false, Some(told @ (Status::Failed | Status::Refused(_) | Status::Open))) => told,
        (false, _) if exit => Status::Failed,
        (false, _) => Status::Succeeded,
    };
    scribe.result(id.as_deref(), content, ended);
}
