//! Runs exported from LangSmith: a list or JSON Lines of them, or an object with `runs`; children may be inside their
//! parents.
//!
//! A run is a span; [`super::spans`] assembles the runs of a trace. Traces of one thread are one session.

use serde_json::Value;

use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::lines::Lines;
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::answer;
use crate::shape::langchain;
use crate::shape::langchain::ToolResult;
use crate::shape::spans::record::SpanRecord;
use crate::shape::spans::traces::Traces;
use crate::shape::spans::{Attributes, Span};
use rulestep_base::session::Damage;

pub(crate) const FORMAT: Format = Format {
    name: "langsmith",
    title: "runs of LangSmith",
    source: "write what `list_runs(trace_id=…)` of its client gives, as JSON, with the child runs",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader,
};

/// Keys under which an object holds runs.
const RUNS: [&str; 3] = ["runs", "traces", "data"];

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| is_run(value) || runs(value).is_some())
}

fn runs<'a>(value: &Members<'a>) -> Option<Node<'a>> {
    let of_runs = |list: &Node<'a>| list.first_item().and_then(Node::members).is_some_and(|run| is_run(&run));
    RUNS.iter().filter_map(|key| value.get(key)).find(of_runs)
}

fn is_run(run: &Members<'_>) -> bool {
    let ids = ["trace_id", "dotted_order", "parent_run_id", "id", "run_id"];
    let parts = ["inputs", "outputs", "start_time", "child_runs"];
    run.get("run_type").is_some_and(|kind| kind.kind() == Kind::Text)
        && run.any(&ids).is_some()
        && parts.iter().any(|part| run.has(part))
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(LangSmith { setting: setting.clone(), traces: Traces::new(setting) })
}

struct LangSmith {
    setting: Setting,
    traces: Traces,
}

/// A nested run: its trace and its parent, unless it names them itself.
type Within = (Option<Box<str>>, Option<Box<str>>, u32);

/// Runs within runs that are read; deeper ones are reported.
const DEEPEST: u32 = 64;

impl Reader for LangSmith {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let is_list = unit.node.kind() == Kind::List;
        let list = if is_list { Some(unit.node) } else { runs(&unit.members) };
        if list.is_none() && !unit.members.has("run_type") {
            return out.diagnostics(self.setting.foreign(unit, "no run"));
        }
        out.diagnostics(unit.diagnostics.iter().cloned());
        let mut lines = Lines::new(unit.node, unit.line);
        match list {
            Some(list) => {
                for item in list.items().unwrap_or_default() {
                    self.run(item, &mut lines, out);
                }
            }
            None => self.run(unit.node, &mut lines, out),
        }
        self.traces.settle(out);
    }

    fn end(&mut self, out: &mut Out) {
        self.traces.end(out);
    }
}

impl LangSmith {
    /// A run and those within it.
    fn run(&mut self, node: Node<'_>, lines: &mut Lines<'_>, out: &mut Out) {
        let mut open: Vec<(Node<'_>, Within)> = vec![(node, (None, None, 0))];
        while let Some((node, (trace, parent, depth))) = open.pop() {
            let line = lines.of(node);
            let run = node.members().filter(|run| run.has("run_type") && depth <= DEEPEST);
            let Some(run) = run else {
                let what = match depth {
                    0..=DEEPEST => "a value that is not a run",
                    _ => "a run within more than 64 others",
                };
                out.diagnostic(self.setting.stray(node, line, what));
                continue;
            };
            let (span, odd) = span(&run, trace, parent, line);
            let (trace, id) = (span.trace.clone(), span.id.clone());
            let children = run.get("child_runs").and_then(Node::items).unwrap_or_default();
            for child in children.into_iter().rev() {
                open.push((child, (Some(trace.clone()), Some(id.clone()), depth + 1)));
            }
            self.traces.add(span);
            for odd in odd {
                self.traces.tell(&trace, line, self.setting.damaged_line(line, odd));
            }
        }
    }
}

/// A run as a span, and its problems.
fn span(
    run: &Members<'_>,
    trace: Option<Box<str>>,
    parent: Option<Box<str>>,
    line: u32,
) -> (Span, Vec<Damage>) {
    let mut record = SpanRecord::new(run, "a run");
    let (start, end) = (record.time(&["start_time"]), record.time(&["end_time"]));
    let error = record.kept(&["error"]);
    let id = record.kept(&["id", "run_id"]).unwrap_or_default();
    // The trace's id is that of its first run.
    let trace = record
        .kept(&["trace_id"])
        .or(trace)
        .or_else(|| root(&record.text(&["dotted_order"])?))
        .unwrap_or_else(|| id.clone());
    let mut made = Span {
        trace,
        id,
        parent: record.kept(&["parent_run_id"]).or(parent),
        name: record.word(&["name"]).unwrap_or_default().as_ref().into(),
        start,
        end,
        failed: error.is_some() || record.text(&["status"]).is_some_and(|status| status == "error"),
        message: error,
        line,
        attributes: Attributes::default(),
        events: Vec::new(),
    };
    let extra = run.get("extra").and_then(Node::members).unwrap_or_default();
    let about = extra.get("metadata").and_then(Node::members).unwrap_or_default();
    if let Some(thread) = about.any(&["thread_id", "conversation_id", "session_id"]) {
        made.attributes.add("gen_ai.conversation.id", thread.json());
    }
    let kind = record.text(&["run_type"]);
    if run.get("run_type").is_some_and(|kind| matches!(kind.kind(), Kind::Number | Kind::Bool)) {
        record.odd.push(Damage::calls("the `run_type` of a run is not a text, so what it did is left out"));
    }
    let mut unread = |key: &str| {
        let found = langchain::value(run.get(key));
        if found.is_none() && run.get(key).is_some() {
            record.odd.push(Damage::calls(format!("the `{key}` of a run cannot be read, and are left out")));
        }
        found
    };
    match kind.as_deref() {
        Some("tool") => {
            let attributes = &mut made.attributes;
            attributes.add("gen_ai.operation.name", "\"execute_tool\"");
            if let Some(inputs) = unread("inputs") {
                attributes.add("gen_ai.tool.call.arguments", langchain::arguments(inputs).to_string());
            }
            let mut call = extra.get("tool_call_id").and_then(Node::id).map(|id| id.into_owned());
            if let Some(outputs) = unread("outputs").filter(|outputs| !is_empty(outputs)) {
                let ToolResult { content, id, failed } = langchain::given(outputs);
                attributes.add("gen_ai.tool.call.result", content.to_string());
                call = call.or(id);
                made.failed |= failed;
            }
            if let Some(call) = call {
                made.attributes.add("gen_ai.tool.call.id", Value::String(call).to_string());
            }
            let name = Value::String(made.name.to_string()).to_string();
            made.attributes.add("gen_ai.tool.name", name);
        }
        Some("llm") => {
            let attributes = &mut made.attributes;
            attributes.add("gen_ai.operation.name", "\"chat\"");
            let inputs = unread("inputs");
            if let Some(sent) = inputs.as_ref().and_then(langchain::sent) {
                attributes.add("gen_ai.input.messages", sent.to_string());
            }
            langchain::look(run.get("outputs"));
            if let Some(outputs) = unread("outputs") {
                record.odd.extend(answer::add(&outputs, attributes));
            }
            let asked = extra.get("invocation_params").and_then(Node::members).unwrap_or_default();
            let model = about.get("ls_model_name").or_else(|| asked.any(&["model", "model_name"]));
            if let Some(model) = model {
                attributes.add("gen_ai.request.model", model.json());
            }
            // A wrapper of a provider's own client keeps them with the rest of the request.
            let beside = || ["tools", "functions"].into_iter().find_map(|key| inputs.as_ref()?.get(key));
            if let Some(tools) = asked.any(&["tools", "functions"]) {
                attributes.add("gen_ai.tool.definitions", tools.json());
            } else if let Some(tools) = beside().filter(|tools| tools.is_array()) {
                attributes.add("gen_ai.tool.definitions", tools.to_string());
            }
        }
        _ => {}
    }
    (made, record.odd)
}

/// The trace that a dotted order begins with: `TIMEZid.TIMEZid`.
fn root(order: &str) -> Option<Box<str>> {
    let first = order.split('.').next()?;
    let (_, id) = first.split_once('Z')?;
    (!id.is_empty()).then(|| id.into())
}

fn is_empty(outputs: &Value) -> bool {
    outputs.as_object().is_some_and(serde_json::Map::is_empty)
}
