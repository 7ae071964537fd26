//! The running state of the contracts: what has been met, what is forbidden, how many turns are complete.
//!
//! Every question is answered from what was kept when a call was resolved; the past is never looked through again.

use std::hash::RandomState;
use std::sync::Arc;

use hashbrown::HashTable;
use serde_json::Value;

use super::unit::{Contracts, Matching, Precondition, PriorRule, steps_hold};
use crate::diagnostic::code::{self, Code};
use crate::monitor::finding::{Prior, StateItem};
use crate::monitor::{Asked, Checked, Cx, Detail, Effect, Event, Found, Hidden, Monitor, Sink, Slot, Timers};
use crate::session::{Body, CallRef, Outcome, value};

/// How many earlier calls are kept as evidence for a value that did not match.
const NEWEST: usize = 4;

#[derive(Clone)]
pub(super) struct ContractsMonitor {
    unit: Arc<Contracts>,
    hasher: RandomState,
    /// What forbids each tool, by slot, the earliest first.
    forbidden: Vec<Vec<Ban>>,
    /// What stands for each requirement.
    standings: Vec<Standings>,
    /// Turns completed.
    completed: u32,
    /// Calls of this turn that ran and forbid something.
    running: Vec<Running>,
    /// Calls with a good result that count from the next turn on.
    resolved: Vec<Resolved>,
}

/// A tool is forbidden since a call, by a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ban {
    since: CallRef,
    rule: usize,
}

#[derive(Clone)]
struct Running {
    at: CallRef,
    slot: usize,
    failed: bool,
}

#[derive(Clone)]
struct Resolved {
    at: CallRef,
    slot: usize,
    arguments: Body,
    output: Body,
}

/// What the earlier calls of one requirement's tool come to.
#[derive(Clone, Default)]
struct Standings {
    /// The newest calls, newest first, with the value that a binding compares.
    newest: Vec<Found>,
    /// For an unbound requirement: all calls together.
    all: Option<Standing>,
    /// For a bound one: by value.
    by_value: HashTable<(Value, Standing)>,
    /// Values whose deciding call is good.
    good: usize,
}

/// What the earlier calls with one value come to.
#[derive(Clone)]
struct Standing {
    newest: CallRef,
    newest_good: bool,
    newest_output: Body,
    /// The newest good one.
    good: Option<CallRef>,
}

/// What a requirement says of a call.
enum Answer<'a> {
    Met(&'a Standing),
    NoPrior,
    NoValue,
    Unmatched,
    Bad(&'a Standing),
}

impl Answer<'_> {
    fn code(&self) -> Option<Code> {
        match self {
            Answer::Met(_) => None,
            Answer::NoPrior => Some(code::PRIOR_TOOL_MISSING),
            Answer::NoValue => Some(code::RESOURCE_MISSING),
            Answer::Unmatched => Some(code::RESOURCE_UNMATCHED),
            Answer::Bad(_) => Some(code::PRIOR_OUTPUT_UNMATCHED),
        }
    }
}

/// What a precondition comes to, and what people are told of it.
struct Outlook {
    code: Option<Code>,
    checked: Option<Checked>,
    found: Vec<Found>,
    detail: Detail,
}

impl ContractsMonitor {
    pub fn new(unit: Arc<Contracts>) -> ContractsMonitor {
        ContractsMonitor {
            hasher: RandomState::new(),
            forbidden: vec![Vec::new(); unit.tools.len()],
            standings: vec![Standings::default(); unit.requirements.len()],
            completed: 0,
            running: Vec::new(),
            resolved: Vec::new(),
            unit,
        }
    }

    /// What forbids a tool now: kept bans, then those of calls that run in this turn.
    fn bans(&self, slot: usize) -> impl Iterator<Item = Ban> {
        let kept = self.forbidden.get(slot).into_iter().flatten().copied();
        let running = self.running.iter().flat_map(move |running| {
            let part = self.unit.tools.get(running.slot);
            let forbids = part.map(|part| part.forbids.as_slice()).unwrap_or_default();
            let of_tool = forbids.iter().filter(move |(target, _)| *target == slot);
            of_tool.map(|(_, rule)| Ban { since: running.at, rule: *rule })
        });
        kept.chain(running)
    }

    /// The preconditions of a tool's contract, each with the requirement it rests on.
    fn preconditions(&self, slot: usize) -> impl Iterator<Item = (&Precondition, Option<usize>)> {
        let part = self.unit.tools.get(slot);
        let contract = part.and_then(|part| self.unit.contracts.get(part.contract?));
        let needs = part.map(|part| part.needs.as_slice()).unwrap_or_default();
        let preconditions = contract.map(|contract| contract.preconditions.as_slice()).unwrap_or_default();
        preconditions.iter().zip(needs.iter().copied())
    }

    fn requirement(&self, number: Option<usize>) -> Option<(&PriorRule, &Standings)> {
        let number = number?;
        Some((self.unit.requirements.get(number)?, self.standings.get(number)?))
    }

    /// The first code of a precondition that is not met by a call with these arguments.
    fn unmet(&self, precondition: &Precondition, needs: Option<usize>, arguments: &Body) -> Option<Code> {
        if !steps_hold(&precondition.steps, self.completed) {
            return Some(code::STEP_COUNT_BELOW);
        }
        let (rule, standings) = self.requirement(needs)?;
        standings.answer(rule, arguments, &self.hasher).code()
    }

    /// The first code of a precondition that no call at all could meet now.
    fn unmeetable(&self, precondition: &Precondition, needs: Option<usize>) -> Option<Code> {
        if !steps_hold(&precondition.steps, self.completed) {
            return Some(code::STEP_COUNT_BELOW);
        }
        let (rule, standings) = self.requirement(needs)?;
        standings.outlook(rule)
    }

    /// Everything about a precondition and a call.
    fn explain(&self, precondition: &Precondition, needs: Option<usize>, arguments: &Body) -> Outlook {
        let steps = || Detail::Steps { completed: self.completed, bounds: precondition.steps.clone() };
        if !steps_hold(&precondition.steps, self.completed) {
            let code = Some(code::STEP_COUNT_BELOW);
            return Outlook { code, checked: None, found: Vec::new(), detail: steps() };
        }
        match self.requirement(needs) {
            Some((rule, standings)) => standings.explain(rule, arguments, &self.hasher),
            None => Outlook { code: None, checked: None, found: Vec::new(), detail: steps() },
        }
    }

    /// Calls whose results count from now on.
    fn commit(&mut self) {
        if self.resolved.is_empty() {
            return;
        }
        let mut resolved = std::mem::take(&mut self.resolved);
        resolved.sort_by_key(|call| call.at);
        for call in resolved.drain(..) {
            let Some(part) = self.unit.tools.get(call.slot) else { continue };
            for number in &part.meets {
                if let (Some(rule), Some(standings)) =
                    (self.unit.requirements.get(*number), self.standings.get_mut(*number))
                {
                    standings.add(rule, &call, &self.hasher);
                }
            }
        }
        // Keep the room for the next turn.
        self.resolved = resolved;
    }

    /// The calls of the turn keep what they forbid, unless they failed.
    fn keep_bans(&mut self) {
        for running in std::mem::take(&mut self.running) {
            if running.failed {
                continue;
            }
            let Some(part) = self.unit.tools.get(running.slot) else { continue };
            for (target, rule) in &part.forbids {
                // Later calls of the same rule change nothing: the first ban lasts for ever.
                if let Some(bans) = self.forbidden.get_mut(*target)
                    && bans.iter().all(|ban| ban.rule != *rule)
                {
                    bans.push(Ban { since: running.at, rule: *rule });
                    bans.sort();
                }
            }
        }
    }
}

impl Monitor for ContractsMonitor {
    fn fork(&self) -> Box<dyn Monitor> {
        Box::new(self.clone())
    }

    fn narrow(&self, _tool: &str, slot: Slot, _cx: &Cx<'_>, out: &mut Hidden<'_>) {
        let slot = slot.0 as usize;
        if let Some(ban) = self.bans(slot).min() {
            out.hide(ban.rule, code::FORBIDDEN);
        }
        for (precondition, needs) in self.preconditions(slot) {
            if let Some(code) = self.unmeetable(precondition, needs) {
                out.hide(precondition.rule, code);
            }
        }
    }

    fn decide(&self, call: Asked<'_>, _cx: &Cx<'_>, out: &mut Sink<'_>) {
        let slot = call.slot.0 as usize;
        // The first finding denies, the others are true as well.
        let mut effect = Effect::Deny;
        if let Some(first) = self.bans(slot).min() {
            out.find(first.rule, effect, code::FORBIDDEN, |finding| {
                let mut bans: Vec<Ban> = self.bans(slot).collect();
                bans.sort();
                finding.found = bans.into_iter().map(|ban| Found { call: ban.since, value: None }).collect();
                finding.found.dedup();
            });
            effect = Effect::Also;
        }
        for (precondition, needs) in self.preconditions(slot) {
            if let Some(code) = self.unmet(precondition, needs, call.arguments) {
                out.find(precondition.rule, effect, code, |finding| {
                    let outlook = self.explain(precondition, needs, call.arguments);
                    (finding.checked, finding.found, finding.detail) =
                        (outlook.checked, outlook.found, outlook.detail);
                });
                effect = Effect::Also;
            }
            let passed = || self.unmet(precondition, needs, call.arguments).is_none();
            if out.depth() >= crate::monitor::Depth::Checks {
                out.check(precondition.rule, passed(), |check| {
                    let outlook = self.explain(precondition, needs, call.arguments);
                    check.code = outlook.code;
                    (check.checked, check.found, check.detail) =
                        (outlook.checked, outlook.found, outlook.detail);
                });
            }
        }
    }

    fn observe(&mut self, event: Event<'_>, _cx: &Cx<'_>, _timers: &mut Timers<'_>) {
        match event {
            Event::Started(call) => {
                let slot = call.slot.0 as usize;
                if self.unit.tools.get(slot).is_some_and(|part| !part.forbids.is_empty()) {
                    self.running.push(Running { at: call.at, slot, failed: false });
                }
            }
            Event::Resolved { call, outcome, output } => {
                let failed = matches!(outcome, Outcome::Error | Outcome::Refused);
                if failed && let Some(running) = self.running.iter_mut().find(|running| running.at == call.at)
                {
                    running.failed = true;
                }
                if outcome == Outcome::Ok {
                    self.resolved.push(Resolved {
                        at: call.at,
                        slot: call.slot.0 as usize,
                        arguments: call.arguments.clone(),
                        output: output.clone(),
                    });
                }
            }
            Event::TurnStart => self.commit(),
            Event::TurnEnd { proposed, started } => {
                self.commit();
                self.keep_bans();
                if proposed == 0 || started > 0 {
                    self.completed += 1;
                }
            }
            Event::Stopped(_) | Event::Message(_) | Event::Operation(_) | Event::Due(_) => {}
        }
    }

    fn state(&self, _cx: &Cx<'_>, out: &mut Vec<StateItem>) {
        for (part, bans) in self.unit.tools.iter().zip(&self.forbidden) {
            if let (Some(ban), Some(rule)) =
                (bans.first(), bans.first().and_then(|ban| self.unit.rules.get(ban.rule)))
            {
                out.push(StateItem::Forbidden {
                    tool: Arc::clone(&part.name),
                    since: ban.since,
                    rule: *rule,
                });
            }
        }
        for contract in &self.unit.contracts {
            let slot = self.unit.tools.iter().position(|part| part.name == contract.tool);
            for (precondition, needs) in slot.into_iter().flat_map(|slot| self.preconditions(slot)) {
                let Some(rule) = self.unit.rules.get(precondition.rule) else { continue };
                let code = self.unmeetable(precondition, needs);
                let (by, detail) = match self.requirement(needs) {
                    Some((rule, standings)) => {
                        (standings.good_calls(rule, &self.hasher), Detail::Prior(Box::new(rule.facts())))
                    }
                    None => (
                        Vec::new(),
                        Detail::Steps { completed: self.completed, bounds: precondition.steps.clone() },
                    ),
                };
                out.push(StateItem::Precondition {
                    rule: *rule,
                    tool: Arc::clone(&contract.tool),
                    satisfied: code.is_none(),
                    code,
                    by,
                    detail,
                });
            }
        }
    }
}

impl PriorRule {
    fn facts(&self) -> Prior {
        Prior {
            tool: Arc::clone(&self.tool),
            matching: self.matching.word(),
            other_reading: false,
            outputs: Vec::new(),
            hint: None,
        }
    }
}

impl Standings {
    fn add(&mut self, rule: &PriorRule, call: &Resolved, hasher: &RandomState) {
        let resource = rule.resource.as_ref();
        let bound = resource.and_then(|resource| resource.of_prior(&call.arguments, &call.output));
        let place = self.newest.partition_point(|found| found.call > call.at);
        if place < NEWEST {
            self.newest.insert(place, Found { call: call.at, value: bound.cloned() });
            self.newest.truncate(NEWEST);
        }
        let good = rule.outputs.hold(&call.output);
        match (resource, bound) {
            (None, _) => match &mut self.all {
                Some(standing) => standing.add(call, good),
                none => *none = Some(Standing::new(call, good)),
            },
            (Some(_), Some(bound)) => {
                let hash = value::hash(bound, hasher);
                let found = self.by_value.find_mut(hash, |(known, _)| value::equal(known, bound));
                let (before, after) = match found {
                    Some((_, standing)) => {
                        let before = standing.decides(rule.matching);
                        standing.add(call, good);
                        (before, standing.decides(rule.matching))
                    }
                    None => {
                        let rehash = |(value, _): &(Value, Standing)| value::hash(value, hasher);
                        self.by_value.insert_unique(hash, (bound.clone(), Standing::new(call, good)), rehash);
                        (false, good)
                    }
                };
                self.good = self.good + usize::from(after) - usize::from(before);
            }
            // A prior call without exactly one value never matches.
            (Some(_), None) => {}
        }
    }

    fn get(&self, bound: &Value, hasher: &RandomState) -> Option<&Standing> {
        let hash = value::hash(bound, hasher);
        self.by_value.find(hash, |(known, _)| value::equal(known, bound)).map(|(_, standing)| standing)
    }

    fn answer(&self, rule: &PriorRule, arguments: &Body, hasher: &RandomState) -> Answer<'_> {
        if self.newest.is_empty() {
            return Answer::NoPrior;
        }
        let standing = match &rule.resource {
            None => self.all.as_ref(),
            Some(resource) => match arguments.parsed().and_then(|arguments| resource.here.one(arguments)) {
                None => return Answer::NoValue,
                Some(bound) => self.get(bound, hasher),
            },
        };
        match standing {
            None => Answer::Unmatched,
            Some(standing) if standing.decides(rule.matching) => Answer::Met(standing),
            Some(standing) => Answer::Bad(standing),
        }
    }

    /// The code that every call would get now, if there is one.
    fn outlook(&self, rule: &PriorRule) -> Option<Code> {
        if self.newest.is_empty() {
            return Some(code::PRIOR_TOOL_MISSING);
        }
        let (any, good) = match &rule.resource {
            None => (true, self.all.as_ref().is_some_and(|standing| standing.decides(rule.matching))),
            Some(_) => (!self.by_value.is_empty(), self.good > 0),
        };
        match (any, good) {
            (_, true) => None,
            (false, false) => Some(code::RESOURCE_UNMATCHED),
            (true, false) => Some(code::PRIOR_OUTPUT_UNMATCHED),
        }
    }

    fn explain(&self, rule: &PriorRule, arguments: &Body, hasher: &RandomState) -> Outlook {
        let mut prior = rule.facts();
        let bound = rule.resource.as_ref().map(|resource| {
            let value = arguments.parsed().and_then(|arguments| resource.here.one(arguments)).cloned();
            Checked { path: Arc::clone(resource.here.text()), value }
        });
        let answer = self.answer(rule, arguments, hasher);
        let found = match &answer {
            Answer::Met(standing) | Answer::Bad(standing) => {
                prior.other_reading = standing.newest_good != standing.good.is_some();
                let call = match rule.matching {
                    Matching::Any => standing.good.unwrap_or(standing.newest),
                    Matching::Newest => standing.newest,
                };
                if call == standing.newest {
                    prior.outputs = rule.outputs.explain(&standing.newest_output);
                }
                if matches!(answer, Answer::Bad(_)) {
                    prior.hint = rule.outputs.unwrapped(&standing.newest_output);
                }
                vec![Found { call, value: bound.as_ref().and_then(|checked| checked.value.clone()) }]
            }
            Answer::NoPrior => Vec::new(),
            Answer::NoValue | Answer::Unmatched => self.newest.clone(),
        };
        Outlook { code: answer.code(), checked: bound, found, detail: Detail::Prior(Box::new(prior)) }
    }

    /// A few calls that meet the requirement for some argument, the newest first.
    fn good_calls(&self, rule: &PriorRule, hasher: &RandomState) -> Vec<CallRef> {
        let standing = |standing: &Standing| match rule.matching {
            Matching::Any => standing.good,
            Matching::Newest => standing.newest_good.then_some(standing.newest),
        };
        let mut calls: Vec<CallRef> = match &rule.resource {
            None => self.all.iter().filter_map(standing).collect(),
            Some(_) => {
                let values = self.newest.iter().filter_map(|found| found.value.as_ref());
                values.filter_map(|value| self.get(value, hasher)).filter_map(standing).collect()
            }
        };
        calls.dedup();
        calls
    }
}

impl Standing {
    fn new(call: &Resolved, good: bool) -> Standing {
        Standing {
            newest: call.at,
            newest_good: good,
            newest_output: call.output.clone(),
            good: good.then_some(call.at),
        }
    }

    fn add(&mut self, call: &Resolved, good: bool) {
        if call.at.index > self.newest.index {
            (self.newest, self.newest_good, self.newest_output) = (call.at, good, call.output.clone());
        }
        if good {
            self.good = self.good.max(Some(call.at));
        }
    }

    fn decides(&self, matching: Matching) -> bool {
        match matching {
            Matching::Newest => self.newest_good,
            Matching::Any => self.good.is_some(),
        }
    }
}
