//! The result of a session: its counts, its status, and the divergence from the recording.

use serde::Serialize;

use crate::monitor::finding::{RuleOutcome, RuleState};
use crate::run::{Decision, Mode, Verdict};
use rulestep_base::session::{Call, CallRef, Outcome};

/// One call of the recording, decided.
#[derive(Debug, Clone)]
pub struct DecidedCall {
    /// The policy's decision.
    pub decision: Decision,
    /// Whether that is what the recording did.
    pub agrees: bool,
    /// The model had seen something else by then.
    pub counterfactual: bool,
}

/// The result of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Summary {
    /// Model responses.
    pub turns: u32,
    /// Proposed calls.
    pub calls: u32,
    /// Calls that a fork has as its past; none of the counts has them.
    #[serde(skip_serializing_if = "is_zero")]
    pub copied: u32,
    /// Calls by decision.
    pub allow: u32,
    /// Calls that a person is asked about.
    #[serde(skip_serializing_if = "is_zero")]
    pub ask: u32,
    /// See `allow`.
    pub deny: u32,
    /// See `allow`.
    pub halt: u32,
    /// See `allow`.
    pub not_reached: u32,
    /// Calls that are allowed or asked about, and that a rule which is not enforced would have stopped or asked about.
    #[serde(skip_serializing_if = "is_zero")]
    pub would_stop: u32,
    /// Calls that are allowed and that a rule reports, without those that a rule which is not enforced would have stopped.
    #[serde(skip_serializing_if = "is_zero")]
    pub reported: u32,
    /// Denied or halted calls beyond the frontier, which the others count as well.
    pub deny_counterfactual: u32,
    /// Calls with a decision that differs from what the recording did.
    pub disagree: u32,
    /// Calls of choices that were not taken; none of the counts above has them.
    #[serde(skip_serializing_if = "is_zero")]
    pub alternatives: u32,
    /// Those of them that are denied or halted.
    #[serde(skip_serializing_if = "is_zero")]
    pub alternatives_stopped: u32,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Summary {
    /// Whether any call was stopped, be it one of a choice that was not taken.
    pub fn stops(&self) -> bool {
        self.deny + self.halt + self.alternatives_stopped > 0
    }
}

/// Status of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// In `enforce`, a call was denied or halted, one of a choice that was not taken included.
    Stopped,
    /// A rule about the session is violated.
    Fail,
    /// There are such rules, and none had anything to decide.
    NotExercised,
    /// None of these.
    Pass,
}

impl Status {
    /// The word of the JSON output and the screen.
    pub fn word(self) -> &'static str {
        match self {
            Status::Stopped => "stopped",
            Status::Fail => "fail",
            Status::NotExercised => "not_exercised",
            Status::Pass => "pass",
        }
    }
}

/// Counts decisions and finds the frontier.
pub(super) struct Tally {
    pub mode: Mode,
    pub summary: Summary,
    /// Allowed calls that a rule reports, be it one that is not enforced.
    pub reported: u32,
    pub frontier: Option<CallRef>,
    halted: bool,
}

pub(super) fn objects(summary: &Summary, rules: &[RuleState]) -> bool {
    summary.stops() || rules.iter().any(|rule| rule.is_violated())
}

pub(super) fn status(summary: &Summary, mode: Mode, rules: &[RuleState]) -> Status {
    if mode == Mode::Enforce && summary.stops() {
        Status::Stopped
    } else if rules.iter().any(|rule| rule.is_violated()) {
        Status::Fail
    } else if !rules.is_empty()
        && !summary.stops()
        && rules.iter().all(|rule| rule.outcome == RuleOutcome::NotExercised)
    {
        Status::NotExercised
    } else {
        Status::Pass
    }
}

impl Tally {
    pub fn new(mode: Mode) -> Tally {
        Tally { mode, summary: Summary::default(), reported: 0, frontier: None, halted: false }
    }

    pub fn judge(&mut self, call: &Call, decision: Decision) -> DecidedCall {
        let (agrees, counterfactual) = self.count(call, &decision);
        DecidedCall { decision, agrees, counterfactual }
    }

    /// A call of an alternative. It ran neither then nor now, so nothing follows from it.
    pub fn judge_alternative(&mut self, turn: u32, decision: Decision) -> DecidedCall {
        let counterfactual = self.count_alternative(turn, decision.verdict);
        DecidedCall { decision, agrees: true, counterfactual }
    }

    pub fn count_alternative(&mut self, turn: u32, verdict: Verdict) -> bool {
        self.summary.alternatives += 1;
        self.summary.alternatives_stopped += u32::from(verdict.stops());
        self.is_counterfactual(turn)
    }

    /// Siblings of the frontier had been proposed already; after a halt everything later is another session.
    fn is_counterfactual(&self, turn: u32) -> bool {
        self.halted || self.frontier.is_some_and(|frontier| turn > frontier.turn)
    }

    pub fn count(&mut self, call: &Call, decision: &Decision) -> (bool, bool) {
        let verdict = decision.verdict;
        let ran_then = call.outcome != Outcome::Refused;
        // The person may have answered either way.
        let agrees = verdict == Verdict::Ask || (verdict == Verdict::Allow) == ran_then;
        let counterfactual = self.is_counterfactual(call.at.turn);
        if self.mode == Mode::Enforce {
            if !agrees && self.frontier.is_none() {
                self.frontier = Some(call.at);
            }
            self.halted |= verdict == Verdict::Halt;
        }
        let summary = &mut self.summary;
        if call.copied {
            summary.copied += 1;
            return (agrees, counterfactual);
        }
        summary.calls += 1;
        self.reported += u32::from(decision.reports());
        match verdict {
            Verdict::Allow => summary.allow += 1,
            Verdict::Ask => summary.ask += 1,
            Verdict::Deny => summary.deny += 1,
            Verdict::Halt => summary.halt += 1,
            Verdict::NotReached => summary.not_reached += 1,
        }
        summary.would_stop += u32::from(decision.would_stop());
        summary.reported += u32::from(decision.only_reports());
        summary.disagree += u32::from(!agrees);
        summary.deny_counterfactual += u32::from(verdict.stops() && counterfactual);
        (agrees, counterfactual)
    }
}
