//! Logs of Claude Code in parts, where somebody went back.

use rulestep::engine::Mode;
use serde_json::{Value, json};

use super::{judged, samples};

fn line(kind: &str, name: &str, parent: Option<&str>, message: Value) -> String {
    let line =
        json!({"type": kind, "sessionId": "s", "uuid": name, "parentUuid": parent, "message": message});
    format!("{line}\n")
}

fn response(name: &str, parent: &str, call: &str) -> String {
    let call = json!({"type": "tool_use", "id": call, "name": "Read", "input": {}});
    line("assistant", name, Some(parent), json!({"id": name, "role": "assistant", "content": [call]}))
}

fn answer(name: &str, parent: &str, call: &str) -> String {
    let result = json!({"type": "tool_result", "tool_use_id": call, "content": "fine"});
    line("user", name, Some(parent), json!({"role": "user", "content": [result]}))
}

fn prompt(name: &str, parent: Option<&str>) -> String {
    line("user", name, parent, json!({"role": "user", "content": "go on"}))
}

/// A result that stands before its call is a part of the conversation only as long as the call is one.
#[test]
fn what_was_taken_for_a_call_that_is_left_later_is_read_again() {
    let policy = samples::policy();
    let log = [
        prompt("a", None),
        response("b", "a", "one"),
        answer("c", "b", "two"),
        response("d", "b", "two"),
        prompt("e", Some("b")),
        response("f", "e", "three"),
        answer("g", "f", "three"),
    ];
    let log = log.concat();
    let whole = judged(log.as_bytes(), &policy, Mode::Enforce, None);
    for beyond in [0, 200, 400] {
        assert_eq!(
            judged(log.as_bytes(), &policy, Mode::Enforce, Some(beyond)).0,
            whole.0,
            "beyond {beyond}"
        );
    }
}
