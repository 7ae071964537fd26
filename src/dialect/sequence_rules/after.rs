//! Rules about a call that must follow another: `after`.
//!
//! Each trigger is its own obligation. Those that no answer has met are kept in order, so an answer meets a run of
//! them at once; their deadlines are timers, so the rule sleeps until one passes.

use std::sync::Arc;

use super::operand::{Look, Side};
use super::unit::{Against, Kind, Stands};
use crate::diagnostic::code;
use crate::monitor::finding::RuleOutcome;
use crate::monitor::kept::{Blocks, Waiting};
use crate::monitor::{Cx, End, RuleId, Slot, StateItem, Timers, Wakes};
use crate::session::CallRef;

/// `after`.
pub(super) struct After {
    pub trigger: Side,
    pub then: Side,
    pub within: u64,
}

/// What `after` keeps. Places are those of the trace, from 1.
#[derive(Clone, Default)]
pub(super) struct AfterState {
    /// Triggers without an answer, in order.
    open: Waiting<(u32, CallRef)>,
    /// Every trigger, in order.
    triggers: Blocks<(u32, CallRef)>,
    /// Every `then` that succeeded, in order.
    answers: Blocks<(u32, CallRef)>,
    /// Places of every `then` that has no result yet, in order.
    waiting: Waiting<u32>,
    /// The place of the newest `then`, whatever became of it.
    newest: u32,
}

impl AfterState {
    /// The open trigger at a place.
    fn open_at(&self, place: u64) -> Option<CallRef> {
        let found = self.open.find(|(open, _)| u64::from(*open) < place);
        found.filter(|(open, _)| u64::from(*open) == place).map(|(_, trigger)| trigger)
    }

    fn answer(&mut self, place: u32, at: CallRef) {
        if self.answers.last().is_none_or(|(newest, _)| *newest < place) {
            self.answers.push((place, at));
            return;
        }
        // A late result: what came meanwhile goes behind it.
        let mut behind = Vec::new();
        while let Some(last) = self.answers.last().copied().filter(|(newest, _)| *newest > place) {
            behind.push(last);
            self.answers.pop();
        }
        self.answers.push((place, at));
        behind.into_iter().rev().for_each(|answer| self.answers.push(answer));
    }
}

impl After {
    /// The last place at which a trigger's answer is in time.
    fn deadline(&self, trigger: u32) -> u64 {
        u64::from(trigger).saturating_add(self.within)
    }

    /// Every trigger, and the first answer to each that stands ahead of the unanswered one.
    fn calls(&self, state: &AfterState, unanswered: u32) -> Vec<u32> {
        let mut calls: Vec<u32> = state.triggers.iter().map(|(_, call)| call.index).collect();
        let mut answers = state.answers.iter().peekable();
        for (trigger, _) in state.triggers.iter().take_while(|(place, _)| *place < unanswered) {
            while answers.next_if(|(place, _)| place <= trigger).is_some() {}
            calls.extend(answers.peek().map(|(_, answer)| answer.index));
        }
        calls.sort_unstable();
        calls.dedup();
        calls
    }
}

impl Kind for After {
    type State = AfterState;

    fn wakes(&self, tool: &str) -> Wakes {
        let (trigger, then) = (self.trigger.slot(tool), self.then.slot(tool));
        // Without any room the deadline passes with the trigger itself.
        let decide = self.within == 0 && trigger != 0;
        Wakes { decide, observe: trigger | then != 0, slot: Slot(trigger | then) }
    }

    fn names(&self, out: &mut Vec<Arc<str>>) {
        out.extend(self.trigger.tools().chain(self.then.tools()).cloned());
    }

    fn passes(&self, state: &AfterState, look: Look<'_>, cx: &Cx<'_>) -> Option<Against> {
        let ran = cx.ran.len() as u64;
        if self.within == 0 {
            return self.trigger.is(look).then(|| Against::new(code::FOLLOW_UP_MISSING, []));
        }
        let due_at = |place: u64| place.checked_sub(self.within).and_then(|trigger| state.open_at(trigger));
        // The last call in time may still be the answer; if that one failed, the deadline passes with the next.
        let failed = due_at(ran).filter(|_| u64::from(state.newest) == ran);
        let now = due_at(ran + 1).filter(|_| !self.then.is(look));
        let passed = failed.into_iter().chain(now);
        let against = Against::new(code::FOLLOW_UP_MISSING, passed);
        (!against.found.is_empty()).then_some(against)
    }

    fn started(
        &self,
        state: &mut AfterState,
        look: Look<'_>,
        at: CallRef,
        cx: &Cx<'_>,
        timers: &mut Timers<'_>,
    ) {
        let place = cx.ran.len() as u32;
        if self.then.is(look) {
            state.newest = place;
            state.waiting.push(place);
            let last_chance = u64::from(place).checked_sub(self.within);
            if last_chance.is_some_and(|trigger| state.open_at(trigger).is_some()) {
                timers.set(place + 1, 0);
            }
        }
        if self.trigger.is(look) {
            state.open.push((place, at));
            state.triggers.push((place, at));
            if let Ok(due) = u32::try_from(self.deadline(place))
                && self.within > 0
            {
                timers.set(due, 0);
            }
        }
    }

    fn resolved(&self, state: &mut AfterState, look: Look<'_>, at: CallRef, ok: bool, cx: &Cx<'_>) {
        let Some(place) = cx.ran.place(at).filter(|_| self.then.is(look)) else { return };
        state.waiting.take(|waiting| *waiting < place, |waiting| *waiting == place);
        if ok {
            state.answer(place, at);
            state.open.take_between(
                |(trigger, _)| self.deadline(*trigger) < u64::from(place),
                |(trigger, _)| *trigger < place,
            );
        }
    }

    fn stands(&self, state: &AfterState, end: End, cx: &Cx<'_>) -> Stands {
        let Some((place, trigger)) = state.open.iter().next() else {
            let exercised = !state.triggers.is_empty();
            return Stands::as_it_is(if exercised { RuleOutcome::Held } else { RuleOutcome::NotExercised });
        };
        let deadline = self.deadline(place);
        if end == End::SoFar {
            let next = state.waiting.iter().find(|waiting| *waiting > place);
            let waits = next.is_some_and(|waiting| u64::from(waiting) <= deadline);
            if waits || (cx.ran.len() as u64) < deadline {
                return Stands::as_it_is(RuleOutcome::Pending).count(state.open.len() as u64);
            }
        }
        let calls = self.calls(state, place);
        Stands { calls, ..Stands::violated(code::FOLLOW_UP_MISSING, Some(trigger), []) }
            .count(state.open.len() as u64)
    }

    fn shows(&self, state: &AfterState, rule: RuleId, cx: &Cx<'_>, out: &mut Vec<StateItem>) {
        let ran = cx.ran.len() as u64;
        let (open, first) = state.open.behind(|(trigger, _)| self.deadline(*trigger) <= ran);
        if let Some((place, trigger)) = first {
            out.push(StateItem::Deadline {
                rule,
                tool: self.then.name(),
                since: Some(trigger),
                left: self.deadline(place) - ran,
                open: open as u64,
            });
        }
    }
}
