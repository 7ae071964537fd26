//! `rulestep replay`: every session judged, the answers in the order of the input.

mod by;

use std::sync::Arc;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::args::{self, Caching, Corpus, Handling, Lines, ReportFiles, formats, merged};
use super::corpus_run::{Answer, CorpusRun, Job, Sum};
use super::input::{self, Cache, kept};
use super::lines;
use super::reports::{Command, Reports};
use super::verb::{
    Exit, Exits, FAULT, FINDING, Failure, INTERRUPTED, NO_FINDING, NOT_FOUND_IN_PART, NOT_JUDGED, STRICT,
    Screen, Verb,
};
use crate::corpus;
use crate::lint;
use crate::report::ci::{self, Issue, Issues};
use crate::report::report_data::ReportData;
use crate::report::{End, Gathers, Judged, Look, OUTPUTS, Output, RunCounts, Scope, json};
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::Session;
use rulestep_engine::replay;

/// A replay, whichever command asks for it.
pub struct ReplayRequest<'a> {
    pub run: CorpusRun<'a>,
    pub policies: &'a args::Policies,
    /// What goes to standard output, if anything.
    pub format: Option<&'a str>,
    pub reports: &'a [String],
    /// The outputs that may be asked for.
    pub known: &'static [Output],
    pub scope: Scope,
    pub caching: &'a args::Caching,
}

/// List the recorded calls that the policy stops and the session rules that are violated
///
/// A session rule is a rule about the session as a whole, for example that a required tool is called. It is checked when the
/// session ends.
#[derive(Debug, Args)]
#[command(mut_arg("shard", merged))]
pub struct Replay {
    #[command(flatten)]
    pub corpus: Corpus,
    #[command(flatten)]
    pub lines: Lines,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text", default_value_if("lines", "true", "json"), value_parser = formats(OUTPUTS.iter().map(|output| (output.name, output.title))))]
    pub format: String,
    #[command(flatten)]
    pub also: ReportFiles,
    /// Show only the totals of each session and the session rules that it violates, not its calls. Cannot be combined with
    /// --full or --by
    #[arg(long, conflicts_with = "full")]
    pub summary: bool,
    /// Show everything: also visible and hidden tools and unsatisfied preconditions of each turn, and every check on each call.
    /// Cannot be combined with --summary or --by
    #[arg(long)]
    pub full: bool,
    /// Count stopped calls and violated session rules by KEY, instead of listing them
    #[arg(long, value_name = "KEY", conflicts_with_all = ["summary", "full", "report", "redact", "strict", "lines"], value_parser = by::keys())]
    pub by: Option<String>,
    #[command(flatten)]
    pub handling: Handling,
    #[command(flatten)]
    pub caching: Caching,
}

impl Verb for Replay {
    const NAME: &'static str = "replay";
    const EXITS: Exits = &[NO_FINDING, FINDING, NOT_FOUND_IN_PART, STRICT, NOT_JUDGED, FAULT, INTERRUPTED];

    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        let scope = match (self.summary, self.full) {
            (true, _) => Scope::Summary,
            (_, true) => Scope::Full,
            _ => Scope::Findings,
        };
        if let Some(by) = &self.by {
            return by::run(&self.corpus, by, &self.format, screen);
        }
        if self.lines.lines {
            return lines::replay(
                &self.corpus,
                &self.lines,
                &self.format,
                self.handling.redact,
                scope,
                screen,
            );
        }
        let mut run = CorpusRun::of("rulestep replay SESSIONS", &self.corpus, screen)?;
        (run.strict, run.redact) = (self.handling.strict, self.handling.redact);
        let request = ReplayRequest {
            run,
            policies: &self.corpus.policies,
            format: Some(&self.format),
            reports: &self.also.report,
            known: OUTPUTS,
            scope,
            caching: &self.caching,
        };
        judge(request, screen)
    }
}

/// Judges and prints.
pub fn judge(mut asked: ReplayRequest<'_>, screen: &mut Screen) -> Result<Exit, Failure> {
    let mut reports =
        Reports::open(asked.format, asked.reports, (asked.known, |output| output.name), asked.run.names())?;
    if asked.scope == Scope::Summary
        && let Some(output) = reports.outputs.iter().find(|output| output.gathers != Gathers::Nothing)
    {
        let message = format!("`--summary` has no findings to write as `{}`", output.name);
        return Err(Failure::usage(message).help("`text` and `json` have a summary"));
    }
    let (mode, samples) = (asked.run.mode, asked.run.source.is_samples());
    let command = Command::of("replay", &asked.run).policies(asked.policies, &[], mode).text();
    let (policy, levels) = match input::policy_and_levels(asked.policies, samples, screen) {
        Ok(loaded) => loaded,
        Err(failure) => return Err(reports.undecided("replay", json::SCHEMA, failure, &command, screen)),
    };
    let look = Look { scope: asked.scope, color: screen.color && asked.format.is_some() };
    screen.all = asked.scope == Scope::Full;
    let outputs = reports.outputs.clone();
    asked.run.policies = vec![Arc::clone(&policy)];
    asked.run.identifies = outputs.iter().any(|output| output.name == "json");
    let cache = asked.cache(&outputs, look);
    let ReplayRequest { run, scope, .. } = &mut asked;

    let (mut gathered, mut data, mut only) = (Issues::default(), ReportData::default(), None);
    let judge = |session: &Arc<Session>| replay::Replay::new(session, &policy, mode);
    let make = |session, replay, total: &mut RunCounts, diagnostics: &mut Vec<Diagnostic>| {
        let judged = match replay {
            Some(replay) => Judged::of(replay, *scope),
            None => Judged::new(session, &policy, mode, *scope),
        };
        diagnostics.extend(judged.notices());
        total.add(&judged);
        Written::new(judged, &outputs, look)
    };
    let job = Job { judge: &judge, changes: &|_| 0, make: &make };
    let mut take = |answer: Answer<Written>, total: &RunCounts, screen: &mut Screen| {
        data.note(&answer.diagnostics);
        let Some(Written { bytes, found, session }) = answer.made else { return Ok(()) };
        if let Some(found) = found {
            gathered.take(found);
        }
        if let Some((found, replay)) = session {
            only = (total.counts.sessions == 1).then_some(replay);
            data.merge(found);
        }
        Ok(reports.write(&bytes, screen)?)
    };
    run.run_cached(cache, &job, &mut take, screen)?;

    let several = run.read.counts.sessions > 1 && !samples;
    let seen = (&run.read.tools, &run.read.contexts);
    let unseen =
        if run.is_whole() { input::unseen(&policy, &levels, seen, several, screen) } else { Vec::new() };
    // A part of the sessions that was picked says nothing of the others; a shard says what the others are merged with.
    let total = &mut run.read;
    if !total.reading.interrupted && run.selection.given().iter().all(|(option, _)| *option == "--shard") {
        total.unseen = total.tools.all().map(|seen| lint::unseen_names(&policy, &seen)).unwrap_or_default();
        total.off = lint::off_everywhere(&policy, &total.contexts, total.counts.sessions);
    }
    let mut of_policy = policy.warnings();
    of_policy.extend(unseen);
    data.note(&run.file_problems);
    data.note(&of_policy);
    run.close(screen);
    if let Some(why) = run.nothing() {
        reports.nothing_judged(why, "replay", json::SCHEMA, &run.file_problems, &command, screen)?;
        return Ok(Exit::Bad);
    }
    let end = End {
        total: &run.read,
        policy: &policy,
        of_policy: &of_policy,
        mode,
        gathered: &gathered,
        data: &data,
        only: only.as_deref(),
        caveats: &[],
        command: &command,
    };
    reports.end(screen, &|output, color, out| (output.end)(&end, &Look { color, ..look }, out))?;
    Ok(run.exit(run.read.counts.objected > 0))
}

impl ReplayRequest<'_> {
    /// Summaries alone are kept: they are small, and hold nothing of what was recorded but what they print.
    fn cache(&self, outputs: &[&Output], look: Look) -> Option<Cache> {
        if self.scope != Scope::Summary || outputs.iter().any(|output| output.gathers != Gathers::Nothing) {
            return None;
        }
        let outputs: Vec<_> = outputs.iter().map(|output| output.name).collect();
        let (mode, redact) = (self.run.mode.word(), self.run.redact);
        let options = format!("replay {outputs:?} {} {mode} {redact}", look.color);
        self.run.cache(self.caching, self.policies, &options)
    }
}

/// What the outputs make of a session: small beside it.
#[derive(Default, Serialize, Deserialize)]
struct Written {
    /// Of each output.
    #[serde(with = "kept::texts")]
    bytes: Vec<Vec<u8>>,
    /// What was found, where an output gathers it.
    #[serde(skip)]
    found: Option<(ci::Case, Vec<Issue>)>,
    /// The same with all that it rests on, and the session: if it stays the only one, it is shown as a whole.
    #[serde(skip)]
    session: Option<(ReportData, Box<replay::Replay>)>,
}

impl Sum for Written {
    fn add(&mut self, later: &Written) {
        if self.bytes.is_empty() {
            self.bytes.clone_from(&later.bytes);
        } else {
            self.bytes.iter_mut().zip(&later.bytes).for_each(|(bytes, more)| bytes.extend_from_slice(more));
        }
    }

    fn weight(&self) -> usize {
        let bytes: usize = self.bytes.iter().map(Vec::len).sum();
        let issues = self.found.as_ref().map_or(0, |(_, issues)| issues.len());
        let session = self.session.as_ref().map_or(0, |(_, replay)| corpus::weight(replay.session()));
        // Tables, and the decisions of a replay beside its session.
        2048 + bytes + issues * 1024 + session * 2
    }
}

impl Written {
    fn new(judged: Judged, outputs: &[&Output], look: Look) -> Written {
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
            Judged::Whole(replay) if gathers(Gathers::Issues) => {
                let issues = ci::of_replay(replay);
                Some((ci::case(replay.session(), &issues), issues))
            }
            _ => None,
        };
        let session = match judged {
            Judged::Whole(replay) if gathers(Gathers::ReportData) => Some((ReportData::of(&replay), replay)),
            _ => None,
        };
        Written { bytes, found, session }
    }
}
