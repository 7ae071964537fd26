//! A rejection plan's check as data: whether each condition matched, and the whole tree.

use serde::Serialize;

use crate::monitor::history::Speaker;
use crate::monitor::plan::{Condition, ConditionKind, Join, Plan};
use crate::report::words;

#[derive(Serialize)]
pub(super) struct PlanLine<'a> {
    matched: &'a [bool],
    tree: ConditionLine<'a>,
}

/// The same keys for every kind, then what is the kind's own.
#[derive(Serialize)]
struct ConditionLine<'a> {
    kind: &'static str,
    value: bool,
    /// The text that a pattern was searched for in, or that a template printed.
    text: Option<&'a str>,
    unevaluable: Option<String>,
    conditions: Vec<ConditionLine<'a>>,
    pointer: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    operator: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    regex: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    negate: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<Target<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    liquid: Option<&'a str>,
}

#[derive(Serialize)]
struct Target<'a> {
    role: Option<&'static str>,
    position: i64,
    /// The message that stands there, from 0 in the call's history.
    message: Option<MessageLine<'a>>,
}

#[derive(Serialize)]
struct MessageLine<'a> {
    index: usize,
    role: &'a str,
    own: bool,
}

impl<'a> PlanLine<'a> {
    pub(super) fn of(plan: &'a Plan) -> PlanLine<'a> {
        PlanLine { matched: &plan.matched, tree: ConditionLine::of(&plan.tree) }
    }
}

impl<'a> ConditionLine<'a> {
    fn of(made: &'a Condition) -> ConditionLine<'a> {
        let mut line = ConditionLine {
            kind: "unknown",
            value: made.value,
            text: None,
            unevaluable: made.unevaluable.as_ref().map(words::plan::cause),
            conditions: made.conditions.iter().map(ConditionLine::of).collect(),
            pointer: &made.pointer,
            operator: None,
            regex: None,
            negate: None,
            target: None,
            liquid: None,
        };
        match &made.kind {
            ConditionKind::Plan => line.kind = "plan",
            ConditionKind::Group(join) => {
                line.kind = "group";
                line.operator = join.map(|join| if join == Join::And { "AND" } else { "OR" });
            }
            ConditionKind::Regex { pattern, negate, speaker, position, seen } => {
                line.kind = "regex";
                line.text = seen.as_ref().and_then(|seen| seen.content.said());
                (line.regex, line.negate) = (Some(&**pattern), Some(*negate));
                let role = match speaker {
                    Speaker::Anyone => None,
                    Speaker::User => Some("user"),
                    Speaker::Assistant => Some("assistant"),
                };
                let message = seen.as_ref().map(|seen| MessageLine {
                    index: seen.message,
                    role: &seen.role,
                    own: seen.own,
                });
                line.target = Some(Target { role, position: *position, message });
            }
            ConditionKind::Liquid { template, printed } => {
                line.kind = "liquid";
                line.text = printed.as_deref();
                line.liquid = Some(template);
            }
            ConditionKind::Unknown => {}
        }
        line
    }
}
