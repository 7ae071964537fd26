//! Arguments of `proxy`.

use clap::Args;

use super::{Fallback, OnAsk};

/// `rulestep proxy`.
#[derive(Debug, Args)]
pub struct Proxy {
    /// The policy: one file, folder or `git:REV[:PATH]`, looked up in the folder where this command runs [default: contracts/]
    #[arg(short, long, value_name = "VERSION", default_value = "contracts", hide_default_value = true)]
    pub policy: String,
    /// Shadow mode: decide and record, but stop nothing and hide no tool, whatever --on-error says. Errors are printed on standard error
    #[arg(long)]
    pub shadow: bool,
    /// Hide no tool: the client sees all of them, a call that is not allowed is denied, and the model reads why
    #[arg(long)]
    pub keep_tools: bool,
    /// What to answer if an error prevents a decision, such as a policy that has never loaded (of one that loaded once, the last good
    /// version decides). A call that no rule covers is no error: it is allowed
    #[arg(long, value_enum, default_value_t, value_name = "ANSWER")]
    pub on_error: Fallback,
    /// What to answer when a rule wants a person to be asked. `deny`, or a client that cannot ask its user, also turns
    /// `--on-error ask` into a denial
    #[arg(long, value_enum, default_value_t, value_name = "ANSWER")]
    pub on_ask: OnAsk,
    /// Do without the rules by which the gate guards itself: its settings, policy, journals and program (`rulestep explain self_guard`)
    #[arg(long)]
    pub no_self_guard: bool,
    /// How long to wait, in milliseconds, for another process to finish writing the session's journal (the file with its calls and
    /// decisions). After that, the `--on-error` answer is given
    #[arg(long, value_name = "MS", default_value_t = 5000)]
    pub wait: u64,
    /// In the policy and the journal, this server's tools have the names `mcp__SERVER__TOOL`, not `TOOL`. The client and the server see no
    /// difference
    #[arg(long, value_name = "SERVER")]
    pub name: Option<String>,
    /// Id of the session to record to. Proxies of several servers with the same id record to one journal. Rules then see the calls of
    /// all of them [default: a new session in each run]
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
    /// With --url: header to send with every request. `${VARIABLE}` in its value is read from the environment, which keeps a secret
    /// off the command line
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
