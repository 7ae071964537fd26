//! The stream that `cursor-agent` prints with `--output-format stream-json`: JSON Lines of events.
//!
//! Messages look as in a stream of Claude Code. A call is one event when it starts and another when it is completed,
//! and its tool is the key of its object: `shellToolCall` is a call of `shell`. Calls that the model proposed together
//! name the same `model_call_id`, and are one turn even if one was completed before the next started.

use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::shallow::{Members, Node};
use crate::input::time;
use crate::shape::blocks;
use crate::shape::blocks::{Blocks, Side};
use crate::shape::unknown::Unknown;
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Millis};

mod call;

use call::BlockCall;

pub(crate) const FORMAT: Format = Format {
    name: "cursor-agent",
    title: "the stream of the Cursor CLI; `shellToolCall` is a call to `shell`",
    source: "`cursor-agent -p PROMPT --output-format stream-json`",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader,
};

/// Types of events that are about the run and not part of the conversation.
const ASIDE: [&str; 5] = ["thinking", "interaction_query", "connection", "retry", "status"];

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|event| {
        let text = |key| event.get(key).and_then(Node::text).unwrap_or_default();
        match (&*text("type"), &*text("subtype")) {
            ("tool_call", "started" | "completed") => event.has("tool_call"),
            // Claude Code names its tools there, and every line.
            ("system", "init") => event.has("apiKeySource") && !event.has("tools") && !event.has("uuid"),
            ("thinking", "delta" | "completed") => event.has("session_id"),
            _ => false,
        }
    })
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(CursorAgent { setting: setting.clone(), open: None, unknown: Unknown::default() })
}

struct CursorAgent {
    setting: Setting,
    open: Option<Stream>,
    unknown: Unknown,
}

struct Stream {
    builder: Builder,
    /// The `model_call_id` of the open response; a response without one is open until a call is completed.
    key: Option<Box<str>>,
    /// Number of completed responses.
    whole: u64,
    /// Results of the open response's calls, which come after all of them.
    results: Vec<Answer>,
    /// Whether one of its calls is completed, be it without a result.
    completed: bool,
    /// The pieces of a message of the model, until it is complete.
    pieces: Option<Pieces>,
}

struct Answer {
    id: Option<Box<str>>,
    content: Body,
    mark: Mark,
    line: u32,
    at: Option<Millis>,
}

struct Pieces {
    text: String,
    line: u32,
    at: Option<Millis>,
}

impl Reader for CursorAgent {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        let text = |key| members.get(key).and_then(Node::text).unwrap_or_default();
        let Some(kind) = members.get("type").and_then(Node::text) else {
            return out.diagnostics(self.setting.foreign(unit, "not an event of a stream"));
        };
        let known = matches!(&*kind, "system" | "user" | "assistant" | "tool_call" | "result");
        if !known {
            if !ASIDE.contains(&&*kind) {
                self.unknown.note(&kind, unit.node, unit.line);
            }
            return out.diagnostics(unit.diagnostics.iter().cloned());
        }
        let id = members.get("session_id").and_then(Node::id);
        let begins = kind == "system" && text("subtype") == "init";
        let other = |stream: &Stream| id.as_ref().is_some_and(|id| **stream.builder.session_id() != **id);
        if self.open.as_ref().is_some_and(|stream| other(stream) || begins && id.is_none()) {
            self.close(out);
        }
        let stream = self.open.get_or_insert_with(|| {
            let mut builder = self.setting.session_at(&id.unwrap_or_default(), unit.line, out);
            if !begins {
                builder.starts_in_the_middle("the stream has no `init` at its beginning");
            }
            Stream { builder, key: None, whole: 0, results: Vec::new(), completed: false, pieces: None }
        });
        unit.diagnostics.iter().cloned().for_each(|diagnostic| stream.builder.diagnostic(diagnostic));
        let at = time::of(members, &["timestamp_ms"]).unwrap_or_else(|odd| {
            stream.builder.at_line(unit.line).damaged(odd);
            None
        });
        if kind == "assistant" {
            return stream.speak(members, unit.line, at);
        }
        stream.finish_speaking();
        stream.builder.at_line(unit.line);
        match &*kind {
            "tool_call" => stream.tool_call(members, unit.line, at, &self.setting),
            "system" => {
                if let Some(cwd) = members.get("cwd").and_then(Node::value) {
                    stream.builder.context_once("cwd", cwd);
                }
            }
            "user" => {
                stream.answer();
                stream.builder.at_line(unit.line);
                let blocks = stream.blocks(members, Side::Other);
                let mark = |answer: &_| stream_mark(answer, &self.setting);
                blocks.reply(&mut stream.builder, "user", at, mark);
            }
            // The end, which repeats the last text if all went well.
            _ => {
                stream.answer();
                let failed = members.get("is_error").and_then(Node::bool) == Some(true);
                if let Some(told) = members.get("result").filter(|_| failed) {
                    let told = Body::json(told.json());
                    stream.builder.at_line(unit.line).said("system", told, at);
                }
            }
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.close(out);
        self.unknown.tell(&self.setting, out);
    }
}

impl CursorAgent {
    fn close(&mut self, out: &mut Out) {
        if let Some(mut stream) = self.open.take() {
            stream.finish_speaking();
            stream.answer();
            stream.builder.mark_errors();
            out.session(stream.builder);
        }
    }
}

/// The mark of a result that is in a message.
fn stream_mark(answer: &blocks::Answer, setting: &Setting) -> Mark {
    Mark { error: setting.failed(answer.error, &answer.content), refused: None }
}

impl Stream {
    fn blocks(&mut self, members: &Members<'_>, side: Side) -> Blocks {
        let message = members.get("message").and_then(Node::members).unwrap_or_default();
        Blocks::read(message.get("content"), side)
    }

    /// Continues the response that an event belongs to, or begins a new one.
    fn goes_on(&mut self, members: &Members<'_>) {
        let key: Option<Box<str>> =
            members.get("model_call_id").and_then(Node::id).map(|key| key.as_ref().into());
        if key.is_none() && self.completed || key != self.key {
            self.answer();
        }
        self.key = key;
    }

    /// The key of the open response.
    fn name(&self) -> String {
        format!("{} {}", self.whole, self.key.as_deref().unwrap_or_default())
    }

    /// A text of the model: a piece, which has a time and no response, or the whole.
    fn speak(&mut self, members: &Members<'_>, line: u32, at: Option<Millis>) {
        let blocks = self.blocks(members, Side::Model);
        if members.has("timestamp_ms")
            && !members.has("model_call_id")
            && let Some(text) = blocks.text()
        {
            let pieces = self.pieces.get_or_insert_with(|| Pieces { text: String::new(), line, at });
            return pieces.text.push_str(text);
        }
        if blocks.text().is_some_and(|text| self.pieces.as_ref().is_some_and(|pieces| pieces.text == text)) {
            self.pieces = None;
        }
        self.finish_speaking();
        self.goes_on(members);
        self.builder.at_line(line);
        let name = self.name();
        blocks.respond(&mut self.builder, Some(&name), at, |_| Mark::default());
    }

    /// Ends a message whose pieces were not followed by the whole.
    fn finish_speaking(&mut self) {
        if let Some(pieces) = self.pieces.take() {
            if self.completed || self.key.is_some() {
                self.answer();
                self.key = None;
            }
            let name = self.name();
            self.builder.at_line(pieces.line).response(Some(&name), Body::text(pieces.text), pieces.at);
        }
    }

    fn tool_call(&mut self, members: &Members<'_>, line: u32, at: Option<Millis>, setting: &Setting) {
        let Some(call) = call::read(members) else {
            return self
                .builder
                .lost(Loss::MayHoldCalls, "the event has no `tool_call` with a tool; it is left out");
        };
        let completed = members.get("subtype").and_then(Node::text).is_some_and(|kind| kind == "completed");
        if !completed || !call.id.as_deref().is_some_and(|id| self.builder.waits_for(id)) {
            self.goes_on(members);
            self.builder.at_line(line);
            let name = self.name();
            self.builder.ensure_response(&name, at);
            let BlockCall { id, tool, arguments, .. } = &call;
            self.builder.call(id.as_deref(), tool, arguments.clone(), at);
        }
        self.completed |= completed;
        if completed && let Some((content, mark)) = call.result(setting) {
            self.results.push(Answer { id: call.id, content, mark, line, at });
        }
    }

    /// The response is whole: its results follow.
    fn answer(&mut self) {
        self.whole += 1;
        self.completed = false;
        for Answer { id, content, mark, line, at } in self.results.drain(..) {
            self.builder.at_line(line).result(id.as_deref(), content, mark, at);
        }
    }
}
