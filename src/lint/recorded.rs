//! Contradictions between recordings and a policy: missing tools and values, rules that never or always object.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::contexts::contexts;
use super::linter::{Linter, head};
use super::place::Places;
use crate::explore::coverage::{Exercise, RuleUse};
use crate::explore::survey::Survey;
use rulestep_base::diagnostic::{Diagnostic, Fix, Severity, code};
use rulestep_base::source::nearest::{edits, nearest};
use rulestep_base::source::{Span, quoted};
use rulestep_base::wording::{count, thousands};
use rulestep_engine::monitor::{CallPart, Probe, Rule, RuleId, Says};
use rulestep_engine::policy::Policy;

/// The fewest calls from which is concluded that a rule always objects.
const FEW: u64 = 3;

/// Letters of a name that differs from another one by a slip of one letter.
const LONG: usize = 6;

/// Most names in one line.
const FEW_NAMES: usize = 4;

/// The findings of the counts.
pub fn recorded(policy: &Policy, survey: &Survey) -> Vec<Diagnostic> {
    // Without a call nothing is known of any rule, and the caller reports that.
    if survey.inventory.calls + survey.inventory.alternatives == 0 {
        return Vec::new();
    }
    let mut statements = Vec::new();
    policy.units().iter().for_each(|unit| unit.statements(&mut statements));
    let mut linter = Linter { policy, statements: &statements, places: Places::default() };
    let (mut out, mut explained) = (Vec::new(), BTreeSet::new());
    unknown_tools(&mut linter, survey, &mut explained, &mut out);
    probes(&mut linter, survey, &mut explained, &mut out);
    rules(&linter, survey, &explained, &mut out);
    out.extend(contexts(policy, &survey.contexts));
    out
}

/// Tools that rules name and `seen`, the tools of the sessions, does not have. A name that is nearly one of them is
/// probably misspelt. Others are reported only if the sessions are complete (`whole`), or have no tool of the policy at
/// all.
pub fn unseen(policy: &Policy, seen: &BTreeSet<&str>, whole: bool) -> Vec<Diagnostic> {
    if seen.is_empty() {
        return Vec::new();
    }
    let mut linter = Linter { policy, statements: &[], places: Places::default() };
    let mut out = Vec::new();
    let (mut others, mut similar) = (Vec::new(), Vec::new());
    // If no rule can have been asked, the absence of findings means nothing.
    let is_about_tools = policy.rules().iter().all(|(_, rule)| !rule.tools.is_empty() || rule.tool.is_some());
    let none = is_about_tools && !policy.names().iter().any(|name| seen.contains(&**name));
    // A policy that names both tools has not misspelt one.
    let strangers: BTreeSet<&str> =
        seen.iter().copied().filter(|tool| !policy.names().iter().any(|name| **name == **tool)).collect();
    for (name, written, span) in missing(policy, seen, &mut linter.places) {
        let prefixed =
            strangers.iter().copied().find(|tool| tool.strip_suffix(&**name).is_some_and(is_server));
        match prefixed.or_else(|| nearest(name, strangers.iter().copied())) {
            Some(near) => {
                let message = format!("no recording calls or offers {}", quoted(name));
                let told = Diagnostic::warning(code::UNKNOWN_TOOL, message).at(&written.source, span);
                let title = format!("write {}", quoted(near));
                let fix = Fix::rewrite(&written.source, span, &near.into(), title);
                out.push(told.help(format!("did you mean {}?", quoted(near))).fix(fix));
            }
            // Both are named, so one of them may or may not be a slip.
            None => match seen.iter().copied().find(|tool| edits(tool, name) <= 1 && name.len() >= LONG) {
                Some(near) => similar.push((name, near, written, span)),
                None => others.push((name, written, span)),
            },
        }
    }
    out.extend(similar.into_iter().map(|(name, near, written, span)| {
        let message = format!("no recording calls or offers {}, so no rule for it was checked", quoted(name));
        let told = Diagnostic::notice(code::UNKNOWN_TOOL, message).at(&written.source, span);
        told.help(format!("did you mean {}?", quoted(near)))
    }));
    if let ([(_, written, span), ..], true) = (&others[..], whole || (none && out.is_empty())) {
        let names: Vec<String> = others.iter().map(|(name, ..)| quoted(name)).collect();
        let message = match &names[..] {
            [only] => {
                format!("no recording calls or offers {only}, so no rule for it was checked")
            }
            [all @ .., last] if names.len() <= FEW_NAMES => {
                format!(
                    "no recording calls or offers {} or {last}, so no rule for them was checked",
                    all.join(", ")
                )
            }
            names => {
                let first = names.iter().take(FEW_NAMES).cloned().collect::<Vec<_>>().join(", ");
                let more = count(names.len() as u64 - FEW_NAMES as u64, "other");
                format!("no recording calls or offers {first} and {more}, so no rule for them was checked")
            }
        };
        let told = Diagnostic::notice(code::UNKNOWN_TOOL, message).at(&written.source, *span);
        out.push(told.help("`rulestep coverage` shows how often each rule was checked"));
    }
    out
}

/// The tools that the text of a policy has and `seen` has not.
pub fn unseen_names(policy: &Policy, seen: &BTreeSet<&str>) -> Vec<String> {
    missing(policy, seen, &mut Places::default()).into_iter().map(|(name, ..)| name.to_string()).collect()
}

/// The same, each with a rule that is about it and its place there.
fn missing<'p>(
    policy: &'p Policy,
    seen: &BTreeSet<&str>,
    places: &mut Places,
) -> Vec<(&'p Arc<str>, &'p Rule, Span)> {
    let names = policy.names().iter().filter(|name| !seen.contains(&***name));
    names
        .filter_map(|name| {
            let mut about = policy.rules().iter();
            let about = about.find(|(_, rule)| rule.tools.contains(name) || rule.tool.as_ref() == Some(name));
            let (_, written) = about?;
            // A usual name that is not in the text, like that of a read tool, is not a mistake.
            Some((name, written, places.of(written, name)?))
        })
        .collect()
}

/// The prefix of a server's tools: `mcp__shop__`.
fn is_server(prefix: &str) -> bool {
    prefix.starts_with("mcp__") && prefix.ends_with("__")
}

/// The number of calls of a tool.
fn calls(survey: &Survey, tool: &str) -> u64 {
    survey.coverage.tools.get(tool).map_or(0, |tool| tool.calls + tool.alternatives)
}

fn unknown_tools(
    linter: &mut Linter<'_>,
    survey: &Survey,
    explained: &mut BTreeSet<RuleId>,
    out: &mut Vec<Diagnostic>,
) {
    let known: BTreeSet<&str> =
        survey.coverage.tools.keys().chain(&survey.sightings.offered).map(|tool| &**tool).collect();
    for name in linter.policy.names().iter().filter(|name| !known.contains(&***name)) {
        // The rules that need the tool, and whether that is for a call.
        let needs = |says: &Says| match says {
            Says::Needs { any_of, .. } | Says::Follows { any_of, .. } => {
                any_of.contains(name).then_some(true)
            }
            Says::Must(any_of) => any_of.contains(name).then_some(false),
            _ => None,
        };
        let needed: Vec<(RuleId, bool)> =
            linter.statements.iter().filter_map(|said| Some((said.rule, needs(&said.says)?))).collect();
        let mut about = linter.policy.rules().iter();
        let about = about.find(|(_, rule)| rule.tools.contains(name) || rule.tool.as_ref() == Some(name));
        let Some(rule) = needed.first().map(|(rule, _)| *rule).or(about.map(|(rule, _)| rule)) else {
            continue;
        };
        let Some(written) = linter.rule(rule) else { continue };
        // A usual name that is not in the text, like that of a read tool, is not a mistake.
        let Some(span) = linter.places.of(written, name) else { continue };
        let near = nearest(name, known.iter().copied());
        // The rules that need it object to calls that the recordings have.
        let objected =
            needed.iter().map(|(rule, _)| survey.coverage.rules.get(rule).map_or(0, RuleUse::fired));
        let objected: u64 = objected.sum();
        let mut message = format!("no recording calls or offers {}", quoted(name));
        if objected > 0 {
            let rules = if needed.len() == 1 { "the rule that needs it" } else { "the rules that need it" };
            let what = if needed.iter().all(|(_, of_call)| *of_call) { "call" } else { "call or session" };
            message.push_str(&format!(", and {rules} objected to {}", count(objected, what)));
        }
        let serious = near.is_some() || objected > 0;
        let severity = if serious { Severity::Warning } else { Severity::Notice };
        let mut told = Diagnostic::new(code::UNKNOWN_TOOL, severity, message).at(&written.source, span);
        if let Some(near) = near {
            let often = match calls(survey, near) {
                0 => "which is offered and never called".to_owned(),
                calls => format!("which is called {}", times(calls)),
            };
            told = told.help(format!("did you mean {}, {often}?", quoted(near)));
            let title = format!("write {}", quoted(near));
            told = told.fix(Fix::rewrite(&written.source, span, &near.into(), title));
        }
        if serious {
            explained.extend(needed.iter().map(|(rule, _)| *rule));
            explained.insert(rule);
        }
        out.push(told);
    }
}

fn times(calls: u64) -> String {
    if calls == 1 { "once".to_owned() } else { format!("{} times", thousands(calls)) }
}

fn probes(
    linter: &mut Linter<'_>,
    survey: &Survey,
    explained: &mut BTreeSet<RuleId>,
    out: &mut Vec<Diagnostic>,
) {
    for (number, used) in &survey.sightings.probes {
        let Some(probe) = linter.policy.probes().get(*number) else { continue };
        let Some(rule) = linter.rule(probe.rule) else { continue };
        let of = |calls: u64| {
            let noun = match probe.part {
                CallPart::Arguments => "recorded call",
                CallPart::Result => "recorded result",
            };
            format!("{} of {}", count(calls, noun), quoted(&probe.tool))
        };
        let path = quoted(&probe.path);
        let (code, severity, message) = match (used.present, used.passed, &probe.condition) {
            (0, 0, _) => {
                let message = format!("nothing is at {path} in {}", of(used.calls));
                (code::PATH_NOT_RECORDED, Severity::Warning, message)
            }
            (_, 0, Some(condition)) => {
                let severity = if probe.is_required { Severity::Warning } else { Severity::Notice };
                let message = format!("{path} {condition} in none of {}", of(used.calls));
                (code::CONDITION_NEVER_PASSES, severity, message)
            }
            (_, passed, Some(condition)) if passed == used.calls && passed > 1 => {
                let message = format!("{path} {condition} in each of {}", of(used.calls));
                (code::CONDITION_ALWAYS_PASSES, Severity::Notice, message)
            }
            _ => continue,
        };
        if severity == Severity::Warning {
            explained.insert(probe.rule);
        }
        let span = probe_span(&mut linter.places, probe, rule);
        out.push(Diagnostic::new(code, severity, message).at(&rule.source, span));
    }
}

fn probe_span(places: &mut Places, probe: &Probe, rule: &rulestep_engine::monitor::Rule) -> Span {
    let under = match probe.part {
        CallPart::Result if probe.condition.is_some() => Some("with_output"),
        CallPart::Result => Some("prior"),
        CallPart::Arguments => None,
    };
    places.in_rule(rule, &probe.path, under).unwrap_or_else(|| head(rule))
}

fn rules(linter: &Linter<'_>, survey: &Survey, explained: &BTreeSet<RuleId>, out: &mut Vec<Diagnostic>) {
    let bans = |id: RuleId| {
        linter.statements.iter().any(|said| said.rule == id && matches!(said.says, Says::Never(_)))
    };
    for (id, rule, used) in survey.coverage.of_policy(linter.policy) {
        let (code, severity, message) = match used.exercise() {
            Exercise::NeverAsked => {
                let message = format!("{} applies to no recorded call", linter.name(id));
                (code::RULE_NEVER_EXERCISED, Severity::Notice, message)
            }
            Exercise::Passed => {
                let asked = match used.calls {
                    0 => count(used.sessions, "session"),
                    calls => count(calls, "recorded call"),
                };
                let message = format!("{} has no findings: {asked} satisfied it", linter.name(id));
                (code::RULE_NEVER_FIRED, Severity::Notice, message)
            }
            Exercise::Fired
                if used.passed == 0 && used.calls >= FEW && !bans(id) && !explained.contains(&id) =>
            {
                let all = count(used.calls, "recorded call");
                let message = format!("{} objected to every one of {all}", linter.name(id));
                (code::FIRES_ON_EVERY_CALL, Severity::Warning, message)
            }
            Exercise::Fired => continue,
        };
        out.push(Diagnostic::new(code, severity, message).at(&rule.source, head(rule)));
    }
}
