//! Conditions on the context that no session satisfies, though some have a value there that was probably meant.

use std::collections::BTreeSet;

use serde_json::Value;

use super::linter::head;
use super::place::Places;
use crate::explore::contexts::SeenContexts;
use rulestep_base::diagnostic::{Diagnostic, Fix, code};
use rulestep_base::source::quoted;
use rulestep_base::wording::{count, list};
use rulestep_engine::monitor::RuleId;
use rulestep_engine::policy::Policy;

/// Warnings about conditions of the policy that these contexts contradict. Other values in sessions are not mistakes by
/// themselves.
pub fn contexts(policy: &Policy, seen: &SeenContexts) -> Vec<Diagnostic> {
    let (mut places, mut out) = (Places::default(), Vec::new());
    for condition in policy.conditions() {
        let Some((found, sessions)) = seen.against(condition) else { continue };
        let Some(rule) = policy.rules().get(condition.rule) else { continue };
        let meant = found.iter().find(|found| is_alike(found, &condition.value));
        let help = match meant {
            Some(meant) => format!("did you mean {}?", said(meant)),
            None if found.iter().any(|found| kind(found) == kind(&condition.value)) => continue,
            None => match &found[..] {
                [only] => format!("the value there is {}", said(only)),
                several => format!("the values there are {}", kinds(several)),
            },
        };
        let key = format!("context.{}", condition.key);
        let message = format!(
            "no recording has {} at {}, so the rule is off in {} with another value there",
            said(&condition.value),
            quoted(&key),
            count(sessions, "session")
        );
        let span = places.value_of(rule, &key).unwrap_or_else(|| head(rule));
        let told = Diagnostic::warning(code::WHEN_NEVER_EQUAL, message).at(&rule.source, span).help(help);
        let fix = meant.and_then(|meant| {
            Fix::rewrite(&rule.source, span, meant, format!("write {}", quoted(&meant.to_string())))
        });
        out.push(told.fix(fix));
    }
    out
}

/// The rules that a condition switches off in every one of this many sessions, in order.
pub fn off_everywhere(policy: &Policy, seen: &SeenContexts, sessions: u64) -> Vec<String> {
    let unmet = policy.conditions().iter().filter(|condition| seen.is_never_met(condition, sessions));
    let rules: BTreeSet<RuleId> = unmet.map(|condition| condition.rule).collect();
    rules.into_iter().filter_map(|rule| Some(policy.rules().get(rule)?.id.to_string())).collect()
}

/// Whether people write one of these values for the other: they differ in case, or in what kind of value is written so.
fn is_alike(found: &Value, wanted: &Value) -> bool {
    let plain = |value: &Value| match value {
        Value::String(text) => Some(text.trim().to_lowercase()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    let truth = |word: String| match &*word {
        "yes" | "on" | "1" => "true".to_owned(),
        "no" | "off" | "0" => "false".to_owned(),
        _ => word,
    };
    match (plain(found), plain(wanted)) {
        (Some(found), Some(wanted)) => found == wanted || truth(found) == truth(wanted),
        _ => false,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "truth values",
        Value::Number(_) => "numbers",
        Value::String(_) => "texts",
        Value::Array(_) => "lists",
        Value::Object(_) => "mappings",
    }
}

fn kinds(values: &[Value]) -> String {
    let kinds: BTreeSet<&str> = values.iter().map(kind).collect();
    list(kinds.into_iter().map(str::to_owned))
}

fn said(value: &Value) -> String {
    match value {
        Value::String(_) => format!("the text {value}"),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a mapping".to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) => format!("the value {value}"),
    }
}
