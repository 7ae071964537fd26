//! The verdict of a session, which tables, lists and jumps share.

use rulestep_engine::monitor::finding::{RuleOutcome, RuleState};
use rulestep_engine::replay::{Replay, Status};
use rulestep_engine::run::Mode;

/// The verdict on a session: stopped calls, and rules about the session that are violated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionVerdict {
    /// Calls that are stopped, or in shadow would be.
    pub stopped: u64,
    /// The same, for calls after the divergence from the recording.
    pub after: u64,
    /// Calls that a person is asked about.
    pub asked: u64,
    /// Calls that are allowed, and that a rule reports.
    pub reported: u64,
    /// Whether one of them ends the session.
    pub halted: bool,
    /// Violated session rules that are not already represented by a stopped call.
    pub violated: u64,
    /// The same, for rules whose violation fails no session: that only report, are in shadow mode, or asked a person.
    pub unenforced: u64,
    /// Calls of choices that were not taken that are stopped.
    pub not_taken: u64,
    /// Calls whose decision differs from the recording: if nothing is stopped, calls that were refused then.
    pub disagree: u64,
    /// There are rules about the session, and none had anything to decide.
    pub not_exercised: bool,
}

impl SessionVerdict {
    /// Of a judged session.
    pub fn of(replay: &Replay) -> Self {
        let summary = replay.summary();
        let (mut violated, mut unenforced) = (0, 0);
        for state in violations(replay) {
            *if state.enforced { &mut violated } else { &mut unenforced } += 1;
        }
        Self {
            stopped: summary.deny + summary.halt - summary.deny_counterfactual,
            after: summary.deny_counterfactual,
            asked: summary.ask,
            reported: replay.reported(),
            halted: summary.halt > 0,
            violated,
            unenforced,
            not_taken: summary.alternatives_stopped,
            disagree: summary.disagree,
            not_exercised: replay.status() == Status::NotExercised,
        }
    }

    /// The number of objections: the count of `✗`.
    pub fn against(self) -> u64 {
        self.stopped.saturating_add(self.violated).saturating_add(self.not_taken)
    }

    /// Whether there are any objections: then `replay` exits with 1.
    pub fn objects(self) -> bool {
        self.against() > 0 || self.after > 0
    }
}

/// The session rules that are violated, enforced or not, except those whose call at fault is already stopped or
/// reported for it. In shadow mode a call that would be stopped ran, so the session is violated as well.
pub fn violations(replay: &Replay) -> impl Iterator<Item = &RuleState> {
    replay.rules().iter().filter(|state| {
        let at_fault = state.position.and_then(|index| replay.call(index));
        let says = at_fault.is_some_and(|judged| {
            let decision = &judged.decision;
            let stands = match state.enforced {
                true => replay.mode() == Mode::Enforce && decision.verdict.stops(),
                false => true,
            };
            stands && decision.findings.iter().any(|finding| finding.rule == state.rule)
        });
        state.outcome == RuleOutcome::Violated && !state.copied && !says
    })
}
