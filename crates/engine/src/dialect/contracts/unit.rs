//! All contracts of a version as one unit: the role of each tool, settled once.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Number;

use super::monitor::ContractsMonitor;
use crate::condition::path::Path;
use crate::dialect::contracts::output::{Comparison, Condition, Conditions, Table};
use crate::dialect::contracts::prior::{Matching, PriorCalls, PriorRule, Resource, Side};
use crate::dialect::sequence_rules::calls::read_arguments;
use crate::monitor::{
    CallPart, Enablers, Monitor, Observes, Probe, Prospect, Read, RuleId, Says, SessionEvents, Slot,
    Statement, Unit, Wakes,
};
use rulestep_base::session::{Body, Facts, Session, value};

/// A tool's contract. Rules are local numbers, see [`Contracts::rules`].
#[derive(Debug)]
pub(super) struct Contract {
    pub tool: Arc<str>,
    pub preconditions: Vec<Precondition>,
    /// The tools that may not run once this one has, each with its rule.
    pub forbids_after: Vec<(Arc<str>, usize)>,
}

/// One entry of `preconditions`. Both parts must hold, the steps are asked first.
#[derive(Debug)]
pub(super) struct Precondition {
    pub rule: usize,
    pub steps: Option<Steps>,
    pub prior: Option<PriorRule>,
}

/// A number of turns that must be complete.
#[derive(Debug, Clone)]
pub(super) struct Steps {
    /// As written.
    pub bound: Number,
    /// The same in whole turns; `None`: no number of turns is enough.
    pub fewest: Option<u64>,
}

/// The fewest completed turns that a lower bound asks for; none where no number of turns is enough.
pub(super) fn fewest(bound: &Number) -> Option<u64> {
    let least = |turns: u64| Comparison::Gte.admits(value::compare(&Number::from(turns), bound));
    // Bounds are small or out of reach: double until it holds, then halve the interval.
    let mut high = (0..64).map(|power| 1u64 << power).find(|turns| least(*turns))?;
    let mut low = 0;
    while low < high {
        let middle = low + (high - low) / 2;
        if least(middle) { high = middle } else { low = middle + 1 }
    }
    Some(high)
}

/// All contracts of a version.
#[derive(Debug)]
pub(super) struct Contracts {
    pub rules: Vec<RuleId>,
    pub contracts: Vec<Contract>,
    /// The preconditions on earlier calls, grouped by the calls and values that are looked at together.
    pub groups: Vec<Group>,
    pub tools: Vec<Part>,
    slots: HashMap<Arc<str>, usize>,
    /// The slot of every tool that no rule names, where any call may be a prior one.
    others: Option<usize>,
    /// Number of prior calls with questions about what a call does.
    pub asking: usize,
}

/// Requirements on the same prior calls that compare the same value: they share one table.
#[derive(Debug)]
pub(super) struct Group {
    pub calls: PriorCalls,
    pub resource: Option<Resource>,
    /// Distinct conditions on the prior call; preconditions that ask the same share one.
    pub members: Vec<Member>,
}

#[derive(Debug)]
pub(super) struct Member {
    pub outputs: Conditions,
    pub matching: Matching,
}

impl Member {
    fn asks(&self, prior: &PriorRule) -> bool {
        self.outputs == prior.outputs && self.matching == prior.matching
    }
}

/// A requirement: its group, and its place among the group's members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Need {
    pub group: usize,
    pub member: usize,
}

/// The part that one tool plays.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub name: Arc<str>,
    /// Index of its contract.
    pub contract: Option<usize>,
    /// For each precondition of its contract, the requirement it rests on.
    pub needs: Vec<Option<Need>>,
    /// Groups of requirements that its calls can meet.
    pub meets: Vec<Meets>,
    /// The conditions of all their members: a result is read once for all of them.
    pub table: Table,
    /// Whether copies that its calls make of files can matter.
    pub copies: bool,
    /// Whether some group takes its value from the arguments of these calls.
    pub gives_arguments: bool,
    /// Whether some group takes its value from their results.
    pub gives_output: bool,
    /// Tools (by slot) that are forbidden once it ran, each with its rule.
    pub forbids: Vec<(usize, usize)>,
    /// Whether some contract can forbid it.
    pub forbiddable: bool,
}

impl Part {
    /// Its calls can match a group, if these of all tools can.
    fn join(&mut self, number: usize, group: &Group, others: bool) {
        if !others && !group.calls.names(&self.name) {
            return;
        }
        let places = group.members.iter().map(|member| self.table.add(&member.outputs)).collect();
        let looks = others || group.calls.looks(&self.name);
        self.meets.push(Meets { group: number, places, looks });
        let side = group.resource.as_ref().map(|resource| resource.side);
        self.copies |= looks && group.calls.operands().iter().any(|operand| operand.asks.is_some());
        self.gives_arguments |= looks || side == Some(Side::Arguments);
        self.gives_output |= side == Some(Side::Output);
    }
}

/// A group of requirements that calls of a tool can meet.
#[derive(Debug)]
pub(super) struct Meets {
    pub group: usize,
    /// For each member, the place of its conditions in the tool's table.
    pub places: Vec<usize>,
    /// Whether more than the tool decides if a call matches.
    pub looks: bool,
}

impl Contracts {
    pub fn new(rules: Vec<RuleId>, contracts: Vec<Contract>, asking: usize) -> Contracts {
        let mut unit = Contracts {
            rules,
            contracts: Vec::new(),
            groups: Vec::new(),
            tools: Vec::new(),
            slots: HashMap::new(),
            others: None,
            asking,
        };
        let mut first = HashMap::new();
        for (number, contract) in contracts.iter().enumerate() {
            let priors = contract.preconditions.iter().map(|precondition| precondition.prior.as_ref());
            let needs = priors.map(|prior| Some(unit.requirement(prior?, &mut first))).collect();
            let forbids: Vec<_> = contract
                .forbids_after
                .iter()
                .map(|(tool, rule)| {
                    let target = unit.slot(tool);
                    unit.part(target, |part| part.forbiddable = true);
                    (target, *rule)
                })
                .collect();
            let slot = unit.slot(&contract.tool);
            unit.part(slot, |part| {
                (part.contract, part.needs, part.forbids) = (Some(number), needs, forbids)
            });
        }
        unit.contracts = contracts;
        if unit.groups.iter().any(|group| group.calls.any_tool()) {
            unit.others = Some(unit.tools.len());
            unit.tools.push(Part::default());
        }
        unit.join();
        unit
    }

    /// Settles which groups the calls of each tool can meet.
    fn join(&mut self) {
        let mut open: Vec<usize> = Vec::new();
        let mut named: HashMap<Arc<str>, Vec<usize>> = HashMap::new();
        for (number, group) in self.groups.iter().enumerate() {
            if group.calls.any_tool() {
                open.push(number);
                continue;
            }
            for tool in group.calls.tools() {
                let listed = named.entry(Arc::clone(tool)).or_default();
                if listed.last() != Some(&number) {
                    listed.push(number);
                }
            }
        }
        for (slot, part) in self.tools.iter_mut().enumerate() {
            let others = self.others == Some(slot);
            let own = named.remove(&part.name).filter(|_| !others).unwrap_or_default();
            for number in own.into_iter().chain(open.iter().copied()) {
                if let Some(group) = self.groups.get(number) {
                    part.join(number, group, others);
                }
            }
        }
    }

    /// The slot of a tool.
    fn slot_or_others(&self, tool: &str) -> Option<usize> {
        self.slot_of(tool).or(self.others)
    }

    /// The slot of a tool that plays some part.
    pub fn slot_of(&self, tool: &str) -> Option<usize> {
        self.slots.get(tool).copied()
    }

    /// `first`: the groups by the first tool that they name.
    fn requirement(&mut self, prior: &PriorRule, first: &mut HashMap<Arc<str>, Vec<usize>>) -> Need {
        let tool = prior.calls.tools().next().cloned().unwrap_or_default();
        let alike = |number: &&usize| {
            let group = self.groups.get(**number);
            group.is_some_and(|group| group.resource == prior.resource && group.calls == prior.calls)
        };
        let listed = first.entry(tool).or_default();
        let number = listed.iter().find(alike).copied().unwrap_or_else(|| {
            let (calls, resource) = (prior.calls.clone(), prior.resource.clone());
            self.groups.push(Group { calls, resource, members: Vec::new() });
            listed.push(self.groups.len() - 1);
            self.groups.len() - 1
        });
        for tool in prior.calls.tools() {
            self.slot(tool);
        }
        let Some(group) = self.groups.get_mut(number) else { return Need { group: number, member: 0 } };
        let known = group.members.iter().position(|member| member.asks(prior));
        let member = known.unwrap_or_else(|| {
            group.members.push(Member { outputs: prior.outputs.clone(), matching: prior.matching });
            group.members.len() - 1
        });
        Need { group: number, member }
    }

    fn slot(&mut self, tool: &Arc<str>) -> usize {
        *self.slots.entry(Arc::clone(tool)).or_insert_with(|| {
            self.tools.push(Part { name: Arc::clone(tool), ..Part::default() });
            self.tools.len() - 1
        })
    }

    fn part(&mut self, slot: usize, change: impl FnOnce(&mut Part)) {
        if let Some(part) = self.tools.get_mut(slot) {
            change(part);
        }
    }
}

impl Unit for Contracts {
    fn rules(&self) -> &[RuleId] {
        &self.rules
    }

    fn wakes(&self, tool: &str) -> Wakes {
        let slot = self.slot_or_others(tool);
        let Some((part, slot)) = slot.and_then(|slot| Some((self.tools.get(slot)?, slot))) else {
            return Wakes::default();
        };
        Wakes {
            decide: part.contract.is_some() || part.forbiddable,
            observe: Observes {
                starts: !part.forbids.is_empty() || part.copies,
                results: !part.meets.is_empty() || !part.forbids.is_empty(),
                arguments: part.gives_arguments,
            },
            slot: Slot(slot as u64),
        }
    }

    fn wakes_by_name(&self) -> bool {
        self.others.is_none()
    }

    fn subscriptions(&self) -> SessionEvents {
        SessionEvents { turns: true, ..SessionEvents::default() }
    }

    fn names(&self, out: &mut Vec<Arc<str>>) {
        out.extend(self.slots.keys().cloned());
    }

    fn reads(&self, session: &Session, out: &mut Vec<Read>) {
        let argument = |tool: &Arc<str>, path: &Path| Read::Argument {
            tool: Arc::clone(tool),
            path: Arc::clone(path.text()),
        };
        for contract in &self.contracts {
            let priors = contract.preconditions.iter().filter_map(|precondition| precondition.prior.as_ref());
            for prior in priors {
                if let Some(resource) = &prior.resource {
                    out.push(argument(&contract.tool, &resource.here));
                }
                for other in prior.calls.in_session(session) {
                    let output = |path: &Path| Read::Output {
                        tool: Arc::clone(&other),
                        path: Arc::clone(path.text()),
                    };
                    if let Some(resource) = &prior.resource {
                        out.push(match resource.side {
                            Side::Arguments => argument(&other, &resource.there),
                            Side::Output => output(&resource.there),
                        });
                    }
                    out.extend(prior.outputs.paths().map(output));
                }
                if prior.calls.only_tool().is_none() {
                    let operands: Vec<_> = prior.calls.operands().iter().collect();
                    read_arguments(&operands, |tool| prior.calls.names(tool), session, out);
                }
            }
        }
    }

    fn enablers(&self, call: Prospect<'_>, out: &mut Enablers) {
        let part = self.tools.get(call.slot.0 as usize);
        let contract = part.and_then(|part| self.contracts.get(part.contract?));
        for precondition in contract.iter().flat_map(|contract| &contract.preconditions) {
            if precondition.steps.as_ref().is_some_and(|steps| steps.fewest.is_some()) {
                out.turn();
            }
            if let Some(prior) = &precondition.prior {
                prior.enablers(call, out);
            }
        }
    }

    fn statements(&self, out: &mut Vec<Statement>) {
        let mut say = |rule: usize, says| {
            let rule = self.rules.get(rule).copied();
            out.extend(rule.map(|rule| Statement { rule, when: Arc::default(), says }));
        };
        for Contract { tool, preconditions, forbids_after } in &self.contracts {
            for Precondition { rule, steps, prior } in preconditions {
                // A name does not say what a call does.
                if let Some(prior) = prior.as_ref().filter(|prior| !prior.calls.any_tool()) {
                    let (tool, any_of) = (Arc::clone(tool), prior.calls.tools().cloned().collect());
                    say(*rule, Says::Needs { tool, any_of, directly: false });
                }
                if steps.as_ref().is_some_and(|steps| steps.fewest.is_none()) {
                    let tool = Arc::clone(tool);
                    say(*rule, Says::Never(Arc::new(move |name| *tool == *name)));
                }
            }
            for (forbidden, rule) in forbids_after {
                say(*rule, Says::Forbids { after: Arc::clone(tool), tool: Arc::clone(forbidden) });
            }
        }
    }

    fn probes(&self, out: &mut Vec<Probe>) {
        for Contract { tool, preconditions, .. } in &self.contracts {
            for Precondition { rule, prior, .. } in preconditions {
                let (Some(rule), Some(prior)) = (self.rules.get(*rule).copied(), prior) else { continue };
                let mut look = |tool: &Arc<str>, part: CallPart, condition: Condition, asks: bool| {
                    let path = Arc::clone(condition.path.text());
                    let words = asks.then(|| condition.words());
                    let tool = Arc::clone(tool);
                    let look = Arc::new(move |body: &Body| condition.look(body));
                    out.push(Probe { rule, tool, part, path, condition: words, is_required: true, look });
                };
                if let Some(Resource { here, .. }) = &prior.resource {
                    look(tool, CallPart::Arguments, Condition::exists(here), false);
                }
                // One of several calls is enough, so no value must be in all of them.
                let Some(only) = prior.calls.only_tool() else { continue };
                if let Some(Resource { side, there, .. }) = &prior.resource {
                    let part = match side {
                        Side::Arguments => CallPart::Arguments,
                        Side::Output => CallPart::Result,
                    };
                    look(only, part, Condition::exists(there), false);
                }
                for condition in prior.outputs.iter() {
                    look(only, CallPart::Result, condition.clone(), !condition.is_only_presence());
                }
            }
        }
    }

    fn start(self: Arc<Self>, _facts: &Arc<Facts>) -> Box<dyn Monitor> {
        Box::new(ContractsMonitor::new(self))
    }

    fn resume(self: Arc<Self>, saved: &str) -> Option<Box<dyn Monitor>> {
        Some(Box::new(ContractsMonitor::resumed(self, saved)?))
    }

    fn reads_history(&self) -> bool {
        false
    }

    fn remembers(&self) -> bool {
        true
    }

    fn sees_tree(&self) -> bool {
        false
    }

    fn refusal_texts(&self, _out: &mut Vec<(Arc<str>, RuleId)>) {}

    fn conditions(&self, _out: &mut Vec<crate::monitor::Condition>) {}
}
