//! `rulestep test --mutate`: which mistakes in the policies the cases would notice.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use rayon::prelude::*;
use serde_json::json;

use super::args::TestFormat;
use super::exit::{Exit, Failure};
use super::input::{SessionSource, Sessions};
use super::screen::Screen;
use crate::case::Case;
use crate::case::judge::{judge, version};
use crate::files;
use crate::mutation::{Mutant, Mutated, mutants};
use crate::report::words;
use crate::workspace::cases::{CaseFile, CaseRunner};
use crate::workspace::{LoadedVersion, Version};
use rulestep_base::session::{CallRef, Session};
use rulestep_base::wording::clean::{self, Marks};
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use rulestep_recording::Options;

/// Columns that a mutation may take.
const WHAT: usize = 120;

/// Whether cases are tested themselves, and how.
#[derive(Debug, Args)]
pub struct Mutation {
    /// Test the cases themselves: in memory, remove or weaken one rule at a time, and list the changes that no case notices. No file
    /// is changed
    #[arg(long, conflicts_with = "update")]
    pub mutate: bool,
    /// With --mutate: recordings; may be repeated. For each change that no case notices, name a recorded call that would be decided
    /// differently
    #[arg(long, value_name = "SESSIONS", requires = "mutate")]
    pub sessions: Vec<String>,
    /// With --mutate: also exit with 1 if the cases notice less than this percentage of all removals and weakenings
    #[arg(long, value_name = "PERCENT", requires = "mutate", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub min_score: Option<u8>,
}

/// A case that passes, with what it is judged with.
struct Witness {
    name: String,
    case: Case,
    session: Arc<Session>,
    policy: Arc<Policy>,
}

/// A mutant and its outcome.
struct Fate {
    mutant: Mutant,
    /// It changes a policy that loads.
    loads: bool,
    /// The cases that fail under it.
    cases: Vec<String>,
    /// The first recorded call, of each session, that is decided differently; the session alone where only a rule about it
    /// ends differently.
    recordings: Vec<String>,
}

/// Runs the verb.
pub fn run(
    asked: &Mutation,
    format: TestFormat,
    named: &[String],
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let witnesses = witnesses(named, screen)?;
    let mut policies: Vec<Arc<Policy>> = whole(named)?.into_iter().collect();
    for witness in &witnesses {
        if policies.iter().all(|known| !Arc::ptr_eq(known, &witness.policy)) {
            policies.push(Arc::clone(&witness.policy));
        }
    }
    // Several policies may share files; one line may hold several rules.
    let mut all: BTreeMap<(String, usize, String), Mutant> = BTreeMap::new();
    for mutant in policies.iter().flat_map(|policy| mutants(policy)) {
        all.entry((mutant.place.clone(), mutant.start, mutant.what.clone())).or_insert(mutant);
    }
    if all.is_empty() {
        let failure = Failure::usage("no rule is in the policies of these cases, so none can be weakened");
        return Err(failure.help("name the folder that holds the policies and their cases"));
    }
    let sessions = recorded(asked, &policies, screen)?;
    let fates: Vec<Fate> = all
        .into_values()
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|mutant| fate(mutant, &policies, &witnesses, &sessions))
        .collect();
    write(asked, format, &fates, !sessions.is_empty(), screen)
}

/// Every case with its policy and session; all of them pass.
fn witnesses(named: &[String], screen: &mut Screen) -> Result<Vec<Witness>, Failure> {
    let (mut runner, mut witnesses) = (CaseRunner::default(), Vec::new());
    let found = files::expand(named);
    found.diagnostics.iter().for_each(|told| screen.tell(told));
    for input in found.inputs.iter().filter(|input| input.named || files::is_document(&input.name)) {
        let text = input.read_text().map_err(|told| Failure::usage(told.to_string()))?;
        let Some(file) = runner.file(&input.name, text, input.named) else { continue };
        file.read.diagnostics.iter().for_each(|told| screen.tell(told));
        if file.broken().is_some() {
            return Err(failing(&input.name));
        }
        let CaseFile { read, runs, .. } = file;
        for (case, run) in read.cases.into_iter().zip(runs) {
            let passes = run.result.is_ok_and(|result| result.passes());
            let resolved = runner.parts(&case).ok().filter(|_| passes);
            let Some((session, policy)) = resolved else {
                return Err(failing(case.source.name()));
            };
            let line = case.source.position(case.span.start).line;
            witnesses.push(Witness { name: format!("{}:{line}", case.source.name()), case, session, policy });
        }
    }
    Ok(witnesses)
}

fn failing(file: &str) -> Failure {
    let message = format!("a case in `{file}` does not pass, so it notices nothing");
    Failure::usage(message).help("`rulestep test` says why; fix it first")
}

/// All policies that are named at once; none where they are no version together.
fn whole(named: &[String]) -> Result<Option<Arc<Policy>>, Failure> {
    let paths: Vec<String> = named.iter().filter(|path| Path::new(path).is_dir()).cloned().collect();
    if paths.is_empty() {
        return Ok(None);
    }
    let LoadedVersion { policy, .. } = Version::beside(&paths, &paths).load(None);
    Ok(policy.ok())
}

fn recorded(
    asked: &Mutation,
    policies: &[Arc<Policy>],
    screen: &mut Screen,
) -> Result<Vec<Arc<Session>>, Failure> {
    if asked.sessions.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = SessionSource::of(&asked.sessions, false, "rulestep test --mutate --sessions SESSIONS")?;
    let mut sessions = Sessions::new(&wanted, Options::default(), screen);
    sessions.join_for(policies.iter().map(|policy| &**policy));
    let read: Vec<Arc<Session>> = sessions.by_ref().map(Arc::new).collect();
    sessions.finish(false, screen);
    Ok(read)
}

fn fate(mutant: Mutant, policies: &[Arc<Policy>], witnesses: &[Witness], sessions: &[Arc<Session>]) -> Fate {
    let (mut loads, mut cases, mut recordings) = (false, Vec::new(), Vec::new());
    for policy in policies {
        let Mutated::Policy(changed) = mutant.apply(policy) else { continue };
        loads = true;
        for witness in witnesses.iter().filter(|witness| Arc::ptr_eq(&witness.policy, policy)) {
            let passes = version(&witness.case, &changed)
                .is_ok_and(|version| judge(&witness.case, &witness.session, &version).passes());
            if !passes {
                cases.push(witness.name.clone());
            }
        }
        recordings.extend(sessions.iter().filter_map(|session| differs(session, policy, &changed)));
    }
    let mut known = BTreeSet::new();
    recordings.retain(|recording| known.insert(recording.clone()));
    Fate { mutant, loads, cases, recordings }
}

/// Where a recorded session is decided differently.
fn differs(session: &Arc<Session>, policy: &Arc<Policy>, changed: &Arc<Policy>) -> Option<String> {
    let replay = |policy| Replay::new(session, policy, Mode::Enforce);
    let (before, after) = (replay(policy), replay(changed));
    let calls = before.calls().iter().zip(after.calls()).zip(&session.calls);
    let at = calls.filter(|((before, after), _)| before.decision.verdict != after.decision.verdict);
    let first: Option<CallRef> = at.map(|(_, call)| call.at).next();
    let violated = |replay: &Replay| {
        let rules = replay.rules().iter();
        rules.filter(|rule| rule.code.is_some()).map(|rule| rule.rule).collect::<Vec<_>>()
    };
    match first {
        Some(at) => Some(format!("{}:{}.{}", session.id, at.turn, at.call)),
        None => (violated(&before) != violated(&after)).then(|| session.id.to_string()),
    }
}

/// How many of some mutants are noticed, of how many that load.
fn score<'f>(fates: impl Iterator<Item = &'f Fate> + Clone) -> (usize, usize) {
    let loading = fates.filter(|fate| fate.loads);
    (loading.clone().filter(|fate| !fate.cases.is_empty()).count(), loading.count())
}

fn percent((noticed, all): (usize, usize)) -> f64 {
    // Nothing was tried, so nothing was noticed.
    if all == 0 { 0.0 } else { noticed as f64 * 100.0 / all as f64 }
}

fn write(
    asked: &Mutation,
    format: TestFormat,
    fates: &[Fate],
    with_recordings: bool,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let removals = score(fates.iter().filter(|fate| fate.mutant.removal));
    let weakened = score(fates.iter().filter(|fate| !fate.mutant.removal));
    let total = (removals.0 + weakened.0, removals.1 + weakened.1);
    let invalid = fates.iter().filter(|fate| !fate.loads).count();
    let survivors = fates.iter().filter(|fate| fate.loads && fate.cases.is_empty());
    if format == TestFormat::Json {
        let mutants = fates.iter().map(|fate| {
            json!({
                "place": fate.mutant.place, "mutation": fate.mutant.what, "removal": fate.mutant.removal,
                "loads": fate.loads, "cases": fate.cases, "recordings": fate.recordings,
            })
        });
        let line = json!({
            "schema": "rulestep.mutation/1", "mutants": mutants.collect::<Vec<_>>(),
            "removals": {"noticed": removals.0, "of": removals.1},
            "weakenings": {"noticed": weakened.0, "of": weakened.1},
            "not_loading": invalid, "score": percent(total),
        });
        writeln!(screen.out(), "{line}")?;
    } else {
        for Fate { mutant, recordings, .. } in survivors {
            let what = clean::fit(&mutant.what, WHAT, Marks::Unicode).text();
            writeln!(screen.out(), "{}: no case notices: {what}", mutant.place)?;
            match recordings.as_slice() {
                [first, rest @ ..] => {
                    let more =
                        if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
                    writeln!(screen.out(), "  a case of this would: {}{more}", words::line(first))?;
                }
                [] if with_recordings => writeln!(screen.out(), "  nor does any of the recordings")?,
                [] => {}
            }
        }
        let of = |(noticed, all): (usize, usize), what| {
            format!("{noticed} of {} noticed", words::count(all as u64, what))
        };
        let rest = match invalid {
            0 => String::new(),
            count => format!(
                "; {} not counted, since the policy does not load with them",
                words::count(count as u64, "weakening")
            ),
        };
        let line = format!(
            "{}, {}, score {:.0} %{rest}",
            of(removals, "removal"),
            of(weakened, "weakening"),
            percent(total)
        );
        writeln!(screen.out(), "{line}")?;
    }
    let low = asked.min_score.is_some_and(|least| percent(total) < f64::from(least));
    Ok(if removals.0 < removals.1 || low { Exit::Found } else { Exit::Clean })
}
