//! Logs of requests to a model and its responses: common parts of the formats of the providers' interfaces.
//!
//! A request repeats the whole conversation so far, so of requests that continue each other the last one is the
//! session, and the earlier ones only give the times of their responses and the tools that were offered. A request
//! without an answer is dropped once it is repeated. Files without responses are read as well: one conversation each,
//! or the bare messages of one.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::Arc;

use crate::contract::out::Out;
use crate::contract::setting::IDS;
use crate::contract::setting::Setting;
use crate::contract::{Reader, Unit};
use crate::input::shallow::{Kind, Members, Node};
use crate::input::time;
use crate::shape::bare::Bare;
use crate::shape::offer;
use crate::shape::open::Open;
use rulestep_base::session::build::Builder;
use rulestep_base::session::build::choices::Choices;
use rulestep_base::session::{Millis, Tool};

mod logged;
mod proposed;
mod same;

use logged::{Exchange, PREVIOUS, TIMES, times};
pub use logged::{LoggedExchange, request, response};
use proposed::Proposed;
use same::digest;

/// The particulars of an interface.
pub trait Api: Send {
    /// Key of a request's messages.
    const MESSAGES: &'static str;
    /// The possible values of a file, for the message about a different one.
    const EXPECTED: &'static str;

    /// Whether a value is a message that can occur without a request.
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

    /// The tools that a request offers, or that a response says were offered.
    fn offered<'a>(part: &Members<'a>) -> Option<Node<'a>> {
        offer::offered(part)
    }

    /// The call that a value is the result of, if such values come between responses.
    fn answers<'a>(_value: &Members<'a>) -> Option<Cow<'a, str>> {
        None
    }

    /// Whether a value is a response without its request.
    fn is_bare_response(value: &Members<'_>) -> bool;
}

/// Reads the files of an interface.
pub struct Exchanges<A> {
    setting: Setting,
    api: A,
    /// Conversations that a request may continue.
    open: Open<Conversation>,
    /// The session of messages that are not in an envelope.
    bare: Bare<Builder>,
}

struct Conversation {
    builder: Builder,
    /// Digests of the request's messages.
    said: Vec<u64>,
    /// Id of the response, if there is one.
    answered: Option<Box<str>>,
    /// The calls that its last response proposed.
    proposed: Proposed,
    /// Its requests, in the order of their turns.
    steps: Vec<Step>,
    /// Whether its requests hold only what is new, so that the earlier part stays as it is.
    grows: bool,
    /// Whether it ends with results for which there is no request: the next response continues from them.
    goes_on: bool,
    /// Whether its last request was not answered: the repeated request replaces it.
    unanswered: bool,
    /// For one that grows, the last request while it is not answered. It is added only if no other replaces it.
    attempt: Option<Attempt>,
}

impl Conversation {
    fn new(builder: Builder, steps: Vec<Step>) -> Conversation {
        Conversation {
            builder,
            said: Vec::new(),
            answered: None,
            proposed: Proposed::default(),
            steps,
            grows: false,
            goes_on: false,
            unanswered: false,
            attempt: None,
        }
    }

    /// Whether a request with this history takes the place of the ones before.
    fn is_repeated<A: Api>(&self, history: &[Node<'_>], said: &[u64]) -> bool {
        let answer = || history.get(self.said.len()).and_then(|next| next.tried().members());
        !self.said.is_empty()
            && said.starts_with(&self.said)
            && (self.unanswered || answer().is_some_and(|next| A::is_response(&next)))
    }
}

/// A request that was not answered, as it is in the file.
struct Attempt {
    json: Box<str>,
    line: u32,
}

/// The conversation that a request continues, and its index.
enum Before {
    Nothing,
    /// It repeats the conversation, without this many calls of the last response.
    Repeated(usize, Conversation, usize),
    /// It names the response that it continues, and holds only what is new.
    Named(usize, Conversation),
}

/// What was known when a request's response came.
struct Step {
    turn: u32,
    at: Option<Millis>,
    /// The tools that were offered last.
    tools: Option<Arc<[Tool]>>,
    /// The other choices of the response, besides the one that the conversation continued with.
    choices: Option<Choices>,
}

impl<A: Api> Exchanges<A> {
    /// For one file.
    pub fn new(setting: &Setting, api: A) -> Exchanges<A> {
        Exchanges { setting: setting.clone(), api, open: Open::default(), bare: Bare::default() }
    }

    fn exchange(&mut self, exchange: &Exchange<'_>, unit: &Unit<'_>, out: &mut Out) {
        self.close_bare(out);
        let none = Members::default();
        let request = exchange.request.as_ref().unwrap_or(&none);
        let history = history::<A>(request);
        let said: Vec<u64> = history.iter().map(|message| digest(*message)).collect();
        let unanswered = exchange.is_unanswered();
        let bytes = unit.node.json().len();
        let mut left_out = Vec::new();
        let (place, mut conversation) = match self.before(exchange, &history, &said, out) {
            Before::Named(place, mut before) if unanswered => {
                before.attempt = Some(Attempt { json: unit.node.json().into(), line: unit.line });
                self.open.put(place, before, bytes);
                return self.close_others(out);
            }
            Before::Named(place, mut before) => {
                left_out = std::mem::take(&mut before.proposed).passed_on(0);
                (place, Conversation { grows: true, goes_on: false, attempt: None, ..before })
            }
            Before::Repeated(place, before, missing) => {
                left_out = before.proposed.passed_on(missing);
                (place, Conversation::new(self.begin(exchange, unit, out), before.steps))
            }
            Before::Nothing => (usize::MAX, Conversation::new(self.begin(exchange, unit, out), Vec::new())),
        };
        self.add(exchange, &unit.members, unit.line, &mut conversation);
        let proposed = conversation.proposed.after(left_out);
        let conversation = Conversation { said, unanswered, proposed, ..conversation };
        self.open.put(place, conversation, bytes);
        self.close_others(out);
    }

    /// Adds an exchange that begins on this line.
    fn add(&mut self, exchange: &Exchange<'_>, value: &Members<'_>, line: u32, to: &mut Conversation) {
        let none = Members::default();
        let request = exchange.request.as_ref().unwrap_or(&none);
        let Conversation { builder, steps, grows, .. } = to;
        builder.at_line(line);
        let at = times(value, exchange, builder);
        for message in history::<A>(request) {
            let turn = builder.next_turn();
            let step = steps.get(steps.partition_point(|step: &Step| step.turn < turn));
            let step = step.filter(|step| step.turn == turn);
            let own = message.tried().members().filter(A::is_response).and(step).and_then(|step| step.at);
            self.api.message(message, own, builder);
            // The first step may be that of a later response: its request began with some.
            let known = [step, steps.first()].into_iter().flatten().filter_map(|step| step.choices.as_ref());
            known.for_each(|choices| builder.beside_again(choices));
        }
        // The tools of the first request count from the beginning, as far as is known.
        let turn = if steps.is_empty() { 1 } else { builder.next_turn() };
        exchange.opened.odd.iter().for_each(|odd| builder.damaged(odd.clone()));
        let known = builder.so_far().calls.len();
        to.answered = exchange.response.as_ref().map(|response| {
            self.api.response(response, at, builder);
            response.get("id").and_then(Node::id).unwrap_or_default().as_ref().into()
        });
        self.api.end(builder);
        builder.at_line(line);
        to.proposed = Proposed::since(builder, known);
        exchange.opened.wrong().for_each(|damage| builder.damaged(damage));
        builder.end_response();
        // Some responses repeat the offered tools.
        let both = [Some(request), exchange.response.as_ref()];
        let tools = both.into_iter().flatten().find_map(A::offered);
        let tools = tools.and_then(offer::tools).map(|offer| offer.tools);
        let before = steps.last().and_then(|step| step.tools.clone());
        let tools = tools.filter(|tools| before.as_deref() != Some(tools)).map(Arc::from).or(before);
        let choices = to.answered.as_ref().and_then(|_| builder.choices());
        steps.push(Step { turn, at, tools, choices });
        // For a session that grows, the earlier tools are known.
        let new = if *grows { steps.len() - 1 } else { 0 };
        for step in steps.iter().skip(new) {
            if let Some(tools) = &step.tools {
                builder.offered(step.turn, Arc::clone(tools));
            }
        }
    }

    /// Closes what need not be held.
    fn close_others(&mut self, out: &mut Out) {
        while let Some(open) = self.open.too_much(|_| false) {
            self.close(open, out);
        }
    }

    /// No request continues this one.
    fn close(&mut self, mut open: Conversation, out: &mut Out) {
        if let Some(Attempt { json, line }) = open.attempt.take()
            && let Some(value) = Node::parse(&json).ok().and_then(Node::members)
            && let Some(exchange) = exchange::<A>(&value, &LoggedExchange::of(&value))
        {
            self.add(&exchange, &value, line, &mut open);
        }
        open.proposed.tell(&mut open.builder);
        out.session(open.builder);
    }

    fn begin(&mut self, exchange: &Exchange<'_>, unit: &Unit<'_>, out: &Out) -> Builder {
        let named = unit
            .members
            .get("custom_id")
            .or_else(|| unit.members.any(&IDS))
            .or_else(|| exchange.request.as_ref()?.any(&IDS));
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
            None => builder.starts_in_the_middle("the response has no request"),
        }
        builder
    }

    /// The conversation that a request continues: the one whose response it names, or the longest that it repeats.
    /// Unanswered ones that it repeats too are dropped.
    fn before(&mut self, exchange: &Exchange<'_>, history: &[Node<'_>], said: &[u64], out: &Out) -> Before {
        let named = exchange
            .previous()
            .and_then(|previous| self.open.position(|open| open.answered.as_deref() == Some(&*previous)));
        let goes_on = || self.open.latest(|open| open.goes_on).filter(|_| exchange.goes_on());
        let named = named.or_else(goes_on);
        if let Some(place) = named {
            return self.open.take(place).map_or(Before::Nothing, |open| Before::Named(place, open));
        }
        let mut repeated: Vec<_> = (0..self.open.len())
            .filter_map(|place| {
                let open = self.open.get(place).filter(|open| open.is_repeated::<A>(history, said))?;
                Some((open.said.len(), !open.unanswered, Reverse(place)))
            })
            .collect();
        repeated.sort_unstable();
        let mut longest = repeated.into_iter().rev();
        let found =
            longest.find_map(|(.., Reverse(place))| Some((place, self.missing(place, history, out)?)));
        let Some((mut place, missing)) = found else { return Before::Nothing };
        let Some(mut before) = self.open.take(place) else { return Before::Nothing };
        if before.unanswered {
            // The time of an unanswered request is not that of the answer.
            before.steps.pop();
        }
        let in_vain = |open: &Conversation| open.unanswered && open.is_repeated::<A>(history, said);
        while let Some(other) = self.open.position(in_vain) {
            self.open.take(other);
            place -= usize::from(other < place);
        }
        Before::Repeated(place, before, missing)
    }

    /// How many calls of the last response of a conversation are missing in a request that repeats it. `None`: the
    /// request continues another response.
    fn missing(&mut self, place: usize, history: &[Node<'_>], out: &Out) -> Option<usize> {
        let open = self.open.get(place)?;
        let choices = open.steps.last().is_some_and(|step| step.choices.is_some());
        if open.proposed.is_empty() || open.unanswered || choices {
            return Some(0);
        }
        let mut builder = self.setting.session_at("", 1, out);
        for message in history.get(open.said.len()..).unwrap_or_default() {
            self.api.message(*message, None, &mut builder);
        }
        self.api.end(&mut builder);
        self.open.get(place)?.proposed.missing(&builder.so_far().calls)
    }

    /// The conversation in which this call has no result yet.
    fn waiting_for(&self, call: &str) -> Option<usize> {
        self.open.latest(|open| open.builder.waits_for(call))
    }

    fn bare_message(&mut self, unit: &Unit<'_>, out: &mut Out) {
        if self.bare.is_of_another(unit.list) {
            self.close_bare(out);
        }
        let mut builder = self.bare.begin(&self.setting, unit, out, |builder| builder);
        builder.at_line(unit.line);
        let at = time::of(&unit.members, &TIMES).unwrap_or_default();
        self.api.message(unit.node, at, &mut builder);
        self.bare.put(builder, unit);
    }

    fn close_bare(&mut self, out: &mut Out) {
        if let Some(mut builder) = self.bare.take() {
            self.api.end(&mut builder);
            out.session(builder);
        }
    }
}

impl<A: Api> Reader for Exchanges<A> {
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out) {
        let members = &unit.members;
        let opened = LoggedExchange::of(members);
        if let Some(exchange) = exchange::<A>(members, &opened) {
            return self.exchange(&exchange, unit, out);
        }
        if let Some(open) = A::answers(members).and_then(|call| self.waiting_for(&call)) {
            let open = self.open.add_to(open, unit.node.json().len());
            return open.into_iter().for_each(|open| {
                open.builder.at_line(unit.line);
                self.api.message(unit.node, None, &mut open.builder);
                (open.grows, open.goes_on) = (true, true);
            });
        }
        if A::is_message(members) || self.bare.is_open() && members.has("role") {
            return self.bare_message(unit, out);
        }
        if unit.node.tried().items().is_some_and(|items| items.iter().any(|item| item.members().is_some())) {
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
            self.close(open, out);
        }
    }
}

/// The request and the response in a value.
fn exchange<'a, A: Api>(value: &Members<'a>, opened: &'a LoggedExchange) -> Option<Exchange<'a>> {
    Exchange::of(value, opened, A::MESSAGES, A::is_bare_response)
}

/// Whether some object of a list satisfies a test.
pub fn any_object(list: Node<'_>, is: impl Fn(&Members<'_>) -> bool) -> bool {
    list.items().into_iter().flatten().filter_map(Node::members).any(|item| is(&item))
}

/// Keys under which OpenHands logs the messages with their calls, if the sent ones have the calls in their text.
pub const MEANT: [&str; 2] = ["raw_messages", "fncall_messages"];

/// The messages of a request. One text instead of a list is one message.
fn history<'a, A: Api>(request: &Members<'a>) -> Vec<Node<'a>> {
    let messages = request.any(&MEANT).or_else(|| request.get(A::MESSAGES));
    let list = |node: Node<'a>| if node.kind() == Kind::Text { None } else { node.items() };
    messages.map_or_else(Vec::new, |node| list(node).unwrap_or_else(|| vec![node]))
}
