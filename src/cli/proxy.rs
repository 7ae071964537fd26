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
use crate::engine::Mode;
use crate::live::Fault;
use crate::live::agent::Answer;
use crate::live::desk::Desk;
use crate::live::proxy::{AGENT, Proxy};
use line::{End, Line};

/// Runs the verb.
pub fn run(asked: &args::Proxy, screen: &mut Screen) -> Result<Exit, Failure> {
    #[cfg(target_os = "linux")]
    if let Some(parent) = asked.guarded {
        screen.error(&child::guard(parent, &asked.command), None);
        std::process::exit(child::UNSTARTED);
    }
    #[cfg(feature = "proxy-http")]
    let ended = match &asked.url {
        Some(url) => over_http(asked, url)?,
        None => as_child(asked)?,
    };
    #[cfg(not(feature = "proxy-http"))]
    let ended = as_child(asked)?;
    match ended {
        Ok(()) => Ok(Exit::Clean),
        Err(why) => {
            screen.error(&why, None);
            Ok(Exit::Bad)
        }
    }
}

#[cfg(feature = "proxy-http")]
fn over_http(asked: &args::Proxy, url: &str) -> Result<Result<(), String>, Failure> {
    use crate::live::proxy::http::{Endpoint, Options};

    let options = Options {
        url,
        headers: &asked.header,
        headers_from: &asked.header_env,
        allow_http: asked.allow_http,
    };
    let endpoint = Endpoint::new(&options, |name| std::env::var(name).ok()).map_err(unusable)?;
    Ok(remote::run(endpoint, proxy(asked)?))
}

fn as_child(asked: &args::Proxy) -> Result<Result<(), String>, Failure> {
    let mut server = child::start(&asked.command).map_err(|error| {
        let program = asked.command.first().map(String::as_str).unwrap_or_default();
        Failure::usage(format!("the MCP server `{program}` cannot be started: {error}"))
            .help("name its program after `--`, as its client would run it")
    })?;
    let proxy = proxy(asked)?;
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

fn proxy(asked: &args::Proxy) -> Result<Proxy, Failure> {
    let folder = hook::folder().map_err(unusable)?;
    let desk = Desk {
        agent: AGENT,
        transcripts: None,
        folder,
        policy: asked.policy.clone(),
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
    Ok(Proxy::new(desk, asked.session.clone(), asked.name.clone(), on_error))
}
