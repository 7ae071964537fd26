//! The rule of a test's `sequence`: exactly these calls in the session.
//!
//! A call is compared with the name at its own index. It needs all calls before it to have succeeded, because a list of
//! what was done is not satisfied by attempts.

use std::hash::Hash;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::explain::Progress;
use super::operand::Look;
use super::unit::{Kind, Objection, RuleStanding, Support};
use crate::dialect::sequence_rules::codes;
use crate::monitor::collections::Waiting;
use crate::monitor::finding::RuleOutcome;
use crate::monitor::{
    Cx, Digest, Enabler, Enablers, End, Observes, Prospect, RuleId, Says, Slot, StateItem, Timers, Trace,
    Wakes,
};
use rulestep_base::session::CallRef;

/// The exact calls of a session.
pub(super) struct ExactCalls {
    pub tools: Arc<[Arc<str>]>,
}

/// State: indices in the trace, from 1.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct ExactState {
    /// The first call that is not the one of its place.
    other: Option<CallRef>,
    /// Earlier indices whose calls are not known to have succeeded, in order.
    open: Waiting<u32>,
    /// The first of them that is known to have failed.
    failed: Option<u32>,
}

impl ExactCalls {
    fn is_at(&self, place: usize, tool: &str) -> bool {
        self.tools.get(place).is_some_and(|wanted| **wanted == *tool)
    }

    /// The calls from the first on that are as they should be.
    fn done(&self, state: &ExactState, ran: &Trace) -> Vec<CallRef> {
        let until = |call: &CallRef| state.other.is_none_or(|other| *call < other);
        let open = state.open.iter().next().map_or(usize::MAX, |place| place as usize - 1);
        ran.iter().take_while(until).take(open).collect()
    }
}

impl Kind for ExactCalls {
    type State = ExactState;

    fn wakes(&self, _tool: &str) -> Wakes {
        // A call that is not on the list is as wrong as one at the wrong index.
        Wakes { decide: true, observe: Observes::all(true), slot: Slot::default() }
    }

    fn wakes_by_name(&self) -> bool {
        false
    }

    fn says(&self, out: &mut Vec<Says>) {
        out.push(Says::Exactly(Arc::clone(&self.tools)));
    }

    fn names(&self, out: &mut Vec<Arc<str>>) {
        out.extend(self.tools.iter().cloned());
    }

    fn gate(&self, state: &ExactState, look: Look<'_>, cx: &Cx<'_>) -> Option<Objection> {
        let place = cx.ran.len();
        let open = state.open.iter().next();
        let refused = open.is_some() || !self.is_at(place, look.tool);
        let found = open.map_or(cx.ran.last(), |place| cx.ran.at(place));
        refused.then(|| Objection::new(codes::SEQUENCE_NOT_EXACT, found).count(place as u64))
    }

    fn enablers(&self, _call: Prospect<'_>, out: &mut Enablers) {
        let help = |tool| Enabler { tool, arguments: None, output: None };
        self.tools.iter().cloned().map(help).for_each(|help| out.call(help));
    }

    fn is_final(&self, _state: &ExactState, cx: &Cx<'_>) -> bool {
        cx.ran.len() >= self.tools.len()
    }

    fn digest(&self, state: &ExactState, cx: &Cx<'_>, out: &mut Digest) {
        (state.open.iter().next().is_some(), cx.ran.len().min(self.tools.len())).hash(out);
    }

    fn rests(&self, state: &ExactState, _look: Look<'_>, cx: &Cx<'_>) -> Support {
        let found = self.done(state, cx.ran);
        Support { count: found.len() as u64, found }
    }

    fn started(
        &self,
        state: &mut ExactState,
        look: Look<'_>,
        at: CallRef,
        cx: &Cx<'_>,
        _timers: &mut Timers<'_>,
    ) {
        if state.other.is_some() {
            return;
        }
        let place = cx.ran.len();
        if self.is_at(place - 1, look.tool) {
            state.open.push(place as u32);
        } else {
            state.other = Some(at);
        }
    }

    fn resolved(&self, state: &mut ExactState, _look: Look<'_>, at: CallRef, ok: bool, cx: &Cx<'_>) {
        let Some(place) = cx.ran.place(at) else { return };
        if ok {
            state.open.take(|open| *open < place, |open| *open == place);
        } else if state.open.find(|open| *open < place) == Some(place) {
            state.failed = Some(state.failed.map_or(place, |failed| failed.min(place)));
        }
    }

    fn standing(&self, state: &ExactState, end: End, cx: &Cx<'_>) -> RuleStanding {
        let open = state.open.iter().next();
        let bad = match end {
            End::Complete => open,
            End::SoFar => state.failed,
        };
        let after_bad = bad.and_then(|place| cx.ran.at(place + 1));
        let done = self.done(state, cx.ran);
        let count = done.len() as u64;
        if let Some(wrong) = state.other.into_iter().chain(after_bad).min() {
            let calls = done.into_iter().chain([wrong]);
            return RuleStanding::violated(codes::SEQUENCE_NOT_EXACT, Some(wrong), calls).count(count);
        }
        let whole = done.len() == self.tools.len();
        match end {
            _ if whole => RuleStanding::as_it_is(RuleOutcome::Held),
            End::SoFar => RuleStanding::as_it_is(RuleOutcome::Pending),
            End::Complete => RuleStanding::violated(codes::SEQUENCE_CUT_SHORT, None, done),
        }
        .count(count)
    }

    fn shows(&self, state: &ExactState, rule: RuleId, cx: &Cx<'_>, out: &mut Vec<StateItem>) {
        if state.other.is_none() && !self.tools.is_empty() {
            let done = self.done(state, cx.ran).len();
            let next = self.tools.get(done).cloned();
            out.push(Progress { done: done as u64, of: self.tools.len() as u64, next }.kept(rule));
        }
    }
}
