//! `rulestep proxy`: an MCP client on standard input and output, its server as a child of this process.

use std::io::{self, BufRead, BufReader, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::args::{self, Fallback, OnAsk};
use super::exit::{Exit, Failure};
use super::hook;
use super::screen::Screen;
use crate::engine::Mode;
use crate::live::agent::Answer;
use crate::live::desk::Desk;
use crate::live::proxy::{AGENT, Delivery, Proxy};

/// How long a server may take to end after its input was closed, and again after it was asked to.
const GRACE: Duration = Duration::from_secs(2);
/// Between two looks whether the server runs.
const PAUSE: Duration = Duration::from_millis(100);

/// The exit code of a server that cannot be started, as shells have it.
const UNSTARTED: i32 = 127;

/// Why the connection ends.
enum End {
    Client,
    Server,
    Defect,
}

/// Where messages go.
struct Line {
    proxy: Proxy,
    server: Mutex<Option<ChildStdin>>,
}

/// Runs the verb.
pub fn run(asked: &args::Proxy, screen: &mut Screen) -> Result<Exit, Failure> {
    #[cfg(target_os = "linux")]
    if let Some(parent) = asked.guarded {
        screen.error(&guard(parent, &asked.command), None);
        std::process::exit(UNSTARTED);
    }
    let mut server = start(&asked.command).map_err(|error| {
        let program = asked.command.first().map(String::as_str).unwrap_or_default();
        Failure::usage(format!("the MCP server `{program}` cannot be started: {error}"))
            .help("name its program after `--`, as its client would run it")
    })?;
    let proxy = proxy(asked)?;
    let line = Arc::new(Line { proxy, server: Mutex::new(server.stdin.take()) });
    let (send, ends) = channel();
    // A signal ends the connection as its client would.
    let interrupted = send.clone();
    let _ = ctrlc::set_handler(move || drop(interrupted.send(End::Client)));
    if let Some(output) = server.stdout.take() {
        read(BufReader::new(output), &line, &send, Proxy::server_line, End::Server);
    }
    read(BufReader::new(io::stdin()), &line, &send, Proxy::client_line, End::Client);
    let ended = wait(&mut server, &line, &ends);
    line.deliver(line.proxy.server_ended());
    line.deliver(line.proxy.close());
    match ended {
        Ok(()) => Ok(Exit::Clean),
        Err(why) => {
            screen.error(&why, None);
            Ok(Exit::Bad)
        }
    }
}

fn proxy(asked: &args::Proxy) -> Result<Proxy, Failure> {
    let folder = hook::folder().map_err(|fault| {
        let (message, help) = fault.into_parts();
        Failure::usage(message).help(help)
    })?;
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

/// Starts the server so that it does not outlive this process.
fn start(command: &[String]) -> io::Result<Child> {
    #[cfg(target_os = "linux")]
    let mut command = {
        let mut own = Command::new("/proc/self/exe");
        own.args(["proxy", "--guarded", &std::process::id().to_string(), "--"]).args(command);
        own
    };
    #[cfg(not(target_os = "linux"))]
    let mut command = {
        let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut own = Command::new(program);
        own.args(arguments);
        own
    };
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
}

/// Becomes the server, which the system then asks to end when its parent is no more. A server that reads its input sees
/// that by itself; one that hangs does not.
#[cfg(target_os = "linux")]
fn guard(parent: u32, command: &[String]) -> String {
    use std::os::unix::process::{CommandExt, parent_id};

    let Some((program, arguments)) = command.split_first() else {
        return "no MCP server is named".to_owned();
    };
    let guarded = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM));
    if guarded.is_err() || parent_id() != parent {
        return "the proxy of the MCP server has ended".to_owned();
    }
    let error = Command::new(program).args(arguments).exec();
    format!("the MCP server `{program}` cannot be started: {error}")
}

/// Passes lines on until there are no more.
fn read(
    mut input: impl BufRead + Send + 'static,
    line: &Arc<Line>,
    ends: &Sender<End>,
    become_of: fn(&Proxy, &[u8]) -> Vec<Delivery>,
    end: End,
) {
    let (line, ends) = (Arc::clone(line), ends.clone());
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let passed = catch_unwind(AssertUnwindSafe(|| {
            while matches!(input.read_until(b'\n', &mut bytes), Ok(1..)) {
                if !line.deliver(become_of(&line.proxy, &bytes)) {
                    return End::Client;
                }
                bytes.clear();
            }
            end
        }));
        // Nobody waits any more where this fails.
        let _ = ends.send(passed.unwrap_or(End::Defect));
    });
}

impl Line {
    /// Whether the client still listens.
    fn deliver(&self, deliveries: Vec<Delivery>) -> bool {
        for delivery in deliveries {
            match delivery {
                Delivery::Client(text) => {
                    let mut output = io::stdout().lock();
                    if writeln!(output, "{text}").and_then(|()| output.flush()).is_err() {
                        return false;
                    }
                }
                Delivery::Server(text) => {
                    let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
                    // A server that does not listen has ended or will; what waits for it is answered then.
                    let _ = server.as_mut().map(|server| {
                        server.write_all(format!("{text}\n").as_bytes()).and_then(|()| server.flush())
                    });
                }
                Delivery::Note(text) => {
                    let _ = writeln!(io::stderr(), "rulestep: {text}");
                }
            }
        }
        true
    }

    fn close_server(&self) {
        // A message that the server does not read may hold it.
        if let Ok(mut server) = self.server.try_lock() {
            server.take();
        }
    }
}

/// Waits for the end of the connection, and ends the server. An error where the client did not end it.
fn wait(server: &mut Child, line: &Line, ends: &Receiver<End>) -> Result<(), String> {
    let ended = loop {
        match ends.recv_timeout(PAUSE) {
            Ok(end) => break end,
            // A process that the server started may keep its output open.
            Err(RecvTimeoutError::Timeout) if matches!(server.try_wait(), Ok(None)) => {}
            Err(_) => break End::Server,
        }
    };
    line.close_server();
    if matches!(ended, End::Client) {
        // What it still answers reaches the client.
        let status = end(server, true);
        while matches!(ends.recv_timeout(GRACE), Ok(End::Client)) {}
        // A client that asked nothing must not take it for a server that works.
        return match status.and_then(|status| status.code()) {
            Some(UNSTARTED) => Err("the MCP server did not start".to_owned()),
            _ => Ok(()),
        };
    }
    let status = end(server, matches!(ended, End::Server));
    Err(match ended {
        End::Defect => "Rulestep has a defect and stopped; report it, with the messages before".to_owned(),
        _ => match status {
            Some(status) => format!("the MCP server ended before its client did: {status}"),
            None => "the MCP server closed its output".to_owned(),
        },
    })
}

/// Ends the server: it may end by itself, then it is asked, then it is made to.
fn end(server: &mut Child, patient: bool) -> Option<ExitStatus> {
    if patient && let Some(status) = within(server, GRACE) {
        return Some(status);
    }
    #[cfg(unix)]
    if let Some(process) = i32::try_from(server.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process(process, rustix::process::Signal::TERM);
        if let Some(status) = within(server, GRACE) {
            return Some(status);
        }
    }
    let _ = server.kill();
    server.wait().ok()
}

fn within(server: &mut Child, time: Duration) -> Option<ExitStatus> {
    let begun = Instant::now();
    while begun.elapsed() < time {
        if let Ok(Some(status)) = server.try_wait() {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(5));
    }
    None
}
