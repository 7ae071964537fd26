//! Calls of which nothing could be decided, and logs that hide nothing that a decision rests on.

use std::path::Path;

use serde_json::{Value, json};

use super::{fed, live, records};
use crate::cli::folder;

const POLICY: &str = "rules:\n  - {type: never_after, trigger: push, forbidden: deploy}\n  - {type: blocklist, tools: [erase]}\n";

fn hook(state: &Path, policy: &str, more: &[&str], tool: &str, log: Option<&Path>) -> i32 {
    let files = folder(&[("p.yaml", policy)]);
    let arguments = [&["hook", "claude-code", "-p", "p.yaml"], more].concat();
    let event = json!({"session_id": "s", "cwd": "/work", "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": {},
        "tool_use_id": tool, "transcript_path": log});
    fed(live(files.path(), state, &arguments), event.to_string().as_bytes()).status.code().unwrap()
}

fn proposed(state: &Path) -> Vec<Value> {
    let records = records(&state.join("rulestep/live/claude-code/s.jsonl"));
    records.into_iter().filter(|record| record["record"] == "proposed").collect()
}

#[test]
fn a_log_that_lost_calls_denies_only_what_an_earlier_call_may_forbid() {
    let state = tempfile::tempdir().unwrap();
    let log = state.path().join("log.jsonl");
    let said = said_line();
    std::fs::write(&log, format!("{said}\n{{\"type\": \"assistant\", \"mess\n")).unwrap();
    let go = |tool: &str| hook(state.path(), POLICY, &[], tool, Some(&log));
    assert_eq!(["read", "deploy", "erase", "list", "deploy"].map(go), [0, 2, 2, 0, 2]);
    let records = proposed(state.path());
    let said: Vec<_> = records.iter().map(|record| (&record["tool"], &record["runs"])).collect();
    let expected = [("read", true), ("deploy", false), ("erase", false), ("list", true)];
    assert_eq!(
        said[..4],
        expected.map(|(tool, runs)| (json!(tool), json!(runs))).each_ref().map(|(a, b)| (a, b))
    );
    let why = records[1]["told"].as_str().unwrap();
    assert!(why.starts_with("Rulestep could not decide this call: the transcript"), "{why}");
    assert_eq!(records[1]["policy_fault"], records[1]["told"]);
    assert_eq!(records[2]["findings"][0]["code"], "blocklisted");
    // Nothing of the log was taken, so what it holds counts once it can be read.
    let message = |kind: &str, uuid: &str, content: Value| json!({"type": kind, "sessionId": "s", "uuid": uuid, "message": {"role": kind, "id": uuid, "content": content}});
    let made = |id: &str| json!({"type": "tool_use", "id": id, "name": id, "input": {}});
    let done = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "done"});
    let lines = [
        said_line(),
        message("assistant", "a", json!([made("push")])),
        message("user", "b", json!([done("push")])),
        message("assistant", "c", json!(["read", "deploy", "erase", "list"].map(made))),
        message("user", "d", json!(["read", "deploy", "erase", "list"].map(done))),
    ];
    std::fs::write(&log, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    assert_eq!(go("deploy"), 2);
    let last = proposed(state.path()).pop().unwrap();
    assert_eq!((&last["tool"], &last["findings"][0]["code"]), (&json!("deploy"), &json!("after_trigger")));
}

fn said_line() -> Value {
    json!({"type": "user", "sessionId": "s", "uuid": "u", "message": {"role": "user", "content": "go"}})
}

#[test]
fn what_is_answered_without_a_decision_is_in_the_journal() {
    for (more, exit, runs, decision) in [
        (&[][..], 2, json!(false), "deny"),
        (&["--on-error", "ask"], 0, Value::Null, "ask"),
        (&["--on-error", "allow"], 0, json!(true), "allow"),
    ] {
        let state = tempfile::tempdir().unwrap();
        assert_eq!(hook(state.path(), "tool: [", more, "push", None), exit, "{more:?}");
        let records = proposed(state.path());
        let [record] = records.as_slice() else { panic!("{records:?}") };
        assert_eq!((&record["runs"], &record["decision"]), (&runs, &json!(decision)), "{more:?}");
        let why = record["policy_fault"].as_str().unwrap();
        assert!(why.starts_with("Rulestep could not decide this call: "), "{why}");
    }
    // In shadow mode nothing is stopped, and nothing was decided.
    let state = tempfile::tempdir().unwrap();
    assert_eq!(hook(state.path(), "tool: [", &["--shadow"], "push", None), 0);
    assert!(!state.path().join("rulestep/live/claude-code/s.jsonl").exists());
}
