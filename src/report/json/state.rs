//! What stands at a moment, as data: forbidden tools, preconditions, and what rules count or keep.

use serde::Serialize;
use serde_json::Number;

use super::decision::FaultLine;
use super::id;
use super::sequence_policies::LimitLine;
use super::sequence_rules::{DeadlineLine, StepLine};
use super::tool_policies::RecordedLine;
use crate::diagnostic::Code;
use crate::monitor::{Detail, StateItem};
use crate::policy::Policy;
use crate::session::CallRef;

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

/// What a rule counts or keeps, by kind.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum StateLine<'a> {
    Step { rule: &'a str, kind: &'static str, tool: &'a str, completed: u64, wanted: &'a Number },
    Limit(LimitLine<'a>),
    Deadline(DeadlineLine<'a>),
    Sequence(StepLine<'a>),
    Recorded(RecordedLine<'a>),
    Fault { rule: &'a str, kind: &'static str, fault: FaultLine },
}

pub(super) fn states<'a>(state: &'a [StateItem], policy: &'a Policy) -> Vec<StateLine<'a>> {
    let items = state.iter().filter_map(|item| match item {
        StateItem::Precondition { rule, tool, detail: Detail::Steps { completed, wanted }, .. } => {
            Some(StateLine::Step {
                rule: id(*rule, policy),
                kind: "step",
                tool,
                completed: *completed,
                wanted,
            })
        }
        StateItem::Limit { rule, tool, used, allowed } => Some(StateLine::Limit(LimitLine {
            rule: id(*rule, policy),
            kind: "limit",
            tool,
            used: *used,
            allowed: *allowed,
        })),
        StateItem::Deadline { rule, tool, since, left, open } => Some(StateLine::Deadline(DeadlineLine {
            rule: id(*rule, policy),
            kind: "deadline",
            tool,
            since: *since,
            left: *left,
            open: *open,
        })),
        StateItem::Step { rule, done, of, next } => Some(StateLine::Sequence(StepLine {
            rule: id(*rule, policy),
            kind: "step",
            done: *done,
            of: *of,
            next: next.as_deref(),
        })),
        StateItem::Recorded { document, recorded, .. } => {
            RecordedLine::of(document, recorded).map(StateLine::Recorded)
        }
        StateItem::Fault { rule, fault } => {
            Some(StateLine::Fault { rule: id(*rule, policy), kind: "fault", fault: FaultLine::of(fault) })
        }
        StateItem::Precondition { .. } | StateItem::Forbidden { .. } => None,
    });
    items.collect()
}
