//! The running state of a sequence policy: the latest dispatched calls, and the number of calls of each limited tool.
//!
//! Only calls that ran and have a result are in it, in the order of the calls; a late result is inserted at the place
//! of its call.

use std::collections::VecDeque;
use std::hash::Hash;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::dispatches::Dispatches;
use super::explain::{Dispatch, DispatchRule};
use super::unit::{Forbidden, Limit, Response, SequencePolicy};
use crate::dialect::limit;
use crate::dialect::sequence_policies::codes;
use crate::monitor::saved;
use crate::monitor::{
    Cx, Digest, EarlierCall, Effect, Event, Explain, Hidden, Monitor, ProposedCall, Sink, Slot, StateItem,
    Timers,
};
use rulestep_base::diagnostic::code::Code;
use rulestep_base::session::{CallRef, Outcome};

/// Number of calls of a limited tool that are kept as evidence.
const RECENT: usize = 4;

#[derive(Clone)]
pub(super) struct SequencesMonitor {
    unit: Arc<SequencePolicy>,
    /// The latest dispatched calls, oldest first, each with the class of its name.
    latest: VecDeque<(CallRef, usize)>,
    /// By limit.
    counts: Vec<Count>,
    /// Every dispatched call, if some rule halts.
    dispatched: Dispatches,
    /// By class, the latest dispatched name: the next one is usually the same.
    names: Vec<Option<Arc<str>>>,
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Count {
    used: u64,
    /// Newest first.
    recent: Vec<CallRef>,
}

/// A rule that applies to a call.
#[derive(Clone, Copy)]
enum Question<'a> {
    Forbidden(usize, &'a Forbidden),
    Limit(&'a Limit, &'a Count),
}

impl SequencesMonitor {
    pub fn new(unit: Arc<SequencePolicy>) -> SequencesMonitor {
        SequencesMonitor {
            latest: VecDeque::with_capacity(unit.kept + 1),
            counts: vec![Count::default(); unit.limits.len()],
            dispatched: Dispatches::default(),
            names: vec![None; unit.classes()],
            unit,
        }
    }

    /// See [`Unit::resume`](crate::monitor::Unit::resume).
    pub fn resumed(unit: Arc<SequencePolicy>, saved: &str) -> Option<SequencesMonitor> {
        let (latest, counts, dispatched) = saved::read(saved)?;
        Some(SequencesMonitor { latest, counts, dispatched, ..SequencesMonitor::new(unit) })
            .filter(|own| own.counts.len() == own.unit.limits.len())
    }

    /// The rules that apply to a call of this class, in the order of precedence.
    fn put(&self, class: usize) -> impl Iterator<Item = Question<'_>> {
        let asked = self.unit.asked(class);
        let sequences = asked.map(|asked| asked.sequences.as_slice()).unwrap_or_default().iter();
        let sequences = sequences
            .filter_map(|number| Some(Question::Forbidden(*number, self.unit.forbidden.get(*number)?)));
        let limit = asked.and_then(|asked| {
            let number = asked.limit?;
            Some(Question::Limit(self.unit.limits.get(number)?, self.counts.get(number)?))
        });
        sequences.chain(limit)
    }

    /// Whether a rule objects to a call of this class.
    fn against(&self, put: Question<'_>, class: usize) -> bool {
        match put {
            Question::Forbidden(number, _) => {
                let before = self.latest.iter().rev().map(|(_, class)| *class);
                self.unit.completes(number, class, before)
            }
            Question::Limit(limit, count) => count.used >= limit.allowed,
        }
    }

    fn found(&self, put: Question<'_>) -> Vec<EarlierCall> {
        let calls: Vec<CallRef> = match put {
            Question::Forbidden(_, rule) => {
                let earlier = rule.sequence.len().saturating_sub(1);
                let from = self.latest.len().saturating_sub(earlier);
                self.latest.range(from..).map(|(call, _)| *call).collect()
            }
            Question::Limit(_, count) => count.recent.clone(),
        };
        calls.into_iter().map(EarlierCall::new).collect()
    }

    fn facts(&self, put: Question<'_>, effect: Effect) -> Option<Arc<dyn Explain>> {
        let rule = match put {
            Question::Forbidden(_, rule) => DispatchRule::Sequence(Arc::clone(&rule.sequence)),
            Question::Limit(limit, count) => DispatchRule::Limit { used: count.used, allowed: limit.allowed },
        };
        let dispatched = (effect == Effect::Halt).then(|| self.dispatched.clone());
        Some(Arc::new(Dispatch { policy: Arc::clone(&self.unit.id), rule, dispatched }))
    }

    fn name(&mut self, class: usize, tool: &str) -> Arc<str> {
        match self.names.get_mut(class) {
            Some(Some(known)) if **known == *tool => Arc::clone(known),
            Some(slot) => Arc::clone(slot.insert(tool.into())),
            None => tool.into(),
        }
    }

    fn dispatch(&mut self, call: &ProposedCall<'_>) {
        let class = call.slot.0 as usize;
        if self.unit.halts {
            let name = self.name(class, call.tool);
            self.dispatched.add(call.at, name);
        }
        if self.unit.kept > 0 {
            let place = self.latest.partition_point(|(earlier, _)| earlier < &call.at);
            self.latest.insert(place, (call.at, class));
            if self.latest.len() > self.unit.kept {
                self.latest.pop_front();
            }
        }
        let limit = self.unit.asked(class).and_then(|asked| asked.limit);
        if let Some(count) = limit.and_then(|limit| self.counts.get_mut(limit)) {
            count.used += 1;
            let place = count.recent.partition_point(|recent| *recent > call.at);
            count.recent.insert(place, call.at);
            count.recent.truncate(RECENT);
        }
    }
}

impl Question<'_> {
    fn rule(self) -> usize {
        match self {
            Question::Forbidden(_, rule) => rule.rule,
            Question::Limit(limit, _) => limit.rule,
        }
    }

    fn said(&self) -> &Response {
        match self {
            Question::Forbidden(_, rule) => &rule.said,
            Question::Limit(limit, _) => &limit.said,
        }
    }

    fn code(self) -> Code {
        match self {
            Question::Forbidden(..) => codes::SEQUENCE_FORBIDDEN,
            Question::Limit(..) => codes::LIMIT_REACHED,
        }
    }
}

impl Monitor for SequencesMonitor {
    fn fork(&self) -> Box<dyn Monitor> {
        Box::new(self.clone())
    }

    fn save(&self) -> Option<String> {
        let SequencesMonitor { unit: _, latest, counts, dispatched, names: _ } = self;
        saved::save(&(latest, counts, dispatched))
    }

    fn narrow(&self, _tool: &str, slot: Slot, _cx: &Cx<'_>, out: &mut Hidden<'_>) {
        // No rule looks at arguments, so an objection to one call is one to all.
        let class = slot.0 as usize;
        for put in self.put(class) {
            out.asks(put.rule());
            if self.against(put, class) {
                out.hide(put.rule(), put.code());
            }
        }
    }

    fn decide(&self, call: ProposedCall<'_>, _cx: &Cx<'_>, out: &mut Sink<'_>) {
        let class = call.slot.0 as usize;
        for put in self.put(class) {
            out.asks(put.rule());
            let against = self.against(put, class);
            if against {
                // The first rule decides, whatever its action.
                out.find(put.rule(), put.said().effect, put.code(), |finding| {
                    finding.found = self.found(put);
                    finding.facts = self.facts(put, finding.effect);
                    finding.reason = Some(Arc::clone(&put.said().reason));
                    finding.tell_llm = Some(put.said().told(call.tool));
                });
                if out.is_decided() {
                    return;
                }
            }
            out.check(put.rule(), !against, |check| {
                check.code = against.then(|| put.code());
                // For a satisfied rule, the calls that it compared or counted.
                check.found = self.found(put);
                check.facts = self.facts(put, Effect::None);
            });
        }
    }

    fn observe(&mut self, event: &Event<'_>, _cx: &Cx<'_>, _timers: &mut Timers<'_>) {
        if let Event::Resolved { call, outcome: Outcome::Ok | Outcome::Error, .. } = event {
            self.dispatch(call);
        }
    }

    fn permanent_denial(
        &self,
        call: ProposedCall<'_>,
        _cx: &Cx<'_>,
        enforced: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        let class = call.slot.0 as usize;
        let lasting = |put: &Question<'_>| match put {
            Question::Forbidden(_, rule) => rule.sequence.len() < 2,
            Question::Limit(..) => true,
        };
        let mut put = self.put(class).filter(|put| enforced(put.rule()) && lasting(put));
        put.find(|put| self.against(*put, class)).map(Question::rule)
    }

    fn digest(&self, calls: &[ProposedCall<'_>], _cx: &Cx<'_>, out: &mut Digest) {
        self.latest.iter().map(|(_, class)| *class).collect::<Vec<_>>().hash(out);
        for put in calls.iter().flat_map(|call| self.put(call.slot.0 as usize)) {
            if let Question::Limit(limit, count) = put {
                count.used.min(limit.allowed).hash(out);
            }
        }
    }

    fn state(&self, _cx: &Cx<'_>, out: &mut Vec<StateItem>) {
        for (limit, count) in self.unit.limits.iter().zip(&self.counts) {
            if let Some(rule) = self.unit.rules.get(limit.rule) {
                let tool = Arc::clone(&limit.tool);
                let limit = limit::Limit { tool, used: count.used, allowed: limit.allowed };
                out.push(limit.kept(*rule));
            }
        }
    }

    fn report(
        &self,
        _end: crate::monitor::End,
        _cx: &Cx<'_>,
        _out: &mut Vec<crate::monitor::finding::RuleState>,
    ) {
    }
}
