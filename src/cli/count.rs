//! What the counting commands share: every chosen session is counted on some thread, and the counts are merged in order.

use std::ops::ControlFlow;
use std::sync::Arc;

use anyhow::Context as _;

use super::args;
use super::exit::{Exit, Failure};
use super::input::{self, SessionSource, Sessions};
use super::screen::Screen;
use super::selection::Selection;
use crate::diagnostic::{Diagnostic, Severity};
use crate::engine::Mode;
use crate::policy::Policy;
use crate::replay::corpus::Corpus;
use crate::session::Session;

/// What is counted, and by which policy.
pub struct Counting<'a> {
    /// The recordings.
    pub recordings: &'a args::Recordings,
    /// Which of their sessions.
    pub selection: &'a Selection,
    /// The policy that judges them.
    pub policy: &'a Arc<Policy>,
    /// What a replay assumes after a stopped call.
    pub mode: Mode,
    /// Threads; 0 takes one for each processor.
    pub jobs: usize,
}

impl Counting<'_> {
    /// Counts every chosen session with `count`, and puts the counts to `take` in the order of the recordings. Returns how the
    /// command ends.
    pub fn run<T: Send>(
        &self,
        count: &(dyn Fn(Session) -> T + Sync),
        take: &mut dyn FnMut(T),
        screen: &mut Screen,
    ) -> Result<Exit, Failure> {
        let recordings = self.recordings;
        let wanted =
            SessionSource::of(&recordings.sessions, recordings.samples, "rulestep COMMAND SESSIONS")?;
        input::watch_interrupts()?;
        let corpus = Corpus::new(self.jobs).context("no thread can be started").map_err(Failure::System)?;
        let mut sessions = Sessions::new(wanted, input::options(&recordings.reading)?, screen);
        sessions.show_progress(screen);
        let (mut kept, mut unread) = (0, false);
        let judge = |session: Session| match self.selection.choose(session, self.policy, self.mode) {
            Ok(mut session) => (std::mem::take(&mut session.diagnostics), Some(count(session))),
            Err(diagnostics) => (diagnostics, None),
        };
        let _ = corpus.run(&mut sessions, &judge, &mut |(diagnostics, counted)| {
            unread |= told(&diagnostics, screen);
            if let Some(counted) = counted {
                kept += 1;
                take(counted);
            }
            if input::interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        screen.end_progress();
        unread |= told(&sessions.ended(), screen);
        screen.tell_rest();
        self.selection.report(kept, sessions.count, screen);
        Ok(match input::interrupted() {
            true => Exit::Interrupted,
            // What was not read may hold anything, and no session says nothing.
            false if unread || kept == 0 => Exit::Bad,
            false => Exit::Clean,
        })
    }
}

/// Shows what was found about the recordings; whether anything of them could not be read.
fn told(diagnostics: &[Diagnostic], screen: &mut Screen) -> bool {
    diagnostics.iter().for_each(|diagnostic| screen.tell_recording(diagnostic));
    diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}
