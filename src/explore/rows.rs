//! The rows of a session that a filter is asked about: its calls and the session rules that it violates.

use std::sync::Arc;

use super::filter::{Field, Filter, Row, State};
use crate::engine::Verdict;
use crate::monitor::RuleId;
use crate::monitor::finding::{RuleOutcome, RuleState};
use crate::policy::Policy;
use crate::replay::{DecidedCall, Replay};
use crate::session::{Call, Millis, Outcome, Session};

/// Whether a session passes. Without its replay nothing was decided, so that no term about decisions can match.
pub fn passes(filter: &Filter, session: &Session, replay: Option<&Replay>) -> bool {
    let decided = |index: usize| replay.and_then(|replay| replay.calls().get(index));
    let policy = replay.map(Replay::policy);
    let calls = session.calls.iter().enumerate();
    let calls = calls.map(|(index, call)| RowOf { session, policy, of: Subject::Call(call, decided(index)) });
    let states = replay.map(Replay::rules).unwrap_or_default().iter();
    let violated = states.filter(|state| state.outcome == RuleOutcome::Violated);
    let violated = violated.map(|state| RowOf { session, policy, of: Subject::Violation(state) });
    let rows: Vec<RowOf<'_>> = calls.chain(violated).collect();
    filter.passes_session(&RowOf { session, policy, of: Subject::Session }, rows.iter())
}

struct RowOf<'a> {
    session: &'a Session,
    policy: Option<&'a Arc<Policy>>,
    of: Subject<'a>,
}

enum Subject<'a> {
    Session,
    Call(&'a Call, Option<&'a DecidedCall>),
    Violation(&'a RuleState),
}

impl RowOf<'_> {
    /// The rules that speak against the call, or are violated.
    fn rules(&self) -> impl Iterator<Item = RuleId> {
        let (findings, state) = match &self.of {
            Subject::Session | Subject::Call(_, None) => (&[][..], None),
            Subject::Call(_, Some(judged)) => (&judged.decision.findings[..], None),
            Subject::Violation(state) => (&[][..], Some(state.rule)),
        };
        findings.iter().map(|finding| finding.rule).chain(state)
    }

    fn rule(&self, test: &mut dyn FnMut(&str) -> bool) -> bool {
        self.rules().any(|id| {
            let Some(rule) = self.policy.and_then(|policy| policy.rules().get(id)) else { return false };
            test(&rule.id)
                || rule.name.as_deref().is_some_and(&mut *test)
                || rule.description.as_deref().is_some_and(&mut *test)
        })
    }
}

impl Row for RowOf<'_> {
    fn any(&self, field: Field, test: &mut dyn FnMut(&str) -> bool) -> bool {
        let session = self.session;
        let context = |key| session.facts.context.as_ref().and_then(|context| context.get(key)?.as_str());
        match (field, &self.of) {
            (Field::Id, _) => test(&session.id),
            (Field::File, _) => test(&session.origin.file),
            (Field::Format, _) => test(session.origin.format),
            (Field::Project, _) => session.project().is_some_and(test),
            (Field::Branch, _) => context("gitBranch").or_else(|| context("branch")).is_some_and(test),
            (Field::Tool, Subject::Call(call, _)) => test(&call.tool),
            (Field::Tool, _) => false,
            (Field::Rule, _) => self.rule(test),
            (Field::Code, Subject::Call(_, Some(judged))) => {
                judged.decision.findings.iter().any(|finding| test(finding.code.as_str()))
            }
            (Field::Code, Subject::Violation(state)) => state.code.is_some_and(|code| test(code.as_str())),
            (Field::Code, _) => false,
            (Field::Text, Subject::Session) => {
                session.title.as_deref().is_some_and(&mut *test)
                    || test(&session.id)
                    || test(&session.origin.file)
                    || session.project().is_some_and(test)
            }
            (Field::Text, Subject::Call(call, _)) => test(&call.tool) || test(call.arguments.shown()),
            (Field::Text, Subject::Violation(_)) => self.rule(test),
        }
    }

    fn is(&self, state: State) -> bool {
        let verdict =
            |wanted| matches!(&self.of, Subject::Call(_, Some(judged)) if judged.decision.verdict == wanted);
        let outcome = |wanted| matches!(&self.of, Subject::Call(call, _) if call.outcome == wanted);
        match state {
            State::Stopped => verdict(Verdict::Deny) || verdict(Verdict::Halt),
            State::Denied => verdict(Verdict::Deny),
            State::Halted => verdict(Verdict::Halt),
            State::NotReached => verdict(Verdict::NotReached),
            State::Allowed => verdict(Verdict::Allow),
            State::Violated => matches!(self.of, Subject::Violation(_)),
            State::Differs => matches!(&self.of, Subject::Call(_, Some(judged)) if !judged.agrees),
            State::Error => outcome(Outcome::Error),
            State::Refused => outcome(Outcome::Refused),
            State::Unanswered => outcome(Outcome::Unknown),
        }
    }

    fn turn(&self) -> Option<u32> {
        match &self.of {
            Subject::Call(call, _) => Some(call.at.turn),
            Subject::Session | Subject::Violation(_) => None,
        }
    }

    fn began(&self) -> Option<Millis> {
        self.session.began
    }
}
