//! The running state of the contracts: which preconditions are satisfied, what is forbidden, how many turns are
//! complete.
//!
//! Every question is answered from state that was kept when a call was resolved; the past is never searched again.

mod outlook;
mod saved;
mod standings;

use std::hash::Hash;
use std::sync::Arc;

use hashbrown::DefaultHashBuilder;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use self::standings::{GoodCall, News, Standing, Standings};
use super::prior::PriorRule;
use super::unit::{Contracts, Meets, Need, Precondition};
use crate::dialect::contracts::codes;
use crate::dialect::contracts::explain::Forbidden;
use crate::dialect::sequence_rules::calls::{Copies, Look};
use crate::monitor::collections::Pages;
use crate::monitor::finding::StateItem;
use crate::monitor::{
    Cx, Depth, Digest, EarlierCall, Effect, Event, Hidden, Monitor, ProposedCall, Sink, Slot, Timers,
};
use rulestep_base::diagnostic::code::Code;
use rulestep_base::session::{Body, CallRef, Outcome};

#[derive(Clone)]
pub(super) struct ContractsMonitor {
    unit: Arc<Contracts>,
    hasher: DefaultHashBuilder,
    /// The state of each tool, by slot.
    tools: Pages<ToolState>,
    /// The earlier calls of each group, summarised.
    standings: Pages<Standings>,
    /// Turns completed.
    completed: u64,
    /// Calls of this turn that ran and forbid something, in the order in which they were proposed.
    running: Vec<RunningCall>,
    /// Calls with a good result that count from the next turn on.
    resolved: Vec<GoodCall>,
    /// The copies of files that prior calls ask about.
    copies: Vec<Copies>,
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct ToolState {
    /// What forbids it for the rest of the session, the earliest first, each rule once.
    bans: Vec<Ban>,
    /// What forbids it until the turn ends because of calls of this turn: the earliest of each rule.
    running: Vec<Ban>,
}

/// A tool is forbidden since a call, by a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Ban {
    since: CallRef,
    rule: usize,
}

#[derive(Clone, Serialize, Deserialize)]
struct RunningCall {
    at: CallRef,
    slot: usize,
    failed: bool,
}

/// The earlier calls that match a call's arguments.
#[derive(Clone, Copy)]
enum Lookup<'a> {
    NoPrior,
    NoValue,
    Unmatched,
    Standing(&'a Standing),
}

/// The group that was looked up last in a decision: preconditions often ask about the same one.
type Last<'a> = Option<(usize, Lookup<'a>)>;

impl ContractsMonitor {
    pub fn new(unit: Arc<Contracts>) -> ContractsMonitor {
        ContractsMonitor {
            hasher: DefaultHashBuilder::default(),
            tools: Pages::new(unit.tools.len()),
            standings: Pages::new(unit.groups.len()),
            completed: 0,
            running: Vec::new(),
            resolved: Vec::new(),
            copies: vec![Copies::default(); unit.asking],
            unit,
        }
    }

    /// What forbids a tool now, the earliest first: kept bans, then those of calls that run in this turn.
    fn bans(&self, slot: usize) -> impl Iterator<Item = Ban> {
        self.tools.get(slot).into_iter().flat_map(|tool| tool.bans.iter().chain(&tool.running).copied())
    }

    /// The preconditions of a tool's contract, each with the requirement it rests on.
    fn preconditions(&self, slot: usize) -> impl Iterator<Item = (&Precondition, Option<Need>)> {
        let part = self.unit.tools.get(slot);
        let contract = part.and_then(|part| self.unit.contracts.get(part.contract?));
        let needs = part.map(|part| part.needs.as_slice()).unwrap_or_default();
        let preconditions = contract.map(|contract| contract.preconditions.as_slice()).unwrap_or_default();
        preconditions.iter().zip(needs.iter().copied())
    }

    fn steps_hold(&self, precondition: &Precondition) -> bool {
        match &precondition.steps {
            Some(steps) => steps.fewest.is_some_and(|fewest| self.completed >= fewest),
            None => true,
        }
    }

    /// Whether some call counts that the group means.
    fn counts(&self, group: usize) -> bool {
        self.standings.get(group).is_some_and(|standings| standings.counts)
    }

    fn recent(&self, group: usize) -> &[GoodCall] {
        self.standings.get(group).map(|standings| standings.recent.as_slice()).unwrap_or_default()
    }

    /// The earlier calls of a group that match these arguments.
    fn seek(&self, number: usize, arguments: &Body) -> Lookup<'_> {
        let Some(group) = self.unit.groups.get(number).filter(|_| self.counts(number)) else {
            return Lookup::NoPrior;
        };
        let Some(standings) = self.standings.get(number) else { return Lookup::NoPrior };
        let standing = match &group.resource {
            None => standings.all.as_ref(),
            Some(resource) => match resource.of_call(arguments) {
                None => return Lookup::NoValue,
                Some(bound) => standings.get(&bound, &self.hasher),
            },
        };
        standing.map_or(Lookup::Unmatched, Lookup::Standing)
    }

    /// The first code of a precondition that a call with these arguments does not meet.
    fn unmet<'a>(
        &'a self,
        precondition: &Precondition,
        need: Option<Need>,
        arguments: &Body,
        last: &mut Last<'a>,
    ) -> Option<Code> {
        if !self.steps_hold(precondition) {
            return Some(codes::STEP_COUNT_BELOW);
        }
        let need = need?;
        let sought = match last {
            Some((group, sought)) if *group == need.group => *sought,
            _ => self.seek(need.group, arguments),
        };
        *last = Some((need.group, sought));
        self.unmet_by(sought, need)
    }

    /// Whether a call has not the one value that a requirement compares.
    fn lacks_value(&self, need: Need, arguments: &Body) -> bool {
        let resource = self.unit.groups.get(need.group).and_then(|group| group.resource.as_ref());
        resource.is_some_and(|resource| resource.of_call(arguments).is_none())
    }

    fn unmet_by(&self, sought: Lookup<'_>, need: Need) -> Option<Code> {
        match sought {
            Lookup::NoPrior => Some(codes::PRIOR_TOOL_MISSING),
            Lookup::NoValue => Some(codes::RESOURCE_MISSING),
            Lookup::Unmatched => Some(codes::RESOURCE_UNMATCHED),
            Lookup::Standing(standing) => {
                let matching = self.unit.groups.get(need.group)?.members.get(need.member)?.matching;
                let decides =
                    standing.members.get(need.member).is_some_and(|member| member.decides(matching));
                (!decides).then_some(codes::PRIOR_OUTPUT_UNMATCHED)
            }
        }
    }

    /// The first code of a precondition that no call at all could meet now.
    fn unmeetable(&self, precondition: &Precondition, need: Option<Need>) -> Option<Code> {
        if !self.steps_hold(precondition) {
            return Some(codes::STEP_COUNT_BELOW);
        }
        let need = need?;
        let group = self.unit.groups.get(need.group)?;
        if group.resource.is_none() || !self.counts(need.group) {
            return self.unmet_by(self.seek(need.group, &Body::MISSING), need);
        }
        let Some(standings) = self.standings.get(need.group).filter(|standings| standings.has_values())
        else {
            return Some(codes::RESOURCE_UNMATCHED);
        };
        (!standings.has_good(need.member)).then_some(codes::PRIOR_OUTPUT_UNMATCHED)
    }

    /// A call has a good result, which counts from the next turn on.
    fn resolve(&mut self, call: ProposedCall<'_>, output: &Body, cx: &Cx<'_>) {
        let (slot, want_findings) = (call.slot.0 as usize, cx.want_findings);
        let Some(part) = self.unit.tools.get(slot).filter(|part| !part.meets.is_empty()) else { return };
        let look = Look { ended: Some(true), ..Look::call(call, cx, &self.copies) };
        let mut skips = SmallVec::new();
        for Meets { group: number, .. } in part.meets.iter().filter(|meets| meets.looks) {
            let Some(group) = self.unit.groups.get(*number).filter(|group| !group.calls.mean(look)) else {
                continue;
            };
            skips.push(*number);
            if want_findings
                && let Some(doubt) = group.calls.doubt(look)
                && let Some(standings) = self.standings.get_mut(*number)
            {
                standings.doubtful = Some((call.at, Arc::new(doubt)));
            }
        }
        if skips.len() == part.meets.len() {
            return;
        }
        let kept = |body: &Body, wanted: bool| if wanted { body.clone() } else { Body::MISSING };
        self.resolved.push(GoodCall {
            at: call.at,
            slot,
            skips,
            passed: part.table.read(output),
            arguments: kept(call.arguments, want_findings || part.gives_arguments),
            output: kept(output, want_findings || part.gives_output),
        });
    }

    /// Calls whose results count from now on.
    fn commit(&mut self, want_findings: bool) {
        let ContractsMonitor { unit, hasher, standings, resolved, .. } = self;
        if resolved.len() > 1 {
            resolved.sort_by_key(|call| call.at);
        }
        for call in resolved.drain(..) {
            let Some(part) = unit.tools.get(call.slot) else { continue };
            for Meets { group: number, places, .. } in &part.meets {
                if let (Some(group), Some(standings)) = (unit.groups.get(*number), standings.get_mut(*number))
                    && !call.skips.contains(number)
                {
                    standings.add(
                        group,
                        News { call: &call, table: &part.table, places, want_findings },
                        hasher,
                    );
                }
            }
        }
    }

    /// A call runs: its later siblings are bound by what it forbids.
    fn run(&mut self, at: CallRef, slot: usize) {
        let Some(part) = self.unit.tools.get(slot).filter(|part| !part.forbids.is_empty()) else { return };
        self.running.push(RunningCall { at, slot, failed: false });
        for (target, rule) in &part.forbids {
            if let Some(tool) = self.tools.get_mut(*target)
                && tool.running.iter().all(|ban| ban.rule != *rule)
            {
                tool.running.push(Ban { since: at, rule: *rule });
            }
        }
    }

    /// Keeps the copies that a call makes of files that prior calls ask about.
    fn copy(&mut self, call: ProposedCall<'_>, cx: &Cx<'_>) {
        let Some(part) = self.unit.tools.get(call.slot.0 as usize).filter(|part| part.copies) else { return };
        let groups = part.meets.iter().filter_map(|meets| self.unit.groups.get(meets.group));
        for operand in groups.flat_map(|group| group.calls.operands()).filter(|own| own.names(call.tool)) {
            if let Some(own) = self.copies.get_mut(operand.number).filter(|_| operand.asks.is_some()) {
                operand.copies(Look::call(call, cx, &[]), own);
            }
        }
    }

    /// The calls of the turn keep what they forbid, unless they failed.
    fn keep_bans(&mut self) {
        let ContractsMonitor { unit, tools, running, .. } = self;
        for running in running.drain(..) {
            let Some(part) = unit.tools.get(running.slot) else { continue };
            for (target, rule) in &part.forbids {
                let Some(tool) = tools.get_mut(*target) else { continue };
                tool.running.clear();
                // Later calls of the same rule change nothing: the first ban lasts for ever.
                if !running.failed && tool.bans.iter().all(|ban| ban.rule != *rule) {
                    let ban = Ban { since: running.at, rule: *rule };
                    let place = tool.bans.partition_point(|kept| *kept < ban);
                    tool.bans.insert(place, ban);
                }
            }
        }
    }
}

impl Monitor for ContractsMonitor {
    fn fork(&self) -> Box<dyn Monitor> {
        Box::new(self.clone())
    }

    fn save(&self) -> Option<String> {
        self.save_state()
    }

    fn narrow(&self, _tool: &str, slot: Slot, _cx: &Cx<'_>, out: &mut Hidden<'_>) {
        let slot = slot.0 as usize;
        for ban in self.bans(slot) {
            // The first that hides the tool is reason enough.
            if out.hide(ban.rule, codes::FORBIDDEN) {
                break;
            }
        }
        for (precondition, need) in self.preconditions(slot) {
            out.asks(precondition.rule);
            if let Some(code) = self.unmeetable(precondition, need) {
                out.hide(precondition.rule, code);
            }
        }
    }

    fn decide(&self, call: ProposedCall<'_>, _cx: &Cx<'_>, out: &mut Sink<'_>) {
        let slot = call.slot.0 as usize;
        for ban in self.bans(slot) {
            out.find(ban.rule, Effect::Deny, codes::FORBIDDEN, |finding| {
                finding.found = self.bans(slot).map(|ban| EarlierCall::new(ban.since)).collect();
                finding.found.dedup();
                finding.facts = Some(Arc::new(Forbidden));
            });
            if out.is_decided() {
                return;
            }
            // The others are its evidence, unless it stops nothing.
            if out.stops() {
                break;
            }
        }
        let mut last = None;
        for (precondition, need) in self.preconditions(slot) {
            out.asks(precondition.rule);
            let unmet = self.unmet(precondition, need, call.arguments, &mut last);
            if let Some(code) = unmet {
                let tells = out.depth() >= Depth::Findings;
                out.find(precondition.rule, Effect::Deny, code, |finding| {
                    if tells {
                        let outlook = self.explain(precondition, need, call.arguments);
                        (finding.checked, finding.found, finding.facts) =
                            (outlook.checked, outlook.found, outlook.facts);
                    }
                });
                if out.is_decided() {
                    return;
                }
            }
            out.check(precondition.rule, unmet.is_none(), |check| {
                let outlook = self.explain(precondition, need, call.arguments);
                check.code = outlook.code;
                (check.checked, check.found, check.facts) = (outlook.checked, outlook.found, outlook.facts);
            });
        }
    }

    fn observe(&mut self, event: &Event<'_>, cx: &Cx<'_>, _timers: &mut Timers<'_>) {
        match *event {
            Event::Started(call) => {
                self.run(call.at, call.slot.0 as usize);
                self.copy(call, cx);
            }
            Event::Resolved { call, outcome, output } => {
                if matches!(outcome, Outcome::Error | Outcome::Refused)
                    && let Ok(place) = self.running.binary_search_by_key(&call.at, |running| running.at)
                    && let Some(running) = self.running.get_mut(place)
                {
                    running.failed = true;
                }
                if outcome == Outcome::Ok {
                    self.resolve(call, output, cx);
                }
            }
            Event::TurnStart => self.commit(cx.want_findings),
            Event::TurnEnd { proposed, started } => {
                self.commit(cx.want_findings);
                self.keep_bans();
                if proposed == 0 || started > 0 {
                    self.completed += 1;
                }
            }
            Event::Stopped(_) | Event::Message(_) | Event::Operation(_) | Event::Due(_) => {}
        }
    }

    fn permanent_denial(
        &self,
        call: ProposedCall<'_>,
        _cx: &Cx<'_>,
        enforced: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        let slot = call.slot.0 as usize;
        let bans = self.tools.get(slot).into_iter().flat_map(|tool| &tool.bans);
        let ban = bans.map(|ban| ban.rule).find(|rule| enforced(*rule));
        ban.or_else(|| {
            let unmeetable = |(precondition, need): &(&Precondition, Option<Need>)| {
                let endless = precondition.steps.as_ref().is_some_and(|steps| steps.fewest.is_none());
                // The value that the call lacks is its own, and a result that cannot be will not come.
                let lacks = need.is_some_and(|need| self.lacks_value(need, call.arguments));
                let unmet = || self.unmet(precondition, *need, call.arguments, &mut None).is_some();
                endless
                    || lacks
                    || precondition.prior.as_ref().is_some_and(PriorRule::is_impossible) && unmet()
            };
            let mut asked = self.preconditions(slot).filter(|(precondition, _)| enforced(precondition.rule));
            asked.find(unmeetable).map(|(precondition, _)| precondition.rule)
        })
    }

    fn digest(&self, calls: &[ProposedCall<'_>], _cx: &Cx<'_>, out: &mut Digest) {
        // Copies change what later calls are.
        if self.copies.iter().any(|copies| *copies != Copies::default()) {
            out.unknown();
        }
        for call in calls {
            let slot = call.slot.0 as usize;
            // Which rule forbids matters: not each of them stops the call.
            self.bans(slot).for_each(|ban| ban.rule.hash(out));
            usize::MAX.hash(out);
            for (precondition, need) in self.preconditions(slot) {
                let fewest = precondition.steps.as_ref().and_then(|steps| steps.fewest);
                fewest.map(|fewest| self.completed.min(fewest)).hash(out);
                let standing = need.and_then(|need| match self.seek(need.group, call.arguments) {
                    Lookup::Standing(standing) => standing.members.get(need.member),
                    Lookup::NoPrior | Lookup::NoValue | Lookup::Unmatched => None,
                });
                standing.map(|own| (own.newest_good, own.good.is_some())).hash(out);
            }
        }
    }

    fn state(&self, _cx: &Cx<'_>, out: &mut Vec<StateItem>) {
        self.tell_state(out);
    }

    fn report(
        &self,
        _end: crate::monitor::End,
        _cx: &Cx<'_>,
        _out: &mut Vec<crate::monitor::finding::RuleState>,
    ) {
    }
}
