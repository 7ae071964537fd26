//! Judges a case: replays the session under the policy, and compares every expectation with the result.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Aspect, Case, Fact, Place, Subject};
use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_base::session::{Call, Session};
use rulestep_base::source::quoted;
use rulestep_engine::monitor::finding::RuleState;
use rulestep_engine::monitor::{Finding, Rule, StateItem};
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::{Frame, Replay};
use rulestep_engine::run::Decision;

/// A judged case.
pub struct CaseResult {
    /// The replay of the session.
    pub replay: Replay,
    /// The answers to every want, in the order of the case.
    pub answers: Vec<Answer>,
}

/// The answer to one want.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Place of the expectation in the case.
    pub expectation: usize,
    /// Place of the want in the expectation.
    pub want: usize,
    /// The actual value.
    pub got: Actual,
    /// Whether it is the expected value.
    pub met: bool,
}

/// The actual value in place of the expected one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actual {
    /// This.
    Fact(Fact),
    /// The session has no such call.
    NoCall,
    /// The session has no such turn.
    NoTurn,
    /// The tool is not offered in that turn.
    NotOffered,
    /// The number of session rules with this id, if it is not one.
    Rules(usize),
}

/// Judges a case.
pub fn judge(case: &Case, session: &Arc<Session>, policy: &Arc<Policy>) -> CaseResult {
    let replay = Replay::new(session, policy, case.mode);
    let mut answers = Vec::new();
    for (expectation, expected) in case.expect.iter().enumerate() {
        let of = Checked::of(&expected.subject, &replay);
        for (want, wanted) in expected.wants.iter().enumerate() {
            let got = of.answer(&wanted.aspect, &wanted.expected, &replay);
            let met = matches!(&got, Actual::Fact(got) if *got == wanted.expected);
            answers.push(Answer { expectation, want, got, met });
        }
    }
    CaseResult { replay, answers }
}

/// The policy as the case wants it: with the rules switched off that it names.
///
/// # Errors
/// A name is that of no rule, or of several, or the policy was not read from files.
pub fn version(case: &Case, policy: &Arc<Policy>) -> Result<Arc<Policy>, Diagnostic> {
    let (mut version, mut off) = (Arc::clone(policy), BTreeSet::new());
    for name in &case.without {
        let bad =
            |message: String| Diagnostic::error(code::BAD_REFERENCE, message).at(&case.source, name.span);
        let mut named = policy.rules().iter().filter(|(_, rule)| is_named(rule, &name.path));
        match (named.next(), named.next()) {
            (Some((rule, _)), None) => drop(off.insert(rule)),
            (None, _) => return Err(bad(format!("no rule of the policy is {}", quoted(&name.path)))),
            (Some((one, _)), Some(_)) => {
                let whole = policy.rules().get(one).map_or("", |rule| &rule.id);
                let told = bad(format!("several rules of the policy are {}", quoted(&name.path)));
                return Err(told.help(format!("say which, for example {}", quoted(whole))));
            }
        }
        let less = policy.without(&off);
        version = less.ok_or_else(|| {
            bad("this rule cannot be switched off: the policy was not read from files".to_owned())
        })?;
    }
    Ok(version)
}

impl CaseResult {
    /// Whether everything is as expected.
    pub fn passes(&self) -> bool {
        self.answers.iter().all(|answer| answer.met)
    }
}

/// The answers to some questions about one subject, if there are any.
pub fn facts(subject: &Subject, aspects: &[Aspect], replay: &Replay) -> Vec<(Aspect, Fact)> {
    let asked = Checked::of(subject, replay);
    let answers = aspects.iter().filter_map(|aspect| match asked.answer(aspect, &Fact::Nothing, replay) {
        Actual::Fact(fact) => Some((aspect.clone(), fact)),
        _ => None,
    });
    answers.collect()
}

/// The call of an expectation.
pub fn call(place: Place, session: &Session) -> Option<&Call> {
    match place {
        Place::Index(index) => session.calls.get(index as usize),
        Place::In { turn, call } => {
            session.calls_of(session.turn(turn)?).get((call as usize).checked_sub(1)?)
        }
        // It is not among the session's calls.
        Place::NotTaken(_) => None,
    }
}

/// The decision about the call of an expectation, and the call's tool.
pub fn decided(place: Place, replay: &Replay) -> Option<(&Arc<str>, &Decision)> {
    if let Place::NotTaken(at) = place {
        let other = replay.alternatives(Some(at.turn)).find(|other| other.at() == at)?;
        return Some((&other.call.tool, &other.judged.decision));
    }
    let call = call(place, replay.session())?;
    Some((&call.tool, &replay.call(call.at.index)?.decision))
}

/// Whether a text names a rule: its id, or the end of it from a `/` or `#` on.
pub fn is_named(rule: &Rule, name: &str) -> bool {
    match rule.id.strip_suffix(name) {
        Some(before) => before.is_empty() || before.ends_with('/') || name.starts_with('#'),
        None => false,
    }
}

/// A rule as cases name it: its file's name and its place in it, whatever the folder.
pub fn short(rule: &Rule) -> Arc<str> {
    let file = rule.source.name();
    let folder = file.rfind(['/', '\\']).map_or(0, |at| at + 1);
    rule.id.get(folder..).unwrap_or(&rule.id).into()
}

/// The data that an expectation is compared with.
enum Checked<'r> {
    Call(&'r Arc<str>, &'r Decision),
    Turn(Box<Frame>),
    Rule(&'r RuleState),
    Session,
    Missing(Actual),
}

impl<'r> Checked<'r> {
    fn of(subject: &Subject, replay: &'r Replay) -> Checked<'r> {
        match subject {
            Subject::Call(place) => match decided(*place, replay) {
                Some((tool, decision)) => Checked::Call(tool, decision),
                None => Checked::Missing(Actual::NoCall),
            },
            Subject::Turn(turn) => match replay.frame(*turn) {
                Some(frame) => Checked::Turn(Box::new(frame)),
                None => Checked::Missing(Actual::NoTurn),
            },
            Subject::Rule(name) => {
                let rule = |state: &RuleState| replay.policy().rules().get(state.rule);
                let mut named = replay
                    .rules()
                    .iter()
                    .filter(|state| rule(state).is_some_and(|rule| is_named(rule, name)));
                match (named.next(), named.count()) {
                    (Some(state), 0) => Checked::Rule(state),
                    (None, _) => Checked::Missing(Actual::Rules(0)),
                    (Some(_), more) => Checked::Missing(Actual::Rules(more + 1)),
                }
            }
            Subject::Session => Checked::Session,
        }
    }

    fn answer(&self, aspect: &Aspect, expected: &Fact, replay: &Replay) -> Actual {
        match self {
            Checked::Missing(got) => got.clone(),
            Checked::Call(tool, decision) => Actual::Fact(of_call(aspect, expected, tool, decision, replay)),
            Checked::Turn(frame) => of_turn(aspect, expected, frame),
            Checked::Rule(state) => Actual::Fact(match aspect {
                Aspect::Violation => word(state.code.map(|code| code.as_str())),
                _ => word(Some(state.outcome.word())),
            }),
            Checked::Session => Actual::Fact(of_session(aspect, replay)),
        }
    }
}

fn of_call(aspect: &Aspect, expected: &Fact, tool: &Arc<str>, decision: &Decision, replay: &Replay) -> Fact {
    let deciding = decision.deciding();
    let rule = |finding: &Finding| replay.policy().rules().get(finding.rule);
    match aspect {
        Aspect::Tool => Fact::Word(Arc::clone(tool)),
        Aspect::Decision => word(Some(decision.verdict.word())),
        Aspect::Code => word(deciding.map(|finding| finding.code.as_str())),
        Aspect::Rule => match (deciding.and_then(rule), expected) {
            (Some(rule), Fact::Word(name)) if is_named(rule, name) => Fact::Word(Arc::clone(name)),
            (Some(rule), _) => Fact::Word(short(rule)),
            (None, _) => Fact::Nothing,
        },
        Aspect::Told => word(decision.told.as_deref()),
        Aspect::Reason => word(deciding.and_then(|finding| finding.reason.as_deref())),
        _ => Fact::Words(decision.findings.iter().map(|finding| finding.code.as_str().into()).collect()),
    }
}

fn of_turn(aspect: &Aspect, expected: &Fact, frame: &Frame) -> Actual {
    let tools = &frame.narrowing.tools;
    let shown = |visible: bool| -> BTreeSet<Arc<str>> {
        tools.iter().filter(|tool| tool.visible() == visible).map(|tool| Arc::clone(&tool.tool)).collect()
    };
    Actual::Fact(match aspect {
        Aspect::Visible => Fact::Words(shown(true)),
        Aspect::Hidden => Fact::Words(shown(false)),
        Aspect::Offered(name) => {
            let Some(tool) = tools.iter().find(|tool| tool.tool == *name) else { return Actual::NotOffered };
            let expected = match expected {
                Fact::Word(word) => &**word,
                _ => "",
            };
            let mut codes = tool.reasons.iter().map(|reason| reason.code.as_str());
            word(Some(match (codes.clone().next(), expected) {
                (None, _) => "visible",
                (Some(_), "hidden") => "hidden",
                (Some(first), expected) => codes.find(|code| *code == expected).unwrap_or(first),
            }))
        }
        _ => {
            let forbidden = frame.state.iter().filter_map(|item| match item {
                StateItem::Forbidden { tool, .. } => Some(Arc::clone(tool)),
                _ => None,
            });
            Fact::Words(forbidden.collect())
        }
    })
}

fn of_session(aspect: &Aspect, replay: &Replay) -> Fact {
    let Aspect::Count(name) = aspect else { return word(Some(replay.status().word())) };
    replay.summary().get(name).map_or(Fact::Nothing, Fact::Number)
}

fn word(word: Option<&str>) -> Fact {
    word.map_or(Fact::Nothing, |word| Fact::Word(word.into()))
}
