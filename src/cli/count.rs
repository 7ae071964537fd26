//! What the counting commands share: every chosen session is counted on some thread, and the counts are merged in order.

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
use super::selection::{Chosen, Selection};
use crate::corpus::Corpus;
use crate::explore::coverage::Coverage;
use crate::explore::identity::Identity;
use crate::explore::inventory::Inventory;
use crate::report::Total;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::Session;
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;

/// Bytes that the counts of a session keep, about.
const COUNTED: usize = 8 << 10;

/// Sessions to be counted, and the policy that judges them.
pub struct Counting<'a> {
    wanted: SessionSource<'a>,
    reading: &'a args::Reading,
    selection: &'a Selection,
    /// The policy.
    pub policy: Arc<Policy>,
    /// What a replay assumes after a stopped call.
    pub mode: Mode,
    /// Whether the values that no rule reads are blanked.
    pub redact: bool,
    jobs: usize,
}

/// Counts that others can be added to.
pub trait Sum: Serialize + DeserializeOwned + Default + Send {
    /// Adds others.
    fn add(&mut self, more: &Self);
}

impl Sum for Coverage {
    fn add(&mut self, more: &Coverage) {
        self.merge(more);
    }
}

impl Sum for Inventory {
    fn add(&mut self, more: &Inventory) {
        self.merge(more);
    }
}

/// What was counted of a session, or of several.
#[derive(Default, Serialize, Deserialize)]
struct Counted<T> {
    /// `None` where no session was looked at.
    counts: Option<T>,
    objected: u64,
    sessions: Vec<Identity>,
    #[serde(with = "kept::diagnostics")]
    diagnostics: Vec<Diagnostic>,
}

impl<T: Sum> Answers for Counted<T> {
    fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    fn append(&mut self, later: &Counted<T>) {
        if let Some(more) = &later.counts {
            self.counts.get_or_insert_default().add(more);
        }
        self.objected += later.objected;
        self.sessions.extend_from_slice(&later.sessions);
        self.diagnostics.extend_from_slice(&later.diagnostics);
    }

    fn weight(&self) -> usize {
        COUNTED
    }
}

/// What puts sessions through: with what was kept of them, or without.
type Drive<'a, T> = dyn FnMut(
        &Corpus,
        &mut Sessions,
        &(dyn Fn(Session) -> Counted<T> + Sync),
        &mut dyn FnMut(Counted<T>) -> ControlFlow<()>,
    ) + 'a;

impl<'a> Counting<'a> {
    /// What the arguments of a command ask for.
    pub fn new(
        verb: &str,
        recordings: &'a args::Recordings,
        selection: &'a Selection,
        policy: Arc<Policy>,
        mode: Mode,
        jobs: usize,
    ) -> Result<Counting<'a>, Failure> {
        let args::Recordings { sessions, samples, reading, .. } = recordings;
        let wanted = SessionSource::of(sessions, *samples, &format!("rulestep {verb} SESSIONS"))?;
        Ok(Counting { wanted, reading, selection, policy, mode, redact: false, jobs })
    }

    /// Sessions that an option names.
    pub fn of(
        named: &'a [String],
        reading: &'a args::Reading,
        selection: &'a Selection,
        policy: Arc<Policy>,
        mode: Mode,
        jobs: usize,
    ) -> Counting<'a> {
        Counting {
            wanted: SessionSource::Named(named),
            reading,
            selection,
            policy,
            mode,
            redact: false,
            jobs,
        }
    }

    /// Replays every chosen session with `judge`, counts it with `count`, and puts the counts to `take` in the order of the
    /// recordings. Returns how completely they were read.
    pub fn run<T: Send>(
        &self,
        judge: fn(&Arc<Session>, &Arc<Policy>, Mode) -> Replay,
        count: &(dyn Fn(&Replay) -> T + Sync),
        take: &mut dyn FnMut(T),
        screen: &mut Screen,
    ) -> Result<Total, Failure> {
        let selection = self.selection;
        self.drive(judge, count, take, screen, &mut |corpus, sessions, answer, take| {
            selection.run(corpus, sessions, answer, &|_| COUNTED, take);
        })
    }

    /// The same, with what an earlier run counted; `options` are what the counts depend on beside the policy, the recordings and
    /// how they are read.
    pub fn run_cached<T: Sum>(
        &self,
        (caching, policies, options): (&args::Caching, &args::Policies, &str),
        judge: fn(&Arc<Session>, &Arc<Policy>, Mode) -> Replay,
        count: &(dyn Fn(&Replay) -> T + Sync),
        take: &mut dyn FnMut(T),
        screen: &mut Screen,
    ) -> Result<Total, Failure> {
        let options = format!("{options} {}", self.mode.word());
        let policies = [(policies, &*self.policy)];
        let selection = self.selection;
        let mut cache = Cache::of(caching, self.wanted, self.reading, selection, &policies, &options);
        self.drive(judge, count, take, screen, &mut |corpus, sessions, answer, take| {
            cached::run(cache.take(), selection, corpus, sessions, answer, take);
        })
    }

    fn drive<T: Send>(
        &self,
        judge: fn(&Arc<Session>, &Arc<Policy>, Mode) -> Replay,
        count: &(dyn Fn(&Replay) -> T + Sync),
        take: &mut dyn FnMut(T),
        screen: &mut Screen,
        drive: &mut Drive<'_, T>,
    ) -> Result<Total, Failure> {
        let options = input::options(self.reading)?;
        input::watch_interrupts()?;
        let corpus = Corpus::new(self.jobs).context("no thread can be started").map_err(Failure::System)?;
        let mut sessions = Sessions::new(self.wanted, options, screen);
        sessions.join_for([&*self.policy]);
        sessions.show_progress(screen);
        let mut read = Total::default();
        let judge = |session: &Arc<Session>| judge(session, &self.policy, self.mode);
        let answer = |session: Session| match self.selection.choose(session, &judge) {
            Ok(Chosen { session, mut diagnostics, replay }) => {
                let replay = if self.redact {
                    let mut blank = redacted(&session, &[&self.policy], self.mode);
                    diagnostics.append(&mut blank.diagnostics);
                    judge(&Arc::new(blank))
                } else {
                    replay.unwrap_or_else(|| judge(&session))
                };
                let (objected, sessions) = (replay.objects().into(), vec![Identity::of(&session)]);
                Counted { counts: Some(count(&replay)), objected, sessions, diagnostics }
            }
            Err(diagnostics) => Counted { counts: None, objected: 0, sessions: Vec::new(), diagnostics },
        };
        let mut take = |counted: Counted<T>| {
            note(&counted.diagnostics, &mut read, screen);
            read.sessions += counted.sessions.len() as u64;
            read.objected += counted.objected;
            read.provenance.sessions.extend(counted.sessions);
            counted.counts.into_iter().for_each(&mut *take);
            if input::interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        drive(&corpus, &mut sessions, &answer, &mut take);
        screen.end_progress();
        let told = sessions.ended();
        told.iter().for_each(|diagnostic| screen.tell_recording(diagnostic));
        read.files(&told, &sessions.skipped);
        screen.tell_rest();
        read.interrupted = input::interrupted();
        self.selection.describe(self.reading, &mut read.provenance);
        self.selection.report(read.sessions, sessions.count, screen);
        Ok(read)
    }
}

/// How a command ends that only counts. What was not read may hold anything, and no session says nothing, unless it is a shard
/// of what was read.
pub fn ended(read: &Total) -> Exit {
    match read.interrupted {
        true => Exit::Interrupted,
        false if read.errors > 0 || (read.sessions == 0 && read.provenance.shards.is_empty()) => Exit::Bad,
        false => Exit::Clean,
    }
}

fn note(diagnostics: &[Diagnostic], read: &mut Total, screen: &mut Screen) {
    diagnostics.iter().for_each(|diagnostic| screen.tell_recording(diagnostic));
    read.note(diagnostics);
}
