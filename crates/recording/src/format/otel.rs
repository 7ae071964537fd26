//! OpenTelemetry spans: requests of its protocol in JSON, a file or a line each, as collectors and Tempo write them;
//! and single spans, one per line, with a plain map of attributes.
//!
//! [`super::spans`] assembles the spans.

use std::borrow::Cow;

use crate::contract::out::Out;
use crate::contract::setting::Setting;
use crate::contract::{Format, Reader, Sample, Unit};
use crate::input::lines::Lines;
use crate::input::shallow::{Kind, Members, Node};
use crate::shape::spans::record::SpanRecord;
use crate::shape::spans::traces::{Apart, Traces};
use crate::shape::spans::{Attributes, Event, Span, objects};
use rulestep_base::session::Damage;
use rulestep_base::source::quoted;

pub(crate) const FORMAT: Format = Format {
    name: "otel",
    title: "OpenTelemetry spans of models and agents (GenAI conventions, OpenInference, OpenLLMetry): OTLP in JSON, whole or a span a line; Zipkin, Langfuse and Phoenix have them too",
    source: "the `file` exporter of the OpenTelemetry Collector, or the JSON export of your trace viewer",
    absent_without_results: false,
    marks_failures: true,
    recognise,
    reader,
};

/// Keys of a request's resources, of their scopes, and of the contents of those.
const RESOURCES: [&str; 3] = ["resourceSpans", "resource_spans", "batches"];
const SCOPES: [&str; 5] =
    ["scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans", "ilSpans"];
const LOGS: [&str; 2] = ["resourceLogs", "resource_logs"];
const LOG_SCOPES: [&str; 2] = ["scopeLogs", "scope_logs"];
const RECORDS: [&str; 2] = ["logRecords", "log_records"];
/// Keys of a span; those of Zipkin, and of what JavaScript prints, among them.
const TRACE: [&str; 3] = ["traceId", "trace_id", "traceID"];
const SPAN: [&str; 4] = ["spanId", "span_id", "spanID", "id"];
const PARENT: [&str; 5] = ["parentSpanId", "parent_span_id", "parentId", "parent_id", "parentSpanID"];
const START: [&str; 5] =
    ["startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime", "timestamp"];
const ATTRIBUTES: [&str; 2] = ["attributes", "tags"];
const END: [&str; 4] = ["endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime"];

fn recognise(sample: &Sample<'_>) -> bool {
    sample.objects().any(|value| request(value).is_some() || is_span(value))
}

/// The request that a value is or wraps.
fn request<'a>(value: &Members<'a>) -> Option<Members<'a>> {
    let is_request = |value: &Members<'a>| {
        let resources = value.any(&RESOURCES).filter(|list| list.kind() == Kind::List);
        let first = resources.and_then(Node::first_item).and_then(Node::members);
        let scoped = first.is_some_and(|first| first.any(&SCOPES).is_some());
        let empty = resources.is_some_and(|list| list.first_item().is_none());
        scoped || empty && !value.has("messages") || value.any(&LOGS).is_some()
    };
    let inner = value.any(&["trace", "result", "data", "body"]).and_then(Node::members);
    if is_request(value) { Some(value.clone()) } else { inner.filter(is_request) }
}

/// Whether a value is a single span.
fn is_span(value: &Members<'_>) -> bool {
    let context = value.get("context").and_then(Node::members);
    let ids = context.as_ref().unwrap_or(value);
    let attributes =
        value.any(&ATTRIBUTES).is_some_and(|given| matches!(given.kind(), Kind::Object | Kind::List));
    let timed = value.any(&START).is_some();
    // An `id` without these may be that of anything.
    let named = ids.any(&["spanId", "span_id", "spanID"]).is_some();
    ids.any(&TRACE).is_some()
        && value.has("name")
        && (named && (attributes || timed) || ids.has("id") && attributes && timed && value.has("duration"))
}

fn reader(setting: &Setting) -> Box<dyn Reader> {
    Box::new(OTel {
        setting: setting.clone(),
        traces: Traces::new(setting),
        events: Vec::new(),
        held: 0,
        unused: None,
        listed: None,
    })
}

struct OTel {
    setting: Setting,
    traces: Traces,
    /// Events recorded separately from their spans.
    events: Vec<Apart>,
    /// Their size in bytes.
    held: usize,
    /// Log records that say nothing of a span: line and name of the first, and how many.
    unused: Option<(u32, Box<str>, u32)>,
    /// Whether attributes are a list: those of one file all are, or none.
    listed: Option<bool>,
}

/// Bytes of events that are held until their spans have come.
const MOST_EVENTS: usize = 4 << 20;

impl Reader for OTel {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        out.diagnostics(unit.diagnostics.iter().cloned());
        let mut lines = Lines::new(unit.node, unit.line);
        if let Some(request) = request(&unit.members) {
            for node in request.any(&RESOURCES).and_then(Node::items).unwrap_or_default() {
                self.resource(node, &mut lines, out);
            }
            for node in request.any(&LOGS).and_then(Node::items).unwrap_or_default() {
                self.logs(node, &mut lines);
            }
        } else if is_span(&unit.members) {
            self.span(unit.node, &mut lines, out);
        } else if let Some(items) = unit.node.tried().items().filter(|items| !items.is_empty()) {
            items.into_iter().for_each(|item| self.span(item, &mut lines, out));
        } else {
            out.diagnostics(self.setting.foreign(unit, "neither spans nor a span"));
        }
        if self.held > MOST_EVENTS {
            self.attach();
        }
        self.traces.settle(out);
    }

    fn end(&mut self, out: &mut Out) {
        self.attach();
        if let Some((line, name, count)) = self.unused.take() {
            let message = format!(
                "log records that say nothing of a span are left out: {count}, the first is {}",
                quoted(&name)
            );
            out.diagnostic(self.setting.passed_by(line, message));
        }
        self.traces.end(out);
    }
}

impl OTel {
    fn resource(&mut self, node: Node<'_>, lines: &mut Lines<'_>, out: &mut Out) {
        let scopes = node.members().and_then(|members| members.any(&SCOPES)).and_then(Node::items);
        let Some(scopes) = scopes else { return self.left_out(node, "a resource without spans", lines, out) };
        for scope in scopes {
            let spans = scope.members().and_then(|members| members.get("spans"));
            match spans.map(|spans| spans.items()) {
                Some(Some(spans)) => spans.into_iter().for_each(|span| self.span(span, lines, out)),
                Some(None) => self.left_out(scope, "a scope whose `spans` are no list", lines, out),
                None => {}
            }
        }
    }

    fn span(&mut self, node: Node<'_>, lines: &mut Lines<'_>, out: &mut Out) {
        let line = lines.of(node);
        let members = node.members().unwrap_or_default();
        match span(&members, line) {
            Some((span, mut odd)) => {
                let listed = members.any(&ATTRIBUTES).map(|given| given.kind() == Kind::List);
                if listed.is_some_and(|listed| *self.listed.get_or_insert(listed) != listed) {
                    odd.push(Damage::calls(
                        "the attributes of one span are a list, those of another an object; one of them is damaged",
                    ));
                }
                let odd: Vec<_> = odd.into_iter().map(|odd| self.setting.damaged_line(line, odd)).collect();
                let trace = span.trace.clone();
                self.traces.add(span);
                odd.into_iter().for_each(|odd| self.traces.tell(&trace, line, odd));
            }
            None => self.left_out(node, "a value that is not a span", lines, out),
        }
    }

    fn logs(&mut self, node: Node<'_>, lines: &mut Lines<'_>) {
        for scope in list(node, &LOG_SCOPES) {
            for node in list(scope, &RECORDS) {
                let line = lines.of(node);
                let record = node.members().unwrap_or_default();
                let id = |keys: &[&str]| record.any(keys).and_then(Node::text).unwrap_or_default();
                let mut attributes = attributes(record.get("attributes"));
                if let Some(body) = record.get("body") {
                    attributes.add("body", any_value(body, 0));
                }
                let name = record.any(&["eventName", "event_name"]).and_then(Node::text);
                let name =
                    name.or_else(|| attributes.text("event.name").map(|name| name.into_owned().into()));
                let event = Event { name: name.unwrap_or_default().as_ref().into(), attributes };
                if event.name.starts_with("gen_ai.") {
                    self.held += event.attributes.size() + 128;
                    self.events.push(Apart {
                        span: (id(&TRACE).as_ref().into(), id(&SPAN).as_ref().into()),
                        event,
                        line,
                    });
                } else {
                    self.pass_by(line, event.name);
                }
            }
        }
    }

    /// Attaches the events to their spans.
    fn attach(&mut self) {
        self.held = 0;
        for record in self.traces.attach(std::mem::take(&mut self.events)) {
            self.pass_by(record.line, record.event.name);
        }
    }

    fn pass_by(&mut self, line: u32, name: Box<str>) {
        self.unused.get_or_insert((line, name, 0)).2 += 1;
    }

    fn left_out(&self, node: Node<'_>, what: &str, lines: &mut Lines<'_>, out: &mut Out) {
        out.diagnostic(self.setting.stray(node, lines.of(node), what));
    }
}

/// The items of a member that is a list.
fn list<'a>(node: Node<'a>, keys: &[&str]) -> Vec<Node<'a>> {
    node.members().and_then(|members| members.any(keys)?.items()).unwrap_or_default()
}

/// A span, and its oddities. `None` if it has no attributes and no ids, and so is not a span.
fn span(members: &Members<'_>, line: u32) -> Option<(Span, Vec<Damage>)> {
    let context = members.get("context").and_then(Node::members);
    let ids = context.as_ref().unwrap_or(members);
    let id = |from: &Members<'_>, keys: &[&str]| {
        let id = from.any(keys).and_then(Node::id).unwrap_or_default();
        Box::<str>::from(id.trim_start_matches("0x"))
    };
    if ids.any(&SPAN).is_none() && members.any(&ATTRIBUTES).is_none() {
        return None;
    }
    let mut record = SpanRecord::new(members, "a span");
    let (start, end) = (record.time(&START), record.time(&END));
    let long = || members.get("duration")?.json().parse::<i64>().ok()?.checked_mul(1000);
    let end = end.or_else(|| start?.checked_add(long()?));
    let (failed, message) = status(members);
    let events = objects(members.get("events"));
    let events = events.iter().map(|event| Event {
        name: event.get("name").and_then(Node::text).unwrap_or_default().as_ref().into(),
        attributes: attributes(event.get("attributes")),
    });
    let events = events.collect();
    let mut attributes = attributes(members.any(&ATTRIBUTES));
    // Phoenix exports the kind of a span beside its attributes.
    if let Some(kind) = members.get("span_kind").filter(|kind| kind.is_text()) {
        let mut beside = Attributes::default();
        beside.add("openinference.span.kind", kind.json());
        attributes.fill(beside);
    }
    let span = Span {
        trace: id(ids, &TRACE),
        id: id(ids, &SPAN),
        parent: Some(id(members, &PARENT)).filter(|parent| parent.bytes().any(|byte| byte != b'0')),
        name: members.get("name").and_then(Node::text).unwrap_or_default().as_ref().into(),
        start,
        end,
        failed,
        message,
        line,
        attributes,
        events,
    };
    if members.get("attributes").is_some_and(|given| !matches!(given.kind(), Kind::List | Kind::Object)) {
        record.odd.push(Damage::calls(
            "the attributes of a span are neither a list nor an object; they are left out",
        ));
    }
    Some((span, record.odd))
}

/// Whether a status is an error, and its message: `{code, message}`, `{status_code, description}`, or a word.
fn status(members: &Members<'_>) -> (bool, Option<Box<str>>) {
    let status = members.get("status");
    let inner = status.and_then(Node::members);
    let code = inner.as_ref().and_then(|inner| inner.any(&["code", "status_code", "statusCode"]));
    let code = code.or(status).or_else(|| members.any(&["status_code", "statusCode"]));
    let word = code.and_then(Node::id).unwrap_or_default().to_ascii_uppercase();
    let failed =
        word == "2" || word.trim_start_matches("STATUS_CODE_") == "ERROR" || word == "STATUSCODE.ERROR";
    let message = inner.and_then(|inner| inner.any(&["message", "description"])?.text());
    let message = message.or_else(|| members.any(&["status_message", "statusMessage"])?.text());
    (failed, message.filter(|message| !message.is_empty()).map(|message| message.as_ref().into()))
}

/// Attributes as a list of `{key, value}`, or as an object of plain values.
fn attributes(node: Option<Node<'_>>) -> Attributes {
    let mut attributes = Attributes::default();
    let Some(node) = node else { return attributes };
    let items = if node.kind() == Kind::List { objects(Some(node)) } else { Vec::new() };
    for item in items {
        let name = item.get("key").and_then(Node::text);
        if let (Some(name), Some(value)) = (name, item.get("value")) {
            // A list has its values as the protocol writes them.
            let _ = value.members();
            attributes.add(&name, any_value(value, 0));
        }
    }
    if let Some(members) = node.tried().members() {
        for (name, value) in members.iter() {
            attributes.add(name, any_value(value, 0));
        }
    }
    attributes
}

/// Deepest nesting of values that is unpacked; deeper ones stay as they are written.
const DEEPEST: usize = 64;

/// Keys under which the protocol writes a value, by its type.
const VALUES: [&str; 14] = [
    "boolValue",
    "bool_value",
    "stringValue",
    "string_value",
    "bytesValue",
    "bytes_value",
    "intValue",
    "int_value",
    "doubleValue",
    "double_value",
    "arrayValue",
    "array_value",
    "kvlistValue",
    "kvlist_value",
];

/// JSON text of a value as the protocol writes it, `{stringValue: …}`; a plain value is itself.
fn any_value(node: Node<'_>, depth: usize) -> String {
    let plain = || node.json().to_owned();
    let object = node.kind() == Kind::Object && depth < DEEPEST;
    let Some(members) = Some(node).filter(|_| object).and_then(Node::members) else { return plain() };
    // Unknown members may be beside the value; a plain value may be an object as well.
    let Some((key, value)) = members.iter().find(|(key, _)| VALUES.contains(key)) else { return plain() };
    let list = |key| {
        let inner = value.members().and_then(|inner| inner.get(key));
        inner.and_then(Node::items).unwrap_or_default()
    };
    match key {
        "boolValue" | "bool_value" => value.json().to_owned(),
        "stringValue" | "string_value" | "bytesValue" | "bytes_value" => {
            value.is_text();
            value.json().to_owned()
        }
        "intValue" | "int_value" | "doubleValue" | "double_value" => {
            let digits = value.id().unwrap_or(Cow::Borrowed("null"));
            let number = digits.parse::<serde_json::Number>().is_ok();
            if number { digits.into_owned() } else { value.json().to_owned() }
        }
        "arrayValue" | "array_value" => {
            let items: Vec<_> = list("values").into_iter().map(|item| any_value(item, depth + 1)).collect();
            format!("[{}]", items.join(","))
        }
        "kvlistValue" | "kvlist_value" => {
            let members = list("values").into_iter().filter_map(|item| {
                let item = item.members()?;
                let value = item.get("value")?;
                let _ = value.members();
                let value = any_value(value, depth + 1);
                let key = item.get("key")?;
                key.text()?;
                Some(format!("{}:{value}", key.json()))
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        _ => plain(),
    }
}
