//! What Codex says only in its log: how a command ended, and where it runs.

use std::fs;
use std::path::PathBuf;

use rstest::rstest;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{fed, live, records};
use crate::cli::folder;

/// Nothing is pushed before the tests have passed, and nothing outside of the project is read or deleted.
const POLICY: &str = "rules:
  - {type: before, first: {runs: {program: cargo, args: [test]}}, then: {runs: {program: git, args: [push]}}}
  - {type: never, call: {deletes: ['../**']}}
  - {type: never, call: {reads: ['/srv/keys/**']}}
";

struct Codex {
    files: TempDir,
    logs: bool,
}

impl Codex {
    fn new() -> Codex {
        let codex = Codex { files: folder(&[("p.yaml", POLICY)]), logs: true };
        let meta = json!({"id": "s", "cwd": "/p", "originator": "codex_cli_rs"});
        codex.write("session_meta", meta);
        codex
    }

    fn log(&self) -> PathBuf {
        self.files.path().join("rollout.jsonl")
    }

    fn write(&self, kind: &str, payload: Value) {
        let line = json!({"timestamp": "2026-01-01T00:00:00Z", "type": kind, "payload": payload});
        let before = fs::read_to_string(self.log()).unwrap_or_default();
        fs::write(self.log(), format!("{before}{line}\n")).unwrap();
    }

    /// A call as the log has it.
    fn made(&self, id: &str, tool: &str, arguments: Value) {
        let arguments = arguments.to_string();
        self.write(
            "response_item",
            json!({"type": "function_call", "name": tool, "call_id": id, "arguments": arguments}),
        );
    }

    fn gave(&self, id: &str, text: &str) {
        self.write("response_item", json!({"type": "function_call_output", "call_id": id, "output": text}));
    }

    /// Whether an event is answered with anything but a denial.
    fn event(&self, name: &str, id: &str, command: &str) -> bool {
        self.event_of(None, name, id, command)
    }

    /// The same of a thread that the session began.
    fn event_of(&self, agent: Option<&str>, name: &str, id: &str, command: &str) -> bool {
        let log = self.logs.then(|| self.log());
        let event = json!({"agent_id": agent, "hook_event_name": name, "session_id": "s", "transcript_path": log, "cwd": "/p", "tool_name": "Bash",
            "tool_use_id": id, "tool_input": {"command": command}, "tool_response": "Process exited with code 0\nOutput:\n"});
        let hook = ["hook", "codex", "-p", "p.yaml"];
        let output = fed(
            live(self.files.path(), &self.files.path().join("state"), &hook),
            event.to_string().as_bytes(),
        );
        assert!(matches!(output.status.code(), Some(0 | 2)), "{output:?}");
        output.status.code() == Some(0)
    }

    /// A command as Codex runs it: the log has the call before the hook is asked.
    fn runs(&self, id: &str, command: &str) -> bool {
        self.made(id, "exec_command", json!({"cmd": command}));
        self.event("PreToolUse", id, command)
    }

    fn journal(&self) -> Vec<Value> {
        records(&self.files.path().join("state/rulestep/live/codex/s.jsonl"))
    }
}

#[rstest]
#[case("Chunk ID: a\nWall time: 1 seconds\nProcess exited with code 0\nOutput:\nok\n", true)]
#[case("Chunk ID: a\nWall time: 1 seconds\nProcess exited with code 101\nOutput:\nok\n", false)]
#[case("Output:\nProcess exited with code 0\n", false)]
fn the_log_says_how_a_command_ended(#[case] text: &str, #[case] passed: bool) {
    let codex = Codex::new();
    assert!(codex.runs("1", "cargo test"));
    codex.event("PostToolUse", "1", "cargo test");
    // What the event has is what the command printed, which may be anything.
    assert!(codex.journal().iter().all(|record| record["record"] != "resolved"));
    codex.gave("1", text);
    assert_eq!(codex.runs("2", "git push"), passed, "{text}");
}

#[test]
fn without_a_log_no_command_is_known_to_have_succeeded() {
    let codex = Codex { logs: false, ..Codex::new() };
    assert!(codex.event("PreToolUse", "1", "cargo test"));
    codex.event("PostToolUse", "1", "cargo test");
    assert!(!codex.event("PreToolUse", "2", "git push"));
}

/// A command that takes long is read with further calls, in later turns.
#[rstest]
#[case("0", true)]
#[case("1", false)]
fn a_command_that_went_on_ends_turns_later(#[case] code: &str, #[case] passed: bool) {
    let codex = Codex::new();
    assert!(codex.runs("1", "cargo test"));
    codex.gave("1", "Chunk ID: a\nProcess running with session ID 7\nOutput:\n");
    assert!(codex.runs("2", "ls"));
    codex.event("PostToolUse", "2", "ls");
    codex.gave("2", "Chunk ID: b\nProcess exited with code 0\nOutput:\n");
    assert!(!codex.runs("3", "git push"));
    codex.gave("3", "denied by a hook");
    codex.made("4", "write_stdin", json!({"session_id": 7, "chars": ""}));
    codex.gave("4", &format!("Chunk ID: c\nProcess exited with code {code}\nOutput:\nok\n"));
    assert_eq!(codex.runs("5", "git push"), passed);
    let ends: Vec<Value> =
        codex.journal().into_iter().filter(|record| record["record"] == "resolved").collect();
    let of = |id: &str| {
        ends.iter().filter(|end| end["id"] == id).map(|end| end["outcome"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(of("1"), [json!(if passed { "ok" } else { "error" })]);
    assert_eq!(of("2"), [json!("ok")]);
}

#[rstest]
#[case("cat key", json!({"workdir": "/srv/keys"}), false)]
#[case("cat key", json!({"workdir": "keys"}), true)]
#[case("cat key", json!({"workdir": ""}), true)]
#[case("rm -rf old", json!({"workdir": "/srv/data"}), false)]
#[case("rm -rf old", json!({"workdir": "sub"}), true)]
#[case("rm -rf ../old", json!({"workdir": "sub"}), true)]
#[case("rm -rf old", json!({}), true)]
#[case("rm -rf old", json!({"workdir": "~/data"}), false)]
#[case("rm -rf old", json!({"workdir": 1}), false)]
fn the_log_says_where_a_command_runs(#[case] command: &str, #[case] more: Value, #[case] allowed: bool) {
    let codex = Codex::new();
    let mut arguments = json!({"cmd": command});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    codex.made("1", "exec_command", arguments);
    assert_eq!(codex.event("PreToolUse", "1", command), allowed, "{command} {more}");
}

#[test]
fn a_folder_that_nobody_says_may_be_any() {
    let codex = Codex::new();
    assert!(!codex.event("PreToolUse", "1", "rm -rf old"), "the log does not have the call");
    assert!(codex.event("PreToolUse", "2", "rm -rf /p/old"), "the folder does not matter");
    let proposed: Vec<Value> =
        codex.journal().into_iter().filter(|record| record["record"] == "proposed").collect();
    assert_eq!(proposed[0]["cwd"], "?");
}

/// The log of a thread that another one began is its own, and its later parts do not say whose they are.
#[rstest]
#[case(Some("sub1"))]
#[case(None)]
fn a_thread_of_a_session_has_a_log_of_its_own(#[case] agent: Option<&str>) {
    let codex = Codex { files: folder(&[("p.yaml", POLICY)]), logs: true };
    let source = json!({"subagent": {"thread_spawn": {"parent_thread_id": "s", "depth": 1}}});
    codex.write(
        "session_meta",
        json!({"id": "sub1", "cwd": "/p", "originator": "codex_cli_rs", "source": source}),
    );
    for id in ["1", "2"] {
        codex.made(id, "exec_command", json!({"cmd": "cargo test"}));
        assert!(codex.event_of(agent, "PreToolUse", id, "cargo test"));
        codex.event_of(agent, "PostToolUse", id, "cargo test");
        codex.gave(id, "Chunk ID: a\nProcess exited with code 0\nOutput:\nok\n");
    }
    codex.made("3", "exec_command", json!({"cmd": "git push"}));
    assert!(codex.event_of(agent, "PreToolUse", "3", "git push"));
}

/// A server that never ends does not hide how the commands after it ended, however long the log becomes.
#[test]
fn a_command_that_never_ends_hides_no_other() {
    let codex = Codex::new();
    assert!(codex.runs("1", "npm start"));
    codex.gave("1", "Chunk ID: a\nProcess running with session ID 7\nOutput:\n");
    codex.made("x", "other_tool", json!({}));
    codex.gave("x", &"long ".repeat(1 << 20));
    assert!(codex.runs("2", "cargo test"));
    codex.gave("2", "Chunk ID: b\nProcess running with session ID 8\nOutput:\n");
    assert!(codex.runs("3", "ls"));
    codex.gave("3", "Chunk ID: c\nProcess exited with code 0\nOutput:\n");
    codex.made("4", "write_stdin", json!({"session_id": 8, "chars": ""}));
    codex.gave("4", "Chunk ID: d\nProcess exited with code 0\nOutput:\nok\n");
    assert!(codex.runs("5", "git push"));
}

/// A command that a script makes is in the log once it is over, in the words of the shell.
#[rstest]
#[case("exec-1", "cargo test", json!("completed"), json!(0), true)]
#[case("exec-1", "cargo test", json!("failed"), json!(101), false)]
#[case("exec-1", "cargo test", json!("declined"), json!(-1), false)]
#[case("exec-1", "cargo test", json!("in_progress"), Value::Null, false)]
#[case("exec-1", "cargo test || true", json!("completed"), json!(0), false)]
#[case("exec-9", "cargo test", json!("completed"), json!(0), false)]
fn the_log_says_how_a_command_of_a_script_ended(
    #[case] id: &str,
    #[case] ran: &str,
    #[case] status: Value,
    #[case] code: Value,
    #[case] passed: bool,
    #[values(true, false)] newer: bool,
) {
    let codex = Codex::new();
    codex.write(
        "response_item",
        json!({"type": "custom_tool_call", "name": "exec", "call_id": "c1", "input": "…"}),
    );
    assert!(codex.event("PreToolUse", "exec-1", "cargo test"));
    codex.event("PostToolUse", "exec-1", "cargo test");
    assert!(codex.journal().iter().all(|record| record["record"] != "resolved"));
    let mut end = json!({"command": ["/bin/bash", "-lc", ran], "cwd": "/p", "source": "unified_exec_startup",
        "status": status, "exit_code": code, "aggregated_output": "ok\n"});
    let (name, kind) = if newer { ("id", "CommandExecution") } else { ("call_id", "exec_command_end") };
    (end[name], end["type"]) = (json!(id), json!(kind));
    codex
        .write("event_msg", if newer { json!({"type": "item_completed", "item": end}) } else { end.clone() });
    assert_eq!(codex.event("PreToolUse", "exec-2", "git push"), passed);
    // The next command that a script makes finds it as well, in a later answer of the model.
    codex.write("response_item", json!({"type": "custom_tool_call_output", "call_id": "c1", "output": "…"}));
    assert_eq!(codex.event("PreToolUse", "exec-3", "git push"), passed);
    let journal = codex.journal();
    let calls = journal.iter().filter(|record| record["record"] == "proposed").count();
    assert_eq!(calls, 3, "{journal:?}");
}

/// Of the commands that a script makes at once, one that was stopped is in no log. It does not hold the turn open for good.
#[test]
fn a_command_of_a_script_that_was_stopped_ends_with_the_others() {
    let codex = Codex::new();
    let script = json!({"type": "custom_tool_call", "name": "exec", "call_id": "c1", "input": "…"});
    codex.write("response_item", script);
    assert!(!codex.event("PreToolUse", "exec-1", "git push"));
    assert!(codex.event("PreToolUse", "exec-2", "cargo test"));
    assert!(!codex.event("PreToolUse", "exec-3", "git push"), "the tests still run");
    codex.event("PostToolUse", "exec-2", "cargo test");
    codex.write(
        "event_msg",
        json!({"type": "exec_command_end", "call_id": "exec-2", "command": ["/bin/bash", "-lc", "cargo test"], "cwd": "/p",
            "source": "unified_exec_startup", "status": "completed", "exit_code": 0, "aggregated_output": "ok\n"}),
    );
    codex.write("response_item", json!({"type": "custom_tool_call_output", "call_id": "c1", "output": "…"}));
    assert!(codex.event("PreToolUse", "exec-4", "git push"));
}
