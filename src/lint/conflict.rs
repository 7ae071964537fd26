//! Rules that contradict each other, or that make another one pointless.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::circle::disjoint_circles;
use super::linter::{Linter, head};
use super::needs::Need;
use super::world::{Follow, World, worlds};
use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_base::source::quoted;
use rulestep_engine::monitor::{RuleId, Says, Statement};

/// Finds them.
pub fn lint(linter: &mut Linter<'_>, out: &mut Vec<Diagnostic>) {
    idle(linter, out);
    for world in worlds(linter) {
        let stuck = world.stuck();
        circles(linter, &world, &stuck, out);
        required(linter, &world, out);
        banned(linter, &world, &stuck, out);
        adjacent(linter, &world, out);
        neighbours(linter, &world, out);
        only(linter, &world, out);
        follow_ups(linter, &world, out);
        shadowed(linter, &world, out);
    }
}

/// Rules that deny nothing. The published systems write plans without conditions themselves, so this is no warning.
fn idle(linter: &Linter<'_>, out: &mut Vec<Diagnostic>) {
    for said in linter.statements.iter().filter(|said| matches!(said.says, Says::Nothing)) {
        let Some(rule) = linter.rule(said.rule) else { continue };
        let message = "a plan without conditions never rejects a call";
        out.push(Diagnostic::notice(code::NEVER_MET, message).at(&rule.source, head(rule)));
    }
}

/// Tools of a circle that are named all, and how many of a longer one.
const LONG: usize = 8;
const NAMED: usize = 4;

/// Tools that need each other.
fn circles(linter: &mut Linter<'_>, world: &World<'_>, stuck: &BTreeSet<&str>, out: &mut Vec<Diagnostic>) {
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let blocks = |need: &&Need<'_>| need.any_of.iter().all(|needed| stuck.contains(&**needed));
    let mut order: Vec<&str> = Vec::new();
    for need in world.needs.iter().filter(blocks) {
        let to = edges.entry(need.tool).or_default();
        for needed in need.any_of {
            if needed != need.tool {
                to.insert(needed);
            } else if need.any_of.len() == 1 {
                let message = format!("{} needs itself, so it can never run", quoted(need.tool));
                told(linter, code::SELF_DEPENDENCY, need, message, out);
            }
        }
        order.push(need.tool);
    }
    let mut by_tool: HashMap<&str, Vec<&Need<'_>>> = HashMap::new();
    for need in world.needs.iter().filter(blocks) {
        by_tool.entry(need.tool).or_default().push(need);
    }
    for way in disjoint_circles(&order, &edges) {
        let Some(tool) = way.first().copied() else { continue };
        let second = way.get(1).copied().unwrap_or(tool);
        let names: Vec<String> = way.iter().skip(1).chain([&tool]).map(|name| quoted(name)).collect();
        let needs = match names.get(..NAMED) {
            Some(first) if way.len() > LONG => {
                let (first, left) = (first.join(", which needs "), names.len() - NAMED - 1);
                format!("{first}, and so on through {left} more, the last of which needs {}", quoted(tool))
            }
            _ => names.join(", which needs "),
        };
        let message = format!("none of these tools can ever run: {} needs {needs}", quoted(tool));
        let step = |from: &str, to: &str| {
            let needs = by_tool.get(from)?.iter();
            needs.copied().find(|need| need.any_of.iter().any(|needed| **needed == *to))
        };
        let Some(first) = step(tool, second) else { continue };
        let before = out.len();
        told(linter, code::DEPENDENCY_CYCLE, first, message, out);
        // Not every rule of a long cycle is worth reading.
        let from = if way.len() > LONG { way.len() - 1 } else { 1 };
        let steps = way.iter().zip(way.iter().skip(1).chain([&tool])).skip(from);
        let others: BTreeSet<RuleId> =
            steps.filter_map(|(from, to)| step(from, to)).map(|need| need.rule).collect();
        for other in others.into_iter().filter(|other| *other != first.rule) {
            if let Some(last) = out.get_mut(before) {
                *last = linter.with(last.clone(), other, "and this rule closes the circle");
            }
        }
    }
}

/// A finding at the place in a rule that states a tool's need.
fn told(
    linter: &mut Linter<'_>,
    code: rulestep_base::diagnostic::Code,
    need: &Need<'_>,
    message: String,
    out: &mut Vec<Diagnostic>,
) {
    let needed = need.any_of.first().map_or(&**need.tool, |needed| needed);
    let Some(rule) = linter.rule(need.rule) else { return };
    let Some(span) = linter.span(need.rule, needed, Some(need.tool)) else { return };
    out.push(Diagnostic::warning(code, message).at(&rule.source, span));
}

/// Tools that are required, and denied in any case.
fn required(linter: &mut Linter<'_>, world: &World<'_>, out: &mut Vec<Diagnostic>) {
    let all = |any_of: &[std::sync::Arc<str>]| {
        let rules: Option<Vec<RuleId>> = any_of.iter().map(|tool| world.never(tool)).collect();
        rules.and_then(|rules| rules.first().copied())
    };
    let mut say =
        |linter: &mut Linter<'_>, rule: RuleId, tool: &str, under: Option<&str>, by: RuleId, so: String| {
            if rule == by {
                return;
            }
            let (Some(written), Some(span)) = (linter.rule(rule), linter.span(rule, tool, under)) else {
                return;
            };
            let message = format!("{} denies every call to {}{so}", linter.name(by), quoted(tool));
            let found = Diagnostic::warning(code::REQUIRED_TOOL_DENIED, message).at(&written.source, span);
            out.push(linter.with(found, by, "every call is denied here"));
        };
    for need in world.needs.iter().filter(|need| world.never(need.tool).is_none()) {
        if let (Some(by), Some(needed)) = (all(need.any_of), need.any_of.first()) {
            let so = format!(", so {}, which needs it, can never run", quoted(need.tool));
            say(linter, need.rule, needed, Some(need.tool), by, so);
        }
    }
    for (rule, any_of) in &world.must {
        if let (Some(by), Some(tool)) = (all(any_of), any_of.first()) {
            say(
                linter,
                *rule,
                tool,
                None,
                by,
                ", so no session satisfies the rule that requires it".to_owned(),
            );
        }
    }
    for follow in world.follows.iter().filter(|follow| world.never(follow.after).is_none()) {
        if let (Some(by), Some(tool)) = (all(follow.any_of), follow.any_of.first()) {
            let which = if follow.each { "every call" } else { "a call" };
            let so = format!(", which must follow {which} to {}", quoted(follow.after));
            say(linter, follow.rule, tool, None, by, so);
        }
    }
}

/// Tools that need another one, which forbids them once it has run.
fn banned(linter: &mut Linter<'_>, world: &World<'_>, stuck: &BTreeSet<&str>, out: &mut Vec<Diagnostic>) {
    for need in world.needs.iter().filter(|need| !stuck.contains(&**need.tool)) {
        let rules: Option<Vec<RuleId>> =
            need.any_of.iter().map(|needed| world.banned_by(needed, need.tool)).collect();
        let (Some(by), Some(needed)) = (rules.and_then(|rules| rules.first().copied()), need.any_of.first())
        else {
            continue;
        };
        let Some(rule) = linter.rule(by) else { continue };
        let Some(span) = linter.span(by, need.tool, None) else { continue };
        let message = format!(
            "{} can never run: it needs {}, and this rule then forbids it",
            quoted(need.tool),
            quoted(needed)
        );
        let found = Diagnostic::warning(code::PREREQUISITE_BANS, message).at(&rule.source, span);
        out.push(linter.with(found, need.rule, "it is needed here"));
    }
}

/// Tools that must be directly before another, and may not be.
fn adjacent(linter: &mut Linter<'_>, world: &World<'_>, out: &mut Vec<Diagnostic>) {
    for need in world.needs.iter().filter(|need| need.directly) {
        let apart = |needed: &std::sync::Arc<str>| {
            world
                .apart
                .iter()
                .find(|(_, first, then)| first(needed) && then(need.tool))
                .map(|(rule, ..)| *rule)
        };
        let rules: Option<Vec<RuleId>> = need.any_of.iter().map(apart).collect();
        let (Some(by), Some(needed)) = (rules.and_then(|rules| rules.first().copied()), need.any_of.first())
        else {
            continue;
        };
        let message = format!(
            "{} must come directly before {}, and {} forbids that",
            quoted(needed),
            quoted(need.tool),
            linter.name(by)
        );
        contradiction(linter, need.rule, by, message, out);
    }
}

/// Tools before which two rules require different calls directly.
fn neighbours(linter: &Linter<'_>, world: &World<'_>, out: &mut Vec<Diagnostic>) {
    let mut directly: BTreeMap<&str, Vec<&Need<'_>>> = BTreeMap::new();
    for need in world.needs.iter().filter(|need| need.directly) {
        let others = directly.entry(need.tool).or_default();
        let apart = |other: &&&Need<'_>| need.any_of.iter().all(|needed| !other.any_of.contains(needed));
        if let Some(other) = others.iter().find(apart)
            && let ([first, ..], [second, ..]) = (other.any_of, need.any_of)
        {
            let message = format!(
                "{} can never run: a call has one call directly before it, and {} and {} are both to be that",
                quoted(need.tool),
                quoted(first),
                quoted(second)
            );
            contradiction(linter, need.rule, other.rule, message, out);
        }
        others.push(need);
    }
}

/// An allowlist of which every tool is denied by another rule: together they deny every call.
fn only(linter: &Linter<'_>, world: &World<'_>, out: &mut Vec<Diagnostic>) {
    for (id, rule) in linter.policy.rules().iter().filter(|(_, rule)| rule.kind == "allowlist") {
        if rule.tools.is_empty() || rule.tools.iter().any(|name| name.contains(['*', '?'])) {
            continue;
        }
        let by: Option<Vec<RuleId>> = rule.tools.iter().map(|tool| world.never_besides(id, tool)).collect();
        let Some(by) = by.and_then(|by| by.first().copied()) else { continue };
        let message =
            format!("{} denies every tool that this list allows, so every call is denied", linter.name(by));
        let found = Diagnostic::warning(code::NEVER_MET, message).at(&rule.source, head(rule));
        out.push(linter.with(found, by, "these calls are denied here"));
    }
}

fn contradiction(linter: &Linter<'_>, rule: RuleId, by: RuleId, message: String, out: &mut Vec<Diagnostic>) {
    let Some(written) = linter.rule(rule) else { return };
    let found = Diagnostic::warning(code::CONTRADICTORY_RULES, message).at(&written.source, head(written));
    out.push(linter.with(found, by, "this rule says the opposite"));
}

/// Calls that must follow and may not, or that would have to follow each other for ever.
fn follow_ups(linter: &mut Linter<'_>, world: &World<'_>, out: &mut Vec<Diagnostic>) {
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for Follow { rule, after, any_of, each } in world.follows.iter().copied() {
        let rules: Option<Vec<RuleId>> = any_of.iter().map(|tool| world.banned_by(after, tool)).collect();
        if let (Some(by), Some(tool)) = (rules.and_then(|rules| rules.first().copied()), any_of.first()) {
            let which = if each { "every call" } else { "a call" };
            let (tool, after, by_name) = (quoted(tool), quoted(after), linter.name(by));
            let message = format!("{tool} must follow {which} to {after}, and {by_name} forbids it then");
            contradiction(linter, rule, by, message, out);
        }
        if let ([only], true) = (any_of, each)
            && only != after
        {
            edges.entry(after).or_default().insert(only);
        }
    }
    let (mut order, mut rules): (Vec<&str>, HashMap<&str, RuleId>) = (Vec::new(), HashMap::new());
    for Follow { rule, after, .. } in world.follows.iter().filter(|follow| follow.each) {
        order.push(after);
        rules.entry(after).or_insert(*rule);
    }
    for way in disjoint_circles(&order, &edges) {
        let (Some(after), Some(next)) = (way.first(), way.get(1)) else { continue };
        let (Some(rule), Some(other)) = (rules.get(after), rules.get(next)) else { continue };
        let names: Vec<String> = way.iter().chain([after]).map(|name| quoted(name)).collect();
        let names = names.join(", ");
        let message = format!("each of these calls must be followed by the next, without end: {names}");
        contradiction(linter, *rule, *other, message, out);
    }
    both_required(linter, world, out);
}

/// Tools that are both required, though each forbids the other.
fn both_required(linter: &Linter<'_>, world: &World<'_>, out: &mut Vec<Diagnostic>) {
    let mut required: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, (_, any_of)) in world.must.iter().enumerate() {
        if let [only] = any_of {
            required.entry(only).or_default().push(at);
        }
    }
    let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (one, other) in world.forbids.keys().copied() {
        if one < other && world.forbids.contains_key(&(other, one)) {
            let others = required.get(other).map_or(&[][..], Vec::as_slice);
            for at in required.get(one).into_iter().flatten() {
                pairs.extend(others.iter().map(|other| (*at.min(other), *at.max(other))));
            }
        }
    }
    for (at, later) in pairs {
        let (Some((rule, [one])), Some((by, [other]))) = (world.must.get(at), world.must.get(later)) else {
            continue;
        };
        let (one, other) = (quoted(one), quoted(other));
        let message = format!("{one} and {other} are both required, and each forbids the other");
        contradiction(linter, *rule, *by, message, out);
    }
}

/// Rules about a tool that is denied in any case.
fn shadowed(linter: &mut Linter<'_>, world: &World<'_>, out: &mut Vec<Diagnostic>) {
    let mut about: BTreeMap<RuleId, BTreeSet<&str>> = BTreeMap::new();
    for need in &world.needs {
        about.entry(need.rule).or_default().insert(need.tool);
    }
    for ((_, tool), rule) in &world.forbids {
        about.entry(*rule).or_default().insert(tool);
    }
    for (id, rule) in linter.policy.rules().iter() {
        if let ("limit" | "precondition" | "rejection_plan", Some(tool)) = (rule.kind, &rule.tool) {
            about.entry(id).or_default().insert(tool);
        }
    }
    let denying: BTreeSet<RuleId> = linter.enforced().filter(denies).map(|said| said.rule).collect();
    let mut written_for: HashMap<RuleId, &Statement> = HashMap::new();
    for said in linter.statements {
        written_for.entry(said.rule).or_insert(said);
    }
    for (rule, tools) in about {
        let by: Option<Vec<RuleId>> = tools.iter().map(|tool| world.never(tool)).collect();
        let (Some(by), Some(tool)) = (by.and_then(|by| by.first().copied()), tools.first()) else { continue };
        // A rule that says in two ways that a tool never runs is one rule; and of two that deny everything neither is special.
        // A sequence also asks whether the session finishes it.
        let asks_more = linter.rule(rule).is_none_or(|rule| rule.kind == "sequence");
        if by == rule
            || asks_more
            || denying.contains(&rule)
            || !world.is_home(linter, rule, written_for.get(&rule).copied())
        {
            continue;
        }
        let (Some(written), Some(span)) = (linter.rule(rule), linter.span(rule, tool, None)) else {
            continue;
        };
        let message =
            format!("this rule never decides: {} denies every call to {}", linter.name(by), quoted(tool));
        let found = Diagnostic::warning(code::SHADOWED_RULE, message).at(&written.source, span);
        out.push(linter.with(found, by, "every call is denied here"));
    }
}

/// Whether a rule itself denies all calls of some tools.
fn denies(said: &&Statement) -> bool {
    matches!(said.says, Says::Never(_) | Says::Exactly(_))
}
