//! Many processes at once, processes that are killed, disks that are full: no decision is lost, and nothing runs that the
//! journal does not show.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rulestep_engine::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use serde_json::json;

use super::{fed, live, records};
use crate::cli::folder;

const POLICY: &str = "rules: [{type: max_calls, tool: Bash, max: 10}]\n";

fn event(id: &str) -> Vec<u8> {
    let event = json!({
        "session_id": "s", "transcript_path": null, "cwd": "/", "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": "x".repeat(500)}, "tool_use_id": id,
    });
    event.to_string().into_bytes()
}

fn hook(files: &Path, state: &Path) -> Command {
    live(files, state, &["hook", "claude-code", "-p", "p.yaml", "--wait", "60000", "--limit", "600000"])
}

fn journal(state: &Path) -> PathBuf {
    state.join("rulestep/live/claude-code/s.jsonl")
}

/// What the journal decided, by id. No call is in it twice.
fn decided(state: &Path) -> BTreeMap<String, bool> {
    let mut decided = BTreeMap::new();
    for record in records(&journal(state)).iter().filter(|record| record["record"] == "proposed") {
        let id = record["id"].as_str().unwrap().to_owned();
        assert!(decided.insert(id, record["decision"] == "allow").is_none(), "{record}");
    }
    decided
}

/// The journal, replayed, decides what it says.
fn assert_replays(files: &Path, state: &Path) {
    let path = journal(state);
    let session = rulestep_recording::read("s.jsonl", fs::read(&path).unwrap()).unwrap().remove(0);
    let policy = Policy::from_dir(files.join("p.yaml")).unwrap();
    let replay = Replay::new(&Arc::new(session), &policy, Mode::Enforce);
    let again: Vec<&str> = replay.calls().iter().map(|call| call.decision.verdict.word()).collect();
    let text = fs::read_to_string(&path).unwrap();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let said: Vec<String> =
        lines.filter_map(|record| Some(record["decision"].as_str()?.to_owned())).collect();
    assert_eq!(again, said);
}

#[test]
fn processes_that_decide_at_once_decide_one_after_the_other() {
    let (files, state) = (folder(&[("p.yaml", POLICY)]), tempfile::tempdir().unwrap());
    let (files, state) = (files.path(), state.path());
    let ids: Vec<String> = (0..32).map(|number| format!("c{number}")).collect();
    let answers: BTreeMap<String, bool> = thread::scope(|scope| {
        let running = ids.iter().map(|id| (id, scope.spawn(move || fed(hook(files, state), &event(id)))));
        let running: Vec<_> = running.collect();
        let ended = running.into_iter().map(|(id, run)| (id.clone(), run.join().unwrap()));
        ended.map(|(id, output)| (id, matches!(output.status.code(), Some(0)))).collect()
    });
    assert_eq!(answers, decided(state));
    assert_eq!(answers.values().filter(|allowed| **allowed).count(), 10, "{answers:?}");
    assert_replays(files, state);
}

/// A process is killed at some moment. Where it answered, the journal has the answer; and the next one goes on.
#[test]
fn a_killed_process_loses_no_decision() {
    let rounds: u64 =
        std::env::var("RULESTEP_KILLS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(200);
    let policy = "rules: [{type: max_calls, tool: Bash, max: 60}]\n";
    let (files, state) = (folder(&[("p.yaml", policy)]), tempfile::tempdir().unwrap());
    let (mut answered, mut killed) = (BTreeMap::new(), 0);
    for round in 0..rounds {
        let mut command = hook(files.path(), state.path());
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let id = format!("c{round}");
        let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), &event(&id));
        // Moments all over the life of a process, which takes some milliseconds.
        thread::sleep(Duration::from_micros(round * 7919 % 30_000));
        let _ = child.kill();
        match child.wait().unwrap().code() {
            Some(code) => {
                assert!(matches!(code, 0 | 2), "{code}");
                answered.insert(id, code == 0);
            }
            None => killed += 1,
        }
    }
    let last = fed(hook(files.path(), state.path()), &event("last"));
    assert!(matches!(last.status.code(), Some(0 | 2)));
    answered.insert("last".to_owned(), last.status.code() == Some(0));
    let text = fs::read_to_string(journal(state.path())).unwrap();
    let mut decided = BTreeMap::new();
    for record in text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok()) {
        if record["record"] == "proposed" {
            let id = record["id"].as_str().unwrap().to_owned();
            assert!(decided.insert(id, record["decision"] == "allow").is_none(), "{record}");
        }
    }
    for (id, allowed) in &answered {
        assert_eq!(decided.get(id), Some(allowed), "{id}");
    }
    assert!(killed > 0, "no process was killed in time, so nothing was shown");
    assert!(decided.values().filter(|allowed| **allowed).count() <= 60);
    assert_replays(files.path(), state.path());
    println!("{killed} killed, {} answered, {} decided", answered.len(), decided.len());
}

/// A write that does not fit: the call is denied, and the journal is as it was.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_denies() {
    let (files, state) = (folder(&[("p.yaml", POLICY)]), tempfile::tempdir().unwrap());
    let first = fed(hook(files.path(), state.path()), &event("1"));
    assert_eq!(first.status.code(), Some(0));
    let before = fs::read(journal(state.path())).unwrap();
    let program = assert_cmd::cargo::cargo_bin!("rulestep");
    let script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" hook claude-code -p p.yaml";
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(program).current_dir(files.path()).env("XDG_STATE_HOME", state.path());
    let output = fed(command, &event("2"));
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("cannot be written") && error.contains("free space"), "{error}");
    assert_eq!(fs::read(journal(state.path())).unwrap(), before);
    assert_eq!(fed(hook(files.path(), state.path()), &event("3")).status.code(), Some(0));
}

#[test]
fn a_lock_that_is_held_too_long_denies() {
    let (files, state) = (folder(&[("p.yaml", POLICY)]), tempfile::tempdir().unwrap());
    assert_eq!(fed(hook(files.path(), state.path()), &event("1")).status.code(), Some(0));
    let held = OpenOptions::new().append(true).open(journal(state.path())).unwrap();
    held.lock().unwrap();
    let slow = live(files.path(), state.path(), &["hook", "claude-code", "-p", "p.yaml", "--wait", "30"]);
    let output = fed(slow, &event("2"));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && error.contains("held the lock"), "{error}");
    drop(held);
    assert_eq!(fed(hook(files.path(), state.path()), &event("3")).status.code(), Some(0));
}

/// An agent lets the call run when its hook takes longer than it waits.
#[test]
fn what_takes_too_long_is_answered_before_the_agent_goes_on() {
    let (files, state) = (folder(&[("p.yaml", POLICY)]), tempfile::tempdir().unwrap());
    assert_eq!(fed(hook(files.path(), state.path()), &event("1")).status.code(), Some(0));
    let limited = |more: &[&str]| {
        let arguments = ["hook", "claude-code", "-p", "p.yaml", "--wait", "60000", "--limit", "200"];
        live(files.path(), state.path(), &[&arguments, more].concat())
    };
    // An event whose end does not come.
    let mut open = limited(&[]);
    open.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = open.spawn().unwrap();
    let input = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(input);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("no answer within 200 ms") && error.contains("--limit"), "{error}");
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "deny");
    // A lock that is held.
    let held = OpenOptions::new().append(true).open(journal(state.path())).unwrap();
    held.lock().unwrap();
    assert_eq!(fed(limited(&[]), &event("2")).status.code(), Some(2));
    let shadow = fed(limited(&["--shadow"]), &event("2"));
    assert_eq!((shadow.status.code(), shadow.stdout.len()), (Some(0), 0));
    // There is nothing to deny in what has happened.
    let done = json!({
        "session_id": "s", "transcript_path": null, "cwd": "/", "hook_event_name": "PostToolUse",
        "tool_name": "Bash", "tool_input": {}, "tool_use_id": "1", "tool_response": {},
    });
    let output = fed(limited(&[]), done.to_string().as_bytes());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(0) && error.contains("no answer within 200 ms"), "{error}");
    drop(held);
    assert_eq!(fed(hook(files.path(), state.path()), &event("3")).status.code(), Some(0));
    assert_eq!(decided(state.path()).len(), 2);
}

/// An event may name any file as the agent's log, and the model reads why it was not read.
#[cfg(unix)]
#[test]
fn a_log_that_is_no_log_is_not_quoted() {
    let files = folder(&[
        ("p.yaml", POLICY),
        ("secret", "root:x:0:0\n"),
        ("damaged.jsonl", "{\"type\": \"assistant\", \"message\": {\"se\n{}\n"),
    ]);
    let state = tempfile::tempdir().unwrap();
    for log in ["/dev/zero", "secret", "damaged.jsonl"] {
        let event = json!({
            "session_id": log, "transcript_path": files.path().join(log), "cwd": "/", "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "1",
        });
        let output = fed(hook(files.path(), state.path()), event.to_string().as_bytes());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains("cannot be read"), "{log}: {said}");
        assert!(!said.contains("root:x") && !said.contains("message"), "{log}: {said}");
    }
}
