//! Arguments that the commands share which put a policy to work.

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

use crate::live::Agent;

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

/// The policy of a gate.
#[derive(Debug, Clone, Args)]
pub struct GatePolicy {
    /// The policy: one file, folder or `git:REV[:PATH]`, looked up in the folder where this command runs [default: contracts/]
    #[arg(short, long, value_name = "VERSION", default_value = "contracts", hide_default_value = true)]
    pub policy: String,
}

/// What a gate answers after an error.
#[derive(Debug, Clone, Args)]
pub struct OnError {
    /// What to answer if an error prevents a decision, such as a policy that has never loaded (of one that loaded once, the last good
    /// version decides). A call that no rule covers is no error: it is allowed
    #[arg(long, value_enum, default_value_t, value_name = "ANSWER")]
    pub on_error: Fallback,
}

/// How a gate guards itself, and its journal.
#[derive(Debug, Clone, Args)]
pub struct Guarding {
    /// Do without the rules by which the gate guards itself: its settings, policy, journals and program (`rulestep explain self_guard`)
    #[arg(long)]
    pub no_self_guard: bool,
    /// How long to wait, in milliseconds, for another process to finish writing the session's journal (the file with its calls and
    /// decisions). After that, the `--on-error` answer is given
    #[arg(long, value_name = "MS", default_value_t = 5000)]
    pub wait: u64,
}

/// The settings of an agent.
#[derive(Debug, Args)]
pub struct AgentSettings {
    /// Agent whose settings are changed
    #[arg(value_name = "AGENT", value_parser = agents())]
    pub agent: String,
    #[command(flatten)]
    pub scope: ScopeArgument,
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

/// The agents by name.
pub fn agents() -> PossibleValuesParser {
    PossibleValuesParser::new(Agent::ALL.iter().map(|agent| agent.name()))
}
