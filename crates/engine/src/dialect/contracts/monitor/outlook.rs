//! The contracts' state for people: what a precondition looked at and found, and the state of everything.
//!
//! Nothing here decides: codes come from the deciding functions, called again.

use std::borrow::Cow;
use std::sync::Arc;

use super::standings::{GoodCall, Standing};
use super::{ContractsMonitor, Lookup};
use crate::dialect::contracts::codes;
use crate::dialect::contracts::explain::{Prior, PriorState, Steps, StepsState};
use crate::dialect::contracts::prior::{Matching, Resource};
use crate::dialect::contracts::unit::{Group, Member, Need, Precondition};
use crate::monitor::{CheckedValue, EarlierCall, Explain, StateItem};
use rulestep_base::diagnostic::code::Code;
use rulestep_base::session::{Body, CallRef};

/// The result of a precondition, with its data for people.
pub(super) struct Outlook {
    pub code: Option<Code>,
    pub checked: Option<CheckedValue>,
    pub found: Vec<EarlierCall>,
    pub facts: Option<Arc<dyn Explain>>,
}

impl ContractsMonitor {
    /// Everything about a precondition and a call.
    pub(super) fn explain(
        &self,
        precondition: &Precondition,
        need: Option<Need>,
        arguments: &Body,
    ) -> Outlook {
        let explained = need.and_then(|need| {
            let group = self.unit.groups.get(need.group)?;
            Some((need, group, group.members.get(need.member)?))
        });
        match explained {
            Some((need, group, member)) if self.steps_hold(precondition) => {
                self.explain_prior(need, group, member, arguments)
            }
            _ => Outlook {
                code: (!self.steps_hold(precondition)).then_some(codes::STEP_COUNT_BELOW),
                checked: None,
                found: Vec::new(),
                facts: self.steps(precondition).map(|steps| Arc::new(steps) as _),
            },
        }
    }

    fn steps(&self, precondition: &Precondition) -> Option<Steps> {
        let steps = precondition.steps.as_ref()?;
        Some(Steps { completed: self.completed, wanted: steps.bound.clone() })
    }

    fn explain_prior(&self, need: Need, group: &Group, member: &Member, arguments: &Body) -> Outlook {
        let mut prior = self.facts(group, member);
        let checked = group.resource.as_ref().map(|resource| {
            let value = resource.of_call(arguments).map(Cow::into_owned);
            CheckedValue { path: Arc::clone(resource.here.text()), value }
        });
        let sought = self.seek(need.group, arguments);
        let code = self.unmet_by(sought, need);
        let found = match sought {
            Lookup::NoPrior => {
                prior.required = member.outputs.explain(&Body::MISSING);
                let doubtful = self.standings.get(need.group).and_then(|own| own.doubtful.clone());
                let (call, part) = doubtful.unzip();
                prior.doubtful = part;
                call.map(EarlierCall::new).into_iter().collect()
            }
            Lookup::NoValue | Lookup::Unmatched => {
                prior.required = member.outputs.explain(&Body::MISSING);
                self.recent(need.group).iter().map(|call| call.found(group.resource.as_ref())).collect()
            }
            Lookup::Standing(standing) => {
                let own = standing.members.get(need.member);
                prior.other_reading = own.is_some_and(|own| own.newest_good != own.good.is_some());
                let good = own.and_then(|own| own.good).filter(|_| member.matching == Matching::Any);
                let call = good.unwrap_or(standing.newest);
                if call == standing.newest {
                    prior.outputs = member.outputs.explain(&standing.newest_output);
                }
                if code.is_some() {
                    prior.hint = member.outputs.unwrapped(&standing.newest_output);
                }
                let value = checked.as_ref().and_then(|checked| checked.value.clone());
                vec![EarlierCall { value, ..EarlierCall::new(call) }]
            }
        };
        Outlook { code, checked, found, facts: Some(Arc::new(prior)) }
    }

    fn facts(&self, group: &Group, member: &Member) -> Prior {
        Prior {
            tool: group.calls.only_tool().cloned().unwrap_or_else(|| group.calls.title()),
            calls: match group.calls.only_tool() {
                Some(_) => Vec::new(),
                None => group.calls.named().cloned().collect(),
            },
            doubtful: None,
            matching: member.matching.word(),
            other_reading: false,
            outputs: Vec::new(),
            required: Vec::new(),
            hint: None,
        }
    }

    /// A few calls that meet a requirement for some argument, the newest first.
    fn good_calls(&self, need: Need, group: &Group, member: &Member) -> Vec<CallRef> {
        let Some(standings) = self.standings.get(need.group) else { return Vec::new() };
        let call = |standing: &Standing| {
            let own = standing.members.get(need.member)?;
            match member.matching {
                Matching::Any => own.good,
                Matching::Newest => own.newest_good.then_some(standing.newest),
            }
        };
        let Some(resource) = &group.resource else { return standings.all.iter().filter_map(call).collect() };
        let values = self
            .recent(need.group)
            .iter()
            .filter_map(|recent| resource.of_prior(&recent.arguments, &recent.output));
        let mut calls: Vec<CallRef> =
            values.filter_map(|value| standings.get(&value, &self.hasher)).filter_map(call).collect();
        calls.dedup();
        calls
    }

    /// The current state: forbidden tools, and every precondition.
    pub(super) fn tell_state(&self, out: &mut Vec<StateItem>) {
        for (slot, part) in self.unit.tools.iter().enumerate() {
            let ban = self.tools.get(slot).and_then(|tool| tool.bans.first());
            let ban = ban.and_then(|ban| Some((ban.since, *self.unit.rules.get(ban.rule)?)));
            if let Some((since, rule)) = ban {
                out.push(StateItem::Forbidden { tool: Arc::clone(&part.name), since, rule });
            }
        }
        for contract in &self.unit.contracts {
            let slot = self.unit.slot_of(&contract.tool);
            for (precondition, need) in slot.into_iter().flat_map(|slot| self.preconditions(slot)) {
                let Some(rule) = self.unit.rules.get(precondition.rule) else { continue };
                let code = self.unmeetable(precondition, need);
                let asked = need.and_then(|need| {
                    let group = self.unit.groups.get(need.group)?;
                    Some((need, group, group.members.get(need.member)?))
                });
                let (by, facts): (_, Option<Arc<dyn Explain>>) = match asked {
                    Some((need, group, member)) if code != Some(codes::STEP_COUNT_BELOW) => {
                        let prior = self.facts(group, member);
                        (self.good_calls(need, group, member), Some(Arc::new(PriorState(prior))))
                    }
                    _ => {
                        let tool = Arc::clone(&contract.tool);
                        let steps = self.steps(precondition);
                        (Vec::new(), steps.map(|steps| Arc::new(StepsState { tool, steps }) as _))
                    }
                };
                out.push(StateItem::Precondition {
                    rule: *rule,
                    tool: Arc::clone(&contract.tool),
                    satisfied: code.is_none(),
                    code,
                    by,
                    facts,
                });
            }
        }
    }
}

impl GoodCall {
    fn found(&self, resource: Option<&Resource>) -> EarlierCall {
        let value = resource
            .and_then(|resource| resource.of_prior(&self.arguments, &self.output))
            .map(Cow::into_owned);
        EarlierCall { value, ..EarlierCall::new(self.at) }
    }
}
