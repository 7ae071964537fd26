//! From the spans of a conversation to its turns: the calls of each response of the model, their results, and the
//! order.
//!
//! Spans have times and parents; turns follow from those. A call belongs to the response that proposes it
//! ([`super::pairing`]), else to the request that it was made within, else to the latest one before it in the same
//! agent's run. If no model was recorded, calls that share a parent and overlap are one turn.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::ancestry::Ancestry;
use super::message;
use super::message::{Repeated, SpanAnswer, SpanCall, SpanMessage};
use super::tools;
use super::{Part, Span};
use crate::shape::suspicion;
use rulestep_base::session::{Body, Damage, Tool};

/// A response of the model, or a group of calls in place of one.
#[derive(Default)]
pub struct Response {
    /// The time of the request; the model knew what came before.
    pub start: i64,
    /// When it came.
    pub at: Option<i64>,
    pub line: u32,
    /// Every span of the request failed, and nothing was answered.
    pub failed: bool,
    /// Its index among the session's spans.
    pub place: usize,
    /// The run that it is part of.
    pub scope: Scope,
    pub inputs: Vec<Rc<SpanMessage>>,
    /// Results in the answer, of calls that the provider ran.
    pub answers: Vec<SpanAnswer>,
    pub content: Body,
    pub tools: Option<Arc<[Tool]>>,
    pub calls: Vec<Call>,
    /// The content of each choice and its calls, while it is unknown which one was taken.
    undecided: Vec<(Body, Range<usize>)>,
    /// The choices that were not taken.
    pub others: Vec<Choice>,
    /// Calls in it that name no tool.
    pub unread: usize,
    /// Damage if no call of it is found: it ended to call a tool.
    pub promised: Option<Damage>,
    /// Indices of the spans of the request; none if it is a group of calls.
    pub spans: Vec<usize>,
}

/// A choice that was not taken.
pub struct Choice {
    /// Its number among the choices, from 1.
    pub number: u32,
    /// Its content.
    pub content: Body,
    /// The calls that it proposes.
    pub calls: Vec<SpanCall>,
}

/// A call: proposed, made, or both.
pub struct Call {
    pub proposed: Option<SpanCall>,
    pub made: Option<ToolSpan>,
}

/// A span of a tool, with others of the same call.
pub struct ToolSpan {
    /// The outermost span.
    pub place: usize,
    pub start: i64,
    pub end: i64,
    pub ended: bool,
    pub id: Option<Box<str>>,
    /// Id of the span, for a call that has none.
    pub span: Box<str>,
    pub tool: Box<str>,
    pub arguments: Option<Body>,
    pub result: Option<Body>,
    pub error: bool,
    pub message: Body,
    pub line: u32,
    /// Places of all its spans.
    pub spans: Vec<usize>,
}

/// The requests to a model. Spans of one request within another are one.
pub fn responses(spans: &[Span], ancestry: &Ancestry, scopes: &[Scope]) -> Vec<Response> {
    let mut known = HashMap::new();
    let mut groups: HashMap<usize, Vec<usize>> = HashMap::new();
    for place in (0..spans.len()).filter(|place| ancestry.part(*place) == Part::Model) {
        let same = |_, outer| ancestry.part(outer) == Part::Model;
        groups.entry(ancestry.outermost(place, &mut known, same)).or_default().push(place);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_unstable();
    let mut repeated = Repeated::default();
    let of_group = |(place, mut members): (usize, Vec<usize>)| {
        // The innermost span is the one that asked.
        members.sort_unstable_by(|a, b| b.cmp(a));
        let group: Vec<&Span> = members.iter().filter_map(|member| spans.get(*member)).collect();
        let outermost = spans.get(place);
        let inputs =
            group.iter().map(|span| message::inputs(span, &mut repeated)).find(|said| !said.is_empty());
        let mut may_call = false;
        let mut answers =
            group.iter().map(|span| message::outputs(span)).inspect(|one| may_call |= one.may_call);
        let answers = answers.find(|answers| !answers.messages.is_empty()).unwrap_or_default();
        let mut response = Response {
            start: outermost.and_then(|span| span.start).unwrap_or(i64::MIN),
            at: group.iter().filter_map(|span| span.end).min(),
            line: outermost.map_or(1, |span| span.line),
            place,
            scope: scopes.get(place).cloned().unwrap_or_default(),
            inputs: inputs.unwrap_or_default(),
            tools: group.iter().find_map(|span| tools::tools(span)).map(Arc::from),
            ..Response::default()
        };
        let mut reasons = group.iter().flat_map(|span| message::reasons(span, &answers.messages));
        response.promised = reasons.find_map(|reason| suspicion::promised_by(&reason));
        if may_call {
            response.promised.get_or_insert_with(|| suspicion::lost("the answer of a model"));
        }
        for said in answers.messages {
            let first = response.calls.len();
            response.unread += said.unread;
            response.answers.extend(said.answers);
            if answers.are_choices {
                response.undecided.push((said.content.clone(), first..first + said.calls.len()));
            }
            if response.content.is_missing() {
                response.content = said.content;
            }
            let calls = said.calls.into_iter().map(|call| Call { proposed: Some(call), made: None });
            response.calls.extend(calls);
        }
        response.failed = response.content.is_missing()
            && response.calls.is_empty()
            && group.iter().all(|span| span.is_error());
        response.spans = members;
        response
    };
    groups.into_iter().map(of_group).collect()
}

/// The calls that were made. Spans of the same call, one within the other, are one.
pub fn made(spans: &[Span], ancestry: &Ancestry) -> Vec<ToolSpan> {
    let mut known = HashMap::new();
    let asked = SpanArguments::of(spans);
    let mut calls: Vec<ToolSpan> = Vec::new();
    let mut places: HashMap<usize, usize> = HashMap::new();
    for (place, span) in spans.iter().enumerate() {
        if ancestry.part(place) != Part::Tool {
            continue;
        }
        if span.is_merged() {
            continue;
        }
        let same =
            |inner: usize, outer: usize| ancestry.part(outer) == Part::Tool && asked.is_same(inner, outer);
        let root = ancestry.outermost(place, &mut known, same);
        match places.get(&root).and_then(|at| calls.get_mut(*at)) {
            Some(call) => call.add(place, span),
            None => {
                places.insert(root, calls.len());
                calls.push(ToolSpan::of(root, spans.get(root).unwrap_or(span)));
                if let Some(call) = calls.last_mut() {
                    call.add(place, span);
                }
            }
        }
    }
    calls
}

/// Spans with the arguments of their calls. A span may have any number of others within it, so its arguments are read
/// once.
struct SpanArguments<'a> {
    spans: &'a [Span],
    arguments: Vec<OnceCell<Option<Body>>>,
}

impl SpanArguments<'_> {
    fn of(spans: &[Span]) -> SpanArguments<'_> {
        SpanArguments { spans, arguments: vec![OnceCell::new(); spans.len()] }
    }

    fn arguments(&self, place: usize) -> Option<&Body> {
        let read = || self.spans.get(place).and_then(Span::arguments);
        self.arguments.get(place)?.get_or_init(read).as_ref()
    }

    /// Whether a tool's span within another one is the same call: as a client and a server see it.
    fn is_same(&self, inner: usize, outer: usize) -> bool {
        let (Some(span), Some(around)) = (self.spans.get(inner), self.spans.get(outer)) else { return false };
        let protocol = span.attributes.get("mcp.method.name").is_some();
        let (name, named) = (span.tool(), around.tool());
        if name != named && !(protocol && related(&name, &named)) {
            return false;
        }
        match (self.arguments(inner), self.arguments(outer)) {
            (Some(inner), Some(outer)) => inner.value() == outer.value(),
            _ => true,
        }
    }
}

/// Whether one name is the other with something before it.
pub fn related(a: &str, b: &str) -> bool {
    !a.is_empty() && !b.is_empty() && (a.ends_with(b) || b.ends_with(a))
}

impl ToolSpan {
    fn of(place: usize, span: &Span) -> ToolSpan {
        let start = span.start.or(span.end).unwrap_or(i64::MIN);
        ToolSpan {
            place,
            start,
            end: span.end.unwrap_or(start).max(start),
            ended: span.end.is_some(),
            id: None,
            span: span.id.clone(),
            tool: span.tool().as_ref().into(),
            arguments: None,
            result: None,
            error: false,
            message: Body::MISSING,
            line: span.line,
            spans: Vec::new(),
        }
    }

    /// Adds the data of another span of the call.
    fn add(&mut self, place: usize, span: &Span) {
        self.spans.push(place);
        if self.id.is_none() {
            self.id = span.call_id().map(|id| id.as_ref().into());
        }
        if self.arguments.is_none() {
            self.arguments = span.arguments();
        }
        if self.result.is_none() {
            self.result = span.result().filter(|result| !result.is_missing());
        }
        self.error |= span.is_error();
        if self.message.is_missing() && span.is_error() {
            self.message = span.error();
        }
    }
}

/// Decides which choice of each response was taken: the one with a call that was made, else the first. If calls of
/// several were made, they are not choices but parts of the response.
pub fn choose(responses: &mut [Response]) {
    if responses.iter().all(|response| response.undecided.is_empty()) {
        return;
    }
    // A choice that requests repeat was taken.
    let repeated: HashSet<Box<str>> = responses
        .iter()
        .flat_map(|response| &response.inputs)
        .flat_map(|said| {
            let answered = said.answers.iter().filter_map(|answer| answer.id.clone());
            answered.chain(said.calls.iter().filter_map(|call| call.id.clone()))
        })
        .collect();
    let was_made = |call: &Call| {
        let id = call.proposed.as_ref().and_then(|proposed| proposed.id.as_ref());
        call.made.is_some() || id.is_some_and(|id| repeated.contains(id))
    };
    for response in responses {
        let choices = std::mem::take(&mut response.undecided);
        let calls_of = |range: &Range<usize>| response.calls.get(range.clone()).unwrap_or_default();
        let made = choices.iter().enumerate().filter(|(_, (_, range))| calls_of(range).iter().any(was_made));
        let made: Vec<usize> = made.map(|(place, _)| place).collect();
        let taken = match made.as_slice() {
            [] => 0,
            [only] => *only,
            _ => continue,
        };
        let mut calls = std::mem::take(&mut response.calls).into_iter();
        for (place, (content, range)) in choices.into_iter().enumerate() {
            let own = calls.by_ref().take(range.len());
            if place == taken {
                response.content = content;
                response.calls = own.collect();
            } else {
                let calls = own.filter_map(|call| call.proposed).collect();
                response.others.push(Choice { number: place as u32 + 1, content, calls });
            }
        }
        // Those that were made in this turn and not proposed.
        response.calls.extend(calls);
    }
}

/// A trace, and the run within it: the id of the span that is that.
pub type Scope = (Box<str>, Option<Box<str>>);

/// The run of each span. A run that is not among the spans does not count.
pub fn scopes(spans: &[Span], ancestry: &Ancestry) -> Vec<Scope> {
    let of_place = |(place, span): (usize, &Span)| {
        let run = ancestry.around(place).and_then(|outer| spans.get(outer)).map(|outer| outer.id.clone());
        (span.trace.clone(), run)
    };
    spans.iter().enumerate().map(of_place).collect()
}

/// Calls without a response become responses of their own: those with one parent that overlap are one turn.
pub fn overlapping(mut alone: Vec<(Scope, ToolSpan)>, spans: &[Span], responses: &mut Vec<Response>) {
    alone.sort_by_key(|(_, call)| (call.start, call.place));
    // For each parent, its latest response and the end of its last call.
    let mut open: HashMap<_, (usize, i64)> = HashMap::new();
    for (scope, call) in alone {
        let parent = spans.get(call.place).and_then(|span| span.parent.clone());
        let key = (scope.0.clone(), parent);
        match open.get_mut(&key) {
            Some((at, end)) if call.start < *end => {
                *end = call.end.max(*end);
                if let Some(response) = responses.get_mut(*at) {
                    response.calls.push(Call { proposed: None, made: Some(call) });
                }
            }
            _ => {
                open.insert(key, (responses.len(), call.end));
                responses.push(Response {
                    start: call.start,
                    at: Some(call.start).filter(|start| *start != i64::MIN),
                    line: call.line,
                    place: call.place,
                    scope,
                    calls: vec![Call { proposed: None, made: Some(call) }],
                    ..Response::default()
                });
            }
        }
    }
}
