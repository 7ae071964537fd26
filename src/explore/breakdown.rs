//! Stopped calls, violated session rules and findings that stop nothing, counted by a common property.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use super::occurrence::{Extent, Occurrence, Place, violations};
use rulestep_base::diagnostic::Code;
use rulestep_base::merge::is_zero;
use rulestep_base::merged;
use rulestep_engine::monitor::{Effect, Finding, RuleId};
use rulestep_engine::replay::{Replay, category};
use rulestep_engine::run::{Decision, Verdict};

/// The property by which findings are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The rule that decided, or is violated.
    Rule,
    /// The tool that was called; every called tool has a row.
    Tool,
    /// The code of the finding.
    Code,
    /// The category of the rule's own reason: `security` of `security:exfiltration`.
    Reason,
    /// The session; every session has a row.
    Session,
}

impl By {
    /// All properties, the most useful first.
    pub const ALL: [By; 5] = [By::Rule, By::Tool, By::Code, By::Reason, By::Session];

    /// The word of the command line and the JSON output.
    pub fn word(self) -> &'static str {
        match self {
            By::Rule => "rule",
            By::Tool => "tool",
            By::Code => "code",
            By::Reason => "reason",
            By::Session => "session",
        }
    }

    /// Its meaning, for people.
    pub fn meaning(self) -> &'static str {
        match self {
            By::Rule => "The rule that decides or is violated",
            By::Tool => "The tool; every called tool has a row",
            By::Code => "The code of the finding, such as `resource_unmatched`",
            By::Reason => {
                "The part before `:` of the rule's own reason, such as `security` of `security:exfiltration`; calls without one are left out"
            }
            By::Session => "The session; every session has a row",
        }
    }
}

/// The common property of a row's findings.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// A rule of the policy.
    Rule(RuleId),
    /// A code.
    Code(Code),
    /// A tool or a category of reasons.
    Name(Arc<str>),
    /// A session: the file that it was read from, its place in it, its id.
    Session(Arc<str>, usize, Arc<str>),
}

merged! {
    /// One row.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
    pub struct Count {
        /// Calls: of a rule, a code or a reason those that it stopped, of a tool or a session all.
        pub calls: u64,
        /// Calls that were denied or halted.
        pub stopped: u64,
        /// Of these, the counterfactual ones.
        pub counterfactual: u64,
        /// Session rules that are violated.
        pub violated: u64,
        /// Calls that a person is asked about.
        #[serde(skip_serializing_if = "is_zero")]
        pub asked: u64,
        /// Allowed calls that a rule in shadow mode would have stopped or asked about.
        #[serde(skip_serializing_if = "is_zero")]
        pub would_stop: u64,
        /// Allowed calls that a rule reports.
        #[serde(skip_serializing_if = "is_zero")]
        pub reported: u64,
        /// Violated session rules that only report, are in shadow mode, or were violated by calls that a person was asked
        /// about.
        #[serde(skip_serializing_if = "is_zero")]
        pub unenforced: u64,
        /// Sessions with any of this.
        pub sessions: u64,
        /// The first and the last stopped call or violated rule.
        #[serde(flatten)]
        pub extent: Extent,
    }

    /// The rows, by key.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub struct Breakdown {
        /// The rows.
        pub rows: BTreeMap<Key, Count>,
        /// Stopped calls of choices that were not taken, which are in no row.
        pub alternatives_stopped: u64,
        /// Stopped calls that have no rule, code or reason to be counted by, and so are in no row.
        pub unkeyed: u64,
    }
}

impl Breakdown {
    /// For one session.
    pub fn of(replay: &Replay, by: By) -> Breakdown {
        let (mut rows, mut unkeyed): (BTreeMap<Key, Count>, u64) = (BTreeMap::new(), 0);
        let session = replay.session();
        let whole =
            || Key::Session(Arc::clone(&session.origin.file), session.origin.index, Arc::clone(&session.id));
        if by == By::Session {
            rows.insert(whole(), Count::default());
        }
        for (call, judged) in replay.made() {
            let decision = &judged.decision;
            let key_of = |finding: Option<&Finding>| match by {
                By::Tool => Some(Key::Name(Arc::clone(&call.tool))),
                By::Session => Some(whole()),
                By::Rule => finding.map(|finding| Key::Rule(finding.rule)),
                By::Code => finding.map(|finding| Key::Code(finding.code)),
                By::Reason => finding
                    .and_then(|finding| finding.reason.as_deref())
                    .map(|reason| Key::Name(category(reason).into())),
            };
            for (key, what) in unstopped(decision, key_of) {
                let row = rows.entry(key).or_default();
                match what {
                    Unstopped::Asked => row.asked += 1,
                    Unstopped::WouldStop => row.would_stop += 1,
                    Unstopped::Reported => row.reported += 1,
                }
            }
            let Some(key) = key_of(decision.deciding().filter(|_| decision.verdict.stops())) else {
                unkeyed += u64::from(decision.verdict.stops());
                continue;
            };
            let row = rows.entry(key).or_default();
            row.calls += 1;
            if decision.verdict.stops() {
                row.stopped += 1;
                row.counterfactual += u64::from(judged.counterfactual);
                row.extent.add(Occurrence::of(session, Place::Call(call.at)));
            }
        }
        for (state, call, occurrence) in violations(replay) {
            let key = match by {
                By::Rule => Some(Key::Rule(state.rule)),
                By::Code => state.code.map(Key::Code),
                By::Session => Some(whole()),
                By::Tool => call.map(|call| Key::Name(Arc::clone(&call.tool))),
                By::Reason => None,
            };
            let Some(key) = key else { continue };
            let row = rows.entry(key).or_default();
            if state.enforced {
                row.violated += 1;
                row.extent.add(occurrence);
            } else {
                row.unenforced += 1;
            }
        }
        rows.values_mut().for_each(|row| row.sessions = 1);
        Breakdown { rows, alternatives_stopped: replay.summary().alternatives_stopped, unkeyed }
    }

    /// The rows, those with the most findings first.
    pub fn sorted(&self) -> Vec<(&Key, &Count)> {
        let mut rows: Vec<(&Key, &Count)> = self.rows.iter().collect();
        let lesser = |row: &Count| row.asked + row.would_stop + row.reported + row.unenforced;
        rows.sort_by_key(|(_, row)| Reverse((row.stopped + row.violated, row.calls, lesser(row))));
        rows
    }
}

/// A finding about a call that may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Unstopped {
    Asked,
    WouldStop,
    Reported,
}

/// The findings about a call that may run, each kind once for each key.
fn unstopped(
    decision: &Decision,
    key_of: impl Fn(Option<&Finding>) -> Option<Key>,
) -> BTreeSet<(Key, Unstopped)> {
    let deciding = decision.deciding().map(|finding| finding.rule);
    let found = decision.findings.iter().filter(|_| decision.verdict.may_run()).filter_map(|finding| {
        let what = match finding.effect {
            _ if finding.would.is_some() => Unstopped::WouldStop,
            Effect::Ask if deciding == Some(finding.rule) => Unstopped::Asked,
            Effect::Report if decision.verdict == Verdict::Allow => Unstopped::Reported,
            _ => return None,
        };
        Some((key_of(Some(finding))?, what))
    });
    found.collect()
}
