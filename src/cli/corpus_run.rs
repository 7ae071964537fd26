//! The one loop of all commands that go through recordings.
//!
//! A command says what it makes of a session and what it does with that. Which sessions are chosen, interrupts, progress,
//! redaction, the messages about damaged files and about sessions that are left out, and the exit code are decided here.

use std::ops::ControlFlow;
use std::sync::Arc;

use anyhow::Context as _;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::args;
use super::exit::{Exit, Failure};
use super::input::cached::{self, Answers};
use super::input::{self, Cache, SessionSource, Sessions, kept};
use super::redacted::redacted;
use super::screen::Screen;
use super::selection::{Changes, Chosen, Judge, Nothing, Selection};
use crate::corpus::Corpus;
use crate::explore::identity::Identity;
use crate::report::RunCounts;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::Session;
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;

/// Bytes that counts of a session take, about.
pub const COUNTED: usize = 8 << 10;

/// A run over recordings.
pub struct CorpusRun<'a> {
    /// Where the sessions come from.
    pub source: SessionSource<'a>,
    /// How they are read.
    pub reading: &'a args::Reading,
    /// Which of them are chosen.
    pub selection: Selection,
    /// What a replay assumes after a stopped call.
    pub mode: Mode,
    /// The policies that decide: one, or two versions that are compared.
    pub policies: Vec<Arc<Policy>>,
    /// Whether the values that no rule reads are blanked.
    pub redact: bool,
    /// Whether skipped files fail the run.
    pub strict: bool,
    /// Whether the result says which sessions it is about.
    pub identifies: bool,
    /// What was read, and how completely.
    pub read: RunCounts,
    /// What is wrong with files, once all are read.
    pub file_problems: Vec<Diagnostic>,
    jobs: usize,
    sessions: Sessions,
}

/// What a command keeps of a session. It takes the replay if there is one, counts the session, and adds diagnostics.
type Make<'j, T> =
    dyn Fn(Arc<Session>, Option<Replay>, &mut RunCounts, &mut Vec<Diagnostic>) -> T + Sync + 'j;

/// What a command does with a session, on any thread.
pub struct Job<'j, T> {
    /// Replays a session, for a filter that asks for decisions.
    pub judge: &'j Judge<'j>,
    /// Counts what changes in a session, for a filter that asks for changes.
    pub changes: &'j Changes<'j>,
    /// What is kept of a session, from its replay if the filter needed one. It counts the session, and adds diagnostics.
    pub make: &'j Make<'j, T>,
}

/// What is kept of a session, or of several in the cache.
#[derive(Default, Serialize, Deserialize)]
pub struct Answer<T> {
    /// What the command made; `None` if the session was left out.
    pub made: Option<T>,
    total: RunCounts,
    sessions: Vec<Identity>,
    /// Diagnostics about the recording.
    #[serde(with = "kept::diagnostics")]
    pub diagnostics: Vec<Diagnostic>,
}

/// What a command does with each answer, in the order of the recordings. The totals include the answer's session.
pub type Take<'t, T> = dyn FnMut(Answer<T>, &RunCounts, &mut Screen) -> Result<(), Failure> + 't;

/// Results that the cache can keep.
pub trait Sum: Serialize + DeserializeOwned + Default + Send {
    /// Adds those of later sessions.
    fn add(&mut self, later: &Self);

    /// Bytes that they take, about.
    fn weight(&self) -> usize {
        COUNTED
    }
}

impl<T: Sum> Answers for Answer<T> {
    fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    fn append(&mut self, later: &Answer<T>) {
        if let Some(more) = &later.made {
            self.made.get_or_insert_default().add(more);
        }
        self.total.merge(&later.total);
        self.sessions.extend_from_slice(&later.sessions);
        self.diagnostics.extend_from_slice(&later.diagnostics);
    }

    fn weight(&self) -> usize {
        self.made.as_ref().map_or(COUNTED, T::weight)
    }
}

/// How answers are computed and taken: with the cache, or without.
type Drive<'d, T> = dyn FnMut(
        &Selection,
        &Corpus,
        &mut Sessions,
        &(dyn Fn(Session) -> Answer<T> + Sync),
        &mut dyn FnMut(Answer<T>) -> ControlFlow<()>,
    ) + 'd;

impl<'a> CorpusRun<'a> {
    /// Over the sessions of a source.
    ///
    /// # Errors
    /// An option about reading makes no sense.
    pub fn over(
        source: SessionSource<'a>,
        reading: &'a args::Reading,
        selection: Selection,
        mode: Mode,
        jobs: usize,
        screen: &Screen,
    ) -> Result<CorpusRun<'a>, Failure> {
        Ok(CorpusRun {
            sessions: Sessions::new(&source, input::options(reading)?, screen),
            source,
            reading,
            selection,
            mode,
            policies: Vec::new(),
            redact: false,
            strict: false,
            identifies: true,
            read: RunCounts::default(),
            file_problems: Vec::new(),
            jobs,
        })
    }

    /// Over what the arguments of a command name; `usage` is what to type if they name nothing.
    ///
    /// # Errors
    /// They name nothing, or an option makes no sense.
    pub fn of(usage: &str, corpus: &'a args::Corpus, screen: &Screen) -> Result<CorpusRun<'a>, Failure> {
        CorpusRun::chosen(usage, corpus, Selection::of(&corpus.selection)?, screen)
    }

    /// The same with a selection that was read already.
    ///
    /// # Errors
    /// See [`of`](CorpusRun::of).
    pub fn chosen(
        usage: &str,
        args::Corpus { recordings, judging, threads, .. }: &'a args::Corpus,
        selection: Selection,
        screen: &Screen,
    ) -> Result<CorpusRun<'a>, Failure> {
        let source = recordings.source(usage)?;
        CorpusRun::over(source, &recordings.reading, selection, judging.mode.into(), threads.jobs, screen)
    }

    /// The files by the names under which they are shown.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sessions.names()
    }

    /// Whether all sessions of the recordings were looked at.
    pub fn is_whole(&self) -> bool {
        !self.read.reading.interrupted && self.selection.given().is_empty()
    }

    /// Where earlier results of this question are kept. They depend on `options` beside the policy, the recordings and how
    /// these are read.
    pub fn cache(&self, caching: &args::Caching, policies: &args::Policies, options: &str) -> Option<Cache> {
        let policies: Vec<_> = self.policies.iter().map(|policy| (policies, &**policy)).collect();
        Cache::of(caching, &self.source, self.reading, &self.selection, &policies, options)
    }

    /// Puts every chosen session through a job, and its answers to `take`; `weigh` says how many bytes one takes.
    ///
    /// # Errors
    /// `take` failed, or the system does.
    pub fn run<T: Send>(
        &mut self,
        job: &Job<'_, T>,
        weigh: &(dyn Fn(&T) -> usize + Sync),
        take: &mut Take<'_, T>,
        screen: &mut Screen,
    ) -> Result<(), Failure> {
        let weigh = |answer: &Answer<T>| answer.made.as_ref().map_or(0, weigh);
        self.drive(job, take, screen, &mut |selection, corpus, sessions, answer, take| {
            selection.run(corpus, sessions, answer, &weigh, take);
        })
    }

    /// The same with the cache.
    ///
    /// # Errors
    /// See [`run`](CorpusRun::run).
    pub fn run_cached<T: Sum>(
        &mut self,
        mut cache: Option<Cache>,
        job: &Job<'_, T>,
        take: &mut Take<'_, T>,
        screen: &mut Screen,
    ) -> Result<(), Failure> {
        self.drive(job, take, screen, &mut |selection, corpus, sessions, answer, take| {
            cached::run(cache.take(), selection, corpus, sessions, answer, take);
        })
    }

    fn drive<T: Send>(
        &mut self,
        job: &Job<'_, T>,
        take: &mut Take<'_, T>,
        screen: &mut Screen,
        drive: &mut Drive<'_, T>,
    ) -> Result<(), Failure> {
        input::watch_interrupts()?;
        let corpus = Corpus::new(self.jobs).context("no thread can be started").map_err(Failure::System)?;
        self.sessions.join_for(self.policies.iter().map(|policy| &**policy));
        self.sessions.show_progress(screen);
        let CorpusRun { selection, mode, policies, redact, identifies, read, sessions, .. } = self;
        let (redact, identifies, mode) = (*redact, *identifies, *mode);
        let policies: Vec<&Arc<Policy>> = policies.iter().collect();
        let answer = |session| match selection.choose(session, job.judge, job.changes) {
            Ok(Chosen { mut session, mut diagnostics, mut replay }) => {
                let sessions = identifies.then(|| Identity::of(&session)).into_iter().collect();
                if redact {
                    let mut blank = redacted(&session, &policies, mode);
                    diagnostics.append(&mut blank.diagnostics);
                    (session, replay) = (Arc::new(blank), None);
                }
                let mut total = RunCounts::default();
                let made = Some((job.make)(session, replay, &mut total, &mut diagnostics));
                Answer { made, total, sessions, diagnostics }
            }
            // What was lost in reading it may have been part of another session.
            Err(diagnostics) => {
                Answer { made: None, total: RunCounts::default(), sessions: Vec::new(), diagnostics }
            }
        };
        let mut taken = Ok(());
        let mut take = |mut answer: Answer<T>| {
            answer.diagnostics.iter().for_each(|diagnostic| screen.tell_recording(diagnostic));
            read.merge(&answer.total);
            read.note(&answer.diagnostics);
            read.provenance.sessions.append(&mut answer.sessions);
            taken = take(answer, read, screen);
            if taken.is_err() || input::interrupted() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        drive(selection, &corpus, sessions, &answer, &mut take);
        screen.end_progress();
        taken?;
        self.file_problems = self.sessions.finish(self.strict, screen);
        self.read.files(&self.file_problems, &self.sessions.skipped);
        (self.read.reading.interrupted, self.read.strict) = (input::interrupted(), self.strict);
        Ok(())
    }

    /// Says what else there is to say of the recordings, and how many sessions were chosen. Not part of `run`, so that a command
    /// can say first what all sessions show.
    pub fn close(&mut self, screen: &mut Screen) {
        screen.tell_rest();
        self.selection.describe(self.reading, &mut self.read.provenance);
        self.selection.report(self.read.counts.sessions, self.sessions.count, screen);
    }

    /// Why nothing was judged, if nothing was.
    pub fn nothing(&self) -> Option<Nothing> {
        let judged = self.read.counts.sessions > 0 || self.read.reading.interrupted;
        if judged { None } else { self.selection.nothing(self.sessions.count) }
    }

    /// How the command ends. What was not read may hold anything, and no session says nothing, unless it is a shard of what was
    /// read.
    pub fn exit(&self, found: bool) -> Exit {
        let read = &self.read;
        match (read.reading.interrupted, found) {
            (true, _) => Exit::Interrupted,
            _ if self.strict && read.reading.skipped > 0 => Exit::Bad,
            (_, true) => Exit::Found,
            _ if read.reading.diagnostics.errors > 0
                || (read.counts.sessions == 0 && read.provenance.shards.is_empty()) =>
            {
                Exit::Bad
            }
            _ => Exit::Clean,
        }
    }
}
