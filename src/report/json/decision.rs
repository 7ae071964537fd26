//! A call's decision as data: what was found against it, and every check that was made.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Recorded, words};
use crate::diagnostic::Code;
use crate::engine::Verdict;
use crate::monitor::finding::RuleState;
use crate::monitor::{Check, Checked, Effect, Finding, Found, Rule};
use crate::policy::Policy;
use crate::replay::{Frame, Judged, NotTaken, Replay};
use crate::report::words::Violation;
use crate::session::write::Instant;
use crate::session::{Call, CallRef, Outcome, Session};

#[derive(Serialize)]
pub(super) struct CallLine<'a> {
    turn: u32,
    call: u32,
    index: u32,
    id: Option<&'a str>,
    tool: &'a str,
    arguments: Recorded<'a>,
    at: Option<Instant>,
    /// Whether the conversation continued with the choice that proposes it.
    chosen: bool,
    /// Number of that choice, where it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<u32>,
    recorded: Option<Outcome>,
    decision: Verdict,
    agrees: Option<bool>,
    counterfactual: bool,
    /// What the model is told instead of a result; null for a call that may run.
    told: Option<&'a str>,
    findings: Vec<FindingLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checks: Option<Vec<CheckLine<'a>>>,
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
            arguments: Recorded(&call.arguments),
            at: call.time.map(Instant),
            chosen: true,
            choice: None,
            recorded: Some(call.outcome),
            decision: judged.decision.verdict,
            agrees: Some(judged.agrees),
            counterfactual: judged.counterfactual,
            told: judged.decision.told.as_deref(),
            findings: findings(judged, session, policy),
            checks: checks.map(|checks| check_lines(checks.unwrap_or_default(), session, policy)),
        })
    }

    /// Of the calls that were not taken in a turn.
    pub(super) fn not_taken(replay: &'a Replay, frame: &'a Frame, full: bool) -> Vec<CallLine<'a>> {
        let (session, policy) = (replay.session(), replay.policy());
        let Some(turn) = session.turn(frame.turn) else { return Vec::new() };
        let mut lines = Vec::new();
        let mut decisions = frame.alternatives.iter().flatten();
        // What is said of a call names its siblings, so it is worded within the session that takes them.
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
                arguments: Recorded(&call.arguments),
                at: alternative.message.at.map(Instant),
                chosen: false,
                choice: Some(alternative.choice),
                recorded: None,
                decision: judged.decision.verdict,
                agrees: None,
                counterfactual: judged.counterfactual,
                told: judged.decision.told.as_deref(),
                findings: findings(judged, within, policy),
                checks: full.then(|| check_lines(checks.unwrap_or_default(), within, policy)),
            });
        }
        lines
    }

    /// Whether a rule speaks of it.
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

fn findings<'a>(judged: &'a Judged, session: &Session, policy: &'a Policy) -> Vec<FindingLine<'a>> {
    judged.decision.findings.iter().filter_map(|finding| FindingLine::of(finding, session, policy)).collect()
}

fn check_lines<'a>(checks: &'a [Check], session: &Session, policy: &'a Policy) -> Vec<CheckLine<'a>> {
    checks.iter().filter_map(|check| CheckLine::of(check, session, policy)).collect()
}

/// What a rule said of a call.
#[derive(Serialize)]
pub(in crate::report) struct FindingLine<'a> {
    #[serde(flatten)]
    rule: RuleName<'a>,
    code: Code,
    effect: Effect,
    message: String,
    description: Option<&'a str>,
    source: SourceLine<'a>,
    #[serde(flatten)]
    evidence: Evidence<'a>,
    reason: Option<&'a str>,
    tell_llm: Option<&'a str>,
    /// Of a rule about the order of calls: what it expects, what happened instead, and what would satisfy it.
    #[serde(flatten)]
    parts: Option<PartsLine>,
}

/// A violation in words.
#[derive(Serialize)]
pub(super) struct PartsLine {
    expected: Option<String>,
    actual: Option<String>,
    suggestion: Option<String>,
}

impl PartsLine {
    /// Of a rule about the session: what it expects is known also where it holds, what happened only with the calls that ran.
    pub(super) fn of_rule(
        state: &RuleState,
        rule: &Rule,
        session: &Session,
        ran: Option<&[CallRef]>,
    ) -> PartsLine {
        let mut explanation = state.explain(rule, session, ran);
        explanation.way_out = explanation.way_out.filter(|_| explanation.expected.is_some());
        PartsLine {
            expected: explanation.expected.map(|expected| expected.to_string()),
            actual: ran.and(state.code).map(|_| explanation.headline.to_string()),
            suggestion: explanation.way_out.map(|way| way.to_string()),
        }
    }
}

impl From<Violation> for PartsLine {
    fn from(violation: Violation) -> PartsLine {
        let Violation { expected, actual, suggestion } = violation;
        PartsLine {
            expected: Some(expected.to_string()),
            actual: Some(actual.to_string()),
            suggestion: suggestion.map(|suggestion| suggestion.to_string()),
        }
    }
}

impl<'a> FindingLine<'a> {
    pub(in crate::report) fn of(
        finding: &'a Finding,
        session: &Session,
        policy: &'a Policy,
    ) -> Option<FindingLine<'a>> {
        let rule = policy.rules().get(finding.rule)?;
        let explanation = finding.explain(rule, session);
        Some(FindingLine {
            rule: RuleName::of(rule),
            code: finding.code,
            effect: finding.effect,
            message: explanation.headline.to_string(),
            description: rule.description.as_deref(),
            source: SourceLine::of(rule),
            evidence: Evidence::of(finding.checked.as_ref(), &finding.found),
            reason: finding.reason.as_deref(),
            tell_llm: finding.tell_llm.as_deref(),
            parts: Violation::of(explanation).map(PartsLine::from),
        })
    }
}

#[derive(Serialize)]
struct CheckLine<'a> {
    #[serde(flatten)]
    rule: RuleName<'a>,
    passed: bool,
    code: Option<Code>,
    message: String,
    #[serde(flatten)]
    rests: Evidence<'a>,
    /// Of a rule that allowed the call: the earlier calls that satisfied it, or that it counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<Vec<FoundLine<'a>>>,
    detail: Value,
    /// What else the rule's facts are.
    #[serde(flatten)]
    facts: Map<String, Value>,
}

impl<'a> CheckLine<'a> {
    fn of(check: &'a Check, session: &Session, policy: &'a Policy) -> Option<CheckLine<'a>> {
        let rule = policy.rules().get(check.rule)?;
        let mut facts = check.facts.as_ref().map(|facts| facts.data()).unwrap_or_default();
        Some(CheckLine {
            rule: RuleName::of(rule),
            passed: check.passed,
            code: check.code,
            message: check.explain(rule, session).headline.to_string(),
            rests: Evidence::of(check.checked.as_ref(), &check.found),
            evidence: check.passed.then(|| check.found.iter().map(FoundLine::of).collect()),
            detail: facts.shift_remove("detail").unwrap_or_default(),
            facts,
        })
    }
}

/// Whose word it is.
#[derive(Serialize)]
struct RuleName<'a> {
    dialect: &'static str,
    rule: &'a str,
    /// What people call it.
    rule_name: String,
    test: Option<&'a str>,
}

impl<'a> RuleName<'a> {
    fn of(rule: &'a Rule) -> RuleName<'a> {
        RuleName {
            dialect: rule.dialect,
            rule: &rule.id,
            rule_name: words::rule_name(rule),
            test: rule.test.as_deref(),
        }
    }
}

/// What it rests on.
#[derive(Serialize)]
struct Evidence<'a> {
    checked: Option<&'a Checked>,
    found: Vec<FoundLine<'a>>,
}

impl<'a> Evidence<'a> {
    fn of(checked: Option<&'a Checked>, found: &'a [Found]) -> Evidence<'a> {
        Evidence { checked, found: found.iter().map(FoundLine::of).collect() }
    }
}

/// Where a rule stands.
#[derive(Serialize)]
pub struct SourceLine<'a> {
    file: &'a str,
    line: u32,
    column: u32,
}

impl<'a> SourceLine<'a> {
    pub fn of(rule: &'a Rule) -> SourceLine<'a> {
        let position = rule.source.position(rule.span.start);
        SourceLine { file: rule.source.name(), line: position.line, column: position.column }
    }
}

#[derive(Serialize)]
struct FoundLine<'a> {
    turn: u32,
    call: u32,
    index: u32,
    value: Option<&'a Value>,
}

impl<'a> FoundLine<'a> {
    fn of(found: &'a Found) -> FoundLine<'a> {
        let CallRef { turn, call, index } = found.call;
        FoundLine { turn, call, index, value: found.value.as_ref() }
    }
}
