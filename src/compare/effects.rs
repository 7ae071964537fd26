//! Rules that an edit added, changed or removed, and what they match: an edit that changes nothing is easily taken for
//! one that works.

use std::collections::{BTreeMap, BTreeSet};

use super::{AlteredRule, Comparison, RuleAt, SessionDiff, Side};
use rulestep_engine::monitor::{Effect, RuleId};
use rulestep_engine::replay::Replay;

/// The matches of a rule in its version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matches {
    /// Calls that it objects to.
    pub calls: u64,
    /// Of these, the ones that it decides.
    pub decided: u64,
    /// The others, by the rule of the same version that decides.
    pub by: BTreeMap<RuleId, u64>,
    /// Calls that it only reports.
    pub reported: u64,
    /// Sessions that violate it.
    pub violated: u64,
}

/// The matches of edited rules, and which of these rules any change is about.
#[derive(Debug, Clone, Default)]
pub struct Effects {
    matches: BTreeMap<RuleAt, Matches>,
    effective: BTreeSet<RuleAt>,
}

impl Effects {
    /// For one session.
    pub fn of(compared: &SessionDiff, comparison: &Comparison) -> Effects {
        let mut effects = Effects::default();
        let altered: BTreeSet<RuleAt> = comparison.altered().iter().map(|altered| altered.at).collect();
        if altered.is_empty() {
            return effects;
        }
        for change in compared.changes() {
            for side in [Side::Base, Side::New] {
                effects.effective.extend(change.stand(side).rule.map(|rule| RuleAt { side, rule }));
            }
        }
        for side in [Side::Base, Side::New] {
            if let Some(replay) = compared.replay(side) {
                effects.side(side, replay, &altered);
            }
        }
        effects
    }

    fn side(&mut self, side: Side, replay: &Replay, altered: &BTreeSet<RuleAt>) {
        for (_, judged) in replay.made() {
            let deciding = judged.decision.deciding().map(|finding| finding.rule);
            for finding in &judged.decision.findings {
                let at = RuleAt { side, rule: finding.rule };
                if !altered.contains(&at) {
                    continue;
                }
                let matches = self.matches.entry(at).or_default();
                if finding.effect == Effect::Report {
                    matches.reported += 1;
                    continue;
                }
                matches.calls += 1;
                match deciding {
                    Some(rule) if rule != finding.rule => *matches.by.entry(rule).or_default() += 1,
                    _ => matches.decided += 1,
                }
            }
        }
        for state in replay.rules().iter().filter(|state| state.is_violated()) {
            let at = RuleAt { side, rule: state.rule };
            if altered.contains(&at) {
                self.matches.entry(at).or_default().violated += 1;
            }
        }
    }

    /// Takes those of another session in.
    pub fn merge(&mut self, other: &Effects) {
        self.effective.extend(&other.effective);
        for (at, more) in &other.matches {
            let matches = self.matches.entry(*at).or_default();
            matches.calls += more.calls;
            matches.decided += more.decided;
            matches.reported += more.reported;
            matches.violated += more.violated;
            for (rule, count) in &more.by {
                *matches.by.entry(*rule).or_default() += count;
            }
        }
    }

    /// The altered rules without any change of a result, and what they match.
    pub fn without(&self, comparison: &Comparison) -> Vec<(AlteredRule, Matches)> {
        let partner = |at: RuleAt| {
            let rule = comparison.rules().in_base(at.rule).filter(|_| at.side == Side::New)?;
            Some(RuleAt { side: Side::Base, rule })
        };
        let idle = comparison.altered().iter().filter(|altered| {
            !self.effective.contains(&altered.at)
                && partner(altered.at).is_none_or(|base| !self.effective.contains(&base))
        });
        idle.map(|altered| (*altered, self.matches.get(&altered.at).cloned().unwrap_or_default())).collect()
    }
}
