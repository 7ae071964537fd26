//! All contracts of a version as one unit: which tool plays which part, settled once.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Number, Value};

use super::monitor::ContractsMonitor;
use crate::condition::output::Conditions;
use crate::condition::path::Path;
use crate::monitor::finding::Comparison;
use crate::monitor::{Monitor, RuleId, Slot, Unit, Wakes};
use crate::session::{Body, Facts, value};

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
    pub steps: Vec<(Comparison, Number)>,
    pub prior: Option<PriorRule>,
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
    /// Where it stands in this call's arguments.
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

impl Resource {
    /// The prior call's value, where there is exactly one.
    pub fn of_prior<'a>(&self, arguments: &'a Body, output: &'a Body) -> Option<&'a Value> {
        match self.side {
            Side::Arguments => self.there.one(arguments.parsed()?),
            Side::Output => self.there.one(output.value()?),
        }
    }
}

/// Whether a number of completed turns is what the bounds ask for.
pub(super) fn steps_hold(bounds: &[(Comparison, Number)], completed: u32) -> bool {
    let completed = Number::from(completed);
    bounds.iter().all(|(comparison, bound)| comparison.admits(value::compare(&completed, bound)))
}

/// All contracts of a version.
#[derive(Debug)]
pub(super) struct Contracts {
    pub rules: Vec<RuleId>,
    pub contracts: Vec<Contract>,
    /// Distinct requirements on earlier calls; preconditions that ask the same share one.
    pub requirements: Vec<PriorRule>,
    pub tools: Vec<Part>,
    slots: HashMap<Arc<str>, usize>,
}

/// The part that one tool plays.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub name: Arc<str>,
    /// Index of its contract.
    pub contract: Option<usize>,
    /// For each precondition of its contract, the requirement it rests on.
    pub needs: Vec<Option<usize>>,
    /// Requirements that its calls can meet.
    pub meets: Vec<usize>,
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
            requirements: Vec::new(),
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

    fn requirement(&mut self, prior: &PriorRule) -> usize {
        if let Some(known) = self.requirements.iter().position(|r| r == prior) {
            return known;
        }
        let number = self.requirements.len();
        self.requirements.push(prior.clone());
        let slot = self.slot(&prior.tool);
        self.part(slot, |part| part.meets.push(number));
        number
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
            observe: !part.meets.is_empty() || !part.forbids.is_empty(),
            slot: Slot(slot as u64),
        }
    }

    fn names(&self, out: &mut Vec<Arc<str>>) {
        out.extend(self.tools.iter().map(|part| Arc::clone(&part.name)));
    }

    fn start(self: Arc<Self>, _facts: &Arc<Facts>) -> Box<dyn Monitor> {
        Box::new(ContractsMonitor::new(self))
    }
}
