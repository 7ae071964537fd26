//! `rulestep replay`: every session judged, the answers in the order of the input.

mod by;

use std::ops::ControlFlow;
use std::sync::Arc;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::args;
use super::exit::{Exit, Failure};
use super::input::cached::{self, Answers};
use super::input::{self, Cache, SessionSource, Sessions, kept};
use super::lines;
use super::redacted::redacted;
use super::reports::{Command, Named, Reports};
use super::screen::Screen;
use super::selection::{Chosen, Selection};
use crate::corpus::{self, Corpus};
use crate::explore::identity::Identity;
use crate::lint;
use crate::report::ci::{self, Issue, Issues};
use crate::report::dossier::Dossier;
use crate::report::{End, Gathers, JudgedSession, Look, OUTPUTS, Output, Scope, Total, json};
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::Session;
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;

/// What is asked, whichever way it was.
pub struct ReplayRequest<'a> {
    pub wanted: SessionSource<'a>,
    pub reading: &'a args::Reading,
    pub policies: &'a args::Policies,
    pub mode: Mode,
    /// What goes to standard output, if anything.
    pub format: Option<&'a str>,
    pub reports: &'a [String],
    /// The outputs that may be asked for.
    pub known: &'static [Output],
    pub scope: Scope,
    pub jobs: usize,
    pub strict: bool,
    pub redact: bool,
    pub selection: Selection,
    pub caching: &'a args::Caching,
}

/// Runs the verb.
pub fn run(asked: &args::Replay, screen: &mut Screen) -> Result<Exit, Failure> {
    let scope = match (asked.summary, asked.full) {
        (true, _) => Scope::Summary,
        (_, true) => Scope::Full,
        _ => Scope::Findings,
    };
    if let Some(by) = &asked.by {
        return by::run(asked, by, screen);
    }
    if asked.lines.lines {
        return lines::replay(asked, scope, screen);
    }
    let args::Corpus { recordings, selection, policies, judging, jobs } = &asked.corpus;
    let asked = ReplayRequest {
        wanted: SessionSource::of(&recordings.sessions, recordings.samples, "rulestep replay SESSIONS")?,
        reading: &recordings.reading,
        policies,
        mode: judging.mode.into(),
        format: Some(&asked.format),
        reports: &asked.report,
        known: OUTPUTS,
        scope,
        jobs: *jobs,
        redact: asked.redact,
        strict: asked.strict,
        selection: Selection::of(selection)?,
        caching: &asked.caching,
    };
    judge(&asked, screen)
}

/// Judges and prints.
pub fn judge(asked: &ReplayRequest<'_>, screen: &mut Screen) -> Result<Exit, Failure> {
    let options = input::options(asked.reading)?;
    let mut sessions = Sessions::new(asked.wanted, options, screen);
    let mut reports = Reports::open(asked.format, asked.reports, asked.known, sessions.names())?;
    if asked.scope == Scope::Summary
        && let Some(output) = reports.outputs.iter().find(|output| output.gathers != Gathers::Nothing)
    {
        let message = format!("`--summary` has no findings to write as `{}`", output.name);
        return Err(Failure::usage(message).help("`text` and `json` have a summary"));
    }
    let command = Command::new("replay").sessions(asked.wanted, asked.reading, &asked.selection);
    let command = command.policies(asked.policies, &[], asked.mode).text();
    let (policy, levels) = match input::policy_and_levels(asked.policies, asked.wanted.is_samples(), screen) {
        Ok(loaded) => loaded,
        Err(failure) => return Err(reports.undecided("replay", json::SCHEMA, failure, &command, screen)),
    };
    sessions.join_for([&*policy]);
    let look = Look { scope: asked.scope, color: screen.color && asked.format.is_some() };
    screen.all = asked.scope == Scope::Full;
    input::watch_interrupts()?;
    let corpus = Corpus::new(asked.jobs).context("no thread can be started").map_err(Failure::System)?;

    sessions.show_progress(screen);
    let (mut total, mut gathered, mut dossier) = (Total::default(), Issues::default(), Dossier::default());
    let (mut only, mut written) = (None, Ok(()));
    let outputs = reports.outputs.clone();
    let identifies = outputs.iter().any(|output| output.name == "json");
    let judge = |session: &Arc<Session>| Replay::new(session, &policy, asked.mode);
    let answer = |session| match asked.selection.choose(session, &judge) {
        Ok(Chosen { session, mut diagnostics, replay }) => {
            let identity = identifies.then(|| Identity::of(&session));
            let judged = if asked.redact {
                let mut blank = redacted(&session, &[&policy], asked.mode);
                diagnostics.append(&mut blank.diagnostics);
                JudgedSession::new(Arc::new(blank), &policy, asked.mode, asked.scope)
            } else if let Some(replay) = replay {
                JudgedSession::of(replay, asked.scope)
            } else {
                JudgedSession::new(session, &policy, asked.mode, asked.scope)
            };
            let mut answer = Answer::new(judged, diagnostics, &outputs, look);
            answer.total.provenance.sessions.extend(identity);
            answer
        }
        Err(diagnostics) => Answer::left_out(diagnostics),
    };
    let mut take = |answer: Answer| {
        answer.diagnostics.iter().for_each(|diagnostic| screen.tell_recording(diagnostic));
        total.merge(&answer.total);
        written = reports.write(&answer.bytes, screen);
        if let Some(found) = answer.found {
            gathered.take(found);
        }
        dossier.note(&answer.diagnostics);
        if let Some((found, replay)) = answer.dossier {
            only = (total.sessions == 1).then_some(replay);
            dossier.merge(found);
        }
        if written.is_err() || input::interrupted() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let cache = asked.cache(&policy, &outputs, look);
    cached::run(cache, &asked.selection, &corpus, &mut sessions, &answer, &mut take);
    screen.end_progress();
    written?;

    sessions.strict = asked.strict;
    let told = sessions.ended();
    told.iter().for_each(|diagnostic| screen.tell_recording(diagnostic));
    (total.interrupted, total.strict) = (input::interrupted(), asked.strict);
    let is_all = !total.interrupted && asked.selection.given().is_empty();
    let several = total.sessions > 1 && !asked.wanted.is_samples();
    let seen = (&total.tools, &total.contexts);
    let unseen = if is_all { input::unseen(&policy, &levels, seen, several, screen) } else { Vec::new() };
    // A part of the sessions that was picked says nothing of the others; a shard says what the others are merged with.
    if !total.interrupted && asked.selection.given().iter().all(|(option, _)| *option == "--shard") {
        total.unseen = total.tools.all().map(|seen| lint::unseen_names(&policy, &seen)).unwrap_or_default();
        total.off = lint::off_everywhere(&policy, &total.contexts, total.sessions);
    }
    screen.tell_rest();
    total.files(&told, &sessions.skipped);
    dossier.note(&told);
    let mut of_policy = policy.warnings();
    of_policy.extend(unseen);
    dossier.note(&of_policy);
    asked.selection.describe(asked.reading, &mut total.provenance);
    asked.selection.report(total.sessions, sessions.count, screen);
    if total.sessions == 0
        && !total.interrupted
        && let Some(why) = asked.selection.nothing(sessions.count)
    {
        reports.nothing_judged(why, "replay", json::SCHEMA, &told, &command, screen)?;
        return Ok(Exit::Bad);
    }
    let end = End {
        total: &total,
        policy: &policy,
        of_policy: &of_policy,
        mode: asked.mode,
        gathered: &gathered,
        dossier: &dossier,
        only: only.as_deref(),
        caveats: &[],
        command: &command,
    };
    reports.end(screen, &|output, color, out| (output.end)(&end, &Look { color, ..look }, out))?;
    Ok(match (total.interrupted, total.objected) {
        (true, _) => Exit::Interrupted,
        _ if asked.strict && total.skipped > 0 => Exit::Bad,
        // What was not read may hold anything.
        (_, 0) if total.errors > 0 => Exit::Bad,
        (_, 0) => Exit::Clean,
        _ => Exit::Found,
    })
}

impl ReplayRequest<'_> {
    /// Summaries alone are kept: they are small, and hold nothing of what was recorded but what they print.
    fn cache(&self, policy: &Policy, outputs: &[&Output], look: Look) -> Option<Cache> {
        if self.scope != Scope::Summary || outputs.iter().any(|output| output.gathers != Gathers::Nothing) {
            return None;
        }
        let outputs: Vec<_> = outputs.iter().map(|output| output.name).collect();
        let options = format!("replay {outputs:?} {} {} {}", look.color, self.mode.word(), self.redact);
        let policies = [(self.policies, policy)];
        Cache::of(self.caching, self.wanted, self.reading, &self.selection, &policies, &options)
    }
}

/// What is left of a session once it is judged: small beside the session.
#[derive(Default, Serialize, Deserialize)]
struct Answer {
    /// Of each output.
    #[serde(with = "kept::texts")]
    bytes: Vec<Vec<u8>>,
    /// What was found, where an output gathers it.
    #[serde(skip)]
    found: Option<(ci::Case, Vec<Issue>)>,
    /// The same with all that it rests on, and the session: if it stays the only one, it is shown as a whole.
    #[serde(skip)]
    dossier: Option<(Dossier, Box<Replay>)>,
    total: Total,
    #[serde(with = "kept::diagnostics")]
    diagnostics: Vec<Diagnostic>,
}

impl Answers for Answer {
    fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    fn append(&mut self, later: &Answer) {
        self.total.merge(&later.total);
        self.diagnostics.extend_from_slice(&later.diagnostics);
        if self.bytes.is_empty() {
            self.bytes.clone_from(&later.bytes);
        } else {
            self.bytes.iter_mut().zip(&later.bytes).for_each(|(bytes, more)| bytes.extend_from_slice(more));
        }
    }

    fn weight(&self) -> usize {
        let bytes: usize = self.bytes.iter().map(Vec::len).sum();
        let issues = self.found.as_ref().map_or(0, |(_, issues)| issues.len());
        let session = self.dossier.as_ref().map_or(0, |(_, replay)| corpus::weight(replay.session()));
        // Tables, and the decisions of a replay beside its session.
        2048 + bytes + issues * 1024 + session * 2
    }
}

impl Answer {
    fn new(
        judged: JudgedSession,
        mut diagnostics: Vec<Diagnostic>,
        outputs: &[&Output],
        look: Look,
    ) -> Answer {
        diagnostics.extend(judged.notices());
        let mut total = Total::default();
        total.add(&judged);
        total.note(&diagnostics);
        let bytes = outputs.iter().enumerate().map(|(place, output)| {
            let mut bytes = Vec::new();
            // Only the terminal is coloured. Writing to memory does not fail; were it to, the session would be without
            // its end rather than vanish.
            let look = Look { color: look.color && place == 0, ..look };
            let _ = (output.session)(&judged, &look, &mut bytes);
            bytes
        });
        let bytes = bytes.collect();
        let gathers = |what| outputs.iter().any(|output| output.gathers == what);
        let found = match &judged {
            JudgedSession::Whole(replay) if gathers(Gathers::Issues) => {
                let issues = ci::of_replay(replay);
                Some((ci::case(replay.session(), &issues), issues))
            }
            _ => None,
        };
        let dossier = match judged {
            JudgedSession::Whole(replay) if gathers(Gathers::Dossier) => Some((Dossier::of(&replay), replay)),
            _ => None,
        };
        Answer { bytes, found, dossier, total, diagnostics }
    }

    /// Of a session that is not looked at; what was lost in reading it may have been part of another.
    fn left_out(diagnostics: Vec<Diagnostic>) -> Answer {
        let mut total = Total::default();
        total.note(&diagnostics);
        Answer { bytes: Vec::new(), found: None, dossier: None, total, diagnostics }
    }
}

impl Named for Output {
    fn name(&self) -> &'static str {
        self.name
    }
}
