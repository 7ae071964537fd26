//! Arguments that several commands share.

use clap::{ArgAction, Args};

use super::choices::Mode;
use super::values::{from_help, only_help, threads, where_help};

/// The sessions that a command goes through, and how they are judged.
#[derive(Debug, Args)]
pub struct Corpus {
    #[command(flatten)]
    pub recordings: Recordings,
    #[command(flatten)]
    pub selection: Selection,
    #[command(flatten)]
    pub policies: Policies,
    #[command(flatten)]
    pub judging: ModeArgument,
    /// Number of threads, at most 256; 0 is one per CPU
    #[arg(short, long, default_value_t = 0, value_name = "N", value_parser = threads())]
    pub jobs: usize,
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
pub struct Selection {
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

/// The policies to judge by.
#[derive(Debug, Args)]
pub struct Policies {
    /// Policies: a file, a folder, or `git:REV[:PATH]` (as committed; without PATH: contracts/). Repeat it to combine several [default: contracts/]
    #[arg(short, long = "policy", value_name = "VERSION", action = ArgAction::Append)]
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
