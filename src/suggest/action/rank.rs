//! Which observations are worth a rule, and the order of suggestions.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::claim::{Action, ActionRule, ActionSuggestion};
use super::observe::{Observations, SubjectCounts};
use super::trial::{Trial, tried};
use super::verbs::{is_build, is_check, is_common, is_test, matters};
use crate::suggest::claim::{Bounds, Claim, Suggestion};
use rulestep_base::session::Session;

/// Factor for the number of sessions needed to believe that something never happens.
const NEVER: u64 = 3;
/// Rules about one action, of each sort.
const OF_ONE: usize = 2;
/// Checks that one rule names at most.
const CHECKS_OF_ONE: usize = 4;
/// Candidates that are tried at most.
const TRIED: usize = 64;
/// For one stopped call with unknown effects, a rule allows at least this number.
const UNSURE: u64 = 4;
/// Suggestions at most, so that rules about tools have room.
const MOST: usize = 8;

/// The rules worth trying, those about one action together.
pub fn candidates(seen: &Observations, bounds: &Bounds) -> Vec<ActionRule> {
    let mut found = Vec::new();
    for (then, counts) in &seen.subjects {
        if counts.sessions < bounds.support {
            continue;
        }
        found.extend(needs(seen, then, counts, bounds));
        if let Some(own) = seen.actions.get(then)
            && own.repeated <= bounds.against
            && own.sessions >= NEVER * bounds.support
        {
            found.push(ActionRule::Once(then.clone()));
        }
        let others = counts.with.iter().filter(|(trigger, both)| {
            let pair = ((*trigger).clone(), then.clone());
            matters(trigger)
                && trigger.program() != then.program()
                && **both >= NEVER * bounds.support
                && seen.after.get(&pair).copied().unwrap_or_default() <= bounds.against
        });
        found.extend(others.take(OF_ONE).map(|(trigger, _)| ActionRule::NeverAfter {
            trigger: trigger.clone(),
            forbidden: then.clone(),
        }));
    }
    let writers = seen.writers.iter().filter(|(_, sessions)| **sessions >= bounds.support);
    found.extend(writers.map(|(tool, _)| ActionRule::KnownFiles(Arc::clone(tool))));
    for (rule, sessions) in [
        (ActionRule::DeletesInside, seen.deletes),
        (ActionRule::WritesInside, seen.writes),
        (ActionRule::SecretsStay, seen.secrets),
    ] {
        found.extend((sessions >= NEVER * bounds.support).then_some(rule));
    }
    found.sort_by_key(place);
    found.truncate(TRIED);
    found
}

/// The actions that always precede an action: a test before another check, a check before anything else; if no single
/// check always does, several of which one does.
fn needs(seen: &Observations, then: &Action, counts: &SubjectCounts, bounds: &Bounds) -> Vec<ActionRule> {
    let misses = |had: u64| counts.calls.saturating_sub(had);
    let mut firsts: Vec<&Action> = counts
        .had
        .iter()
        .filter(|(first, had)| {
            *first != then && misses(**had) <= bounds.against && tells(seen, then, counts, first, bounds)
        })
        .map(|(first, _)| first)
        .collect();
    let sessions = |action: &Action| seen.actions.get(action).map_or(0, |counts| counts.sessions);
    firsts.sort_by_key(|first| (!is_test(first), !is_check(first), sessions(first), (*first).clone()));
    let alone = firsts.iter().any(|first| is_check(first));
    if alone {
        firsts.retain(|first| is_check(first) || matters(first));
    }
    if firsts.iter().any(|first| is_test(first)) {
        firsts.retain(|first| is_test(first) || !is_build(first));
    }
    let mut found: Vec<Vec<Action>> =
        firsts.into_iter().take(OF_ONE).map(|first| vec![first.clone()]).collect();
    if !alone {
        found.extend(union(counts, bounds, &is_test).or_else(|| union(counts, bounds, &is_check)));
    }
    found.into_iter().map(|first| ActionRule::Needs { then: then.clone(), first }).collect()
}

/// Whether "X before Y" is informative: X is a check, or rare in sessions without Y.
fn tells(
    seen: &Observations,
    then: &Action,
    counts: &SubjectCounts,
    first: &Action,
    bounds: &Bounds,
) -> bool {
    if is_check(first) {
        return true;
    }
    if is_common(first) || first.program() == then.program() {
        return false;
    }
    let others = seen.sessions.saturating_sub(counts.sessions);
    let all = seen.actions.get(first).map_or(0, |counts| counts.sessions);
    let with = counts.with.get(first).copied().unwrap_or_default();
    others >= bounds.support && all.saturating_sub(with) * 2 <= others
}

/// A few checks of which one always preceded it.
fn union(counts: &SubjectCounts, bounds: &Bounds, fits: &dyn Fn(&Action) -> bool) -> Option<Vec<Action>> {
    let mut open: Vec<(&BTreeSet<Action>, u64)> =
        counts.checks.iter().map(|(set, times)| (set, *times)).collect();
    let mut chosen: Vec<Action> = Vec::new();
    while chosen.len() < CHECKS_OF_ONE {
        let mut gains: BTreeMap<&Action, u64> = BTreeMap::new();
        for (set, times) in &open {
            set.iter().filter(|one| fits(one)).for_each(|one| *gains.entry(one).or_default() += times);
        }
        let Some((best, _)) = gains.into_iter().max_by_key(|(one, gain)| (*gain, Reverse(*one))) else {
            break;
        };
        open.retain(|(set, _)| !set.contains(best));
        chosen.push(best.clone());
    }
    let rest = open.iter().map(|(_, times)| times).sum::<u64>() + counts.other_checks;
    chosen.sort();
    (chosen.len() > 1 && rest <= bounds.against).then_some(chosen)
}

/// The most informative comes first: a condition of one action, then rules about all files, then actions that only
/// never happened.
pub fn place(rule: &ActionRule) -> u8 {
    match rule {
        ActionRule::Needs { first, .. } => {
            if first.iter().all(is_check) {
                0
            } else {
                3
            }
        }
        ActionRule::KnownFiles(_) => 1,
        ActionRule::DeletesInside | ActionRule::WritesInside | ActionRule::SecretsStay => 3,
        ActionRule::NeverAfter { .. } => 4,
        ActionRule::Once(_) => 5,
    }
}

/// The candidates that hold and that nothing better implies, the best first.
pub fn suggestions(
    candidates: &[ActionRule],
    sessions: &[Arc<Session>],
    bounds: &Bounds,
    tools: &[Suggestion],
) -> Vec<ActionSuggestion> {
    let mut held = tried(candidates, sessions);
    held.retain(|trial| {
        let least = match trial.rule {
            ActionRule::Needs { .. } | ActionRule::KnownFiles(_) => bounds.support,
            _ => NEVER * bounds.support,
        };
        let few = trial.unsure <= bounds.against.max(trial.calls / UNSURE);
        trial.against <= bounds.against && few && trial.sessions >= least
    });
    let rules: Vec<ActionRule> = held.iter().map(|trial| trial.rule.clone()).collect();
    held.retain(|trial| !is_implied(&trial.rule, &rules, tools));
    let tests =
        |rule: &ActionRule| matches!(rule, ActionRule::Needs { first, .. } if first.iter().all(is_test));
    held.sort_by_key(|trial| {
        (place(&trial.rule), Reverse(trial.calls), !tests(&trial.rule), trial.rule.clone())
    });
    held.truncate(MOST);
    let suggestion = |Trial { rule, calls, sessions, against, unsure, extent }| ActionSuggestion {
        rule,
        calls,
        sessions,
        against,
        unsure,
        extent,
    };
    held.into_iter().map(suggestion).collect()
}

/// Whether other suggestions say it already.
fn is_implied(rule: &ActionRule, all: &[ActionRule], tools: &[Suggestion]) -> bool {
    match rule {
        // A needed action may be needed through another one.
        ActionRule::Needs { then, first } => all.iter().any(|between| match between {
            ActionRule::Needs { then: middle, first: needed } if needed == first && middle != then => {
                all.contains(&ActionRule::Needs { then: then.clone(), first: vec![middle.clone()] })
            }
            _ => false,
        }),
        // An action that needs the other first never comes before it, and never follows it.
        ActionRule::NeverAfter { trigger, forbidden } => {
            all.contains(&ActionRule::Needs { then: trigger.clone(), first: vec![forbidden.clone()] })
        }
        // A rule about the tools names the file as well, and the tool that showed it.
        ActionRule::KnownFiles(tool) => tools.iter().any(|suggestion| {
            let shares = matches!(&suggestion.claim, Claim::Needs(need) if need.shared.is_some());
            shares && suggestion.against == 0 && suggestion.tools.contains(tool)
        }),
        _ => false,
    }
}
