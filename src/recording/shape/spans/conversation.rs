//! A conversation while its spans are read, and the session that they come to.
//!
//! Spans come in any order, and what one is part of may come last of all, so a conversation is told at its end. Of one
//! that is too long to be held the oldest responses are told with their calls, since spans mostly come as they end; the
//! latest ones are held for what may still belong to them. Of those that were told the ids are kept, and not what they
//! say: a span that comes too late makes the file be read again, as a whole. So does a call that goes on for longer than
//! what is held, and an export that begins with the newest span is held whole.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use super::ancestry::{Ancestry, Around, Parents, Passed};
use super::telling::Telling;
use super::traces::Trace;
use super::turns;
use super::turns::{Response, Scope};
use super::{Part, Span, said};
use crate::diagnostic::{Diagnostic, code};
use crate::recording::contract::out::Out;
use crate::recording::contract::setting::Setting;
use crate::session::Tool;
use crate::session::build::Builder;

mod settled;

use settled::{Settled, key};

/// A conversation that is being read.
pub struct Conversation {
    /// What is known of it.
    pub builder: Builder,
    telling: Telling,
    /// Parents of spans that matter to no run.
    passed: Passed,
    /// What the first span in time says that names it: the agent, and the model.
    named: [Option<(Option<i64>, String)>; 2],
    /// What runs say that they offer, by the digests of their spans.
    offered: HashMap<u64, Arc<[Tool]>>,
    /// The latest of them.
    offered_last: Option<Arc<[Tool]>>,
    settled: Settled,
}

/// Attributes that name the surroundings, and how they are called there.
const SURROUNDINGS: [(&str, &str); 2] = [("agent", "gen_ai.agent.name"), ("model", "gen_ai.request.model")];

/// What stands in the spans that are held.
struct Work {
    spans: Vec<Span>,
    ancestry: Ancestry,
    scopes: Vec<Scope>,
    /// In the order of their beginnings.
    responses: Vec<Response>,
    /// Requests that failed before anything was answered.
    failed: Vec<Response>,
}

impl Conversation {
    /// A conversation of which nothing was told.
    pub fn new(builder: Builder) -> Conversation {
        Conversation {
            builder,
            telling: Telling::default(),
            passed: Passed::new(),
            named: [None, None],
            offered: HashMap::new(),
            offered_last: None,
            settled: Settled::default(),
        }
    }

    /// Something came for this span. One that was told should have said it.
    pub fn adds_to(&mut self, trace: &str, id: &str) {
        let digest = key(trace, id);
        if self.settled.models.contains(&digest) || self.settled.tools.contains(&digest) {
            self.builder.spoil();
        }
    }

    /// Tells the oldest responses of these traces, which hold so many bytes, until so many are `left`. Gives how many are.
    pub fn settle(&mut self, traces: &mut [Trace], held: usize, left: usize, setting: &Setting) -> usize {
        let odd = self.builder.take_diagnostics();
        let Work { spans, ancestry, scopes, mut responses, failed } = self.work(traces, true);
        let mut gone = HashSet::new();
        let count = whole(&responses, &spans, held, left);
        if spans.iter().any(|span| span.part() == Part::Tool && span.is_merged()) {
            self.builder.spoil();
        }
        if let Some(count) = count.filter(|_| !self.builder.is_spoiled()) {
            if !self.telling.has_begun() {
                self.question(&mut responses, &spans, &ancestry);
                self.telling.begin(&responses, &mut self.builder);
            }
            let behind = responses.split_off(count);
            let until = behind.first().map_or(i64::MAX, |first| first.start);
            let failed = failed.iter().filter(|response| response.start < until);
            for response in responses.iter().chain(failed) {
                self.settled.add(response, &spans, &ancestry, &scopes, &mut gone);
            }
            if !self.telling.tell(responses, &behind, setting, &mut self.builder) {
                self.builder.spoil();
            }
        }
        self.settled.told.extend(self.builder.take_diagnostics());
        odd.into_iter().for_each(|told| self.builder.diagnostic(told));
        let mut held = 0;
        let places: HashMap<Box<str>, usize> =
            traces.iter().enumerate().map(|(place, trace)| (trace.id.clone(), place)).collect();
        for (place, mut span) in spans.into_iter().enumerate() {
            if gone.contains(&place) {
                continue;
            }
            if ancestry.part(place) == Part::Agent {
                // What is told of it by the requests within it must stay so when they are gone.
                span.attributes.is_run();
                if self.settled.asks {
                    span.attributes.only_kind();
                }
            }
            held += span.size();
            if let Some(trace) = places.get(&span.trace).and_then(|place| traces.get_mut(*place)) {
                trace.spans.push(span);
            }
        }
        held
    }

    /// The session is whole; `id` is its own.
    pub fn close(mut self, id: &str, mut traces: Vec<Trace>, setting: &Setting, out: &mut Out) {
        self.builder.id(id);
        if traces.iter().map(|trace| trace.line).min() != Some(self.builder.origin().line) {
            self.builder.spoil();
        }
        for trace in &mut traces {
            self.builder.at_line(trace.line);
            if trace.continues {
                self.builder.starts_in_the_middle(
                    "spans of the same trace stand so far before that they were read already",
                );
            }
            std::mem::take(&mut trace.diagnostics).into_iter().for_each(|told| self.builder.diagnostic(told));
        }
        let parts = self.telling.has_begun();
        let told = std::mem::take(&mut self.settled.told);
        told.into_iter().for_each(|told| self.builder.diagnostic(told));
        let Work { spans, ancestry, scopes, mut responses, failed: _ } = self.work(&mut traces, parts);
        for span in spans.iter().filter(|span| span.part() == Part::Tool && span.is_merged()) {
            let file = self.builder.origin().file.clone();
            let message = "a span stands for several calls that have spans of their own, and is no call";
            let notice = Diagnostic::notice(code::DAMAGED_RECORD, message);
            self.builder.diagnostic(notice.on_line(file, u64::from(span.line)));
        }
        if parts {
            self.prove(&spans, &ancestry, &scopes);
        } else {
            self.question(&mut responses, &spans, &ancestry);
            self.telling.begin(&responses, &mut self.builder);
        }
        if !self.telling.tell(responses, &[], setting, &mut self.builder) {
            self.builder.spoil();
        }
        self.telling.end(&mut self.builder);
        if parts && self.builder.states_results() {
            self.builder.spoil();
        }
        out.session(self.builder);
    }

    /// Takes the spans of the traces, and finds the responses in them and the calls that they made. In `parts`, what is
    /// around them may still come.
    fn work(&mut self, traces: &mut [Trace], parts: bool) -> Work {
        let mut spans = Vec::new();
        for trace in traces {
            spans.append(&mut trace.spans);
            self.passed.extend(trace.passed.drain());
        }
        // What stands first in time stands first, whatever the file's order.
        spans.sort_by_key(|span| span.start.or(span.end));
        self.surroundings(&spans);
        let ancestry = Ancestry::of(&spans, &self.passed);
        let begun = self.telling.has_begun();
        let scopes = turns::scopes(&spans, &ancestry, parts);
        if begun {
            self.reconsider(&spans, &ancestry);
        }
        let mut responses = turns::responses(&spans, &ancestry, &scopes);
        let made = turns::made(&spans, &ancestry);
        if begun && (self.settled.precedes(&made, &responses) || self.settled.comes_between(&responses)) {
            self.builder.spoil();
        }
        let alone = turns::distribute(made, &mut responses, &ancestry, &scopes);
        turns::choose(&mut responses);
        if begun && self.settled.precedes_alone(&alone, &spans) {
            self.builder.spoil();
        }
        turns::overlapping(alone, &spans, &mut responses);
        // A request that failed before anything was answered is no response.
        let failed = |response: &Response| response.failed && response.calls.is_empty();
        let (failed, mut responses): (Vec<_>, Vec<_>) = responses.into_iter().partition(failed);
        responses.sort_by_key(|response| (response.start, response.place));
        let asks = responses.iter().any(|response| !response.inputs.is_empty());
        let early = responses.first().is_some_and(|first| Some(first.start) <= self.settled.start);
        if begun && (early || asks && self.settled.asked_by.is_some()) {
            self.builder.spoil();
        }
        self.settled.asks |= asks;
        self.offered_by_runs(&mut responses, &spans, &ancestry);
        Work { spans, ancestry, scopes, responses, failed }
    }

    /// Where the requests of an agent's run do not say what they offer, the run itself may; its first one carries that for
    /// all.
    fn offered_by_runs(&mut self, responses: &mut [Response], spans: &[Span], ancestry: &Ancestry) {
        for (place, span) in spans.iter().enumerate() {
            let digest = key(&span.trace, &span.id);
            if ancestry.part(place) != Part::Agent || self.offered.contains_key(&digest) {
                continue;
            }
            let Some(tools) = said::tools(span) else { continue };
            // Runs of one agent offer the same.
            let same = self.offered_last.take().filter(|last| **last == *tools);
            let tools = same.unwrap_or_else(|| tools.into());
            self.offered_last = Some(Arc::clone(&tools));
            self.offered.insert(digest, tools);
            if self.settled.unoffered.contains(&(span.trace.clone(), Some(span.id.clone()))) {
                self.builder.spoil();
            }
        }
        let mut seen = HashSet::new();
        for response in responses {
            let (trace, Some(run)) = &response.scope else { continue };
            let is_first = !self.settled.has(&response.scope) && seen.insert(response.scope.clone());
            if is_first && response.tools.is_none() {
                response.tools = self.offered.get(&key(trace, run)).cloned();
            }
        }
    }

    /// What the spans say of where the session runs.
    fn surroundings(&mut self, spans: &[Span]) {
        self.builder.facts().context = None;
        for ((key, name), known) in SURROUNDINGS.iter().zip(&mut self.named) {
            let mut named = spans
                .iter()
                .filter_map(|span| Some((span.start.or(span.end), span.attributes.text(name)?.into_owned())));
            if let Some(found) = named.next()
                && known.as_ref().is_none_or(|known| found.0 < known.0)
            {
                *known = Some(found);
            }
            if let Some((_, value)) = known {
                self.builder.context_once(key, Value::String(value.clone()));
            }
        }
    }

    /// Without the requests, the run of the agent may still say what it was asked.
    fn question(&mut self, responses: &mut [Response], spans: &[Span], ancestry: &Ancestry) {
        if responses.iter().all(|response| response.inputs.is_empty())
            && let Some(first) = responses.first_mut()
            && let Some((by, asked)) = asked(spans, ancestry)
        {
            first.inputs = asked;
            self.settled.asked_by = Some(by);
        }
    }

    /// Finds out what the spans that have come since mean for those that were told.
    fn reconsider(&mut self, spans: &[Span], ancestry: &Ancestry) {
        let late = spans.iter().enumerate().any(|(place, span)| {
            let Around::Beyond(id) = ancestry.beyond(place) else { return false };
            let outer = key(&span.trace, id);
            let is_tool = ancestry.part(place) == Part::Tool;
            self.settled.models.contains(&outer) || is_tool && self.settled.tools.contains(&outer)
        });
        let mut spoiled = late;
        let mut parents = Parents::of(spans, &self.passed);
        let mut beyond = HashSet::new();
        for (trace, id) in self.settled.beyond.drain() {
            match parents.nearest(&trace, Some(&id)) {
                Around::Beyond(id) => {
                    beyond.insert((trace, id));
                }
                Around::Span(place) => {
                    spoiled |= spans.get(place).is_some_and(|span| span.part() != Part::Agent);
                }
                Around::Nothing => {}
            }
        }
        self.settled.beyond = beyond;
        let mut now = |(trace, run): &Scope| {
            let run = run.as_ref().and_then(|id| match parents.nearest(trace, Some(id)) {
                Around::Beyond(id) => Some(id),
                Around::Span(place) => spans.get(place).map(|span| span.id.clone()),
                Around::Nothing => None,
            });
            (trace.clone(), run)
        };
        let runs: HashSet<Scope> = self.settled.runs.iter().map(&mut now).collect();
        let called_in: HashSet<Scope> = self.settled.called_in.iter().map(&mut now).collect();
        let unoffered: HashSet<Scope> = self.settled.unoffered.iter().map(&mut now).collect();
        for (run, latest) in std::mem::take(&mut self.settled.timed) {
            self.settled.follows(now(&run), latest);
        }
        self.telling.rename(now);
        // What was told of two runs would have been told of one.
        spoiled |= runs.len() < self.settled.runs.len() || !runs.is_disjoint(&called_in);
        self.settled.runs = runs;
        self.settled.called_in = called_in;
        self.settled.unoffered = unoffered;
        if spoiled {
            self.builder.spoil();
        }
    }

    /// Whether what was told is what would be told now that all is known.
    fn prove(&mut self, spans: &[Span], ancestry: &Ancestry, scopes: &[Scope]) {
        let here: HashSet<(&str, &str)> = spans.iter().map(|span| (&*span.trace, &*span.id)).collect();
        let is_known = |trace: &str, id: &str| {
            let digest = key(trace, id);
            here.contains(&(trace, id))
                || self.settled.tools.contains(&digest)
                || self.settled.models.contains(&digest)
        };
        // Of runs that are not in the file one is not told from another.
        let mut unknown: HashMap<&str, HashSet<Option<&str>>> = HashMap::new();
        let matters = |place: usize| matches!(ancestry.part(place), Part::Model | Part::Tool);
        let held = scopes.iter().enumerate().filter(|(place, _)| matters(*place)).map(|(_, scope)| scope);
        for (trace, run) in self.settled.runs.iter().chain(&self.settled.called_in).chain(held) {
            let run = run.as_deref();
            if run.is_none_or(|id| !is_known(trace, id)) {
                unknown.entry(trace).or_default().insert(run);
            }
        }
        let mut spoiled = unknown.values().any(|runs| runs.len() > 1);
        if !self.settled.asks {
            spoiled |= asked(spans, ancestry).map(|(by, _)| by) != self.settled.asked_by;
        }
        if spoiled {
            self.builder.spoil();
        }
    }
}

/// How many of the oldest responses can be told: those behind hold so many bytes at least, and began later.
fn whole(responses: &[Response], spans: &[Span], held: usize, left: usize) -> Option<usize> {
    let (mut bytes, mut best) = (held, None);
    let mut before: Option<i64> = None;
    for (count, response) in responses.iter().enumerate() {
        if bytes < left {
            break;
        }
        if before.is_some_and(|before| before < response.start) {
            best = Some(count);
        }
        before = Some(response.start);
        let made = response.calls.iter().filter_map(|call| call.made.as_ref());
        let places = response.spans.iter().chain(made.flat_map(|made| &made.spans));
        bytes -= places.filter_map(|place| spans.get(*place)).map(Span::size).sum::<usize>().min(bytes);
    }
    best
}

/// What the first run of an agent that says so was asked, and which that is.
fn asked(spans: &[Span], ancestry: &Ancestry) -> Option<(u64, Vec<said::Said>)> {
    let runs = spans.iter().enumerate().filter(|(place, _)| ancestry.part(*place) == Part::Agent);
    let mut asked = runs.map(|(_, span)| (key(&span.trace, &span.id), said::inputs(span)));
    asked.find(|(_, asked)| !asked.is_empty())
}
