//! All contracts of a version as one unit: which tool plays which part, settled once.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Number, Value};

use super::monitor::ContractsMonitor;
use crate::condition::path::Path;
use crate::dialect::contracts::output::{Comparison, Condition, Conditions, Sample, Table};
use crate::monitor::help::ANY_VALUE;
use crate::monitor::{
    CallPart, Choice, Hears, Help, Helps, Monitor, Observes, Probe, Prospect, Read, RuleId, Says, Slot,
    Statement, Unit, Wakes,
};
use crate::session::{Body, Facts, Outcome, Session, value};

/// How many values of an argument are worth trying.
const VALUES: usize = 8;

/// What a contract says of its tool. Rules are local numbers, see [`Contracts::rules`].
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
    /// As it was written.
    pub bound: Number,
    /// What that comes to in whole turns; `None`: no number of turns is enough.
    pub fewest: Option<u64>,
}

/// An earlier call that must have run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PriorRule {
    pub tool: Arc<str>,
    pub resource: Option<Resource>,
    pub outputs: Conditions,
    pub matching: Matching,
}

/// The value that this call and the prior call must share.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Resource {
    /// Where it is in this call's arguments.
    pub here: Path,
    /// Where the prior call has it.
    pub side: Side,
    pub there: Path,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Arguments,
    Output,
}

/// Which prior call decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Matching {
    Newest,
    Any,
}

impl Matching {
    pub fn word(self) -> &'static str {
        match self {
            Matching::Newest => "newest",
            Matching::Any => "any",
        }
    }
}

impl PriorRule {
    /// The prior call that a call asks for.
    fn helps(&self, call: Prospect<'_>, out: &mut Helps) {
        let output = match self.outputs.sample() {
            Sample::Value(output) => output,
            Sample::Impossible => return,
            Sample::Unknown => return out.unsure(),
        };
        let Some(resource) = &self.resource else {
            return out.call(Help { tool: Arc::clone(&self.tool), arguments: None, output });
        };
        let own = |body: &Body| body.parsed().and_then(|arguments| resource.here.one(arguments)).cloned();
        let value = own(call.arguments);
        let mut others: Vec<Value> = Vec::new();
        let priors = call.earlier_of(&self.tool).filter(|prior| prior.outcome == Outcome::Ok);
        let known = priors.filter_map(|prior| resource.of_prior(&prior.arguments, &prior.output).cloned());
        // Where nobody knows a value, any does: what it is has no meaning to a contract.
        for other in own(call.wanted).into_iter().chain(known).chain([Value::from(ANY_VALUE)]) {
            if others.len() < VALUES && !others.iter().any(|known| value::equal(known, &other)) {
                others.push(other);
            }
        }
        out.choice(Choice {
            path: Arc::clone(resource.here.text()),
            missing: value.is_none(),
            values: others.into_iter().filter_map(|value| resource.here.built(value)).collect(),
        });
        let Some(built) = value.and_then(|value| resource.there.built(value)) else { return };
        let (arguments, output) = match (resource.side, output) {
            (Side::Arguments, output) => (Some(built), output),
            (Side::Output, None) => (None, Some(built)),
            (Side::Output, Some(output)) => match value::join(&output, &built) {
                Some(joined) => (None, Some(joined)),
                None => return out.unsure(),
            },
        };
        out.call(Help { tool: Arc::clone(&self.tool), arguments, output });
    }

    /// Whether no prior call at all can be what is asked for.
    pub fn is_impossible(&self) -> bool {
        self.outputs.sample() == Sample::Impossible
    }
}

impl Resource {
    /// The prior call's value, where there is exactly one.
    pub fn of_prior<'a>(&self, arguments: &'a Body, output: &'a Body) -> Option<&'a Value> {
        match self.side {
            Side::Arguments => self.there.one(arguments.parsed()?),
            Side::Output => self.there.one(output.value()?),
        }
    }
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
    /// What preconditions ask of earlier calls, by the calls and values that are looked at together.
    pub groups: Vec<Group>,
    pub tools: Vec<Part>,
    slots: HashMap<Arc<str>, usize>,
}

/// Requirements on calls of one tool that compare the same value: they share one table.
#[derive(Debug)]
pub(super) struct Group {
    pub tool: usize,
    pub resource: Option<Resource>,
    /// Distinct conditions on the prior call; preconditions that ask the same share one.
    pub members: Vec<Member>,
}

#[derive(Debug)]
pub(super) struct Member {
    pub outputs: Conditions,
    pub matching: Matching,
    /// The place of `outputs` in the table of the prior tool.
    pub place: usize,
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
    pub meets: Vec<usize>,
    /// The conditions of all their members: a result is read once for all of them.
    pub table: Table,
    /// Whether some group takes its value from the arguments of these calls.
    pub gives_arguments: bool,
    /// Whether some group takes its value from their results.
    pub gives_output: bool,
    /// Tools (by slot) that are forbidden once it ran, each with its rule.
    pub forbids: Vec<(usize, usize)>,
    /// Whether some contract can forbid it.
    pub forbiddable: bool,
}

impl Contracts {
    pub fn new(rules: Vec<RuleId>, contracts: Vec<Contract>) -> Contracts {
        let mut unit = Contracts {
            rules,
            contracts: Vec::new(),
            groups: Vec::new(),
            tools: Vec::new(),
            slots: HashMap::new(),
        };
        for (number, contract) in contracts.iter().enumerate() {
            let needs =
                contract.preconditions.iter().map(|p| p.prior.as_ref().map(|prior| unit.requirement(prior)));
            let needs = needs.collect();
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
        unit
    }

    /// The slot of a tool that plays some part.
    pub fn slot_of(&self, tool: &str) -> Option<usize> {
        self.slots.get(tool).copied()
    }

    fn requirement(&mut self, prior: &PriorRule) -> Need {
        let tool = self.slot(&prior.tool);
        let alike =
            |number: &&usize| self.groups.get(**number).is_some_and(|group| group.resource == prior.resource);
        let known = self.tools.get(tool).and_then(|part| part.meets.iter().find(alike).copied());
        let number = known.unwrap_or(self.groups.len());
        if known.is_none() {
            self.groups.push(Group { tool, resource: prior.resource.clone(), members: Vec::new() });
            self.part(tool, |part| {
                part.meets.push(number);
                let side = prior.resource.as_ref().map(|resource| resource.side);
                part.gives_arguments |= side == Some(Side::Arguments);
                part.gives_output |= side == Some(Side::Output);
            });
        }
        let (Some(group), Some(part)) = (self.groups.get_mut(number), self.tools.get_mut(tool)) else {
            return Need { group: number, member: 0 };
        };
        let known = group.members.iter().position(|member| member.asks(prior));
        let member = known.unwrap_or_else(|| {
            let (outputs, matching) = (prior.outputs.clone(), prior.matching);
            group.members.push(Member { place: part.table.add(&outputs), outputs, matching });
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
        let Some((part, slot)) = self.slots.get(tool).and_then(|slot| Some((self.tools.get(*slot)?, *slot)))
        else {
            return Wakes::default();
        };
        Wakes {
            decide: part.contract.is_some() || part.forbiddable,
            observe: Observes {
                starts: !part.forbids.is_empty(),
                results: !part.meets.is_empty() || !part.forbids.is_empty(),
                arguments: part.gives_arguments,
            },
            slot: Slot(slot as u64),
        }
    }

    fn wakes_by_name(&self) -> bool {
        true
    }

    fn hears(&self) -> Hears {
        Hears { turns: true, ..Hears::default() }
    }

    fn names(&self, out: &mut Vec<Arc<str>>) {
        out.extend(self.tools.iter().map(|part| Arc::clone(&part.name)));
    }

    fn reads(&self, _session: &Session, out: &mut Vec<Read>) {
        for contract in &self.contracts {
            let priors = contract.preconditions.iter().filter_map(|precondition| precondition.prior.as_ref());
            for prior in priors {
                let (own, other) = (&contract.tool, &prior.tool);
                let argument = |tool: &Arc<str>, path: &Path| Read::Argument {
                    tool: Arc::clone(tool),
                    path: Arc::clone(path.text()),
                };
                let output =
                    |path: &Path| Read::Output { tool: Arc::clone(other), path: Arc::clone(path.text()) };
                if let Some(resource) = &prior.resource {
                    out.push(argument(own, &resource.here));
                    out.push(match resource.side {
                        Side::Arguments => argument(other, &resource.there),
                        Side::Output => output(&resource.there),
                    });
                }
                out.extend(prior.outputs.paths().map(output));
            }
        }
    }

    fn helps(&self, call: Prospect<'_>, out: &mut Helps) {
        let part = self.tools.get(call.slot.0 as usize);
        let contract = part.and_then(|part| self.contracts.get(part.contract?));
        for precondition in contract.iter().flat_map(|contract| &contract.preconditions) {
            if precondition.steps.as_ref().is_some_and(|steps| steps.fewest.is_some()) {
                out.turn();
            }
            if let Some(prior) = &precondition.prior {
                prior.helps(call, out);
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
                if let Some(prior) = prior {
                    let (tool, any_of) = (Arc::clone(tool), [Arc::clone(&prior.tool)].into());
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
                if let Some(Resource { here, side, there }) = &prior.resource {
                    let part = match side {
                        Side::Arguments => CallPart::Arguments,
                        Side::Output => CallPart::Result,
                    };
                    look(tool, CallPart::Arguments, Condition::exists(here), false);
                    look(&prior.tool, part, Condition::exists(there), false);
                }
                for condition in prior.outputs.iter() {
                    look(&prior.tool, CallPart::Result, condition.clone(), !condition.is_only_presence());
                }
            }
        }
    }

    fn start(self: Arc<Self>, _facts: &Arc<Facts>) -> Box<dyn Monitor> {
        Box::new(ContractsMonitor::new(self))
    }
}
