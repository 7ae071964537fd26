//! Servers that end, hang or write nonsense, proxies that are killed, disks that are full.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rulestep::live::agent::Answer;
use rulestep::live::proxy::Delivery;
use rulestep_engine::run::Mode;
use serde_json::Value;
use tempfile::TempDir;

use super::{Connection, POLICY, call, journal_folder, kinds};
use crate::cli::folder;
use crate::live::{fed, live, records};

/// A server that answers every request with a result.
const ANSWERS: &str =
    r#"sed -u -n 's/.*"id":\([0-9]*\).*/{"jsonrpc":"2.0","id":\1,"result":{"content":[]}}/p'"#;

/// The proxy as a process, with a script as its server.
struct Process {
    child: Child,
    output: BufReader<ChildStdout>,
    files: TempDir,
    state: TempDir,
}

impl Process {
    fn new(script: &str) -> Process {
        Process::around(script, live)
    }

    fn around(script: &str, program: impl Fn(&Path, &Path, &[&str]) -> Command) -> Process {
        let (files, state) = (folder(&[("p.yaml", POLICY)]), tempfile::tempdir().unwrap());
        let arguments = ["proxy", "-p", "p.yaml", "--", "sh", "-c", script];
        let mut command = program(files.path(), state.path(), &arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Process { child, output, files, state }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn ask(&mut self, message: &Value) -> Value {
        self.send(message);
        self.next()
    }

    /// Exit code and standard error.
    fn ended(mut self) -> (Option<i32>, String) {
        let output = self.child.wait_with_output().unwrap();
        self.output.read_line(&mut String::new()).unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }
}

/// Waits until something is so.
pub fn soon(what: &str, so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_client_that_leaves_ends_the_server() {
    let mut process = Process::new(&format!("echo ready >&2; {ANSWERS}; echo left >&2"));
    assert!(process.ask(&call(1, "deploy"))["result"]["isError"] == true);
    assert!(process.ask(&call(2, "test"))["result"]["content"].is_array());
    drop(process.child.stdin.take());
    let journal = journal_folder(process.state.path()).remove(0);
    let (code, errors) = process.ended();
    assert_eq!((code, &*errors), (Some(0), "ready\nleft\n"));
    assert!(!journal.exists(), "the folder is gone with the process");
}

#[test]
fn the_end_is_in_the_journal() {
    let mut process = Process::new(ANSWERS);
    process.ask(&call(1, "test"));
    drop(process.child.stdin.take());
    process.child.wait().unwrap();
    let records = records(&journal_folder(process.state.path())[0]);
    let kinds: Vec<&str> = records.iter().map(|record| record["record"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["opened", "turn", "proposed", "resolved", "closed"]);
    drop(process.files);
}

/// It is asked to end, then made to.
#[cfg(unix)]
#[test]
fn a_server_that_does_not_end_is_made_to() {
    for script in ["echo $$ >pid; exec sleep 1000", "trap '' TERM; echo $$ >pid; while :; do sleep 0.1; done"]
    {
        let mut process = Process::new(script);
        let pid = process.files.path().join("pid");
        soon("the server did not start", || fs::read_to_string(&pid).is_ok_and(|pid| pid.ends_with('\n')));
        let pid = fs::read_to_string(pid).unwrap();
        drop(process.child.stdin.take());
        assert_eq!(process.child.wait().unwrap().code(), Some(0), "{script}");
        assert!(!runs(pid.trim()), "{script}");
    }
}

#[cfg(unix)]
fn runs(pid: &str) -> bool {
    Command::new("kill").args(["-0", pid]).stderr(Stdio::null()).status().unwrap().success()
}

/// The server does not look at its input, so nothing but the system can end it.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_proxy_ends_its_server() {
    let mut process = Process::new("echo $$ >pid; exec sleep 1000");
    let pid = process.files.path().join("pid");
    soon("the server did not start", || fs::read_to_string(&pid).is_ok_and(|pid| pid.ends_with('\n')));
    let pid = fs::read_to_string(pid).unwrap();
    process.child.kill().unwrap();
    process.child.wait().unwrap();
    soon("the server goes on", || !runs(pid.trim()));
}

#[test]
fn a_server_that_ends_leaves_no_request_unanswered() {
    let mut process =
        Process::new("read -r line; read -r line; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"res'; exit 7");
    process.send(&call(1, "test"));
    process.send(&serde_json::json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}));
    let (first, second) = (process.next(), process.next());
    for answer in [&first, &second] {
        assert!(
            answer["error"]["message"].as_str().unwrap().contains("ended before it answered"),
            "{answer}"
        );
    }
    assert_ne!(first["id"], second["id"]);
    process.child.wait().unwrap();
    // It may have happened.
    let records = records(&journal_folder(process.state.path())[0]);
    assert!(records.iter().all(|record| record["record"] != "resolved"), "{records:?}");
    let (code, errors) = process.ended();
    assert_eq!(code, Some(2));
    assert!(
        errors.contains("is not JSON-RPC and is not passed on") && errors.contains("exit status: 7"),
        "{errors}"
    );
}

#[test]
fn a_server_that_cannot_be_started_is_an_error() {
    let (files, state) = (folder(&[("p.yaml", POLICY)]), tempfile::tempdir().unwrap());
    let mut command = live(files.path(), state.path(), &["proxy", "--", "./nowhere"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Its client is still there.
    let input = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(input);
    // And there is none.
    let alone = fed(live(files.path(), state.path(), &["proxy", "--", "./nowhere"]), b"");
    for output in [output, alone] {
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains("`./nowhere` cannot be started"), "{errors}");
    }
}

/// The first line says what happens to calls until the policy loads.
#[test]
fn a_policy_that_no_longer_loads_still_decides() {
    let mut process = Process::new(ANSWERS);
    assert!(process.ask(&call(1, "test"))["result"].get("isError").is_none());
    drop(process.child.stdin.take());
    process.child.wait().unwrap();
    fs::write(process.files.path().join("p.yaml"), "tool: [").unwrap();
    let unused = tempfile::tempdir().unwrap();
    for (state, becomes) in [
        (process.state.path(), "until it does, its last version that loaded decides"),
        (unused.path(), "until it does, every call is denied"),
    ] {
        let command = live(process.files.path(), state, &["proxy", "-p", "p.yaml", "--", "cat"]);
        let errors = String::from_utf8(fed(command, b"").stderr).unwrap();
        assert!(errors.contains("`p.yaml` does not load") && errors.contains(becomes), "{errors}");
    }
}

/// A write that does not fit: the call is denied, and nothing reaches the server.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_denies() {
    let mut process = Process::around(&format!("{ANSWERS} | tee seen"), |files, state, arguments| {
        let script = "trap '' XFSZ; ulimit -f 4; exec \"$0\" \"$@\"";
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(env!("CARGO_BIN_EXE_rulestep")).args(arguments);
        command.current_dir(files).env("XDG_STATE_HOME", state);
        command
    });
    let answers: Vec<Value> = (1..20).map(|id| process.ask(&call(id, "test"))).collect();
    let denied = |answer: &&Value| answer["result"]["isError"] == true;
    let first = answers.iter().position(|answer| denied(&answer)).unwrap();
    assert!(first > 0 && answers[first..].iter().all(|answer| denied(&answer)), "{answers:?}");
    assert!(answers[first].to_string().contains("free space"), "{}", answers[first]);
    let seen = fs::read_to_string(process.files.path().join("seen")).unwrap();
    assert_eq!(seen.lines().count(), first);
    drop(process.child.stdin.take());
    process.child.wait().unwrap();
}

#[test]
fn what_cannot_be_decided_is_answered_as_asked() {
    let broken = "tool: [";
    let denied = Connection::new(broken);
    let deliveries = denied.client(&call(1, "test"));
    assert_eq!(kinds(&deliveries), ["note", "client"], "{deliveries:?}");
    assert!(format!("{deliveries:?}").contains("rulestep check"), "{deliveries:?}");
    let allowed = Connection::with(broken, Mode::Enforce, None, |_| Answer::Silent);
    assert_eq!(kinds(&allowed.client(&call(1, "test"))), ["note", "server"]);
    assert_eq!(kinds(&allowed.result(1)), ["client"]);
    // Nobody can be asked.
    let asked = Connection::with(broken, Mode::Enforce, None, Answer::Ask);
    assert_eq!(kinds(&asked.client(&call(1, "test"))), ["note", "client"]);
}

/// The last version that loaded decides while the file is being edited.
#[test]
fn the_last_good_policy_goes_on() {
    let connection = Connection::new(POLICY);
    connection.call(1, "deploy").unwrap_err();
    fs::write(&connection.policy, "tool: [").unwrap();
    connection.call(2, "deploy").unwrap_err();
    connection.call(3, "test").unwrap();
    fs::write(&connection.policy, "rules: [{type: blocklist, pattern: x}]").unwrap();
    connection.call(4, "deploy").unwrap();
}

/// A result that cannot be recorded reaches the client, and its call stays in flight.
#[test]
fn a_result_that_is_not_recorded_satisfies_nothing() {
    let connection = Connection::new(POLICY);
    connection.call(1, "test").unwrap();
    let held = fs::OpenOptions::new().append(true).open(connection.journal()).unwrap();
    held.lock().unwrap();
    let deliveries = connection.result(1);
    assert_eq!(kinds(&deliveries), ["note", "client"], "{deliveries:?}");
    let [Delivery::Note(note), _] = &deliveries[..] else { panic!() };
    assert!(note.contains("held the lock"), "{note}");
    drop(held);
    connection.call(2, "deploy").unwrap_err();
}
