//! `toolgate replay`: every session judged, the answers in the order of the input.

use std::ops::ControlFlow;
use std::sync::Arc;

use anyhow::Context as _;

use super::args::{self, Format};
use super::input::{self, Sessions, Wanted};
use super::screen::Screen;
use super::{Exit, Failure};
use crate::diagnostic::Diagnostic;
use crate::engine::Mode;
use crate::policy::Policy;
use crate::replay::corpus::{Corpus, Read};
use crate::report::{self, Judged, Look, Output, Scope, Total};

/// What is asked, whichever way it was.
pub struct Asked<'a> {
    pub wanted: Wanted<'a>,
    pub reading: &'a args::Reading,
    pub policies: &'a args::Policies,
    pub mode: Mode,
    pub format: Format,
    pub scope: Scope,
    pub jobs: usize,
    pub strict: bool,
}

/// Runs the verb.
pub fn run(asked: &args::Replay, screen: &mut Screen) -> Result<Exit, Failure> {
    let scope = match (asked.summary, asked.full) {
        (true, _) => Scope::Summary,
        (_, true) => Scope::Full,
        _ => Scope::Findings,
    };
    let recordings = &asked.recordings;
    let asked = Asked {
        wanted: Wanted::of(&recordings.sessions, recordings.samples, "toolgate replay SESSIONS")?,
        reading: &recordings.reading,
        policies: &asked.policies,
        mode: asked.judging.mode.into(),
        format: asked.format,
        scope,
        jobs: asked.jobs,
        strict: asked.strict,
    };
    judge(&asked, screen)
}

/// Judges and prints.
pub fn judge(asked: &Asked<'_>, screen: &mut Screen) -> Result<Exit, Failure> {
    let options = input::options(asked.reading)?;
    let policy = input::policy(asked.policies, asked.wanted.is_samples(), screen)?;
    let output = output(asked.format)?;
    let look = Look { scope: asked.scope, color: screen.color };
    screen.all = asked.scope == Scope::Full;
    input::watch_interrupts()?;
    let corpus = Corpus::new(asked.jobs).context("no threads to judge with").map_err(Failure::System)?;

    let mut sessions = Sessions::new(asked.wanted, options, screen);
    sessions.show_progress(screen);
    let mut total = Total::default();
    let mut written = Ok(());
    let answer = |read| Answer::new(read, &policy, asked.mode, output, look);
    let mut reads: Box<dyn Iterator<Item = Read>> = match asked.scope {
        Scope::Summary => Box::new(sessions.judged_while_read(&policy, asked.mode)),
        _ => Box::new(sessions.by_ref().map(|session| Read::Whole(Box::new(session)))),
    };
    let _ = corpus.run(&mut *reads, &answer, &mut |answer: Answer| {
        answer.diagnostics.iter().for_each(|diagnostic| screen.tell_recording(diagnostic));
        total.merge(&answer.total);
        written = screen.write(&answer.bytes);
        if written.is_err() || input::interrupted() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    drop(reads);
    screen.end_progress();
    written?;

    let told = sessions.ended();
    told.iter().for_each(|diagnostic| screen.tell_recording(diagnostic));
    screen.tell_rest();
    total.note(&told);
    total.skipped = sessions.skipped;
    total.interrupted = input::interrupted();
    if total.sessions == 0 && !total.interrupted {
        return Ok(Exit::Bad);
    }
    (output.end)(&total, &policy, &look, screen.out())?;
    Ok(match (total.interrupted, total.objected) {
        (true, _) => Exit::Interrupted,
        _ if asked.strict && total.skipped > 0 => Exit::Bad,
        // What was not read may hold anything.
        (_, 0) if total.errors > 0 => Exit::Bad,
        (_, 0) => Exit::Clean,
        _ => Exit::Found,
    })
}

/// What is left of a session once it is judged: small beside the session.
struct Answer {
    bytes: Vec<u8>,
    total: Total,
    diagnostics: Vec<Diagnostic>,
}

impl Answer {
    fn new(read: Read, policy: &Arc<Policy>, mode: Mode, output: &Output, look: Look) -> Answer {
        let (diagnostics, judged) = match read {
            Read::Whole(mut session) => {
                let diagnostics = std::mem::take(&mut session.diagnostics);
                (diagnostics, Judged::new(*session, policy, mode, look.scope))
            }
            Read::Judged(mut session, outcomes) => {
                let diagnostics = std::mem::take(&mut session.diagnostics);
                (diagnostics, Judged::outcome(*session, policy, mode, *outcomes))
            }
        };
        let mut total = Total::default();
        total.add(&judged);
        total.note(&diagnostics);
        let mut bytes = Vec::new();
        // Writing to memory does not fail; were it to, the session would stand without its end rather than vanish.
        let _ = (output.session)(&judged, &look, &mut bytes);
        Answer { bytes, total, diagnostics }
    }
}

/// The output of this name.
fn output(format: Format) -> Result<&'static Output, Failure> {
    let name = match format {
        Format::Text => "text",
        Format::Json => "json",
    };
    report::named(name).ok_or_else(|| Failure::usage(format!("there is no output `{name}`")))
}
