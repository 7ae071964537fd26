//! The decisions about a session as lists, jumps and counts of many sessions need them: small enough to be kept for all
//! of them, while the replay is made again for a session on screen.

use std::sync::Arc;

use super::verdict::{SessionVerdict, violations};
use crate::compare::ChangePlace;
use crate::explore::rows::{RowDecisions, states};
use crate::report::notices;
use crate::report::words;
use crate::stored::StoredSession;
use rulestep_base::diagnostic::{Code, Diagnostic};
use rulestep_engine::monitor::{Effect, RuleId};
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::{DecidedCall, Replay};
use rulestep_engine::run::Mode;

/// The decisions about a session.
pub struct Judgement {
    /// The request.
    pub generation: u64,
    /// The session that was judged.
    pub of: Arc<StoredSession>,
    /// The version that decided.
    pub policy: Arc<Policy>,
    /// Whether its decisions took effect.
    pub mode: Mode,
    /// Its verdict.
    pub verdict: SessionVerdict,
    /// The calls that are stopped or reported: those of the session, then those of choices that were not taken.
    pub marks: Box<[CallMark]>,
    /// The findings, in the order of the turns.
    pub findings: Box<[CallFinding]>,
    /// Violated session rules that are not already represented by a stopped call.
    pub violations: Box<[Violation]>,
    /// The policy's diagnostics about the recording.
    pub notices: Box<[Diagnostic]>,
}

/// All that lists need of the decisions on a session, found by the thread that decided it.
pub struct SessionDecisions {
    /// The decisions.
    pub judgement: Judgement,
    /// The same for its row.
    pub row: RowDecisions,
    /// Every decision, if it is to stay in memory.
    pub replay: Option<Arc<Replay>>,
}

impl SessionDecisions {
    /// For a session that was judged in this request. If it may leave memory, its replay does at once, unless it is on
    /// screen.
    pub fn of(generation: u64, session: &Arc<StoredSession>, replay: Arc<Replay>, looked_at: bool) -> Self {
        let judgement = Judgement::of(generation, Arc::clone(session), &replay);
        let row = RowDecisions::of(&replay);
        Self { judgement, row, replay: Some(replay).filter(|_| looked_at || !session.may_leave()) }
    }
}

/// A call that is stopped or reported.
#[derive(Debug, Clone, Copy)]
pub struct CallMark {
    /// The call.
    pub at: ChangePlace,
    /// It does not run.
    pub stops: bool,
    /// It runs, and a rule reports it.
    pub reports: bool,
}

/// A rule's finding about a call.
pub struct CallFinding {
    /// The call.
    pub at: ChangePlace,
    /// Its tool.
    pub tool: Arc<str>,
    /// The rule.
    pub rule: RuleId,
    /// Its code.
    pub code: Code,
    /// Its effect.
    pub effect: Effect,
    /// The rule's reason.
    pub reason: Option<Arc<str>>,
    /// The states that the call is in, a bit each.
    pub states: u16,
    /// Whether it comes after the divergence from the recording.
    pub counterfactual: bool,
}

/// A violated rule about the session.
pub struct Violation {
    /// The rule.
    pub rule: RuleId,
    /// Its code.
    pub code: Option<Code>,
    /// Whether the session fails for it.
    pub enforced: bool,
    /// The headline, in a line.
    pub headline: Box<str>,
}

impl Judgement {
    /// For a session that was judged in this request.
    pub fn of(generation: u64, session: Arc<StoredSession>, replay: &Replay) -> Judgement {
        let content = replay.session();
        let (mut marks, mut findings) = (Vec::new(), Vec::new());
        let mut add = |at: ChangePlace, tool: &Arc<str>, judged: &DecidedCall, states: u16| {
            let (stops, reports) = (judged.decision.verdict.stops(), judged.decision.reports());
            if stops || reports {
                marks.push(CallMark { at, stops, reports });
            }
            findings.extend(judged.decision.findings.iter().map(|finding| CallFinding {
                at,
                tool: Arc::clone(tool),
                rule: finding.rule,
                code: finding.code,
                effect: finding.effect,
                reason: finding.reason.clone(),
                states,
                counterfactual: judged.counterfactual,
            }));
        };
        for (call, judged) in replay.made() {
            add(ChangePlace::Call(call.at), &call.tool, judged, states(Some(call), judged));
        }
        for other in replay.alternatives(None) {
            let states = states(None, other.judged);
            add(ChangePlace::Alternative(other.at()), &other.call.tool, other.judged, states);
        }
        if !content.alternatives.is_empty() {
            // Stable: in a turn, calls that were taken come first.
            findings.sort_by_key(|finding| finding.at.turn());
        }
        let violation = |state: &rulestep_engine::monitor::finding::RuleState| {
            let headline = words::violation(state, replay).map(|violation| violation.headline.to_string());
            Violation {
                rule: state.rule,
                code: state.code,
                enforced: state.enforced,
                headline: headline.unwrap_or_default().into(),
            }
        };
        Judgement {
            generation,
            of: session,
            policy: Arc::clone(replay.policy()),
            mode: replay.mode(),
            verdict: SessionVerdict::of(replay),
            marks: marks.into(),
            findings: findings.into(),
            violations: violations(replay).map(violation).collect(),
            notices: notices(content, replay.policy()).into(),
        }
    }
}
