//! `rulestep diff`: two versions compared over every session.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;

use super::args::{ANY, Diff, NONE};
use super::exit::{Exit, Failure};
use super::input::{self, SessionSource, Sessions};
use super::lines;
use super::redacted::redacted;
use super::reports::{Command, Named, Reports};
use super::screen::Screen;
use super::selection::{Chosen, Selection};
use super::witness::{Count, Folder, Saved};
use crate::compare::{Comparison, Kind, SessionDiff};
use crate::corpus::Corpus;
use crate::explore::contexts::SeenContexts;
use crate::explore::identity::Identity;
use crate::explore::seen::SeenTools;
use crate::lint::Levels;
use crate::report::diff::{self, DiffResult, Output, Part, View};
use crate::report::words;
use crate::report::{Look, Scope, notices};
use crate::workspace::Version;
use crate::workspace::version::{self, DEFAULT_POLICY};
use rulestep_base::diagnostic::{Diagnostic, Severity};
use rulestep_base::session::Session;
use rulestep_engine::replay::Replay;

/// Runs the verb.
pub fn run(asked: &Diff, screen: &mut Screen) -> Result<Exit, Failure> {
    let options = input::options(&asked.corpus.recordings.reading)?;
    let recordings = &asked.corpus.recordings;
    let wanted =
        SessionSource::of(&recordings.sessions, recordings.samples, "rulestep diff SESSIONS --base VERSION")?;
    let fails = fails(&asked.fail_on)?;
    let mut sessions = Sessions::new(wanted, options, screen);
    let mut reports = Reports::open(Some(&asked.format), &asked.report, diff::OUTPUTS, sessions.names())?;
    let selection = Selection::of_versions(&asked.corpus.selection)?;
    let command = Command::new("diff").sessions(wanted, &recordings.reading, &selection);
    let command =
        command.policies(&asked.corpus.policies, &asked.base, asked.corpus.judging.mode.into()).text();
    let (comparison, levels) = match comparison(asked, wanted, screen) {
        Ok(comparison) => comparison,
        Err(failure) => return Err(reports.undecided("diff", diff::SCHEMA, failure, &command, screen)),
    };
    let outputs = reports.outputs.clone();
    let folder = match (&asked.witness, asked.corpus.policies.policy.as_slice()) {
        (None, _) => None,
        (Some(path), []) => Some(Folder::new(path, &[DEFAULT_POLICY.to_owned()])?),
        (Some(path), named) => Some(Folder::new(path, named)?),
    };
    let view = View {
        comparison: &comparison,
        base: &asked.base.join(" + "),
        new: &new_name(asked),
        mode: asked.corpus.judging.mode.into(),
        look: Look { scope: if asked.full { Scope::Full } else { Scope::Findings }, color: screen.color },
        fails: &fails,
        command: &command,
    };
    let versions = [Some(comparison.policy()), comparison.base().policy()];
    sessions.join_for(versions.into_iter().flatten().map(|version| &**version));
    if asked.lines.lines {
        return lines::diff(&asked.lines, &view, asked, screen);
    }
    screen.all = asked.full;
    input::watch_interrupts()?;
    let corpus =
        Corpus::new(asked.corpus.jobs).context("no thread can be started").map_err(Failure::System)?;

    sessions.show_progress(screen);
    let mut whole = DiffResult::default();
    let (mut written, mut saved, mut count) = (Ok(()), Ok(()), Count::default());
    let blank = |session: &Arc<Session>| match asked.redact {
        true => {
            let policies: Vec<_> =
                comparison.base().policy().into_iter().chain([comparison.policy()]).collect();
            Arc::new(redacted(session, &policies, view.mode))
        }
        false => Arc::clone(session),
    };
    let judge = |session: &Arc<Session>| Replay::new(session, comparison.policy(), view.mode);
    let changes = |session: &Arc<Session>| comparison.session(session, view.mode).changes().len();
    let identifies = outputs.iter().any(|output| output.name == "json");
    let mut uncompared = 0;
    let compare = |session| {
        let Chosen { session, diagnostics, replay } = selection.choose_compared(session, &judge, &changes)?;
        let identity = identifies.then(|| Identity::of(&session));
        let compared = match replay.filter(|_| !asked.redact) {
            Some(replay) => comparison.replayed(replay),
            None => comparison.session(&blank(&session), view.mode),
        };
        let compared = ComparedSession::new(&compared, diagnostics, &view, &outputs, folder.as_ref());
        Ok(ComparedSession { identity, ..compared })
    };
    let mut take = |found: Result<ComparedSession, Vec<Diagnostic>>| {
        let ComparedSession { part, diagnostics, cases, not_taken, tools, contexts, identity } = match found {
            Ok(found) => found,
            // It is not looked at; what was lost in reading it may have been part of another session.
            Err(diagnostics) => {
                diagnostics.iter().for_each(|diagnostic| screen.tell_recording(diagnostic));
                whole.told.note(&diagnostics);
                return if input::interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            }
        };
        uncompared += not_taken;
        whole.told.tools.merge(&tools);
        whole.told.contexts.merge(&contexts);
        whole.told.provenance.sessions.extend(identity);
        if let Some(folder) = &folder {
            saved = folder.save(cases, &mut count);
        }
        diagnostics.iter().for_each(|diagnostic| screen.tell_recording(diagnostic));
        whole.told.note(&diagnostics);
        written = reports.write(&part.bytes, screen);
        whole.take(part, view.most());
        if written.is_err() || saved.is_err() || input::interrupted() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let weigh = |found: &Result<ComparedSession, _>| found.as_ref().map_or(0, ComparedSession::weight);
    selection.run(&corpus, &mut sessions, &compare, &weigh, &mut take);
    screen.end_progress();
    written?;
    saved?;

    sessions.strict = asked.strict;
    let told = sessions.ended();
    told.iter().for_each(|diagnostic| screen.tell_recording(diagnostic));
    (whole.told.interrupted, whole.told.strict) = (input::interrupted(), asked.strict);
    if !whole.told.interrupted && selection.given().is_empty() {
        let several = whole.totals.sessions > 1 && !wanted.is_samples();
        let seen = (&whole.told.tools, &whole.told.contexts);
        input::unseen(comparison.policy(), &levels, seen, several, screen);
    }
    screen.tell_rest();
    whole.told.files(&told, &sessions.skipped);
    selection.describe(&recordings.reading, &mut whole.told.provenance);
    selection.report(whole.totals.sessions, sessions.count, screen);
    if whole.totals.sessions == 0
        && !whole.told.interrupted
        && let Some(why) = selection.nothing(sessions.count)
    {
        reports.nothing_judged(why, "diff", diff::SCHEMA, &told, &command, screen)?;
        return Ok(Exit::Bad);
    }
    if whole.totals.nothing_compared() && !whole.told.interrupted {
        return Err(reports.undecided("diff", diff::SCHEMA, input::nothing_live(), &command, screen));
    }
    let end = |output: &Output, color, out: &mut dyn std::io::Write| {
        let look = Look { color, ..view.look };
        (output.end)(&whole, &View { look, ..view }, out)
    };
    reports.end(screen, &end)?;
    if uncompared > 0 {
        let calls = words::count(uncompared, "call");
        screen.note(&format!(
            "not compared: {calls} of choices that were not taken; the recording decided nothing about them, and `replay` judges them"
        ));
    }
    if whole.totals.shadow > 0 {
        let calls = words::count(whole.totals.shadow, "call");
        screen.note(&format!(
            "{calls} decided in shadow mode, where nothing was stopped: with `--mode shadow` each is compared after what really ran"
        ));
    }
    if let Some(path) = &asked.witness {
        screen.note(&count.told(path));
    }
    Ok(match (whole.told.interrupted, whole.failures(&view)) {
        (true, _) => Exit::Interrupted,
        _ if asked.strict && whole.told.skipped > 0 => Exit::Bad,
        // What was not read may hold anything.
        (_, 0) if whole.told.errors > 0 => Exit::Bad,
        (_, 0) => Exit::Clean,
        _ => Exit::Found,
    })
}

/// What is left of a session once it is compared.
struct ComparedSession {
    part: Part,
    diagnostics: Vec<Diagnostic>,
    cases: Vec<Saved>,
    /// Calls of choices that were not taken, which no recording can be compared about.
    not_taken: u64,
    tools: SeenTools,
    contexts: SeenContexts,
    /// Where an output says which sessions it is about.
    identity: Option<Identity>,
}

impl ComparedSession {
    /// Both replays are at hand here and nowhere later: what is to be said of a change beyond what it is, is found here.
    fn new(
        compared: &SessionDiff,
        mut diagnostics: Vec<Diagnostic>,
        view: &View<'_>,
        outputs: &[&Output],
        folder: Option<&Folder>,
    ) -> ComparedSession {
        let session = compared.session();
        diagnostics.extend(session.diagnostics.iter().cloned());
        let versions = [Some(view.comparison.policy()), view.comparison.base().policy()];
        for notice in versions.into_iter().flatten().flat_map(|policy| notices(session, policy)) {
            // A rule that both versions have is one rule.
            if !diagnostics.contains(&notice) {
                diagnostics.push(notice);
            }
        }
        let cases = folder.map(|folder| folder.cases(compared, view.comparison)).unwrap_or_default();
        // A recording says of them no more than that they were not taken.
        let is_recorded = view.comparison.base().policy().is_none();
        let others = session.alternatives.iter().filter(|_| is_recorded);
        let not_taken = others.map(|other| other.calls().len() as u64).sum();
        let part = Part::of(compared, view, outputs);
        let contexts = SeenContexts::of(session, view.comparison.policy().conditions());
        let tools = SeenTools::of(session);
        ComparedSession { part, diagnostics, cases, not_taken, tools, contexts, identity: None }
    }

    /// Bytes that it keeps, about.
    fn weight(&self) -> usize {
        let bytes: usize = self.part.bytes.iter().map(Vec::len).sum();
        4096 + bytes + self.cases.len() * (16 << 10)
    }
}

/// The two versions. A policy in the folder is meant where none is named, whatever sessions it is compared over.
fn comparison(
    asked: &Diff,
    wanted: SessionSource<'_>,
    screen: &mut Screen,
) -> Result<(Comparison, Levels), Failure> {
    let only = input::only(&asked.corpus.policies)?;
    let with_samples = wanted.is_samples() && !Path::new(DEFAULT_POLICY).exists();
    let new = Version::named(&asked.corpus.policies.policy, with_samples);
    let levels = new.as_ref().map(|version| version.levels.clone()).unwrap_or_default();
    let (new, told) = input::load(new, only, "new version", screen)?;
    told.iter().for_each(|diagnostic| screen.tell(diagnostic));
    let base = version::base(&asked.base, &asked.corpus.policies.policy, only);
    let (base, told) = base.map_err(|why| input::undecided(why, "base", screen))?;
    // What is left out of it may look like a change; what could be better in it, nobody will improve there.
    let told = told.iter().filter(|told| told.severity != Severity::Warning);
    told.for_each(|diagnostic| screen.tell(diagnostic));
    Ok((Comparison::new(base, new), levels))
}

fn new_name(asked: &Diff) -> String {
    match asked.corpus.policies.policy.as_slice() {
        [] => DEFAULT_POLICY.to_owned(),
        named => named.join(" + "),
    }
}

/// The kinds by name.
fn fails(names: &[String]) -> Result<Vec<Kind>, Failure> {
    if names.len() > 1 && names.iter().any(|name| name == NONE) {
        return Err(Failure::usage("`--fail-on none` excludes every other kind"));
    }
    let meant = |kind: &Kind| names.iter().any(|name| name == ANY || name == kind.word());
    Ok(Kind::ALL.into_iter().filter(meant).collect())
}

impl Named for Output {
    fn name(&self) -> &'static str {
        self.name
    }
}
