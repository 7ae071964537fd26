//! What is known of a session only from the others of its file: a unique name, and whether results were recorded at
//! all.

use std::collections::{HashSet, VecDeque};
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::num::ParseIntError;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::contract::line::SessionLine;
use crate::contract::out::ReadSession;
use crate::contract::{Format, Options, Others};
use crate::input::digest::digest;
use crate::overlooked;
use rulestep_base::diagnostic::{Diagnostic, Loss, Severity, code};
use rulestep_base::session::{Call, Outcome, Results, Session, Turn};
use rulestep_base::source::quoted;

/// The last step before a session is returned.
///
/// Whether a file keeps results is known at the first one, or at the file's end. Until then its sessions with calls are
/// held back, at most [`Finish::MOST_HELD`] bytes. Beyond that the rest of the input is searched, if that is possible;
/// if not, results count as recorded, so that no call is taken for a success that may not be one.
pub struct Finish {
    file: Arc<str>,
    following: bool,
    excerpt: bool,
    /// From this many results on, it is reported that none is marked as failed.
    many: u64,
    kept: ResultState,
    held: VecDeque<ReadSession>,
    held_bytes: usize,
    ready: VecDeque<(Session, Option<SessionLine>)>,
    counted: Counted,
    ended: bool,
    others: Option<Others>,
    /// Whether a session depends on other files.
    asked_others: bool,
}

/// Counts over the sessions of a file, for the sessions that follow and for the diagnostics at its end.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Counted {
    /// Sessions.
    pub index: usize,
    /// Hashes of the ids that were given.
    ids: Ids,
    results: u64,
    calls: u64,
    /// Places that were lost.
    lost: u64,
    /// Calls whose arguments were read in Python notation.
    in_python: u32,
    /// Whether failures are marked.
    marked: bool,
}

/// Hashes of ids. They are equal for equal ids also in another run of the same program.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
struct Ids(HashSet<u64>);

impl Ids {
    /// Whether it is a new one.
    fn insert(&mut self, id: &str) -> bool {
        let mut hash = DefaultHasher::new();
        id.hash(&mut hash);
        self.0.insert(hash.finish())
    }
}

/// One text, since lists of numbers take long to read.
impl From<Ids> for String {
    fn from(ids: Ids) -> String {
        let mut text = String::with_capacity(16 * ids.0.len());
        for id in ids.0 {
            let _ = write!(text, "{id:016x}");
        }
        text
    }
}

impl TryFrom<String> for Ids {
    type Error = ParseIntError;

    fn try_from(text: String) -> Result<Ids, ParseIntError> {
        let digits = text.as_bytes().chunks(16).map(|digits| str::from_utf8(digits).unwrap_or_default());
        digits.map(|digits| u64::from_str_radix(digits, 16)).collect::<Result<_, _>>().map(Ids)
    }
}

/// Whether the file has results.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ResultState {
    NotYetKnown,
    Recorded,
    Absent,
}

/// From this many results on, it is reported that none has a mark of failure, if the format has such marks.
const MANY_RESULTS: u64 = 20;

impl Finish {
    /// Bytes of messages and calls that are held back while no result was seen.
    const MOST_HELD: usize = 8 << 20;

    /// For the sessions of one file.
    pub fn new(file: &Arc<str>, format: &'static Format, options: &Options) -> Finish {
        let undecided = format.absent_without_results && !options.following;
        Finish {
            file: Arc::clone(file),
            following: options.following,
            excerpt: options.excerpt,
            many: if format.marks_failures { MANY_RESULTS } else { 1 },
            kept: if undecided { ResultState::NotYetKnown } else { ResultState::Recorded },
            held: VecDeque::new(),
            held_bytes: 0,
            ready: VecDeque::new(),
            counted: Counted { marked: options.error.is_some(), ..Counted::default() },
            ended: false,
            others: options.others.clone(),
            asked_others: false,
        }
    }

    /// For sessions after counted ones, if results are known to be recorded.
    pub fn resume(file: &Arc<str>, format: &'static Format, options: &Options, counted: Counted) -> Finish {
        Finish { kept: ResultState::Recorded, counted, ..Finish::new(file, format, options) }
    }

    /// The counts, if what follows changes no earlier diagnostic.
    pub fn counted(&self) -> Option<&Counted> {
        (self.kept == ResultState::Recorded && !self.following).then_some(&self.counted)
    }

    /// Takes a session; `alone`: the file is known to hold no other. `lost`: lost parts of the file so far that belong
    /// to no session.
    pub fn push(&mut self, mut made: ReadSession, alone: bool, lost: u64, diagnostics: &mut Vec<Diagnostic>) {
        overlooked::tell(&mut made.session);
        if let Some(other) = made.fork.take() {
            self.copied_from(&other, &mut made.session);
        }
        let Session { messages, calls, diagnostics: told, .. } = &mut made.session;
        if self.excerpt {
            let unasked = told.iter_mut().filter(|told| told.code == code::RESULT_WITHOUT_CALL);
            unasked.for_each(|told| told.loss = None);
        }
        let unread = told.iter().filter(|told| told.may_lose_calls()).count() as u64;
        let only = alone && self.counted.index == 0 && !self.following;
        if only && messages.is_empty() && calls.is_empty() && unread + lost > 0 {
            // Nothing of the file could be read, so it holds no session: the file itself is reported.
            self.counted.lost += unread;
            return diagnostics.append(told);
        }
        self.name(&mut made.session, alone);
        if made.session.messages.is_empty() {
            let notice = Diagnostic::notice(code::EMPTY_SESSION, "the session has no message");
            let line = u64::from(made.session.origin.line);
            made.session.diagnostics.push(notice.on_line(Arc::clone(&self.file), line));
        }
        self.counted.results += made.results;
        self.counted.in_python += made.in_python;
        self.counted.calls += made.session.calls.len() as u64;
        self.counted.lost += unread;
        self.counted.marked |= made.marks_errors;
        if made.results > 0 && self.kept == ResultState::NotYetKnown {
            self.settle(ResultState::Recorded);
        }
        let needs_no_answer = made.states_results || made.session.calls.is_empty();
        if self.kept != ResultState::NotYetKnown || needs_no_answer && self.held.is_empty() {
            self.ready.push_back(self.settled(made));
            return;
        }
        self.held_bytes += size(&made.session);
        self.held.push_back(made);
    }

    /// Marks the calls at the beginning of a fork that the other session made.
    fn copied_from(&mut self, other: &str, session: &mut Session) {
        self.asked_others = true;
        let made = self.others.as_ref().and_then(|others| others(other));
        let Some(made) = made else {
            if self.following {
                return;
            }
            let message = format!(
                "the session is a fork of {}, which is not among the recordings; where it went on is not in its log, so all \
                 its calls are counted",
                quoted(other)
            );
            let line = u64::from(session.origin.line);
            let notice = Diagnostic::notice(code::FORK_SOURCE_MISSING, message);
            return session.diagnostics.push(notice.on_line(Arc::clone(&self.file), line));
        };
        let first = session.calls.iter_mut().take_while(|call| made.contains(&call_digest(call)));
        first.for_each(|call| call.copied = true);
    }

    /// Whether a session of the file depends on other files.
    pub fn has_asked_others(&self) -> bool {
        self.asked_others
    }

    /// The next session that is complete, and the line that it is.
    pub fn pop(&mut self) -> Option<(Session, Option<SessionLine>)> {
        self.ready.pop_front()
    }

    /// Ends the file: returns the held sessions one by one. `lost`: lost parts of the file that belong to no session.
    pub fn end(
        &mut self,
        lost: u64,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<(Session, Option<SessionLine>)> {
        if !std::mem::replace(&mut self.ended, true) {
            if self.kept == ResultState::NotYetKnown && !self.held.is_empty() {
                self.settle(ResultState::Absent);
            }
            if self.kept == ResultState::Absent {
                let message = "the file has calls but no results, so every call counts as ok";
                let notice = Diagnostic::notice(code::NO_RESULTS_RECORDED, message);
                diagnostics.push(notice.in_file(Arc::clone(&self.file)));
            }
            if self.counted.results >= self.many && !self.counted.marked {
                let message = match self.counted.results {
                    1 => "the only result is not marked as failed".to_owned(),
                    results => format!("none of {results} results is marked as failed"),
                };
                let notice =
                    Diagnostic::notice(code::NO_ERRORS_MARKED, message).in_file(Arc::clone(&self.file));
                diagnostics
                    .push(notice.help("if failures can be recognised by their text, use `--error-regex RE`"));
            }
            diagnostics.extend(self.python());
            // Harmless beside a session, this is all there was without one.
            let strays =
                |told: &&Diagnostic| told.loss == Some(Loss::Harmless) && told.severity == Severity::Warning;
            let strays = diagnostics.iter().filter(strays).count() as u64;
            diagnostics.extend(self.unread(if self.counted.index == 0 { lost + strays } else { lost }));
        }
        self.ready.pop_front()
    }

    /// How many calls have arguments that are not JSON and were read anyway.
    fn python(&self) -> Option<Diagnostic> {
        let message = match self.counted.in_python {
            0 => return None,
            1 => "the arguments of 1 call are in Python notation, and are read as such".to_owned(),
            count => format!("the arguments of {count} calls are in Python notation, and are read as such"),
        };
        Some(Diagnostic::notice(code::ARGUMENTS_NOT_JSON, message).in_file(Arc::clone(&self.file)))
    }

    /// The diagnostic that parts of the file which may hold calls were lost: the result for the rest is not the whole
    /// answer, so a run in which nothing was stopped is no success.
    fn unread(&self, lost: u64) -> Option<Diagnostic> {
        let lost = self.counted.lost + lost;
        if lost == 0 || self.following {
            return None;
        }
        let parts = match lost {
            1 => "1 part of the file is".to_owned(),
            count => format!("{count} parts of the file are"),
        };
        let (code, message) = match (self.counted.index, self.counted.calls) {
            (0, _) => (code::EMPTY_SESSION, format!("no session could be read: {parts} damaged or skipped")),
            (_, 0) => (
                code::DAMAGED_RECORD,
                format!("no call could be read: {parts} damaged or skipped, and may have contained calls"),
            ),
            _ => (
                code::DAMAGED_RECORD,
                format!(
                    "the file could not be read completely: {parts} damaged or skipped, and may have contained calls"
                ),
            ),
        };
        Some(Diagnostic::error(code, message).in_file(Arc::clone(&self.file)))
    }

    fn settle(&mut self, kept: ResultState) {
        self.kept = kept;
        while let Some(made) = self.held.pop_front() {
            let session = self.settled(made);
            self.ready.push_back(session);
        }
        self.held_bytes = 0;
    }

    fn settled(&self, made: ReadSession) -> (Session, Option<SessionLine>) {
        let ReadSession { mut session, states_results, mut line, .. } = made;
        if self.kept == ResultState::Absent && !states_results {
            session.without_results();
            line.iter_mut().for_each(|line| line.without_results = true);
        }
        if session.facts.results == Results::Recorded && !self.following {
            unanswered(&mut session);
        }
        (session, line)
    }

    /// Whether more is held back than may be, so that it is to be decided now whether results are recorded.
    pub fn holds_too_much(&self) -> bool {
        self.held_bytes > Self::MOST_HELD
    }

    /// Decides whether the file has a result; `found`: what looking ahead found, if that was possible.
    pub fn decide(&mut self, found: Option<bool>, diagnostics: &mut Vec<Diagnostic>) {
        if found.is_none() {
            let message = format!(
                "no result among the first {} MiB of sessions; their calls count as unknown, since the rest is not read yet",
                Self::MOST_HELD >> 20
            );
            let notice = Diagnostic::notice(code::NO_RESULTS_RECORDED, message);
            diagnostics.push(notice.in_file(Arc::clone(&self.file)));
        }
        self.settle(if found == Some(false) { ResultState::Absent } else { ResultState::Recorded });
    }

    /// Gives the session its place, and an id that is unique in the file.
    fn name(&mut self, session: &mut Session, alone: bool) {
        let index = self.counted.index;
        self.counted.index += 1;
        session.origin.index = index;
        if session.id.is_empty() {
            let stem = match &*self.file {
                "-" => "stdin",
                file => Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or(file),
            };
            session.id = if alone && index == 0 { stem.into() } else { format!("{stem}#{index}").into() };
        }
        let given = Arc::clone(&session.id);
        while !self.counted.ids.insert(&session.id) {
            session.id = format!("{}#{index}", session.id).into();
        }
        if given != session.id {
            let message = format!("the id {} is not the first of its name in the file", quoted(&given));
            let notice = Diagnostic::notice(code::DAMAGED_RECORD, message);
            session.diagnostics.push(notice.on_line(Arc::clone(&self.file), u64::from(session.origin.line)));
        }
    }
}

/// Identifies a call, in the session that made it and in its forks.
pub fn call_digest(call: &Call) -> u64 {
    digest((call.id.as_deref(), &*call.tool, call.arguments.raw()))
}

fn size(session: &Session) -> usize {
    let messages: usize = session.messages.iter().map(|message| message.content.size() + 96).sum();
    let calls: usize = session.calls.iter().map(|call| call.arguments.size() + 192).sum();
    messages + calls
}

/// Says how many calls have no result.
fn unanswered(session: &mut Session) {
    let mut unknown = session.calls.iter().filter(|call| call.outcome == Outcome::Unknown);
    let Some(first) = unknown.next() else { return };
    let count = 1 + unknown.count();
    let message_of = |turn: &Turn| session.messages.get(turn.messages.start);
    let line =
        session.turn(first.at.turn).and_then(message_of).map_or(session.origin.line, |begins| begins.line);
    let message = match count {
        1 => "1 call has no result".to_owned(),
        count => format!("{count} calls have no result; the first is here"),
    };
    let notice = Diagnostic::notice(code::CALL_WITHOUT_RESULT, message);
    session.diagnostics.push(notice.on_line(Arc::clone(&session.origin.file), u64::from(line)));
}
