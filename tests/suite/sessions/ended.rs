//! By which words and keys a result says that its call failed, was refused, or has not ended.

use rulestep::internals::session::Outcome;
use rulestep::internals::session::write::Native;
use serde_json::{Value, json};

use super::losses::losses;
use super::{opened, told};

fn with(mut object: Value, more: &Value) -> Value {
    object.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    object
}

fn chat(more: &Value) -> Value {
    let call = json!({"id": "1", "function": {"name": "b", "arguments": "{}"}});
    let result = with(json!({"role": "tool", "tool_call_id": "1", "content": "x"}), more);
    json!({"id": "s", "messages": [{"role": "assistant", "tool_calls": [call]}, result]})
}

#[test]
fn results_in_the_chat_form_are_marked_in_many_ways() {
    for (more, outcome) in [
        (json!({}), Outcome::Ok),
        (json!({"isError": true}), Outcome::Error),
        (json!({"isError": false}), Outcome::Ok),
        (json!({"is_error": false, "isError": true}), Outcome::Error),
        (json!({"status": "success"}), Outcome::Ok),
        (json!({"status": "completed"}), Outcome::Ok),
        (json!({"status": "ok"}), Outcome::Ok),
        (json!({"status": "Done"}), Outcome::Ok),
        (json!({"status": "error"}), Outcome::Error),
        (json!({"status": "failed"}), Outcome::Error),
        (json!({"status": "failure"}), Outcome::Error),
        (json!({"status": "cancelled"}), Outcome::Error),
        (json!({"status": "canceled"}), Outcome::Error),
        (json!({"status": "timeout"}), Outcome::Error),
        (json!({"status": "timed_out"}), Outcome::Error),
        (json!({"status": "failed", "is_error": false}), Outcome::Error),
        (json!({"status": "denied"}), Outcome::Refused),
        (json!({"status": "rejected"}), Outcome::Refused),
        (json!({"status": "running"}), Outcome::Unknown),
        (json!({"status": "pending"}), Outcome::Unknown),
        (json!({"status": "partial"}), Outcome::Unknown),
        (json!({"status": "partial", "is_error": false}), Outcome::Ok),
        (json!({"status": "partial", "is_error": true}), Outcome::Error),
        (json!({"success": false}), Outcome::Error),
        (json!({"success": true}), Outcome::Ok),
        (json!({"ok": false}), Outcome::Error),
        (json!({"ok": "false"}), Outcome::Error),
        (json!({"error": "no"}), Outcome::Error),
    ] {
        let text = chat(&more).to_string();
        let (sessions, _) = opened(text.clone());
        assert_eq!((sessions[0].calls[0].outcome, losses(&text)), (outcome, vec![]), "{more}");
        // What is written says the same.
        let written = serde_json::to_string(&Native(&sessions[0])).unwrap();
        assert_eq!(opened(written.clone()).0[0].calls[0].outcome, outcome, "{written}");
    }
}

/// A status that nobody knows is said once a session, and a later result still finds its call.
#[test]
fn an_unknown_status_is_no_success_and_is_told_once() {
    let call = |id: &str| json!({"id": id, "function": {"name": "b", "arguments": "{}"}});
    let result = |id: &str, status: &str| json!({"role": "tool", "tool_call_id": id, "content": "x", "status": status});
    let messages = json!([
        {"role": "assistant", "tool_calls": [call("1"), call("2")]},
        result("1", "odd"), result("2", "odder"), result("2", "success"),
    ]);
    let (sessions, of_file) = opened(json!({"messages": messages}).to_string());
    let outcomes: Vec<_> = sessions[0].calls.iter().map(|call| call.outcome).collect();
    assert_eq!(outcomes, [Outcome::Unknown, Outcome::Ok]);
    let said = told(&sessions, &of_file);
    let unknown = "some.json:1: warning[damaged_record]: it is not known what the status `odd` of a result means; its call \
                   counts as one without a result";
    assert_eq!(said.iter().filter(|line| line.contains("status")).collect::<Vec<_>>(), [unknown]);
}

#[test]
fn results_among_blocks_are_marked_in_both_spellings() {
    for (more, outcome) in [
        (json!({}), Outcome::Ok),
        (json!({"is_error": true}), Outcome::Error),
        (json!({"isError": true}), Outcome::Error),
        (json!({"isError": false}), Outcome::Ok),
        (json!({"status": "failed"}), Outcome::Error),
        (json!({"status": "success"}), Outcome::Ok),
    ] {
        let result = with(json!({"type": "tool_result", "tool_use_id": "1", "content": "x"}), &more);
        let messages = json!([
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "b", "input": {}}]},
            {"role": "user", "content": [result]},
        ]);
        let (sessions, _) = opened(json!({"messages": messages}).to_string());
        assert_eq!(sessions[0].calls[0].outcome, outcome, "{more}");
    }
}

/// Whoever names its parent is a subagent, for which rules may be others.
#[test]
fn a_parent_is_known_by_every_spelling() {
    for key in ["parent", "parent_id", "parentId", "parentID", "parent_session_id", "parentSessionId"] {
        let (sessions, _) = opened(with(chat(&json!({})), &json!({key: "p"})).to_string());
        assert_eq!((sessions[0].parent.as_deref(), sessions[0].facts.subagent), (Some("p"), true), "{key}");
    }
    let (sessions, _) = opened(with(chat(&json!({})), &json!({"parent_id": null})).to_string());
    assert_eq!((sessions[0].parent.as_deref(), sessions[0].facts.subagent), (None, false));
}
