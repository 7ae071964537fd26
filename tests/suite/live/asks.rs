//! Calls that a person is asked about: what agents are answered, and what the journal keeps.

use std::path::Path;

use rstest::rstest;
use serde_json::{Value, json};

use super::{fed, live, records};
use crate::cli::folder;

const POLICY: &str =
    "tool: push\npreconditions:\n  - {requires_prior_tool: test, effect: ask, tell: Run the tests first.}\n";
const SHADOW: &str = "tool: push\npreconditions:\n  - {requires_prior_tool: test, mode: shadow}\n";

/// Exit code and standard output of one event.
fn answer(state: &Path, agent: &str, policy: &str, more: &[&str], event: &str, id: &str) -> (i32, Value) {
    let files = folder(&[("p.yaml", policy)]);
    let arguments = [&["hook", agent, "-p", "p.yaml"], more].concat();
    let event = json!({"session_id": "s", "cwd": "/work", "hook_event_name": event, "tool_name": "push",
        "tool_input": {}, "tool_use_id": id, "tool_response": "pushed"});
    let output = fed(live(files.path(), state, &arguments), event.to_string().as_bytes());
    let said = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (output.status.code().unwrap(), said)
}

fn journal(state: &Path, agent: &str) -> Vec<Value> {
    let records = records(&state.join("rulestep/live").join(agent).join("s.jsonl"));
    records.into_iter().filter(|record| record["tool"] == "push").collect()
}

#[test]
fn an_agent_that_can_ask_asks_its_user() {
    let state = tempfile::tempdir().unwrap();
    let ask = |id: &str| answer(state.path(), "claude-code", POLICY, &[], "PreToolUse", id);
    let (exit, said) = ask("c1");
    let specific = &said["hookSpecificOutput"];
    assert_eq!((exit, &specific["permissionDecision"]), (0, &json!("ask")));
    let reason = specific["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.starts_with("Rulestep asks about this call: Run the tests first. ("), "{reason}");
    // An event that comes twice is answered alike, and nobody takes the first answer for an agreement.
    assert_eq!(ask("c1"), (exit, said.clone()));
    let first = journal(state.path(), "claude-code");
    let [first] = first.as_slice() else { panic!("{first:?}") };
    assert_eq!((&first["decision"], &first["runs"]), (&json!("ask"), &Value::Null));
    assert_eq!(answer(state.path(), "claude-code", POLICY, &[], "PostToolUse", "c1").0, 0);
    // The journal is a recording: the user agreed, so the call ran.
    let files = folder(&[("p.yaml", POLICY)]);
    let file = state.path().join("rulestep/live/claude-code/s.jsonl");
    let arguments = ["replay", file.to_str().unwrap(), "-p", "p.yaml", "--format", "json"];
    let replayed = live(files.path(), state.path(), &arguments).output().unwrap();
    let first: Value =
        serde_json::from_slice(replayed.stdout.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
    let call = &first["turns"][0]["calls"][0];
    assert_eq!(
        (&call["decision"], &call["recorded"], &call["agrees"]),
        (&json!("ask"), &json!("ok"), &json!(true))
    );
    assert_eq!(replayed.status.code(), Some(0));
}

/// Where nobody can be asked, the call does not run, and the journal says so.
#[rstest]
#[case("claude-code", "PreToolUse", &["--on-ask", "deny"])]
#[case("codex", "PreToolUse", &[])]
#[case("gemini-cli", "BeforeTool", &[])]
#[case("qwen-code", "PreToolUse", &[])]
#[case("cursor", "preToolUse", &[])]
fn without_anybody_to_ask_it_is_denied(#[case] agent: &str, #[case] event: &str, #[case] more: &[&str]) {
    let state = tempfile::tempdir().unwrap();
    let (exit, said) = answer(state.path(), agent, POLICY, more, event, "c1");
    assert_eq!(exit, if agent == "cursor" { 0 } else { 2 }, "{said}");
    assert!(said.to_string().contains("Run the tests first."), "{said}");
    assert!(said.to_string().contains(r#":"deny""#), "{said}");
    assert!(!said.to_string().contains("ask"), "{said}");
    let record = &journal(state.path(), agent)[0];
    assert_eq!((&record["decision"], &record["runs"]), (&json!("ask"), &json!(false)));
    // It is answered alike when the event comes again.
    assert_eq!(answer(state.path(), agent, POLICY, more, event, "c1"), (exit, said));
}

/// Agents take an answer that asks for permission where they do not ask.
#[rstest]
#[case("claude-code", json!({"hook_event_name": "PreToolUse", "permission_mode": "auto"}), false)]
#[case("claude-code", json!({"hook_event_name": "PreToolUse", "permission_mode": "default"}), true)]
#[case("claude-code", json!({"hook_event_name": "PreToolUse", "permission_mode": "bypassPermissions"}), true)]
#[case("cursor", json!({"hook_event_name": "preToolUse"}), false)]
#[case("cursor", json!({"hook_event_name": "beforeMCPExecution"}), true)]
#[case("cursor", json!({"hook_event_name": "beforeShellExecution", "command": "push"}), true)]
#[case("cursor", json!({"hook_event_name": "beforeReadFile", "file_path": "x"}), false)]
fn where_an_agent_does_not_ask_the_call_is_denied(
    #[case] agent: &str,
    #[case] more: Value,
    #[case] asks: bool,
) {
    let push = "{tool: push, preconditions: [{requires_prior_tool: test, effect: ask}]}\n";
    let others = push.replace("push", "Shell") + "---\n" + &push.replace("push", "Read");
    for (policy, arguments) in
        [(format!("{push}---\n{others}"), &[][..]), ("tool: [".to_owned(), &["--on-error", "ask"])]
    {
        let (state, files) = (tempfile::tempdir().unwrap(), folder(&[("p.yaml", &*policy)]));
        let mut event = json!({"session_id": "s", "cwd": "/work", "tool_name": "push", "tool_input": {}, "tool_use_id": "c1"});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let hook = [&["hook", agent, "-p", "p.yaml"], arguments].concat();
        let output = fed(live(files.path(), state.path(), &hook), event.to_string().as_bytes());
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(said.contains(r#":"ask""#), asks, "{said}");
        assert_eq!(said.contains(r#":"deny""#), !asks, "{said}");
        if arguments.is_empty() {
            let records = records(&state.path().join("rulestep/live").join(agent).join("s.jsonl"));
            let proposed = records.iter().find(|record| record["record"] == "proposed").unwrap();
            let runs = if asks { Value::Null } else { json!(false) };
            assert_eq!((&proposed["decision"], &proposed["runs"]), (&json!("ask"), &runs));
        }
    }
}

#[test]
fn a_rule_in_shadow_mode_says_nothing_and_is_journalled() {
    let state = tempfile::tempdir().unwrap();
    let said = answer(state.path(), "claude-code", SHADOW, &[], "PreToolUse", "c1");
    assert_eq!(said, (0, Value::Null));
    let record = &journal(state.path(), "claude-code")[0];
    assert_eq!((&record["decision"], &record["runs"]), (&json!("allow"), &json!(true)));
    let finding = &record["findings"][0];
    assert_eq!((&finding["effect"], &finding["would"]), (&json!("report"), &json!("deny")));
}

/// What the journal says became of the call `c1`.
fn ends(state: &Path, agent: &str) -> Vec<Value> {
    let records = records(&state.join("rulestep/live").join(agent).join("s.jsonl"));
    records
        .into_iter()
        .filter(|record| record["record"] == "resolved")
        .map(|record| record["outcome"].clone())
        .collect()
}

/// Claude Code says nothing when its user declines, and its log does.
#[rstest]
#[case("UserPromptSubmit", "User rejected tool use", "refused")]
#[case("SessionEnd", "User rejected tool use", "refused")]
// Any tool may print these words.
#[case("SessionEnd", "Error: no", "error")]
fn a_declined_call_ends_with_the_next_event(#[case] event: &str, #[case] mark: &str, #[case] expected: &str) {
    let state = tempfile::tempdir().unwrap();
    let files = folder(&[("p.yaml", POLICY)]);
    let log = state.path().join("log.jsonl");
    let line = |kind: &str, content: Value| {
        json!({"type": kind, "sessionId": "s", "uuid": kind, "cwd": "/work", "timestamp": "2026-05-04T10:00:00.000Z",
            "message": {"role": kind, "id": "m1", "content": content}})
    };
    let said = line("user", json!("push it")).to_string();
    let asked =
        line("assistant", json!([{"type": "tool_use", "id": "c1", "name": "push", "input": {}}])).to_string();
    let mut declined = line(
        "user",
        json!([{"type": "tool_result", "tool_use_id": "c1", "is_error": true, "content":
        "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."}]),
    );
    declined["toolUseResult"] = json!(mark);
    let hook = |event: &str| {
        let event = json!({"session_id": "s", "cwd": "/work", "hook_event_name": event, "tool_name": "push", "tool_input": {},
            "tool_use_id": "c1", "transcript_path": log, "prompt": "rather not"});
        fed(
            live(files.path(), state.path(), &["hook", "claude-code", "-p", "p.yaml"]),
            event.to_string().as_bytes(),
        );
    };
    std::fs::write(&log, format!("{said}\n")).unwrap();
    hook("PreToolUse");
    // A log that says nothing of it yet leaves it in flight.
    hook(event);
    assert_eq!(ends(state.path(), "claude-code"), [] as [Value; 0]);
    std::fs::write(&log, format!("{said}\n{asked}\n{declined}\n")).unwrap();
    hook(event);
    hook(event);
    assert_eq!(ends(state.path(), "claude-code"), [json!(expected)]);
}

/// Without a screen nobody answers, and the log has what the gate asked in place of a result.
#[test]
fn a_question_that_nobody_was_there_to_answer_is_a_refusal() {
    for (same, expected) in [(true, "refused"), (false, "error")] {
        let state = tempfile::tempdir().unwrap();
        let files = folder(&[("p.yaml", POLICY)]);
        let log = state.path().join("log.jsonl");
        let line = |kind: &str, content: Value| {
            json!({"type": kind, "sessionId": "s", "uuid": kind, "cwd": "/work", "timestamp": "2026-05-04T10:00:00.000Z",
                "message": {"role": kind, "id": "m1", "content": content}})
        };
        let asked = line("assistant", json!([{"type": "tool_use", "id": "c1", "name": "push", "input": {}}]));
        std::fs::write(&log, format!("{asked}\n")).unwrap();
        let event = |name: &str| {
            let event = json!({"session_id": "s", "cwd": "/work", "hook_event_name": name, "tool_name": "push", "tool_input": {},
                "tool_use_id": "c1", "transcript_path": log});
            let hook = live(files.path(), state.path(), &["hook", "claude-code", "-p", "p.yaml"]);
            fed(hook, event.to_string().as_bytes())
        };
        let answer: Value = serde_json::from_slice(&event("PreToolUse").stdout).unwrap();
        let reason = answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap().to_owned();
        let told = if same { reason } else { format!("{reason} It ran.") };
        let mut result = line(
            "user",
            json!([{"type": "tool_result", "tool_use_id": "c1", "is_error": true, "content": told}]),
        );
        result["toolUseResult"] = json!(format!("Error: {told}"));
        std::fs::write(&log, format!("{asked}\n{result}\n")).unwrap();
        event("SessionEnd");
        assert_eq!(ends(state.path(), "claude-code"), [json!(expected)]);
    }
}

/// A call that ran when the session was killed has no result, and may have done what it was for.
#[test]
fn a_call_that_was_running_counts_after_the_session_is_resumed() {
    let policy = "rules:\n  - {type: never_after, trigger: push, forbidden: deploy}\n";
    let line = |kind: &str, uuid: &str, content: Value| {
        json!({"type": kind, "sessionId": "s", "uuid": uuid, "cwd": "/work", "timestamp": "2026-05-04T10:00:00.000Z",
            "message": {"role": kind, "id": uuid, "content": content}})
        .to_string()
    };
    let said = line("user", "u1", json!("push it"));
    let push =
        line("assistant", "m1", json!([{"type": "tool_use", "id": "c1", "name": "push", "input": {}}]));
    let again = line("user", "u2", json!("go on"));
    for (lines, denied) in [(vec![&said, &push, &again], true), (vec![&said, &again], false)] {
        let (state, files) = (tempfile::tempdir().unwrap(), folder(&[("p.yaml", policy)]));
        let log = state.path().join("log.jsonl");
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&log, lines).unwrap();
        let event = json!({"session_id": "s", "cwd": "/work", "hook_event_name": "PreToolUse", "tool_name": "deploy", "tool_input": {},
            "tool_use_id": "c2", "transcript_path": log});
        let hook = live(files.path(), state.path(), &["hook", "claude-code", "-p", "p.yaml"]);
        let output = fed(hook, event.to_string().as_bytes());
        assert_eq!(output.status.code() == Some(2), denied, "{output:?}");
    }
}

#[rstest]
#[case("claude-code", "PreToolUse", "PermissionDenied", &["refused"])]
#[case("cursor", "preToolUse", "postToolUseFailure", &["refused"])]
fn an_event_that_says_so_ends_a_declined_call(
    #[case] agent: &str,
    #[case] before: &str,
    #[case] after: &str,
    #[case] expected: &[&str],
) {
    let state = tempfile::tempdir().unwrap();
    // The policy lets it run, and the agent's own prompt is declined.
    let policy = POLICY.replace("tool: push", "tool: other");
    answer(state.path(), agent, &policy, &[], before, "c1");
    let files = folder(&[("p.yaml", &*policy)]);
    let event = json!({"session_id": "s", "conversation_id": "s", "cwd": "/work", "hook_event_name": after, "tool_name": "push",
        "tool_input": {}, "tool_use_id": "c1", "reason": "no", "error_message": "no", "failure_type": "permission_denied"});
    let output =
        fed(live(files.path(), state.path(), &["hook", agent, "-p", "p.yaml"]), event.to_string().as_bytes());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(ends(state.path(), agent), expected);
}
