//! The home folder is that of the process that decides, wherever it is, and the journal keeps it.

use std::sync::Arc;

use rulestep_engine::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use serde_json::{Value, json};

use super::{fed, live, records};
use crate::cli::folder;

const POLICY: &str = "rules:
  - {id: keys, type: never, call: {reads: '~/.ssh/**'}}
  - {id: kept, type: never, call: {deletes: '~/.ssh/**'}}
  - {id: by-path, type: never, call: {reads: '/opt/agent/.netrc'}}
";

/// What is decided about calls in a session of a user with this home folder: the hook's word on each, and the same when the journal is
/// replayed.
fn decided(home: Option<&str>, calls: &[(&str, Value)]) -> Vec<bool> {
    let files = folder(&[("p.yaml", POLICY)]);
    let state = files.path().join("state");
    let mut stopped = Vec::new();
    for (index, (tool, input)) in calls.iter().enumerate() {
        let event = json!({"session_id": "s", "cwd": "/opt/agent/work", "hook_event_name": "PreToolUse", "tool_name": tool,
            "tool_input": input, "tool_use_id": format!("c{index}")});
        let mut command =
            live(files.path(), &state, &["hook", "claude-code", "-p", "p.yaml", "--no-self-guard"]);
        home.map(|home| command.env("HOME", home));
        stopped.push(fed(command, event.to_string().as_bytes()).status.code() == Some(2));
    }
    let journal = state.join("rulestep/live/claude-code/s.jsonl");
    let opened = &records(&journal)[0];
    let named = home.map(|home| home.replace("//", "/").replace("/./", "/").trim_end_matches('/').to_owned());
    assert_eq!(opened["context"].get("home").and_then(Value::as_str), named.as_deref());
    let policy = Policy::from_dir(files.path().join("p.yaml")).unwrap();
    let session = rulestep_recording::read("s.jsonl", std::fs::read(journal).unwrap()).unwrap().remove(0);
    let replay = Replay::new(&Arc::new(session), &policy, Mode::Enforce);
    let again: Vec<bool> =
        replay.calls().iter().map(|call| call.decision.verdict.word() != "allow").collect();
    assert_eq!(again, stopped);
    stopped
}

#[test]
fn the_home_folder_is_where_the_environment_says() {
    let read = |path: &str| ("Read", json!({"file_path": path}));
    let runs = |line: &str| ("Bash", json!({"command": line}));
    let calls = [
        read("/opt/agent/.ssh/id"),
        read("../.ssh/id"),
        runs("cat /opt/agent/.ssh/id"),
        runs("cat ~/.netrc"),
        runs("cat $HOME/.netrc"),
        runs("cd && cat .ssh/id"),
        runs("rm -r /opt/agent"),
        runs("cat ~/work/../.ssh/id"),
    ];
    assert_eq!(decided(Some("/opt/agent"), &calls), [true; 8]);
    assert_eq!(decided(Some("/opt/agent/"), &calls), [true; 8]);
    assert_eq!(decided(Some("/opt//./agent"), &calls), [true; 8]);
    // Of a neighbour, whose name begins alike, and what is no secret.
    let others = [
        read("/opt/agent-2/.ssh/id"),
        read("/opt/agent/work/a"),
        runs("cat ~/work/a"),
        runs("rm -r /opt/agent/work/x"),
    ];
    assert_eq!(decided(Some("/opt/agent"), &others), [false; 4]);
    // Where nobody says it, the shape of the path does, and the home folders of others are guarded as one's own.
    let shaped = [read("/home/ivo/.ssh/id"), read("/opt/agent/.ssh/id")];
    assert_eq!(decided(None, &shaped), [true, false]);
    assert_eq!(decided(Some("/opt/agent"), &shaped), [true, true]);
}
