//! From the spans of a conversation to its session: which calls a response of the model made, what came of them, and in
//! which order.
//!
//! Spans say when something was done and as part of what; turns follow from that. A call belongs to the response that
//! proposes its id, else to the request that it was made within, else to the latest one before it in the same agent's
//! run. Where no model was recorded, calls that share a parent and overlap are one turn.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

use super::ancestry::Ancestry;
use super::said::{self, Proposed, Said};
use super::traces::Trace;
use super::{Part, Span, telling};
use crate::diagnostic::{Diagnostic, code};
use crate::session::build::Builder;
use crate::session::read::Out;
use crate::session::read::setting::Setting;
use crate::session::{Body, Tool};

/// A response of the model, or the calls that stand for one.
#[derive(Default)]
pub struct Response {
    /// When it was asked for; what comes before that is known to the model.
    pub start: i64,
    /// When it came.
    pub at: Option<i64>,
    pub line: u32,
    /// Every span of the request failed, and nothing was answered.
    pub failed: bool,
    /// Where in the session's spans it stands.
    pub place: usize,
    /// The run that it is part of.
    pub scope: Scope,
    pub inputs: Vec<Said>,
    pub content: Body,
    pub tools: Option<Vec<Tool>>,
    pub calls: Vec<Call>,
    /// Those of its calls that were proposed and are not known to have been made.
    pub free: VecDeque<usize>,
}

/// A call: proposed, made, or both.
pub struct Call {
    pub proposed: Option<Proposed>,
    pub made: Option<Made>,
}

/// A span of a tool, with those that stand for the same call.
pub struct Made {
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
}

/// The session of a conversation's traces.
pub fn session(id: &str, traces: Vec<Trace>, setting: &Setting, out: &mut Out) {
    let line = traces.iter().map(|trace| trace.line).min().unwrap_or(1);
    let mut builder = setting.session_at(id, line, out);
    let mut spans = Vec::new();
    let mut passed = HashMap::new();
    for trace in traces {
        builder.at_line(trace.line);
        if trace.continues {
            builder.starts_in_the_middle(
                "spans of the same trace stand so far before that they were read already",
            );
        }
        trace.diagnostics.into_iter().for_each(|diagnostic| builder.diagnostic(diagnostic));
        spans.extend(trace.spans);
        passed.extend(trace.passed);
    }
    // What stands first in time stands first, whatever the file's order.
    spans.sort_by_key(|span| span.start.or(span.end));
    let ancestry = Ancestry::of(&spans, &passed);
    surroundings(&spans, &mut builder);
    let mut responses = responses(&spans, &ancestry);
    let made = made(&spans, &ancestry, &mut builder);
    distribute(made, &mut responses, &spans, &ancestry);
    // A request that failed before anything was answered is no response.
    responses.retain(|response| !response.failed || !response.calls.is_empty());
    responses.sort_by_key(|response| (response.start, response.place));
    if responses.iter().all(|response| response.inputs.is_empty())
        && let Some(first) = responses.first_mut()
    {
        // Without the requests, the run of the agent may still say what it was asked.
        let runs = spans.iter().enumerate().filter(|(place, _)| ancestry.part(*place) == Part::Agent);
        let mut asked = runs.map(|(_, span)| said::inputs(span)).filter(|asked| !asked.is_empty());
        first.inputs = asked.next().unwrap_or_default();
    }
    telling::tell(responses, setting, &mut builder);
    out.session(builder);
}

fn surroundings(spans: &[Span], builder: &mut Builder) {
    for (key, name) in [("agent", "gen_ai.agent.name"), ("model", "gen_ai.request.model")] {
        if let Some(value) = spans.iter().find_map(|span| span.attributes.text(name)) {
            builder.context_once(key, Value::String(value.into_owned()));
        }
    }
}

/// The requests to a model. Spans of one request within another are one.
fn responses(spans: &[Span], ancestry: &Ancestry) -> Vec<Response> {
    let mut known = HashMap::new();
    let mut groups: HashMap<usize, Vec<usize>> = HashMap::new();
    for place in (0..spans.len()).filter(|place| ancestry.part(*place) == Part::Model) {
        let same = |_, outer| ancestry.part(outer) == Part::Model;
        groups.entry(ancestry.outermost(place, &mut known, same)).or_default().push(place);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_unstable();
    let of_group = |(place, mut members): (usize, Vec<usize>)| {
        // The innermost span is the one that asked.
        members.sort_unstable_by(|a, b| b.cmp(a));
        let group: Vec<&Span> = members.iter().filter_map(|member| spans.get(*member)).collect();
        let outermost = spans.get(place);
        let first = |said: fn(&Span) -> Vec<Said>| {
            group.iter().map(|span| said(span)).find(|said| !said.is_empty()).unwrap_or_default()
        };
        let mut response = Response {
            start: outermost.and_then(|span| span.start).unwrap_or(i64::MIN),
            at: group.iter().filter_map(|span| span.end).min(),
            line: outermost.map_or(1, |span| span.line),
            place,
            scope: scope(place, spans, ancestry),
            inputs: first(said::inputs),
            tools: group.iter().find_map(|span| said::tools(span)),
            ..Response::default()
        };
        for said in first(said::outputs) {
            if response.content.is_missing() {
                response.content = said.content;
            }
            let calls = said.calls.into_iter().map(|call| Call { proposed: Some(call), made: None });
            response.calls.extend(calls);
        }
        response.failed = response.content.is_missing()
            && response.calls.is_empty()
            && group.iter().all(|span| span.is_error());
        response.free = (0..response.calls.len()).collect();
        response
    };
    groups.into_iter().map(of_group).collect()
}

/// The calls that were made. Spans of the same call, one within the other, are one.
fn made(spans: &[Span], ancestry: &Ancestry, builder: &mut Builder) -> Vec<Made> {
    let mut known = HashMap::new();
    let mut calls: Vec<Made> = Vec::new();
    let mut places: HashMap<usize, usize> = HashMap::new();
    for (place, span) in spans.iter().enumerate() {
        if ancestry.part(place) != Part::Tool {
            continue;
        }
        if span.is_merged() {
            let file = builder.origin().file.clone();
            let message = "a span stands for several calls that have spans of their own, and is no call";
            let notice = Diagnostic::notice(code::DAMAGED_RECORD, message);
            builder.diagnostic(notice.on_line(file, u64::from(span.line)));
            continue;
        }
        let same = |inner: usize, outer: usize| {
            let (Some(inner), Some(around)) = (spans.get(inner), spans.get(outer)) else { return false };
            ancestry.part(outer) == Part::Tool && is_same(inner, around)
        };
        let root = ancestry.outermost(place, &mut known, same);
        match places.get(&root).and_then(|at| calls.get_mut(*at)) {
            Some(call) => call.add(span),
            None => {
                places.insert(root, calls.len());
                calls.push(Made::of(root, spans.get(root).unwrap_or(span)));
                if let Some(call) = calls.last_mut() {
                    call.add(span);
                }
            }
        }
    }
    calls
}

/// Whether a tool's span within another one is the same call: as a client and a server see it.
fn is_same(inner: &Span, outer: &Span) -> bool {
    let protocol = inner.attributes.get("mcp.method.name").is_some();
    let (name, around) = (inner.tool(), outer.tool());
    let named = name == around || protocol && (related(&name, &around));
    let differ = match (inner.arguments(), outer.arguments()) {
        (Some(inner), Some(outer)) => inner.value() != outer.value(),
        _ => false,
    };
    named && !differ
}

/// Whether one name is the other with something before it.
fn related(a: &str, b: &str) -> bool {
    !a.is_empty() && !b.is_empty() && (a.ends_with(b) || b.ends_with(a))
}

impl Made {
    fn of(place: usize, span: &Span) -> Made {
        let start = span.start.or(span.end).unwrap_or(i64::MIN);
        Made {
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
        }
    }

    /// What a span of the call says that is not known yet.
    fn add(&mut self, span: &Span) {
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

/// Gives each call to the response that it follows from; the others become responses of their own.
fn distribute(made: Vec<Made>, responses: &mut Vec<Response>, spans: &[Span], ancestry: &Ancestry) {
    let mut by_id: HashMap<Box<str>, VecDeque<(usize, usize)>> = HashMap::new();
    let mut by_place: HashMap<usize, usize> = HashMap::new();
    // Of each agent's run, its responses in order of time.
    let mut runs: HashMap<Scope, Vec<(i64, usize)>> = HashMap::new();
    for (at, response) in responses.iter().enumerate() {
        by_place.insert(response.place, at);
        runs.entry(response.scope.clone()).or_default().push((response.start, at));
        for (call, Call { proposed, .. }) in response.calls.iter().enumerate() {
            if let Some(id) = proposed.as_ref().and_then(|proposed| proposed.id.clone()) {
                by_id.entry(id).or_default().push_back((at, call));
            }
        }
    }
    runs.values_mut().for_each(|run| run.sort_unstable());
    let mut known = HashMap::new();
    let mut alone: Vec<(Scope, Made)> = Vec::new();
    for call in made {
        let places = call.id.as_ref().and_then(|id| by_id.get_mut(id));
        if let Some((at, place)) = places.and_then(VecDeque::pop_front)
            && let Some(response) = responses.get_mut(at)
        {
            match response.calls.get(place) {
                Some(Call { made: None, .. }) => response.take(place, call),
                _ => response.calls.push(Call { proposed: None, made: Some(call) }),
            }
            continue;
        }
        let within = ancestry.around(call.place).filter(|outer| ancestry.part(*outer) == Part::Model);
        let within = within.map(|outer| {
            ancestry.outermost(outer, &mut known, |_, outer| ancestry.part(outer) == Part::Model)
        });
        let scope = scope(call.place, spans, ancestry);
        let before = || {
            let run = runs.get(&scope)?;
            let after = run.partition_point(|(start, _)| *start <= call.start);
            run.get(after.checked_sub(1)?).map(|(_, at)| *at)
        };
        let at = within.and_then(|place| by_place.get(&place).copied()).or_else(before);
        match at.and_then(|at| responses.get_mut(at)) {
            Some(response) => response.make(call),
            None => alone.push((scope, call)),
        }
    }
    overlapping(alone, spans, responses);
}

/// A trace, and the run within it.
pub type Scope = (Box<str>, Option<usize>);

fn scope(place: usize, spans: &[Span], ancestry: &Ancestry) -> Scope {
    (spans.get(place).map(|span| span.trace.clone()).unwrap_or_default(), ancestry.around(place))
}

/// Calls without a response: those with one parent that overlap are one turn.
fn overlapping(mut alone: Vec<(Scope, Made)>, spans: &[Span], responses: &mut Vec<Response>) {
    alone.sort_by_key(|(_, call)| (call.start, call.place));
    // Of each parent, its latest response and when the last of its calls ends.
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

impl Response {
    /// Proposed calls that one that was made is compared with.
    const COMPARED: usize = 64;

    /// A call that was made is this one that was proposed.
    fn take(&mut self, place: usize, made: Made) {
        if let Some(call) = self.calls.get_mut(place) {
            call.made = Some(made);
        }
        if let Some(at) = self.free.iter().take(Self::COMPARED).position(|free| *free == place) {
            self.free.remove(at);
        }
    }

    /// A call was made in this turn: one that was proposed under the same name, or one that was not proposed.
    fn make(&mut self, made: Made) {
        let fits = |exact: bool| {
            self.free.iter().copied().take(Self::COMPARED).find(|place| {
                let call = self.calls.get(*place).filter(|call| call.made.is_none());
                call.and_then(|call| call.proposed.as_ref())
                    .is_some_and(|proposed| proposed.fits(&made, exact))
            })
        };
        match fits(true).or_else(|| fits(false)) {
            Some(place) => self.take(place, made),
            None => self.calls.push(Call { proposed: None, made: Some(made) }),
        }
    }
}

impl Proposed {
    /// Whether a call that was made may be this one: by name and arguments, or else by name.
    fn fits(&self, made: &Made, exact: bool) -> bool {
        let named = self.tool == made.tool || !exact && related(&self.tool, &made.tool);
        let asked = made.arguments.as_ref().map(|asked| asked.value() == self.arguments.value());
        let ids = self.id.is_some() && made.id.is_some();
        named
            && match (exact, ids) {
                (true, true) => asked == Some(true),
                (true, false) => asked != Some(false),
                (false, ids) => !ids,
            }
    }
}
