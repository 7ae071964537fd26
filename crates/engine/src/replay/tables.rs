//! Counts of judged sessions by rule, code, reason and tool.
//!
//! A table takes no more room than there are rules, except by tool: those names come from recordings, so beyond
//! `MOST_TOOLS` they are counted together.

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::dialect;
use crate::monitor::finding::{RuleOutcome, RuleState};
use crate::monitor::{Effect, Finding, RuleId};
use crate::run::{Decision, Verdict};
use rulestep_base::diagnostic::Code;
use rulestep_base::merge::{Merge, is_zero};
use rulestep_base::merged;

use super::Replay;

/// Tools that are counted by name.
pub const MOST_TOOLS: usize = 4096;

/// Counts of one session, or of many.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tables {
    /// The rules that stopped a call, asked about one, would have or reported one, or are violated.
    pub rules: BTreeMap<RuleId, RuleCount>,
    /// Stopped calls and violated session rules, by the code that decided.
    #[serde(deserialize_with = "codes")]
    pub codes: BTreeMap<Code, u64>,
    /// Stopped calls by the category of the rule's own reason: `security` of `security:exfiltration`.
    pub reasons: BTreeMap<Arc<str>, u64>,
    /// Calls by tool.
    pub tools: BTreeMap<Arc<str>, ToolCount>,
    /// Calls of tools beyond the first 4,096 in alphabetical order.
    pub other_tools: ToolCount,
}

/// Codes by their names.
fn codes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<Code, u64>, D::Error> {
    let named = BTreeMap::<String, u64>::deserialize(deserializer)?.into_iter();
    let known = named.map(|(name, count)| Some((dialect::page(&name)?.code, count)));
    known.collect::<Option<_>>().ok_or_else(|| D::Error::custom("a code is not known"))
}

merged! {
    /// Counts of one rule.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct RuleCount {
        /// Calls that it stopped: it was the one that decided.
        pub stopped: u64,
        /// Calls that it had a person asked about.
        #[serde(default, skip_serializing_if = "is_zero")]
        pub asked: u64,
        /// Calls that it would have stopped or asked about, had it been enforced.
        #[serde(default, skip_serializing_if = "is_zero")]
        pub would_stop: u64,
        /// Calls that it reported and that nothing else kept from running.
        #[serde(default, skip_serializing_if = "is_zero")]
        pub reported: u64,
        /// Of the stopped ones, the counterfactual ones.
        pub counterfactual: u64,
        /// Times it is violated, as a rule about a session.
        pub violated: u64,
        /// Times it is violated where it only reports, or is not enforced.
        #[serde(default, skip_serializing_if = "is_zero")]
        pub unenforced: u64,
        /// Sessions in which it had any of these.
        pub sessions: u64,
    }
}

/// The calls of one session by tool, in order of first use, each with the run's data for it. A session has each name
/// once in memory, so names are compared by address.
pub(super) struct ByTool<'s, P> {
    counts: Vec<(&'s Arc<str>, P, ToolCount)>,
    /// The index of a tool by its address, once there are too many for a linear search. The session is borrowed, so an
    /// address stays that of its name.
    places: HashMap<usize, usize>,
    /// The latest lookup of each of a few groups of addresses.
    latest: [(usize, usize); GROUPS],
}

/// Groups of addresses: more than most sessions have tools.
const GROUPS: usize = 16;

impl<'s, P: Copy> ByTool<'s, P> {
    pub fn new() -> ByTool<'s, P> {
        ByTool { counts: Vec::with_capacity(GROUPS), places: HashMap::new(), latest: [(0, 0); GROUPS] }
    }

    /// The index of a tool's count, and the run's data for it, which is requested on first use.
    pub fn of(&mut self, tool: &'s Arc<str>, ask: impl FnOnce() -> P) -> (usize, P) {
        let address = Arc::as_ptr(tool).addr();
        // Names are a multiple of this apart.
        let group = address / 32 % GROUPS;
        let latest = self.latest.get(group).filter(|(latest, _)| *latest == address).copied();
        let place = latest.map_or_else(|| self.place(tool, address), |(_, place)| place);
        if let Some(latest) = self.latest.get_mut(group) {
            *latest = (address, place);
        }
        match self.counts.get(place) {
            Some((_, own, _)) => (place, *own),
            None => {
                let own = ask();
                self.counts.push((tool, own, ToolCount::default()));
                (place, own)
            }
        }
    }

    /// The index of a tool among the others, added if new.
    fn place(&mut self, tool: &Arc<str>, address: usize) -> usize {
        let next = self.counts.len();
        if next < GROUPS {
            return self.counts.iter().position(|(known, ..)| Arc::ptr_eq(known, tool)).unwrap_or(next);
        }
        if self.places.is_empty() {
            let known = self.counts.iter().enumerate();
            self.places.extend(known.map(|(place, (tool, ..))| (Arc::as_ptr(tool).addr(), place)));
        }
        *self.places.entry(address).or_insert(next)
    }

    pub fn count(&mut self, place: usize, verdict: Verdict) {
        if let Some((.., count)) = self.counts.get_mut(place) {
            count.add(verdict);
        }
    }

    pub fn end(self, tables: &mut Tables) {
        for (tool, _, count) in self.counts {
            tables.tools.entry(Arc::clone(tool)).or_default().merge(&count);
        }
    }
}

merged! {
    /// The decisions about the calls of one tool.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct ToolCount {
        /// Calls by decision.
        pub allow: u64,
        /// See `allow`.
        #[serde(default, skip_serializing_if = "is_zero")]
        pub ask: u64,
        /// See `allow`.
        pub deny: u64,
        /// See `allow`.
        pub halt: u64,
        /// See `allow`.
        pub not_reached: u64,
    }
}

impl Tables {
    /// For one session with its replay.
    pub fn of(replay: &Replay) -> Tables {
        let mut tables = Tables::default();
        for (call, judged) in replay.made() {
            tables.call(&call.tool, &judged.decision, judged.counterfactual);
        }
        tables.end(replay.rules());
        tables
    }

    /// Counts a call. Of the findings of its decision only the first is needed.
    pub(super) fn call(&mut self, tool: &Arc<str>, decision: &Decision, counterfactual: bool) {
        self.tools.entry(Arc::clone(tool)).or_default().add(decision.verdict);
        self.stopped(decision, counterfactual);
    }

    /// Counts what stopped a call, asked about it, would have or reported it.
    pub(super) fn stopped(&mut self, decision: &Decision, counterfactual: bool) {
        if decision.would_stop() {
            for finding in decision.findings.iter().filter(|finding| finding.would.is_some()) {
                self.rules.entry(finding.rule).or_default().would_stop += 1;
            }
        }
        if decision.reports() {
            let is_report = |finding: &&Finding| finding.effect == Effect::Report && finding.would.is_none();
            for finding in decision.findings.iter().filter(is_report) {
                self.rules.entry(finding.rule).or_default().reported += 1;
            }
        }
        let Some(finding) = decision.deciding() else { return };
        let rule = self.rules.entry(finding.rule).or_default();
        if !decision.verdict.stops() {
            rule.asked += 1;
            return;
        }
        rule.stopped += 1;
        rule.counterfactual += u64::from(counterfactual);
        *self.codes.entry(finding.code).or_default() += 1;
        if let Some(reason) = &finding.reason {
            let category = category(reason);
            match self.reasons.get_mut(category) {
                Some(count) => *count += 1,
                None => drop(self.reasons.insert(category.into(), 1)),
            }
        }
    }

    /// Counts the rules about the session, which ends here.
    pub(super) fn end(&mut self, rules: &[RuleState]) {
        for state in rules
            .iter()
            .filter(|state| state.outcome == RuleOutcome::Violated && !state.enforced && !state.copied)
        {
            self.rules.entry(state.rule).or_default().unenforced += 1;
        }
        for state in rules.iter().filter(|state| state.is_violated()) {
            self.rules.entry(state.rule).or_default().violated += 1;
            if let Some(code) = state.code {
                *self.codes.entry(code).or_default() += 1;
            }
        }
        self.rules.values_mut().for_each(|rule| rule.sessions = 1);
        self.other_tools.merge(&beyond_most(&mut self.tools));
    }
}

impl Tables {
    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: &Tables) {
        Merge::merge(&mut self.rules, &other.rules);
        Merge::merge(&mut self.codes, &other.codes);
        Merge::merge(&mut self.reasons, &other.reasons);
        self.other_tools.merge(&other.other_tools);
        Merge::merge(&mut self.tools, &other.tools);
        self.other_tools.merge(&beyond_most(&mut self.tools));
    }
}

/// Removes the names beyond the first `MOST_TOOLS` in alphabetical order. A name that is among the first of many
/// sessions is among the first of each of them, so the counts do not depend on the order of merging.
pub fn beyond_most<K: Ord>(tools: &mut BTreeMap<K, ToolCount>) -> ToolCount {
    let mut beyond = ToolCount::default();
    while tools.len() > MOST_TOOLS
        && let Some((_, count)) = tools.pop_last()
    {
        beyond.merge(&count);
    }
    beyond
}

impl ToolCount {
    /// All calls.
    pub fn calls(self) -> u64 {
        self.allow + self.ask + self.deny + self.halt + self.not_reached
    }

    /// Calls that a rule stopped.
    pub fn stopped(self) -> u64 {
        self.deny + self.halt
    }

    fn add(&mut self, verdict: Verdict) {
        *match verdict {
            Verdict::Allow => &mut self.allow,
            Verdict::Ask => &mut self.ask,
            Verdict::Deny => &mut self.deny,
            Verdict::Halt => &mut self.halt,
            Verdict::NotReached => &mut self.not_reached,
        } += 1;
    }
}

/// The category of a rule's own reason: `security` of `security:exfiltration`.
pub fn category(reason: &str) -> &str {
    reason.split(':').next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_the_most_are_counted_together() {
        let mut tables = Tables::default();
        for number in 0..MOST_TOOLS + 10 {
            let tool: Arc<str> = format!("t{number}").into();
            for _ in 0..2 {
                tables.call(&tool, &Decision::not_reached(), false);
            }
        }
        tables.end(&[]);
        let mut whole = Tables::default();
        whole.merge(&tables);
        whole.merge(&tables);
        assert_eq!((whole.tools.len(), whole.other_tools.not_reached), (MOST_TOOLS, 40));
        assert_eq!(whole.tools.get("t7").map(|count| count.calls()), Some(4));
    }
}
