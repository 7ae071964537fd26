//! Findings for machines that show them beside the code: SARIF and the annotations of GitHub Actions.
//!
//! Both are made of [`Issue`]s, which a replay gathers as it goes and a comparison has in its groups. As many are kept as a
//! viewer takes; what is beyond is counted and said.

pub mod failed;
pub mod github;
pub mod replay;
pub mod sarif;
pub mod unread;
pub mod warned;

use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_base::session::{Call, Session};
use rulestep_engine::monitor::Explanation;
use rulestep_engine::monitor::Rule;
use rulestep_engine::replay::{DecidedCall, NotTaken, Replay};
use rulestep_engine::run::Verdict;

use super::{RunCounts, words};

/// Issues of a replay that are kept.
pub const MOST: usize = 1000;

/// Issues of a session that a test lists.
const LINES: usize = 20;

/// How bad an issue is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// It fails the run.
    Error,
    /// It rests on what the recording is no evidence for, or follows from another.
    Warning,
    /// It does not fail the run.
    Note,
}

/// A line of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spot {
    /// The file, as shown.
    pub file: String,
    /// The line, from 1; 0 where only the file is known.
    pub line: u64,
    /// The column, from 1; 0 where only the line is known.
    pub column: u64,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// How bad it is.
    pub level: Level,
    /// The rule's id and its name.
    pub rule: Option<(String, String)>,
    /// Why, as a stable code, or the kind of change.
    pub code: String,
    /// What happened to which call, in a few words.
    pub title: String,
    /// Why, and where.
    pub message: String,
    /// Where the rule is.
    pub policy: Option<Spot>,
    /// Where the call is recorded; none of what is about no call.
    pub recording: Option<Spot>,
    /// The session and the place in it, in words.
    pub place: String,
}

/// Issues of many sessions.
#[derive(Debug, Default)]
pub struct Issues {
    /// Those that are kept.
    pub issues: Vec<Issue>,
    /// How many more there are.
    pub more: u64,
    /// Every session, for those that list them.
    pub cases: Vec<Case>,
}

/// A session as a test.
#[derive(Debug)]
pub struct Case {
    /// Its id.
    pub session: String,
    /// Its file.
    pub file: String,
    /// Issues in it.
    pub count: u64,
    /// Some of them, a line each.
    pub lines: Vec<String>,
}

/// What is written of a run.
pub struct Run<'a> {
    /// The issues.
    pub gathered: &'a Issues,
    /// What was read.
    pub told: &'a RunCounts,
    /// The result of the run, in a sentence.
    pub summary: String,
    /// What there is to say against the policy, though it decides.
    pub policy: &'a [Diagnostic],
    /// The command that does it again.
    pub command: &'a str,
}

impl Issues {
    /// Takes those of the next session in.
    pub fn take(&mut self, (case, issues): (Case, Vec<Issue>)) {
        self.cases.push(case);
        let room = MOST.saturating_sub(self.issues.len());
        self.more += issues.len().saturating_sub(room) as u64;
        self.issues.extend(issues.into_iter().take(room));
    }
}

impl Spot {
    /// Where a rule is.
    pub fn of_rule(rule: &Rule) -> Spot {
        let position = rule.source.position(rule.span.start);
        Spot {
            file: rule.source.name().to_owned(),
            line: position.line.into(),
            column: position.column.into(),
        }
    }

    /// Where a turn is recorded.
    pub fn of_turn(session: &Session, turn: Option<u32>) -> Spot {
        let messages = turn.and_then(|turn| session.turn(turn)).map(|turn| turn.messages.clone());
        let messages = messages.and_then(|messages| session.messages.get(messages)).unwrap_or_default();
        let line = messages.iter().map(|message| message.line).find(|line| *line > 0);
        let line = line.unwrap_or(session.origin.line);
        Spot { file: session.origin.file.to_string(), line: line.into(), column: 0 }
    }
}

/// A session as a test, which fails for what fails the run.
pub fn case(session: &Session, issues: &[Issue]) -> Case {
    let line = |issue: &Issue| format!("{}\n  {}\n  {}", issue.title, issue.message, issue.place);
    let failing = || issues.iter().filter(|issue| issue.level != Level::Note);
    Case {
        session: words::name(&session.id).into_owned(),
        file: words::name(&session.origin.file).into_owned(),
        count: failing().count() as u64,
        lines: failing().take(LINES).map(line).collect(),
    }
}

/// What rules found in a session: the calls that were stopped, and rules about the session that are violated.
pub fn of_replay(replay: &Replay) -> Vec<Issue> {
    let session = replay.session();
    let calls = replay.made();
    let mut issues: Vec<Issue> = calls.filter_map(|(call, decided)| of_call(replay, call, decided)).collect();
    issues.extend(replay.alternatives(None).filter_map(|other| not_taken(replay, &other)));
    for state in replay.rules() {
        let violation = words::violation(state, replay);
        let Some(rule) = replay.policy().rules().get(state.rule) else { continue };
        if !state.is_violated() {
            continue;
        }
        let name = words::rule_name(rule);
        let index = state.position.and_then(|index| session.calls.get(index as usize));
        issues.push(Issue {
            level: Level::Error,
            rule: Some((rule.id.to_string(), name.clone())),
            code: state.code.map(|code| code.to_string()).unwrap_or_default(),
            title: format!("violated: {name}"),
            message: match violation {
                Some(Explanation { expected: Some(expected), headline, .. }) => {
                    format!("expected: {expected}; actual: {headline}")
                }
                _ => name.clone(),
            },
            policy: Some(Spot::of_rule(rule)),
            recording: Some(Spot::of_turn(session, index.map(|call| call.at.turn))),
            place: place(session, index.map_or("at the end".to_owned(), |call| words::at(call.at, session))),
        });
    }
    issues
}

fn of_call(replay: &Replay, call: &Call, decided: &DecidedCall) -> Option<Issue> {
    let session = replay.session();
    let Some(finding) = decided.decision.deciding() else { return undecided(replay, call, decided) };
    let said = finding.explain(replay.policy().rules(), session)?;
    let (rule, name) = (&said.rule, words::rule_name(&said.rule));
    let verdict = words::decided(decided.decision.verdict, replay.mode());
    Some(Issue {
        level: match decided.decision.verdict {
            // The run does not fail for it.
            Verdict::Ask => Level::Note,
            _ if decided.counterfactual => Level::Warning,
            _ => Level::Error,
        },
        rule: Some((rule.id.to_string(), name.clone())),
        code: finding.code.to_string(),
        title: format!("{verdict}: {}", words::call::call(call)),
        message: format!("{name}: {}", said.headline),
        policy: Some(Spot::of_rule(rule)),
        recording: Some(Spot::of_turn(session, Some(call.at.turn))),
        place: place(session, words::at(call.at, session)),
    })
}

/// A call that is stopped although no rule could be asked about it.
fn undecided(replay: &Replay, call: &Call, decided: &DecidedCall) -> Option<Issue> {
    let (session, verdict) = (replay.session(), decided.decision.verdict);
    Some(Issue {
        level: if decided.counterfactual { Level::Warning } else { Level::Error },
        rule: None,
        code: code::ARGUMENTS_NOT_JSON.to_string(),
        title: format!("{}: {}", words::decided(verdict, replay.mode()), words::call::call(call)),
        message: words::line(decided.decision.told.as_ref().filter(|_| verdict.stops())?),
        policy: None,
        recording: Some(Spot::of_turn(session, Some(call.at.turn))),
        place: place(session, words::at(call.at, session)),
    })
}

/// A call of a choice that was not taken, worded within the session that takes it.
fn not_taken(replay: &Replay, other: &NotTaken<'_>) -> Option<Issue> {
    let place = Some(other.at()).filter(|_| other.judged.decision.verdict != Verdict::Allow)?;
    let (taken, call) = replay.not_taken(place)?;
    let issue = of_call(&taken, &call, other.judged)?;
    let session = replay.session();
    Some(Issue {
        title: format!("{}, not chosen", issue.title),
        recording: Some(Spot::of_turn(session, Some(other.alternative.turn))),
        place: self::place(session, words::at_choice(other)),
        ..issue
    })
}

/// `session refund-124, turn 2 call 1`.
pub fn place(session: &Session, at: String) -> String {
    format!("session {}, {at}", words::name(&session.id))
}
