//! How recordings exercise the rules of a version: whether each was asked, and what it answered.
//!
//! A rule that stops nothing may be satisfied by every call, or may never have been asked, because no recorded call
//! concerns it. Only the second one is a reason to doubt the rule.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::occurrence::{Extent, Occurrence, Place, violations};
use rulestep_base::merge::is_zero;
use rulestep_base::merged;
use rulestep_engine::monitor::finding::RuleOutcome;
use rulestep_engine::monitor::{Effect, Rule, RuleId};
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Decision;

merged! {
    /// How sessions exercise the rules and the tools.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Coverage {
        /// Sessions counted.
        pub sessions: u64,
        /// Their calls.
        pub calls: u64,
        /// Calls of choices that were not taken, which `calls` does not have.
        pub alternatives: u64,
        /// The rules that were asked.
        pub rules: BTreeMap<RuleId, RuleUse>,
        /// The tools that were called.
        pub tools: BTreeMap<Arc<str>, ToolUse>,
    }

    /// Counts of one rule's answers.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct RuleUse {
        /// Sessions in which it was asked about a call, or applied to the session.
        pub sessions: u64,
        /// Calls that it was asked about.
        pub calls: u64,
        /// Those of them that satisfied it.
        pub passed: u64,
        /// Calls that it stopped: it was the rule that decided.
        pub stopped: u64,
        /// Calls that it spoke against while another rule decided, that it only reports, or that it asks about.
        #[serde(rename = "also_failed")]
        pub objected: u64,
        /// Of those, the calls that were allowed.
        pub reported: u64,
        /// Of those, the calls that it had a person asked about.
        #[serde(default, skip_serializing_if = "is_zero")]
        pub asked_about: u64,
        /// Of the reported ones, those that it would have stopped or asked about if it were enforced.
        #[serde(default, skip_serializing_if = "is_zero")]
        pub would_stop: u64,
        /// Sessions that it held in, as a rule about sessions.
        pub held: u64,
        /// Sessions that violate it.
        pub violated: u64,
        /// Those of them that do not fail because of it.
        #[serde(default, skip_serializing_if = "is_zero")]
        pub unenforced: u64,
        /// Sessions that ended before it was decided.
        pub pending: u64,
        /// Calls of choices that were not taken that it was asked about; they are in no count above.
        #[serde(default, skip_serializing_if = "is_zero")]
        pub alternatives: u64,
        /// Those of them that it objected to.
        #[serde(default, skip_serializing_if = "is_zero")]
        pub alternatives_failed: u64,
        /// The first and last objection to a call or violation.
        #[serde(flatten)]
        pub extent: Extent,
    }

    /// How rules cover a tool.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct ToolUse {
        /// Its calls.
        pub calls: u64,
        /// Its calls in choices that were not taken, which are not in `calls`.
        #[serde(default, skip_serializing_if = "is_zero")]
        pub alternatives: u64,
        /// Those of both that some rule was asked about.
        pub asked: u64,
    }
}

/// How far recordings exercise a rule, the most informative first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exercise {
    /// It stopped a call or was violated.
    Fired,
    /// It was asked, and never fired.
    Passed,
    /// Nothing in the recordings concerns it.
    NeverAsked,
}

impl Exercise {
    /// The word of the JSON output.
    pub fn word(self) -> &'static str {
        match self {
            Exercise::Fired => "fired",
            Exercise::Passed => "passed",
            Exercise::NeverAsked => "never_asked",
        }
    }
}

impl RuleUse {
    /// How far it was exercised.
    pub fn exercise(&self) -> Exercise {
        match (self.fired(), self.sessions) {
            (0, 0) => Exercise::NeverAsked,
            (0, _) => Exercise::Passed,
            _ => Exercise::Fired,
        }
    }

    /// The number of its objections.
    pub fn fired(&self) -> u64 {
        self.stopped + self.violated + self.objected + self.alternatives_failed
    }

    /// Whether it only ever reported: calls, or violations that fail nothing.
    pub fn only_reports(&self) -> bool {
        self.fired() > 0 && self.fired() == self.reported + self.unenforced
    }
}

impl Coverage {
    /// For one session, replayed with its checks.
    pub fn of(replay: &Replay) -> Coverage {
        let session = replay.session();
        let mut coverage =
            Coverage { sessions: 1, calls: session.made().count() as u64, ..Coverage::default() };
        let mut asked = BTreeSet::new();
        for turn in &session.turns {
            for other in replay.alternatives(Some(turn.number)) {
                coverage.alternatives += 1;
                coverage.tool(&other.call.tool, &other.judged.decision).alternatives += 1;
                for (rule, passed) in answers(&other.judged.decision) {
                    let used = coverage.rules.entry(rule).or_default();
                    used.alternatives += 1;
                    asked.insert(rule);
                    if !passed {
                        used.alternatives_failed += 1;
                        used.extent.add(Occurrence::of(session, Place::Choice(other.at())));
                    }
                }
            }
            let decided = replay.calls().get(turn.calls.clone()).unwrap_or_default();
            let made = session.calls_of(turn).iter().zip(decided).filter(|(call, _)| !call.copied);
            for (call, judged) in made {
                coverage.tool(&call.tool, &judged.decision).calls += 1;
                let deciding = judged.decision.deciding().map(|finding| finding.rule);
                for (rule, passed) in answers(&judged.decision) {
                    let used = coverage.rules.entry(rule).or_default();
                    used.calls += 1;
                    asked.insert(rule);
                    if passed {
                        used.passed += 1;
                        continue;
                    }
                    used.extent.add(Occurrence::of(session, Place::Call(call.at)));
                    if deciding == Some(rule) && judged.decision.verdict.stops() {
                        used.stopped += 1;
                        continue;
                    }
                    let own = judged.decision.findings.iter().find(|finding| finding.rule == rule);
                    let asks = own.is_some_and(|own| own.effect == Effect::Ask);
                    used.objected += 1;
                    used.asked_about += u64::from(asks);
                    used.reported += u64::from(judged.decision.verdict.may_run() && !asks);
                    used.would_stop +=
                        u64::from(judged.decision.would_stop() && own.is_some_and(|own| own.would.is_some()));
                }
            }
        }
        for state in replay.rules().iter().filter(|state| state.outcome != RuleOutcome::NotExercised) {
            asked.insert(state.rule);
            let used = coverage.rules.entry(state.rule).or_default();
            used.held += u64::from(state.outcome == RuleOutcome::Held);
            used.pending += u64::from(state.outcome == RuleOutcome::Pending);
        }
        for (state, _, occurrence) in violations(replay) {
            let used = coverage.rules.entry(state.rule).or_default();
            used.violated += 1;
            used.unenforced += u64::from(!state.enforced);
            used.extent.add(occurrence);
        }
        for rule in asked {
            coverage.rules.entry(rule).or_default().sessions = 1;
        }
        coverage
    }

    fn tool(&mut self, tool: &Arc<str>, decision: &Decision) -> &mut ToolUse {
        let used = self.tools.entry(Arc::clone(tool)).or_default();
        used.asked += u64::from(!(decision.checks.is_empty() && decision.findings.is_empty()));
        used
    }

    /// Every rule of the policy with its counts: those that fired first, the most often first, those that were never
    /// asked last.
    pub fn of_policy<'a>(&'a self, policy: &'a Policy) -> Vec<(RuleId, &'a Rule, RuleUse)> {
        let used = |id| self.rules.get(&id).cloned().unwrap_or_default();
        let mut rules: Vec<_> = policy.rules().iter().map(|(id, rule)| (id, rule, used(id))).collect();
        rules.sort_by_key(|(id, _, used)| (used.exercise(), std::cmp::Reverse(used.fired()), *id));
        rules
    }

    /// The tools of the recordings that no rule was asked about and no rule names, the most used first.
    pub fn ungoverned<'a>(&'a self, policy: &Policy) -> Vec<(&'a Arc<str>, u64)> {
        let named: BTreeSet<&Arc<str>> =
            policy.rules().iter().flat_map(|(_, rule)| rule.tools.iter()).collect();
        let free = self.tools.iter().filter(|(tool, used)| used.asked == 0 && !named.contains(tool));
        let mut free: Vec<_> = free.map(|(tool, used)| (tool, used.calls + used.alternatives)).collect();
        free.sort_by_key(|(_, calls)| std::cmp::Reverse(*calls));
        free
    }
}

/// The rules that were asked about a call, and whether it satisfies each. A rule may check several things of one call;
/// it passes when all checks do.
fn answers(decision: &Decision) -> BTreeMap<RuleId, bool> {
    let mut passed: BTreeMap<RuleId, bool> = BTreeMap::new();
    for check in &decision.checks {
        *passed.entry(check.rule).or_insert(true) &= check.passed;
    }
    for finding in decision.findings.iter().filter(|finding| finding.effect > Effect::None) {
        passed.insert(finding.rule, false);
    }
    passed
}
