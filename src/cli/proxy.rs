//! `rulestep proxy`: an MCP client on standard input and output, its server as a child of this process or over HTTP.

mod child;
mod line;
#[cfg(feature = "proxy-http")]
mod remote;

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use clap::Args;

use super::args::{Fallback, GatePolicy, Guarding, OnAsk, OnError};
use super::hook;
use super::verb::{Exit, Exits, FAULT, Failure, Screen, Verb};
use crate::live::agent::Answer;
use crate::live::hook_service::HookService;
use crate::live::proxy::{self, AGENT};
use crate::live::{Fault, policy};
use line::{End, Line};
use rulestep_base::wording as words;
use rulestep_engine::run::Mode;

/// Pass messages between an MCP client and its server, and let the policy decide the tool calls (docs/proxy.md)
#[derive(Debug, Args)]
#[cfg_attr(
    feature = "proxy-http",
    command(
        override_usage = "rulestep proxy [OPTIONS] -- <COMMAND>...\n       rulestep proxy [OPTIONS] --url <URL>"
    )
)]
pub struct Proxy {
    #[command(flatten)]
    pub gate: GatePolicy,
    /// Shadow mode: decide and record, but stop nothing and hide no tool, whatever --on-error says. Errors are printed on standard error
    #[arg(long)]
    pub shadow: bool,
    /// Hide no tool: the client sees all of them, a call that is not allowed is denied, and the model reads why
    #[arg(long)]
    pub keep_tools: bool,
    #[command(flatten)]
    pub fallback: OnError,
    /// What to answer when a rule wants a person to be asked. `deny`, or a client that cannot ask its user, also turns
    /// `--on-error ask` into a denial
    #[arg(long, value_enum, default_value_t, value_name = "ANSWER")]
    pub on_ask: OnAsk,
    #[command(flatten)]
    pub guarding: Guarding,
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

impl Verb for Proxy {
    const NAME: &'static str = "proxy";
    const EXITS: Exits = &[
        (0, "the client closed the connection, whether or not the policy loads"),
        (2, "wrong arguments, the server could not be started, or it ended before the client"),
        FAULT,
    ];

    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        #[cfg(target_os = "linux")]
        if let Some(parent) = self.guarded {
            screen.error(&child::guard(parent, &self.command), None);
            std::process::exit(child::UNSTARTED);
        }
        #[cfg(feature = "proxy-http")]
        let ended = match &self.url {
            Some(url) => over_http(self, url, screen)?,
            None => as_child(self, screen)?,
        };
        #[cfg(not(feature = "proxy-http"))]
        let ended = as_child(self, screen)?;
        match ended {
            Ok(()) => Ok(Exit::Clean),
            Err(why) => {
                screen.error(&why, None);
                Ok(Exit::Bad)
            }
        }
    }
}

#[cfg(feature = "proxy-http")]
fn over_http(asked: &Proxy, url: &str, screen: &mut Screen) -> Result<Result<(), String>, Failure> {
    use crate::live::proxy::http::{Endpoint, Options};

    let options = Options {
        url,
        headers: &asked.header,
        headers_from: &asked.header_env,
        allow_http: asked.allow_http,
    };
    let endpoint = Endpoint::new(&options, |name| std::env::var(name).ok()).map_err(unusable)?;
    Ok(remote::run(endpoint, proxy(asked, screen)?))
}

fn as_child(asked: &Proxy, screen: &mut Screen) -> Result<Result<(), String>, Failure> {
    let mut server = child::start(&asked.command).map_err(|error| {
        let program = asked.command.first().map(String::as_str).unwrap_or_default();
        Failure::usage(format!("the MCP server `{program}` cannot be started: {error}"))
            .help("name its program after `--`, as its client would run it")
    })?;
    let proxy = proxy(asked, screen)?;
    let (input, output) = child::ends(&mut server);
    let line = Arc::new(Line::new(proxy, input));
    let (send, ends) = channel();
    // A signal ends the connection as its client would.
    let interrupted = send.clone();
    let _ = ctrlc::set_handler(move || drop(interrupted.send(End::Client)));
    if let Some(output) = output {
        line::read_server(output, &line, &send);
    }
    line::read_client(&line, &send);
    let ended = child::wait(&mut server, &line, &ends);
    line.deliver(line.proxy.server_ended(None));
    line.deliver(line.proxy.close());
    Ok(ended)
}

fn unusable(fault: Fault) -> Failure {
    let (message, help) = fault.into_parts();
    Failure::usage(message).help(help)
}

fn proxy(asked: &Proxy, screen: &mut Screen) -> Result<proxy::Proxy, Failure> {
    let folder = hook::folder().map_err(unusable)?;
    // Said now: the first call, which cannot be decided, may come much later.
    if let Err(why) = policy::read(&asked.gate.policy) {
        let why = why.lines().next().unwrap_or_default();
        let (policy, why) = (words::line(&asked.gate.policy), words::line(why));
        let loaded_before = policy::load(&asked.gate.policy, &folder.join(AGENT), None).is_ok();
        let becomes = match (asked.shadow, asked.fallback.on_error) {
            _ if loaded_before => "its last version that loaded decides",
            (true, _) | (_, Fallback::Allow) => "every call is allowed",
            (false, Fallback::Deny) => "every call is denied",
            (false, Fallback::Ask) => "the user is asked about every call",
        };
        screen.error(&format!("the policy `{policy}` does not load: {why}; until it does, {becomes}"), None);
    }
    let service = HookService {
        agent: AGENT,
        transcripts: None,
        folder,
        policy: asked.gate.policy.clone(),
        guard: hook::guard(asked.guarding.no_self_guard).map_err(unusable)?,
        home: hook::home(),
        mode: if asked.shadow { Mode::Shadow } else { Mode::Enforce },
        asks: asked.on_ask == OnAsk::Ask,
        wait: Duration::from_millis(asked.guarding.wait),
    };
    let on_error: fn(String) -> Answer = match asked.fallback.on_error {
        // In shadow mode nothing is ever stopped.
        _ if asked.shadow => |_| Answer::Silent,
        Fallback::Deny => Answer::Deny,
        Fallback::Ask => Answer::Ask,
        Fallback::Allow => |_| Answer::Silent,
    };
    let proxy = proxy::Proxy::new(service, asked.session.clone(), asked.name.clone(), on_error);
    Ok(if asked.keep_tools { proxy.keep_tools() } else { proxy })
}
