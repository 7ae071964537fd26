//! The state at a moment, as data: forbidden tools, preconditions, counters and records of rules.

use serde::Serialize;
use serde_json::{Map, Value};

use super::parts::id;
use rulestep_base::diagnostic::Code;
use rulestep_base::session::CallRef;
use rulestep_engine::monitor::StateItem;
use rulestep_engine::policy::Policy;

#[derive(Serialize)]
pub(super) struct ForbiddenLine<'a> {
    tool: &'a str,
    since: CallRef,
    rule: &'a str,
}

/// Sorted by tool.
pub(super) fn forbidden<'a>(state: &'a [StateItem], policy: &'a Policy) -> Vec<ForbiddenLine<'a>> {
    let items = state.iter().filter_map(|item| match item {
        StateItem::Forbidden { tool, since, rule } => {
            Some(ForbiddenLine { tool, since: *since, rule: id(*rule, policy) })
        }
        _ => None,
    });
    let mut items: Vec<_> = items.collect();
    items.sort_by_key(|item| item.tool);
    items
}

#[derive(Serialize)]
pub(super) struct PreconditionLine<'a> {
    rule: &'a str,
    tool: &'a str,
    satisfied: bool,
    code: Option<Code>,
    by: &'a [CallRef],
}

pub(super) fn preconditions<'a>(state: &'a [StateItem], policy: &'a Policy) -> Vec<PreconditionLine<'a>> {
    let items = state.iter().filter_map(|item| match item {
        StateItem::Precondition { rule, tool, satisfied, code, by, .. } => {
            Some(PreconditionLine { rule: id(*rule, policy), tool, satisfied: *satisfied, code: *code, by })
        }
        _ => None,
    });
    items.collect()
}

/// The counters and records of rules: each with its rule, its kind, and the data of its kind.
pub(super) fn states(state: &[StateItem], policy: &Policy) -> Vec<Map<String, Value>> {
    let items = state.iter().filter_map(|item| {
        let facts = match item {
            StateItem::Precondition { facts, .. } => facts.as_ref()?.data(),
            StateItem::Kept { facts, .. } => facts.data(),
            StateItem::Forbidden { .. } => return None,
        };
        let rule = ("rule".to_owned(), Value::from(id(item.rule(), policy)));
        (!facts.is_empty()).then(|| [rule].into_iter().chain(facts).collect())
    });
    items.collect()
}
