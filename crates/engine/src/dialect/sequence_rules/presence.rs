//! Rules about a call that must come at all: `require`, `eventually`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::explain::Deadline;
use super::operand::{Look, Operand, Side};
use super::unit::{Kind, Objection, RuleStanding};
use crate::dialect::sequence_rules::codes;
use crate::monitor::finding::RuleOutcome;
use crate::monitor::{Cx, End, Observes, RuleId, Says, Slot, StateItem, Timers, Wakes};
use rulestep_base::session::CallRef;

/// `require`.
pub(super) struct Require {
    pub tool: Side,
}

impl Kind for Require {
    /// Whether it succeeded.
    type State = bool;

    fn wakes(&self, tool: &str) -> Wakes {
        let slot = self.tool.slot(tool);
        let observe = Observes { results: slot != 0, ..Observes::default() };
        Wakes { decide: false, observe, slot: Slot(slot) }
    }

    fn says(&self, out: &mut Vec<Says>) {
        out.push(Says::Must(self.tool.tools().cloned().collect()));
    }

    fn operands(&self) -> Vec<&Operand> {
        self.tool.operands().iter().collect()
    }

    fn names(&self, out: &mut Vec<Arc<str>>) {
        out.extend(self.tool.tools().cloned());
    }

    fn started(
        &self,
        _met: &mut bool,
        _look: Look<'_>,
        _at: CallRef,
        _cx: &Cx<'_>,
        _timers: &mut Timers<'_>,
    ) {
    }

    fn resolved(&self, met: &mut bool, look: Look<'_>, _at: CallRef, ok: bool, _cx: &Cx<'_>) {
        *met = *met || (ok && self.tool.is(look));
    }

    fn is_kept(&self, met: &bool) -> bool {
        *met
    }

    fn standing(&self, met: &bool, end: End, _cx: &Cx<'_>) -> RuleStanding {
        match (met, end) {
            (true, _) => RuleStanding::as_it_is(RuleOutcome::Held),
            (false, End::SoFar) => RuleStanding::as_it_is(RuleOutcome::Pending),
            (false, End::Complete) => RuleStanding::violated(codes::REQUIRED_MISSING, None, []),
        }
    }
}

/// `eventually`.
pub(super) struct Eventually {
    pub tool: Side,
    pub within: u64,
}

/// State of `eventually`.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct EventuallyState {
    /// The earliest call that succeeded, and its place in the trace.
    met: Option<(u32, CallRef)>,
    /// The index of the newest call, whatever its outcome.
    newest: u32,
    /// Calls in time that have no result yet.
    waiting: u32,
}

impl Eventually {
    fn in_time(&self, place: u32) -> bool {
        u64::from(place) <= self.within
    }

    fn is_met(&self, state: &EventuallyState) -> bool {
        state.met.is_some_and(|(place, _)| self.in_time(place))
    }
}

impl Kind for Eventually {
    type State = EventuallyState;
    const BEGINS: bool = true;

    fn wakes(&self, tool: &str) -> Wakes {
        let slot = self.tool.slot(tool);
        Wakes { decide: false, observe: Observes::all(slot != 0), slot: Slot(slot) }
    }

    fn says(&self, out: &mut Vec<Says>) {
        out.push(Says::Must(self.tool.tools().cloned().collect()));
    }

    fn operands(&self) -> Vec<&Operand> {
        self.tool.operands().iter().collect()
    }

    fn names(&self, out: &mut Vec<Arc<str>>) {
        out.extend(self.tool.tools().cloned());
    }

    fn passes(&self, state: &EventuallyState, look: Look<'_>, cx: &Cx<'_>) -> Option<Objection> {
        let ran = cx.ran.len() as u64;
        // The last call in time may still be it; if that one failed, the deadline passes with the next.
        let last_is_another = ran + 1 == self.within && !self.tool.is(look);
        let last_failed = ran == self.within && u64::from(state.newest) == ran;
        let passes = !self.is_met(state) && (last_is_another || last_failed);
        passes.then(|| Objection::new(codes::DEADLINE_MISSED, []).count(ran))
    }

    fn begins(&self, timers: &mut Timers<'_>) {
        if let Ok(due) = u32::try_from(self.within.max(1)) {
            timers.set(due, 0);
        }
    }

    fn started(
        &self,
        state: &mut EventuallyState,
        look: Look<'_>,
        _at: CallRef,
        cx: &Cx<'_>,
        timers: &mut Timers<'_>,
    ) {
        if !self.tool.is(look) {
            return;
        }
        state.newest = cx.ran.len() as u32;
        state.waiting += u32::from(self.in_time(state.newest));
        if u64::from(state.newest) == self.within {
            timers.set(state.newest + 1, 0);
        }
    }

    fn resolved(&self, state: &mut EventuallyState, look: Look<'_>, at: CallRef, ok: bool, cx: &Cx<'_>) {
        let Some(place) = cx.ran.place(at).filter(|_| self.tool.is(look)) else { return };
        state.waiting -= u32::from(self.in_time(place) && state.waiting > 0);
        if ok && state.met.is_none_or(|(earliest, _)| place < earliest) {
            state.met = Some((place, at));
        }
    }

    fn is_kept(&self, state: &EventuallyState) -> bool {
        self.is_met(state)
    }

    fn standing(&self, state: &EventuallyState, end: End, cx: &Cx<'_>) -> RuleStanding {
        let ran = cx.ran.len() as u64;
        match state.met {
            Some((place, _)) if self.in_time(place) => RuleStanding::as_it_is(RuleOutcome::Held),
            _ if end == End::SoFar && (ran < self.within || state.waiting > 0) => {
                RuleStanding::as_it_is(RuleOutcome::Pending)
            }
            Some((_, late)) => RuleStanding::violated(codes::DEADLINE_MISSED, Some(late), [late]),
            None => RuleStanding::violated(codes::DEADLINE_MISSED, None, cx.ran.iter()),
        }
        .count(ran)
    }

    fn shows(&self, state: &EventuallyState, rule: RuleId, cx: &Cx<'_>, out: &mut Vec<StateItem>) {
        let left = self.within.saturating_sub(cx.ran.len() as u64);
        if left > 0 && !self.is_met(state) {
            out.push(Deadline { tool: self.tool.name(), since: None, left, open: 1 }.kept(rule));
        }
    }
}
