//! The running state of one sequence rule: turns the answers of its kind into findings and checks.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::asks::{Copies, OnDoubt, Part, Response};
use super::commands::{is_about, is_opaque, is_sweep};
use super::explain::OrderCheck;
use super::facts::OrderOutcome;
use super::operand::{Look, Operand};
use super::unit::{Kind, Objection, RuleStanding, RuleUnit, Support};
use crate::dialect::sequence_rules::codes;
use crate::monitor::finding::{RuleOutcome, RuleState};
use crate::monitor::saved;
use crate::monitor::{
    Cx, Depth, Digest, EarlierCall, Effect, End, Event, Explain, Hidden, Monitor, ProposedCall, Sink, Slot,
    StateItem, Timers,
};
use rulestep_base::session::{CallRef, Outcome};

pub(super) struct RuleMonitor<K: Kind> {
    pub unit: Arc<RuleUnit<K>>,
    /// `None`: the rule does not apply to this session.
    pub state: Option<K::State>,
    /// The state if every unknown counted for the agent, if a person is asked about calls for which that matters.
    pub lenient: Option<K::State>,
    /// The state if every sweep counted, from the first one on; only if the rule reports such calls or asks about them.
    pub swept: Option<K::State>,
    /// The copies of files that operands mean, by operand.
    pub copies: Vec<Copies>,
    pub past: Interventions,
}

/// What happened to the calls that it objected to.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Interventions {
    /// Calls that it stopped.
    averted: u32,
    /// Calls that a person was asked about and that ran, by index.
    asked: Vec<u32>,
    /// A call ran that should have been stopped.
    overruled: bool,
}

impl<K: Kind> RuleMonitor<K> {
    fn facts(&self, count: u64, part: Option<&Part>) -> Option<Arc<dyn Explain>> {
        Some(Arc::new(OrderCheck { asks: Arc::clone(&self.unit.order), count, part: part.cloned() }))
    }

    /// Why a call does not run, or is asked about or reported.
    fn refusal(&self, state: &K::State, look: Look<'_>, cx: &Cx<'_>) -> Option<(Objection, Effect)> {
        let look = Look { sweeps: self.unit.doubts.sweeps == Response::Deny, ..look };
        let known = self.read_refusal(state, look, cx);
        let others = [self.sweep_refusal(state, look, cx), self.unseen(state, look, cx)];
        let stronger =
            |one: (Objection, Effect), other: (Objection, Effect)| if other.1 > one.1 { other } else { one };
        known.into_iter().chain(others.into_iter().flatten()).reduce(stronger)
    }

    /// Whether sweeps are weighed separately.
    fn weighs_sweeps(&self) -> bool {
        !self.copies.is_empty() && matches!(self.unit.doubts.sweeps, Response::Report | Response::Ask)
    }

    /// The objection to a call if this search, or an earlier one, came across what the rule is about.
    fn sweep_refusal(&self, state: &K::State, look: Look<'_>, cx: &Cx<'_>) -> Option<(Objection, Effect)> {
        if !self.weighs_sweeps() || self.swept.is_none() && !is_sweep(&self.unit.kind.operands(), look) {
            return None;
        }
        let unsure = self.unit.doubts.unsure == OnDoubt::Allow;
        let look = Look { sweeps: true, unsure, ..look };
        let against = self.unit.kind.gate(self.swept.as_ref().unwrap_or(state), look, cx)?;
        Some(match self.unit.doubts.sweeps.effect() {
            Effect::Report => (Objection { code: codes::SWEEP, ..against }, Effect::Report),
            effect => (against, effect),
        })
    }

    /// The objection to a call because a session of the tree was not read.
    fn unseen(&self, state: &K::State, look: Look<'_>, cx: &Cx<'_>) -> Option<(Objection, Effect)> {
        let at = look.at.filter(|_| self.unit.options.tree)?;
        cx.facts.tree.gap(at.index)?;
        let (unsure, effect) = match self.unit.doubts.unsure {
            OnDoubt::Deny => (false, Effect::Deny),
            OnDoubt::Ask => (false, Effect::Ask),
            OnDoubt::Allow => (true, Effect::Report),
        };
        Some((self.unit.kind.unseen(state, Look { unsure, ..look })?, effect))
    }

    /// The same from the sessions that were read.
    fn read_refusal(&self, state: &K::State, look: Look<'_>, cx: &Cx<'_>) -> Option<(Objection, Effect)> {
        let plain = self.gate(state, look, cx, Effect::Deny);
        let opaque = self.unit.doubts.opaque.effect();
        // An unknown must not hide that code which was not read is denied.
        let settled = plain.as_ref().is_some_and(|(_, effect)| *effect >= opaque);
        if settled || self.copies.is_empty() || opaque == Effect::None || !is_opaque(look, &self.unit.facts) {
            return plain;
        }
        let read = self.gate(state, Look { opaque: true, ..look }, cx, opaque);
        let read = read.map(|(against, effect)| match effect {
            Effect::Report => (Objection { code: codes::OPAQUE_COMMAND, ..against }, effect),
            _ => (against, effect),
        });
        match (plain, read) {
            (Some(plain), Some(read)) => Some(if read.1 > plain.1 { read } else { plain }),
            (plain, read) => plain.or(read),
        }
    }

    /// The objection to a call, and its effect: at most a person is asked if it rests on an unknown and the rule says
    /// so.
    fn gate(
        &self,
        state: &K::State,
        look: Look<'_>,
        cx: &Cx<'_>,
        effect: Effect,
    ) -> Option<(Objection, Effect)> {
        let Some(lenient) = &self.lenient else {
            let look = Look { unsure: self.unit.doubts.unsure == OnDoubt::Allow, ..look };
            return Some((self.unit.kind.gate(state, look, cx)?, effect));
        };
        let certain = self.unit.kind.gate(lenient, Look { unsure: true, ..look }, cx);
        let doubtful = self.unit.kind.gate(state, look, cx);
        match (certain, doubtful) {
            (Some(certain), Some(_)) => Some((certain, effect)),
            (Some(one), None) | (None, Some(one)) => Some((one, effect.min(Effect::Ask))),
            (None, None) => None,
        }
    }

    /// Whether the rule concerns a call. A side with a question about what calls do is asked about every call, and most
    /// of these do nothing that such a side is about. Any other rule is asked about a call only for a reason.
    fn concerns(&self, look: Look<'_>) -> bool {
        let operands = self.unit.kind.operands();
        let means = |operand: &&Operand| {
            operand.names(look.tool)
                && operand.asks.as_ref().is_none_or(|question| is_about(question, look, &operand.facts))
        };
        !operands.iter().any(|operand| operand.asks.is_some()) || operands.iter().any(means)
    }

    fn refuses(&self, state: &K::State, look: Look<'_>, cx: &Cx<'_>, least: Effect) -> bool {
        self.refusal(state, look, cx).is_some_and(|(_, effect)| effect >= least)
    }

    fn found(calls: &[CallRef]) -> Vec<EarlierCall> {
        calls.iter().copied().map(EarlierCall::new).collect()
    }
}

/// Takes an event into a state; whether the rule is then kept for good.
fn hear<K: Kind>(
    kind: &K,
    state: &mut K::State,
    event: &Event<'_>,
    look: Look<'_>,
    cx: &Cx<'_>,
    timers: &mut Timers<'_>,
) -> bool {
    match *event {
        // Only the beginning of the first turn counts.
        Event::TurnStart => kind.begins(timers),
        Event::Started(call) => kind.started(state, look, call.at, cx, timers),
        Event::Resolved { call, outcome, .. } => {
            let look = Look { ended: Some(outcome == Outcome::Ok), ..look };
            if outcome == Outcome::Refused {
                kind.refused(state, look, call.at, cx);
            }
            kind.resolved(state, look, call.at, outcome == Outcome::Ok, cx);
        }
        Event::Due(timer) => kind.due(state, timer, cx, timers),
        Event::Stopped(_) | Event::Message(_) | Event::Operation(_) | Event::TurnEnd { .. } => {}
    }
    kind.is_kept(state)
}

impl<K: Kind> Monitor for RuleMonitor<K> {
    fn save(&self) -> Option<String> {
        let RuleMonitor { unit: _, state, lenient, swept, copies, past } = self;
        // Copies of files are rare, and are not saved.
        let none: Option<Vec<()>> =
            copies.iter().map(|copies| (*copies == Copies::default()).then_some(())).collect();
        saved::save(&(state, lenient, swept, none?, past))
    }

    fn fork(&self) -> Box<dyn Monitor> {
        let (unit, state, copies) = (Arc::clone(&self.unit), self.state.clone(), self.copies.clone());
        let (lenient, swept) = (self.lenient.clone(), self.swept.clone());
        Box::new(RuleMonitor { unit, state, lenient, swept, copies, past: self.past.clone() })
    }

    fn narrow(&self, tool: &str, slot: Slot, cx: &Cx<'_>, out: &mut Hidden<'_>) {
        let Some(state) = &self.state else { return };
        if let Some((against, Effect::Deny)) = self.gate(state, Look::any(tool, slot), cx, Effect::Deny) {
            out.hide(0, against.code);
        }
    }

    fn decide(&self, call: ProposedCall<'_>, cx: &Cx<'_>, out: &mut Sink<'_>) {
        let Some(state) = &self.state else { return };
        let look = Look::call(call, cx, &self.copies);
        let doubts = self.unit.doubts;
        let (unsure, sweeps) = (doubts.unsure == OnDoubt::Allow, doubts.sweeps == Response::Deny);
        let look = Look { unsure, sweeps, ..look };
        let passes = || Some((self.unit.kind.passes(state, look, cx)?, Effect::Report));
        let (against, effect) = self.refusal(state, look, cx).or_else(passes).unzip();
        if let (Some(against), Some(effect)) = (&against, effect) {
            let tells = out.depth() >= Depth::Findings;
            out.find(0, effect, against.code, |finding| {
                if tells {
                    let facts = self.facts(against.count, against.part.as_deref());
                    (finding.found, finding.facts) = (Self::found(&against.found), facts);
                }
            });
        }
        if against.is_none() && out.depth() >= Depth::Checks && !self.concerns(look) {
            return;
        }
        out.check(0, against.is_none(), |check| {
            check.code = against.as_ref().map(|against| against.code);
            let rests = || (self.unit.kind.rests(state, look, cx), None);
            let (Support { found, count }, part) = against
                .map_or_else(rests, |Objection { found, count, part, .. }| {
                    (Support { found: found.to_vec(), count }, part)
                });
            (check.found, check.facts) = (Self::found(&found), self.facts(count, part.as_deref()));
        });
    }

    fn observe(&mut self, event: &Event<'_>, cx: &Cx<'_>, timers: &mut Timers<'_>) {
        if let (Event::Stopped(call), Some(state)) = (*event, &self.state) {
            // The decision a moment ago had the same answer.
            let look = Look::call(call, cx, &self.copies);
            let enforced = cx.enforcing && self.unit.options.is_enforced();
            self.past.averted += u32::from(enforced && self.refuses(state, look, cx, Effect::Ask));
            return;
        }
        if let (Event::Started(call), Some(state), true) = (*event, &self.state, self.unit.may_ask()) {
            // The question is asked again as when the call was decided: nothing has happened since.
            let against = self.refusal(state, Look::call(call, cx, &self.copies), cx);
            match against.map(|(_, effect)| self.unit.options.weigh(effect).0) {
                Some(Effect::Ask) => self.past.asked.push(call.at.index),
                Some(Effect::Deny | Effect::Halt) => self.past.overruled = true,
                _ => {}
            }
        }
        let weighs_sweeps = self.weighs_sweeps();
        let (kind, copies) = (&self.unit.kind, &mut self.copies);
        let Some(state) = &mut self.state else { return };
        let look = match *event {
            Event::Started(call) | Event::Resolved { call, .. } => Look::call(call, cx, copies),
            _ => Look::any("", Slot::default()),
        };
        let allows = self.unit.doubts.unsure == OnDoubt::Allow;
        let look = Look { sweeps: self.unit.doubts.sweeps == Response::Deny, ..look };
        if weighs_sweeps
            && self.swept.is_none()
            && matches!(event, Event::Started(_))
            && is_sweep(&kind.operands(), look)
        {
            self.swept = Some(state.clone());
        }
        let mut kept = hear(kind, state, event, Look { unsure: allows, ..look }, cx, timers);
        if let Some(lenient) = &mut self.lenient {
            // Kinds that set timers stop no call, so what this state would be woken for decides nothing.
            let (mut set, look) = (Vec::new(), Look { unsure: true, ..look });
            kept &= hear(kind, lenient, event, look, cx, &mut Timers::new(0, &mut set));
        }
        if let Some(swept) = &mut self.swept {
            let (mut set, look) = (Vec::new(), Look { unsure: allows, sweeps: true, ..look });
            kept &= hear(kind, swept, event, look, cx, &mut Timers::new(0, &mut set));
        }
        if let Event::Started(call) = *event
            && !copies.is_empty()
        {
            for operand in kind.operands().into_iter().filter(|operand| operand.names(call.tool)) {
                if let Some(own) = copies.get_mut(operand.number) {
                    operand.copies(Look::call(call, cx, &[]), own);
                }
            }
        }
        if kept && matches!(event, Event::Started(_) | Event::Resolved { .. }) {
            timers.retire();
        }
    }

    fn permanent_denial(
        &self,
        call: ProposedCall<'_>,
        cx: &Cx<'_>,
        enforced: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        let state = self.state.as_ref()?;
        let look = Look::call(call, cx, &self.copies);
        let lasting = enforced(0) && self.unit.kind.is_final(state, cx);
        (lasting && self.refuses(state, look, cx, Effect::Deny)).then_some(0)
    }

    fn digest(&self, _calls: &[ProposedCall<'_>], cx: &Cx<'_>, out: &mut Digest) {
        if let Some(state) = &self.state {
            // Copies change what later calls are.
            if self.copies.iter().any(|copies| *copies != Copies::default()) {
                out.unknown();
            }
            self.unit.kind.digest(state, cx, out);
            let others = self.lenient.iter().chain(&self.swept);
            others.for_each(|other| self.unit.kind.digest(other, cx, out));
        }
    }

    fn state(&self, cx: &Cx<'_>, out: &mut Vec<StateItem>) {
        if let Some(state) = &self.state {
            let [rule] = self.unit.rule;
            self.unit.kind.shows(state, rule, cx, out);
        }
    }

    fn report(&self, end: End, cx: &Cx<'_>, out: &mut Vec<RuleState>) {
        let [rule] = self.unit.rule;
        let nothing = || RuleStanding::as_it_is(RuleOutcome::NotExercised);
        let stands =
            self.state.as_ref().map_or_else(nothing, |state| self.unit.kind.standing(state, end, cx));
        let outcome = match stands.outcome {
            RuleOutcome::NotExercised if self.past.averted > 0 => RuleOutcome::Held,
            other => other,
        };
        // The person who was asked about the calls that violate it has agreed to them.
        let Interventions { averted, asked, overruled } = &self.past;
        let agreed = |call: u32| !overruled && asked.contains(&call);
        let asked = outcome == RuleOutcome::Violated && stands.position.is_some_and(agreed);
        // A run with verdicts alone needs the outcomes of its rules, and the reason only if one is violated.
        let tells = cx.want_findings || outcome == RuleOutcome::Violated;
        let facts = || -> Arc<dyn Explain> {
            Arc::new(OrderOutcome {
                asks: Arc::clone(&self.unit.order),
                count: stands.count,
                position: stands.position,
                calls: stands.calls.clone(),
            })
        };
        let facts = tells.then(facts);
        // Calls of other sessions have no place among these.
        let own = |index: &u32| CallRef { turn: 0, call: 0, index: *index }.elsewhere().is_none();
        out.push(RuleState {
            rule,
            outcome,
            code: stands.code,
            position: stands.position,
            calls: stands.calls.into_iter().filter(own).collect(),
            averted: *averted,
            enforced: !asked,
            asked,
            copied: false,
            facts,
        });
    }
}
