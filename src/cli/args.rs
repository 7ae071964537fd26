//! What may stand on the command line.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgAction, Args, Command, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::compare::Kind;
use crate::dialect::DIALECTS;
use crate::engine;
use crate::report::{self, diff};
use crate::session::read::FORMATS;
use crate::source::nearest::nearest;

/// In `--fail-on`, every kind of change.
pub const ANY: &str = "any";
/// In `--fail-on`, none of them.
pub const NONE: &str = "none";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "rulestep",
    version,
    about = "Open recorded agent sessions beside the policies that gate their tool calls",
    long_about = "Open recorded agent sessions beside the policies that gate their tool calls: what the model could call \
                  in each turn, why a call was stopped, and by which line of which policy.\n\nWithout a command the \
                  workbench opens; without a terminal it prints what `replay` prints. Without any argument it opens the \
                  samples that are built into the program.",
    after_help = "Exit codes: 0 nothing stopped, found or changed, 1 something was, 2 bad input or usage, 3 a fault of the program.",
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Option<Verb>,
    /// Without a verb: what the workbench opens.
    #[command(flatten)]
    pub open: Open,
    /// How everything is shown.
    #[command(flatten)]
    pub show: Show,
}

/// What the workbench opens.
#[derive(Debug, Args)]
pub struct Open {
    #[command(flatten)]
    pub recordings: Recordings,
    #[command(flatten)]
    pub policies: Policies,
    /// What to compare with in the workbench: a file, a folder, `git:REV[:PATH]` (without a path: the same paths as
    /// committed), or `recorded`, what was refused at the time; several together are one version
    #[cfg(feature = "tui")]
    #[arg(short, long, value_name = "VERSION", action = ArgAction::Append)]
    pub base: Vec<String>,
    #[command(flatten)]
    pub judging: Judging,
    /// The workbench's colours
    #[cfg(feature = "tui")]
    #[arg(long, value_name = "NAME", help = theme_help())]
    pub theme: Option<String>,
    /// How the workbench notices edits; `poll` where files change from elsewhere, as on network file systems
    #[cfg(feature = "tui")]
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    pub watch: Watching,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Judge recorded sessions and say what was stopped; exits with 1 if anything was
    Replay(Replay),
    /// Compare two versions of the policy over recorded sessions; exits with 1 if anything changes
    Diff(Diff),
    /// Parse and validate policies; exits with 1 if anything is wrong
    Check(Check),
    /// Run case files: sessions with what is expected of them; exits with 1 if anything is not as expected
    Test(Test),
    /// Explain a code or a dialect, or why one call was decided as it was
    Explain(Explain),
    /// Write any recordings as native sessions
    Convert(Convert),
    /// Write a sequence-rule document of the old form in the current one
    Migrate(Migrate),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, of the program or of one command
    Man {
        /// The command
        verb: Option<String>,
    },
}

/// `rulestep replay`.
#[derive(Debug, Args)]
pub struct Replay {
    #[command(flatten)]
    pub recordings: Recordings,
    #[command(flatten)]
    pub policies: Policies,
    #[command(flatten)]
    pub judging: Judging,
    /// How the answer is written
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = replay_format())]
    pub format: String,
    /// Also write a report to a file, as `FORMAT=FILE`; may be given several times
    #[arg(long, value_name = "FORMAT=FILE", action = ArgAction::Append)]
    pub report: Vec<String>,
    /// Only what each session comes to
    #[arg(long, conflicts_with = "full")]
    pub summary: bool,
    /// Everything: preconditions and state of each turn, and every check that was made
    #[arg(long)]
    pub full: bool,
    /// Exit with 2 if a file was skipped, because nothing in it is a recording
    #[arg(long)]
    pub strict: bool,
    /// Judge with so many threads, 0 for as many as there are processors
    #[arg(short, long, default_value_t = 0, value_name = "N", hide_default_value = true)]
    pub jobs: usize,
    /// Blank every recorded value that no rule looks at
    #[arg(long)]
    pub redact: bool,
}

/// `rulestep diff`.
#[derive(Debug, Args)]
pub struct Diff {
    #[command(flatten)]
    pub recordings: Recordings,
    #[command(flatten)]
    pub policies: Policies,
    /// What to compare with: a file, a folder, `git:REV[:PATH]` (without a path: the same paths as committed), or
    /// `recorded`, what was refused at the time; several together are one version
    #[arg(short, long, value_name = "VERSION", action = ArgAction::Append, required = true)]
    pub base: Vec<String>,
    #[command(flatten)]
    pub judging: Judging,
    /// How the answer is written
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = changes_format())]
    pub format: String,
    /// Also write a report to a file, as `FORMAT=FILE`; may be given several times
    #[arg(long, value_name = "FORMAT=FILE", action = ArgAction::Append)]
    pub report: Vec<String>,
    /// Every change in words, not only a few of each rule; in JSON the findings of both versions
    #[arg(long)]
    pub full: bool,
    /// Save each changed decision as a case file in this folder, with the smallest part of its session that shows it
    #[arg(long, value_name = "FOLDER")]
    pub witness: Option<String>,
    /// The kinds of change that make it exit with 1; `none`: no change does
    #[arg(long, value_name = "KINDS", value_delimiter = ',', default_value = "any", value_parser = failing())]
    pub fail_on: Vec<String>,
    /// Exit with 2 if a file was skipped, because nothing in it is a recording
    #[arg(long)]
    pub strict: bool,
    /// Judge with so many threads, 0 for as many as there are processors
    #[arg(short, long, default_value_t = 0, value_name = "N", hide_default_value = true)]
    pub jobs: usize,
    /// Blank every recorded value that no rule looks at
    #[arg(long)]
    pub redact: bool,
}

/// `rulestep check`.
#[derive(Debug, Args)]
pub struct Check {
    /// Policies: files, folders, `git:REV[:PATH]`; `contracts/` where none is named
    #[arg(value_name = "POLICY")]
    pub named: Vec<String>,
    #[command(flatten)]
    pub policies: Policies,
    /// How the answer is written
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: Format,
}

/// `rulestep test`.
#[derive(Debug, Args)]
pub struct Test {
    /// Cases: files, folders, globs or `-`; `contracts/` where none is named
    #[arg(value_name = "CASES")]
    pub cases: Vec<String>,
    /// Put what was decided in the place of what was expected, and change nothing else of the files
    #[arg(long)]
    pub update: bool,
    /// How the answer is written
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: TestFormat,
}

/// `rulestep explain`.
#[derive(Debug, Args)]
pub struct Explain {
    #[arg(value_name = "CODE|DIALECT|SESSIONS", help = explained())]
    pub what: Vec<String>,
    /// The call to explain: a session's id or file, its turn, and the call in the turn, each from 1; a session alone lists its
    /// findings
    #[arg(long, value_name = "SESSION[:TURN.CALL]")]
    pub at: Option<String>,
    /// Look in the samples built into the program
    #[arg(long, requires = "at", conflicts_with = "what")]
    pub samples: bool,
    #[command(flatten)]
    pub policies: Policies,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub reading: Reading,
    /// How the answer is written
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: Format,
    /// Blank every recorded value that no rule looks at
    #[arg(long)]
    pub redact: bool,
}

/// `rulestep convert`.
#[derive(Debug, Args)]
pub struct Convert {
    #[command(flatten)]
    pub recordings: Recordings,
    /// Write to this file, or to a file for each recording in this folder; without it, JSON lines to standard output
    #[arg(short, long, value_name = "FILE|FOLDER/")]
    pub output: Option<String>,
    /// Exit with 2 if a file was skipped, because nothing in it is a recording
    #[arg(long)]
    pub strict: bool,
    /// Blank every value that no rule of the policy looks at; without a policy, every value
    #[arg(long)]
    pub redact: bool,
    #[command(flatten)]
    pub policies: Policies,
}

/// `rulestep migrate`.
#[derive(Debug, Args)]
pub struct Migrate {
    /// The document; `-` for standard input
    #[arg(required_unless_present = "config")]
    pub file: Option<String>,
    /// The document, as Assay's own `migrate` takes it
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    pub config: Option<String>,
    /// Change the file instead of printing what it would be
    #[arg(long)]
    pub write: bool,
}

/// The recordings to look at.
#[derive(Debug, Args)]
pub struct Recordings {
    /// Recordings: files, folders, globs or `-`
    #[arg(value_name = "SESSIONS")]
    pub sessions: Vec<String>,
    /// Take the samples built into the program instead
    #[arg(long, conflicts_with = "sessions")]
    pub samples: bool,
    #[command(flatten)]
    pub reading: Reading,
}

/// How recordings are read.
#[derive(Debug, Args)]
pub struct Reading {
    /// The one format of all recordings
    #[arg(long, value_name = "FORMAT", help = from_help())]
    pub from: Option<String>,
    /// Take results that match as failed, for logs that do not mark them
    #[arg(long, value_name = "RE")]
    pub error_regex: Option<String>,
    /// Take results that match as refusals: the call did not run
    #[arg(long, value_name = "RE")]
    pub refused_regex: Option<String>,
}

/// The policies to judge by.
#[derive(Debug, Args)]
pub struct Policies {
    /// A file, a folder, or `git:REV[:PATH]`; several together are one version [default: contracts/, if there is one]
    #[arg(short, long = "policy", value_name = "VERSION", action = ArgAction::Append)]
    pub policy: Vec<String>,
    /// The one dialect whose documents count
    #[arg(long, value_name = "DIALECT", help = only_help())]
    pub only: Option<String>,
}

/// How sessions are judged.
#[derive(Debug, Args)]
pub struct Judging {
    /// Whether a stopped call counts as not having run
    #[arg(long, value_enum, default_value_t, value_name = "MODE")]
    pub mode: Mode,
}

/// How everything is shown.
#[derive(Debug, Clone, Copy, Args)]
pub struct Show {
    /// Colour the output
    #[arg(long, value_enum, default_value_t, global = true, value_name = "WHEN")]
    pub color: Color,
    /// Hide progress, and notices about recordings
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

/// The modes by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Mode {
    /// A stopped call does not run
    #[default]
    Enforce,
    /// Decisions are made, and what happened happened all the same
    Shadow,
}

/// The outputs by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Text,
    /// Objects on lines of their own
    Json,
}

/// The outputs of cases by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum TestFormat {
    /// For people
    #[default]
    Text,
    /// Objects on lines of their own
    Json,
    /// For continuous integration
    Junit,
}

/// How edits are noticed.
#[cfg(feature = "tui")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Watching {
    /// The system tells
    #[default]
    System,
    /// By looking now and then
    Poll,
    /// Not at all
    Off,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Says which commands have an option that was given to one that has not, or that it was nearly.
pub fn look_elsewhere(told: &mut clap::Error) {
    if told.kind() != ErrorKind::UnknownArgument || told.get(ContextKind::SuggestedArg).is_some() {
        return;
    }
    let Some(ContextValue::String(given)) = told.get(ContextKind::InvalidArg) else { return };
    let Some(name) = given.strip_prefix("--").and_then(|given| given.split('=').next()) else { return };
    let cli = Cli::command();
    let verbs: Vec<_> = cli.get_subcommands().map(|verb| (verb.get_name(), longs(verb))).collect();
    let Some(meant) = nearest(name, verbs.iter().flat_map(|(_, longs)| longs.iter().copied())) else {
        return;
    };
    let having = verbs.iter().filter(|(_, longs)| longs.contains(&meant));
    let having: Vec<_> = having.map(|(verb, _)| format!("`rulestep {verb}`")).collect();
    let tip = format!("`--{meant}` is an option of {}", having.join(", "));
    told.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
}

/// The long names of a command's options.
fn longs(verb: &Command) -> Vec<&str> {
    verb.get_arguments().filter_map(clap::Arg::get_long).collect()
}

#[cfg(feature = "tui")]
fn theme_help() -> String {
    let names = crate::workbench::theme::BUILTIN.iter().map(|(name, _)| *name);
    format!("The workbench's colours: {}; without it the terminal and NO_COLOR decide", listed(names))
}

/// The outputs of replays by name.
fn replay_format() -> PossibleValuesParser {
    let values = report::OUTPUTS.iter().map(|output| PossibleValue::new(output.name).help(output.title));
    PossibleValuesParser::new(values)
}

/// The outputs of comparisons by name.
fn changes_format() -> PossibleValuesParser {
    let values = diff::OUTPUTS.iter().map(|output| PossibleValue::new(output.name).help(output.title));
    PossibleValuesParser::new(values)
}

/// The kinds of change by name, and all of them together.
fn failing() -> PossibleValuesParser {
    PossibleValuesParser::new([ANY, NONE].into_iter().chain(Kind::ALL.map(Kind::word)))
}

fn from_help() -> String {
    let names = listed(FORMATS.iter().map(|format| format.name));
    format!("Read every recording as this format instead of recognising it: {names}")
}

fn only_help() -> String {
    format!("Only the documents of this dialect: {}", listed(DIALECTS.iter().map(|dialect| dialect.name)))
}

fn explained() -> String {
    let dialects = listed(DIALECTS.iter().map(|dialect| dialect.name));
    format!(
        "A code, such as `resource_unmatched`, or a dialect: {dialects}; with `--at`, the sessions to look in. Without anything, all are listed"
    )
}

fn listed(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

impl Open {
    /// Whether nothing says what to open or how to judge it; colours and the like do not.
    pub fn is_bare(&self) -> bool {
        let Recordings { sessions, samples, reading } = &self.recordings;
        let Policies { policy, only } = &self.policies;
        #[cfg(feature = "tui")]
        if !self.base.is_empty() {
            return false;
        }
        sessions.is_empty()
            && !samples
            && reading.from.is_none()
            && reading.error_regex.is_none()
            && reading.refused_regex.is_none()
            && policy.is_empty()
            && only.is_none()
            && self.judging.mode == Mode::default()
    }
}

impl From<Mode> for engine::Mode {
    fn from(mode: Mode) -> engine::Mode {
        match mode {
            Mode::Enforce => engine::Mode::Enforce,
            Mode::Shadow => engine::Mode::Shadow,
        }
    }
}
