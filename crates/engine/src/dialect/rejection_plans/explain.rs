//! The conditions of a rejection plan in words: the text that each looked at, and whether it matched.

use serde_json::{Map, Value, json};

use super::facts::{Cause, Condition, ConditionKind, Join, Plan, TargetMessage};
use crate::monitor::history::Speaker;
use crate::monitor::{About, Explain, Explanation, Line, LineState};
use rulestep_base::wording::sentence::{excerpt, name, value};
use rulestep_base::wording::{Sentence, count, line, list, thousands};

/// Number of conditions that a sentence names.
const NAMED: usize = 2;

impl Explain for Plan {
    fn explain(&self, about: &About<'_>) -> Explanation {
        let against = about.code.is_some();
        let broken = self.tree.unevaluable.is_some().then(|| Line::new(self::against(self)));
        Explanation {
            lines: broken.into_iter().chain(self.tree.conditions.iter().map(branch)).collect(),
            way_out: against.then(|| Sentence::new(way_out(self))),
            ..Explanation::new(about, headline(self, against))
        }
    }

    fn data(&self) -> Map<String, Value> {
        let pending = self.counts.map(|counts| if counts { "counts" } else { "left_out" });
        let members =
            [("matched", json!(self.matched)), ("tree", data(&self.tree)), ("pending_call", json!(pending))];
        members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

/// Why, and whether the answer hangs on what counts as a message.
fn headline(plan: &Plan, rejects: bool) -> String {
    let said = if rejects { against(plan) } else { in_favour(plan) };
    let becomes = if rejects { "the plan would let it pass" } else { "the plan would reject it" };
    match plan.counts {
        None => said,
        Some(false) => {
            format!("{said}; if the call counted as a message (`pending_call: counts`), {becomes}")
        }
        Some(true) => {
            format!("{said}; if the call did not count as a message (`pending_call: left_out`), {becomes}")
        }
    }
}

/// Why the plan rejects the call, in a line.
fn against(plan: &Plan) -> String {
    if let Some(found) = &plan.tree.unevaluable {
        return format!("the plan cannot be evaluated, so it rejects the call: {}", cause(found));
    }
    let mut leaves = Vec::new();
    plan.tree.conditions.iter().for_each(|condition| decisive(condition, &mut leaves));
    let mut said: Vec<String> = leaves.iter().take(NAMED).map(|leaf| worded(leaf)).collect();
    if leaves.len() > NAMED {
        said.push(format!("{} more", leaves.len() - NAMED));
    }
    list(said)
}

/// Why the plan lets the call pass, in a line.
fn in_favour(plan: &Plan) -> String {
    let mut leaves = Vec::new();
    match plan.tree.conditions.iter().find(|condition| !condition.value) {
        Some(unmet) => decisive(unmet, &mut leaves),
        None => return "the plan has no conditions".to_owned(),
    }
    leaves.first().map_or_else(|| "a condition does not match".to_owned(), |leaf| worded(leaf))
}

/// The leaves whose value is the condition's, and so decided it.
fn decisive<'a>(made: &'a Condition, leaves: &mut Vec<&'a Condition>) {
    if made.conditions.is_empty() {
        leaves.push(made);
    }
    let agreeing = made.conditions.iter().filter(|inner| inner.value == made.value);
    agreeing.for_each(|inner| decisive(inner, leaves));
}

/// The change that would let the call pass, in a line.
fn way_out(plan: &Plan) -> String {
    match plan.tree.conditions.iter().find_map(turned) {
        Some(turned) => format!("it passes once {turned}"),
        None => "fix the plan: as it is written it rejects every call".to_owned(),
    }
}

/// The change that would keep a condition from matching; `None` if its own text is wrong.
fn turned(made: &Condition) -> Option<String> {
    if let Some(Cause::Text(_)) = made.unevaluable {
        return None;
    }
    Some(match &made.kind {
        ConditionKind::Regex { pattern, negate, speaker, position, .. } => {
            let has = if *negate { "contains" } else { "does not contain" };
            format!("{} {has} `{}`", target(*speaker, *position), name(pattern))
        }
        ConditionKind::Liquid { .. } => "the template prints false".to_owned(),
        ConditionKind::Group(Some(Join::Or)) => {
            let matched = made.conditions.iter().filter(|inner| inner.value);
            list(matched.map(turned).collect::<Option<Vec<_>>>()?)
        }
        ConditionKind::Group(_) | ConditionKind::Plan | ConditionKind::Unknown => {
            made.conditions.iter().find_map(turned)?
        }
    })
}

/// A condition with its parts. One that matched counts against the call.
fn branch(made: &Condition) -> Line {
    let (label, state) = match (&made.unevaluable, made.value) {
        (Some(_), true) => ("counts as matched", LineState::Doubtful),
        (Some(_), false) => ("counts as matched", LineState::Good),
        (None, true) => ("matched", LineState::Bad),
        (None, false) => ("not matched", LineState::Good),
    };
    Line { label, state, lines: made.conditions.iter().map(branch).collect(), ..Line::new(worded(made)) }
}

/// The same keys for every kind, then the kind's own.
fn data(made: &Condition) -> Value {
    let (kind, text) = match &made.kind {
        ConditionKind::Plan => ("plan", None),
        ConditionKind::Group(_) => ("group", None),
        ConditionKind::Regex { seen, .. } => ("regex", seen.as_ref().and_then(|seen| seen.content.said())),
        ConditionKind::Liquid { printed, .. } => ("liquid", printed.as_deref()),
        ConditionKind::Unknown => ("unknown", None),
    };
    let conditions: Vec<Value> = made.conditions.iter().map(data).collect();
    let common = json!({
        "kind": kind,
        "value": made.value,
        "text": text,
        "unevaluable": made.unevaluable.as_ref().map(cause),
        "conditions": conditions,
        "pointer": made.pointer,
    });
    let own = match &made.kind {
        ConditionKind::Group(Some(Join::And)) => json!({"operator": "AND"}),
        ConditionKind::Group(Some(Join::Or)) => json!({"operator": "OR"}),
        ConditionKind::Regex { pattern, negate, speaker, position, seen } => {
            let role = match speaker {
                Speaker::Anyone => None,
                Speaker::User => Some("user"),
                Speaker::Assistant => Some("assistant"),
            };
            let message =
                seen.as_ref().map(|seen| json!({"index": seen.message, "role": seen.role, "own": seen.own}));
            let target = json!({"role": role, "position": position, "message": message});
            json!({"regex": pattern, "negate": negate, "target": target})
        }
        ConditionKind::Liquid { template, .. } => json!({"liquid": template}),
        ConditionKind::Plan | ConditionKind::Group(None) | ConditionKind::Unknown => Value::Null,
    };
    match (common, own) {
        (Value::Object(common), Value::Object(own)) => common.into_iter().chain(own).collect(),
        (common, _) => common,
    }
}

fn worded(condition: &Condition) -> String {
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
        ConditionKind::Liquid { template, printed: Some(printed) } => {
            format!("`{}` prints {}", name(template), value(&Value::String(printed.to_string())))
        }
        ConditionKind::Liquid { template, printed: None } => format!("`{}`", name(template)),
        ConditionKind::Unknown => "a condition of an unknown type".to_owned(),
    };
    match &condition.unevaluable {
        Some(Cause::Printed) | None => said,
        Some(Cause::Text(text) | Cause::Template(text)) => line(text),
        Some(found @ Cause::NoInstant) => cause(found),
        Some(found) => format!("{said} ({})", cause(found)),
    }
}

/// Why a condition cannot be evaluated.
fn cause(cause: &Cause) -> String {
    match cause {
        Cause::Text(text) | Cause::Template(text) => line(text),
        Cause::Budget(steps) => format!("evaluation stopped after {} steps", thousands(*steps)),
        Cause::Content => "the message is neither text nor a list of parts".to_owned(),
        Cause::Printed => "the template prints neither `true` nor `false`".to_owned(),
        Cause::NoInstant => "the template reads the clock, and the session has no time".to_owned(),
    }
}

fn searched(pattern: &str, target: &str, seen: Option<&TargetMessage>) -> String {
    let pattern = name(pattern);
    let Some(seen) = seen else {
        return format!("{target} does not exist, so it does not contain `{pattern}`");
    };
    let own = if seen.own { " (this turn's own)" } else { "" };
    let Some(text) = seen.content.said() else { return format!("{target}{own} is not text") };
    let has = if seen.found.is_some() { "contains" } else { "does not contain" };
    format!("{target}{own} {has} `{pattern}`: {}", excerpt(text, seen.found.as_ref()))
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
