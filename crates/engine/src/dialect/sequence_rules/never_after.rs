//! Rules about calls that must not come after another: `never_after`.

use std::hash::Hash;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::asks::Part;
use super::operand::{Look, Match, Operand, Side};
use super::unit::{Kind, Objection, RuleStanding};
use crate::dialect::sequence_rules::codes;
use crate::monitor::collections::Waiting;
use crate::monitor::finding::RuleOutcome;
use crate::monitor::{Cx, Digest, End, Observes, Says, Slot, Timers, Wakes};
use rulestep_base::session::CallRef;

/// `never_after`.
pub(super) struct NeverAfter {
    pub trigger: Side,
    pub forbidden: Side,
    /// Whether how a call ended says if it is a trigger.
    pub ends: bool,
}

/// State of `never_after`.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct NeverState {
    /// Every trigger, in order, until the first is known to have run.
    triggers: Waiting<CallRef>,
    /// Every forbidden call that came after some trigger, in order, until the first is known to have run; each with whether
    /// the trigger is a part of itself.
    hits: Waiting<(CallRef, bool)>,
    /// Whether they are known to have run.
    trigger_ran: bool,
    hit_ran: bool,
    /// The first trigger, with its matching part.
    begun: Option<(CallRef, Arc<Part>)>,
}

impl NeverState {
    fn trigger(&self) -> Option<CallRef> {
        self.triggers.iter().next()
    }

    /// The first forbidden call after the trigger.
    fn hit(&self) -> Option<CallRef> {
        let trigger = self.trigger()?;
        let after = |(hit, own): &(CallRef, bool)| *hit < trigger || *hit == trigger && !own;
        self.hits.behind(after).1.map(|(hit, _)| hit)
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
        if let Some(trigger) = state.trigger() {
            let refused = self.forbidden.means(look) == Match::Yes;
            let part = || {
                let begun = state.begun.as_ref().filter(|(begun, _)| *begun == trigger);
                let part = self.forbidden.part(look).unwrap_or_default();
                let trigger = begun.map(|(_, part)| Arc::clone(part));
                (trigger.is_some() || part != Part::default()).then_some(Part { trigger, ..part })
            };
            return refused.then(|| Objection::new(codes::AFTER_TRIGGER, [trigger]).part(part()));
        }
        look.arguments?;
        let part = self.forbidden.after(&self.trigger, None, false, look)?;
        Some(Objection::new(codes::AFTER_TRIGGER, []).part(Some(part)))
    }

    fn is_final(&self, _state: &NeverState, _cx: &Cx<'_>) -> bool {
        true
    }

    fn unseen(&self, _state: &NeverState, look: Look<'_>) -> Option<Objection> {
        let refused = self.forbidden.means(look) == Match::Yes;
        refused.then(|| Objection::new(codes::UNSEEN_SESSION, []))
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
        if !state.hit_ran && !look.is_elsewhere() {
            let own = self.forbidden.after(&self.trigger, None, false, look).is_some();
            if own || !state.triggers.is_empty() && self.forbidden.is(look) {
                state.hits.push((at, own));
            }
        }
        if !state.trigger_ran && self.trigger.is(look) {
            if state.triggers.is_empty() {
                state.begun = self.trigger.part(look).map(|part| (at, Arc::new(part)));
            }
            state.triggers.push(at);
        }
    }

    fn resolved(&self, state: &mut NeverState, look: Look<'_>, at: CallRef, _ok: bool, _cx: &Cx<'_>) {
        // Its outcome may show that it was not a trigger.
        if self.ends && !self.trigger.is(look) {
            state.triggers.take(|trigger| *trigger < at, |trigger| *trigger == at);
        }
        // A call that was refused after all is not among them any more.
        if !state.trigger_ran {
            state.trigger_ran = state.trigger() == Some(at);
        } else if !state.hit_ran {
            state.hit_ran = state.hit() == Some(at);
        }
    }

    fn refused(&self, state: &mut NeverState, _look: Look<'_>, at: CallRef, _cx: &Cx<'_>) {
        state.triggers.take(|trigger| *trigger < at, |trigger| *trigger == at);
        state.hits.take(|(hit, _)| *hit < at, |(hit, _)| *hit == at);
    }

    fn standing(&self, state: &NeverState, _end: End, _cx: &Cx<'_>) -> RuleStanding {
        match (state.trigger(), state.hit()) {
            (Some(trigger), Some(hit)) => {
                RuleStanding::violated(codes::AFTER_TRIGGER, Some(hit), [trigger, hit])
            }
            (Some(_), None) => RuleStanding::as_it_is(RuleOutcome::Held),
            (None, _) => RuleStanding::as_it_is(RuleOutcome::NotExercised),
        }
    }
}
