//! How a decided call is marked, the same in every output and in the workbench.

use crate::engine::Verdict;
use crate::replay::DecidedCall;

/// What a call is marked as. That the recording did something else is said beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// It runs.
    Allow,
    /// It runs, and a rule has something to say of it all the same.
    Report,
    /// A person is asked.
    Ask,
    /// It is stopped.
    Deny,
    /// It is stopped, and the session with it.
    Halt,
    /// It is stopped after the recording had parted from the policy.
    After,
    /// The session ended before it.
    NotReached,
}

impl Mark {
    /// Of a call. Only what is stopped is counterfactual by its mark: that an allowed call comes after one that was
    /// stopped is no reason to hide that it is allowed.
    pub fn of(decided: &DecidedCall) -> Mark {
        match decided.decision.verdict {
            Verdict::Allow if decided.decision.reports() => Mark::Report,
            Verdict::Allow => Mark::Allow,
            Verdict::Ask => Mark::Ask,
            Verdict::NotReached => Mark::NotReached,
            Verdict::Deny | Verdict::Halt if decided.counterfactual => Mark::After,
            Verdict::Deny => Mark::Deny,
            Verdict::Halt => Mark::Halt,
        }
    }

    /// Its sign.
    pub const fn sign(self) -> &'static str {
        match self {
            Mark::Allow => "✓",
            Mark::Report => "!",
            Mark::Ask => "¿",
            Mark::Deny => "✗",
            Mark::Halt => "■",
            Mark::After => "~",
            Mark::NotReached => "–",
        }
    }
}
