//! Altered rules that change nothing, in words and as data.

use serde::Serialize;

use super::{DiffResult, View};
use crate::compare::{AlteredRule, Matches};
use crate::engine::Mode;
use crate::monitor::Rule;
use crate::monitor::rule::RulePlace;
use crate::report::words;

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
#[derive(Serialize)]
pub struct IdleLine<'a> {
    rule: &'a str,
    name: String,
    source: RulePlace<'a>,
    fate: &'static str,
    calls: u64,
    decided: u64,
    by: Vec<ByLine<'a>>,
    reported: u64,
    violated: u64,
}

#[derive(Serialize)]
struct ByLine<'a> {
    rule: &'a str,
    calls: u64,
}

/// All of them, as data.
pub fn lines<'a>(whole: &DiffResult, view: &View<'a>) -> Vec<IdleLine<'a>> {
    let line = |idle: Idle<'a>| {
        let rules = view.comparison.side(idle.altered.at.side).map(|policy| policy.rules());
        let by = idle.matches.by.iter();
        IdleLine {
            rule: &idle.rule.id,
            name: words::rule_name(idle.rule),
            source: RulePlace::of(idle.rule),
            fate: idle.altered.fate.word(),
            calls: idle.matches.calls,
            decided: idle.matches.decided,
            by: by
                .filter_map(|(rule, calls)| Some(ByLine { rule: &rules?.get(*rule)?.id, calls: *calls }))
                .collect(),
            reported: idle.matches.reported,
            violated: idle.matches.violated,
        }
    };
    all(whole, view).into_iter().map(line).collect()
}
