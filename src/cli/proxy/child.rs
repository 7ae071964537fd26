//! A server that is a child process.

use std::io::{self, BufReader};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::line::{End, GRACE, Line, Server};

/// Between two looks whether the server runs.
const PAUSE: Duration = Duration::from_millis(100);

/// The exit code of a server that cannot be started, as shells have it.
pub const UNSTARTED: i32 = 127;

/// Starts the server so that it does not outlive this process.
pub fn start(command: &[String]) -> io::Result<Child> {
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

/// Becomes the server, which the system then terminates when its parent ends. A server that reads its input notices
/// that itself; one that hangs does not.
#[cfg(target_os = "linux")]
pub fn guard(parent: u32, command: &[String]) -> String {
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

/// The input and output of a server.
pub fn ends(server: &mut Child) -> (Option<Server>, Option<BufReader<ChildStdout>>) {
    (server.stdin.take().map(Server::Child), server.stdout.take().map(BufReader::new))
}

/// Waits for the end of the connection, and ends the server. An error if the client did not end it.
pub fn wait(server: &mut Child, line: &Line, ends: &Receiver<End>) -> Result<(), String> {
    let ended = loop {
        match ends.recv_timeout(PAUSE) {
            Ok(end) => break end,
            // A process that the server started may keep its output open.
            Err(RecvTimeoutError::Timeout) if matches!(server.try_wait(), Ok(None)) => {}
            Err(_) => break End::Server(None),
        }
    };
    line.close_server();
    if matches!(ended, End::Client) {
        // Its remaining answers reach the client.
        let status = end(server, true);
        while matches!(ends.recv_timeout(GRACE), Ok(End::Client)) {}
        // A client that asked nothing must not take it for a server that works.
        return match status.and_then(|status| status.code()) {
            Some(UNSTARTED) => Err("the MCP server did not start".to_owned()),
            _ => Ok(()),
        };
    }
    let status = end(server, matches!(ended, End::Server(_)));
    Err(match ended {
        End::Defect => "Rulestep has a defect and stopped; report it, with the messages before".to_owned(),
        _ => match status {
            Some(status) => format!("the MCP server ended before its client did: {status}"),
            None => "the MCP server closed its output".to_owned(),
        },
    })
}

/// Ends the server: first by waiting, then by a signal, then by killing it.
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
