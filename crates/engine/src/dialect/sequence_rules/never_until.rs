//! Rules about calls that must not come after another until a third one: `never_after` with `until`.
//!
//! A trigger counts as soon as it runs; the call that lifts it counts once its success is known. Of the triggers that
//! ran since then, the first and the last are kept, so that lifting those before it leaves the others.

use std::hash::Hash;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::asks::Part;
use super::commands::lifts;
use super::operand::{Look, Match, Operand, Side};
use super::unit::{Kind, Objection, RuleStanding};
use crate::dialect::sequence_rules::codes;
use crate::monitor::collections::Waiting;
use crate::monitor::finding::RuleOutcome;
use crate::monitor::{Cx, Digest, Enablers, End, Observes, Prospect, Slot, Timers, Wakes};
use rulestep_base::session::CallRef;

/// `never_after` with `until`.
pub(super) struct NeverUntil {
    pub trigger: Side,
    pub forbidden: Side,
    pub until: Side,
    /// Whether how a call ended says if it is a trigger.
    pub ends: bool,
}

/// Its state.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct UntilState {
    /// Triggers of which it is unknown whether they ran, in order.
    open: Waiting<CallRef>,
    /// The first and the last of those that ran since the prohibition was lifted.
    ran: Option<(CallRef, CallRef)>,
    /// Forbidden calls, each with the trigger it came after, in order, until the first is known to have run.
    hits: Waiting<(CallRef, CallRef)>,
    hit_ran: bool,
    /// The first trigger, with its matching part.
    begun: Option<(CallRef, Arc<Part>)>,
    /// Whether there was a trigger at all.
    exercised: bool,
}

impl UntilState {
    /// The trigger since which calls are forbidden.
    fn trigger(&self) -> Option<CallRef> {
        let ran = self.ran.map(|(first, _)| first);
        self.open.iter().next().into_iter().chain(ran).min()
    }

    /// The prohibition is lifted for all triggers up to this call.
    fn lift(&mut self, at: CallRef) {
        while self.open.take(|_| false, |open| *open <= at).is_some() {}
        self.ran = self.ran.filter(|(_, last)| *last > at).map(|(_, last)| (last, last));
        self.begun = None;
    }
}

impl NeverUntil {
    fn sides(&self) -> [&Side; 3] {
        [&self.trigger, &self.forbidden, &self.until]
    }

    /// The forbidden part of a call; an empty one is the whole call.
    fn stops(&self, state: &UntilState, look: Look<'_>) -> Option<Part> {
        let held = state.trigger().is_some();
        if !self.forbidden.asks {
            return (held && self.forbidden.means(look) == Match::Yes).then(Part::default);
        }
        if look.arguments.is_none() || look.slot.0 == 0 {
            return None;
        }
        self.forbidden.after(&self.trigger, Some(&self.until), held, look)
    }
}

impl Kind for NeverUntil {
    type State = UntilState;

    fn wakes(&self, tool: &str) -> Wakes {
        let any = self.sides().iter().fold(0, |any, side| any | side.slot(tool));
        let observe = Observes { starts: any != 0, results: any != 0, arguments: false };
        Wakes { decide: self.forbidden.slot(tool) != 0, observe, slot: Slot(any) }
    }

    fn operands(&self) -> Vec<&Operand> {
        self.sides().into_iter().flat_map(Side::operands).collect()
    }

    fn names(&self, out: &mut Vec<Arc<str>>) {
        out.extend(self.sides().into_iter().flat_map(Side::tools).cloned());
    }

    fn gate(&self, state: &UntilState, look: Look<'_>, _cx: &Cx<'_>) -> Option<Objection> {
        let part = self.stops(state, look)?;
        let trigger = state.trigger();
        let begun = state.begun.as_ref().filter(|(begun, _)| Some(*begun) == trigger && part.since.is_none());
        let earlier = begun.map(|(_, part)| Arc::clone(part));
        let told =
            (earlier.is_some() || part != Part::default()).then_some(Part { trigger: earlier, ..part });
        // Within one call, no earlier one is at fault.
        let found = trigger.filter(|_| told.as_ref().is_none_or(|part| part.since.is_none()));
        Some(Objection::new(codes::AFTER_TRIGGER, found).part(told))
    }

    fn enablers(&self, call: Prospect<'_>, out: &mut Enablers) {
        if self.forbidden.concerns(call) {
            self.until.enablers(call, out);
        }
    }

    fn unseen(&self, _state: &UntilState, look: Look<'_>) -> Option<Objection> {
        let refused = self.forbidden.means(look) == Match::Yes;
        refused.then(|| Objection::new(codes::UNSEEN_SESSION, []))
    }

    fn digest(&self, state: &UntilState, _cx: &Cx<'_>, out: &mut Digest) {
        state.trigger().is_some().hash(out);
    }

    fn started(
        &self,
        state: &mut UntilState,
        look: Look<'_>,
        at: CallRef,
        _cx: &Cx<'_>,
        _timers: &mut Timers<'_>,
    ) {
        if !state.hit_ran && !look.is_elsewhere() && self.stops(state, look).is_some() {
            state.hits.push((at, state.trigger().unwrap_or(at)));
        }
        if self.trigger.is(look) {
            if state.trigger().is_none() {
                state.begun = self.trigger.part(look).map(|part| (at, Arc::new(part)));
            }
            state.open.push(at);
            state.exercised = true;
        }
    }

    fn resolved(&self, state: &mut UntilState, look: Look<'_>, at: CallRef, ok: bool, _cx: &Cx<'_>) {
        // Its outcome may show that it was not a trigger.
        if state.open.take(|open| *open < at, |open| *open == at).is_some()
            && (!self.ends || self.trigger.is(look))
        {
            let (first, last) = state.ran.unwrap_or((at, at));
            state.ran = Some((first.min(at), last.max(at)));
        }
        let first = state.hits.iter().next();
        state.hit_ran |= first.is_some_and(|(hit, _)| hit == at) && state.ran.is_some();
        if ok && lifts(&self.trigger, &self.until, look) {
            state.lift(at);
        }
    }

    fn refused(&self, state: &mut UntilState, _look: Look<'_>, at: CallRef, _cx: &Cx<'_>) {
        state.open.take(|open| *open < at, |open| *open == at);
        let other = state.trigger();
        let hits: Vec<(CallRef, CallRef)> = state.hits.iter().collect();
        state.hits = Waiting::default();
        for (hit, trigger) in hits.into_iter().filter(|(hit, _)| *hit != at) {
            // It may have come after another one.
            match (trigger == at, other.filter(|other| *other < hit)) {
                (true, None) => {}
                (true, Some(other)) => state.hits.push((hit, other)),
                (false, _) => state.hits.push((hit, trigger)),
            }
        }
    }

    fn standing(&self, state: &UntilState, _end: End, _cx: &Cx<'_>) -> RuleStanding {
        match state.hits.iter().next() {
            Some((hit, trigger)) => RuleStanding::violated(codes::AFTER_TRIGGER, Some(hit), [trigger, hit]),
            None if state.exercised => RuleStanding::as_it_is(RuleOutcome::Held),
            None => RuleStanding::as_it_is(RuleOutcome::NotExercised),
        }
    }
}
