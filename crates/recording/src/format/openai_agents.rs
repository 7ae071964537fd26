//! Traces of the OpenAI Agents SDK: spans as its exporter sends them (`object: trace.span` with `span_data`), and as a
//! trace processor sees them begin and end (`span_type`, one per line).
//!
//! [`super::spans`] assembles the spans of a trace. A handoff is a call, as the model makes it.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;

use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::lines::Lines;
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::answer;
use crate::shape::langchain;
use crate::shape::spans::record::SpanRecord;
use crate::shape::spans::traces::Traces;
use crate::shape::spans::{Attributes, Span};
use rulestep_base::session::Damage;

pub(crate) const FORMAT: Format = Format {
    name: "openai-agents",
    title: "traces of the OpenAI Agents SDK",
    source: "a trace processor that writes each `span.export()` as a line",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader,
};

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| {
        let first = value.get("data").and_then(Node::first_item).and_then(Node::members);
        is_own(value) || first.is_some_and(|first| is_own(&first))
    })
}

fn is_own(value: &Members<'_>) -> bool {
    is_span(value) || is_trace(value)
}

fn object<'a>(value: &Members<'a>) -> Cow<'a, str> {
    value.any(&["object", "object_type"]).and_then(Node::text).unwrap_or_default()
}

fn is_span(value: &Members<'_>) -> bool {
    let typed =
        value.get("span_data").is_some_and(|data| data.kind() == Kind::Object) || value.has("span_type");
    object(value) == "trace.span" && typed
}

fn is_trace(value: &Members<'_>) -> bool {
    object(value) == "trace" && value.any(&["workflow_name", "group_id"]).is_some()
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(OpenAiAgents {
        setting: setting.clone(),
        traces: Traces::new(setting),
        groups: HashMap::new(),
        begun: HashMap::new(),
    })
}

struct OpenAiAgents {
    setting: Setting,
    traces: Traces,
    /// JSON texts of the groups that traces belong to.
    groups: HashMap<Box<str>, Box<str>>,
    /// Spans that have begun and not ended, by trace and id.
    begun: HashMap<(Box<str>, Box<str>), Span>,
}

/// Spans that are held until they end; what is begun beyond that is taken as it is.
const MOST_BEGUN: usize = 4096;

impl Reader for OpenAiAgents {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let listed = if unit.node.kind() == Kind::List { Some(unit.node) } else { unit.members.get("data") };
        let items = listed.filter(|_| !is_own(&unit.members)).and_then(Node::items);
        if items.is_none() && !is_own(&unit.members) {
            return out.diagnostics(self.setting.foreign(unit, "neither a trace nor a span"));
        }
        out.diagnostics(unit.diagnostics.iter().cloned());
        let mut lines = Lines::new(unit.node, unit.line);
        for item in items.unwrap_or_else(|| vec![unit.node]) {
            let line = lines.of(item);
            match item.members() {
                Some(members) if is_span(&members) => self.span(&members, line),
                Some(members) if is_trace(&members) => self.group(&members),
                _ => {
                    let what = "a value that is neither a trace nor a span";
                    out.diagnostic(self.setting.stray(item, line, what));
                }
            }
        }
        self.traces.settle(out);
    }

    fn end(&mut self, out: &mut Out) {
        let mut begun: Vec<_> = std::mem::take(&mut self.begun).into_values().collect();
        begun.sort_by_key(|span| span.line);
        begun.into_iter().for_each(|span| self.traces.add(span));
        self.traces.end(out);
    }
}

impl OpenAiAgents {
    fn group(&mut self, trace: &Members<'_>) {
        let id = trace.any(&["id", "trace_id"]).and_then(Node::id);
        if let (Some(id), Some(group)) = (id, trace.get("group_id")) {
            self.groups.insert(id.as_ref().into(), group.json().into());
        }
    }

    fn span(&mut self, members: &Members<'_>, line: u32) {
        let (mut span, odd) = span(members, line);
        let group =
            members.get("group_id").map(Node::json).or(self.groups.get(&span.trace).map(|group| &**group));
        if let Some(group) = group {
            span.attributes.add("gen_ai.conversation.id", group);
        }
        let trace = span.trace.clone();
        let phase = members.get("event_phase").and_then(Node::text).unwrap_or_default();
        let key = (span.trace.clone(), span.id.clone());
        match (&*phase, self.begun.remove(&key)) {
            ("start", None) if self.begun.len() < MOST_BEGUN => {
                self.begun.insert(key, span);
            }
            (_, Some(begun)) => {
                // The end has all that is known, except where and when the span began.
                let (start, line) = (begun.start, begun.line);
                self.traces.add(Span { start: start.or(span.start), line, ..span });
            }
            (_, None) => self.traces.add(span),
        }
        for odd in odd {
            self.traces.tell(&trace, line, self.setting.damaged_line(line, odd));
        }
    }
}

/// A span, and its problems.
fn span(members: &Members<'_>, line: u32) -> (Span, Vec<Damage>) {
    let data = members.get("span_data").and_then(Node::members).unwrap_or_default();
    let mut record = SpanRecord::new(members, "a span");
    let ended = record.word(&["event_phase"]).is_some_and(|phase| phase == "finish");
    let (start, end) = if members.has("timestamp") {
        let at = record.time(&["timestamp"]);
        (at, at.filter(|_| ended))
    } else {
        (record.time(&["started_at"]), record.time(&["ended_at"]))
    };
    let error = members.get("error");
    let said = error.and_then(Node::members).and_then(|error| error.get("message")?.text());
    let said = said.or_else(|| error.and_then(Node::text));
    let kind =
        data.get("type").and_then(Node::text).or_else(|| record.text(&["span_type"])).unwrap_or_default();
    let name =
        data.get("name").and_then(Node::text).or_else(|| record.text(&["tool_name", "span_name", "name"]));
    let failed = error.is_some() || record.word(&["observed_status"]).is_some_and(|status| status == "error");
    let mut made = Span {
        trace: record.kept(&["trace_id"]).unwrap_or_default(),
        id: record.kept(&["id", "span_id"]).unwrap_or_default(),
        parent: record.kept(&["parent_id", "parent_span_id"]),
        name: name.unwrap_or_default().as_ref().into(),
        start,
        end,
        failed,
        message: said.map(|said| said.as_ref().into()),
        line,
        attributes: Attributes::default(),
        events: Vec::new(),
    };
    let attributes = &mut made.attributes;
    let of_data = |key| langchain::value(data.get(key));
    let json = |text: &str| Value::String(text.to_owned()).to_string();
    match &*kind {
        "" => record.odd.push(Damage::calls("the data of a span have no type; they are left out")),
        "function" => {
            attributes.add("gen_ai.operation.name", "\"execute_tool\"");
            attributes.add("gen_ai.tool.name", json(&made.name));
            for (key, name) in
                [("input", "gen_ai.tool.call.arguments"), ("output", "gen_ai.tool.call.result")]
            {
                if let Some(value) = data.get(key) {
                    attributes.add(name, value.json());
                }
            }
        }
        "handoff" => {
            let to = data.get("to_agent").and_then(Node::text).unwrap_or_default();
            attributes.add("gen_ai.operation.name", "\"execute_tool\"");
            attributes.add("gen_ai.tool.name", json(&handing_to(&to)));
            let parties = ["from_agent", "to_agent"].iter();
            let parties = parties.filter_map(|key| Some((key.to_string(), data.get(key)?.value()?)));
            attributes.add("gen_ai.tool.call.arguments", Value::Object(parties.collect()).to_string());
            attributes.add("gen_ai.tool.call.result", "\"\"");
        }
        "generation" | "response" => {
            attributes.add("gen_ai.operation.name", "\"chat\"");
            if let Some(model) = data.get("model") {
                attributes.add("gen_ai.request.model", model.json());
            }
            if let Some(sent) = of_data("input").as_ref().and_then(langchain::sent) {
                attributes.add("gen_ai.input.messages", sent.to_string());
            }
            // A response has its items within itself, if they are exported at all.
            langchain::look(data.get("output"));
            let output = of_data("output").or_else(|| of_data("response"));
            if let Some(parameters) = data.get("model_config") {
                attributes.add("llm.invocation_parameters", parameters.json());
            }
            if let Some(output) = output {
                record.odd.extend(answer::add(&output, attributes));
            }
            if let Some(tools) = of_data("response").as_ref().and_then(|response| response.get("tools")) {
                attributes.add("gen_ai.tool.definitions", tools.to_string());
            }
        }
        "agent" => {
            attributes.add("gen_ai.operation.name", "\"invoke_agent\"");
            attributes.add("gen_ai.agent.name", json(&made.name));
            let names = |of_data: &str, of_line: &str| {
                let list = data.get(of_data).or_else(|| members.get(of_line)).and_then(Node::items)?;
                Some(list.into_iter().filter_map(|name| Some(name.text()?.into_owned())).collect::<Vec<_>>())
            };
            // `null` means that the tools were not fetched yet.
            if let Some(mut tools) = names("tools", "available_tools") {
                let agents = names("handoffs", "available_handoffs").unwrap_or_default();
                tools.extend(agents.iter().map(|agent| handing_to(agent)));
                attributes.add("gen_ai.tool.definitions", Value::from(tools).to_string());
            }
        }
        _ => {}
    }
    (made, record.odd)
}

/// The tool that hands over to an agent.
fn handing_to(agent: &str) -> String {
    format!("transfer_to_{}", agent.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "_"))
}
