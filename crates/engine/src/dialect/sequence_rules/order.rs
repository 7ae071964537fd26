//! Rules about two calls and their order: `before`, `immediately_before`.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::asks::Part;
use super::operand::{Look, Match, Operand, Side, says_needs};
use super::same::Same;
use super::unit::{Kind, Objection, RuleStanding, Support};
use crate::dialect::sequence_rules::codes;
use crate::monitor::collections::Waiting;
use crate::monitor::finding::RuleOutcome;
use crate::monitor::{Cx, Digest, Enablers, End, Observes, Prospect, Says, Slot, Timers, Wakes};
use rulestep_base::session::CallRef;

/// `before`.
pub(super) struct Before {
    pub first: Side,
    pub then: Side,
    /// What both must have in common.
    pub same: Same,
}

/// State of `before`.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct BeforeState {
    /// The earliest `first` that succeeded.
    first: Option<CallRef>,
    /// The earliest `first`, whatever its outcome.
    earliest: Option<CallRef>,
    /// The newest `first`, whatever its outcome.
    newest: Option<CallRef>,
    /// The first `then` that is not its own `first`, or that has nothing in common with one.
    then: Option<CallRef>,
    /// The keys of those that succeeded, if both sides must have something in common.
    bound: Arc<HashMap<String, CallRef>>,
    exercised: bool,
}

impl Before {
    /// Why a call lacks a `first`, and the part that does.
    fn lacks(&self, state: &BeforeState, look: Look<'_>) -> Option<Option<Part>> {
        if self.same != Same::Nothing && look.arguments.is_some() {
            return self.same.lacks(&self.first, &self.then, &state.bound, look);
        }
        let lacks = state.first.is_none()
            && self.then.means(look) == Match::Yes
            && (self.then.asks && look.arguments.is_some() || self.first.means(look) == Match::No);
        if !lacks || !self.then.asks || look.arguments.is_none() {
            return lacks.then_some(None);
        }
        self.then.without(&self.first, look, None).map(Some)
    }
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
        let part = self.lacks(state, look)?;
        Some(Objection::new(codes::BEFORE_MISSING, state.newest).part(part))
    }

    fn enablers(&self, call: Prospect<'_>, out: &mut Enablers) {
        if self.then.concerns(call) {
            self.first.enablers(call, out);
        }
    }

    fn digest(&self, state: &BeforeState, _cx: &Cx<'_>, out: &mut Digest) {
        state.first.is_some().hash(out);
        if self.same != Same::Nothing {
            out.unknown();
        }
    }

    fn rests(&self, state: &BeforeState, look: Look<'_>, _cx: &Cx<'_>) -> Support {
        let found = match self.same {
            Same::Nothing => state.first.filter(|_| self.then.is(look)).into_iter().collect(),
            _ => self.same.rests(&self.then, &state.bound, look),
        };
        Support { found, count: 0 }
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
        if !look.is_elsewhere() && self.then.is(look) {
            state.exercised = true;
            let lacks = if self.then.asks || self.same != Same::Nothing {
                // Only calls that have succeeded so far count; a plain rule looks at the whole session in the end.
                let before = BeforeState {
                    first: state.first.filter(|_| self.same != Same::Nothing),
                    bound: Arc::clone(&state.bound),
                    ..BeforeState::default()
                };
                self.lacks(&before, look).is_some()
            } else {
                !first
            };
            if lacks {
                state.then = state.then.or(Some(at));
            }
        }
    }

    fn resolved(&self, state: &mut BeforeState, look: Look<'_>, at: CallRef, ok: bool, _cx: &Cx<'_>) {
        if !ok || !self.first.is(look) {
            return;
        }
        // Results may come in another order than calls.
        if state.first.is_none_or(|first| at < first) {
            state.first = Some(at);
        }
        let names = self.same.names(&self.first, look);
        if !names.is_empty() {
            Arc::make_mut(&mut state.bound).extend(names.into_iter().map(|name| (name, at)));
        }
    }

    fn is_kept(&self, state: &BeforeState) -> bool {
        // A result that comes later may still belong to an earlier call.
        self.same == Same::Nothing
            && state.first.is_some()
            && state.first == state.earliest
            && state.then.is_some()
    }

    fn standing(&self, state: &BeforeState, _end: End, _cx: &Cx<'_>) -> RuleStanding {
        match (state.first, state.then) {
            (first, Some(then)) if first.is_none() || self.same != Same::Nothing => {
                RuleStanding::violated(codes::BEFORE_MISSING, Some(then), [then])
            }
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

/// State of `immediately_before`.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct AdjacentState {
    /// The newest `first`, its index in the trace, and its outcome so far.
    newest: Option<(CallRef, u32, LastOutcome)>,
    /// The earliest `then` that is certain to be wrong, after the call that is there instead.
    wrong: Option<(CallRef, Option<CallRef>)>,
    /// Each `then` after a `first` that has no result yet: (`first`, `then`), in order.
    waiting: Waiting<(CallRef, CallRef)>,
    exercised: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
        if self.then.means(look) != Match::Yes {
            return None;
        }
        let (direct, objection) = (state.is_direct(cx), Objection::new(codes::NOT_ADJACENT, cx.ran.last()));
        match look.arguments {
            Some(_) if self.then.asks => {
                Some(objection.part(Some(self.then.without(&self.first, look, Some(direct))?)))
            }
            _ => (!direct).then_some(objection),
        }
    }

    fn enablers(&self, call: Prospect<'_>, out: &mut Enablers) {
        if self.then.concerns(call) {
            self.first.enablers(call, out);
        }
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
            let own = self.then.asks && self.then.without(&self.first, look, Some(false)).is_none();
            match state.newest.filter(|(_, before, _)| before + 1 == place) {
                Some((_, _, LastOutcome::Succeeded)) => {}
                Some((first, _, LastOutcome::Nothing)) => state.waiting.push((first, at)),
                _ if own => {}
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
            *known = if ok && self.first.ends(look) { LastOutcome::Succeeded } else { LastOutcome::Failed };
        }
        let waited = state.waiting.take(|(first, _)| *first < at, |(first, _)| *first == at);
        if let Some((first, then)) = waited.filter(|_| !ok) {
            state.is_wrong(then, Some(first));
        }
    }

    fn standing(&self, state: &AdjacentState, end: End, _cx: &Cx<'_>) -> RuleStanding {
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
