//! Rules about a call that must follow another: `after`.
//!
//! Each trigger is its own obligation. Unmet ones are kept in order, so an answer meets a run of them at once; their
//! deadlines come in that order too, so one timer at a time is enough, and the rule sleeps until a deadline passes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::explain::Deadline;
use super::operand::{Look, Operand, Side};
use super::unit::{Kind, Objection, RuleStanding};
use crate::dialect::sequence_rules::codes;
use crate::monitor::collections::{Blocks, Waiting};
use crate::monitor::finding::RuleOutcome;
use crate::monitor::{Cx, End, Observes, RuleId, Says, Slot, StateItem, Timers, Trace, Wakes};
use rulestep_base::session::CallRef;

/// The timer of the next deadline.
const DEADLINE: u32 = 0;
/// The timer of the call after the last one in time, which may have failed.
const TOO_LATE: u32 = 1;

/// `after`.
pub(super) struct After {
    pub trigger: Side,
    pub then: Side,
    pub within: u64,
}

/// State of `after`: indices in the trace, from 1.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct AfterState {
    /// Triggers without an answer, in order.
    open: Waiting<u32>,
    /// Every trigger, in order.
    triggers: Blocks<u32>,
    /// Every `then` that succeeded, in the order of the results.
    answers: Blocks<u32>,
    /// Every `then` that has no result yet, in order.
    waiting: Waiting<u32>,
    /// The newest `then`, whatever its outcome.
    newest: u32,
    /// Whether a timer is set for a deadline: all others pass later than that.
    timed: bool,
}

impl AfterState {
    /// Whether the trigger at a place is open.
    fn is_open(&self, place: u64) -> bool {
        let found = self.open.find(|open| u64::from(*open) < place);
        found.is_some_and(|open| u64::from(open) == place)
    }
}

impl After {
    /// The last place at which a trigger's answer is in time.
    fn deadline(&self, trigger: u32) -> u64 {
        u64::from(trigger).saturating_add(self.within)
    }

    /// Every trigger, and the first answer to each that is ahead of the unanswered one.
    fn calls(&self, state: &AfterState, unanswered: u32, ran: &Trace) -> Vec<u32> {
        let mut places: Vec<u32> = state.triggers.iter().copied().collect();
        let mut answers: Vec<u32> = state.answers.iter().copied().collect();
        // Results may come in another order than calls, though few do: a stable sort sees the runs.
        answers.sort();
        let mut answers = answers.into_iter().peekable();
        for trigger in state.triggers.iter().take_while(|place| **place < unanswered) {
            while answers.next_if(|place| place <= trigger).is_some() {}
            places.extend(answers.peek());
        }
        places.sort();
        places.dedup();
        places.into_iter().filter_map(|place| ran.at(place)).map(|call| call.index).collect()
    }

    /// Sets the timer for a deadline, the next one that passes.
    fn time(&self, state: &mut AfterState, trigger: u32, timers: &mut Timers<'_>) {
        if let Ok(due) = u32::try_from(self.deadline(trigger)) {
            timers.set(due, DEADLINE);
            state.timed = true;
        }
    }
}

impl Kind for After {
    type State = AfterState;

    fn wakes(&self, tool: &str) -> Wakes {
        let (trigger, then) = (self.trigger.slot(tool), self.then.slot(tool));
        // With `within: 0` the deadline passes with the trigger itself.
        let decide = self.within == 0 && trigger != 0;
        let observe = Observes { starts: trigger | then != 0, results: then != 0, arguments: false };
        Wakes { decide, observe, slot: Slot(trigger | then) }
    }

    fn says(&self, out: &mut Vec<Says>) {
        let any_of: Arc<[_]> = self.then.tools().cloned().collect();
        let follows = |after: &Arc<str>| Says::Follows {
            after: Arc::clone(after),
            each: true,
            any_of: Arc::clone(&any_of),
        };
        out.extend(self.trigger.always().map(follows));
    }

    fn operands(&self) -> Vec<&Operand> {
        self.trigger.operands().iter().chain(self.then.operands()).collect()
    }

    fn names(&self, out: &mut Vec<Arc<str>>) {
        out.extend(self.trigger.tools().chain(self.then.tools()).cloned());
    }

    fn passes(&self, state: &AfterState, look: Look<'_>, cx: &Cx<'_>) -> Option<Objection> {
        let ran = cx.ran.len() as u64;
        if self.within == 0 {
            return self.trigger.is(look).then(|| Objection::new(codes::FOLLOW_UP_MISSING, []));
        }
        let due_at = |place: u64| {
            let trigger = place.checked_sub(self.within).filter(|trigger| state.is_open(*trigger))?;
            cx.ran.at(u32::try_from(trigger).ok()?)
        };
        // The last call in time may still be the answer; if that one failed, the deadline passes with the next.
        let failed = due_at(ran).filter(|_| u64::from(state.newest) == ran);
        let now = due_at(ran + 1).filter(|_| !self.then.is(look));
        let passed = failed.into_iter().chain(now);
        let against = Objection::new(codes::FOLLOW_UP_MISSING, passed);
        (!against.found.is_empty()).then_some(against)
    }

    fn started(
        &self,
        state: &mut AfterState,
        look: Look<'_>,
        _at: CallRef,
        cx: &Cx<'_>,
        timers: &mut Timers<'_>,
    ) {
        let place = cx.ran.len() as u32;
        if self.then.is(look) {
            state.newest = place;
            state.waiting.push(place);
            let last_chance = u64::from(place).checked_sub(self.within);
            if last_chance.is_some_and(|trigger| state.is_open(trigger)) {
                timers.set(place + 1, TOO_LATE);
            }
        }
        if self.trigger.is(look) {
            state.open.push(place);
            state.triggers.push(place);
            if self.within > 0 && !state.timed {
                self.time(state, place, timers);
            }
        }
    }

    fn due(&self, state: &mut AfterState, timer: u32, cx: &Cx<'_>, timers: &mut Timers<'_>) {
        if timer == DEADLINE {
            state.timed = false;
            let ran = cx.ran.len() as u64;
            if let Some(trigger) = state.open.next_behind(|trigger| self.deadline(*trigger) <= ran) {
                self.time(state, trigger, timers);
            }
        }
    }

    fn resolved(&self, state: &mut AfterState, look: Look<'_>, at: CallRef, ok: bool, cx: &Cx<'_>) {
        let Some(place) = cx.ran.place(at).filter(|_| self.then.is(look)) else { return };
        state.waiting.take(|waiting| *waiting < place, |waiting| *waiting == place);
        if ok {
            state.answers.push(place);
            let own = u32::from(self.then.follows(&self.trigger, look));
            state.open.take_between(
                |trigger| self.deadline(*trigger) < u64::from(place),
                |trigger| *trigger < place + own,
            );
        }
    }

    fn standing(&self, state: &AfterState, end: End, cx: &Cx<'_>) -> RuleStanding {
        let Some(place) = state.open.iter().next() else {
            let exercised = !state.triggers.is_empty();
            return RuleStanding::as_it_is(if exercised {
                RuleOutcome::Held
            } else {
                RuleOutcome::NotExercised
            });
        };
        let deadline = self.deadline(place);
        if end == End::SoFar {
            let next = state.waiting.iter().find(|waiting| *waiting > place);
            let waits = next.is_some_and(|waiting| u64::from(waiting) <= deadline);
            if waits || (cx.ran.len() as u64) < deadline {
                return RuleStanding::as_it_is(RuleOutcome::Pending).count(state.open.len() as u64);
            }
        }
        let calls = self.calls(state, place, cx.ran);
        RuleStanding { calls, ..RuleStanding::violated(codes::FOLLOW_UP_MISSING, cx.ran.at(place), []) }
            .count(state.open.len() as u64)
    }

    fn shows(&self, state: &AfterState, rule: RuleId, cx: &Cx<'_>, out: &mut Vec<StateItem>) {
        let ran = cx.ran.len() as u64;
        let (open, first) = state.open.behind(|trigger| self.deadline(*trigger) <= ran);
        if let Some(place) = first {
            let deadline = Deadline {
                tool: self.then.name(),
                since: cx.ran.at(place),
                left: self.deadline(place) - ran,
                open: open as u64,
            };
            out.push(deadline.kept(rule));
        }
    }
}
