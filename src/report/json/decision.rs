//! A call's decision as data: the findings, and every check.

use serde::Serialize;
use serde_json::{Map, Value};

use super::parts::BodyJson;
use crate::compare::{self, Kind};
use rulestep_base::diagnostic::Code;
use rulestep_base::session::write::Instant;
use rulestep_base::session::{Call, CallRef, LiveDecision, Outcome, Session};
use rulestep_base::wording::Sentence;
use rulestep_engine::monitor::finding::RuleState;
use rulestep_engine::monitor::rule::RuleName;
use rulestep_engine::monitor::{Check, CheckedValue, EarlierCall, Explanation, Rules};
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::{DecidedCall, Frame, NotTaken, Replay};
use rulestep_engine::run::Verdict;

#[derive(Serialize)]
pub(super) struct CallLine<'a> {
    turn: u32,
    call: u32,
    index: u32,
    id: Option<&'a str>,
    tool: &'a str,
    arguments: BodyJson<'a>,
    at: Option<Instant>,
    /// Differences from the session's context.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<OwnContext<'a>>,
    /// Whether the conversation continued with the choice that proposes it.
    chosen: bool,
    /// Number of that choice, where it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<u32>,
    recorded: Option<Outcome>,
    /// Whether it was made in the session that this one is a fork of, and so is not counted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    copied: bool,
    decision: Verdict,
    agrees: Option<bool>,
    counterfactual: bool,
    /// A gate's live decision, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    live: Option<LiveLine<'a>>,
    /// The message to the model instead of a result; null for a call that may run.
    told: Option<&'a str>,
    findings: Vec<Explanation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checks: Option<Vec<CheckLine<'a>>>,
}

/// The part of the context that a call has of its own.
#[derive(Serialize)]
struct OwnContext<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_mode: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_version: Option<&'a str>,
}

impl<'a> OwnContext<'a> {
    fn of(call: &'a Call) -> Option<OwnContext<'a>> {
        let agent = call.agent.as_deref();
        let own = OwnContext {
            cwd: call.folder.as_deref(),
            permission_mode: agent.and_then(|agent| agent.permission_mode.as_deref()),
            agent_version: agent.and_then(|agent| agent.version.as_deref()),
        };
        let is_own = own.cwd.is_some() || own.permission_mode.is_some() || own.agent_version.is_some();
        is_own.then_some(own)
    }
}

/// The live decision, and the differences now.
#[derive(Serialize)]
struct LiveLine<'a> {
    #[serde(flatten)]
    live: &'a LiveDecision,
    change: Option<&'static str>,
}

impl<'a> LiveLine<'a> {
    fn of(live: &'a LiveDecision, judged: &DecidedCall, policy: &Policy) -> LiveLine<'a> {
        let change = compare::live::kind(live, &judged.decision, policy.rules());
        LiveLine { live, change: change.map(Kind::word) }
    }
}

impl<'a> CallLine<'a> {
    pub(super) fn of(
        replay: &'a Replay,
        frame: &'a Frame,
        call: &'a Call,
        full: bool,
    ) -> Option<CallLine<'a>> {
        let judged = replay.call(call.at.index)?;
        let place = (call.at.call as usize).checked_sub(1)?;
        let checks = full.then(|| frame.calls.get(place).map(|decision| decision.checks.as_slice()));
        let (session, policy) = (replay.session(), replay.policy());
        Some(CallLine {
            turn: call.at.turn,
            call: call.at.call,
            index: call.at.index,
            id: call.id.as_deref(),
            tool: &call.tool,
            arguments: BodyJson(&call.arguments),
            at: call.time.map(Instant),
            context: OwnContext::of(call),
            chosen: true,
            choice: None,
            recorded: Some(call.outcome),
            copied: call.copied,
            decision: judged.decision.verdict,
            agrees: Some(judged.agrees),
            counterfactual: judged.counterfactual,
            live: call.live.as_deref().map(|live| LiveLine::of(live, judged, policy)),
            told: judged.decision.told.as_deref(),
            findings: findings(judged, session, policy),
            checks: checks.map(|checks| check_lines(checks.unwrap_or_default(), session, policy)),
        })
    }

    /// For the calls that were not taken in a turn.
    pub(super) fn not_taken(replay: &'a Replay, frame: &'a Frame, full: bool) -> Vec<CallLine<'a>> {
        let (session, policy) = (replay.session(), replay.policy());
        let Some(turn) = session.turn(frame.turn) else { return Vec::new() };
        let mut lines = Vec::new();
        let mut decisions = frame.alternatives.iter().flatten();
        // The texts about a call name its siblings, so it is worded within the session that takes them.
        let mut taken: Option<(usize, Session)> = None;
        for NotTaken { place, alternative, nth, call, judged } in replay.alternatives(Some(frame.turn)) {
            let checks = decisions.next().map(|decision| decision.checks.as_slice());
            let words = full || !judged.decision.findings.is_empty();
            if words && taken.as_ref().is_none_or(|(known, _)| *known != place) {
                taken = Some((place, session.taking(alternative)));
            }
            let within = taken.as_ref().map_or(&**session, |(_, taken)| taken);
            lines.push(CallLine {
                turn: alternative.turn,
                call: nth,
                index: (turn.calls.start as u32) + nth - 1,
                id: call.id.as_deref(),
                tool: &call.tool,
                arguments: BodyJson(&call.arguments),
                at: alternative.message.at.map(Instant),
                context: None,
                chosen: false,
                choice: Some(alternative.choice),
                recorded: None,
                copied: false,
                decision: judged.decision.verdict,
                agrees: None,
                counterfactual: judged.counterfactual,
                live: None,
                told: judged.decision.told.as_deref(),
                findings: findings(judged, within, policy),
                checks: full.then(|| check_lines(checks.unwrap_or_default(), within, policy)),
            });
        }
        lines
    }

    /// Whether a rule has a finding about it.
    pub(super) fn is_spoken_of(&self) -> bool {
        !self.findings.is_empty()
    }

    /// A call of the session that takes its choice, as one that was not taken.
    pub(super) fn beside(self, choice: Option<u32>) -> CallLine<'a> {
        match choice {
            None => self,
            Some(_) => CallLine { chosen: false, choice, recorded: None, agrees: None, ..self },
        }
    }
}

/// The part of [`CallLine`] that there is without a recording.
#[derive(Serialize)]
pub(super) struct DecisionLine<'a> {
    decision: Verdict,
    told: Option<&'a str>,
    findings: Vec<Explanation>,
}

impl<'a> DecisionLine<'a> {
    pub(super) fn of(judged: &'a DecidedCall, replay: &Replay) -> DecisionLine<'a> {
        DecisionLine {
            decision: judged.decision.verdict,
            told: judged.decision.told.as_deref(),
            findings: findings(judged, replay.session(), replay.policy()),
        }
    }
}

fn findings(judged: &DecidedCall, session: &Session, policy: &Policy) -> Vec<Explanation> {
    judged.decision.findings.iter().filter_map(|finding| finding.explain(policy.rules(), session)).collect()
}

fn check_lines<'a>(checks: &'a [Check], session: &Session, policy: &'a Policy) -> Vec<CheckLine<'a>> {
    checks.iter().filter_map(|check| CheckLine::of(check, session, policy)).collect()
}

/// A rule about the session in words: what it expects, what happened instead, and what would satisfy it.
#[derive(Default, Serialize)]
pub(super) struct PartsLine {
    expected: Option<Sentence>,
    actual: Option<Sentence>,
    suggestion: Option<Sentence>,
}

impl PartsLine {
    /// The expectation is known even if it holds, the actual events only with the calls that ran.
    pub(super) fn of_rule(
        state: &RuleState,
        rules: &Rules,
        session: &Session,
        ran: Option<&[CallRef]>,
    ) -> PartsLine {
        let Some(explanation) = state.explain(rules, session, ran) else { return PartsLine::default() };
        PartsLine {
            actual: ran.and(state.code).map(|_| explanation.headline),
            suggestion: explanation.way_out.filter(|_| explanation.expected.is_some()),
            expected: explanation.expected,
        }
    }
}

#[derive(Serialize)]
struct CheckLine<'a> {
    #[serde(flatten)]
    rule: RuleName<'a>,
    passed: bool,
    code: Option<Code>,
    message: Sentence,
    checked: Option<&'a CheckedValue>,
    found: Vec<EarlierCall>,
    /// For a rule that allowed the call: the earlier calls that satisfied it, or that it counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<Vec<EarlierCall>>,
    detail: Value,
    /// The rule's other facts.
    #[serde(flatten)]
    facts: Map<String, Value>,
}

impl<'a> CheckLine<'a> {
    fn of(check: &'a Check, session: &Session, policy: &'a Policy) -> Option<CheckLine<'a>> {
        let rule = policy.rules().get(check.rule)?;
        let mut facts = check.facts.as_ref().map(|facts| facts.data()).unwrap_or_default();
        let explanation = check.explain(policy.rules(), session)?;
        Some(CheckLine {
            rule: RuleName::of(rule),
            passed: check.passed,
            code: check.code,
            message: explanation.headline,
            checked: check.checked.as_ref(),
            evidence: check.passed.then(|| explanation.found.clone()),
            found: explanation.found,
            detail: facts.shift_remove("detail").unwrap_or_default(),
            facts,
        })
    }
}
