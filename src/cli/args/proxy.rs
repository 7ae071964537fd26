//! Arguments of `proxy`.

use clap::Args;

use super::{Fallback, OnAsk};

/// `rulestep proxy`.
#[derive(Debug, Args)]
pub struct Proxy {
    /// The policy: a file, a folder, or `git:REV[:PATH]` [default: contracts/]
    #[arg(short, long, value_name = "VERSION", default_value = "contracts", hide_default_value = true)]
    pub policy: String,
    /// Shadow mode: decide and record, but stop nothing and hide no tool
    #[arg(long)]
    pub shadow: bool,
    /// What to answer when a call cannot be decided
    #[arg(long, value_enum, default_value_t, value_name = "ANSWER")]
    pub on_error: Fallback,
    /// What to answer when a rule wants a person to be asked. A client that cannot ask its user always gets a denial
    #[arg(long, value_enum, default_value_t, value_name = "ANSWER")]
    pub on_ask: OnAsk,
    /// Longest wait, in milliseconds, while another process writes the session's journal, the file in which its calls and decisions
    /// are recorded; then the `--on-error` answer is given
    #[arg(long, value_name = "MS", default_value_t = 5000)]
    pub wait: u64,
    /// Call the tools `mcp__SERVER__TOOL` when the policy decides about them, not by their bare names
    #[arg(long, value_name = "SERVER")]
    pub name: Option<String>,
    /// Id of the session to record to. Proxies of several servers that are given the same id record to one journal, so that rules
    /// see the calls of all of them [default: a new session in each run]
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// The process that the server must not outlive
    #[cfg(target_os = "linux")]
    #[arg(long, hide = true)]
    pub guarded: Option<u32>,
    /// URL of an MCP server over HTTP, instead of a program; `${VARIABLE}` is read from the environment
    #[cfg(feature = "proxy-http")]
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// With --url: header to send with every request; `${VARIABLE}` in its value is read from the environment, so that a secret need
    /// not be on the command line
    #[cfg(feature = "proxy-http")]
    #[arg(long, value_name = "NAME: VALUE", requires = "url", conflicts_with = "command")]
    pub header: Vec<String>,
    /// With --url: header whose whole value is in an environment variable: `A=B` is the same as `--header 'A: ${B}'`
    #[cfg(feature = "proxy-http")]
    #[arg(long, value_name = "NAME=VARIABLE", requires = "url", conflicts_with = "command")]
    pub header_env: Vec<String>,
    /// With --url: allow plain HTTP (not HTTPS) to a server on another machine
    #[cfg(feature = "proxy-http")]
    #[arg(long, requires = "url", conflicts_with = "command")]
    pub allow_http: bool,
    /// Program of the MCP server, with its arguments
    #[cfg_attr(
        feature = "proxy-http",
        arg(last = true, required_unless_present = "url", conflicts_with = "url", value_name = "COMMAND")
    )]
    #[cfg_attr(not(feature = "proxy-http"), arg(last = true, required = true, value_name = "COMMAND"))]
    pub command: Vec<String>,
}
