//! A gate's live decision about a call, beside that of the current policy.

use super::{decided, line};
use crate::compare::{Kind, live};
use rulestep_base::session::{Call, LiveDecision};
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::{DecidedCall, Replay};
use rulestep_engine::run::Mode;

/// Digits of a digest that identify policies.
const DIGITS: usize = 8;

/// A live decision about a call, in parts.
pub struct LiveWords {
    /// `denied (prior_tool_missing)`; in shadow mode `would be denied (…)`.
    pub verdict: String,
    /// `by policy 44aa0c21, enforce`.
    pub by: String,
    /// The difference now.
    pub change: Option<Kind>,
}

impl LiveWords {
    /// For a call that a gate decided.
    pub fn of(call: &Call, judged: &DecidedCall, policy: &Policy) -> Option<LiveWords> {
        let live = call.live.as_deref()?;
        let same = *live.policy == **policy.digest();
        let digest = live.policy.strip_prefix("sha256:").unwrap_or(&live.policy);
        let digest: String = digest.chars().take(DIGITS).collect();
        let by = if same { "this policy".to_owned() } else { format!("policy {}", line(&digest)) };
        let stale =
            if live.policy_fault.is_some() { ", which did not load, so its last good version" } else { "" };
        Some(LiveWords {
            verdict: verdict(live),
            by: format!("by {by}{stale}, {}", live.mode()),
            change: live::kind(live, &judged.decision, policy.rules()),
        })
    }

    /// The whole sentence: `denied (prior_tool_missing) by policy 44aa0c21, enforce; now: newly allowed`.
    pub fn sentence(&self) -> String {
        let changed = self.changed().map(|changed| format!("; now: {changed}")).unwrap_or_default();
        format!("{} {}{changed}", self.verdict, self.by)
    }

    /// The difference now, in words: `newly allowed`.
    pub fn changed(&self) -> Option<String> {
        self.change.map(|kind| kind.word().replace('_', " "))
    }
}

/// The verdict, with the code of the deciding finding.
pub fn verdict(live: &LiveDecision) -> String {
    let mode = if live.shadow { Mode::Shadow } else { Mode::Enforce };
    let word = decided(live.verdict, mode);
    match live.findings().next() {
        Some(finding) => format!("{word} ({})", line(finding.code)),
        None => word.to_owned(),
    }
}

/// Whether something else was decided live about a call than is decided now.
pub fn differs(call: &Call, judged: &DecidedCall, replay: &Replay) -> bool {
    call.live
        .as_deref()
        .is_some_and(|live| live::kind(live, &judged.decision, replay.policy().rules()).is_some())
}
