//! Traces of MLflow: `{info, data: {spans}}` as its client and its commands write them, and `traces.json`, which has
//! only the spans. Spans have the form of version 2 (`context`, `parent_id`) or of version 3 and 4 (`trace_id`,
//! `parent_span_id`).
//!
//! [`super::spans::mlflow`] translates the spans; the same attributes may come by OpenTelemetry.

use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::lines::Lines;
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::spans::record::SpanRecord;
use crate::shape::spans::traces::Traces;
use crate::shape::spans::{Attributes, Event, Span, objects};
use rulestep_base::session::Damage;

pub(crate) const FORMAT: Format = Format {
    name: "mlflow",
    title: "traces of MLflow",
    source: "`mlflow traces get --trace-id ID`, `trace.to_json()`, or `traces.json` among the artifacts of a trace",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader,
};

const TYPE: &str = "mlflow.spanType";
const ATTRIBUTES: &str = "attributes";

fn recognise(sample: &Sample<'_>) -> bool {
    let all_spans = |value: &Members<'_>| {
        let data = value.get("data").and_then(Node::members);
        [spans(value), data.as_ref().and_then(spans)].into_iter().flatten().any(|spans| {
            spans.items().unwrap_or_default().into_iter().filter_map(Node::members).any(|span| is_span(&span))
        })
    };
    sample.objects().any(|value| {
        let trace = value.get("trace").and_then(Node::members);
        all_spans(value) || trace.is_some_and(|trace| all_spans(&trace)) || is_span(value)
    })
}

fn spans<'a>(value: &Members<'a>) -> Option<Node<'a>> {
    value.get("spans").filter(|spans| spans.kind() == Kind::List)
}

fn is_span(value: &Members<'_>) -> bool {
    let attributes =
        value.get(ATTRIBUTES).filter(|given| given.kind() == Kind::Object).and_then(Node::members);
    attributes.is_some_and(|attributes| attributes.has(TYPE) || attributes.has("mlflow.traceRequestId"))
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(MLflow { setting: setting.clone(), traces: Traces::new(setting) })
}

struct MLflow {
    setting: Setting,
    traces: Traces,
}

impl Reader for MLflow {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        out.diagnostics(unit.diagnostics.iter().cloned());
        let mut lines = Lines::new(unit.node, unit.line);
        let wrapped = unit.members.get("trace").and_then(Node::members);
        let trace = wrapped.as_ref().unwrap_or(&unit.members);
        let data = trace.get("data").and_then(Node::members);
        let session = session(trace);
        if let Some(spans) = data.as_ref().unwrap_or(trace).get("spans") {
            match spans.items() {
                Some(spans) => spans.into_iter().for_each(|span| self.span(span, session, &mut lines, out)),
                None => self.left_out(spans, "the spans of a trace are not a list", &mut lines, out),
            }
        } else if trace.has("span_id") || trace.has("context") {
            self.span(unit.node, None, &mut lines, out);
        } else {
            out.diagnostics(self.setting.foreign(unit, "neither a trace nor a span"));
        }
        self.traces.settle(out);
    }

    fn end(&mut self, out: &mut Out) {
        self.traces.end(out);
    }
}

/// The conversation that a trace says it is part of.
fn session<'a>(trace: &Members<'a>) -> Option<Node<'a>> {
    let info = trace.get("info").and_then(Node::members)?;
    let about = info.any(&["trace_metadata", "request_metadata"]).and_then(Node::members)?;
    about.get("mlflow.trace.session")
}

impl MLflow {
    fn span(&mut self, node: Node<'_>, session: Option<Node<'_>>, lines: &mut Lines<'_>, out: &mut Out) {
        let line = lines.of(node);
        let Some(members) = node.members().filter(|span| span.has(ATTRIBUTES)) else {
            return self.left_out(node, "a value that is not a span", lines, out);
        };
        let (mut span, odd) = span(&members, line);
        if let Some(session) = session {
            span.attributes.add("gen_ai.conversation.id", session.json());
        }
        let trace = span.trace.clone();
        self.traces.add(span);
        for odd in odd {
            self.traces.tell(&trace, line, self.setting.damaged_line(line, odd));
        }
    }

    fn left_out(&self, node: Node<'_>, what: &str, lines: &mut Lines<'_>, out: &mut Out) {
        out.diagnostic(self.setting.stray(node, lines.of(node), what));
    }
}

fn span(members: &Members<'_>, line: u32) -> (Span, Vec<Damage>) {
    let context = members.get("context").and_then(Node::members);
    let ids = context.as_ref().unwrap_or(members);
    let id = |from: &Members<'_>, key| from.get(key).and_then(Node::id).map(|id| Box::<str>::from(&*id));
    let mut record = SpanRecord::new(members, "a span");
    let start = record.time(&["start_time_unix_nano", "start_time"]);
    let end = record.time(&["end_time_unix_nano", "end_time"]);
    let status = members.get("status").filter(|status| status.kind() == Kind::Object).and_then(Node::members);
    let code = status.as_ref().and_then(|status| status.get("code")).or_else(|| members.get("status_code"));
    let code = code.and_then(Node::id).unwrap_or_default();
    let message =
        status.as_ref().and_then(|status| status.get("message")).or_else(|| members.get("status_message"));
    let message = message.and_then(Node::text).filter(|message| !message.is_empty());
    let events = objects(members.get("events"));
    let events = events.iter().map(|event| Event {
        name: event.get("name").and_then(Node::text).unwrap_or_default().as_ref().into(),
        attributes: attributes(event.get(ATTRIBUTES)),
    });
    let parent = id(members, "parent_span_id").or_else(|| id(members, "parent_id"));
    let made = Span {
        trace: id(ids, "trace_id").unwrap_or_default(),
        id: id(ids, "span_id").unwrap_or_default(),
        parent: parent.filter(|parent| !parent.is_empty()),
        name: record.word(&["name"]).unwrap_or_default().as_ref().into(),
        start,
        end,
        failed: code == "2" || code.ends_with("ERROR"),
        message: message.map(|message| message.as_ref().into()),
        line,
        attributes: attributes(members.get(ATTRIBUTES)),
        events: events.collect(),
    };
    (made, record.odd)
}

fn attributes(node: Option<Node<'_>>) -> Attributes {
    let mut attributes = Attributes::default();
    let given = node.and_then(Node::members);
    given.iter().flat_map(Members::iter).for_each(|(name, value)| attributes.add(name, value.json()));
    attributes
}
