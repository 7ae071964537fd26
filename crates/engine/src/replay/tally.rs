//! What increments the counters of a session, its status, and where decisions and recording part.

use serde::Serialize;

use super::Counts;
use crate::monitor::finding::{RuleOutcome, RuleState};
use crate::run::{Decision, Mode, Verdict};
use rulestep_base::session::{Call, CallRef, Outcome, Session};

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
    mode: Mode,
    summary: Counts,
    /// Allowed calls that a rule reports, be it one that is not enforced.
    pub reported: u64,
    pub frontier: Option<CallRef>,
    halted: bool,
}

impl Tally {
    pub fn new(mode: Mode, session: &Session) -> Tally {
        let summary = Counts { sessions: 1, turns: session.turns.len() as u64, ..Counts::default() };
        Tally { mode, summary, reported: 0, frontier: None, halted: false }
    }

    /// The counts of the whole session, and its status, once its rules are decided.
    pub fn end(&self, rules: &[RuleState]) -> (Counts, Status) {
        let mut summary = self.summary;
        for state in rules.iter().filter(|state| state.outcome == RuleOutcome::Violated && !state.copied) {
            *if state.enforced { &mut summary.violated_rules } else { &mut summary.unenforced_rules } += 1;
        }
        summary.objected = summary.objects().into();
        let is_idle = |rule: &RuleState| rule.outcome == RuleOutcome::NotExercised;
        let status = if self.mode == Mode::Enforce && summary.stops() {
            Status::Stopped
        } else if summary.violated_rules > 0 {
            Status::Fail
        } else if !rules.is_empty() && !summary.stops() && rules.iter().all(is_idle) {
            Status::NotExercised
        } else {
            Status::Pass
        };
        (summary, status)
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
        self.summary.alternatives_stopped += u64::from(verdict.stops());
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
        self.reported += u64::from(decision.reports());
        match verdict {
            Verdict::Allow => summary.allow += 1,
            Verdict::Ask => summary.ask += 1,
            Verdict::Deny => summary.deny += 1,
            Verdict::Halt => summary.halt += 1,
            Verdict::NotReached => summary.not_reached += 1,
        }
        summary.would_stop += u64::from(decision.would_stop());
        summary.reported += u64::from(decision.only_reports());
        summary.disagree += u64::from(!agrees);
        summary.deny_counterfactual += u64::from(verdict.stops() && counterfactual);
        (agrees, counterfactual)
    }
}
