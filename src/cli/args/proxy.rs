//! Arguments of `proxy`.

use clap::Args;

use super::{Fallback, OnAsk};

/// `rulestep proxy`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 the client closed the connection; 2 bad usage, or the server ended first."
)]
pub struct Proxy {
    /// The policy: a file, a folder, or `git:REV[:PATH]`
    #[arg(short, long, value_name = "VERSION", default_value = "contracts")]
    pub policy: String,
    /// Decide and record, but stop nothing and hide no tool
    #[arg(long)]
    pub shadow: bool,
    /// What to answer when a call cannot be decided
    #[arg(long, value_enum, default_value_t, value_name = "ANSWER")]
    pub on_error: Fallback,
    /// What to answer instead of `ask`. A client that cannot ask its user gets a denial in any case
    #[arg(long, value_enum, default_value_t, value_name = "ANSWER")]
    pub on_ask: OnAsk,
    /// Longest wait for the lock of the session's journal, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 5000)]
    pub wait: u64,
    /// Name of the server: the policy sees its tools as `mcp__SERVER__TOOL`, not by their bare names
    #[arg(long, value_name = "SERVER")]
    pub name: Option<String>,
    /// Session to record to, which proxies of several servers may share [default: a new one]
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// The process that the server must not outlive
    #[cfg(target_os = "linux")]
    #[arg(long, hide = true)]
    pub guarded: Option<u32>,
    /// Program of the MCP server, with its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}
