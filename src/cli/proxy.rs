//! `rulestep proxy`: an MCP client on standard input and output, its server as a child of this process or over HTTP.

mod child;
mod line;
#[cfg(feature = "proxy-http")]
mod remote;

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::args::{self, Fallback, OnAsk};
use super::exit::{Exit, Failure};
use super::hook;
use super::screen::Screen;
use crate::live::agent::Answer;
use crate::live::hook_service::HookService;
use crate::live::proxy::{AGENT, Proxy};
use crate::live::{Fault, policy};
use line::{End, Line};
use rulestep_base::wording as words;
use rulestep_engine::run::Mode;

/// Runs the verb.
pub fn run(asked: &args::Proxy, screen: &mut Screen) -> Result<Exit, Failure> {
    #[cfg(target_os = "linux")]
    if let Some(parent) = asked.guarded {
        screen.error(&child::guard(parent, &asked.command), None);
        std::process::exit(child::UNSTARTED);
    }
    #[cfg(feature = "proxy-http")]
    let ended = match &asked.url {
        Some(url) => over_http(asked, url, screen)?,
        None => as_child(asked, screen)?,
    };
    #[cfg(not(feature = "proxy-http"))]
    let ended = as_child(asked, screen)?;
    match ended {
        Ok(()) => Ok(Exit::Clean),
        Err(why) => {
            screen.error(&why, None);
            Ok(Exit::Bad)
        }
    }
}

#[cfg(feature = "proxy-http")]
fn over_http(asked: &args::Proxy, url: &str, screen: &mut Screen) -> Result<Result<(), String>, Failure> {
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

fn as_child(asked: &args::Proxy, screen: &mut Screen) -> Result<Result<(), String>, Failure> {
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

fn proxy(asked: &args::Proxy, screen: &mut Screen) -> Result<Proxy, Failure> {
    let folder = hook::folder().map_err(unusable)?;
    // Said now: the first call, which cannot be decided, may come much later.
    if let Err(why) = policy::read(&asked.policy) {
        let why = why.lines().next().unwrap_or_default();
        let (policy, why) = (words::line(&asked.policy), words::line(why));
        let loaded_before = policy::load(&asked.policy, &folder.join(AGENT), None).is_ok();
        let becomes = match (asked.shadow, asked.on_error) {
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
        policy: asked.policy.clone(),
        guard: hook::guard(asked.no_self_guard).map_err(unusable)?,
        home: hook::home(),
        mode: if asked.shadow { Mode::Shadow } else { Mode::Enforce },
        asks: asked.on_ask == OnAsk::Ask,
        wait: Duration::from_millis(asked.wait),
    };
    let on_error: fn(String) -> Answer = match asked.on_error {
        // In shadow mode nothing is ever stopped.
        _ if asked.shadow => |_| Answer::Silent,
        Fallback::Deny => Answer::Deny,
        Fallback::Ask => Answer::Ask,
        Fallback::Allow => |_| Answer::Silent,
    };
    let proxy = Proxy::new(service, asked.session.clone(), asked.name.clone(), on_error);
    Ok(if asked.keep_tools { proxy.keep_tools() } else { proxy })
}
