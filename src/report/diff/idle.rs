//! Altered rules that change nothing, in words and as data.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{DiffResult, View};
use crate::compare::{AlteredRule, Matches};
use crate::report::mergeable::rows;
use crate::report::words;
use rulestep_engine::monitor::Rule;
use rulestep_engine::monitor::rule::RulePlace;
use rulestep_engine::run::Mode;

/// Rules that are named among those that decide in their stead.
const NAMED: usize = 3;

/// An altered rule that no change is about.
pub struct Idle<'a> {
    /// What was done to it.
    pub altered: AlteredRule,
    /// The rule.
    pub rule: &'a Rule,
    matches: Matches,
}

/// All of them.
pub fn all<'a>(whole: &DiffResult, view: &View<'a>) -> Vec<Idle<'a>> {
    let idle = whole.effects.without(view.comparison).into_iter();
    let idle = idle.filter_map(|(altered, matches)| {
        let rule = view.comparison.side(altered.at.side)?.rules().get(altered.at.rule)?;
        Some(Idle { altered, rule, matches })
    });
    idle.collect()
}

impl Idle<'_> {
    /// `5 calls match, all stopped by shell.yaml:8 already`.
    pub fn why(&self, view: &View<'_>) -> String {
        let Matches { calls, decided, by, reported, violated } = &self.matches;
        let counted = words::count(*calls, "call");
        let matching = if *calls == 1 { "matches" } else { "match" };
        let already = if view.mode == Mode::Shadow { "decided" } else { "stopped" };
        let place = |rule| view.comparison.side(self.altered.at.side)?.rules().get(rule).map(Rule::place);
        let mut deciding: Vec<(u64, String)> =
            by.iter().filter_map(|(rule, count)| Some((*count, place(*rule)?))).collect();
        deciding.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let rest = deciding.len().saturating_sub(NAMED);
        let names = deciding.iter().take(NAMED).map(|(_, place)| place.clone());
        let others = (rest > 0).then(|| words::count(rest as u64, "other rule"));
        let names = words::list(names.chain(others));
        match (calls, decided, violated) {
            (0, _, _) if *reported > 0 => format!("reports {}, as before", words::count(*reported, "call")),
            (0, _, 0) => "no call matches".to_owned(),
            (0, _, violated) => format!("violated in {}, as before", words::count(*violated, "session")),
            (_, 0, _) if *calls == 1 => format!("1 call matches, {already} by {names} already"),
            (_, 0, _) => format!("{counted} {matching}, all {already} by {names} already"),
            (_, decided, _) if decided == calls => format!("{counted} {matching}, decided as before"),
            (_, decided, _) => {
                let decided = words::thousands(*decided);
                format!(
                    "{counted} {matching}: {decided} decided as before, the others {already} by {names} already"
                )
            }
        }
    }
}

/// One of them, as data.
#[derive(Serialize, Deserialize)]
pub struct IdleLine {
    rule: String,
    name: String,
    source: RulePlace,
    fate: String,
    calls: u64,
    decided: u64,
    by: Vec<ByLine>,
    reported: u64,
    violated: u64,
}

#[derive(Serialize, Deserialize)]
struct ByLine {
    rule: String,
    calls: u64,
}

/// All of them, as data.
pub fn lines(whole: &DiffResult, view: &View<'_>) -> Vec<IdleLine> {
    let line = |idle: Idle<'_>| {
        let rules = view.comparison.side(idle.altered.at.side).map(|policy| policy.rules());
        let by = idle.matches.by.iter();
        let by = by.filter_map(|(rule, calls)| {
            Some(ByLine { rule: rules?.get(*rule)?.id.to_string(), calls: *calls })
        });
        let mut by: Vec<ByLine> = by.collect();
        by.sort_by(|a, b| a.rule.cmp(&b.rule));
        IdleLine {
            rule: idle.rule.id.to_string(),
            name: words::rule_name(idle.rule),
            source: RulePlace::of(idle.rule),
            fate: idle.altered.fate.word().to_owned(),
            calls: idle.matches.calls,
            decided: idle.matches.decided,
            by,
            reported: idle.matches.reported,
            violated: idle.matches.violated,
        }
    };
    all(whole, view).into_iter().map(line).collect()
}

/// A rule has no effect on all sessions where it has none on either part of them.
pub fn merge(lines: &mut Vec<IdleLine>, other: Vec<IdleLine>) {
    let mut others: HashMap<(String, String), IdleLine> =
        other.into_iter().map(|line| ((line.rule.clone(), line.fate.clone()), line)).collect();
    lines.retain_mut(|line| {
        let Some(more) = others.remove(&(line.rule.clone(), line.fate.clone())) else { return false };
        line.calls += more.calls;
        line.decided += more.decided;
        line.reported += more.reported;
        line.violated += more.violated;
        rows(&mut line.by, more.by, |by| by.rule.clone(), |by, more| by.calls += more.calls);
        line.by.sort_by(|a, b| a.rule.cmp(&b.rule));
        true
    });
}
