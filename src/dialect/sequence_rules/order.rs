//! Rules about two calls and which comes first: `before`, `immediately_before`, `never_after`.

use std::hash::Hash;
use std::sync::Arc;

use super::operand::{Look, Match, Operand, Side, says_needs};
use super::unit::{Kind, Objection, RuleStanding, Support};
use crate::dialect::sequence_rules::codes;
use crate::monitor::collections::Waiting;
use crate::monitor::finding::RuleOutcome;
use crate::monitor::{Cx, Digest, End, Helps, Observes, Prospect, Says, Slot, Timers, Wakes};
use crate::session::CallRef;

/// `before`.
pub(super) struct Before {
    pub first: Side,
    pub then: Side,
}

/// What `before` keeps.
#[derive(Clone, Default)]
pub(super) struct BeforeState {
    /// The earliest `first` that succeeded.
    first: Option<CallRef>,
    /// The earliest `first`, whatever became of it.
    earliest: Option<CallRef>,
    /// The newest `first`, whatever became of it.
    newest: Option<CallRef>,
    /// The first `then` that is not its own `first`.
    then: Option<CallRef>,
    exercised: bool,
}

impl Kind for Before {
    type State = BeforeState;

    fn wakes(&self, tool: &str) -> Wakes {
        let (first, then) = (self.first.slot(tool), self.then.slot(tool));
        let observe = Observes { starts: first | then != 0, results: first != 0, arguments: false };
        Wakes { decide: then != 0, observe, slot: Slot(first | then) }
    }

    fn says(&self, out: &mut Vec<Says>) {
        says_needs(&self.first, &self.then, false, out);
    }

    fn operands(&self) -> Vec<&Operand> {
        self.first.operands().iter().chain(self.then.operands()).collect()
    }

    fn names(&self, out: &mut Vec<Arc<str>>) {
        out.extend(self.first.tools().chain(self.then.tools()).cloned());
    }

    fn gate(&self, state: &BeforeState, look: Look<'_>, _cx: &Cx<'_>) -> Option<Objection> {
        let refused = state.first.is_none()
            && self.then.means(look) == Match::Yes
            && self.first.means(look) == Match::No;
        refused.then(|| Objection::new(codes::BEFORE_MISSING, state.newest))
    }

    fn helps(&self, call: Prospect<'_>, out: &mut Helps) {
        self.first.helps(call, out);
    }

    fn digest(&self, state: &BeforeState, _cx: &Cx<'_>, out: &mut Digest) {
        state.first.is_some().hash(out);
    }

    fn rests(&self, state: &BeforeState, look: Look<'_>, _cx: &Cx<'_>) -> Support {
        let found = state.first.filter(|_| self.then.is(look));
        Support { found: found.into_iter().collect(), count: 0 }
    }

    fn started(
        &self,
        state: &mut BeforeState,
        look: Look<'_>,
        at: CallRef,
        _cx: &Cx<'_>,
        _timers: &mut Timers<'_>,
    ) {
        let first = self.first.is(look);
        if first {
            state.newest = Some(at);
            state.earliest = state.earliest.or(Some(at));
        }
        if self.then.is(look) {
            state.exercised = true;
            if !first {
                state.then = state.then.or(Some(at));
            }
        }
    }

    fn resolved(&self, state: &mut BeforeState, look: Look<'_>, at: CallRef, ok: bool, _cx: &Cx<'_>) {
        // Results may come in another order than calls.
        if ok && self.first.is(look) && state.first.is_none_or(|first| at < first) {
            state.first = Some(at);
        }
    }

    fn is_kept(&self, state: &BeforeState) -> bool {
        // A result that comes later may still belong to an earlier call.
        state.first.is_some() && state.first == state.earliest && state.then.is_some()
    }

    fn stands(&self, state: &BeforeState, _end: End, _cx: &Cx<'_>) -> RuleStanding {
        match (state.first, state.then) {
            (None, Some(then)) => RuleStanding::violated(codes::BEFORE_MISSING, Some(then), [then]),
            (Some(first), Some(then)) if first > then => {
                RuleStanding::violated(codes::BEFORE_LATE, Some(then), [first, then])
            }
            _ if state.exercised => RuleStanding::as_it_is(RuleOutcome::Held),
            _ => RuleStanding::as_it_is(RuleOutcome::NotExercised),
        }
    }
}

/// `immediately_before`.
pub(super) struct ImmediatelyBefore {
    pub first: Side,
    pub then: Side,
}

/// What `immediately_before` keeps.
#[derive(Clone, Default)]
pub(super) struct AdjacentState {
    /// The newest `first`, its place in the trace, and what is known of it.
    newest: Option<(CallRef, u32, LastOutcome)>,
    /// The earliest `then` that is certain to be wrong, after the call that is there instead.
    wrong: Option<(CallRef, Option<CallRef>)>,
    /// Each `then` after a `first` that has no result yet: (`first`, `then`), in order.
    waiting: Waiting<(CallRef, CallRef)>,
    exercised: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastOutcome {
    Nothing,
    Succeeded,
    Failed,
}

impl AdjacentState {
    /// Whether the call that ran last is a `first` that succeeded.
    fn is_direct(&self, cx: &Cx<'_>) -> bool {
        self.newest.is_some_and(|(_, place, known)| {
            known == LastOutcome::Succeeded && place as usize == cx.ran.len()
        })
    }

    fn is_wrong(&mut self, then: CallRef, behind: Option<CallRef>) {
        if self.wrong.is_none_or(|(earliest, _)| then < earliest) {
            self.wrong = Some((then, behind));
        }
    }
}

impl Kind for ImmediatelyBefore {
    type State = AdjacentState;

    fn wakes(&self, tool: &str) -> Wakes {
        let (first, then) = (self.first.slot(tool), self.then.slot(tool));
        let observe = Observes { starts: first | then != 0, results: first != 0, arguments: false };
        Wakes { decide: then != 0, observe, slot: Slot(first | then) }
    }

    fn says(&self, out: &mut Vec<Says>) {
        says_needs(&self.first, &self.then, true, out);
    }

    fn operands(&self) -> Vec<&Operand> {
        self.first.operands().iter().chain(self.then.operands()).collect()
    }

    fn names(&self, out: &mut Vec<Arc<str>>) {
        out.extend(self.first.tools().chain(self.then.tools()).cloned());
    }

    fn gate(&self, state: &AdjacentState, look: Look<'_>, cx: &Cx<'_>) -> Option<Objection> {
        let refused = !state.is_direct(cx) && self.then.means(look) == Match::Yes;
        refused.then(|| Objection::new(codes::NOT_ADJACENT, cx.ran.last()))
    }

    fn helps(&self, call: Prospect<'_>, out: &mut Helps) {
        self.first.helps(call, out);
    }

    fn digest(&self, state: &AdjacentState, cx: &Cx<'_>, out: &mut Digest) {
        state.is_direct(cx).hash(out);
    }

    fn rests(&self, state: &AdjacentState, look: Look<'_>, _cx: &Cx<'_>) -> Support {
        let found = state.newest.filter(|_| self.then.is(look)).map(|(first, ..)| first);
        Support { found: found.into_iter().collect(), count: 0 }
    }

    fn started(
        &self,
        state: &mut AdjacentState,
        look: Look<'_>,
        at: CallRef,
        cx: &Cx<'_>,
        _timers: &mut Timers<'_>,
    ) {
        let place = cx.ran.len() as u32;
        if self.then.is(look) {
            state.exercised = true;
            match state.newest.filter(|(_, before, _)| before + 1 == place) {
                Some((_, _, LastOutcome::Succeeded)) => {}
                Some((first, _, LastOutcome::Nothing)) => state.waiting.push((first, at)),
                _ => state.is_wrong(at, cx.ran.at(place - 1)),
            }
        }
        if self.first.is(look) {
            state.newest = Some((at, place, LastOutcome::Nothing));
        }
    }

    fn resolved(&self, state: &mut AdjacentState, look: Look<'_>, at: CallRef, ok: bool, _cx: &Cx<'_>) {
        if !self.first.is(look) {
            return;
        }
        if let Some((_, _, known)) = state.newest.as_mut().filter(|(newest, ..)| *newest == at) {
            *known = if ok { LastOutcome::Succeeded } else { LastOutcome::Failed };
        }
        let waited = state.waiting.take(|(first, _)| *first < at, |(first, _)| *first == at);
        if let Some((first, then)) = waited.filter(|_| !ok) {
            state.is_wrong(then, Some(first));
        }
    }

    fn stands(&self, state: &AdjacentState, end: End, _cx: &Cx<'_>) -> RuleStanding {
        let unknown = state.waiting.iter().next().map(|(first, then)| (then, Some(first)));
        let wrong = match end {
            End::Complete => state.wrong.into_iter().chain(unknown).min_by_key(|(then, _)| *then),
            End::SoFar => state.wrong,
        };
        match wrong {
            Some((then, behind)) => {
                RuleStanding::violated(codes::NOT_ADJACENT, Some(then), behind.into_iter().chain([then]))
            }
            None if unknown.is_some() => RuleStanding::as_it_is(RuleOutcome::Pending),
            None if state.exercised => RuleStanding::as_it_is(RuleOutcome::Held),
            None => RuleStanding::as_it_is(RuleOutcome::NotExercised),
        }
    }
}

/// `never_after`.
pub(super) struct NeverAfter {
    pub trigger: Side,
    pub forbidden: Side,
}

/// What `never_after` keeps.
#[derive(Clone, Default)]
pub(super) struct NeverState {
    /// Every trigger, in order, until the first is known to have run.
    triggers: Waiting<CallRef>,
    /// Every forbidden call that came after some trigger, in order, until the first is known to have run.
    hits: Waiting<CallRef>,
    /// Whether they are known to have run.
    trigger_ran: bool,
    hit_ran: bool,
}

impl NeverState {
    fn trigger(&self) -> Option<CallRef> {
        self.triggers.iter().next()
    }

    /// The first forbidden call after the trigger.
    fn hit(&self) -> Option<CallRef> {
        self.trigger().and_then(|trigger| self.hits.behind(|hit| *hit <= trigger).1)
    }
}

impl Kind for NeverAfter {
    type State = NeverState;

    fn wakes(&self, tool: &str) -> Wakes {
        let (trigger, forbidden) = (self.trigger.slot(tool), self.forbidden.slot(tool));
        let any = trigger | forbidden != 0;
        let observe = Observes { starts: any, results: any, arguments: false };
        Wakes { decide: forbidden != 0, observe, slot: Slot(trigger | forbidden) }
    }

    fn says(&self, out: &mut Vec<Says>) {
        for after in self.trigger.always() {
            for tool in self.forbidden.always() {
                out.push(Says::Forbids { after: Arc::clone(after), tool: Arc::clone(tool) });
            }
        }
    }

    fn operands(&self) -> Vec<&Operand> {
        self.trigger.operands().iter().chain(self.forbidden.operands()).collect()
    }

    fn names(&self, out: &mut Vec<Arc<str>>) {
        out.extend(self.trigger.tools().chain(self.forbidden.tools()).cloned());
    }

    fn gate(&self, state: &NeverState, look: Look<'_>, _cx: &Cx<'_>) -> Option<Objection> {
        let trigger = state.trigger()?;
        let refused = self.forbidden.means(look) == Match::Yes;
        refused.then(|| Objection::new(codes::AFTER_TRIGGER, [trigger]))
    }

    fn is_final(&self, _state: &NeverState, _cx: &Cx<'_>) -> bool {
        true
    }

    fn digest(&self, state: &NeverState, _cx: &Cx<'_>, out: &mut Digest) {
        state.trigger().is_some().hash(out);
    }

    fn started(
        &self,
        state: &mut NeverState,
        look: Look<'_>,
        at: CallRef,
        _cx: &Cx<'_>,
        _timers: &mut Timers<'_>,
    ) {
        if !state.hit_ran && !state.triggers.is_empty() && self.forbidden.is(look) {
            state.hits.push(at);
        }
        if !state.trigger_ran && self.trigger.is(look) {
            state.triggers.push(at);
        }
    }

    fn resolved(&self, state: &mut NeverState, _look: Look<'_>, at: CallRef, _ok: bool, _cx: &Cx<'_>) {
        // A call that was refused after all is not among them any more.
        if !state.trigger_ran {
            state.trigger_ran = state.trigger() == Some(at);
        } else if !state.hit_ran {
            state.hit_ran = state.hit() == Some(at);
        }
    }

    fn refused(&self, state: &mut NeverState, _look: Look<'_>, at: CallRef, _cx: &Cx<'_>) {
        state.triggers.take(|trigger| *trigger < at, |trigger| *trigger == at);
        state.hits.take(|hit| *hit < at, |hit| *hit == at);
    }

    fn stands(&self, state: &NeverState, _end: End, _cx: &Cx<'_>) -> RuleStanding {
        match (state.trigger(), state.hit()) {
            (Some(trigger), Some(hit)) => {
                RuleStanding::violated(codes::AFTER_TRIGGER, Some(hit), [trigger, hit])
            }
            (Some(_), None) => RuleStanding::as_it_is(RuleOutcome::Held),
            (None, _) => RuleStanding::as_it_is(RuleOutcome::NotExercised),
        }
    }
}
