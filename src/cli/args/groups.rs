//! Arguments that several commands share.

use clap::{ArgAction, Args};

use super::choices::Mode;
use super::values::{from_help, only_help};

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
    /// Number of threads (0 = one per CPU)
    #[arg(short, long, default_value_t = 0, value_name = "N", hide_default_value = true)]
    pub jobs: usize,
}

/// The recordings to look at.
#[derive(Debug, Args)]
pub struct Recordings {
    /// Recordings: files, folders, globs, or `-` for standard input
    #[arg(value_name = "SESSIONS")]
    pub sessions: Vec<String>,
    /// Use the built-in sample sessions, with their policies unless -p names others
    #[arg(long, conflicts_with = "sessions")]
    pub samples: bool,
    #[command(flatten)]
    pub reading: Reading,
}

/// Which of the sessions are looked at.
#[derive(Debug, Args)]
pub struct Selection {
    /// Only sessions that match: words and terms such as `tool:deploy`, `is:error`, `project:shop`, `since:7d`, `!code:forbidden`,
    /// `"two words"`, `/regex/`. All must match, those about calls on one and the same call
    #[arg(long = "where", value_name = "FILTER")]
    pub filter: Option<String>,
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
    /// Policies: a file, a folder, or `git:REV[:PATH]`. Repeat it to combine several [default: contracts/]
    #[arg(short, long = "policy", value_name = "VERSION", action = ArgAction::Append)]
    pub policy: Vec<String>,
    /// The one dialect whose documents count
    #[arg(long, value_name = "DIALECT", help = only_help())]
    pub only: Option<String>,
}

/// How sessions are judged.
#[derive(Debug, Args)]
pub struct ModeArgument {
    /// What a replay assumes after a call that the policy stops
    #[arg(long, value_enum, default_value_t, value_name = "MODE")]
    pub mode: Mode,
}
