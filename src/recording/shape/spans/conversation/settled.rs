//! What is kept of responses that were told while more of their conversation was to come: enough to notice a span that
//! should have been known by then.

use std::collections::{HashMap, HashSet};

use super::super::ancestry::{Ancestry, Around, Key};
use super::super::turns::{Made, Response, Scope};
use super::super::{Part, Span, digest};
use crate::diagnostic::Diagnostic;

/// What was told while more was to come.
#[derive(Default)]
pub struct Settled {
    /// When the latest response began.
    pub start: Option<i64>,
    /// Digests of the spans of requests.
    pub models: HashSet<u64>,
    /// Digests of the spans of calls.
    pub tools: HashSet<u64>,
    /// Runs that responses were part of.
    pub runs: HashSet<Scope>,
    /// Those of which the first one was told without what it was offered.
    pub unoffered: HashSet<Scope>,
    /// Runs that calls without a response were part of.
    pub called_in: HashSet<Scope>,
    /// Of calls that follow from no response but by their time, when the latest one of each run began.
    pub timed: HashMap<Scope, i64>,
    /// Spans around those that were told, which have not come.
    pub beyond: HashSet<Key>,
    /// Digests of the ids of calls that were proposed and not made.
    pub free: HashSet<u64>,
    /// Digests of the ids of calls that were made and not proposed.
    pub unproposed: HashSet<u64>,
    /// Of calls without a response, when the last one of each parent ends.
    pub alone: HashMap<u64, i64>,
    /// The span of the run whose question stands before the first response.
    pub asked_by: Option<u64>,
    /// Whether some request says what it sends.
    pub asks: bool,
    /// What was told of them.
    pub told: Vec<Diagnostic>,
}

impl Settled {
    /// Keeps what must be known of a response that is told, and the places of its spans.
    pub fn add(
        &mut self,
        response: &Response,
        spans: &[Span],
        ancestry: &Ancestry,
        scopes: &[Scope],
        gone: &mut HashSet<usize>,
    ) {
        let made = || response.calls.iter().filter_map(|call| call.made.as_ref());
        let asked = response.spans.iter().map(|place| (*place, true));
        for (place, asked) in
            asked.chain(made().flat_map(|made| made.spans.iter().map(|place| (*place, false))))
        {
            let Some(span) = spans.get(place) else { continue };
            gone.insert(place);
            let of_kind = if asked { &mut self.models } else { &mut self.tools };
            of_kind.insert(key(&span.trace, &span.id));
            if let Around::Beyond(id) = ancestry.beyond(place) {
                self.beyond.insert((span.trace.clone(), id.clone()));
            }
        }
        self.start = self.start.max(Some(response.start));
        let run = scopes.get(response.place).cloned().unwrap_or_default();
        if !self.has(&run) && response.tools.is_none() {
            self.unoffered.insert(run.clone());
        }
        if !response.spans.is_empty() {
            self.runs.insert(run);
        } else if let Some(parent) = spans.get(response.place).map(parent) {
            let end = made().map(|made| made.end).max().unwrap_or(i64::MIN);
            let known = self.alone.entry(parent).or_insert(end);
            *known = end.max(*known);
            self.called_in.insert(run);
        }
        for call in &response.calls {
            let Some(made) = &call.made else { continue };
            let proposed = call.proposed.as_ref().and_then(|proposed| proposed.id.as_ref());
            let by_id = proposed.is_some() && proposed == made.id.as_ref();
            let within = ancestry.around(made.place).map(|outer| ancestry.part(outer));
            if !by_id && within != Some(Part::Model) {
                self.follows(scopes.get(made.place).cloned().unwrap_or_default(), made.start);
            }
        }
        for call in &response.calls {
            let proposed = call.proposed.as_ref().and_then(|proposed| proposed.id.as_deref());
            let id = call.made.as_ref().map(|made| made.id.as_deref());
            match (proposed, id) {
                (Some(proposed), id) if id.is_none_or(|id| id != Some(proposed)) => {
                    self.free.insert(key("", proposed));
                }
                (None, Some(Some(id))) => {
                    self.unproposed.insert(key("", id));
                }
                _ => {}
            }
        }
    }

    /// Whether something of this run was told.
    pub fn has(&self, run: &Scope) -> bool {
        self.runs.contains(run) || self.called_in.contains(run)
    }

    /// A call of this run, which began then, follows from what was told for no other reason than its time.
    pub fn follows(&mut self, run: Scope, start: i64) {
        let latest = self.timed.entry(run).or_insert(start);
        *latest = start.max(*latest);
    }

    /// Whether a response came between one that was told and a call that follows from it by its time.
    pub fn comes_between(&self, responses: &[Response]) -> bool {
        responses
            .iter()
            .any(|response| self.timed.get(&response.scope).is_some_and(|latest| response.start <= *latest))
    }

    /// Whether a call belongs to a response that was told, or a response to a call that was.
    pub fn precedes(&self, made: &[Made], responses: &[Response]) -> bool {
        let ids = made.iter().filter_map(|made| made.id.as_deref());
        let proposed = responses.iter().flat_map(|response| &response.calls);
        let proposed = proposed.filter_map(|call| call.proposed.as_ref()?.id.as_deref());
        ids.into_iter().any(|id| self.free.contains(&key("", id)))
            || proposed.into_iter().any(|id| self.unproposed.contains(&key("", id)))
    }

    /// The same of calls without a response.
    pub fn precedes_alone(&self, alone: &[(Scope, Made)], spans: &[Span]) -> bool {
        alone.iter().any(|(scope, made)| {
            let parent = spans.get(made.place).map(parent);
            self.runs.contains(scope)
                || parent.and_then(|parent| self.alone.get(&parent)).is_some_and(|end| made.start < *end)
        })
    }
}

/// What tells a span from others; also an id from others, with an empty trace.
pub fn key(trace: &str, id: &str) -> u64 {
    digest((trace, id))
}

fn parent(span: &Span) -> u64 {
    digest((&*span.trace, span.parent.as_deref()))
}
