//! Probable mistakes in a contract that can be used as it is.

use std::cmp::Ordering;

use super::output::{Condition, Test};
use super::prior::{Matching, PriorRule, Side};
use super::unit::{Contract, Precondition};
use crate::condition::path::Path;
use crate::dialect::Text;
use crate::dialect::pattern::truth;
use crate::monitor::{Rule, RuleId, Rules};
use rulestep_base::diagnostic::{Code, Diagnostic, Fix, code};
use rulestep_base::source::{Node, Source, Span, quoted};

/// A test of a value, with the place of its condition.
#[derive(Clone, Copy)]
struct Wish<'c> {
    path: &'c Path,
    test: &'c Test,
    span: Span,
}

const EXISTS: Test = Test::Exists(true);

/// The warnings about a contract of which every part can be read. `own`: its rules, by their local numbers.
pub(super) fn warnings(
    text: Text<'_>,
    contract: &Contract,
    rules: &Rules,
    own: &[RuleId],
) -> Vec<Diagnostic> {
    let rule = |number: usize| own.get(number).and_then(|id| rules.get(*id));
    let priors: Vec<(&PriorRule, &Rule)> = contract
        .preconditions
        .iter()
        .filter_map(|precondition| Some((precondition.prior.as_ref()?, rule(precondition.rule)?)))
        // A rule that stops nothing contradicts nothing.
        .filter(|(_, rule)| rule.options.stops())
        .collect();
    let mut out = Vec::new();
    for (at, (prior, written)) in priors.iter().enumerate() {
        let own = wishes(text, prior, written);
        // The newest call decides all preconditions that ask for it.
        let also = priors.iter().take(at).filter(|(other, _)| decides_both(prior, other));
        let earlier: Vec<Wish<'_>> = also.flat_map(|(other, written)| wishes(text, other, written)).collect();
        if let Some((one, other)) = clash(&earlier, &own) {
            out.push(contradiction(text, code::CONTRADICTORY_CONDITIONS, &prior.calls.title(), one, other));
        }
        let bound = bound(prior, written);
        let others = priors.iter().take(at).flat_map(|(other, written)| self::bound(other, written));
        let others: Vec<Wish<'_>> = others.collect();
        if let Some((one, other)) = clash(&others, &bound).filter(|(one, other)| one.span != other.span) {
            out.push(contradiction(text, code::BINDINGS_NEVER_MEET, &contract.tool, one, other));
        }
    }
    for (at, precondition) in contract.preconditions.iter().enumerate() {
        let same = |other: &&Precondition| {
            let steps = |p: &Precondition| p.steps.as_ref().map(|steps| steps.fewest);
            other.prior == precondition.prior && steps(other) == steps(precondition)
        };
        let first = contract.preconditions.iter().take(at).find(same);
        out.extend(first.and_then(|first| repeated(rule(precondition.rule)?, rule(first.rule)?)));
    }
    for (at, precondition) in contract.preconditions.iter().enumerate() {
        let Some(fewest) = steps(precondition) else { continue };
        let Some(written) = rule(precondition.rule) else { continue };
        let line = written.span.first_line(text.source.text());
        if fewest == 0 {
            let message = "no turn needs to be complete for this, so every call satisfies it";
            out.push(Diagnostic::warning(code::NEVER_MET, message).at(text.source, line));
        }
        // A rule's question decides only for rules with the same effect.
        let alike =
            |other: &Precondition| rule(other.rule).is_some_and(|other| other.options == written.options);
        let others = contract.preconditions.iter().enumerate();
        let others = others.filter(|(other, asks)| *other != at && alike(asks));
        let tighter =
            others.filter_map(|(_, other)| Some((steps(other).filter(|more| *more > fewest)?, other)));
        if let Some((more, other)) = tighter.max_by_key(|(more, _)| *more)
            && fewest > 0
            && precondition.prior.is_none()
        {
            let message =
                format!("no call fails this and satisfies the {more} turns of another precondition");
            let found = Diagnostic::warning(code::SHADOWED_RULE, message).at(text.source, line);
            out.push(match rule(other.rule) {
                Some(other) => found.related(
                    &other.source,
                    other.span.first_line(text.source.text()),
                    "this one asks for more",
                ),
                None => found,
            });
        }
    }
    for (at, (tool, number)) in contract.forbids_after.iter().enumerate() {
        let first = contract.forbids_after.iter().take(at).find(|(other, _)| other == tool);
        out.extend(first.and_then(|(_, first)| repeated(rule(*number)?, rule(*first)?)));
    }
    out
}

/// The number of turns that a precondition requires, if it has such a number.
fn steps(precondition: &Precondition) -> Option<u64> {
    precondition.steps.as_ref().and_then(|steps| steps.fewest)
}

fn decides_both(one: &PriorRule, other: &PriorRule) -> bool {
    let newest = |prior: &PriorRule| prior.matching == Matching::Newest;
    one.calls == other.calls && one.resource == other.resource && newest(one) && newest(other)
}

/// What the result of the prior call must be.
fn wishes<'c>(text: Text<'_>, prior: &'c PriorRule, rule: &Rule) -> Vec<Wish<'c>> {
    let entries = text.node.at(&rule.pointer).and_then(|node| node.get("with_output")).and_then(Node::as_seq);
    let entries = entries.unwrap_or_default();
    let mut wishes = Vec::new();
    if let Some(resource) = prior.resource.as_ref().filter(|resource| resource.side == Side::Output) {
        wishes.push(Wish { path: &resource.there, test: &EXISTS, span: rule.span });
    }
    for (at, condition) in prior.outputs.iter().enumerate() {
        let span = entries.get(at).map_or(rule.span, |entry| entry.span);
        wishes.extend(condition.tests.iter().map(|test| Wish { path: &condition.path, test, span }));
    }
    wishes
}

/// What the bound value of this call must be: it exists, and equals a value of a result that passes conditions.
fn bound<'c>(prior: &'c PriorRule, rule: &Rule) -> Vec<Wish<'c>> {
    let Some(resource) = &prior.resource else { return Vec::new() };
    let here = |test| Wish { path: &resource.here, test, span: rule.span };
    let is_bound = |condition: &&Condition| resource.side == Side::Output && condition.path == resource.there;
    let tests = prior.outputs.iter().filter(is_bound).flat_map(|condition| &condition.tests);
    std::iter::once(&EXISTS).chain(tests).map(here).collect()
}

/// Two wishes that no value can satisfy, at least one of them of the second list.
fn clash<'c>(others: &[Wish<'c>], own: &[Wish<'c>]) -> Option<(Wish<'c>, Wish<'c>)> {
    own.iter().enumerate().find_map(|(at, wish)| {
        let before = others.iter().chain(own.iter().take(at));
        let mut clashes = before.filter(|other| contradict(wish.test, wish.path, other.test, other.path));
        clashes.next().map(|other| (*other, *wish))
    })
}

/// Whether no value passes both tests, each at its path.
fn contradict(test: &Test, path: &Path, other: &Test, other_path: &Path) -> bool {
    let needs_something = |test: &Test| *test != Test::Exists(false);
    if path == other_path {
        return match (test, other) {
            (Test::Exists(wanted), other) => *wanted != needs_something(other),
            (Test::Equals(value), other) => !other.holds(&[value]),
            (Test::Gte(least), Test::Lte(most)) => most.numeral().compare(least.numeral()) == Ordering::Less,
            (Test::Gte(_), Test::Gte(_)) | (Test::Lte(_), Test::Lte(_)) => false,
            (test, other) => contradict(other, other_path, test, path),
        };
    }
    if path.is_inside(other_path) {
        return contradict(other, other_path, test, path);
    }
    if other_path.is_inside(path) {
        return match test {
            Test::Exists(true) => false,
            Test::Exists(false) | Test::Gte(_) | Test::Lte(_) => needs_something(other),
            Test::Equals(value) => {
                let there = other_path.beyond(path, value).flatten();
                !other.holds(there.as_slice())
            }
        };
    }
    needs_something(test) && needs_something(other) && path.excludes(other_path)
}

fn contradiction(text: Text<'_>, code: Code, tool: &str, one: Wish<'_>, other: Wish<'_>) -> Diagnostic {
    let words = |wish: &Wish<'_>| {
        let condition = Condition { path: wish.path.clone(), tests: vec![wish.test.clone()] };
        format!("{} {}", quoted(wish.path.text()), condition.words())
    };
    let whose = if code == code::BINDINGS_NEVER_MEET { "call" } else { "result" };
    let message =
        format!("no {whose} of {} passes both: {}, and {}", quoted(tool), words(&one), words(&other));
    let told = Diagnostic::warning(code, message).at(text.source, other.span.first_line(text.source.text()));
    match one.span == other.span {
        true => told,
        false => told.related(text.source, one.span.first_line(text.source.text()), "the other one is here"),
    }
}

/// Two that want different things of a call are not the same.
fn repeated(rule: &Rule, first: &Rule) -> Option<Diagnostic> {
    if rule.options != first.options {
        return None;
    }
    let fix = Fix::remove(&rule.source, rule.span, "remove the second one");
    let at = rule.span.first_line(rule.source.text());
    let told = Diagnostic::warning(code::DUPLICATE_RULE, "the contract says this twice").at(&rule.source, at);
    let there = first.span.first_line(first.source.text());
    Some(told.related(&rule.source, there, "it is said here first").fix(fix))
}

/// A condition that compares with `yes` where a result has `true`.
pub(super) fn word_for_truth(condition: &Node, source: &Source) -> Option<Diagnostic> {
    let wanted = condition.get("equals")?;
    let word = wanted.as_str().filter(|word| source.slice(wanted.span) == *word)?;
    let truth = truth(word)?;
    let message = format!("`{word}` is a text, which never equals the value {truth}");
    let help = format!("write `{truth}`, or \"{word}\" in quotes if results have this text");
    Some(Diagnostic::warning(code::NEVER_MET, message).at(source, wanted.span).help(help))
}

/// The tool's name as the first key, in the style of the others.
pub(super) fn named(text: Text<'_>, tool: &str) -> Option<Fix> {
    let first = text.node.as_map()?.first()?;
    let before = text.source.text().get(text.node.span.start..first.key_span.start)?;
    let key = format!("tool: {}", rulestep_base::source::inline::scalar(tool, false));
    let is_flow = before.starts_with('{');
    let json = text.source.slice(first.key_span).starts_with('"') && is_flow;
    let new = match (is_flow, json) {
        (_, true) => format!("\"tool\": {}, ", rulestep_base::source::inline::scalar(tool, true)),
        (true, _) => format!("{key}, "),
        (false, _) => {
            let position = text.source.position(first.key_span.start);
            format!("{key}\n{}", " ".repeat(usize::try_from(position.column).unwrap_or(1).saturating_sub(1)))
        }
    };
    Some(Fix::raw(text.source, vec![(Span::empty(first.key_span.start), new)], "name the tool"))
}
