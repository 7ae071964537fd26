//! Traces of Assay, JSON Lines: the parts of an episode, tied together by its id and perhaps among those of others; and
//! the older form, a call a line.
//!
//! A step is what happened at once: an answer of the model, with the calls in it, or a call by itself. Calls may be
//! written later than their steps, so an episode is put together at its end.

use std::collections::HashMap;

use serde_json::Value;

use super::interleaved::Interleaved;
use super::setting::Setting;
use super::shallow::{Kind, Members, Node};
use super::unknown::Unknown;
use super::{Format, Out, Reader, Sample, Unit, time};
use crate::session::build::{Builder, Mark};
use crate::session::{Body, Millis};
use crate::source::quoted;

pub(super) const FORMAT: Format = Format {
    name: "assay",
    title: "Assay traces",
    // Calls may be written without what came of them.
    absent_without_results: true,
    recognise,
    reader,
};

const PARTS: [&str; 4] = ["episode_start", "step", "tool_call", "episode_end"];
/// What stands for the prompt of an episode that was made of a log without one.
const NO_PROMPT: &str = "<mcp:session>";

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|line| {
        let kind = line.get("type").and_then(Node::text).unwrap_or_default();
        line.has("episode_id") && PARTS.contains(&&*kind) || is_flat(line)
    })
}

/// Whether a line is a call in the older form.
fn is_flat(line: &Members<'_>) -> bool {
    let text = |key| line.get(key).is_some_and(|node| node.kind() == Kind::Text);
    text("tool") && line.has("args") && line.has("response") && !line.has("type") && !line.has("messages")
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(Assay { setting: setting.clone(), open: Interleaved::default(), unknown: Unknown::default() })
}

struct Assay {
    setting: Setting,
    open: Interleaved<Episode>,
    unknown: Unknown,
}

/// An episode that is being read.
struct Episode {
    builder: Builder,
    steps: Vec<Step>,
    /// Places of the steps, by id.
    places: HashMap<Box<str>, usize>,
    output: Option<Body>,
}

struct Step {
    id: Box<str>,
    order: Option<u64>,
    at: Option<Millis>,
    line: u32,
    /// Of an answer of the model; else this is a call.
    said: Option<Body>,
    /// The tool that the step itself names.
    tool: Option<Box<str>>,
    calls: Vec<Call>,
}

struct Call {
    tool: Box<str>,
    order: Option<u64>,
    arguments: Body,
    result: Body,
    error: Option<Body>,
    at: Option<Millis>,
    line: u32,
}

impl Reader for Assay {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let line = &unit.members;
        let kind = line.get("type").and_then(Node::text).unwrap_or_default();
        let Some(id) = line.get("episode_id").and_then(Node::id) else {
            if is_flat(line) {
                return self.flat(unit, out);
            }
            return out.diagnostics(self.setting.foreign(unit, "no part of an episode"));
        };
        if !PARTS.contains(&&*kind) {
            self.unknown.note(&kind, unit.line);
            return out.diagnostics(unit.diagnostics.iter().cloned());
        }
        let setting = &self.setting;
        // A second beginning is another episode of the same name.
        if kind == "episode_start"
            && let Some(episode) = self.open.take(&id)
        {
            episode.close(setting, out);
        }
        while let Some(episode) = self.open.too_much(&id) {
            episode.close(setting, out);
        }
        let episode = self.open.get(&id, unit.node.json().len() + 256, |_| {
            let mut builder = setting.session_at(&id, unit.line, out);
            if kind != "episode_start" {
                builder.starts_in_the_middle("the episode has no `episode_start` line before this one");
            }
            Episode { builder, steps: Vec::new(), places: HashMap::new(), output: None }
        });
        let Some(episode) = episode else { return };
        unit.diagnostics.iter().cloned().for_each(|odd| episode.builder.diagnostic(odd));
        episode.builder.at_line(unit.line);
        match &*kind {
            "episode_start" => episode.start(line),
            "step" => episode.step(line, unit.line),
            "tool_call" => episode.call(line, unit.line),
            _ => {
                episode.output = line.get("final_output").map(|output| Body::json(output.json()));
                if let Some(outcome) = line.get("outcome").and_then(Node::value) {
                    episode.builder.context_once("outcome", outcome);
                }
                if let Some(episode) = self.open.take(&id) {
                    episode.close(&self.setting, out);
                }
            }
        }
    }

    fn end(&mut self, out: &mut Out) {
        for episode in self.open.close() {
            episode.close(&self.setting, out);
        }
        self.unknown.tell(&self.setting, out);
    }
}

impl Assay {
    /// A call with what came of it, which is a session.
    fn flat(&self, unit: &Unit<'_>, out: &mut Out) {
        let line = &unit.members;
        let id = line.get("id").and_then(Node::id).unwrap_or_default();
        let mut builder = self.setting.session(&id, unit, out);
        builder.at_line(unit.line);
        let at = at(line, &mut builder);
        if let Some(prompt) = line.get("prompt") {
            builder.said("user", Body::json(prompt.json()), at);
        }
        let call = call(line, at, unit.line);
        builder.response(None, Body::MISSING, at);
        give(&mut builder, &[(String::new(), call)], &self.setting);
        out.session(builder);
    }
}

impl Episode {
    fn start(&mut self, line: &Members<'_>) {
        let at = at(line, &mut self.builder);
        let input = line.get("input");
        let prompt = input.and_then(Node::members).and_then(|input| input.get("prompt")).or(input);
        if let Some(prompt) = prompt.filter(|prompt| prompt.text().is_none_or(|text| text != NO_PROMPT)) {
            self.builder.said("user", Body::json(prompt.json()), at);
        }
        for (name, value) in line.get("meta").and_then(Node::members).iter().flat_map(Members::iter) {
            if name != "episode_id"
                && let Some(value) = value.value()
            {
                self.builder.context_once(name, value);
            }
        }
    }

    fn step(&mut self, line: &Members<'_>, number: u32) {
        let at = at(line, &mut self.builder);
        let id = line.get("step_id").and_then(Node::id).unwrap_or_default();
        let kind = line.get("kind").and_then(Node::text).unwrap_or_default();
        let order = line.get("idx").and_then(|order| order.json().parse().ok());
        let content = line.get("content").map_or(Body::MISSING, |content| Body::json(content.json()));
        let is_tool = kind.starts_with("tool");
        let name = line.get("name").and_then(Node::text).filter(|_| is_tool);
        let place = self.place(&id, number);
        let Some(step) = self.steps.get_mut(place) else { return };
        step.order = order;
        step.at = at;
        step.tool = name.map(|name| name.as_ref().into());
        step.said = (!is_tool).then_some(content);
    }

    fn call(&mut self, line: &Members<'_>, number: u32) {
        let at = at(line, &mut self.builder);
        let id = line.get("step_id").and_then(Node::id).unwrap_or_default();
        let place = self.place(&id, number);
        let Some(step) = self.steps.get_mut(place) else { return };
        step.at = step.at.or(at);
        step.calls.push(call(line, at, number));
    }

    /// The place of the step of this id; one without an id stands for itself.
    fn place(&mut self, id: &str, line: u32) -> usize {
        if let Some(place) = self.places.get(id).filter(|_| !id.is_empty()) {
            return *place;
        }
        let place = self.steps.len();
        let (said, tool, calls) = (None, None, Vec::new());
        self.steps.push(Step { id: id.into(), order: None, at: None, line, said, tool, calls });
        self.places.insert(id.into(), place);
        place
    }

    fn close(self, setting: &Setting, out: &mut Out) {
        let Episode { mut builder, mut steps, output, .. } = self;
        if steps.iter().all(|step| step.order.is_some()) {
            steps.sort_by_key(|step| step.order);
        }
        // The last thing that was said or that a call gave back.
        let mut last: Option<Value> = None;
        for mut step in steps {
            builder.at_line(step.line);
            step.calls.sort_by_key(|call| call.order);
            if step.calls.is_empty()
                && let Some(tool) = step.tool
            {
                let (arguments, result) = (Body::MISSING, Body::MISSING);
                let (order, error, at, line) = (None, None, step.at, step.line);
                step.calls.push(Call { tool, order, arguments, result, error, at, line });
            }
            let content = step.said.unwrap_or_default();
            last = content.value().cloned().or(last);
            builder.response(None, content, step.at);
            let many = step.calls.len() > 1;
            let name = |place: usize| if many { format!("{}.{place}", step.id) } else { step.id.to_string() };
            let calls: Vec<_> =
                step.calls.into_iter().enumerate().map(|(place, call)| (name(place), call)).collect();
            last = calls.iter().rev().find_map(|(_, call)| call.result.value().cloned()).or(last);
            give(&mut builder, &calls, setting);
        }
        if let Some(output) = output.filter(|output| output.value() != last.as_ref() && !output.is_missing())
        {
            builder.response(None, output, None);
        }
        out.session(builder);
    }
}

fn call(line: &Members<'_>, at: Option<Millis>, number: u32) -> Call {
    let body = |keys: &[&str]| line.any(keys).map_or(Body::MISSING, |node| Body::json(node.json()));
    let error = line.get("error").filter(|error| !matches!(error.json(), "\"\"" | "false"));
    Call {
        tool: line.any(&["tool_name", "tool"]).and_then(Node::text).unwrap_or_default().as_ref().into(),
        order: line.get("call_index").and_then(|order| order.json().parse().ok()),
        arguments: body(&["args", "arguments"]),
        result: body(&["result", "response"]),
        error: error.map(|error| Body::json(error.json())),
        at,
        line: number,
    }
}

/// Adds calls of the response before, and then what came of them.
fn give(builder: &mut Builder, calls: &[(String, Call)], setting: &Setting) {
    for (id, call) in calls {
        builder.at_line(call.line).call(Some(id), &call.tool, call.arguments.clone(), call.at);
    }
    for (id, call) in calls {
        builder.at_line(call.line);
        if let Some(error) = &call.error {
            // A failure of the call is not a result that anybody saw.
            if call.result.is_missing() {
                let (tool, error) = (quoted(&call.tool), quoted(error.shown()));
                builder.damaged(format!("the call of {tool} failed without a result: {error}"));
            }
        } else if call.result.is_missing() {
            continue;
        }
        let marked = call.error.is_some().then_some(true);
        let mark = Mark { error: setting.failed(marked, &call.result), refused: None };
        builder.result(Some(id), call.result.clone(), mark, call.at);
    }
}

/// The time of a line, in milliseconds.
fn at(line: &Members<'_>, builder: &mut Builder) -> Option<Millis> {
    let node = line.get("timestamp")?;
    // Small numbers are milliseconds here too; those beyond every calendar are a finer unit.
    let millis =
        node.json().parse().ok().filter(|millis: &Millis| millis.unsigned_abs() < 100_000_000_000_000);
    let found = millis.or_else(|| time::instant(node));
    if found.is_none() {
        builder.damaged(format!("`timestamp` is no time that is known: {}", quoted(node.json())));
    }
    found
}
