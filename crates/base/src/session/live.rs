//! A gate's decision about a call before it ran, as recorded in its journal. A later policy may decide differently.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::{Body, TreeSeen};

/// A decision about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It may run.
    Allow,
    /// A person is asked whether it may run.
    Ask,
    /// It does not run.
    Deny,
    /// It does not run, and the session is over.
    Halt,
    /// The session was over before.
    NotReached,
}

/// What was decided live about a call.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveDecision {
    /// The verdict.
    pub verdict: Verdict,
    /// Decided in shadow mode, so it stopped nothing.
    pub shadow: bool,
    /// Whether the agent was allowed to run the call; `None`: a person was asked.
    pub runs: Option<bool>,
    /// The findings, as the gate wrote them: a list of explanations, the deciding one first.
    pub findings: Body,
    /// What the model read instead of a result.
    pub told: Option<Arc<str>>,
    /// Digest of the policy.
    pub policy: Arc<str>,
    /// Why an earlier version of the policy decided.
    pub policy_fault: Option<Arc<str>>,
    /// The other sessions of the tree that the gate had read, if the policy looks at whole trees.
    pub tree: Option<Arc<TreeSeen>>,
    /// Duration in milliseconds.
    pub took: Option<f64>,
}

/// One finding of a [`LiveDecision`]. The policy that made it may be gone, so only what was written is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveFinding<'a> {
    /// The rule's id.
    pub rule: &'a str,
    /// The rule's name for people.
    pub name: &'a str,
    /// Its code.
    pub code: &'a str,
    /// The rule's reason.
    pub reason: Option<&'a str>,
    /// The finding's message.
    pub message: Option<&'a str>,
    /// The rule's file and line.
    pub place: Option<(&'a str, u64)>,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Verdict; 5] =
        [Verdict::Allow, Verdict::Ask, Verdict::Deny, Verdict::Halt, Verdict::NotReached];

    /// The word in JSON and on the screen.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Ask => "ask",
            Verdict::Deny => "deny",
            Verdict::Halt => "halt",
            Verdict::NotReached => "not_reached",
        }
    }

    /// Whether the call runs unless another gate stops it: `allow`, and `ask` once a person has agreed.
    pub fn may_run(self) -> bool {
        matches!(self, Verdict::Allow | Verdict::Ask)
    }

    /// Whether a rule objects to the call: `ask`, `deny` or `halt`.
    pub fn objects(self) -> bool {
        self == Verdict::Ask || self.stops()
    }

    /// Whether a rule stopped the call: `deny` or `halt`.
    pub fn stops(self) -> bool {
        matches!(self, Verdict::Deny | Verdict::Halt)
    }
}

impl LiveDecision {
    /// The mode's name.
    pub fn mode(&self) -> &'static str {
        if self.shadow { "shadow" } else { "enforce" }
    }

    /// The findings, the deciding one first.
    pub fn findings(&self) -> impl Iterator<Item = LiveFinding<'_>> {
        let list = self.findings.value().and_then(|list| list.as_array());
        list.into_iter().flatten().filter_map(|finding| {
            let text = |key: &str| finding.get(key)?.as_str();
            Some(LiveFinding {
                rule: text("rule")?,
                name: text("rule_name")?,
                code: text("code")?,
                reason: text("reason"),
                message: text("message"),
                place: finding.get("source").and_then(place),
            })
        })
    }
}

fn place(source: &Value) -> Option<(&str, u64)> {
    Some((source.get("file")?.as_str()?, source.get("line")?.as_u64()?))
}
