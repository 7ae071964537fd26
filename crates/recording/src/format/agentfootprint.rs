//! Recordings of agentfootprint: the events of a run, in one object or one per line. The run's commits and the states
//! of its parts, which are stored beside them, add nothing about its calls.

use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::lines::Lines;
use crate::input::shallow::{Kind, Members, Node};
use crate::input::time;
use crate::shape::interleaved::Interleaved;
use crate::shape::offer;
use rulestep_base::diagnostic::Loss;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Millis};
use rulestep_base::source::quoted;

pub(crate) const FORMAT: Format = Format {
    name: "agentfootprint",
    title: "recordings of agentfootprint",
    source: "the events of a run as JSON: one object, or a line each",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader,
};

const PREFIX: &str = "agentfootprint.";

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| {
        let first = value.get("events").and_then(Node::first_item).and_then(Node::members);
        is_event(value) || first.is_some_and(|first| is_event(&first))
    }) || sample.lists().any(|list| list.first_item().and_then(Node::members).is_some_and(|e| is_event(&e)))
}

fn is_event(value: &Members<'_>) -> bool {
    value.get("type").and_then(Node::text).is_some_and(|kind| kind.starts_with(PREFIX))
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(Footprint { setting: setting.clone(), open: Interleaved::default() })
}

struct Footprint {
    setting: Setting,
    open: Interleaved<Run>,
}

/// A run that is being read.
struct Run {
    builder: Builder,
    /// Whether the model's answer is missing: a call that follows comes from an answer that is not recorded.
    asked: bool,
    /// The latest system prompt.
    system: Option<Body>,
}

impl Reader for Footprint {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        out.diagnostics(unit.diagnostics.iter().cloned());
        let members = &unit.members;
        let mut lines = Lines::new(unit.node, unit.line);
        let run = members.get("runId").and_then(Node::id).unwrap_or_default();
        let list = members.get("events").and_then(Node::items).or_else(|| unit.node.tried().items());
        match list {
            Some(events) => {
                for event in events {
                    let line = lines.of(event);
                    match event.members().filter(is_event) {
                        Some(event) => self.event(&event, &run, line, out),
                        None => {
                            let what = "a value is not an event of the recording";
                            out.diagnostic(self.setting.stray(event, line, what));
                        }
                    }
                }
            }
            None if is_event(members) => self.event(members, &run, unit.line, out),
            None => out.diagnostics(self.setting.foreign(unit, "neither a recording nor an event")),
        }
    }

    fn end(&mut self, out: &mut Out) {
        for run in self.open.close() {
            out.session(run.builder);
        }
    }
}

impl Footprint {
    fn event(&mut self, event: &Members<'_>, run: &str, line: u32, out: &mut Out) {
        let meta = event.get("meta").and_then(Node::members).unwrap_or_default();
        let payload = event.get("payload").and_then(Node::members).unwrap_or_default();
        let id = meta.get("runId").and_then(Node::id);
        let id = id.as_deref().unwrap_or(run);
        let bytes = payload.iter().map(|(_, node)| node.json().len()).sum::<usize>() + 128;
        let setting = &self.setting;
        while let Some(run) = self.open.too_much(id) {
            out.session(run.builder);
        }
        let run = self.open.get(id, bytes, |again| {
            let mut builder = setting.session_at(id, line, out);
            // A result says whether it failed.
            builder.mark_errors();
            if again {
                builder.starts_in_the_middle(
                    "earlier events of the same run are too far before these to be joined with them",
                );
            }
            Run { builder, asked: false, system: None }
        });
        let Some(run) = run else { return };
        run.builder.at_line(line);
        let at = time::of(&meta, &["wallClockMs"]).unwrap_or_else(|odd| {
            run.builder.damaged(odd);
            None
        });
        let kind = event.get("type").and_then(Node::text).unwrap_or_default();
        run.take(kind.strip_prefix(PREFIX).unwrap_or_default(), &payload, at, setting);
    }
}

impl Run {
    fn take(&mut self, kind: &str, payload: &Members<'_>, at: Option<Millis>, setting: &Setting) {
        let body = |key| payload.get(key).map_or(Body::MISSING, |node: Node<'_>| Body::json(node.json()));
        let text = |key| payload.get(key).and_then(Node::text).unwrap_or_default();
        match kind {
            "agent.turn_start" => self.builder.said("user", body("userPrompt"), at),
            "context.injected" if text("slot") == "system-prompt" => {
                let content = body("rawContent");
                if self.system.as_ref().is_none_or(|told| told.raw() != content.raw())
                    && !content.is_missing()
                {
                    self.builder.said("system", content.clone(), at);
                    self.system = Some(content);
                }
            }
            "stream.llm_start" => {
                self.asked = true;
                if let Some(offer) = payload.get("tools").and_then(offer::tools) {
                    self.builder.offered(self.builder.next_turn(), offer.tools);
                }
            }
            "stream.llm_end" => {
                self.asked = false;
                let content = Some(body("content")).filter(|content| !content.raw().is_empty());
                self.builder.response(None, content.unwrap_or_default(), at);
            }
            "stream.tool_start" => {
                if std::mem::take(&mut self.asked) {
                    self.builder.response(None, Body::MISSING, at);
                }
                let id = payload.get("toolCallId").and_then(Node::id);
                self.builder.call(id.as_deref(), &text("toolName"), body("args"), at);
            }
            "stream.tool_end" => {
                let id = payload.get("toolCallId").and_then(Node::id);
                let error = payload.get("error").filter(|error| error.json() != "false");
                let content = match error.filter(|error| error.kind() != Kind::Bool) {
                    Some(error) if !payload.has("result") => Body::json(error.json()),
                    _ => body("result"),
                };
                let failed = setting.failed(error.is_some().then_some(true), &content);
                let mark = Mark { error: failed, refused: None };
                // A call after a result without a call must not become the call of that result.
                self.asked |= self.builder.result(id.as_deref(), content, mark, at).is_none();
            }
            kind if kind.starts_with("stream.tool_") && payload.has("toolName") => {
                let kind = quoted(kind);
                self.builder.lost(
                    Loss::MayHoldCalls,
                    format!("an event of a tool of the kind {kind} is not known; it is left out"),
                );
            }
            _ => {}
        }
    }
}
