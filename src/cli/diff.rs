//! `rulestep diff`: two versions compared over every session.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};

use super::args::{BaseArgument, Corpus, Handling, Lines, ReportFiles, formats, merged};
use super::corpus_run::{Answer, CorpusRun, Job};
use super::input;
use super::lines;
use super::reports::{Command, Reports};
use super::selection::Selection;
use super::verb::{Exit, Exits, FAULT, Failure, INTERRUPTED, STRICT, Screen, Verb};
use super::witness::{Count, Folder, Saved};
use crate::compare::{Comparison, Kind, SessionDiff};
use crate::explore::contexts::SeenContexts;
use crate::explore::seen::SeenTools;
use crate::lint::Levels;
use crate::report::diff::{self, DiffResult, Output, Part, View};
use crate::report::words;
use crate::report::{Look, RunCounts, Scope, notices};
use crate::workspace::Version;
use crate::workspace::version::{self, DEFAULT_POLICY};
use rulestep_base::diagnostic::{Diagnostic, Severity};
use rulestep_base::session::Session;
use rulestep_engine::replay::Replay;

/// In `--fail-on`, every kind of change.
const ANY: &str = "any";
/// In `--fail-on`, none of them.
const NONE: &str = "none";

/// Replay sessions under two versions of the policies and list what changes: decisions, visible tools, session rules, reports
///
/// A change is `primary` if the same calls ran before it under both versions. It is `downstream` if it comes after a call
/// that ran under one version only. The rules then see different earlier calls, so the edit itself may not be the cause.
#[derive(Debug, Args)]
#[command(
    mut_arg("shard", merged),
    mut_arg("base", |base| base.required(true))
)]
pub struct Diff {
    #[command(flatten)]
    pub corpus: Corpus,
    #[command(flatten)]
    pub lines: Lines,
    #[command(flatten)]
    pub compared: BaseArgument,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text", default_value_if("lines", "true", "json"), value_parser = formats(diff::OUTPUTS.iter().map(|output| (output.name, output.title))))]
    pub format: String,
    #[command(flatten)]
    pub also: ReportFiles,
    /// Describe every change, not only the first few of each rule. JSON always has every change, and with --full the findings of
    /// both versions
    #[arg(long)]
    pub full: bool,
    /// For each primary change of a decision, write a case (a minimal example) to this folder. It has the fewest calls that still
    /// show the change, and expects the new decision. If one of the files exists, nothing is written
    #[arg(long, value_name = "FOLDER")]
    pub witness: Option<String>,
    /// Kinds of change that cause exit code 1, separated by commas. `none` cannot be combined with others. `blocked` means stopped
    #[arg(long, value_name = "KINDS", value_delimiter = ',', default_value = "any", value_parser = failing())]
    pub fail_on: Vec<String>,
    #[command(flatten)]
    pub handling: Handling,
}

impl Verb for Diff {
    const NAME: &'static str = "diff";
    const EXITS: Exits = &[
        (0, "nothing changes that `--fail-on` names (by default: nothing changes)"),
        (1, "something changes that `--fail-on` names, even if a recording is damaged"),
        (2, "no such change was found, but a recording could not be read completely"),
        STRICT,
        (2, "wrong arguments, a version that does not load, or nothing to compare"),
        FAULT,
        INTERRUPTED,
    ];

    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        let fails = fails(&self.fail_on)?;
        let selection = Selection::of_versions(&self.corpus.selection)?;
        let usage = "rulestep diff SESSIONS --base VERSION";
        let mut run = CorpusRun::chosen(usage, &self.corpus, selection, screen)?;
        (run.strict, run.redact) = (self.handling.strict, self.handling.redact);
        let (mode, samples, policies) = (run.mode, run.source.is_samples(), &self.corpus.policies);
        let mut reports = Reports::open(
            Some(&self.format),
            &self.also.report,
            (diff::OUTPUTS, |output| output.name),
            run.names(),
        )?;
        let command = Command::of("diff", &run).policies(policies, &self.compared.base, mode).text();
        let (comparison, levels) = match comparison(self, samples, screen) {
            Ok(comparison) => comparison,
            Err(failure) => return Err(reports.undecided("diff", diff::SCHEMA, failure, &command, screen)),
        };
        let outputs = reports.outputs.clone();
        let folder = match (&self.witness, policies.policy.as_slice()) {
            (None, _) => None,
            (Some(path), []) => Some(Folder::new(path, &[DEFAULT_POLICY.to_owned()])?),
            (Some(path), named) => Some(Folder::new(path, named)?),
        };
        let view = View {
            comparison: &comparison,
            base: &self.compared.base.join(" + "),
            new: &new_name(self),
            mode,
            look: Look { scope: if self.full { Scope::Full } else { Scope::Findings }, color: screen.color },
            fails: &fails,
            command: &command,
        };
        if self.lines.lines {
            if self.witness.is_some() {
                return Err(Failure::usage(
                    "`--witness` needs all sessions, and `--lines` has one at a time",
                ));
            }
            return lines::diff(&self.corpus, &self.lines, &self.format, run.redact, &view, screen);
        }
        screen.all = self.full;
        run.policies = comparison.base().policy().into_iter().chain([comparison.policy()]).cloned().collect();
        run.identifies = outputs.iter().any(|output| output.name == "json");

        let (mut whole, mut count, mut uncompared) = (DiffResult::default(), Count::default(), 0);
        let judge = |session: &Arc<Session>| Replay::new(session, comparison.policy(), mode);
        let changes = |session: &Arc<Session>| comparison.session(session, mode).changes().len();
        let make = |session, replay, total: &mut RunCounts, diagnostics: &mut Vec<Diagnostic>| {
            let compared = match replay {
                Some(replay) => comparison.replayed(replay),
                None => comparison.session(&session, mode),
            };
            note(&compared, &view, total, diagnostics);
            ComparedSession::new(&compared, &view, &outputs, folder.as_ref())
        };
        let job = Job { judge: &judge, changes: &changes, make: &make };
        let mut take = |answer: Answer<ComparedSession>, _: &RunCounts, screen: &mut Screen| {
            let Some(ComparedSession { part, cases, not_taken }) = answer.made else { return Ok(()) };
            uncompared += not_taken;
            let saved = folder.as_ref().map_or(Ok(()), |folder| folder.save(cases, &mut count));
            let written = reports.write(&part.bytes, screen);
            whole.take(part, view.most());
            written?;
            saved
        };
        run.run(&job, &ComparedSession::weight, &mut take, screen)?;

        if run.is_whole() {
            let several = run.read.counts.sessions > 1 && !samples;
            let seen = (&run.read.tools, &run.read.contexts);
            input::unseen(comparison.policy(), &levels, seen, several, screen);
        }
        run.close(screen);
        if let Some(why) = run.nothing() {
            reports.nothing_judged(why, "diff", diff::SCHEMA, &run.file_problems, &command, screen)?;
            return Ok(Exit::Bad);
        }
        if whole.totals.nothing_compared() && !run.read.reading.interrupted {
            return Err(reports.undecided("diff", diff::SCHEMA, input::nothing_live(), &command, screen));
        }
        whole.told = run.read.clone();
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
        if let Some(path) = &self.witness {
            screen.note(&count.told(path));
        }
        Ok(run.exit(whole.failures(&view) > 0))
    }
}

/// What is left of a session once it is compared.
struct ComparedSession {
    part: Part,
    cases: Vec<Saved>,
    /// Calls of choices that were not taken, which no recording can be compared about.
    not_taken: u64,
}

impl ComparedSession {
    /// Both replays are at hand here and nowhere later: what is to be said of a change beyond what it is, is found here.
    fn new(
        compared: &SessionDiff,
        view: &View<'_>,
        outputs: &[&Output],
        folder: Option<&Folder>,
    ) -> ComparedSession {
        let cases = folder.map(|folder| folder.cases(compared, view.comparison)).unwrap_or_default();
        // A recording says of them no more than that they were not taken.
        let is_recorded = view.comparison.base().policy().is_none();
        let others = compared.session().alternatives.iter().filter(|_| is_recorded);
        let not_taken = others.map(|other| other.calls().len() as u64).sum();
        ComparedSession { part: Part::of(compared, view, outputs), cases, not_taken }
    }

    /// Bytes that it keeps, about.
    fn weight(&self) -> usize {
        let bytes: usize = self.part.bytes.iter().map(Vec::len).sum();
        4096 + bytes + self.cases.len() * (16 << 10)
    }
}

/// Counts the session, and notes what its recording lacks for the rules of either version.
fn note(compared: &SessionDiff, view: &View<'_>, total: &mut RunCounts, diagnostics: &mut Vec<Diagnostic>) {
    let session = compared.session();
    let versions = [Some(view.comparison.policy()), view.comparison.base().policy()];
    for notice in versions.into_iter().flatten().flat_map(|policy| notices(session, policy)) {
        // A rule that both versions have is one rule.
        if !diagnostics.contains(&notice) {
            diagnostics.push(notice);
        }
    }
    total.counts.sessions = 1;
    total.contexts = SeenContexts::of(session, view.comparison.policy().conditions());
    total.tools = SeenTools::of(session);
}

/// The two versions. A policy in the folder is meant where none is named, whatever sessions it is compared over.
fn comparison(asked: &Diff, samples: bool, screen: &mut Screen) -> Result<(Comparison, Levels), Failure> {
    let only = input::only(&asked.corpus.policies)?;
    let with_samples = samples && !Path::new(DEFAULT_POLICY).exists();
    let new = Version::named(&asked.corpus.policies.policy, with_samples);
    let levels = new.as_ref().map(|version| version.levels.clone()).unwrap_or_default();
    let (new, told) = input::load(new, only, "new version", screen)?;
    told.iter().for_each(|diagnostic| screen.tell(diagnostic));
    let base = version::base(&asked.compared.base, &asked.corpus.policies.policy, only);
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

/// The kinds of change by name, and all of them together.
fn failing() -> PossibleValuesParser {
    let all = [PossibleValue::new(ANY).help("Every kind"), PossibleValue::new(NONE).help("No kind")];
    let kinds = Kind::ALL.map(|kind| PossibleValue::new(kind.word()).help(kind.meaning()));
    PossibleValuesParser::new(all.into_iter().chain(kinds))
}

/// The kinds by name.
fn fails(names: &[String]) -> Result<Vec<Kind>, Failure> {
    if names.len() > 1 && names.iter().any(|name| name == NONE) {
        return Err(Failure::usage("`--fail-on none` excludes every other kind"));
    }
    let meant = |kind: &Kind| names.iter().any(|name| name == ANY || name == kind.word());
    Ok(Kind::ALL.into_iter().filter(meant).collect())
}
