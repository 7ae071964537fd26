//! A request and its response, wherever they are in a value of a log, and however they are wrapped.

use std::borrow::Cow;

use crate::input::looks::Looks;
use crate::input::shallow;
use crate::input::shallow::{Kind, Members, Node};
use crate::input::time;
use crate::input::wrong;
use crate::shape::stream;
use rulestep_base::session::build::Builder;
use rulestep_base::session::{Damage, Millis};

/// A request and its response.
pub struct Exchange<'a> {
    /// The request.
    pub request: Option<Members<'a>>,
    /// The response.
    pub response: Option<Members<'a>>,
    /// The parts that had to be unpacked for that.
    pub opened: &'a LoggedExchange,
    /// Whether the request is marked as a record of what was sent, so that without a good response it was not answered;
    /// a bare conversation may be complete.
    sent: bool,
}

/// Parts of a value that are stored as text or in pieces, as JSON.
#[derive(Default)]
pub struct LoggedExchange {
    request: Option<OpenedText>,
    response: Option<OpenedText>,
    /// Damage of these parts.
    pub odd: Vec<Damage>,
    /// The response broke off before its end.
    broken: bool,
    /// Whether the place of the response says that there is none.
    none: bool,
}

/// The JSON of one of the two, and the looks at its parts.
struct OpenedText {
    json: String,
    looks: Looks,
}

/// Keys under which logs keep the two, and keys that may come between.
const REQUEST: [&str; 6] = ["request", "req", "request_body", "model_call_dict", "kwargs", "params"];
const RESPONSE: [&str; 8] = [
    // In the agent's own form, which is stored beside the text that the model wrote.
    "fncall_response",
    "response",
    "resp",
    "response_body",
    "response_obj",
    "completion",
    "result",
    "original_response",
];
const BODY: [&str; 3] = ["body", "json", "body_raw"];

/// Keys under which the pieces of a response are kept.
const PIECES: [&str; 4] = ["chunks", "response_chunks", "events", "stream"];

/// Key of the response that a request continues.
pub const PREVIOUS: [&str; 1] = ["previous_response_id"];

/// Keys of a line's time, before those that any message may have.
pub const TIMES: [&str; 8] =
    ["timestamp", "at", "created_at", "createdAt", "created", "time", "start_time", "request_time"];

/// Keys under which Bedrock logs the two, each within another.
const BEDROCK: [(&str, &str); 2] = [("input", "inputBodyJson"), ("output", "outputBodyJson")];

/// The request of a value.
pub fn request<'a>(value: &Members<'a>, opened: &'a LoggedExchange, messages: &str) -> Option<Members<'a>> {
    let inner = match &opened.request {
        Some(request) => request.members(),
        None => asked(value).map(body).and_then(Node::members),
    };
    inner.filter(|request| request.has(messages)).or_else(|| value.has(messages).then(|| value.clone()))
}

/// The response of a value.
pub fn response<'a>(value: &Members<'a>, opened: &'a LoggedExchange) -> Option<Members<'a>> {
    match &opened.response {
        _ if opened.none => None,
        Some(response) => response.members(),
        None => {
            let found = came(value).map(body).and_then(Node::members);
            // A line of a batch has the error in place of the response.
            let failed = || value.get("custom_id").is_some() && value.get("error").is_some();
            found.or_else(|| failed().then(|| value.clone()))
        }
    }
}

/// The time of a line, or of the response in it.
pub fn times(members: &Members<'_>, exchange: &Exchange<'_>, builder: &mut Builder) -> Option<Millis> {
    let mut told = |members: &Members<'_>| {
        time::of(members, &TIMES).unwrap_or_else(|message| {
            builder.damaged(message);
            None
        })
    };
    told(members).or_else(|| told(exchange.response.as_ref()?))
}

impl LoggedExchange {
    /// Unpacks such parts of this value.
    pub fn of(value: &Members<'_>) -> LoggedExchange {
        let mut opened = LoggedExchange::default();
        if let Some(request) = asked(value).map(body) {
            opened.request = LoggedExchange::text(request);
            let beside = value.any(&["messages", "input"]).is_some();
            if request.kind() != Kind::Object && opened.request.is_none() && !beside {
                opened.unread(request, "request");
            }
        }
        let response = came(value);
        let kind =
            response.map(Node::tried).and_then(Node::members).and_then(|members| members.get("type")?.text());
        if let Some(kind @ ("canceled" | "expired")) = kind.as_deref() {
            opened.odd.push(format!("the request has no response: it is `{kind}`").into());
            opened.none = true;
            return opened;
        }
        let pieces = match response {
            Some(response) => response.tried().members().and_then(|members| members.any(&PIECES)),
            None => value.any(&PIECES),
        };
        let response = response.map(body);
        match [response, pieces].into_iter().flatten().find_map(stream::whole) {
            Some(whole) => {
                opened.response = Some(OpenedText::new(whole.json));
                opened.odd.extend(whole.odd);
                opened.broken = whole.broken;
            }
            None => {
                opened.response = response.and_then(LoggedExchange::text);
                let unread = response.filter(|response| response.kind() != Kind::Object);
                if let Some(response) = unread.filter(|_| opened.response.is_none()) {
                    opened.unread(response, "response");
                }
            }
        }
        opened
    }

    /// The JSON that a text is.
    fn text(node: Node<'_>) -> Option<OpenedText> {
        let text = node.tried().text()?;
        let text = text.trim();
        members(text).is_some().then(|| OpenedText::new(text.to_owned()))
    }

    /// Wrong types in the unpacked parts; known once they were read.
    pub fn wrong(&self) -> impl Iterator<Item = Damage> {
        let texts = [&self.request, &self.response].into_iter().flatten();
        texts.flat_map(|text| wrong::types(&text.looks, &text.json, 0)).map(|(_, damage)| damage)
    }

    /// Reports that one of the two has an unreadable form.
    fn unread(&mut self, node: Node<'_>, what: &str) {
        let message = match node.kind() {
            Kind::Text => format!("the {what} is a text that is not JSON; it is left out"),
            kind => format!("the {what} is {}, not an object; it is left out", kind.word()),
        };
        self.odd.push(Damage::calls(message));
    }
}

impl OpenedText {
    fn new(json: String) -> OpenedText {
        OpenedText { looks: Looks::at(&json), json }
    }

    fn members(&self) -> Option<Members<'_>> {
        let (node, members) = shallow::value(&self.json, Some(&self.looks)).ok()?;
        (node.kind() == Kind::Object).then_some(members)
    }
}

impl<'a> Exchange<'a> {
    /// The request and response in a value; `messages` is the key of a request's messages. `None` if the value has
    /// neither.
    pub fn of(
        value: &Members<'a>,
        opened: &'a LoggedExchange,
        messages: &str,
        is_bare_response: impl FnOnce(&Members<'_>) -> bool,
    ) -> Option<Exchange<'a>> {
        let request = request(value, opened, messages);
        let response = response(value, opened);
        let response = response.or_else(|| is_bare_response(value).then(|| value.clone()));
        let sent = asked(value).is_some() || RESPONSE.iter().any(|key| value.has(key));
        let exchange = Exchange { request, response, opened, sent };
        (exchange.request.is_some() || exchange.response.is_some() || opened.none).then_some(exchange)
    }

    /// Whether the request was sent and nothing came back of the model that is whole.
    pub fn is_unanswered(&self) -> bool {
        let failed = |response: &Members<'_>| {
            response.get("error").is_some() && response.get("output").and_then(Node::first_item).is_none()
        };
        let failed = self.opened.broken || self.response.as_ref().is_none_or(failed);
        self.sent && self.request.is_some() && failed
    }

    /// Whether it is only a response, and does not name what it continues.
    pub fn goes_on(&self) -> bool {
        self.request.is_none() && self.previous().is_none()
    }

    /// Id of the response that the request continues.
    pub fn previous(&self) -> Option<Cow<'a, str>> {
        let both = [&self.request, &self.response].into_iter().flatten();
        both.into_iter().find_map(|members| members.any(&PREVIOUS)?.id())
    }
}

/// The members of what may be something else as well.
fn object(node: Node<'_>) -> Option<Members<'_>> {
    if node.kind() == Kind::Object { node.members() } else { None }
}

/// The request in a value.
fn asked<'a>(value: &Members<'a>) -> Option<Node<'a>> {
    let [within, _] = BEDROCK;
    value.any(&REQUEST).or_else(|| object(value.get(within.0)?)?.get(within.1))
}

/// The response in a value.
fn came<'a>(value: &Members<'a>) -> Option<Node<'a>> {
    let [_, within] = BEDROCK;
    value.any(&RESPONSE).or_else(|| object(value.get(within.0)?)?.get(within.1))
}

/// The body of a request, inside its metadata.
fn body(node: Node<'_>) -> Node<'_> {
    let Some(members) = object(node) else { return node };
    // A result of a batch.
    let succeeded = || members.get("type").and_then(Node::text).is_some_and(|kind| kind == "succeeded");
    let message = members.get("message").filter(|_| succeeded());
    message.or_else(|| members.any(&BODY)).unwrap_or(node)
}

fn members(json: &str) -> Option<Members<'_>> {
    Node::parse(json).ok().filter(|node| node.kind() == Kind::Object).and_then(Node::members)
}
