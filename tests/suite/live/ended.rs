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
        "qwen-code" => ("PreToolUse", "PostToolUse", "run_shell_command", "command"),
        _ => ("PreToolUse", "PostToolUse", "Bash", "command"),
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
        for agent in ["gemini-cli", "qwen-code"] {
            let result = json!({"llmContent": text, "returnDisplay": "x"});
            assert_eq!(lived(files.path(), agent, &result), passed, "{agent} live: {text}");
        }
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
        assert_eq!(replayed(files.path(), &rollout.join("\n")), passed, "{text}");
        // Live it is the log that says it, which grows meanwhile.
        let (state, log) = (tempfile::tempdir().unwrap(), files.path().join("live.jsonl"));
        let event = |name: &str, id: &str, line: &str, lines: usize| {
            std::fs::write(&log, rollout[..lines].join("\n") + "\n").unwrap();
            let event = json!({"hook_event_name": name, "session_id": "s", "cwd": "/p", "tool_name": "Bash", "tool_use_id": id,
                "transcript_path": log, "tool_input": {"command": line}, "tool_response": text});
            hook(files.path(), state.path(), "codex", event)
        };
        assert!(event("PreToolUse", "1", "cargo test", 2));
        event("PostToolUse", "1", "cargo test", 2);
        assert_eq!(event("PreToolUse", "2", "git push", 4), passed, "live: {text}");
    }
}

/// Gemini CLI has no ids, so a result is for the call with its arguments.
#[test]
fn a_result_without_an_id_is_for_the_call_with_its_arguments() {
    let files = folder(&[("p.yaml", POLICY)]);
    let (passed, failed) = ("Output: ok\nExit Code: 0", "Output: no\nExit Code: 1");
    let background = "Command moved to background (PID: 1). Output hidden.";
    for (before, after, pushes) in [
        // What ends first need not have begun first.
        (&["cargo test", "ls"][..], &[("ls", passed), ("cargo test", failed)][..], false),
        (&["cargo build", "cargo test"], &[("cargo test", failed), ("cargo build", passed)], false),
        (&["cargo test", "ls"], &[("ls", failed), ("cargo test", passed)], true),
        // What goes on in the background, or was declined, gets no other call's result.
        (&["cargo test"], &[("cargo test", background), ("ls", passed)], false),
        (&["cargo test", "ls"], &[("ls", passed)], false),
        (&["cargo test", "cargo test"], &[("cargo test", passed)], true),
    ] {
        let state = tempfile::tempdir().unwrap();
        let go = |name: &str, line: &str, text: &str| {
            let event = json!({"hook_event_name": name, "session_id": "s", "cwd": "/p", "tool_name": "run_shell_command",
                "prompt": "go on", "tool_input": {"command": line}, "tool_response": {"llmContent": text, "returnDisplay": ""}});
            hook(files.path(), state.path(), "gemini-cli", event)
        };
        before.iter().for_each(|line| assert!(go("BeforeTool", line, "")));
        for (line, text) in after {
            go("AfterTool", line, text);
        }
        go("BeforeAgent", "", "");
        assert_eq!(go("BeforeTool", "git push", ""), pushes, "{before:?} {after:?}");
    }
    // Without arguments only the one call that waits can be meant.
    for (lines, pushes) in [(&["cargo test"][..], true), (&["cargo test", "ls"], false)] {
        let state = tempfile::tempdir().unwrap();
        let event = |name: &str, line: &str| {
            json!({"hook_event_name": name, "session_id": "s", "cwd": "/p", "tool_name": "run_shell_command",
                "tool_input": {"command": line}})
        };
        for line in lines {
            assert!(hook(files.path(), state.path(), "gemini-cli", event("BeforeTool", line)));
        }
        let ended = json!({"hook_event_name": "AfterTool", "session_id": "s", "tool_name": "run_shell_command",
            "tool_response": {"llmContent": passed}});
        hook(files.path(), state.path(), "gemini-cli", ended);
        assert_eq!(hook(files.path(), state.path(), "gemini-cli", event("BeforeTool", "git push")), pushes);
    }
}

/// What Claude Code has begun is over when it tells so in a result of another tool.
#[test]
fn a_command_that_is_only_started_has_not_succeeded() {
    let files = folder(&[("p.yaml", POLICY)]);
    for (tool, passed) in [("Bash", true), ("Monitor", false)] {
        let state = tempfile::tempdir().unwrap();
        let event = |name: &str, id: &str, tool: &str, line: &str| {
            json!({"hook_event_name": name, "session_id": "s", "cwd": "/p", "tool_name": tool, "tool_use_id": id,
                "tool_input": {"command": line, "description": "x"}, "tool_response": {"taskId": "t", "timeoutMs": 300_000}})
        };
        assert!(hook(
            files.path(),
            state.path(),
            "claude-code",
            event("PreToolUse", "1", tool, "cargo test")
        ));
        hook(files.path(), state.path(), "claude-code", event("PostToolUse", "1", tool, "cargo test"));
        let push = event("PreToolUse", "2", "Bash", "git push");
        assert_eq!(hook(files.path(), state.path(), "claude-code", push), passed, "{tool}");
        // What it starts is decided as any command.
        let push = event("PreToolUse", "3", "Monitor", "git push");
        assert_eq!(hook(files.path(), state.path(), "claude-code", push), passed, "{tool}");
    }
}
