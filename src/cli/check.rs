//! `rulestep check`: policies parsed and validated.

mod fix;

use std::sync::Arc;

use clap::{Arg, ArgAction, Args};

use super::args::{Format, Policies, Reading, SelectionOptions, Threads};
use super::corpus_run::CorpusRun;
use super::count::Counting;
use super::input::{self, SessionSource};
use super::selection::Selection;
use super::verb::{Exit, Exits, FAULT, Failure, INTERRUPTED, Screen, Verb};
use crate::case::read::{Cases, read};
use crate::explore::survey::Survey;
use crate::lint::{Level, Levels, recorded, settle};
use crate::report::{json, words};
use crate::workspace::{self, LoadedVersion, NoPolicy, Version};
use rulestep_base::diagnostic::{Diagnostic, Severity, code};
use rulestep_engine::policy::{LoadResult, Policy};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;

/// The options that say which recordings are read, and how.
const OF_RECORDINGS: [&str; 7] =
    ["filter", "since", "until", "shard", "from", "error_regex", "refused_regex"];

/// Find mistakes in policies: unknown keys, wrong values, rules that can never apply
///
/// `--against` also compares the rules with recordings. `rulestep.toml` in the folder of the policies, or in one above it, can
/// hold what `--deny` and `--allow` say.
#[derive(Debug, Args)]
#[command(
    mut_args(of_recordings),
    mut_arg("policy", |policy| policy.help("The same as POLICY"))
)]
pub struct Check {
    /// Policies: files, folders or `git:REV[:PATH]` [default: contracts/]
    #[arg(value_name = "POLICY")]
    pub named: Vec<String>,
    #[command(flatten)]
    pub policies: Policies,
    /// Check the settings of the workbench instead of policies: FILE and `keys.toml` beside it [default: as the workbench finds them]
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(conflicts_with_all = ["named", "policy", "only"])]
    pub config: Option<String>,
    /// Recordings to compare the rules with: files, folders or globs. May be repeated. Report tools and values in rules that occur in
    /// no call, conditions that never or always pass, rules that checked no call, and rules that stopped no call
    #[arg(long, value_name = "SESSIONS", num_args = 1, action = ArgAction::Append)]
    pub against: Vec<String>,
    #[command(flatten)]
    pub selection: SelectionOptions,
    /// Make every problem with this code an error, even if it is only a warning or a notice by default. May be repeated
    #[arg(long, value_name = "CODE", action = ArgAction::Append)]
    pub deny: Vec<String>,
    /// Leave out every problem with this code: it is not reported and does not affect the exit code. May be repeated
    #[arg(long, value_name = "CODE", action = ArgAction::Append)]
    pub allow: Vec<String>,
    /// Edit the files: apply the fixes that cannot change a decision
    #[arg(long)]
    pub fix: bool,
    /// With --fix: also apply fixes that can change decisions, such as the likely name of a misspelt tool
    #[arg(long, requires = "fix")]
    pub suggested: bool,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub threads: Threads,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: Format,
}

impl Verb for Check {
    const NAME: &'static str = "check";
    const EXITS: Exits = &[
        (0, "no errors and no warnings; notices do not count"),
        (1, "errors or warnings, such as invalid YAML, even if the policy does not load because of them"),
        (
            2,
            "a policy or a recording of `--against` could not be read (not UTF-8, no permission), whatever was found",
        ),
        (2, "wrong arguments, or no policy"),
        FAULT,
        INTERRUPTED,
    ];

    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        if let Some(file) = &self.config {
            return settings(Some(file.as_str()).filter(|file| !file.is_empty()), self.format, screen);
        }
        screen.all_with = "--format json";
        let only = input::only(&self.policies)?;
        let specs: Vec<String> = self.named.iter().chain(&self.policies.policy).cloned().collect();
        let mut version =
            Version::named(&specs, false).map_err(|why| input::undecided(why, "policy", screen))?;
        choose(&mut version.levels, self)?;
        let levels = version.levels.clone();
        let LoadedVersion { policy, mut loaded } = match self.fix {
            true => fix::run(version, only, self.suggested, screen)?,
            false => version.load(only),
        };
        let failed = matches!(policy, Err(NoPolicy::Unreadable(_)));
        let mut counted = None;
        if let (false, Ok(policy)) = (self.against.is_empty(), &policy) {
            let (found, run) = against(self, policy, screen)?;
            loaded.diagnostics.extend(settle(found, policy, &levels));
            counted = Some(run);
        }
        // Cases that are beside the policies are parsed, not judged.
        let cases: Vec<Cases> = loaded.cases.iter().map(|source| read(source, false)).collect();
        let of_cases = cases.iter().flat_map(|read| &read.diagnostics);
        let missing: Vec<Diagnostic> =
            cases.iter().flat_map(|read| &read.cases).flat_map(workspace::cases::missing).collect();
        let diagnostics = loaded.diagnostics.iter().chain(of_cases).chain(&missing);
        let diagnostics: Vec<Diagnostic> = diagnostics.cloned().collect();
        let found =
            |severity| diagnostics.iter().filter(move |told| told.severity == severity).count() as u64;
        let (errors, warnings) = (found(Severity::Error), found(Severity::Warning));
        match self.format {
            Format::Json => {
                // A version of which a part could not be read is not the version that was asked for.
                let digest = loaded.policy.as_deref().filter(|_| !failed).map(|policy| &**policy.digest());
                json::check(digest, &json::documents(&loaded.documents), &diagnostics, screen.out())?;
            }
            Format::Text => {
                // Recordings have as much to say as there are rules: of what is no mistake, a few of each kind.
                let matters =
                    |told: &&Diagnostic| self.against.is_empty() || told.severity > Severity::Notice;
                let (all, few): (Vec<_>, Vec<_>) = diagnostics.iter().partition(matters);
                for (all, told) in [(true, all), (false, few)] {
                    screen.all = all;
                    told.into_iter().for_each(|told| screen.tell(told));
                    screen.tell_rest();
                }
                // What was left out is not enforced, so the closing line must not pass it over.
                let out = diagnostics.iter().filter(|told| {
                    told.severity == Severity::Notice && told.code == code::UNRECOGNISED_DOCUMENT
                });
                let out = out.count() as u64;
                let verdict = verdict(errors, warnings, found(Severity::Notice).saturating_sub(out));
                let out = match out {
                    0 => String::new(),
                    count => format!("; {} left out", words::count(count, "file")),
                };
                let found = cases.iter().map(|read| read.found as u64).sum();
                let cases =
                    if found == 0 { String::new() } else { format!(", {}", words::count(found, "case")) };
                let read = counted
                    .as_ref()
                    .map(|run| format!(", {}", words::count(run.read.counts.sessions, "session")));
                let contents = format!("{}{cases}{}", contents(&loaded), read.unwrap_or_default());
                // That there is no policy at all is the verdict then.
                if !matches!(policy, Err(NoPolicy::Empty { .. })) {
                    writeln!(screen.out(), "{contents}: {verdict}{out}")?;
                }
                if !self.against.is_empty() && policy.is_err() {
                    screen.note("the policy does not load, so it was not compared with recordings");
                }
            }
        }
        if let Err(NoPolicy::Empty { message, .. }) = policy {
            return Err(Failure::usage(message));
        }
        if let Some(ended) = counted.as_ref().map(|run| run.exit(false)).filter(|ended| *ended != Exit::Clean)
        {
            return Ok(ended);
        }
        Ok(match (failed, errors + warnings) {
            (true, _) => Exit::Bad,
            (_, 0) => Exit::Clean,
            _ => Exit::Found,
        })
    }
}

/// An option about recordings, which has a meaning with `--against` alone.
fn of_recordings(option: Arg) -> Arg {
    if !OF_RECORDINGS.contains(&option.get_id().as_str()) {
        return option;
    }
    let help = option.get_help().map(ToString::to_string).unwrap_or_default();
    let mut rest = help.chars();
    let first = rest.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
    let help = match help.starts_with("With ") {
        true => help,
        false => format!("With --against: {first}{}", rest.as_str()),
    };
    option.help(help).requires("against")
}

/// The levels that the command line asks for, which count more than those of `rulestep.toml`.
fn choose(levels: &mut Levels, asked: &Check) -> Result<(), Failure> {
    levels.strict = true;
    let allowed = asked.allow.iter().map(|name| (name, Level::Allow));
    for (name, level) in allowed.chain(asked.deny.iter().map(|name| (name, Level::Deny))) {
        levels
            .set(name, level)
            .map_err(|told| told.help.into_iter().fold(Failure::usage(told.message), Failure::help))?;
    }
    Ok(())
}

/// What recordings say against the policy, and how completely they were read.
fn against<'a>(
    asked: &'a Check,
    policy: &Arc<Policy>,
    screen: &mut Screen,
) -> Result<(Vec<Diagnostic>, CorpusRun<'a>), Failure> {
    let Check { against, reading, threads, .. } = asked;
    let (source, selection) =
        (SessionSource::Named(against.as_slice().into()), Selection::of(&asked.selection)?);
    let mut run = CorpusRun::over(source, reading, selection, Mode::Enforce, threads.jobs, screen)?;
    let mut survey = Survey::default();
    let counting = Counting { policy, judge: Replay::with_checks, count: &Survey::of };
    counting.run(&mut run, &mut |counted| survey.merge(&counted), screen)?;
    Ok((recorded(policy, &survey), run))
}

/// The settings of the workbench, as far as they are wrong.
fn settings(file: Option<&str>, format: Format, screen: &mut Screen) -> Result<Exit, Failure> {
    let config =
        crate::workbench::run::environment::config(file).map_err(|problem| Failure::Input(vec![problem]))?;
    let problems = &config.problems;
    match format {
        Format::Json => json::check(None, &[], problems, screen.out())?,
        Format::Text => {
            screen.all = true;
            problems.iter().for_each(|problem| screen.tell(problem));
            screen.tell_rest();
            let files =
                if config.files.is_empty() { "no settings".to_owned() } else { config.files.join(", ") };
            let verdict = match problems.len() as u64 {
                0 => "nothing wrong".to_owned(),
                count => words::count(count, "error"),
            };
            writeln!(screen.out(), "{files}: {verdict}")?;
        }
    }
    Ok(if problems.is_empty() { Exit::Clean } else { Exit::Found })
}

/// How many findings of each kind there are: what was printed is counted.
fn verdict(errors: u64, warnings: u64, notices: u64) -> String {
    let counts = [(errors, "error"), (warnings, "warning"), (notices, "notice")].into_iter();
    let counts = counts.filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, kind)| words::count(count, kind)).collect();
    match (counts.is_empty(), errors + warnings) {
        (true, _) => "nothing wrong".to_owned(),
        (false, 0) => format!("no errors or warnings, {}", words::list(counts)),
        _ => words::list(counts),
    }
}

/// `3 documents, 8 rules`; a broken version has no rules to count.
fn contents(loaded: &LoadResult) -> String {
    let documents = words::count(loaded.documents.len() as u64, "document");
    match &loaded.policy {
        Some(policy) => format!("{documents}, {}", words::count(policy.rules().len() as u64, "rule")),
        None => documents,
    }
}
