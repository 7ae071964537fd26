//! Results of cases: for people, as JSON and as JUnit.
//!
//! A case is worded at once, so that nothing of its session is kept.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Look, words};
use crate::case::judge::{self, Actual, Answer, CaseResult};
use crate::case::{Aspect, Case, Expectation, Fact, Place, Subject};
use rulestep_base::session::Session;
use rulestep_base::wording::glyph::Glyph;
use rulestep_engine::replay::Status;
use rulestep_engine::run::Decision;

/// A case that was judged, in words.
#[derive(Debug, Clone, Serialize)]
pub struct CaseReport {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: String,
    /// The line it begins on, from 1.
    pub line: u32,
    /// Whether everything is as expected.
    pub passed: bool,
    /// The id of its session.
    pub session: String,
    /// `enforce` or `shadow`.
    pub mode: &'static str,
    /// The version it was judged by.
    pub policy: String,
    /// The number of wants.
    pub wants: usize,
    /// No rule had anything to decide, which the case does not ask for: it tests nothing.
    #[serde(skip)]
    pub idle: bool,
    /// The unmet expectations.
    pub unmet: Vec<FailedExpectation>,
}

/// One thing that is not as expected.
#[derive(Debug, Clone, Serialize)]
pub struct FailedExpectation {
    /// The subject: `turn 2 call 1 issue_refund`.
    pub subject: String,
    /// The key of the expectation.
    pub key: String,
    /// The expected value.
    pub expected: Value,
    /// The actual value; `null` also if there is none.
    pub got: Value,
    /// Why there is nothing to ask, or the findings of the call in question, with their rules.
    pub because: Vec<String>,
    /// The line of the key, from 1.
    pub line: u32,
}

/// Totals of all cases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Cases that were judged.
    pub cases: u64,
    /// Those whose expectations are all met.
    pub passed: u64,
    /// The others.
    pub failed: u64,
    /// Cases that could not be judged.
    pub broken: u64,
}

/// Puts a judged case into words.
pub fn told(case: &Case, judged: &CaseResult) -> CaseReport {
    let replay = &judged.replay;
    CaseReport {
        name: case.title(),
        file: case.source.name().to_owned(),
        line: case.line(),
        passed: judged.passes(),
        session: replay.session().id.to_string(),
        mode: case.mode.word(),
        policy: replay.policy().digest().to_string(),
        wants: judged.answers.len(),
        idle: judged.answers.is_empty() || (replay.status() == Status::NotExercised && !asks_for_idle(case)),
        unmet: judged.answers.iter().filter_map(|answer| unmet(case, judged, answer)).collect(),
    }
}

/// Whether the case itself says that nothing is exercised.
fn asks_for_idle(case: &Case) -> bool {
    let mut wants = case.expect.iter().flat_map(|expected| &expected.wants);
    wants.any(|want| matches!(&want.expected, Fact::Word(word) if **word == *Status::NotExercised.word()))
}

/// Writes what is not as expected, case by case, and the totals.
pub fn text(cases: &[CaseReport], totals: &Totals, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let paint = |style: Style, text: &str| {
        if look.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    };
    let (red, green) = (AnsiColor::Red.on_default(), AnsiColor::Green.on_default());
    for case in cases.iter().filter(|case| !case.passed) {
        let place = format!("{}:{}", words::name(&case.file), case.line);
        writeln!(
            out,
            "{} {}  {place}",
            paint(red, Glyph::Deny.unicode()),
            paint(Style::new().bold(), &words::line(&case.name))
        )?;
        let (mut subject, mut said): (&str, &[String]) = ("", &[]);
        for unmet in &case.unmet {
            if subject != unmet.subject {
                (subject, said) = (&unmet.subject, &[]);
                writeln!(out, "  {subject}")?;
            }
            let row = |label: &str, text: &str| format!("      {label:<9} {text}");
            let line = paint(Style::new().dimmed(), &format!("line {}", unmet.line));
            writeln!(
                out,
                "{}  {line}",
                row("expected", &format!("{} {}", unmet.key, shown(&unmet.expected)))
            )?;
            writeln!(out, "{}", row("got", &paint(red, &shown(&unmet.got))))?;
            // A reason of several keys is given once.
            let news = unmet.because.iter().filter(|because| !said.contains(because));
            for (nth, because) in news.enumerate() {
                writeln!(out, "{}", row(if nth == 0 { "because" } else { "" }, because))?;
            }
            said = &unmet.because;
        }
        writeln!(out)?;
    }
    let idle = match cases.iter().filter(|case| case.passed && case.idle).count() as u64 {
        0 => String::new(),
        1 => " (1 exercises no rule)".to_owned(),
        idle => format!(" ({} exercise no rule)", words::thousands(idle)),
    };
    let passed = format!("{} as expected{idle}", words::thousands(totals.passed));
    let mut parts = vec![paint(green, &passed)];
    if totals.failed > 0 {
        parts.push(paint(red, &format!("{} not", words::thousands(totals.failed))));
    }
    if totals.broken > 0 {
        parts.push(paint(red, &format!("{} could not be judged", words::thousands(totals.broken))));
    }
    writeln!(out, "{}: {}", words::count(totals.cases + totals.broken, "case"), parts.join(", "))
}

/// Writes an object for each case, on a line of its own, and one with the totals.
pub fn json(cases: &[CaseReport], totals: &Totals, out: &mut dyn Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        schema: &'static str,
        case: &'a CaseReport,
    }
    for case in cases {
        serde_json::to_writer(&mut *out, &Line { schema: SCHEMA, case })?;
        writeln!(out)?;
    }
    writeln!(out, "{}", json!({"schema": SCHEMA, "totals": totals}))
}

/// Writes a report with a suite for each file. `broken` are files with cases that could not be judged, and why.
pub fn junit(cases: &[CaseReport], broken: &[(String, String)], out: &mut dyn Write) -> io::Result<()> {
    let mut report = Report::new("rulestep test");
    let mut suites: Vec<TestSuite> = Vec::new();
    let mut add = |file: &str, case: TestCase| {
        let place = suites.iter().position(|suite| suite.name.as_str() == file);
        let place = place.unwrap_or_else(|| {
            suites.push(TestSuite::new(file));
            suites.len() - 1
        });
        if let Some(suite) = suites.get_mut(place) {
            suite.add_test_case(case);
        }
    };
    for case in cases {
        let status = if case.passed {
            TestCaseStatus::success()
        } else {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let lines: Vec<String> = case.unmet.iter().flat_map(FailedExpectation::lines).collect();
            status.set_message(lines.first().cloned().unwrap_or_default()).set_description(lines.join("\n"));
            status
        };
        let mut made = TestCase::new(words::line(&case.name), status);
        made.set_classname(case.file.as_str());
        add(&case.file, made);
    }
    for (file, why) in broken {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(words::line(why));
        add(file, TestCase::new("cases that can be judged", status));
    }
    report.add_test_suites(suites);
    report.serialize(&mut *out).map_err(io::Error::other)
}

const SCHEMA: &str = "rulestep.test/1";

impl FailedExpectation {
    /// `turn 2 call 1 issue_refund: decision is allow, expected deny`, and why.
    fn lines(&self) -> impl Iterator<Item = String> {
        let (got, expected) = (shown(&self.got), shown(&self.expected));
        let first =
            format!("{}: {} is {got}, expected {expected} (line {})", self.subject, self.key, self.line);
        std::iter::once(first).chain(self.because.iter().cloned())
    }
}

fn unmet(case: &Case, judged: &CaseResult, answer: &Answer) -> Option<FailedExpectation> {
    if answer.met {
        return None;
    }
    let expected = case.expect.get(answer.expectation)?;
    let want = expected.wants.get(answer.want)?;
    let replay = &judged.replay;
    let (got, because) = match &answer.got {
        Actual::Fact(got) => (got.to_json(), reasons(expected, &want.aspect, judged)),
        Actual::NoCall => (Value::Null, vec![missing_call(expected, replay.session())]),
        Actual::NoTurn => {
            let turns = words::count(replay.session().turns.len() as u64, "turn");
            (Value::Null, vec![format!("the session has {turns}")])
        }
        Actual::NotOffered => (Value::Null, vec!["the tool is not offered in this turn".to_owned()]),
        Actual::Rules(0) => (Value::Null, vec!["no session rule has this id".to_owned()]),
        Actual::Rules(several) => {
            (Value::Null, vec![format!("{several} session rules have an id with this ending")])
        }
    };
    Some(FailedExpectation {
        subject: subject(&expected.subject, replay.session()),
        key: words::line(want.aspect.key()),
        expected: want.expected.to_json(),
        got,
        because,
        line: case.source.position(want.key_span.start).line,
    })
}

fn subject(subject: &Subject, session: &Session) -> String {
    match subject {
        Subject::Call(place) => match (judge::call(*place, session), place) {
            (_, Place::NotTaken(at)) => format!("turn {} choice {} call {}", at.turn, at.choice, at.call),
            (Some(call), _) => format!("{} {}", words::at(call.at, session), words::name(&call.tool)),
            (None, Place::In { turn, call }) => format!("turn {turn} call {call}"),
            (None, Place::Index(index)) => format!("call with index {index}"),
        },
        Subject::Turn(turn) => format!("turn {turn}"),
        Subject::Rule(rule) => words::name(rule).into_owned(),
        Subject::Session => "session".to_owned(),
    }
}

fn missing_call(expected: &Expectation, session: &Session) -> String {
    match expected.subject {
        Subject::Call(Place::In { turn, .. }) => match session.turn(turn) {
            Some(found) => format!("turn {turn} has {}", words::count(found.calls.len() as u64, "call")),
            None => format!("the session has {}", words::count(session.turns.len() as u64, "turn")),
        },
        Subject::Call(Place::NotTaken(at)) => {
            let others = session.alternatives_of(at.turn);
            match others.iter().find(|other| other.choice == at.choice) {
                Some(other) => {
                    let calls = words::count(other.calls().len() as u64, "call");
                    format!("choice {} of turn {} has {calls}", at.choice, at.turn)
                }
                None => {
                    let others = words::count(others.len() as u64, "choice");
                    format!("turn {} has {others} besides the one that was taken", at.turn)
                }
            }
        }
        _ => format!("the session has {}", words::count(session.calls.len() as u64, "call")),
    }
}

/// Why it is as it is: what rules said of the call, of the tool, or of the session's stopped calls.
fn reasons(expected: &Expectation, aspect: &Aspect, judged: &CaseResult) -> Vec<String> {
    let replay = &judged.replay;
    let (session, rules) = (replay.session(), replay.policy().rules());
    let findings = |decision: &Decision, at: &str| -> Vec<String> {
        let found = decision.findings.iter().filter_map(|finding| {
            let said = finding.explain(rules, session)?;
            Some(format!("{at}{}: {}  {}", finding.code, said.headline, said.rule.place()))
        });
        found.take(MOST_REASONS).collect()
    };
    match (&expected.subject, aspect) {
        (Subject::Call(_), Aspect::Tool) => Vec::new(),
        (Subject::Call(place), _) => {
            let decided = judge::decided(*place, replay);
            decided.map(|(_, decision)| findings(decision, "")).unwrap_or_default()
        }
        (Subject::Turn(turn), Aspect::Offered(tool)) => {
            let frame = replay.frame(*turn);
            let tools = frame.iter().flat_map(|frame| &frame.narrowing.tools);
            let reasons =
                tools.filter(|narrowed| narrowed.tool == *tool).flat_map(|narrowed| &narrowed.reasons);
            reasons.map(|reason| words::reason(reason, rules)).collect()
        }
        (Subject::Session, Aspect::Status | Aspect::Count(_)) => {
            let stopped = replay.made().filter(|(_, judged)| judged.decision.verdict.stops());
            let said = stopped.flat_map(|(call, judged)| {
                let at = format!("{} {}: ", words::at(call.at, session), words::name(&call.tool));
                findings(&judged.decision, &at).into_iter().take(1)
            });
            said.take(MOST_REASONS).collect()
        }
        _ => Vec::new(),
    }
}

/// Findings of one unmet expectation that are reported.
const MOST_REASONS: usize = 5;

/// A fact as people read it.
pub fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => words::line(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}
