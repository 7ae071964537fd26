//! The cases that are kept beside the policy, and their latest results.

mod lines;

use std::sync::Arc;

use crate::case::judge::{CaseResult, call, decided, is_named};
use crate::case::{Case, CaseSession, Place, Subject, stem};
use crate::report::cases::{CaseReport, shown, told};
use crate::report::words;
use crate::workbench::list::List;
use crate::workbench::transcript::contains;
use crate::workspace::cases::{CaseFile, CaseFiles, CaseRun};
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::Session;
use rulestep_engine::policy::Policy;
use rulestep_engine::run::Mode;

/// The cases, those first that want to be looked at.
#[derive(Default)]
pub struct CaseList {
    /// All cases.
    pub cases: Vec<Arc<CaseEntry>>,
    /// Problems of their files.
    pub problems: Vec<Diagnostic>,
    /// Some session is in a recording: it may be another one when that changes.
    pub in_recordings: bool,
    /// The newest request to judge them, and the newest that was answered.
    asked: u64,
    answered: u64,
}

/// A case, or a file of cases that cannot be read.
pub struct CaseEntry {
    /// Its file.
    pub file: Arc<str>,
    /// The line it begins on, from 1.
    pub line: u32,
    /// Its name.
    pub name: String,
    /// The rules that it tests, as people call them; if it names or meets none, the policy as it is written in the
    /// case.
    pub tests: String,
    /// Its result.
    pub state: CaseState,
    /// Its inputs, unless it cannot be judged.
    pub judged: Option<JudgedCase>,
}

/// The result of a case, the most important first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaseState {
    /// It cannot be read or judged, for this reason.
    Unreadable(String),
    /// Something is not as expected.
    Failed,
    /// All is as expected, but no rule had anything to decide, which the case does not ask for: it tests nothing.
    NotExercised,
    /// All is as expected.
    Passed,
}

/// A case that was judged.
pub struct JudgedCase {
    /// Its session.
    pub session: Arc<Session>,
    /// Its policy, without the rules that it switches off.
    pub policy: Arc<Policy>,
    /// Its mode.
    pub mode: Mode,
    /// Its result in words.
    pub report: CaseReport,
    /// The subject of each unmet expectation, in the order of the report.
    subjects: Vec<Subject>,
    /// The first call that something is expected of.
    first: Option<Place>,
}

/// The number of cases of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CaseCounts {
    /// See [`CaseState`].
    pub passed: usize,
    /// See [`CaseState`].
    pub failed: usize,
    /// See [`CaseState`].
    pub unreadable: usize,
    /// See [`CaseState`].
    pub not_exercised: usize,
}

/// The list on screen.
#[derive(Default)]
pub struct CasesView {
    /// The visible lines, in order.
    pub lines: Vec<CaseLine>,
    /// The cursor.
    pub list: List,
    /// Words that every case shown contains.
    pub filter: String,
}

/// A line of the list; the first number is the place of the case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseLine {
    /// A case.
    Case(usize),
    /// Why it cannot be judged.
    Why(usize),
    /// An unmet expectation.
    Subject(usize, usize),
    /// The expected value, beside the actual one.
    Unmet(usize, usize),
    /// Why that came: the place of the reason.
    Because(usize, usize, usize),
}

impl CaseList {
    /// The results of judging them.
    pub fn of(read: CaseFiles) -> CaseList {
        let mut list = CaseList::default();
        for (file, why) in read.unreadable {
            list.cases.push(Arc::new(CaseEntry::unreadable(file, 1, None, why.message.clone())));
            list.problems.push(why);
        }
        for file in read.files {
            list.add(file);
        }
        // Stable: of one state they are in the order of their files.
        list.cases.sort_by_key(|case| case.state.rank());
        list
    }

    fn add(&mut self, file: CaseFile) {
        let name: Arc<str> = file.source.name().into();
        if let Some((_, why)) = file.broken() {
            let line = why.place().and_then(|place| place.line()).and_then(|line| line.try_into().ok());
            let entry =
                CaseEntry::unreadable(Arc::clone(&name), line.unwrap_or(1), None, why.message.clone());
            self.cases.push(Arc::new(entry));
        }
        let CaseFile { read, runs, .. } = file;
        self.problems.extend(read.diagnostics);
        for (case, CaseRun { result, of_recording, .. }) in read.cases.iter().zip(runs) {
            self.in_recordings |= matches!(case.session, CaseSession::InFile { .. });
            self.problems.extend(of_recording);
            let entry = match result {
                Ok(result) => CaseEntry::judged(case, &result),
                Err(why) => {
                    let entry = CaseEntry::unreadable(
                        Arc::clone(&name),
                        case.line(),
                        Some(case),
                        words::line(&why.message),
                    );
                    self.problems.push(why);
                    entry
                }
            };
            self.cases.push(Arc::new(entry));
        }
    }

    /// The number of a new request to judge them.
    pub fn ask(&mut self) -> u64 {
        self.asked += 1;
        self.asked
    }

    /// Whether they are being judged, so that the shown results may be out of date.
    pub fn is_asked(&self) -> bool {
        self.asked > self.answered
    }

    /// Takes in an answer.
    pub fn take(&mut self, number: u64, list: CaseList) {
        *self = CaseList { asked: self.asked, answered: number, ..list };
    }

    /// The number of cases of each kind.
    pub fn counts(&self) -> CaseCounts {
        let mut counts = CaseCounts::default();
        for case in &self.cases {
            *match case.state {
                CaseState::Unreadable(_) => &mut counts.unreadable,
                CaseState::Failed => &mut counts.failed,
                CaseState::NotExercised => &mut counts.not_exercised,
                CaseState::Passed => &mut counts.passed,
            } += 1;
        }
        counts
    }

    /// The case that now is what another one was: of the same file and name.
    pub fn same(&self, case: &CaseEntry) -> Option<&Arc<CaseEntry>> {
        self.cases.iter().find(|now| now.is(case))
    }
}

impl CaseState {
    fn rank(&self) -> u8 {
        match self {
            CaseState::Unreadable(_) => 0,
            CaseState::Failed => 1,
            CaseState::NotExercised => 2,
            CaseState::Passed => 3,
        }
    }
}

impl CaseEntry {
    fn unreadable(file: Arc<str>, line: u32, case: Option<&Case>, why: String) -> CaseEntry {
        let name = case.map_or_else(|| stem(&file).to_owned(), Case::title);
        let tests = case.map(written).unwrap_or_default();
        CaseEntry { file, line, name, tests, state: CaseState::Unreadable(why), judged: None }
    }

    fn judged(case: &Case, result: &CaseResult) -> CaseEntry {
        let replay = &result.replay;
        let report = told(case, result);
        let state = match (report.passed, report.idle) {
            (false, _) => CaseState::Failed,
            (true, true) => CaseState::NotExercised,
            (true, false) => CaseState::Passed,
        };
        let mut rules = tested(case, result);
        rules.dedup();
        let tests = if rules.is_empty() { written(case) } else { rules.join(", ") };
        let unmet = result.answers.iter().filter(|answer| !answer.met);
        let subject = |at: usize| Some(case.expect.get(at)?.subject.clone());
        let place = |subject: &Subject| match subject {
            Subject::Call(place) => Some(*place),
            _ => None,
        };
        CaseEntry {
            file: case.source.name().into(),
            line: case.line(),
            name: case.title(),
            tests,
            state,
            judged: Some(JudgedCase {
                session: Arc::clone(replay.session()),
                policy: Arc::clone(replay.policy()),
                mode: case.mode,
                subjects: unmet.filter_map(|answer| subject(answer.expectation)).collect(),
                first: case.expect.iter().find_map(|expected| place(&expected.subject)),
                report,
            }),
        }
    }

    /// Whether it is what another one was, before or after an edit.
    pub fn is(&self, other: &CaseEntry) -> bool {
        (&self.file, &self.name) == (&other.file, &other.name)
    }

    fn passes(&self, words: &[&str]) -> bool {
        let state = self.state_word();
        let fields = [&*self.file, &self.name, &self.tests, state];
        words.iter().all(|word| fields.iter().any(|field| contains(field, word)))
    }

    /// Its result, in words.
    pub fn state_word(&self) -> &'static str {
        match self.state {
            CaseState::Unreadable(_) => "could not be judged",
            CaseState::Failed => "failed",
            CaseState::NotExercised => "not exercised",
            CaseState::Passed => "passed",
        }
    }

    /// The unmet expectation at this place, in a sentence.
    pub fn unmet(&self, at: usize) -> Option<String> {
        let unmet = self.judged.as_ref()?.report.unmet.get(at)?;
        let (expected, got) = (shown(&unmet.expected), shown(&unmet.got));
        Some(format!("{}: expected {} {expected}, got {got}", unmet.subject, unmet.key))
    }
}

impl JudgedCase {
    /// The call of an unmet expectation; else the first call that the case is about.
    pub fn call(&self, unmet: Option<usize>) -> Option<u32> {
        let of = |subject: &Subject| match subject {
            Subject::Call(place) => Some(*place),
            _ => None,
        };
        let place = unmet.and_then(|at| self.subjects.get(at)).map_or(self.first, of)?;
        call(place, &self.session).map(|call| call.at.index)
    }

    /// The unmet expectations of a call, by its index.
    pub fn unmet_of(&self, index: u32) -> impl Iterator<Item = usize> {
        let is = move |subject: &Subject| match subject {
            Subject::Call(place) => call(*place, &self.session).is_some_and(|known| known.at.index == index),
            _ => false,
        };
        (0..).zip(&self.subjects).filter(move |(_, subject)| is(subject)).map(|(at, _)| at)
    }
}

impl CaseLine {
    /// The place of the case.
    pub fn case(self) -> usize {
        match self {
            Self::Case(at) | Self::Why(at) | Self::Subject(at, _) => at,
            Self::Unmet(at, _) | Self::Because(at, ..) => at,
        }
    }

    /// The place of the unmet expectation, if it is about one.
    pub fn unmet(self) -> Option<usize> {
        match self {
            Self::Subject(_, at) | Self::Unmet(_, at) | Self::Because(_, at, _) => Some(at),
            Self::Case(_) | Self::Why(_) => None,
        }
    }
}

/// The policy as it is written in the case.
fn written(case: &Case) -> String {
    let paths = case.policy.iter().map(|policy| policy.path.to_string());
    let own = (!case.documents.is_empty()).then(|| "its own policy".to_owned());
    let off = (!case.without.is_empty())
        .then(|| format!("without {}", words::count(case.without.len() as u64, "rule")));
    paths.chain(own).chain(off).collect::<Vec<_>>().join(", ")
}

/// The rules that expectations name, or that decided the calls which they are about.
fn tested(case: &Case, result: &CaseResult) -> Vec<String> {
    let replay = &result.replay;
    let rules = replay.policy().rules();
    let name = |id| rules.get(id).map(words::rule_name);
    let mut named: Vec<String> = Vec::new();
    for expected in &case.expect {
        let rule = match &expected.subject {
            Subject::Call(place) => {
                decided(*place, replay).and_then(|(_, decision)| name(decision.findings.first()?.rule))
            }
            Subject::Rule(rule) => {
                let of = |(_, known): &(_, &rulestep_engine::monitor::Rule)| is_named(known, rule);
                let known = rules.iter().find(of).map(|(_, known)| words::rule_name(known));
                Some(known.unwrap_or_else(|| rule.to_string()))
            }
            Subject::Turn(_) | Subject::Session => None,
        };
        named.extend(rule.filter(|rule| !named.contains(rule)));
    }
    named
}
