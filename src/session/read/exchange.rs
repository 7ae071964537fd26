//! Logs of requests to a model and its responses: what the formats of the providers' interfaces have in common.
//!
//! A request repeats the whole conversation so far, so of requests that continue each other the last one is the session,
//! and the ones before give only the times of their responses and the tools that were offered. Files without responses
//! are read as well: a conversation each, or the bare messages of one.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::native::IDS;
use super::open::Open;
use super::setting::Setting;
use super::shallow::{Kind, Members, Node};
use super::{Out, Reader, Unit, chat, time};
use crate::session::build::Builder;
use crate::session::{Millis, Tool};

/// What is particular to an interface.
pub trait Api: Send {
    /// Key of a request's messages.
    const MESSAGES: &'static str;
    /// What a value of a file may be, for one that is something else.
    const EXPECTED: &'static str;

    /// Whether a value is a message that can stand without a request.
    fn is_message(message: &Members<'_>) -> bool;

    /// Whether a message is the model's.
    fn is_response(message: &Members<'_>) -> bool;

    /// Adds what a request says before its messages.
    fn preface(&mut self, request: &Members<'_>, builder: &mut Builder);

    /// Adds a message of a value that begins on the builder's line.
    fn message(&mut self, message: Node<'_>, at: Option<Millis>, builder: &mut Builder);

    /// Adds a response.
    fn response(&mut self, response: &Members<'_>, at: Option<Millis>, builder: &mut Builder);

    /// No message follows.
    fn end(&mut self, _builder: &mut Builder) {}

    /// Whether a value is a response without its request.
    fn is_bare_response(value: &Members<'_>) -> bool;
}

/// A request and its response, wherever in a value they stand.
struct Exchange<'a> {
    request: Option<Members<'a>>,
    response: Option<Members<'a>>,
}

/// Keys under which logs keep the two, and what may stand between.
const REQUEST: [&str; 5] = ["request", "req", "request_body", "kwargs", "params"];
const RESPONSE: [&str; 5] = ["response", "resp", "response_body", "completion", "result"];
const BODY: [&str; 2] = ["body", "json"];

/// Key of the response that a request goes on from.
const PREVIOUS: [&str; 1] = ["previous_response_id"];

/// The request of a value, for recognition.
pub fn request<'a>(value: &Members<'a>, messages: &str) -> Option<Members<'a>> {
    let inner = value.any(&REQUEST).and_then(Node::members).map(unwrapped);
    inner.filter(|request| request.has(messages)).or_else(|| value.has(messages).then(|| value.clone()))
}

/// The response of a value, for recognition.
pub fn response<'a>(value: &Members<'a>) -> Option<Members<'a>> {
    value.any(&RESPONSE).and_then(Node::members).map(unwrapped)
}

/// Reads the files of an interface.
pub struct Exchanges<A> {
    setting: Setting,
    api: A,
    /// Conversations that a request may continue.
    open: Open<Conversation>,
    /// The session that bare messages add up to, and the list they stand in.
    bare: Option<(Builder, Option<u32>)>,
}

struct Conversation {
    builder: Builder,
    /// Digests of the request's messages.
    said: Vec<u64>,
    /// Id of the response, where there is one.
    answered: Option<Box<str>>,
    steps: Vec<Step>,
}

/// What a request knew when its response came.
struct Step {
    turn: u32,
    at: Option<Millis>,
    tools: Option<Vec<Tool>>,
}

impl<A: Api> Exchanges<A> {
    /// For one file.
    pub fn new(setting: &Setting, api: A) -> Exchanges<A> {
        Exchanges { setting: setting.clone(), api, open: Open::default(), bare: None }
    }

    fn exchange(&mut self, exchange: &Exchange<'_>, unit: &Unit<'_>, out: &mut Out) {
        self.close_bare(out);
        let none = Members::default();
        let request = exchange.request.as_ref().unwrap_or(&none);
        let messages = request.get(A::MESSAGES);
        // One text instead of a list is one message.
        let history = messages.map_or_else(Vec::new, |node| node.items().unwrap_or_else(|| vec![node]));
        let said: Vec<u64> = history.iter().map(|message| digest(*message)).collect();
        let (place, before) = self.before(exchange, &history, &said);
        let (mut builder, mut steps) = match before {
            // The request gives only what is new.
            Some(Conversation { builder, steps, answered: Some(_), .. }) => (builder, steps),
            Some(Conversation { steps, .. }) => (self.begin(exchange, unit, out), steps),
            None => (self.begin(exchange, unit, out), Vec::new()),
        };
        builder.at_line(unit.line);
        let at = times(&unit.members, exchange, &mut builder);
        for message in history {
            let turn = builder.next_turn();
            let step = steps.iter().find(|step| step.turn == turn);
            let own = message.members().filter(A::is_response).and(step).and_then(|step| step.at);
            self.api.message(message, own, &mut builder);
        }
        // What is offered with the first request was offered all along, as far as is known.
        let turn = if steps.is_empty() { 1 } else { builder.next_turn() };
        let answered = exchange.response.as_ref().map(|response| {
            self.api.response(response, at, &mut builder);
            response.get("id").and_then(Node::id).unwrap_or_default().as_ref().into()
        });
        self.api.end(&mut builder);
        let tools = request.any(&["tools", "functions"]).and_then(chat::tools).map(|offer| offer.tools);
        steps.push(Step { turn, at, tools });
        for step in &steps {
            if let Some(tools) = &step.tools {
                builder.offered(step.turn, tools.clone());
            }
        }
        let bytes = unit.node.json().len();
        self.open.put(place, Conversation { builder, said, answered, steps }, bytes);
        while let Some(open) = self.open.too_much(|_| false) {
            out.session(open.builder);
        }
    }

    fn begin(&mut self, exchange: &Exchange<'_>, unit: &Unit<'_>, out: &Out) -> Builder {
        let named = unit.members.any(&IDS).or_else(|| exchange.request.as_ref()?.any(&IDS));
        let id = named.and_then(Node::id).unwrap_or_default();
        let mut builder = self.setting.session(&id, unit, out);
        builder.at_line(unit.line);
        match &exchange.request {
            Some(request) => {
                if request.any(&PREVIOUS).is_some() {
                    builder
                        .starts_in_the_middle("the request goes on from a response that is not in the file");
                }
                self.api.preface(request, &mut builder);
            }
            None => builder.starts_in_the_middle("the response stands without its request"),
        }
        builder
    }

    /// The conversation that a request continues, and its place: the one that it repeats, or the one whose response it
    /// names. `answered` is left only in the latter.
    fn before(
        &mut self,
        exchange: &Exchange<'_>,
        history: &[Node<'_>],
        said: &[u64],
    ) -> (usize, Option<Conversation>) {
        let previous = [&exchange.request, &exchange.response]
            .into_iter()
            .flatten()
            .find_map(|members| members.any(&PREVIOUS)?.id());
        let named = previous
            .and_then(|previous| self.open.position(|open| open.answered.as_deref() == Some(&*previous)));
        if let Some(place) = named {
            return (place, self.open.take(place));
        }
        let repeated = self.open.position(|open| {
            let next = history.get(open.said.len()).and_then(|next| next.members());
            !open.said.is_empty()
                && said.starts_with(&open.said)
                && next.is_some_and(|next| A::is_response(&next))
        });
        let Some(place) = repeated else { return (usize::MAX, None) };
        let open = self.open.take(place);
        (place, open.map(|open| Conversation { answered: None, ..open }))
    }

    fn bare_message(&mut self, unit: &Unit<'_>, out: &mut Out) {
        if self.bare.as_ref().is_some_and(|(_, list)| *list != unit.list) {
            self.close_bare(out);
        }
        let mut builder = match self.bare.take() {
            Some((mut builder, _)) => {
                unit.diagnostics.iter().cloned().for_each(|diagnostic| builder.diagnostic(diagnostic));
                builder
            }
            None => self.setting.session("", unit, out),
        };
        builder.at_line(unit.line);
        let at = time::of(&unit.members, &TIMES).unwrap_or_default();
        self.api.message(unit.node, at, &mut builder);
        self.bare = Some((builder, unit.list));
    }

    fn close_bare(&mut self, out: &mut Out) {
        if let Some((mut builder, _)) = self.bare.take() {
            self.api.end(&mut builder);
            out.session(builder);
        }
    }
}

impl<A: Api> Reader for Exchanges<A> {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        let request = request(members, A::MESSAGES);
        let answered = response(members).or_else(|| A::is_bare_response(members).then(|| members.clone()));
        if request.is_some() || answered.is_some() {
            return self.exchange(&Exchange { request, response: answered }, unit, out);
        }
        if A::is_message(members) || self.bare.is_some() && members.has("role") {
            return self.bare_message(unit, out);
        }
        if unit.node.items().is_some_and(|items| items.iter().any(|item| item.members().is_some())) {
            self.close_bare(out);
            let mut builder = self.setting.session("", unit, out);
            builder.at_line(unit.line);
            for item in unit.node.items().unwrap_or_default() {
                self.api.message(item, None, &mut builder);
            }
            self.api.end(&mut builder);
            return out.session(builder);
        }
        out.diagnostics(self.setting.foreign(unit, A::EXPECTED));
    }

    fn end(&mut self, out: &mut Out) {
        self.close_bare(out);
        for open in self.open.close() {
            out.session(open.builder);
        }
    }

    fn long(&mut self, _most: usize) -> Option<&mut Builder> {
        self.bare.as_mut().map(|(builder, _)| builder)
    }
}

/// Keys of a line's time, before those that any message may have.
const TIMES: [&str; 8] =
    ["timestamp", "at", "created_at", "createdAt", "created", "time", "start_time", "request_time"];

/// The time of a line, or of the response in it.
fn times(members: &Members<'_>, exchange: &Exchange<'_>, builder: &mut Builder) -> Option<Millis> {
    let mut told = |members: &Members<'_>| {
        time::of(members, &TIMES).unwrap_or_else(|message| {
            builder.damaged(message);
            None
        })
    };
    told(members).or_else(|| told(exchange.response.as_ref()?))
}

fn unwrapped(members: Members<'_>) -> Members<'_> {
    members.any(&BODY).and_then(Node::members).unwrap_or(members)
}

/// Who says a message and what, without what changes from one request to the next (marks for caches, ids of items).
fn digest(message: Node<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    let Some(members) = message.members() else {
        message.json().hash(&mut hasher);
        return hasher.finish();
    };
    for key in ["type", "role", "name", "call_id", "tool_call_id", "arguments", "output"] {
        members.get(key).map(Node::json).hash(&mut hasher);
    }
    if let Some(calls) = members.get("tool_calls") {
        calls.json().hash(&mut hasher);
    }
    match members.get("content") {
        Some(content) if content.kind() == Kind::List => {
            for block in content.items().unwrap_or_default().into_iter().filter_map(Node::members) {
                for key in ["text", "id", "tool_use_id"] {
                    if let Some(text) = block.get(key).and_then(Node::text) {
                        text.hash(&mut hasher);
                    }
                }
            }
        }
        // A text is what a list of one block with that text is.
        Some(content) => content.text().unwrap_or_default().hash(&mut hasher),
        None => {}
    }
    hasher.finish()
}
