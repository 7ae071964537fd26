//! `rulestep coverage`: what recordings say of every rule.

use std::ops::ControlFlow;

use anyhow::Context as _;

use super::args;
use super::input::{self, Sessions, Wanted};
use super::screen::Screen;
use super::selection::Selection;
use super::{Exit, Failure};
use crate::diagnostic::Severity;
use crate::explore::coverage::Coverage;
use crate::replay::corpus::Corpus;
use crate::report::coverage::OUTPUTS;
use crate::session::Session;

/// Runs the verb.
pub fn run(asked: &args::Coverage, screen: &mut Screen) -> Result<Exit, Failure> {
    let recordings = &asked.recordings;
    let wanted = Wanted::of(&recordings.sessions, recordings.samples, "rulestep coverage SESSIONS")?;
    let selection = Selection::of(&asked.selection)?;
    let options = input::options(&recordings.reading)?;
    let policy = input::policy(&asked.policies, wanted.is_samples(), screen)?;
    let mode = asked.judging.mode.into();
    input::watch_interrupts()?;
    let corpus = Corpus::new(asked.jobs).context("no threads to judge with").map_err(Failure::System)?;

    let mut sessions = Sessions::new(wanted, options, screen);
    sessions.show_progress(screen);
    let (mut coverage, mut unread) = (Coverage::default(), false);
    let judge = |session: Session| match selection.choose(session, &policy, mode) {
        Ok(session) => {
            let counted = Coverage::of(&session, &policy, mode);
            (session.diagnostics, Some(counted))
        }
        Err(diagnostics) => (diagnostics, None),
    };
    let _ = corpus.run(&mut sessions, &judge, &mut |(diagnostics, counted)| {
        for diagnostic in &diagnostics {
            unread |= diagnostic.severity == Severity::Error;
            screen.tell_recording(diagnostic);
        }
        if let Some(counted) = counted {
            coverage.merge(&counted);
        }
        if input::interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    screen.end_progress();
    let told = sessions.ended();
    told.iter().for_each(|diagnostic| screen.tell_recording(diagnostic));
    unread |= told.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    screen.tell_rest();
    selection.report(coverage.sessions, sessions.count, screen);
    if let Some(output) = OUTPUTS.iter().find(|output| output.name == asked.format) {
        let color = screen.color;
        (output.write)(&coverage, &policy, color, screen.out())?;
    }
    Ok(match input::interrupted() {
        true => Exit::Interrupted,
        // Of what was not read, nobody knows which rules it asks; and no session says nothing of any rule.
        false if unread || coverage.sessions == 0 => Exit::Bad,
        false => Exit::Clean,
    })
}
