//! Arguments that several commands share.

use clap::{Arg, ArgAction, Args};

use super::choices::Mode;
use super::values::{from_help, only_help, threads, where_help};

/// The sessions that a command goes through, and how they are judged.
#[derive(Debug, Args)]
pub struct Corpus {
    #[command(flatten)]
    pub recordings: Recordings,
    #[command(flatten)]
    pub selection: SelectionOptions,
    #[command(flatten)]
    pub policies: Policies,
    #[command(flatten)]
    pub judging: ModeArgument,
    #[command(flatten)]
    pub threads: Threads,
}

/// The recordings to look at.
#[derive(Debug, Args)]
pub struct Recordings {
    /// Recordings: files, folders, globs, or `-` for standard input
    #[arg(value_name = "SESSIONS")]
    pub sessions: Vec<String>,
    /// Also read the recordings that this file names, one per line or separated by NUL; `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub files_from: Option<String>,
    /// Use the sample sessions inside the program instead of SESSIONS, and their policies unless -p names others
    #[arg(long, conflicts_with_all = ["sessions", "files_from"])]
    pub samples: bool,
    #[command(flatten)]
    pub reading: Reading,
}

/// Which of the sessions are looked at.
#[derive(Debug, Args)]
pub struct SelectionOptions {
    /// Only sessions that match all these terms
    #[arg(long = "where", value_name = "FILTER", help = where_help())]
    pub filter: Option<String>,
    /// Use only sessions that began at TIME or later: an age (`90m`, `12h`, `7d`, `2w`), a day in UTC (`2026-11-01`) or an instant
    /// (`2026-11-01T09:30:00Z`). Sessions without a recorded time are left out
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Use only sessions that began before TIME, written as in --since
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Use only part I of N of the sessions, such as `2/4` on the second of four machines. The N parts together have each session once
    #[arg(long, value_name = "I/N")]
    pub shard: Option<String>,
}

/// How recordings are read.
#[derive(Debug, Args)]
pub struct Reading {
    /// The one format of all recordings
    #[arg(long, value_name = "FORMAT", help = from_help())]
    pub from: Option<String>,
    /// Treat a result that matches this regular expression as an error, for logs that do not mark errors
    #[arg(long, value_name = "RE")]
    pub error_regex: Option<String>,
    /// Treat a result that matches this regular expression as a refusal: the tool did not run, whatever the log says. Takes
    /// precedence over --error-regex
    #[arg(long, value_name = "RE")]
    pub refused_regex: Option<String>,
}

/// How many threads work.
#[derive(Debug, Args)]
pub struct Threads {
    /// Number of threads, at most 256; 0 is one per CPU
    #[arg(short, long, default_value_t = 0, value_name = "N", value_parser = threads())]
    pub jobs: usize,
}

/// How files without sessions, and values that no rule reads, are handled.
#[derive(Debug, Args)]
pub struct Handling {
    /// Exit with 2 if a file in a folder is skipped because it is not a recording. Without this, skipped files are only counted.
    /// Rulestep never looks at hidden files, `target` and `node_modules`, so they do not count
    #[arg(long)]
    pub strict: bool,
    /// Blank all arguments, results and messages, in the output and in files that are written. Only the values that a rule of the
    /// policies looks at stay readable
    #[arg(long)]
    pub redact: bool,
}

/// Outputs beside that of `--format`.
#[derive(Debug, Args)]
pub struct ReportFiles {
    /// Also write the result to FILE (replaced if it exists), in any FORMAT of --format: `junit=report.xml`. May be repeated
    #[arg(long, value_name = "FORMAT=FILE", action = ArgAction::Append)]
    pub report: Vec<String>,
}

/// What policies are compared with.
#[derive(Debug, Clone, Args)]
pub struct BaseArgument {
    /// What to compare with: another version of the policies (file, folder or `git:REV[:PATH]`), `recorded` or `live`. `recorded` is
    /// what the recording refused, `live` what `hook`, `gate` or `proxy` decided while the agent ran. Repeat it to combine several
    /// versions, but not `recorded` or `live`. `git:REV` without a path means the -p paths as of that revision
    #[arg(short, long, value_name = "VERSION", action = ArgAction::Append)]
    pub base: Vec<String>,
}

/// The policies that the workbench opens, and how they judge.
#[derive(Debug, Clone, Args)]
pub struct Versions {
    #[command(flatten)]
    pub policies: Policies,
    #[command(flatten)]
    pub compared: BaseArgument,
    /// What a replay assumes after a call that the policy stops [default: enforce]
    #[arg(long, value_enum, value_name = "MODE")]
    pub mode: Option<Mode>,
}

/// The policies to judge by.
#[derive(Debug, Clone, Args)]
pub struct Policies {
    #[arg(short, long = "policy", value_name = "VERSION", action = ArgAction::Append, help = policies_help(" [default: contracts/]"))]
    pub policy: Vec<String>,
    /// The one dialect whose documents count
    #[arg(long, value_name = "LANGUAGE", help = only_help())]
    pub only: Option<String>,
}

/// How sessions are judged.
#[derive(Debug, Args)]
pub struct ModeArgument {
    /// What a replay assumes after a call that the policy stops
    #[arg(long, value_enum, default_value_t, value_name = "MODE")]
    pub mode: Mode,
}

/// Whether results are kept.
#[derive(Debug, Args)]
pub struct Caching {
    /// Neither read nor write the cache of results in $XDG_CACHE_HOME/rulestep (else ~/.cache/rulestep)
    #[arg(long)]
    pub no_cache: bool,
}

/// A filter for other programs.
#[derive(Debug, Args)]
pub struct Lines {
    /// Read each line of standard input as one session (SESSIONS must be `-`). Write its result or error at once, as one line of JSON.
    /// Implies `--format json`
    #[arg(long, conflicts_with_all = ["files_from", "samples", "filter", "since", "until", "shard", "report", "strict"])]
    pub lines: bool,
    /// With --lines: end with a line of totals
    #[arg(long, requires = "lines")]
    pub totals: bool,
}

/// The help of `--policy`, which differs in what the policies do and in the default.
pub fn policies_help(more: &str) -> String {
    format!(
        "Policies: a file, a folder, or `git:REV[:PATH]` (as committed; without PATH: contracts/). Repeat it to combine several{more}"
    )
}

/// `--shard` of a command whose JSON results can be merged.
pub fn merged(shard: Arg) -> Arg {
    followed_by(shard, " `rulestep merge` combines the JSON results of all parts")
}

/// `--where` of a command in which only a policy that is named decides.
pub fn asks_policy(filter: Arg) -> Arg {
    followed_by(filter, ". Terms about decisions, such as `rule:` and `is:stopped`, need -p")
}

/// `--samples` of a command that takes no policies from the samples.
pub fn only_sessions(samples: Arg) -> Arg {
    samples.help("Use the sample sessions inside the program instead of SESSIONS")
}

/// An option with more said after its help.
fn followed_by(option: Arg, more: &str) -> Arg {
    let help = option.get_help().map(ToString::to_string).unwrap_or_default();
    let stop = if more.starts_with(' ') && !help.ends_with('.') { "." } else { "" };
    option.help(format!("{help}{stop}{more}"))
}
