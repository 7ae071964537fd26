//! Exports of Jaeger: `{data: [{traceID, spans, processes}]}` from its interface, a single trace, and single spans from
//! its storage. Times are microseconds.

use std::borrow::Cow;

use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::lines::Lines;
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::spans::traces::Traces;
use crate::shape::spans::{Attributes, Event, Span, objects};
use rulestep_base::session::Damage;
use rulestep_base::source::quoted;

pub(crate) const FORMAT: Format = Format {
    name: "jaeger",
    title: "the same spans as Jaeger exports them",
    source: "the JSON of a trace's page, or `GET /api/traces/ID`",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader,
};

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| traces(value).iter().any(is_trace) || is_trace(value) || is_span(value))
}

fn traces<'a>(value: &Members<'a>) -> Vec<Members<'a>> {
    objects(value.get("data"))
}

fn is_trace(value: &Members<'_>) -> bool {
    let spans = value.get("spans").filter(|spans| spans.kind() == Kind::List);
    let first = spans.and_then(Node::first_item).and_then(Node::members);
    first.is_some_and(|first| is_span(&first)) || spans.is_some() && value.has("traceID")
}

fn is_span(value: &Members<'_>) -> bool {
    value.has("spanID") && value.has("operationName")
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(Jaeger { setting: setting.clone(), traces: Traces::new(setting) })
}

struct Jaeger {
    setting: Setting,
    traces: Traces,
}

impl Reader for Jaeger {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        let mut lines = Lines::new(unit.node, unit.line);
        if let Some(traces) = members.get("data").and_then(Node::items) {
            out.diagnostics(unit.diagnostics.iter().cloned());
            for node in traces {
                match node.members().filter(|trace| trace.has("spans")) {
                    Some(trace) => self.trace(&trace, &mut lines, out),
                    None => self.left_out(node, "a value that is not a trace", &mut lines, out),
                }
            }
        } else if members.has("spans") {
            out.diagnostics(unit.diagnostics.iter().cloned());
            self.trace(members, &mut lines, out);
        } else if is_span(members) {
            out.diagnostics(unit.diagnostics.iter().cloned());
            self.span(unit.node, "", &mut lines, out);
        } else {
            out.diagnostics(self.setting.foreign(unit, "neither a trace nor a span"));
        }
        self.traces.settle(out);
    }

    fn end(&mut self, out: &mut Out) {
        self.traces.end(out);
    }
}

impl Jaeger {
    fn trace(&mut self, trace: &Members<'_>, lines: &mut Lines<'_>, out: &mut Out) {
        let id = trace.get("traceID").and_then(Node::text).unwrap_or_default();
        let Some(spans) = trace.get("spans").and_then(Node::items) else {
            let line = trace.first().map_or(1, |first| lines.of(first));
            let message = "the `spans` of a trace are not a list; it is left out";
            return out.diagnostic(self.setting.damaged_line(line, Damage::calls(message)));
        };
        spans.into_iter().for_each(|span| self.span(span, &id, lines, out));
    }

    fn span(&mut self, node: Node<'_>, trace: &str, lines: &mut Lines<'_>, out: &mut Out) {
        let line = lines.of(node);
        let Some(members) = node.members().filter(|members| members.has("spanID") || members.has("tags"))
        else {
            return self.left_out(node, "a value that is not a span", lines, out);
        };
        let span = span(&members, trace, line);
        let odd = ["startTime", "duration"]
            .into_iter()
            .find(|key| members.get(key).is_some_and(|node| micros(node).is_none()));
        let trace = span.trace.clone();
        self.traces.add(span);
        if let Some(key) = odd {
            let shown = members.get(key).map_or("", Node::json);
            let message = format!("`{key}` of a span is not a number of microseconds: {}", quoted(shown));
            self.traces.tell(&trace, line, self.setting.damaged_line(line, Damage::calls(message)));
        }
    }

    fn left_out(&self, node: Node<'_>, what: &str, lines: &mut Lines<'_>, out: &mut Out) {
        out.diagnostic(self.setting.stray(node, lines.of(node), what));
    }
}

fn span(members: &Members<'_>, trace: &str, line: u32) -> Span {
    let text = |key| members.get(key).and_then(Node::text);
    let start = members.get("startTime").and_then(micros).filter(|start| *start != 0);
    let end = members.get("duration").and_then(micros).and_then(|long| start?.checked_add(long));
    let list = objects(members.get("tags"));
    let failed = [("error", "TRUE"), ("otel.status_code", "ERROR"), ("status.code", "2")];
    let logs = objects(members.get("logs"));
    let events = logs.iter().map(|log| {
        let fields = objects(log.get("fields"));
        let name = ["event", "event.name"].iter().find_map(|key| tag(&fields, key));
        Event { name: name.unwrap_or_default().into(), attributes: tags(log.get("fields"), None) }
    });
    Span {
        trace: text("traceID").as_deref().unwrap_or(trace).into(),
        id: text("spanID").unwrap_or_default().as_ref().into(),
        parent: parent(members),
        name: text("operationName").unwrap_or_default().as_ref().into(),
        start,
        end,
        failed: failed
            .iter()
            .any(|(key, value)| tag(&list, key).is_some_and(|given| given.eq_ignore_ascii_case(value))),
        message: tag(&list, "otel.status_description").map(Into::into),
        line,
        attributes: tags(members.get("tags"), members.get("tag")),
        events: events.collect(),
    }
}

/// The value of a tag, as text.
fn tag(tags: &[Members<'_>], key: &str) -> Option<String> {
    let named = |tag: &&Members<'_>| tag.get("key").and_then(Node::text).is_some_and(|name| name == key);
    let value = tags.iter().find(named)?.get("value")?;
    Some(value.tried().text().map_or_else(|| value.json().to_owned(), Cow::into_owned))
}

/// The span that this one is a child of: as a reference, or as older exports have it.
fn parent(members: &Members<'_>) -> Option<Box<str>> {
    let references = objects(members.get("references"));
    let is_child = |reference: &&Members<'_>| {
        reference.get("refType").and_then(Node::text).is_some_and(|kind| kind == "CHILD_OF")
    };
    let around = references.iter().find(is_child).or(references.first());
    let id = around.and_then(|reference| reference.get("spanID")?.text());
    let id = id.or_else(|| members.get("parentSpanID")?.text()).filter(|id| !id.is_empty())?;
    Some(id.as_ref().into())
}

/// A list of `{key, type, value}`; and an object of plain values, which some storages keep in addition.
fn tags(list: Option<Node<'_>>, plain: Option<Node<'_>>) -> Attributes {
    let mut attributes = Attributes::default();
    for tag in objects(list) {
        if let (Some(key), Some(value)) = (tag.get("key").and_then(Node::text), tag.get("value")) {
            attributes.add(&key, value.json());
        }
    }
    for (key, value) in plain.and_then(Node::members).iter().flat_map(Members::iter) {
        attributes.add(key, value.json());
    }
    attributes
}

/// Microseconds as nanoseconds.
fn micros(node: Node<'_>) -> Option<i64> {
    node.id()?.parse::<i64>().ok()?.checked_mul(1000)
}
