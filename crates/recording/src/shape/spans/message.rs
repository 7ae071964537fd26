//! The input and the answer of a model, wherever the attributes and events of its span have them.
//!
//! Thoughts of the model are not kept.

use std::cell::OnceCell;
use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::attributes::{Attributes, structure};
use super::{Span, digest};
use crate::input::shallow::Node;
use crate::shape::items::{self, Item};
use crate::shape::status::{Status, status};
use crate::shape::{langchain, suspicion};
use rulestep_base::session::Body;

mod answers;
mod choices;
mod indexed;
mod repeated;

pub use answers::outputs;
pub(super) use indexed::indexed;
pub use repeated::Repeated;

/// A message.
#[derive(Default)]
pub struct SpanMessage {
    /// Its role; empty if it is not recorded.
    pub role: String,
    /// Its content.
    pub content: Body,
    /// The calls in it.
    pub calls: Vec<SpanCall>,
    /// The results in it.
    pub answers: Vec<SpanAnswer>,
    /// Calls in it that name no tool.
    pub unread: usize,
    /// Why the model stopped, if the message gives the reason itself, as a whole response or choice does.
    pub reason: Option<String>,
    digest: OnceCell<u64>,
}

/// A call, as the model's message has it.
pub struct SpanCall {
    /// Its id.
    pub id: Option<Box<str>>,
    /// The tool's name.
    pub tool: Box<str>,
    /// Its arguments.
    pub arguments: Body,
}

/// A result, as a message to the model has it.
#[derive(Clone)]
pub struct SpanAnswer {
    /// Id of its call.
    pub id: Option<Box<str>>,
    /// The result of the call.
    pub content: Body,
    /// How the call ended, by the message itself.
    pub status: Status,
}

impl SpanMessage {
    /// Hash of its role and content.
    pub fn digest(&self) -> u64 {
        *self.digest.get_or_init(|| digest((self.role.as_str(), self.content.shown())))
    }

    fn propose(&mut self, call: &Value) {
        match proposed(call) {
            Some(call) => self.calls.push(call),
            None => self.unread += 1,
        }
    }

    /// Takes an item of the Responses API, which is a call, a result or both.
    fn item(&mut self, item: &Value) {
        let json = item.to_string();
        let members = Node::parse(&json).ok().and_then(Node::members).unwrap_or_default();
        let (call, answer) = match items::item(&members) {
            Some(Item::Call(call) | Item::Asked(call)) => (Some(call), None),
            Some(Item::Ran(call, answer)) => (Some(call), Some(answer)),
            Some(Item::Answer(answer)) => (None, Some(answer)),
            Some(Item::Came(answer)) => {
                let call = self.calls.iter().rev().find(|call| &*call.tool == items::TOOL_SEARCH);
                (None, Some(items::Answer { id: call.and_then(|call| call.id.clone()), ..answer }))
            }
            Some(Item::Said { .. } | Item::Response(_) | Item::Approved | Item::Aside) => (None, None),
            None => return self.unread += 1,
        };
        self.calls.extend(call.map(|items::Call { id, tool, arguments, .. }| SpanCall {
            id,
            tool,
            arguments,
        }));
        self.answers.extend(answer.map(|items::Answer { id, content, error, refused }| {
            let status = match (refused, error) {
                (Some(how), _) => Status::Refused(how),
                (None, Some(true)) => Status::Failed,
                (None, Some(false)) => Status::Succeeded,
                (None, None) => Status::Unknown,
            };
            SpanAnswer { id, content, status }
        }));
    }
}

/// Whether something is an acting item of the Responses API, in place of a message or a part of one.
fn acts(item: &Value) -> bool {
    let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
    match kind {
        "message" | "reasoning" | "tool_call" => false,
        // Others have one of the same type, but do not name its call so.
        "function_call" => item.get("call_id").is_some(),
        kind => items::is_item(kind),
    }
}

/// The input of the model.
pub fn inputs<'a>(span: &'a Span, repeated: &mut Repeated<'a>) -> Vec<Rc<SpanMessage>> {
    let attributes = &span.attributes;
    let system = attributes.get("gen_ai.system_instructions").map(system);
    let listed = attributes.get("gen_ai.input.messages");
    let mut said = listed.map_or_else(Vec::new, |json| repeated.list(json, "user"));
    let request = || attributes.tree("gcp.vertex.agent.llm_request");
    let sources: [&dyn Fn() -> Vec<SpanMessage>; 9] = [
        &|| list(indexed(attributes, "gen_ai.prompt."), "user"),
        &|| list(indexed(attributes, "llm.input_messages."), "user"),
        &|| request().map_or_else(Vec::new, |request| of_request(&request)),
        &|| of_events(span),
        &|| list(attributes.tree("ai.prompt.messages"), "user"),
        &|| list(logged(attributes.tree("gen_ai.prompt")), "user"),
        &|| observed(attributes, "langfuse.observation.input", "user"),
        &|| plain(attributes, &["gen_ai.prompt", "ai.prompt"], "user"),
        &|| list(attributes.tree("input.value").and_then(|value| sent(&value).cloned()), "user"),
    ];
    for source in sources {
        if said.is_empty() {
            said = source().into_iter().map(Rc::new).collect();
        }
    }
    if said.is_empty() && attributes.tree("input.value").is_none() {
        said = plain(attributes, &["input.value"], "user").into_iter().map(Rc::new).collect();
    }
    said.splice(0..0, system.map(Rc::new));
    said
}

/// The reasons for which the model stopped: those of the messages, and those that the span itself has.
pub fn reasons(span: &Span, messages: &[SpanMessage]) -> Vec<String> {
    let attributes = &span.attributes;
    let listed = attributes.tree("gen_ai.response.finish_reasons");
    let listed = listed.iter().filter_map(Value::as_array).flatten().filter_map(Value::as_str);
    let told =
        ["gen_ai.response.finish_reasons", "gen_ai.response.finish_reason", "ai.response.finishReason"];
    let told = told.iter().filter_map(|name| attributes.text(name)).map(String::from);
    messages
        .iter()
        .filter_map(|said| said.reason.clone())
        .chain(listed.map(str::to_owned))
        .chain(told)
        .collect()
}

/// The input of a model, bare or within an object as LangSmith exports it.
fn logged(value: Option<Value>) -> Option<Value> {
    let value = value?;
    let wraps = value.is_object() && value.get("role").is_none();
    if wraps { langchain::sent(&value).or_else(|| sent(&value).cloned()) } else { Some(value) }
}

/// The messages or items of a request.
fn sent(request: &Value) -> Option<&Value> {
    any(request, &["messages", "input"]).filter(|sent| sent.is_array())
}

/// The messages of a list, or the one message that an object is.
fn list(value: Option<Value>, role: &str) -> Vec<SpanMessage> {
    match value {
        Some(Value::Array(messages)) => messages.iter().filter_map(|message| said(message, role)).collect(),
        Some(message @ Value::Object(_)) => said(&message, role).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Messages, or the text that represents one.
fn observed(attributes: &Attributes, name: &str, role: &str) -> Vec<SpanMessage> {
    match attributes.tree(name) {
        Some(value) => list(sent(&value).cloned().or(Some(value)), role),
        None => plain(attributes, &[name], role),
    }
}

fn plain(attributes: &Attributes, names: &[&str], role: &str) -> Vec<SpanMessage> {
    let said = attributes.any(names).map(Body::json);
    let said = said.map(|content| SpanMessage { role: role.to_owned(), content, ..SpanMessage::default() });
    said.into_iter().collect()
}

fn system(json: &str) -> SpanMessage {
    match structure(json) {
        Some(Value::Array(parts)) => said(&json!({ "role": "system", "parts": parts }), "system"),
        _ => None,
    }
    .unwrap_or_else(|| SpanMessage {
        role: "system".to_owned(),
        content: Body::json(json),
        ..SpanMessage::default()
    })
}

/// A request of Google's agent kit.
fn of_request(request: &Value) -> Vec<SpanMessage> {
    let system = request.get("config").and_then(|config| config.get("system_instruction"));
    let system = system.and_then(|system| match system {
        Value::Object(_) => said(system, "system"),
        system => said(&json!({ "content": system }), "system"),
    });
    let mut all: Vec<SpanMessage> = system.into_iter().collect();
    all.extend(list(request.get("contents").cloned(), "user"));
    all
}

/// The messages to the model that are events of the span.
fn of_events(span: &Span) -> Vec<SpanMessage> {
    let mut all = Vec::new();
    for event in &span.events {
        let attributes = &event.attributes;
        let role = event.name.strip_prefix("gen_ai.").and_then(|name| name.strip_suffix(".message"));
        match (&*event.name, role) {
            (_, Some(role)) => all.extend(said(&of_event(attributes), role)),
            ("gen_ai.client.inference.operation.details" | "gen_ai.content.prompt", _) => {
                all.extend(attributes.get("gen_ai.system_instructions").map(system));
                let messages = ["gen_ai.input.messages", "gen_ai.prompt"];
                all.extend(messages.iter().flat_map(|name| list(attributes.tree(name), "user")));
            }
            _ => {}
        }
    }
    all
}

/// An event's message: in its body, or in attributes, which may be JSON as text.
fn of_event(attributes: &Attributes) -> Value {
    if let Some(body @ Value::Object(_)) = attributes.tree("body") {
        return body;
    }
    if let Some(whole) = whole(attributes) {
        return whole;
    }
    let mut message = Map::new();
    for (name, json) in attributes.iter() {
        let name = name.strip_prefix("gen_ai.event.").unwrap_or(name);
        let text = || serde_json::from_str::<String>(json).ok().map(Value::String);
        let value = match structure(json) {
            // It is kept as it is: only lists have parts.
            Some(content @ Value::Object(_)) if name == "content" => text().or(Some(content)),
            read => read.or_else(text),
        };
        if let Some(value) = value {
            message.insert(name.to_owned(), value);
        }
    }
    // In an answer the message may be the bare content.
    if let Some(content @ (Value::Array(_) | Value::String(_))) = message.remove("message") {
        message.insert("content".to_owned(), content);
    } else if let Some(inner) = attributes.tree("message") {
        message.insert("message".to_owned(), inner);
    }
    Value::Object(message)
}

/// The whole message in place of its content. An object that names the call it answers is only content.
fn whole(attributes: &Attributes) -> Option<Value> {
    if let Some(whole @ Value::Object(_)) = attributes.tree("gen_ai.event.content") {
        return Some(whole);
    }
    let content = attributes.tree("content").filter(Value::is_object)?;
    let has = |keys: &[&str]| any(&content, keys).is_some();
    let named = attributes.any(&["id", "tool_call_id", "tool_calls"]).is_some();
    let role = attributes.text("role");
    let same = role.is_none() || role.as_deref() == content.get("role").and_then(Value::as_str);
    let message = has(&["role", "parts", "content", "contents", "message", "tool_calls", "toolCalls"]);
    (!named && same && message).then_some(content)
}

/// One message, in any of the forms that recordings use.
fn said(message: &Value, role: &str) -> Option<SpanMessage> {
    if let Value::String(text) = message {
        return Some(SpanMessage {
            role: role.to_owned(),
            content: Body::text(text.as_str()),
            ..SpanMessage::default()
        });
    }
    let reason = |message: &Value| {
        let reason = any(message, &["finish_reason", "finishReason"])?;
        Some(reason.as_str().unwrap_or_default().to_owned())
    };
    if acts(message) && message.get("role").is_none() {
        let mut made = SpanMessage::default();
        made.item(message);
        made.role = if made.calls.is_empty() { "tool".to_owned() } else { "assistant".to_owned() };
        return Some(made);
    }
    let own = reason(message);
    let message = message.get("message").filter(|inner| inner.is_object()).unwrap_or(message);
    message.as_object()?;
    let role = message.get("role").and_then(Value::as_str).unwrap_or(role);
    let role = if matches!(role, "model" | "ai") { "assistant" } else { role };
    let mut made = SpanMessage { role: role.to_owned(), reason: own, ..SpanMessage::default() };
    let content = any(message, &["parts", "content", "contents", "blocks"]);
    match content {
        Some(Value::Array(parts)) => {
            let mut kept = Vec::new();
            parts.iter().for_each(|item| part(item, &mut made, &mut kept));
            made.content = match kept.as_slice() {
                [] => Body::MISSING,
                [only] if only.get("type").is_some_and(|kind| kind == "text") => {
                    only.get("text").map_or(Body::MISSING, Body::from)
                }
                _ => Body::from(Value::Array(kept)),
            };
        }
        Some(content) => made.content = Body::from(content),
        None => {}
    }
    for key in ["tool_calls", "toolCalls"] {
        let calls = message.get(key);
        let unpacked = calls.and_then(Value::as_str).and_then(|text| structure(&json!(text).to_string()));
        if let Some(Value::Array(calls)) = unpacked.as_ref().or(calls) {
            calls.iter().for_each(|call| made.propose(call));
        }
    }
    if let Some(call @ Value::Object(_)) = message.get("function_call").filter(|_| made.calls.is_empty()) {
        made.propose(call);
    }
    let members = message.as_object().into_iter().flatten();
    made.unread += members.filter(|(name, value)| suspicion::is_unread(name, value, &CALLS)).count();
    if matches!(role, "tool" | "function") && made.answers.is_empty() {
        let id = any(message, &["call_id", "tool_call_id", "toolCallId", "id"]).and_then(id);
        let content = std::mem::take(&mut made.content);
        made.answers.push(SpanAnswer { id, content, status: ended(message) });
    }
    Some(made)
}

/// Members of a message that hold calls.
const CALLS: [&str; 3] = ["tool_calls", "toolCalls", "function_call"];

/// One part of a message's content.
fn part(item: &Value, made: &mut SpanMessage, kept: &mut Vec<Value>) {
    let item = item.get("message_content").unwrap_or(item);
    let kind = any(item, &["type", "part_kind", "block_type"]).and_then(Value::as_str).unwrap_or_default();
    let thought = item.get("thought").is_some_and(|thought| thought == true);
    let inner = |keys: &[&str]| any(item, keys);
    if thought || matches!(kind, "reasoning" | "thinking" | "redacted_thinking") {
        return;
    }
    if let Some(call) = inner(&["function_call", "functionCall", "toolUse"]) {
        return made.propose(call);
    }
    if let Some(answer) = inner(&["function_response", "functionResponse", "toolResult"]) {
        return made.answers.push(answered(answer));
    }
    if acts(item) {
        return made.item(item);
    }
    match kind {
        "tool_call" | "tool-call" | "tool_use" | "function_call" | "server_tool_call" | "server_tool_use"
        | "mcp_tool_use" | "builtin-tool-call" => {
            made.propose(item);
        }
        "tool_call_response" | "tool-result" | "tool_result" | "server_tool_call_response" => {
            made.answers.push(answered(item));
        }
        "text" | "input_text" | "output_text" | "" => match inner(&["text", "content"]) {
            Some(text) => kept.push(json!({ "type": "text", "text": text })),
            None if item.is_string() => kept.push(json!({ "type": "text", "text": item })),
            None => kept.push(item.clone()),
        },
        _ => kept.push(item.clone()),
    }
}

fn answered(answer: &Value) -> SpanAnswer {
    const IDS: [&str; 6] = ["call_id", "id", "tool_call_id", "toolCallId", "toolUseId", "tool_use_id"];
    let content = any(answer, &["response", "result", "output", "content"]);
    let content = content.map_or(Body::MISSING, Body::from);
    SpanAnswer { id: any(answer, &IDS).and_then(id), content, status: ended(answer) }
}

/// How a call ended, by the mark of its result.
fn ended(answer: &Value) -> Status {
    let marked = any(answer, &["is_error", "isError"]).is_some_and(|error| *error == true);
    let word = || answer.get("status").and_then(Value::as_str).map(status);
    if marked { Status::Failed } else { word().unwrap_or(Status::Unknown) }
}

fn proposed(call: &Value) -> Option<SpanCall> {
    const IDS: [&str; 5] = ["call_id", "id", "toolCallId", "toolUseId", "tool_call_id"];
    let call = call.get("tool_call").unwrap_or(call);
    let inner = call.get("function").filter(|inner| inner.is_object()).unwrap_or(call);
    let tool =
        any(inner, &["name", "toolName", "tool_name"]).or_else(|| call.get("function"))?.as_str()?.into();
    let arguments = any(inner, &["arguments", "args", "input", "tool_kwargs"]);
    let arguments = arguments.map_or(Body::MISSING, Body::from);
    Some(SpanCall { id: any(call, &IDS).and_then(id), tool, arguments })
}

fn id(value: &Value) -> Option<Box<str>> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.as_str().into()),
        Value::Number(number) => Some(number.to_string().into()),
        _ => None,
    }
}

/// The first of these keys that has a value.
pub(super) fn any<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().find_map(|key| value.get(*key).filter(|found| !found.is_null()))
}
