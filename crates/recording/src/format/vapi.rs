//! Calls of Vapi: the call object of its API, the report at a call's end, and the messages that it sends to a server.
//!
//! A call has its messages up to three times (`messages`, `artifact.messages`, and in the form of the OpenAI API), and
//! messages to a server repeat them: the longest list of each call is read. Nothing marks failures.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::contract::{Format, Sample};
use crate::input::shallow::{Kind, Members, Node};
use crate::input::wrong::read_again;
use crate::shape::offer;
use crate::shape::scribe::{Scribe, body};
use crate::shape::status::Status;
use crate::shape::suspicion;
use crate::shape::transcript::{self, Conversation};
use rulestep_base::session::{Body, Damage};

pub(crate) const FORMAT: Format = Format {
    name: "vapi",
    title: "calls of Vapi: the call object, end-of-call reports, and messages to a server",
    source: "`GET https://api.vapi.ai/call/ID`, or the messages that your server receives",
    absent_without_results: false,
    marks_failures: false,
    recognise: |sample: &Sample<'_>| sample.objects().any(|value| is_call(value) || sent(value).is_some()),
    reader: transcript::reader::<Vapi>,
};

/// Types of messages to a server that say which they are also without a call.
const SENT: [&str; 8] = [
    "assistant-request",
    "conversation-update",
    "end-of-call-report",
    "function-call",
    "speech-update",
    "status-update",
    "tool-calls",
    "transfer-update",
];

fn is_call(value: &Members<'_>) -> bool {
    let artifact = value.get("artifact").and_then(Node::members).unwrap_or_default();
    let messages = || lists(value).any(|list| list.items().unwrap_or_default().into_iter().any(is_own));
    let about = value.has("orgId") || value.has("assistantId") || artifact.has("messagesOpenAIFormatted");
    about && messages() || messages() && value.has("endedReason")
}

/// Whether only Vapi writes such a message.
fn is_own(message: Node<'_>) -> bool {
    message.tried().members().is_some_and(|message| message.has("secondsFromStart"))
}

/// The messages of a call, in Vapi's own form.
fn lists<'a>(value: &Members<'a>) -> impl Iterator<Item = Node<'a>> {
    let artifact = value.get("artifact").and_then(Node::members);
    let inner = artifact.and_then(|artifact| artifact.get("messages"));
    inner.into_iter().chain(value.get("messages"))
}

/// The longest list.
fn longest<'a>(value: &Members<'a>) -> Option<Node<'a>> {
    let count = |list: &Node<'_>| list.items().map_or(0, |items| items.len());
    // The first of those that are equally long: `max_by_key` would take the last.
    lists(value).reduce(|longest, list| if count(&list) > count(&longest) { list } else { longest })
}

/// The message in a request to a server; in a message of a call the same key has its words.
fn inner<'a>(value: &Members<'a>) -> Option<Members<'a>> {
    value.get("message").filter(|inner| inner.kind() == Kind::Object).and_then(Node::members)
}

/// A message to a server, whole or as its `message`.
fn sent<'a>(value: &Members<'a>) -> Option<Members<'a>> {
    let is_sent = |message: &Members<'_>| {
        let kind = message.get("type").and_then(Node::text).unwrap_or_default();
        SENT.contains(&&*kind)
            && (message.has("call") || message.has("artifact") || message.has("toolCallList"))
    };
    let inner = inner(value).filter(is_sent);
    inner.or_else(|| is_sent(value).then(|| value.clone()))
}

#[derive(Default)]
struct Vapi {
    /// The longest list of messages that was sent, with its length and line.
    messages: Option<(usize, Box<str>, u32)>,
    /// Calls that were sent: the JSON of each, with its line.
    calls: Vec<(Box<str>, u32)>,
    known: HashSet<Box<str>>,
}

impl Conversation for Vapi {
    const EXPECTED: &'static str = "neither a call nor a message to a server";

    fn entries<'a>(value: &Members<'a>) -> Option<Node<'a>> {
        if sent(value).is_some() { None } else { longest(value) }
    }

    fn is_entry(value: &Members<'_>) -> bool {
        sent(value).is_some()
            || value
                .get("message")
                .filter(|inner| inner.kind() == Kind::Object)
                .and_then(Node::members)
                .is_some_and(|inner| inner.has("type"))
    }

    fn key<'a>(value: &Members<'a>) -> Option<Cow<'a, str>> {
        let message = sent(value)?;
        message.get("call").or_else(|| message.get("chat")).and_then(Node::members)?.get("id")?.id()
    }

    fn about(&mut self, call: &Members<'_>, scribe: &mut Scribe) {
        scribe.about(call, &["type", "endedReason", "assistantId"]);
        if let Some(name) = call.get("name").and_then(Node::text) {
            scribe.builder.title(&name);
        }
        let assistant = call.get("assistant").and_then(Node::members).unwrap_or_default();
        let model = assistant.get("model").and_then(Node::members).unwrap_or_default();
        if let Some(offer) = model.get("tools").and_then(offer::tools) {
            scribe.builder.offered(1, offer.tools);
        }
    }

    /// A message of a call, or one that was sent to a server.
    fn entry(&mut self, entry: &Members<'_>, scribe: &mut Scribe) -> Result<(), String> {
        let Some(sent) = sent(entry) else {
            if entry.has("role") {
                message(entry, scribe);
                return Ok(());
            }
            // Other messages to a server: speech, the state of the phone call.
            let inner = inner(entry).unwrap_or_default();
            if inner.get("type").and_then(Node::text).is_none() || suspicion::unread(&inner, &[]).is_some() {
                scribe
                    .builder
                    .damaged(Damage::calls("a message to a server has no known type; it is left out"));
            }
            return Ok(());
        };
        let line = scribe.builder.line();
        for about in ["call", "assistant"] {
            let known = sent.get(about).and_then(Node::members).unwrap_or_default();
            scribe.about(&known, &["type", "assistantId"]);
        }
        scribe.about(&sent, &["endedReason"]);
        if let Some(list) = longest(&sent) {
            let count = list.items().map_or(0, |items| items.len());
            if self.messages.as_ref().is_none_or(|(known, ..)| count >= *known) {
                self.messages = Some((count, list.json().into(), line));
            }
        }
        let is_report =
            sent.get("type").and_then(Node::text).is_some_and(|kind| kind == "end-of-call-report");
        if is_report && longest(&sent).is_none() {
            scribe.builder.damaged(Damage::calls("the report of a call has no messages"));
        }
        for call in sent.get("toolCallList").and_then(Node::items).unwrap_or_default() {
            self.calls.push((call.json().into(), line));
        }
        if let Some(called) = sent.get("functionCall") {
            self.calls.push((called.json().into(), line));
        }
        Ok(())
    }

    fn end(&mut self, scribe: &mut Scribe) {
        if let Some((_, json, line)) = self.messages.take() {
            scribe.at_line(line);
            read_again(&json, line, scribe, |scribe, node, _| {
                for item in node.items().unwrap_or_default() {
                    match item.members() {
                        Some(entry) => message(&entry, scribe),
                        None => scribe.odd_part(item),
                    }
                }
            });
        }
        let made = scribe.builder.so_far().calls.iter().filter_map(|call| call.id.as_deref());
        self.known.extend(made.map(Into::into));
        for (json, line) in std::mem::take(&mut self.calls) {
            let known = &mut self.known;
            scribe.at_line(line);
            read_again(&json, line, scribe, |scribe, _, members| {
                let id = members.get("id").and_then(Node::id);
                if id.is_none_or(|id| known.insert(id.as_ref().into())) {
                    call(members, scribe);
                }
            });
        }
    }
}

fn message(message: &Members<'_>, scribe: &mut Scribe) {
    scribe.at(message, &["time"]);
    let said = body(message, &["message", "content"]);
    let role = message.get("role").and_then(Node::text).unwrap_or_default();
    match &*role {
        "bot" | "assistant" => scribe.response(None, said),
        "user" | "system" => scribe.said(&role, said),
        "tool_calls" | "tool-calls" => {
            scribe.response(None, Body::MISSING);
            match message.get("toolCalls").and_then(Node::objects) {
                Some(calls) => calls.iter().for_each(|made| call(made, scribe)),
                None => scribe.builder.damaged(Damage::calls("a message has no calls in `toolCalls`")),
            }
        }
        "function_call" => {
            scribe.response(None, Body::MISSING);
            let called = message.any(&["functionCall", "function_call"]).and_then(Node::members);
            match called {
                Some(called) => call(&called, scribe),
                None => call(message, scribe),
            }
        }
        "tool_call_result" | "tool-call-result" | "function_result" => {
            let id = message.get("toolCallId").and_then(Node::id);
            let failed = message.get("error").is_some_and(|error| error.json() != "\"\"");
            let ended = if failed { Status::Failed } else { Status::Unknown };
            scribe.result(id.as_deref(), body(message, &["error", "result", "content"]), ended);
        }
        role => {
            let told = suspicion::of_role(role).or_else(|| suspicion::unread(message, &[]));
            match told {
                Some(what) => scribe.builder.damaged(suspicion::lost(&what)),
                None if role.is_empty() => {
                    scribe.builder.damaged(Damage::calls("a message has no role; it is left out"));
                }
                None => scribe.said(role, said),
            }
        }
    }
}

/// `{id, function: {name, arguments}}`, or the two without a wrapper.
fn call(call: &Members<'_>, scribe: &mut Scribe) {
    let inner = call.get("function").and_then(Node::members);
    let from = inner.as_ref().unwrap_or(call);
    let id = call.any(&["id", "toolCallId"]).and_then(Node::id);
    let tool = from.get("name").and_then(Node::text).unwrap_or_default();
    let arguments = from.any(&["arguments", "parameters"]);
    if arguments.is_some_and(|arguments| !matches!(arguments.kind(), Kind::Text | Kind::Object)) {
        scribe.builder.damaged(Damage::calls("the arguments of a call are neither an object nor a text"));
    }
    scribe.call(id.as_deref(), &tool, arguments.map_or(Body::MISSING, Node::body));
}
