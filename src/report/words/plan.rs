//! The conditions of a rejection plan in words: what each looked at, and what it came to.

use std::ops::Range;

use serde_json::Value;

use super::{count, list, name, value};
use crate::monitor::history::Speaker;
use crate::monitor::plan::{Cause, Condition, ConditionKind, Join, Plan, Seen};

/// How many conditions a sentence names.
const NAMED: usize = 2;
/// Letters shown before what a pattern found.
const BEFORE: usize = 16;

/// Why the plan rejects the call, in a line.
pub(super) fn against(plan: &Plan) -> String {
    if let Some(found) = &plan.tree.unevaluable {
        return format!("the plan cannot be evaluated, so it rejects: {}", cause(found));
    }
    let mut said: Vec<String> = plan.tree.conditions.iter().take(NAMED).map(condition).collect();
    if plan.tree.conditions.len() > NAMED {
        said.push(format!("{} more", plan.tree.conditions.len() - NAMED));
    }
    list(said)
}

/// Why the plan lets the call pass, in a line.
pub(super) fn in_favour(plan: &Plan) -> String {
    match plan.tree.conditions.iter().find(|condition| !condition.value) {
        Some(unmet) => condition(unmet),
        None => "the plan has no conditions".to_owned(),
    }
}

/// What would let the call pass, in a line.
pub(super) fn way_out(plan: &Plan) -> Option<String> {
    let broken = |condition: &Condition| matches!(condition.unevaluable, Some(Cause::Text(_)));
    if broken(&plan.tree) {
        return Some("mend the plan: as it is written it rejects every call".to_owned());
    }
    let conditions = &plan.tree.conditions;
    if conditions.iter().all(broken) {
        return Some("mend the plan: none of its conditions can be evaluated".to_owned());
    }
    let turn = conditions.iter().find(|condition| !broken(condition))?;
    Some(match &turn.kind {
        ConditionKind::Regex { pattern, negate, speaker, position, .. } => {
            let has = if *negate { "has" } else { "does not have" };
            format!("it passes once {} {has} `{}`", target(*speaker, *position), name(pattern))
        }
        ConditionKind::Liquid { .. } => "it passes once the template prints false".to_owned(),
        _ => format!("it passes once one of {} does not match", count(conditions.len() as u64, "condition")),
    })
}

/// The whole tree, a line a condition, each group before its own and less indented.
pub fn tree(plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    if plan.tree.unevaluable.is_some() {
        lines.push(against(plan));
    }
    for condition in &plan.tree.conditions {
        branch(condition, 0, &mut lines);
    }
    lines
}

fn branch(made: &Condition, depth: usize, lines: &mut Vec<String>) {
    let came = match (&made.unevaluable, made.value) {
        (Some(_), _) => "counted as matched",
        (None, true) => "matched",
        (None, false) => "not matched",
    };
    lines.push(format!("{}{came}: {}", "  ".repeat(depth), condition(made)));
    for inner in &made.conditions {
        branch(inner, depth + 1, lines);
    }
}

/// What a condition came to, in a line, without its inner conditions.
pub fn condition(condition: &Condition) -> String {
    let said = match &condition.kind {
        ConditionKind::Plan => format!("all of {}", count(condition.conditions.len() as u64, "condition")),
        ConditionKind::Group(join) => {
            let how = if *join == Some(Join::Or) { "one" } else { "all" };
            let met = condition.conditions.iter().filter(|inner| inner.value).count();
            let all = count(condition.conditions.len() as u64, "condition");
            format!("{how} of {all} must match, {met} did")
        }
        ConditionKind::Regex { pattern, speaker, position, seen, .. } => {
            searched(pattern, &target(*speaker, *position), seen.as_ref())
        }
        ConditionKind::Liquid { printed: Some(printed), .. } => {
            format!("the template prints {}", value(&Value::String(printed.to_string())))
        }
        ConditionKind::Liquid { printed: None, .. } => "the template prints nothing that counts".to_owned(),
        ConditionKind::Unknown => "a condition of no known type".to_owned(),
    };
    match &condition.unevaluable {
        Some(Cause::Printed) | None => said,
        Some(Cause::Text(text)) => super::line(text),
        Some(found) => format!("{said} ({})", cause(found)),
    }
}

/// Why a condition cannot be evaluated.
pub fn cause(cause: &Cause) -> String {
    match cause {
        Cause::Text(text) | Cause::Template(text) => super::line(text),
        Cause::Budget(steps) => format!("given up after {} steps", super::thousands(*steps)),
        Cause::Content => "the message is neither text nor a list of parts".to_owned(),
        Cause::Printed => "neither `true` nor `false` was printed".to_owned(),
        Cause::NoInstant => "the template reads the clock, and the session has no time".to_owned(),
    }
}

fn searched(pattern: &str, target: &str, seen: Option<&Seen>) -> String {
    let pattern = name(pattern);
    let Some(seen) = seen else { return format!("there is not {target} to have `{pattern}`") };
    let own = if seen.own { " (this turn's own)" } else { "" };
    let Some(text) = seen.content.said() else { return format!("{target}{own} is no text") };
    let has = if seen.found.is_some() { "has" } else { "has no" };
    format!("{target}{own} {has} `{pattern}`: {}", excerpt(text, seen.found.as_ref()))
}

/// The text, from shortly before what was found in it.
fn excerpt(text: &str, found: Option<&Range<usize>>) -> String {
    let before = found.and_then(|found| text.get(..found.start)).unwrap_or_default();
    let skipped = before.char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at);
    let shown = text.get(skipped..).unwrap_or_default();
    let mark = if skipped > 0 { "…" } else { "" };
    value(&Value::String(format!("{mark}{shown}")))
}

/// `the user's newest message`.
fn target(speaker: Speaker, position: i64) -> String {
    let place = match position {
        -1 => "newest".to_owned(),
        0 => "oldest".to_owned(),
        _ if position < 0 => format!("{} newest", ordinal(position.unsigned_abs())),
        _ => ordinal(position.unsigned_abs().saturating_add(1)),
    };
    match speaker {
        Speaker::Anyone => format!("the {place} message"),
        Speaker::User => format!("the user's {place} message"),
        Speaker::Assistant => format!("the model's {place} message"),
    }
}

fn ordinal(number: u64) -> String {
    let end = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{end}")
}
