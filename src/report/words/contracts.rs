//! Sentences about the rules of contracts: what was forbidden, how far the session is, which call before is wanted.

use std::borrow::Cow;

use serde_json::{Number, Value};

use super::{Fact, at, place};
use crate::diagnostic::{Code, code};
use crate::monitor::finding::{Comparison, Output, Prior};
use crate::monitor::{Checked, Detail, Finding, Rule};
use crate::session::{CallRef, Session};
use crate::wording::sentence::{field, name, value};
use crate::wording::{count, list};

/// How many earlier values a sentence lists.
const LISTED: usize = 3;

/// What speaks against a call, where the code is one of contracts.
pub fn against(code: Code, fact: &Fact<'_>) -> Option<String> {
    Some(match (code, fact.detail) {
        (code::FORBIDDEN, _) => forbidden(fact),
        (code::STEP_COUNT_BELOW, Detail::Steps { completed, wanted }) => {
            steps(*completed, wanted) + fact.middle()
        }
        (code::PRIOR_TOOL_MISSING, Detail::Prior(prior)) => {
            format!("{} has not succeeded in an earlier turn{}", name(&prior.tool), fact.middle())
        }
        (code::RESOURCE_MISSING, Detail::Prior(prior)) => format!(
            "this call has not exactly one value at `{}` to compare with {}",
            fact.checked.map_or(Cow::Borrowed("$"), |checked| name(&checked.path)),
            name(&prior.tool)
        ),
        (code::RESOURCE_UNMATCHED, Detail::Prior(prior)) => unmatched(prior, fact) + fact.middle(),
        (code::PRIOR_OUTPUT_UNMATCHED, Detail::Prior(prior)) => bad_output(prior, fact),
        _ => return None,
    })
}

/// What speaks for a call that follows another one.
pub fn in_favour(prior: &Prior, fact: &Fact<'_>) -> String {
    let when = fact.found.first().map(|found| format!(" in {}", at(found.call, fact.session)));
    let bound = bound(fact.checked);
    let outputs = prior.outputs.iter().map(condition).collect::<Vec<_>>();
    let outputs = if outputs.is_empty() { String::new() } else { format!(" with {}", list(outputs)) };
    format!("{} ran{}{bound}{outputs}", name(&prior.tool), when.unwrap_or_default())
}

/// What would change a finding; nothing where there is no way.
pub fn way_out(code: Code, finding: &Finding, rule: &Rule) -> Option<String> {
    let bound = || bound(finding.checked.as_ref());
    Some(match (code, &finding.detail) {
        (code::FORBIDDEN, _) => {
            let place = place(rule);
            format!(
                "nothing in this session: `forbids_after` lasts to its end; change {place} if it should not"
            )
        }
        (code::STEP_COUNT_BELOW, Detail::Steps { completed, wanted }) => {
            let wanted = wanted.as_u64().or_else(|| wanted.as_f64().map(|wanted| wanted.ceil() as u64))?;
            format!("call it {} later", count(wanted.saturating_sub(*completed), "turn"))
        }
        (code::PRIOR_TOOL_MISSING | code::RESOURCE_UNMATCHED, Detail::Prior(prior)) => {
            format!("call {}{} with success, in an earlier turn", name(&prior.tool), bound())
        }
        (code::RESOURCE_MISSING, _) => {
            let path = finding.checked.as_ref().map(|checked| name(&checked.path))?;
            format!("give the call exactly one value at `{path}`")
        }
        (code::PRIOR_OUTPUT_UNMATCHED, Detail::Prior(prior)) => match (&prior.hint, failed(prior)) {
            (Some(hint), Some(failed)) => format!(
                "the result is wrapped: the condition would hold at `{}` instead of `{}`",
                name(hint),
                name(&failed.path)
            ),
            (_, Some(failed)) => {
                format!("a later {}{} with {}", name(&prior.tool), bound(), condition(failed))
            }
            (_, None) => format!("a later {}{} with another result", name(&prior.tool), bound()),
        },
        _ => return None,
    })
}

/// What a rule about the call before knows beyond its code, a line each.
pub fn details(prior: &Prior) -> Vec<String> {
    let mut lines: Vec<String> = prior.outputs.iter().map(output).collect();
    if let Some(hint) = &prior.hint {
        lines.push(format!("`{}` would match", name(hint)));
    }
    if prior.other_reading {
        lines.push(format!("with `match: {}` it would be decided otherwise", other(prior)));
    }
    lines
}

/// How far the session is, of how far it should be.
pub fn completed(completed: u64, wanted: &Number) -> String {
    format!("{} completed, at least {wanted} asked", count(completed, "turn"))
}

/// How a precondition stands, where it is one of these rules.
pub fn state(
    detail: &Detail,
    satisfied: bool,
    code: Option<Code>,
    by: &[CallRef],
    session: &Session,
) -> Option<String> {
    Some(match (detail, code) {
        (Detail::Steps { completed, wanted }, _) => steps(*completed, wanted),
        (Detail::Prior(prior), _) if satisfied => {
            let calls = list(by.iter().map(|by| at(*by, session)));
            format!("{} ran{}{calls}", name(&prior.tool), if by.is_empty() { "" } else { " in " })
        }
        (Detail::Prior(prior), Some(code::PRIOR_TOOL_MISSING)) => {
            format!("{} has not succeeded in an earlier turn", name(&prior.tool))
        }
        (Detail::Prior(prior), Some(code::RESOURCE_UNMATCHED)) => {
            format!("{} ran, but without a value to compare", name(&prior.tool))
        }
        (Detail::Prior(prior), Some(code::PRIOR_OUTPUT_UNMATCHED)) => {
            format!("{} ran, but its result does not satisfy the contract", name(&prior.tool))
        }
        _ => return None,
    })
}

fn forbidden(fact: &Fact<'_>) -> String {
    let by = fact.rule.tool.as_deref().map_or(Cow::Borrowed("a call"), name);
    match fact.found.first() {
        Some(first) => format!("forbidden since {by} ran in {}", at(first.call, fact.session)),
        None => format!("forbidden since {by} ran"),
    }
}

fn unmatched(prior: &Prior, fact: &Fact<'_>) -> String {
    let tool = name(&prior.tool);
    let path = fact.checked.map_or(Cow::Borrowed("$"), |checked| field(&checked.path));
    let wanted = fact.checked.and_then(|checked| checked.value.as_ref()).map_or_else(String::new, value);
    let mut values: Vec<String> = Vec::new();
    for found in fact.found.iter().filter_map(|found| found.value.as_ref()) {
        let shown = value(found);
        if !values.contains(&shown) {
            values.push(shown);
        }
    }
    if values.is_empty() {
        return format!("{tool} ran without exactly one value for {path}, so not for {wanted}");
    }
    let more = values.len() > LISTED;
    values.truncate(LISTED);
    if more {
        values.push("others".to_owned());
    }
    format!("{tool} ran for {path} {}, not {wanted}", list(values))
}

fn bad_output(prior: &Prior, fact: &Fact<'_>) -> String {
    let tool = name(&prior.tool);
    let when = fact.found.first().map(|found| format!(" in {}", at(found.call, fact.session)));
    let when = when.unwrap_or_default();
    let what = failed(prior).map_or_else(|| "another result".to_owned(), got);
    let mut sentence = format!("{tool}{when} gave {what}");
    if let Some(hint) = &prior.hint {
        sentence.push_str(&format!("; `{}` would match", name(hint)));
    } else if prior.other_reading {
        sentence.push_str(&format!("; with `match: {}` it would pass", other(prior)));
    }
    sentence
}

/// ` for order_id "ORD-124"`, or nothing where there is no value.
fn bound(checked: Option<&Checked>) -> String {
    let bound = checked.and_then(|checked| Some((&checked.path, checked.value.as_ref()?)));
    bound.map_or_else(String::new, |(path, found)| format!(" for {} {}", field(path), value(found)))
}

/// How many turns were completed, of how many that should be.
pub fn steps(completed: u64, wanted: &Number) -> String {
    let completed = match completed {
        0 => "no turn was completed".to_owned(),
        1 => "1 turn was completed".to_owned(),
        many => format!("{} were completed", count(many, "turn")),
    };
    format!("{completed} before, at least {wanted} asked")
}

fn bounded(comparison: Comparison, bound: &str) -> String {
    match comparison {
        Comparison::Gte => format!("at least {bound}"),
        Comparison::Lte => format!("at most {bound}"),
        Comparison::Equals | Comparison::Exists => bound.to_owned(),
    }
}

fn failed(prior: &Prior) -> Option<&Output> {
    prior.outputs.iter().find(|output| !output.holds)
}

fn other(prior: &Prior) -> &'static str {
    if prior.matching == "any" { "newest" } else { "any" }
}

/// What a condition asks: `eligible true`, `score at least 5`.
fn condition(output: &Output) -> String {
    let path = field(&output.path);
    match output.comparison {
        Comparison::Exists if output.wanted == Value::Bool(false) => format!("no {path}"),
        Comparison::Exists => format!("some {path}"),
        Comparison::Equals => format!("{path} {}", value(&output.wanted)),
        Comparison::Gte | Comparison::Lte => {
            format!("{path} {}", bounded(output.comparison, &value(&output.wanted)))
        }
    }
}

/// What stood there instead: `eligible false, not true`.
fn got(output: &Output) -> String {
    let path = field(&output.path);
    let wanted = value(&output.wanted);
    if output.nodes == 0 {
        return format!("nothing at {path}");
    }
    let mut values: Vec<String> = output.got.iter().take(LISTED).map(value).collect();
    if output.nodes > values.len() {
        values.push(format!("{} more", output.nodes - values.len()));
    }
    let values = list(values);
    match output.comparison {
        Comparison::Exists => format!("{path} {values}, though there should be none"),
        comparison => {
            let all = if output.nodes > 1 { "all " } else { "" };
            format!("{path} {values}, not {all}{}", bounded(comparison, &wanted))
        }
    }
}

/// A condition, what stood there, and whether it holds.
fn output(output: &Output) -> String {
    let asked = format!("{} {} {}", name(&output.path), output.comparison.word(), value(&output.wanted));
    let mut values: Vec<String> = output.got.iter().take(LISTED).map(value).collect();
    if output.nodes > values.len() && !values.is_empty() {
        values.push(format!("{} more", output.nodes - values.len()));
    }
    let found = if values.is_empty() { "nothing".to_owned() } else { list(values) };
    format!("{asked}: found {found}{}", if output.holds { "" } else { ", which does not hold" })
}
