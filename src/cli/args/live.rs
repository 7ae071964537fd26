//! Arguments of the commands that put a policy to work.

use clap::ArgAction;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

use super::choices::Mode;
use super::choices::WatchMode;
use super::groups::Policies;
use crate::live::{Agent, LIMIT};

/// What is answered when a call cannot be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Fallback {
    /// The call does not run
    #[default]
    Deny,
    /// The user is asked; where that is not possible, the call does not run
    Ask,
    /// The call runs
    Allow,
}

/// What is answered instead of `ask`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum OnAsk {
    /// The user is asked; where that is not possible, the call does not run
    #[default]
    Ask,
    /// The call does not run
    Deny,
}

/// `rulestep hook`.
#[derive(Debug, Clone, Args)]
pub struct Hook {
    /// The agent whose hook this is
    #[arg(value_name = "AGENT", value_parser = agents())]
    pub agent: String,
    /// The policy: one file, folder or `git:REV[:PATH]`, looked up in the folder where this command runs [default: contracts/]
    #[arg(short, long, value_name = "VERSION", default_value = "contracts", hide_default_value = true)]
    pub policy: String,
    /// Shadow mode: decide and record, but stop nothing, whatever --on-error says. Errors are printed on standard error
    #[arg(long)]
    pub shadow: bool,
    /// What to answer if an error prevents a decision, such as a policy that has never loaded (of one that loaded once, the last good
    /// version decides). A call that no rule covers is no error: it is allowed
    #[arg(long, value_enum, default_value_t, value_name = "ANSWER")]
    pub on_error: Fallback,
    /// What to answer when a rule wants a person to be asked. Use `deny` where there is nobody to ask; it also turns `--on-error ask`
    /// into a denial
    #[arg(long, value_enum, default_value_t, value_name = "ANSWER")]
    pub on_ask: OnAsk,
    /// Do without the rules by which the gate guards itself: its settings, policy, journals and program (`rulestep explain self_guard`)
    #[arg(long)]
    pub no_self_guard: bool,
    /// How long to wait, in milliseconds, for another process to finish writing the session's journal (the file with its calls and
    /// decisions). After that, the `--on-error` answer is given
    #[arg(long, value_name = "MS", default_value_t = 5000)]
    pub wait: u64,
    /// Time limit for the whole answer, in milliseconds; then the `--on-error` answer is given
    #[arg(long, value_name = "MS", default_value_t = LIMIT)]
    pub limit: u64,
}

/// `rulestep gate`.
#[derive(Debug, Args)]
pub struct Gate {
    /// Talk over standard input and output. Must be given: other ways to connect may be added later
    #[arg(long, required = true)]
    pub stdio: bool,
    /// The policy: one file, folder or `git:REV[:PATH]`, looked up in the folder where this command runs [default: contracts/]
    #[arg(short, long, value_name = "VERSION", default_value = "contracts", hide_default_value = true)]
    pub policy: String,
    /// Shadow mode: decide and record, but stop nothing, whatever --on-error says
    #[arg(long)]
    pub shadow: bool,
    /// What to answer if an error prevents a decision, such as a policy that has never loaded (of one that loaded once, the last good
    /// version decides). With `ask`, your program must ask its user. A call that no rule covers is no error: it is allowed
    #[arg(long, value_enum, default_value_t, value_name = "ANSWER")]
    pub on_error: Fallback,
    /// Do without the rules by which the gate guards itself: its settings, policy, journals and program (`rulestep explain self_guard`)
    #[arg(long)]
    pub no_self_guard: bool,
    /// How long to wait, in milliseconds, for another process to finish writing the session's journal (the file with its calls and
    /// decisions). After that, the `--on-error` answer is given
    #[arg(long, value_name = "MS", default_value_t = 5000)]
    pub wait: u64,
}

/// `rulestep install`.
#[derive(Debug, Args)]
pub struct Install {
    /// Agent whose settings are changed
    #[arg(value_name = "AGENT", value_parser = agents())]
    pub agent: String,
    #[command(flatten)]
    pub scope: ScopeArgument,
    /// The policy: one file, folder or `git:REV[:PATH]`, looked up in the current folder. The hook reads it there at each call,
    /// wherever the agent works [default: contracts/]
    #[arg(short, long, value_name = "VERSION", default_value = "contracts", hide_default_value = true)]
    pub policy: String,
    /// Shadow mode: the hook decides and records, but stops nothing, even after an error
    #[arg(long)]
    pub shadow: bool,
    /// Print what would change in the settings, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `rulestep uninstall`.
#[derive(Debug, Args)]
pub struct Uninstall {
    /// Agent whose settings are changed
    #[arg(value_name = "AGENT", value_parser = agents())]
    pub agent: String,
    #[command(flatten)]
    pub scope: ScopeArgument,
    /// Print what would change in the settings, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `rulestep live`.
#[derive(Debug, Args)]
pub struct Live {
    /// Session id, or the beginning of one [default: every session that has a journal]
    #[arg(value_name = "SESSION")]
    pub session: Option<String>,
    #[command(flatten)]
    pub policies: Policies,
    /// What to compare with: another version of the policies (file, folder or `git:REV[:PATH]`), `recorded` or `live`. `recorded` is
    /// what the recording refused, `live` what `hook`, `gate` or `proxy` decided while the agent ran. Repeat it to combine several
    /// versions, but not `recorded` or `live`. `git:REV` without a path means the paths of -p as of that revision
    #[arg(short, long, value_name = "VERSION", action = ArgAction::Append)]
    pub base: Vec<String>,
    /// What a replay assumes after a call that the policy stops [default: enforce]
    #[arg(long, value_enum, value_name = "MODE")]
    pub mode: Option<Mode>,
    /// How to notice new records. Choose `poll` on network file systems, which do not report changes
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    pub watch: WatchMode,
}

/// `rulestep prune`.
#[derive(Debug, Args)]
pub struct Prune {
    /// Remove journals without a new entry for this long: hours, days or weeks, such as `12h`, `30d` or `8w`
    #[arg(long, value_name = "AGE")]
    pub older_than: String,
    /// Also remove old journals of sessions that have not ended; agents may still resume them
    #[arg(long)]
    pub unfinished: bool,
    /// List what would be removed, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `rulestep doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    /// The agents whose hooks are run [default: every agent]
    #[arg(value_name = "AGENT", value_parser = agents())]
    pub agents: Vec<String>,
}

/// Whose settings.
#[derive(Debug, Clone, Copy, Args)]
pub struct ScopeArgument {
    /// The user's settings, for every project (the default)
    #[arg(long, conflicts_with = "project")]
    pub user: bool,
    /// The settings of the project in the current folder, for this project alone
    #[arg(long)]
    pub project: bool,
}

fn agents() -> PossibleValuesParser {
    PossibleValuesParser::new(Agent::ALL.iter().map(|agent| agent.name()))
}
