//! Transcripts of WINK (weakincentives): `transcript.jsonl` of a debug bundle, JSON Lines of log records with the event
//! `transcript.entry`. Other records of the same log (`logs/app.jsonl`) are not part of a conversation.
//!
//! All adapters write the same entries, each with its own `detail`: Claude's with blocks of the Anthropic API, Codex's
//! with notifications of its server, and that of the Agent Client Protocol with the parts of a call.

use std::borrow::Cow;

use crate::contract::{Format, Sample};
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::blocks::{Blocks, Side};
use crate::shape::python;
use crate::shape::scribe::{Scribe, body, words};
use crate::shape::status::{Status, status};
use crate::shape::transcript::{self, Conversation};
use rulestep_base::session::{Body, Damage};

pub(crate) const FORMAT: Format = Format {
    name: "wink",
    title: "transcripts of WINK (weakincentives)",
    source: "`transcript.jsonl` in a debug bundle, unpacked",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader: transcript::reader::<Wink>,
};

/// The event of an entry, among those of a log.
const ENTRY: &str = "transcript.entry";

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|record| {
        let event = record.try_get("event").and_then(Node::text).unwrap_or_default();
        event.starts_with("transcript.") && record.has("context")
    })
}

#[derive(Default)]
struct Wink {
    /// Number of the open response.
    response: u32,
    /// The message that it is, where entries name one.
    message: Option<Box<str>>,
    /// Calls that have no result.
    running: u32,
    /// A result came since the response began.
    answered: bool,
}

impl Conversation for Wink {
    const EXPECTED: &'static str = "not a record of a log";
    const SUBAGENTS: bool = true;

    fn entries<'a>(_: &Members<'a>) -> Option<Node<'a>> {
        None
    }

    fn is_entry(value: &Members<'_>) -> bool {
        value.has("event")
    }

    fn key<'a>(record: &Members<'a>) -> Option<Cow<'a, str>> {
        let source = record.get("context").and_then(Node::members)?.get("source")?.text()?;
        (source != "main").then_some(source)
    }

    fn entry(&mut self, record: &Members<'_>, scribe: &mut Scribe) -> Result<(), String> {
        let event = record.get("event").and_then(Node::text).unwrap_or_default();
        if event != ENTRY {
            // Records of the log outside the conversation.
            return if event.is_empty() { Err(event.into_owned()) } else { Ok(()) };
        }
        let Some(entry) = record.get("context").and_then(Node::members) else {
            scribe.builder.damaged(Damage::calls("an entry has no `context`; it is left out"));
            return Ok(());
        };
        scribe.at(&entry, &["timestamp"]);
        if let Some(id) =
            entry.get("session_id").and_then(Node::id).filter(|_| scribe.builder.session_id().is_empty())
        {
            scribe.builder.id(&*id);
        }
        scribe.about_as("agent", entry.get("adapter"));
        scribe.about_as("prompt", entry.get("prompt_name"));
        let detail = entry.get("detail").and_then(Node::members).unwrap_or_default();
        // Other adapters write the entry in the detail itself.
        let own = detail.get("sdk_entry").and_then(Node::members);
        let own = own.as_ref().unwrap_or(&detail);
        match &*entry.get("entry_type").and_then(Node::text).unwrap_or_default() {
            "user_message" => self.said(own, scribe),
            "assistant_message" => self.says(own, scribe),
            "tool_use" => self.call(own, scribe),
            "tool_result" => self.result(own, scribe),
            "thinking" | "token_usage" => {}
            "system_event" => {
                if let Some(summary) = own.get("summary") {
                    scribe.said("system", summary.body());
                }
            }
            "error" => scribe.said("system", body(own, &["notification", "error", "message"])),
            kind => return Err(kind.to_owned()),
        }
        Ok(())
    }
}

impl Wink {
    fn over(&mut self, scribe: &mut Scribe) {
        self.response += 1;
        (self.message, self.answered) = (None, false);
        scribe.end_response();
    }

    /// Whether all calls of the response have their results: what the model does then is another one.
    fn is_done(&self) -> bool {
        self.answered && self.running == 0
    }

    fn said(&mut self, entry: &Members<'_>, scribe: &mut Scribe) {
        self.over(scribe);
        match entry.get("message").and_then(Node::members) {
            Some(message) => {
                let blocks = Blocks::read(message.get("content"), Side::Other);
                self.running = self.running.saturating_sub(blocks.answers.len() as u32);
                scribe.message("user", None, blocks);
            }
            None => scribe.said("user", body(entry, &["text", "content"])),
        }
    }

    /// Entries of one message of Claude's are one response.
    fn says(&mut self, entry: &Members<'_>, scribe: &mut Scribe) {
        let message = entry.get("message").and_then(Node::members);
        let id =
            message.as_ref().and_then(|message| message.get("id")?.id()).map(|id| Box::<str>::from(&*id));
        let other = id.is_some() && self.message.is_some() && id != self.message;
        if other || self.is_done() && (id.is_none() || id != self.message) {
            self.over(scribe);
        }
        self.message = id.or(self.message.take());
        let key = self.response.to_string();
        if let Some(message) = message {
            let blocks = Blocks::read(message.get("content"), Side::Model);
            self.running += blocks.calls.len() as u32;
            return scribe.message("assistant", Some(&key), blocks);
        }
        let item = notified(entry).and_then(|told| told.get("item")?.members());
        scribe.response(Some(&key), body(item.as_ref().unwrap_or(entry), &["text", "content"]));
    }

    fn call(&mut self, entry: &Members<'_>, scribe: &mut Scribe) {
        if self.is_done() {
            self.over(scribe);
        }
        scribe.ensure_response(&self.response.to_string());
        self.running += 1;
        let Some(told) = notified(entry) else {
            let id = entry.any(&["id", "tool_call_id"]).and_then(Node::id);
            let tool = entry.any(&["name", "tool_name"]).and_then(Node::text).unwrap_or_default();
            scribe.call(id.as_deref(), &tool, input(entry));
            return;
        };
        match told.get("item").and_then(Node::members) {
            Some(item) => {
                let id = item.get("id").and_then(Node::id);
                let (tool, arguments) = of_codex(&item);
                scribe.call(id.as_deref(), &tool, arguments);
            }
            // A tool of WINK's own that Codex asks for.
            None => {
                let id = told.get("callId").and_then(Node::id);
                let tool = told.get("tool").and_then(Node::text).unwrap_or_default();
                scribe.call(id.as_deref(), &tool, body(&told, &["arguments"]));
            }
        }
    }

    fn result(&mut self, entry: &Members<'_>, scribe: &mut Scribe) {
        self.running = self.running.saturating_sub(1);
        self.answered = true;
        let Some(told) = notified(entry) else { return given_back(entry, scribe) };
        if let Some(item) = told.get("item").and_then(Node::members) {
            let id = item.get("id").and_then(Node::id);
            let exit = item.get("exitCode").is_some_and(|code| code.number() != Some(0i64));
            let word = item.get("status").and_then(Node::text).unwrap_or_default();
            let ended = match status(&word) {
                Status::Succeeded if exit || item.has("error") => Status::Failed,
                Status::Unknown if word.is_empty() && !exit && !item.has("error") => Status::Succeeded,
                ended => ended,
            };
            let content = body(&item, &["error", "aggregatedOutput", "result", "changes"]);
            return scribe.result(id.as_deref(), content, ended);
        }
        let id = told.get("callId").and_then(Node::id);
        let result = entry.get("result").and_then(Node::members).unwrap_or_default();
        let content = result.get("contentItems").map_or_else(|| body(entry, &["result"]), words);
        let ended = match result.get("success").map(Node::bool) {
            Some(Some(true)) => Status::Succeeded,
            Some(_) => Status::Failed,
            None => Status::Open,
        };
        scribe.result(id.as_deref(), content, ended);
    }
}

/// A notification of Codex.
fn notified<'a>(entry: &Members<'a>) -> Option<Members<'a>> {
    entry.get("notification").and_then(Node::members)
}

/// The tool that an item of Codex's server is a call of, and its arguments.
fn of_codex(item: &Members<'_>) -> (String, Body) {
    let word = |key| item.get(key).and_then(Node::text).unwrap_or_default();
    let of = |keys: &[&str]| {
        let members = keys.iter().filter_map(|key| Some(format!("\"{key}\": {}", item.get(key)?.json())));
        Body::json(&format!("{{{}}}", members.collect::<Vec<_>>().join(", ")))
    };
    match &*word("type") {
        "commandExecution" => ("command_execution".to_owned(), of(&["command", "cwd"])),
        "fileChange" => ("file_change".to_owned(), of(&["changes"])),
        "webSearch" => ("web_search".to_owned(), of(&["query", "action"])),
        "mcpToolCall" => (format!("mcp__{}__{}", word("server"), word("tool")), body(item, &["arguments"])),
        // It has no name, and that is reported.
        _ => (String::new(), Body::MISSING),
    }
}

/// The arguments of a call; those that came by the Agent Client Protocol are in the notation of Python.
fn input(entry: &Members<'_>) -> Body {
    let text = entry.get("input").filter(|input| input.kind() == Kind::Text).and_then(Node::text);
    let json = text.and_then(|text| python::to_json(&text));
    json.map_or_else(|| body(entry, &["input"]), |json| Body::json(&json))
}

/// A result as a block of Claude's, or as the Agent Client Protocol reports it.
fn given_back(entry: &Members<'_>, scribe: &mut Scribe) {
    let id = entry.any(&["tool_use_id", "tool_call_id"]).and_then(Node::id);
    let content = entry.any(&["content", "output"]).map_or(Body::MISSING, words);
    let failed = entry.get("is_error").is_some_and(|mark| mark.bool().unwrap_or(true));
    let word = entry.get("status").and_then(Node::text);
    let ended = match word.as_deref().map(status) {
        _ if failed => Status::Failed,
        // An item that has not ended at the end of a session is reported without a status.
        Some(Status::Unknown) => Status::Open,
        Some(ended) => ended,
        None => Status::Succeeded,
    };
    scribe.result(id.as_deref(), content, ended);
}
