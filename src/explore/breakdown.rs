//! Stopped calls and violated session rules, counted by one thing that they have in common.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::occurrence::{Extent, Occurrence, Place, violations};
use crate::diagnostic::Code;
use crate::monitor::RuleId;
use crate::replay::{Replay, category};

/// What findings are counted by.
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
    /// All of them, the most wanted first.
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

    /// What it counts by, for people.
    pub fn meaning(self) -> &'static str {
        match self {
            By::Rule => "The rule that decides or is violated",
            By::Tool => "The tool; every called tool has a row",
            By::Code => "The code of the finding, such as `resource_unmatched`",
            By::Reason => {
                "The category of the reason that the rule itself gives: `security` of `security:exfiltration`"
            }
            By::Session => "The session; every session has a row",
        }
    }
}

/// What the findings of a row have in common.
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

/// One row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Count {
    /// Calls: of a rule, a code or a reason those that it stopped, of a tool or a session all.
    pub calls: u64,
    /// Calls that were denied or halted.
    pub stopped: u64,
    /// Of these, the ones that rest on what the recording is no evidence for.
    pub counterfactual: u64,
    /// Session rules that are violated.
    pub violated: u64,
    /// Sessions in which any of this happened.
    pub sessions: u64,
    /// Where calls were stopped and rules violated.
    pub extent: Extent,
}

/// The rows, by key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Breakdown {
    /// The rows.
    pub rows: BTreeMap<Key, Count>,
    /// Stopped calls of choices that were not taken, which are in no row.
    pub alternatives_stopped: u64,
}

impl Breakdown {
    /// Of one session.
    pub fn of(replay: &Replay, by: By) -> Breakdown {
        let mut rows: BTreeMap<Key, Count> = BTreeMap::new();
        let session = replay.session();
        let whole =
            || Key::Session(Arc::clone(&session.origin.file), session.origin.index, Arc::clone(&session.id));
        if by == By::Session {
            rows.insert(whole(), Count::default());
        }
        for (call, judged) in session.calls.iter().zip(replay.calls()) {
            let deciding = judged.decision.deciding().filter(|_| judged.decision.verdict.stops());
            let key = match by {
                By::Tool => Some(Key::Name(Arc::clone(&call.tool))),
                By::Session => Some(whole()),
                By::Rule => deciding.map(|finding| Key::Rule(finding.rule)),
                By::Code => deciding.map(|finding| Key::Code(finding.code)),
                By::Reason => deciding
                    .and_then(|finding| finding.reason.as_deref())
                    .map(|reason| Key::Name(category(reason).into())),
            };
            let Some(key) = key else { continue };
            let row = rows.entry(key).or_default();
            row.calls += 1;
            if judged.decision.verdict.stops() {
                row.stopped += 1;
                row.counterfactual += u64::from(judged.counterfactual);
                row.extent.add(Occurrence::of(session, Place::Call(call.at)));
            }
        }
        for (state, call, occurrence) in violations(replay).filter(|(state, ..)| state.enforced) {
            let key = match by {
                By::Rule => Some(Key::Rule(state.rule)),
                By::Code => state.code.map(Key::Code),
                By::Session => Some(whole()),
                By::Tool => call.map(|call| Key::Name(Arc::clone(&call.tool))),
                By::Reason => None,
            };
            let Some(key) = key else { continue };
            let row = rows.entry(key).or_default();
            row.violated += 1;
            row.extent.add(occurrence);
        }
        rows.values_mut().for_each(|row| row.sessions = 1);
        Breakdown { rows, alternatives_stopped: replay.summary().alternatives_stopped.into() }
    }

    /// Adds what was counted of later sessions.
    pub fn merge(&mut self, later: &Breakdown) {
        self.alternatives_stopped += later.alternatives_stopped;
        for (key, more) in &later.rows {
            let row = self.rows.entry(key.clone()).or_default();
            row.calls += more.calls;
            row.stopped += more.stopped;
            row.counterfactual += more.counterfactual;
            row.violated += more.violated;
            row.sessions += more.sessions;
            row.extent.merge(&more.extent);
        }
    }

    /// The rows, those with the most findings first.
    pub fn sorted(&self) -> Vec<(&Key, &Count)> {
        let mut rows: Vec<(&Key, &Count)> = self.rows.iter().collect();
        rows.sort_by_key(|(_, row)| Reverse((row.stopped + row.violated, row.calls)));
        rows
    }
}
