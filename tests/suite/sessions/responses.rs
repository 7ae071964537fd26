//! What ends a response of the model, where all responses have the same id, as gateways give it to them.

use rstest::rstest;
use serde_json::{Value, json};

use super::{opened, told};

fn with(mut line: Value, more: &Value) -> Value {
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    line
}

/// A line of the model with a call.
fn calls(id: &str, more: &Value) -> Value {
    let call = json!({"type": "tool_use", "id": id, "name": "check", "input": {"order": id}});
    let stopped = more.get("stop_reason").cloned().unwrap_or_default();
    let line = json!({"type": "assistant", "message": {"id": "same", "role": "assistant", "content": [call], "stop_reason": stopped}});
    with(line, more)
}

fn user(content: Value, more: &Value) -> Value {
    with(json!({"type": "user", "message": {"role": "user", "content": content}}), more)
}

fn result(id: &str) -> Value {
    user(
        json!([{"type": "tool_result", "tool_use_id": id, "content": "fine", "is_error": false}]),
        &json!({}),
    )
}

/// As lines of a log, which name the one before, or of a stream.
fn lines(lines: Vec<Value>, logged: bool) -> String {
    let line = |(at, line): (usize, Value)| {
        let before = at.checked_sub(1).map(|before| format!("u{before}"));
        let own = match logged {
            true => {
                json!({"uuid": format!("u{at}"), "parentUuid": before, "sessionId": "s", "isSidechain": false,
                "timestamp": "2026-08-01T10:00:01.000Z"})
            }
            false => json!({"uuid": format!("u{at}"), "session_id": "s", "parent_tool_use_id": null}),
        };
        format!("{}\n", with(line, &own))
    };
    lines.into_iter().enumerate().map(line).collect()
}

/// The calls of each turn, and what there is to say.
fn turns(text: String) -> (Vec<usize>, Vec<String>) {
    let (sessions, of_file) = opened(text);
    assert_eq!(sessions.len(), 1);
    let turns = sessions[0].turns.iter().map(|turn| turn.calls.len()).collect();
    (turns, told(&sessions, &of_file))
}

const NONE: Value = Value::Null;

/// Two lines with a call each and the same id, and what stands between them.
#[rstest]
#[case::a_typed_message(vec![result("a"), user(json!("Yes."), &json!({}))], NONE, NONE, 2)]
#[case::a_typed_message_alone(vec![user(json!("Stop."), &json!({}))], json!({"requestId": "r"}), json!({"requestId": "r"}), 2)]
#[case::a_stop_reason(vec![result("a")], json!({"stop_reason": "tool_use"}), NONE, 2)]
#[case::another_request(vec![result("a")], json!({"requestId": "r1"}), json!({"requestId": "r2"}), 2)]
#[case::another_request_at_once(vec![], json!({"requestId": "r1"}), json!({"requestId": "r2"}), 2)]
#[case::the_end_of_the_message(vec![result("a"), json!({"type": "stream_event", "event": {"type": "message_stop"}})], NONE, NONE, 2)]
#[case::the_same_request(vec![result("a")], json!({"requestId": "r"}), json!({"requestId": "r", "stop_reason": "tool_use"}), 1)]
#[case::the_same_request_although_it_stopped(vec![result("a")], json!({"requestId": "r", "stop_reason": "tool_use"}), json!({"requestId": "r"}), 1)]
#[case::nothing(vec![], NONE, NONE, 1)]
#[case::nothing_but_a_stop_reason_on_both(vec![], json!({"stop_reason": "tool_use"}), json!({"stop_reason": "tool_use"}), 1)]
#[case::what_is_not_said(vec![json!({"type": "progress"}), json!({"type": "stream_event", "event": {"type": "content_block_stop"}})], NONE, NONE, 1)]
fn one_id_does_not_make_one_response(
    #[case] between: Vec<Value>,
    #[case] first: Value,
    #[case] second: Value,
    #[case] expected: usize,
    #[values(true, false)] logged: bool,
) {
    let object = |more: Value| if more.is_null() { json!({}) } else { more };
    let mut all = vec![user(json!("Go."), &json!({})), calls("a", &object(first))];
    all.extend(between);
    all.extend([calls("b", &object(second)), result("b")]);
    let (turns, told) = turns(lines(all, logged));
    assert_eq!(turns, if expected == 1 { vec![2] } else { vec![1, 1] });
    assert!(!told.iter().any(|line| line.contains("ambiguous_record")), "{told:?}");
}

/// A result alone tells nothing, since tools run while a response streams; neither does what a program puts in.
#[rstest]
#[case(vec![result("a")])]
#[case(vec![result("a"), user(json!("Note."), &json!({"isMeta": true, "isSynthetic": true}))])]
fn where_nothing_tells_it_is_one_response_with_a_notice(
    #[case] between: Vec<Value>,
    #[values(true, false)] logged: bool,
) {
    let mut all = vec![user(json!("Go."), &json!({})), calls("a", &json!({}))];
    all.extend(between);
    all.extend([calls("b", &json!({})), result("b")]);
    let line = all.len() - 1;
    let (turns, told) = turns(lines(all, logged));
    assert_eq!(turns, [2]);
    let expected =
        format!("some.json:{line}: notice[ambiguous_record]: 1 line of the model has the id of a response");
    assert!(told.iter().any(|line| line.starts_with(&expected)), "{told:?}");
}

/// A line that is written again is no further call, and one that is answered anew is one.
#[rstest]
#[case::written_again(vec![], vec![result("a")], vec![1])]
#[case::written_again_after_its_result(vec![result("a")], vec![], vec![1])]
#[case::answered_anew(vec![result("a")], vec![result("a")], vec![1, 1])]
fn a_call_that_comes_again(
    #[case] between: Vec<Value>,
    #[case] after: Vec<Value>,
    #[case] expected: Vec<usize>,
    #[values(true, false)] logged: bool,
    #[values("tool_use", "")] reason: &str,
) {
    let more = json!({"stop_reason": reason});
    let mut all = vec![user(json!("Go."), &json!({})), calls("a", &more)];
    all.extend(between);
    all.push(calls("a", &more));
    all.extend(after);
    let (turns, told) = turns(lines(all, logged));
    assert_eq!((turns, told), (expected, vec![]));
}

/// A whole session of many responses with one id is as many turns, and costs no more for it.
#[test]
fn a_session_in_which_all_responses_have_one_id() {
    let step = |n: usize| {
        let id = format!("c{n}");
        [calls(&id, &json!({"stop_reason": "tool_use"})), result(&id)]
    };
    let (turns, told) = turns(lines((0..2000).flat_map(step).collect(), true));
    assert_eq!((turns, told), (vec![1; 2000], vec![]));
}

/// OpenHands proposes all calls of a response before it runs one of them.
#[test]
fn a_result_ends_a_response_of_openhands() {
    let call = |id: &str| {
        json!({"kind": "ActionEvent", "id": format!("e{id}"), "source": "agent", "tool_name": "t", "tool_call_id": id,
            "action": {"command": id}, "llm_response_id": "same"})
    };
    let result = |kind: &str, id: &str| {
        json!({"kind": kind, "source": "environment", "tool_call_id": id, "action_id": format!("e{id}"),
            "observation": {"content": [{"type": "text", "text": "x"}]}, "error": "x", "rejection_reason": "x"})
    };
    for (kind, expected) in [
        ("ObservationEvent", vec![1, 1]),
        ("UserRejectObservation", vec![1, 1]),
        ("AgentErrorEvent", vec![2]),
    ] {
        let all = json!([call("a"), result(kind, "a"), call("b"), result("ObservationEvent", "b")]);
        assert_eq!(turns(all.to_string()), (expected, vec![]), "{kind}");
    }
    let all = json!([call("a"), call("b"), result("ObservationEvent", "a"), result("ObservationEvent", "b")]);
    assert_eq!(turns(all.to_string()), (vec![2], vec![]));
}

/// Its older events have the whole response beside each call.
#[test]
fn a_call_of_openhands_is_of_the_response_that_has_it() {
    let run = |own: &[&str], id: &str, n: usize| {
        let calls: Vec<_> = own
            .iter()
            .map(|id| json!({"id": id, "type": "function", "function": {"name": "run", "arguments": json!({"command": id}).to_string()}}))
            .collect();
        let response =
            json!({"id": "same", "choices": [{"message": {"role": "assistant", "tool_calls": calls}}]});
        let call = json!({"id": n, "source": "agent", "action": "run", "args": {"command": id},
            "tool_call_metadata": {"tool_call_id": id, "function_name": "run", "model_response": response}});
        let result = json!({"id": n + 1, "source": "agent", "cause": n, "observation": "run", "content": "x", "extras": {"exit_code": 0}});
        [call, result]
    };
    let all = |first: &[&str], second: &[&str]| {
        json!([run(first, "a", 1), run(second, "b", 3)].concat()).to_string()
    };
    assert_eq!(turns(all(&["a"], &["b"])), (vec![1, 1], vec![]));
    assert_eq!(turns(all(&["a", "b"], &["a", "b"])), (vec![2], vec![]));
}
