//! How a command ended, as each agent says it: the hook and a replay of the agent's log take it alike.

use std::path::Path;

use serde_json::{Value, json};

use super::{fed, live};
use crate::cli::{folder, rulestep};

/// Nothing is pushed before the tests have passed.
const POLICY: &str = "rules:\n  - {type: before, first: {runs: {program: cargo, args: [test]}}, then: {runs: {program: git, args: [push]}}}\n";

fn hook(files: &Path, state: &Path, agent: &str, event: Value) -> bool {
    let output = fed(live(files, state, &["hook", agent, "-p", "p.yaml"]), event.to_string().as_bytes());
    output.status.code() == Some(0) && !String::from_utf8_lossy(&output.stdout).contains("deny")
}

/// Whether the push is allowed after this result, live.
fn lived(files: &Path, agent: &str, result: &Value) -> bool {
    let state = tempfile::tempdir().unwrap();
    let (before, after, tool, argument) = match agent {
        "gemini-cli" => ("BeforeTool", "AfterTool", "run_shell_command", "command"),
        _ => ("PreToolUse", "PostToolUse", "exec_command", "cmd"),
    };
    let event = |name: &str, id: &str, line: &str| {
        json!({"hook_event_name": name, "session_id": "s", "cwd": "/p", "tool_name": tool, "tool_use_id": id,
            "tool_input": {argument: line}, "tool_response": result})
    };
    assert!(hook(files, state.path(), agent, event(before, "1", "cargo test")));
    hook(files, state.path(), agent, event(after, "1", "cargo test"));
    hook(files, state.path(), agent, event(before, "2", "git push"))
}

/// The same in a replay of what the agent records.
fn replayed(files: &Path, recording: &str) -> bool {
    std::fs::write(files.join("log.jsonl"), recording).unwrap();
    let output = rulestep(files, &["replay", "log.jsonl", "-p", "p.yaml", "--summary"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("2 calls"), "{said}");
    output.status.code() == Some(0)
}

#[test]
fn gemini_says_it_after_the_output() {
    let files = folder(&[("p.yaml", POLICY)]);
    for (text, passed) in [
        ("Output: ok", true),
        ("Command: cargo test\nOutput: ok\nExit Code: 0\nSignal: (none)", true),
        ("Output: x\nExit Code: 101", false),
        ("Output: Exit Code: 0\nExit Code: 1", false),
        ("Output: x\nSignal: 9", false),
        (
            "Command was automatically cancelled because it exceeded the timeout of 5.0 minutes without output.",
            false,
        ),
        ("Command was cancelled by user before it could complete.", false),
        ("Command moved to background (PID: 33701). Output hidden. Press Ctrl+B to view.", false),
    ] {
        let call = |id: &str, line: &str, output: &str| {
            let response = json!([{"functionResponse": {"id": id, "name": "run_shell_command", "response": {"output": output}}}]);
            let call = json!({"id": id, "name": "run_shell_command", "args": {"command": line}, "status": "success", "result": response});
            json!({"id": id, "type": "gemini", "content": "", "toolCalls": [call]})
        };
        let saved = json!({"sessionId": "g", "projectHash": "x", "startTime": "2026-01-01T00:00:00Z", "lastUpdated": "2026-01-01T00:00:00Z",
            "messages": [{"id": "0", "type": "user", "content": "go"}, call("a", "cargo test", text), call("b", "git push", "Output: ok")]});
        let function = |id: &str, line: &str| json!({"role": "model", "parts": [{"functionCall": {"id": id, "name": "run_shell_command", "args": {"command": line}}}]});
        let answer = |id: &str, output: &str| json!({"role": "user", "parts": [{"functionResponse": {"id": id, "name": "run_shell_command", "response": {"output": output}}}]});
        let history = json!([{"role": "user", "parts": [{"text": "go"}]}, function("a", "cargo test"), answer("a", text), function("b", "git push"), answer("b", "Output: ok")]);
        let event = |kind: &str, more: Value| {
            let mut event = json!({"type": kind, "timestamp": "2026-01-01T00:00:00Z"});
            event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            event.to_string()
        };
        let used = |id: &str, line: &str| {
            event(
                "tool_use",
                json!({"tool_name": "run_shell_command", "tool_id": id, "parameters": {"command": line}}),
            )
        };
        let result = |id: &str, output: &str| {
            event("tool_result", json!({"tool_id": id, "status": "success", "output": output}))
        };
        let stream = [
            event("init", json!({"session_id": "s", "model": "gemini"})),
            used("a", "cargo test"),
            result("a", text),
            used("b", "git push"),
            result("b", "Output: ok"),
        ]
        .join("\n");
        assert_eq!(
            lived(files.path(), "gemini-cli", &json!({"llmContent": text, "returnDisplay": "x"})),
            passed,
            "live: {text}"
        );
        for recording in [saved.to_string(), history.to_string(), stream] {
            assert_eq!(replayed(files.path(), &recording), passed, "{text}: {recording}");
        }
    }
}

#[test]
fn codex_says_it_before_the_output() {
    let files = folder(&[("p.yaml", POLICY)]);
    for (text, passed) in [
        ("Chunk ID: a\nWall time: 1.0 seconds\nProcess exited with code 0\nOutput:\nok", true),
        ("Chunk ID: a\nWall time: 1.0 seconds\nProcess exited with code 101\nOutput:\nok", false),
        (
            "Chunk ID: a\nWall time: 1.0 seconds\nProcess running with session ID 42\nOriginal token count: 0\nOutput:\nBuilding\n",
            false,
        ),
        ("command timed out after 1000 milliseconds", false),
        ("Output:\nProcess running with session ID 42", true),
    ] {
        let item = |payload: Value| {
            json!({"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": payload})
                .to_string()
        };
        let call = |id: &str, line: &str| {
            item(json!({"type": "function_call", "name": "exec_command", "call_id": id,
            "arguments": json!({"cmd": line}).to_string()}))
        };
        let output = |id: &str, text: &str| {
            item(json!({"type": "function_call_output", "call_id": id, "output": text}))
        };
        let meta = json!({"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": "s", "cwd": "/p"}}).to_string();
        let rollout = [
            meta,
            call("1", "cargo test"),
            output("1", text),
            call("2", "git push"),
            output("2", "Process exited with code 0\nOutput:\n"),
        ];
        assert_eq!(lived(files.path(), "codex", &json!(text)), passed, "live: {text}");
        assert_eq!(replayed(files.path(), &rollout.join("\n")), passed, "{text}");
    }
}
