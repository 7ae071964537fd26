//! `rulestep explain`.

use clap::Args;

use super::choices::{AgentArgument, Format};
use super::groups::{ModeArgument, Policies, Reading};
use super::values::{Explained, explained, explained_in_full};

/// `rulestep explain`.
#[derive(Debug, Args)]
pub struct Explain {
    #[arg(value_name = "PAGE|SESSIONS", help = explained(), long_help = explained_in_full(), value_parser = Explained, hide_possible_values = true)]
    pub what: Vec<String>,
    /// Call to explain; turn and call count from 1. SESSION is the session's id, the beginning of it, or the path or name of its
    /// file. SESSION alone: all its findings
    #[arg(long, value_name = "SESSION[:TURN.CALL]")]
    pub at: Option<String>,
    /// With --at: search the sample sessions inside the program instead of SESSIONS, and use their policies unless -p names others
    #[arg(long, requires = "at", conflicts_with = "what")]
    pub samples: bool,
    #[command(flatten)]
    pub policies: Policies,
    #[command(flatten)]
    pub judging: ModeArgument,
    #[command(flatten)]
    pub reading: Reading,
    /// With `shell`: read many commands, one per line, from FILE or from standard input (`-`), and print the decision of the -p
    /// policy on each. Blank lines and lines that begin with `#` are skipped
    #[arg(long, value_name = "FILE", conflicts_with = "at", requires = "policy")]
    pub commands: Option<String>,
    /// With `shell`: folder in which the session began and the agent runs the command, from which patterns and paths are taken
    /// [default: unknown]
    #[arg(long, value_name = "DIR", conflicts_with = "at")]
    pub cwd: Option<String>,
    /// With `shell` and -p: agent that makes the call [default: main]
    #[arg(long, value_enum, value_name = "AGENT", conflicts_with = "at", requires = "policy")]
    pub agent: Option<AgentArgument>,
    /// With `shell`: tool that is given the command [default: Bash]
    #[arg(long, value_name = "NAME", conflicts_with = "at")]
    pub tool: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: Format,
    /// With --at: blank all arguments, results and messages. Only the values that a rule of the policies looks at stay readable
    #[arg(long)]
    pub redact: bool,
}
