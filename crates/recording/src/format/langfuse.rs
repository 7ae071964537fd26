//! Traces and observations exported from Langfuse: a trace with its `observations`, or single observations, in a list,
//! in `data`, or one per line.
//!
//! An observation is a span; [`super::spans`] assembles those of a trace. Exports older than the type `TOOL` have calls
//! as plain spans: one with the name of a tool that the model was offered or called is a call.

use std::collections::HashSet;

use serde_json::{Value, json};

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
    name: "langfuse",
    title: "traces and observations of Langfuse",
    source: "the download of a trace's page, or `GET /api/public/traces/ID`",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader,
};

const TYPES: [&str; 10] = [
    "SPAN",
    "GENERATION",
    "EVENT",
    "TOOL",
    "AGENT",
    "CHAIN",
    "RETRIEVER",
    "EVALUATOR",
    "EMBEDDING",
    "GUARDRAIL",
];
const TRACE: [&str; 2] = ["traceId", "trace_id"];
const PARENT: [&str; 2] = ["parentObservationId", "parent_observation_id"];
const START: [&str; 2] = ["startTime", "start_time"];
const END: [&str; 2] = ["endTime", "end_time"];
const SESSION: [&str; 2] = ["sessionId", "session_id"];

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| {
        let listed = value.get("data").and_then(Node::first_item).and_then(Node::members);
        is_own(value) || listed.is_some_and(|first| is_own(&first))
    })
}

fn is_own(value: &Members<'_>) -> bool {
    is_trace(value) || is_observation(value)
}

fn is_trace(value: &Members<'_>) -> bool {
    let Some(list) = value.get("observations").filter(|list| list.kind() == Kind::List) else { return false };
    match list.first_item() {
        Some(first) if first.kind() == Kind::Object => {
            first.members().is_some_and(|first| is_observation(&first))
        }
        _ => {
            value.has("id")
                && ["sessionId", "projectId", "htmlPath", "userId"].iter().any(|key| value.has(key))
        }
    }
}

fn is_observation(value: &Members<'_>) -> bool {
    let kind = value.get("type").and_then(Node::text).unwrap_or_default().to_ascii_uppercase();
    TYPES.contains(&&*kind)
        && value.has("id")
        && value.any(&START).is_some()
        && (value.any(&TRACE).is_some() || PARENT.iter().any(|key| value.has(key)))
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(Langfuse { setting: setting.clone(), traces: Traces::new(setting) })
}

struct Langfuse {
    setting: Setting,
    traces: Traces,
}

/// What the observations of one value have in common.
#[derive(Default)]
struct Context<'a> {
    trace: Option<Box<str>>,
    session: Option<Node<'a>>,
}

impl Reader for Langfuse {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let listed = if unit.node.kind() == Kind::List { Some(unit.node) } else { unit.members.get("data") };
        let mut lines = Lines::new(unit.node, unit.line);
        let items = listed.filter(|_| !is_own(&unit.members)).and_then(Node::items);
        if items.is_none() && !is_own(&unit.members) {
            return out.diagnostics(self.setting.foreign(unit, "neither a trace nor an observation"));
        }
        out.diagnostics(unit.diagnostics.iter().cloned());
        self.items(&items.unwrap_or_else(|| vec![unit.node]), &mut lines, out);
        self.traces.settle(out);
    }

    fn end(&mut self, out: &mut Out) {
        self.traces.end(out);
    }
}

impl Langfuse {
    fn items(&mut self, items: &[Node<'_>], lines: &mut Lines<'_>, out: &mut Out) {
        let mut by_themselves = Vec::new();
        for item in items {
            let members = item.members().unwrap_or_default();
            if is_trace(&members) {
                self.trace(&members, lines, out);
            } else {
                by_themselves.push(*item);
            }
        }
        self.observations(&by_themselves, &Context::default(), lines, out);
    }

    fn trace(&mut self, trace: &Members<'_>, lines: &mut Lines<'_>, out: &mut Out) {
        let list = trace.get("observations").and_then(Node::items).unwrap_or_default();
        if let Some(first) = list.first().filter(|_| list.iter().all(|item| item.kind() == Kind::Text)) {
            let message = "the trace lists the ids of its observations alone, so its calls are not in the file: export \
                           the observations";
            return out.diagnostic(self.setting.damaged_line(lines.of(*first), Damage::calls(message)));
        }
        // A download from the page has the trace beside its observations.
        let beside = trace.get("trace").and_then(Node::members);
        let about = beside.as_ref().unwrap_or(trace);
        let id = about.get("id").and_then(Node::id).map(|id| id.as_ref().into());
        self.observations(&list, &Context { trace: id, session: about.any(&SESSION) }, lines, out);
    }

    fn observations(&mut self, list: &[Node<'_>], about: &Context<'_>, lines: &mut Lines<'_>, out: &mut Out) {
        let tools = tools(list);
        for node in list {
            let line = lines.of(*node);
            let Some(members) = node.members().filter(is_observation) else {
                out.diagnostic(self.setting.stray(*node, line, "a value that is not an observation"));
                continue;
            };
            let (span, odd) = span(&members, about, &tools, line);
            let trace = span.trace.clone();
            self.traces.add(span);
            for odd in odd {
                self.traces.tell(&trace, line, self.setting.damaged_line(line, odd));
            }
        }
    }
}

/// Names of the tools that models were offered, or called.
fn tools(list: &[Node<'_>]) -> HashSet<String> {
    let mut names = HashSet::new();
    let mut name = |from: &Value| {
        let inner = from.get("function").filter(|inner| inner.is_object()).unwrap_or(from);
        if let Some(name) = inner.get("name").and_then(Value::as_str) {
            names.insert(name.to_owned());
        }
    };
    for members in list.iter().filter_map(|node| node.members()) {
        if !members
            .get("type")
            .and_then(Node::text)
            .is_some_and(|kind| kind.eq_ignore_ascii_case("generation"))
        {
            continue;
        }
        offered(&members, &mut langchain::value(members.get("input"))).iter().flatten().for_each(&mut name);
        let answered = langchain::value(members.get("output")).as_ref().and_then(answer::read);
        for message in answered.iter().flat_map(|answer| &answer.messages) {
            for key in ["tool_calls", "content"] {
                let calls = message.get(key).and_then(Value::as_array).into_iter().flatten();
                let own = calls.filter(|call| {
                    key == "tool_calls" || call.get("type").is_some_and(|kind| kind == "tool_use")
                });
                own.for_each(&mut name);
            }
        }
    }
    names
}

/// The definitions of the tools that a model was offered: in the request, after its messages as the handler for
/// LangChain writes them (they are taken out), or by their names, as the service has gathered them.
fn offered(generation: &Members<'_>, input: &mut Option<Value>) -> Option<Vec<Value>> {
    if let Some(Value::Array(tools)) = input.as_ref().and_then(|input| input.get("tools")) {
        return Some(tools.clone());
    }
    if let Some(Value::Array(messages)) = input {
        let (tools, said): (Vec<_>, Vec<_>) = std::mem::take(messages).into_iter().partition(is_definition);
        *messages = said;
        if !tools.is_empty() {
            return Some(
                tools.into_iter().filter_map(|mut tool| Some(tool.get_mut("content")?.take())).collect(),
            );
        }
    }
    let gathered = langchain::value(generation.any(&["toolDefinitions", "tool_definitions"]))?;
    let tools = gathered.as_object()?.iter().map(|(name, about)| {
        let about =
            about.as_str().and_then(|text| Node::parse(text).ok()?.value()).unwrap_or_else(|| about.clone());
        let member = |key| about.get(key).cloned().unwrap_or_default();
        json!({"name": name, "description": member("description"), "parameters": member("parameters")})
    });
    Some(tools.collect()).filter(|tools: &Vec<_>| !tools.is_empty())
}

/// Whether a message is no result of a call but says what a tool is.
fn is_definition(message: &Value) -> bool {
    let about = message.get("content").filter(|content| content.is_object());
    let named = about.is_some_and(|about| {
        let inner = about.get("function").filter(|inner| inner.is_object()).unwrap_or(about);
        let kind = about.get("type").is_some_and(|kind| kind == "function");
        inner.get("name").is_some_and(Value::is_string) && (kind || about.get("input_schema").is_some())
    });
    named && message.get("role").is_some_and(|role| role == "tool") && message.get("tool_call_id").is_none()
}

/// An observation as a span, and its problems.
fn span(
    members: &Members<'_>,
    about: &Context<'_>,
    tools: &HashSet<String>,
    line: u32,
) -> (Span, Vec<Damage>) {
    let mut record = SpanRecord::new(members, "an observation");
    let (start, end) = (record.time(&START), record.time(&END));
    let mut made = Span {
        trace: record.kept(&TRACE).or_else(|| about.trace.clone()).unwrap_or_default(),
        id: record.kept(&["id"]).unwrap_or_default(),
        parent: record.kept(&PARENT),
        name: record.word(&["name"]).unwrap_or_default().as_ref().into(),
        start,
        end,
        failed: record.word(&["level"]).is_some_and(|level| level == "ERROR"),
        message: record.kept(&["statusMessage", "status_message"]),
        line,
        attributes: Attributes::default(),
        events: Vec::new(),
    };
    if let Some(session) = members.any(&SESSION).or(about.session) {
        made.attributes.add("session.id", session.json());
    }
    // Spans received over OpenTelemetry keep their attributes. A download from the page of a trace has them as text.
    let metadata = members.get("metadata").map(Node::tried);
    let text = metadata.and_then(Node::text).unwrap_or_default();
    let metadata =
        Node::parse(&text).ok().or(metadata).map(Node::tried).and_then(Node::members).unwrap_or_default();
    let recorded = metadata.get("attributes").and_then(Node::members).unwrap_or_default();
    recorded.iter().for_each(|(name, value)| made.attributes.add(name, value.json()));
    let kind = record.text(&["type"]).unwrap_or_default().to_ascii_uppercase();
    let mut unread = |key: &str| {
        let found = langchain::value(members.get(key));
        if found.is_none() && members.get(key).is_some() {
            record.odd.push(Damage::calls(format!(
                "the `{key}` of an observation cannot be read, and is left out"
            )));
        }
        found
    };
    let attributes = &mut made.attributes;
    match &*kind {
        "GENERATION" => {
            attributes.add("gen_ai.operation.name", "\"chat\"");
            if let Some(model) = members.any(&["model", "providedModelName"]) {
                attributes.add("gen_ai.request.model", model.json());
            }
            let mut input = unread("input");
            if let Some(tools) = offered(members, &mut input) {
                attributes.add("gen_ai.tool.definitions", Value::Array(tools).to_string());
            }
            if let Some(sent) = input.as_ref().and_then(langchain::sent) {
                attributes.add("gen_ai.input.messages", sent.to_string());
            }
            langchain::look(members.get("output"));
            if let Some(parameters) = members.any(&["modelParameters", "model_parameters"]) {
                attributes.add("langfuse.observation.model.parameters", parameters.json());
            }
            if let Some(output) = unread("output") {
                record.odd.extend(answer::add(&output, attributes));
            }
        }
        "AGENT" => attributes.add("gen_ai.operation.name", "\"invoke_agent\""),
        "SPAN" if !tools.contains(&*made.name) => {}
        "TOOL" | "SPAN" => {
            attributes.add("gen_ai.operation.name", "\"execute_tool\"");
            if let Some(input) = unread("input") {
                attributes.add("gen_ai.tool.call.arguments", langchain::arguments(input).to_string());
            }
            let id = metadata.any(&["tool_call_id", "toolCallId", "tool_use_id"]);
            let mut id = id.and_then(Node::id).map(|id| id.into_owned());
            if let Some(output) = unread("output") {
                let ToolResult { content, id: named, failed } = langchain::given(output);
                attributes.add("gen_ai.tool.call.result", content.to_string());
                id = id.or(named);
                made.failed |= failed;
            }
            if let Some(id) = id {
                made.attributes.add("gen_ai.tool.call.id", Value::String(id).to_string());
            }
            let name = Value::String(made.tool().into_owned()).to_string();
            made.attributes.add("gen_ai.tool.name", name);
        }
        _ => {}
    }
    (made, record.odd)
}
