//! The answers of a model, wherever the attributes and events of its span have them.
//!
//! Conventions keep them at many places, and several may be present: the first that has a call counts, else the first
//! with any content. A place whose calls cannot be read is always reported.

use serde_json::Value;

use super::{SpanMessage, choices, indexed, list, of_event, plain};
use crate::shape::answer;
use crate::shape::answer::Answer;
use crate::shape::spans::Span;
use crate::shape::spans::attributes::{Attributes, structure};
use crate::shape::tags;
use rulestep_base::session::Body;

/// The answers of a model.
#[derive(Default)]
pub struct Answers {
    /// In recorded order.
    pub messages: Vec<SpanMessage>,
    /// Whether each message is a choice of its own. Otherwise they are parts of one response.
    pub are_choices: bool,
    /// No call could be read, and something looks like one.
    pub may_call: bool,
}

/// Attributes with an answer whose texts have the same content.
const PLAIN: [&str; 3] = ["langfuse.observation.output", "gen_ai.completion", "output.value"];
/// Attributes with an answer, in the order in which they are tried.
const TREES: [&str; 4] =
    ["gen_ai.completion", "langfuse.observation.output", "output.value", "gcp.vertex.agent.llm_response"];
/// Events that hold an answer.
const EVENTS: [&str; 2] = ["gen_ai.client.inference.operation.details", "gen_ai.content.completion"];
/// Words in the names of attributes and events that hold an answer in a way of their own.
const WORDS: [&str; 6] = ["output", "completion", "response", "answer", "choice", "result"];

/// The answers of a model.
pub fn outputs(span: &Span) -> Answers {
    let attributes = &span.attributes;
    let tree = |name: &str| read(attributes.tree(name));
    let mut sources: Vec<Box<dyn Fn() -> Vec<SpanMessage> + '_>> = vec![
        Box::new(|| each(attributes.tree("gen_ai.output.messages"))),
        Box::new(|| list(indexed(attributes, "gen_ai.completion."), "assistant")),
        Box::new(|| list(indexed(attributes, "llm.output_messages."), "assistant")),
        Box::new(|| of_events(span)),
        Box::new(|| vercel(attributes)),
    ];
    sources.extend(TREES.map(|name| -> Box<dyn Fn() -> Vec<SpanMessage>> { Box::new(move || tree(name)) }));
    sources.push(Box::new(|| plain(attributes, &PLAIN.map(|name| untree(attributes, name)), "assistant")));
    let others = || held(span).filter(|(name, _)| !name.ends_with(".content"));
    sources.push(Box::new(move || {
        others().map(|(_, json)| read(structure(json))).find(|messages| call(messages)).unwrap_or_default()
    }));
    sources.push(Box::new(|| written(span)));
    let mut messages = Vec::new();
    for source in sources {
        let said = source();
        if call(&said) || messages.is_empty() {
            messages = said;
        }
        if call(&messages) || !messages.is_empty() && !held(span).any(|(_, json)| speaks_of_calls(json)) {
            break;
        }
    }
    let may_call = !call(&messages)
        && held(span).any(|(_, json)| {
            speaks_of_calls(json) && structure(json).is_some_and(|value| answer::may_call(&value))
        });
    let alone = messages.iter().all(|one| one.role == "assistant" && one.answers.is_empty());
    let reasons = messages.iter().all(|one| one.reason.is_some());
    let several = messages.len() > 1 && alone;
    let are_choices = several && choices::are_choices(attributes, messages.len(), reasons);
    Answers { are_choices, may_call, messages }
}

/// Whether a call is in them, be it one that cannot be read.
fn call(messages: &[SpanMessage]) -> bool {
    messages.iter().any(|said| !said.calls.is_empty() || said.unread > 0)
}

/// The attributes of a span and its events that may hold an answer.
fn held(span: &Span) -> impl Iterator<Item = (&str, &str)> {
    let is_one = |name: &str| WORDS.iter().any(|word| name.contains(word)) && !name.contains("tool.");
    let own = span.attributes.iter().filter(move |(name, _)| is_one(name));
    let events = span.events.iter().flat_map(move |event| {
        let whole = is_one(&event.name) && !EVENTS.contains(&&*event.name);
        event.attributes.iter().filter(move |(name, _)| whole || is_one(name))
    });
    own.chain(events)
}

/// Whether a text may hold a call at all.
fn speaks_of_calls(json: &str) -> bool {
    ["ool", "unction", "all"]
        .iter()
        .any(|word| memchr::memmem::find(json.as_bytes(), word.as_bytes()).is_some())
}

/// The messages of an answer.
fn read(value: Option<Value>) -> Vec<SpanMessage> {
    let answer = value.and_then(|value| answer::read(&value));
    answer.map_or_else(Vec::new, |Answer { messages, .. }| list(Some(Value::Array(messages)), "assistant"))
}

/// The messages of a list, each in whatever form it is; items and parts may be among them.
fn each(value: Option<Value>) -> Vec<SpanMessage> {
    match value {
        Some(Value::Array(items)) if items.iter().any(answer::is_whole) => {
            let one = |item: Value| match answer::is_whole(&item) {
                true => read(Some(item)),
                false => read(Some(Value::Array(vec![item]))),
            };
            items.into_iter().flat_map(one).collect()
        }
        value => read(value),
    }
}

/// The messages that are events of the span.
fn of_events(span: &Span) -> Vec<SpanMessage> {
    let mut all = Vec::new();
    for event in &span.events {
        let attributes = &event.attributes;
        if &*event.name == "gen_ai.choice" {
            let message = of_event(attributes);
            match answer::read(&message) {
                Some(answer) => all.extend(list(Some(Value::Array(answer.messages)), "assistant")),
                None => all.extend(list(Some(message), "assistant")),
            }
        } else if EVENTS.contains(&&*event.name) {
            let messages = ["gen_ai.output.messages", "gen_ai.completion"];
            all.extend(messages.iter().flat_map(|name| each(attributes.tree(name))));
        }
    }
    all
}

/// A text with calls, whatever its attribute is called.
fn written(span: &Span) -> Vec<SpanMessage> {
    let texts = held(span).filter(|(name, json)| !name.ends_with(".content") && structure(json).is_none());
    let mut texts = texts.map(|(_, json)| Body::json(json));
    let content = texts.find(|text| !tags::written(text.shown(), |_| false).calls.is_empty());
    let said = |content| SpanMessage { role: "assistant".to_owned(), content, ..SpanMessage::default() };
    content.map(said).into_iter().collect()
}

/// The name, where its attribute is a text; else one that no attribute has.
fn untree<'n>(attributes: &Attributes, name: &'n str) -> &'n str {
    if attributes.tree(name).is_none() { name } else { "" }
}

/// The answer in the attributes of the Vercel AI SDK.
fn vercel(attributes: &Attributes) -> Vec<SpanMessage> {
    let content = attributes.get("ai.response.text").map_or(Body::MISSING, Body::json);
    let mut said = SpanMessage { role: "assistant".to_owned(), content, ..SpanMessage::default() };
    if let Some(Value::Array(calls)) = attributes.tree("ai.response.toolCalls") {
        calls.iter().for_each(|call| said.propose(call));
    }
    let empty = said.content.is_missing() && said.calls.is_empty();
    if empty { Vec::new() } else { vec![said] }
}
