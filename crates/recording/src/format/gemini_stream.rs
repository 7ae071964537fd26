//! The stream that the Gemini CLI prints with `--output-format stream-json`: JSON Lines of events.
//!
//! The calls of a response come before their results, and the model's text comes in pieces. Of a result, only what the
//! program displayed is recorded.

use std::collections::HashMap;

use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::shallow::{Members, Node};
use crate::input::time;
use crate::shape::command;
use crate::shape::gemini::denied;
use crate::shape::status::Status;
use crate::shape::unknown::Unknown;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Millis};

pub(crate) const FORMAT: Format = Format {
    name: "gemini-stream",
    title: "the stream of the Gemini CLI",
    source: "`gemini -p PROMPT --output-format stream-json`",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader,
};

/// The key of a response: the model's text and calls until a result.
const ROW: &str = "row";

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|event| {
        let kind = event.get("type").and_then(Node::text).unwrap_or_default();
        match &*kind {
            "init" => event.has("session_id") && event.has("model"),
            "tool_use" => event.has("tool_name") && event.has("tool_id"),
            "tool_result" => event.has("tool_id") && event.has("status"),
            _ => false,
        }
    })
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(GeminiStream { setting: setting.clone(), open: None, unknown: Unknown::default() })
}

struct GeminiStream {
    setting: Setting,
    open: Option<Stream>,
    unknown: Unknown,
}

struct Stream {
    builder: Builder,
    /// The model's text since the last event of another kind.
    said: Option<SpanMessage>,
    /// The tools of calls, by id: the meaning of a result depends on its tool.
    tools: HashMap<Box<str>, Box<str>>,
}

/// Pieces of a message.
struct SpanMessage {
    text: String,
    line: u32,
    at: Option<Millis>,
}

impl Reader for GeminiStream {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        let Some(kind) = members.get("type").and_then(Node::text) else {
            return out.diagnostics(self.setting.foreign(unit, "not an event of a stream"));
        };
        if !matches!(&*kind, "init" | "message" | "tool_use" | "tool_result" | "error" | "result") {
            self.unknown.note(&kind, unit.node, unit.line);
            return out.diagnostics(unit.diagnostics.iter().cloned());
        }
        if kind == "init" {
            self.close(out);
            let id = members.get("session_id").and_then(Node::id).unwrap_or_default();
            let mut builder = self.setting.session(&id, unit, out);
            builder.context("agent", "gemini-cli".into());
            builder.facts().now = members.get("timestamp").and_then(time::instant);
            self.open = Some(Stream { builder, said: None, tools: HashMap::new() });
            return;
        }
        let stream = self.open.get_or_insert_with(|| {
            let mut builder = self.setting.session_at("", unit.line, out);
            builder.starts_in_the_middle("the stream has no `init` at its beginning");
            Stream { builder, said: None, tools: HashMap::new() }
        });
        unit.diagnostics.iter().cloned().for_each(|diagnostic| stream.builder.diagnostic(diagnostic));
        stream.event(&kind, members, unit.line, &self.setting);
    }

    fn end(&mut self, out: &mut Out) {
        self.close(out);
        self.unknown.tell(&self.setting, out);
    }
}

impl GeminiStream {
    fn close(&mut self, out: &mut Out) {
        if let Some(mut stream) = self.open.take() {
            stream.speak();
            stream.builder.mark_errors();
            out.session(stream.builder);
        }
    }
}

impl Stream {
    fn event(&mut self, kind: &str, members: &Members<'_>, line: u32, setting: &Setting) {
        let text = |key| members.get(key).and_then(Node::id).unwrap_or_default();
        let word = |key| members.get(key).and_then(Node::text).unwrap_or_default();
        let body = |key| members.get(key).map_or(Body::MISSING, |node| Body::json(node.json()));
        let (at, odd) = match time::of(members, &["timestamp"]) {
            Ok(at) => (at, None),
            Err(odd) => (None, Some(odd)),
        };
        if let Some(odd) = odd {
            self.builder.at_line(line).damaged(odd);
        }
        if kind == "message"
            && text("role") == "assistant"
            && let Some(piece) = members.get("content").and_then(Node::text)
        {
            let said = self.said.get_or_insert_with(|| SpanMessage { text: String::new(), line, at });
            return said.text.push_str(&piece);
        }
        self.speak();
        self.builder.at_line(line);
        match kind {
            "message" if text("role") == "assistant" => {
                self.builder.response(Some(ROW), body("content"), at);
            }
            "message" => self.builder.said(&text("role"), body("content"), at),
            "tool_use" => {
                self.builder.ensure_response(ROW, at);
                self.tools.insert(text("tool_id").as_ref().into(), word("tool_name").as_ref().into());
                self.builder.call(Some(&text("tool_id")), &word("tool_name"), body("parameters"), at);
            }
            "tool_result" => self.result(members, at, setting),
            "error" => self.builder.said("system", body("message"), at),
            // The end, which says no more than whether all went well.
            _ => {
                let told = members.get("error").and_then(Node::members);
                if let Some(told) = told.and_then(|told| told.get("message")) {
                    self.builder.said("system", Body::json(told.json()), at);
                }
            }
        }
    }

    fn result(&mut self, members: &Members<'_>, at: Option<Millis>, setting: &Setting) {
        let text = |key| members.get(key).and_then(Node::id).unwrap_or_default();
        let error = members.get("error");
        let inner = error.and_then(Node::members).unwrap_or_default();
        let told = inner.get("message").or(error).or_else(|| members.get("output"));
        let content = told.map_or(Body::MISSING, |told| Body::json(told.json()));
        // The status of what the user stopped is `success`, too.
        let cancelled = content.shown().starts_with("[Operation Cancelled]");
        let id = text("tool_id");
        let tool = self.tools.remove(&*id).unwrap_or_default();
        let ended = match command::is_geminis(&tool) {
            true => shown(&content),
            false => Some(Status::Succeeded),
        };
        let marked = match &*members.get("status").and_then(Node::text).unwrap_or_default() {
            _ if error.is_some() || cancelled => Some(true),
            "success" | "" if ended == Some(Status::Open) => {
                return self.builder.unsure(Some(&*id), content, None, at);
            }
            "success" | "" if ended == Some(Status::Failed) => Some(true),
            "success" if ended.is_none() => None,
            "success" => Some(false),
            "" => None,
            _ => Some(true),
        };
        let kind = inner.get("type").and_then(Node::text).unwrap_or_default();
        let refused = match &*kind {
            "policy_violation" => Some("the error's type is `policy_violation`"),
            "invalid_tool_params" => Some("the error's type is `invalid_tool_params`"),
            "tool_not_registered" => Some("the error's type is `tool_not_registered`"),
            _ => denied(&content, &tool).filter(|_| marked == Some(true)),
        };
        if ended.is_none() && marked.is_none() && setting.error.is_none() {
            let why = "the stream shows what commands printed and not how they ended, so they count as calls without a result; \
                       `--error-regex RE` says which of them failed";
            return self.builder.unsure(Some(&*id), content, Some(why.to_owned()), at);
        }
        let mark = Mark { error: setting.failed(marked, &content), refused };
        self.builder.result(Some(&*id), content, mark, at);
    }

    /// Completes the model's message.
    fn speak(&mut self) {
        if let Some(said) = self.said.take() {
            self.builder.at_line(said.line).response(Some(ROW), Body::text(said.text), said.at);
        }
    }
}

/// How a command ended, as far as the displayed result shows. For a command that printed something, it shows this only
/// if the program was asked for more output; if the output had colours, nothing is displayed.
fn shown(content: &Body) -> Option<Status> {
    const FAILED: [&str; 3] =
        ["Command exited with code: ", "Command terminated by signal: ", "Command failed: "];
    let text = content.shown();
    let alone = || !text.trim_end().contains('\n') && FAILED.iter().any(|begins| text.starts_with(begins));
    command::gemini(text).or_else(|| match text {
        "" if !content.is_missing() => Some(Status::Succeeded),
        _ => alone().then_some(Status::Failed),
    })
}
