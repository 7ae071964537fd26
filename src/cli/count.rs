//! What the counting commands share: every chosen session is counted on some thread, and the counts are merged in order.

use std::ops::ControlFlow;
use std::sync::Arc;

use anyhow::Context as _;

use super::args;
use super::exit::{Exit, Failure};
use super::input::{self, SessionSource, Sessions};
use super::screen::Screen;
use super::selection::{Chosen, Selection};
use crate::diagnostic::Diagnostic;
use crate::engine::Mode;
use crate::explore::identity::Identity;
use crate::policy::Policy;
use crate::recording::Options;
use crate::replay::Replay;
use crate::replay::corpus::{self, Corpus};
use crate::report::Total;
use crate::session::Session;

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
    jobs: usize,
}

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
        Ok(Counting { wanted, reading, selection, policy, mode, jobs })
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
        Counting { wanted: SessionSource::Named(named), reading, selection, policy, mode, jobs }
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
        let options = input::options(self.reading)?;
        input::watch_interrupts()?;
        let corpus = Corpus::new(self.jobs).context("no thread can be started").map_err(Failure::System)?;
        let mut sessions =
            Sessions::new(self.wanted, Options { spread: Some(corpus::spread), ..options }, screen);
        sessions.show_progress(screen);
        let mut read = Total::default();
        let judge = |session: &Arc<Session>| judge(session, &self.policy, self.mode);
        let answer = |session: Session| match self.selection.choose(session, &judge) {
            Ok(Chosen { session, diagnostics, replay }) => {
                let replay = replay.unwrap_or_else(|| judge(&session));
                (diagnostics, Some((count(&replay), replay.objects(), Identity::of(&session))))
            }
            Err(diagnostics) => (diagnostics, None),
        };
        let mut take = |(diagnostics, counted): (Vec<Diagnostic>, Option<(T, bool, Identity)>)| {
            note(&diagnostics, &mut read, screen);
            if let Some((counted, objects, identity)) = counted {
                read.sessions += 1;
                read.provenance.sessions.push(identity);
                read.objected += u64::from(objects);
                take(counted);
            }
            if input::interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let weigh = |_: &_| COUNTED;
        self.selection.run(&corpus, &mut sessions, &judge, &|_| 0, &answer, &weigh, &mut take);
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
