//! The stream that `codex exec --json` prints: JSON Lines of events, in which an item is one call with its result, or a
//! message.
//!
//! A call is at the start of its item and its result at the item's completion, so parallel calls are one turn. There
//! are no times.

use std::collections::HashSet;

use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::shallow::{Members, Node};
use crate::shape::status::{Status, status};
use crate::shape::unknown::Unknown;
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::Body;
use rulestep_base::session::build::{Builder, Mark};

pub(crate) const FORMAT: Format = Format {
    name: "codex-exec",
    title: "the stream of `codex exec`",
    source: "`codex exec --json PROMPT`",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader,
};

const EVENTS: [&str; 9] = [
    "thread.started",
    "session.created",
    "turn.started",
    "turn.completed",
    "turn.failed",
    "item.started",
    "item.updated",
    "item.completed",
    "error",
];

/// Items until a result are one response.
const ROW: &str = "row";

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|event| {
        let kind = event.get("type").and_then(Node::text).unwrap_or_default();
        match &*kind {
            "thread.started" => event.has("thread_id"),
            "item.started" | "item.updated" | "item.completed" => {
                let item = event.get("item").and_then(Node::members);
                item.is_some_and(|item| item.has("id") && item.any(&TYPE).is_some())
            }
            _ => false,
        }
    })
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(CodexExec { setting: setting.clone(), open: None, unknown: Unknown::default() })
}

/// Keys of an item's type, now and in older streams.
const TYPE: [&str; 2] = ["type", "item_type"];

struct CodexExec {
    setting: Setting,
    open: Option<Stream>,
    unknown: Unknown,
}

struct Stream {
    builder: Builder,
    /// Calls that have started and are not completed.
    running: HashSet<Box<str>>,
}

impl Reader for CodexExec {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        let Some(kind) = members.get("type").and_then(Node::text) else {
            return out.diagnostics(self.setting.foreign(unit, "not an event of a stream"));
        };
        if !EVENTS.contains(&&*kind) {
            self.unknown.note(&kind, unit.node, unit.line);
            return out.diagnostics(unit.diagnostics.iter().cloned());
        }
        if matches!(&*kind, "thread.started" | "session.created") {
            self.close(out);
            let id = members.any(&["thread_id", "session_id"]).and_then(Node::id).unwrap_or_default();
            let mut builder = self.setting.session(&id, unit, out);
            builder.context("agent", "codex".into());
            self.open = Some(Stream { builder, running: HashSet::new() });
            return;
        }
        let item = members.get("item").and_then(Node::members);
        let item_kind = item.as_ref().and_then(|item| item.any(&TYPE)?.text());
        let stream = self.open.get_or_insert_with(|| {
            let mut builder = self.setting.session_at("", unit.line, out);
            builder.starts_in_the_middle("the stream has no `thread.started` at its beginning");
            Stream { builder, running: HashSet::new() }
        });
        stream.builder.at_line(unit.line);
        unit.diagnostics.iter().cloned().for_each(|diagnostic| stream.builder.diagnostic(diagnostic));
        match (&*kind, item, item_kind) {
            ("item.started" | "item.updated" | "item.completed", Some(item), Some(item_kind)) => {
                let completed = kind == "item.completed";
                if !stream.item(&item, &item_kind, completed) {
                    self.unknown.note_action(&item_kind, unit.line);
                }
            }
            ("item.started" | "item.updated" | "item.completed", ..) => {
                stream
                    .builder
                    .lost(Loss::MayHoldCalls, "the event has no `item` with a type; it is left out");
            }
            ("turn.failed" | "error", ..) => {
                let told = members.get("error").and_then(|error| error.members()?.get("message"));
                if let Some(told) = told.or_else(|| members.get("message")) {
                    stream.builder.said("system", Body::json(told.json()), None);
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, out: &mut Out) {
        self.close(out);
        self.unknown.tell(&self.setting, out);
    }
}

impl CodexExec {
    fn close(&mut self, out: &mut Out) {
        if let Some(mut stream) = self.open.take() {
            stream.builder.mark_errors();
            out.session(stream.builder);
        }
    }
}

impl Stream {
    /// Adds an event of an item; returns whether its type is known.
    fn item(&mut self, item: &Members<'_>, kind: &str, completed: bool) -> bool {
        let body = |keys: &[&str]| item.any(keys).map_or(Body::MISSING, |node| Body::json(node.json()));
        match kind {
            "reasoning" | "todo_list" => {}
            "agent_message" | "assistant_message" if completed => {
                self.builder.response(Some(ROW), body(&["text"]), None);
            }
            "agent_message" | "assistant_message" => {}
            "error" => self.builder.said("system", body(&["message"]), None),
            "command_execution" => {
                if completed && !item.has("command") {
                    self.builder
                        .lost(Loss::MayHoldCalls, "an item names no `command`, so what it ran is not known");
                }
                let code = item.get("exit_code").is_some_and(|code| code.number() != Some(0i64));
                self.call(
                    item,
                    completed,
                    kind,
                    part(item, &["command"]),
                    body(&["aggregated_output"]),
                    code,
                );
            }
            "file_change" => {
                self.call(item, completed, kind, part(item, &["changes"]), Body::MISSING, false);
            }
            "web_search" => {
                let arguments = part(item, &["query", "action"]);
                self.call(item, completed, kind, arguments, body(&["results"]), false);
            }
            "mcp_tool_call" => {
                let name = |key| item.get(key).and_then(Node::text).unwrap_or_default();
                let tool = format!("mcp__{}__{}", name("server"), name("tool"));
                let failed = item.get("error").is_some();
                self.call(item, completed, &tool, body(&["arguments"]), body(&["error", "result"]), failed);
            }
            "collab_tool_call" => {
                let tool = item.get("tool").and_then(Node::text).unwrap_or_default();
                let arguments = part(item, &["prompt", "receiver_thread_ids"]);
                self.call(item, completed, &tool, arguments, part(item, &["agents_states"]), false);
            }
            _ => return false,
        }
        true
    }

    fn call(
        &mut self,
        item: &Members<'_>,
        completed: bool,
        tool: &str,
        arguments: Body,
        output: Body,
        failed: bool,
    ) {
        let id = item.get("id").and_then(Node::id).unwrap_or_default();
        let id = &*id;
        // Once for each item: at its start, or at its completion if it has no start.
        let begun = if completed { self.running.remove(id) } else { !self.running.insert(id.into()) };
        if !begun {
            self.builder.ensure_response(ROW, None);
            self.builder.call(Some(id), tool, arguments, None);
        }
        if completed {
            let word = item.get("status").and_then(Node::text).unwrap_or_default();
            let (failed, refused) = match status(&word) {
                // It continues, or it is not known how it ended.
                Status::Open | Status::Unknown if !failed && !word.is_empty() => {
                    return self.builder.unsure(Some(id), output, None, None);
                }
                Status::Refused(_) => (failed, Some("the item's status is `declined`")),
                status => (failed || status == Status::Failed, None),
            };
            self.builder.result(Some(id), output, Mark { error: failed, refused }, None);
        }
    }
}

/// An object of these members, as far as they are present.
fn part(item: &Members<'_>, keys: &[&str]) -> Body {
    let members = keys.iter().filter_map(|key| Some(format!("\"{key}\": {}", item.get(key)?.json())));
    Body::json(&format!("{{{}}}", members.collect::<Vec<_>>().join(", ")))
}
