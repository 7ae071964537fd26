//! The folder that an agent is in when it makes a call, which its shell changes: relative paths are taken from there.

use std::path::Path;

use serde_json::{Value, json};

use super::{fed, live, records};
use crate::cli::{folder, rulestep};

const POLICY: &str = "rules:\n  - {type: never, call: {deletes: ['../**']}}\n  - {type: never, call: {reads: [/home/u/p/.env, ./secret.txt]}}\n";

fn answer(files: &Path, agent: &str, event: &Value) -> bool {
    let mut command = live(files, &files.join("state"), &["hook", agent, "-p", "p.yaml"]);
    command.current_dir(files);
    let output = fed(command, event.to_string().as_bytes());
    let stopped = output.status.code() == Some(2) || String::from_utf8_lossy(&output.stdout).contains("deny");
    assert!(stopped || output.status.code() == Some(0), "{output:?}");
    !stopped
}

fn bash(name: &str, folder: &str, id: &str, command: &str) -> Value {
    json!({"session_id": "s", "hook_event_name": name, "cwd": folder, "tool_name": "Bash", "tool_use_id": id,
        "tool_input": {"command": command}, "tool_response": {"stdout": "", "interrupted": false}})
}

#[test]
fn a_hook_takes_paths_from_where_the_agent_is() {
    let files = folder(&[("p.yaml", POLICY)]);
    let ask = |event: Value| answer(files.path(), "claude-code", &event);
    assert!(ask(bash("PreToolUse", "/home/u/p", "1", "rm -rf other")));
    assert!(ask(bash("PreToolUse", "/home/u/p", "2", "cd ..")));
    assert!(ask(bash("PostToolUse", "/home/u", "2", "cd ..")));
    assert!(!ask(bash("PreToolUse", "/home/u", "3", "rm -rf other")));
    assert!(ask(bash("PreToolUse", "/home/u", "4", "rm -rf p/other")));
    assert!(!ask(bash("PreToolUse", "/home/u", "5", "cat p/secret.txt")));
    assert!(!ask(bash("PreToolUse", "/home/u/p/sub", "6", "cat ../secret.txt")));
    assert!(ask(bash("PreToolUse", "/home/u/p/sub", "7", "cat secret.txt")));
    // The journal says where each call was made, and its replay decides the same.
    let journal = files.path().join("state/rulestep/live/claude-code/s.jsonl");
    let proposed: Vec<Value> = records(&journal).into_iter().filter(|r| r["record"] == "proposed").collect();
    assert_eq!(proposed[2]["cwd"], "/home/u");
    let path = journal.to_str().unwrap();
    let output =
        rulestep(files.path(), &["replay", path, "-p", "p.yaml", "--mode", "shadow", "--summary"]).output();
    let said = String::from_utf8(output.unwrap().stdout).unwrap();
    assert!(said.contains("7 calls: 4 allowed, 3 would be denied"), "{said}");
    // So does what `convert` writes of it.
    let native = rulestep(files.path(), &["convert", path]).output().unwrap().stdout;
    std::fs::write(files.path().join("n.jsonl"), &native).unwrap();
    let arguments = ["replay", "n.jsonl", "-p", "p.yaml", "--mode", "shadow", "--summary"];
    let said = String::from_utf8(rulestep(files.path(), &arguments).output().unwrap().stdout).unwrap();
    assert!(said.contains("7 calls: 4 allowed, 3 would be denied"), "{said}");
}

#[test]
fn cursor_says_the_folder_of_a_session_in_roots() {
    let files = folder(&[("p.yaml", POLICY)]);
    let event = |name: &str, more: Value| {
        let mut event =
            json!({"hook_event_name": name, "conversation_id": "c", "workspace_roots": ["/home/u/p"]});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let read = |id: &str, path: &str| json!({"tool_name": "Read", "tool_input": {"file_path": path}, "tool_use_id": id});
    let ask = |event: Value| answer(files.path(), "cursor", &event);
    assert!(ask(event("beforeSubmitPrompt", json!({"prompt": "hi"}))));
    assert!(!ask(event("preToolUse", read("1", ".env"))));
    assert!(!ask(event("preToolUse", read("2", "/home/u/p/.env"))));
    assert!(ask(event("preToolUse", read("3", "env"))));
    assert!(ask(event(
        "preToolUse",
        json!({"cwd": "/home/u/q", "tool_name": "Read", "tool_input": {"file_path": ".env"}})
    )));
}

#[test]
fn logs_say_where_each_call_was_made() {
    let line = |kind: &str, uuid: &str, parent: Value, folder: &str, message: Value| {
        json!({"sessionId": "s", "cwd": folder, "version": "2.0", "timestamp": "2026-01-01T00:00:00Z", "uuid": uuid,
            "parentUuid": parent, "isSidechain": false, "userType": "external", "type": kind, "message": message})
        .to_string()
    };
    let call = |id: &str, command: &str| {
        json!({"id": format!("m{id}"), "type": "message", "role": "assistant", "model": "m", "content": [
            {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]})
    };
    let claude = [
        line("user", "u", Value::Null, "/home/u/p", json!({"role": "user", "content": "hi"})),
        line("assistant", "a", json!("u"), "/home/u/p", call("1", "rm -rf other")),
        line("assistant", "b", json!("a"), "/home/u", call("2", "rm -rf other")),
    ]
    .join("\n");
    let item = |payload: Value| json!({"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": payload});
    let turn = |folder: &str| json!({"timestamp": "2026-01-01T00:00:00Z", "type": "turn_context", "payload": {"cwd": folder}});
    let ran = |id: &str| {
        item(json!({"type": "function_call", "name": "exec_command", "call_id": id,
            "arguments": "{\"cmd\": \"rm -rf other\"}"}))
    };
    let meta = json!({"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": "s", "cwd": "/home/u/p"}});
    let codex = [meta, turn("/home/u/p"), ran("1"), turn("/home/u"), ran("2")]
        .map(|line| line.to_string())
        .join("\n");
    let files = folder(&[("p.yaml", POLICY), ("claude.jsonl", &claude), ("codex.jsonl", &codex)]);
    for name in ["claude.jsonl", "codex.jsonl"] {
        let arguments = ["replay", name, "-p", "p.yaml", "--summary"];
        let said = String::from_utf8(rulestep(files.path(), &arguments).output().unwrap().stdout).unwrap();
        assert!(said.contains("2 calls: 1 allowed, 1 denied"), "{name}: {said}");
    }
}
