//! The states of a thread of LangGraph, each with all messages so far, are one session.

use serde_json::{Value, json};

use super::opened;

fn human(id: &str) -> Value {
    json!({"type": "human", "id": id, "content": "go"})
}

fn ai(id: &str, call: &str, n: u32) -> Value {
    json!({"type": "ai", "id": id, "content": "", "tool_calls": [{"name": "look", "args": {"n": n}, "id": call, "type": "tool_call"}]})
}

fn tool(id: &str, call: &str) -> Value {
    json!({"type": "tool", "id": id, "tool_call_id": call, "content": "seen", "status": "success"})
}

/// A state as the server of LangGraph gives it.
fn state(n: u32, parent: Option<u32>, messages: &[Value]) -> Value {
    let at = |n: u32| json!({"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": format!("c{n}")});
    let mut values = json!({});
    if !messages.is_empty() {
        values["messages"] = json!(messages);
    }
    json!({"values": values, "next": [], "tasks": [], "metadata": {"step": n}, "checkpoint": at(n),
        "created_at": format!("2026-05-04T10:00:{n:02}+00:00"), "parent_checkpoint": parent.map(at)})
}

/// As `get_state_history` gives it in Python, as an object or a list, in JavaScript, and as a store lists it.
fn forms(state: &Value) -> [Value; 4] {
    let config = |of: &str| match &state[of] {
        Value::Null => Value::Null,
        at => json!({"configurable": at}),
    };
    let (own, parent, at) = (config("checkpoint"), config("parent_checkpoint"), &state["created_at"]);
    let id = &state["checkpoint"]["checkpoint_id"];
    [
        json!({"values": state["values"], "next": [], "config": own, "metadata": {}, "created_at": at, "parent_config": parent, "tasks": []}),
        json!([state["values"], [], own, {}, at, parent, [], []]),
        json!({"values": state["values"], "next": [], "config": own, "metadata": {}, "createdAt": at, "parentConfig": parent}),
        json!({"config": own, "checkpoint": {"v": 4, "id": id, "ts": at, "channel_values": state["values"]}, "metadata": {}, "parent_config": parent}),
    ]
}

/// Each session's id with its calls (the argument, and whether it has a result), and what was said.
fn read(states: &Value) -> (Vec<String>, Vec<String>) {
    let (sessions, told) = opened(states.to_string());
    let mut said: Vec<String> = told.iter().map(|told| told.message.clone()).collect();
    let sessions = sessions.iter().map(|session| {
        said.extend(session.diagnostics.iter().map(|told| told.message.clone()));
        let calls = session.calls.iter().map(|call| {
            let n = call.arguments.raw().trim_matches(|c: char| !c.is_ascii_digit()).to_owned();
            if call.result.is_some() { format!(" {n}") } else { format!(" {n}?") }
        });
        format!("{}:{}", session.id, calls.collect::<String>())
    });
    (sessions.collect(), said)
}

fn grown() -> Vec<Value> {
    let all = [human("1"), ai("2", "a", 1), tool("3", "a"), ai("4", "b", 2), tool("5", "b")];
    (0..=5).rev().map(|n| state(n, n.checked_sub(1), &all[..n as usize])).collect()
}

#[test]
fn a_history_is_one_session_in_every_form_and_order() {
    let states = grown();
    let mut all = vec![json!(states), json!(states.iter().rev().collect::<Vec<_>>())];
    for form in 0..4 {
        all.push(states.iter().map(|state| forms(state)[form].clone()).collect());
    }
    for history in all {
        let (sessions, said) = read(&history);
        assert_eq!((sessions, said), (vec!["t: 1 2".to_owned()], vec![]), "{history}");
    }
    let lines: String = states.iter().map(|state| format!("{state}\n")).collect();
    assert_eq!(opened(lines).0.len(), 1);
    assert_eq!(read(&json!([states[0]])).0, ["t: 1 2"], "the newest one alone has it all");
    // Nobody says which follows which: the longest is the newest.
    let bare: Value = states.iter().map(|state| json!({"values": state["values"], "next": []})).collect();
    let (sessions, _) = read(&bare);
    assert_eq!(sessions.len(), 1);
    assert!(sessions[0].ends_with(": 1 2"), "{sessions:?}");
}

#[test]
fn threads_of_one_file_are_sessions_of_their_own() {
    let mut states = grown();
    let mut other = state(1, None, &[human("1"), ai("9", "z", 7)]);
    other["checkpoint"]["thread_id"] = json!("u");
    states.insert(2, other);
    assert_eq!(read(&json!(states)).0, ["t: 1 2", "u: 7?"]);
}

#[test]
fn what_a_later_state_has_no_more_was_said_all_the_same() {
    // A summary took the place of the first messages.
    let mut states = grown();
    let summary = json!({"type": "system", "id": "s", "content": "summary"});
    states.insert(
        0,
        state(6, Some(5), &[summary, ai("4", "b", 2), tool("5", "b"), ai("6", "c", 3), tool("7", "c")]),
    );
    let (sessions, said) = read(&json!(states));
    assert_eq!(sessions, ["t: 1 2 3"]);
    assert_eq!(
        said,
        ["3 messages of earlier states are not in the newest one; they are read where they were"]
    );
}

#[test]
fn what_was_edited_is_read_as_it_is_in_the_newest_state() {
    let states = [
        state(3, Some(2), &[human("1"), ai("2", "a", 5), tool("3", "a")]),
        state(2, Some(1), &[human("1"), ai("2", "a", 5)]),
        state(1, None, &[human("1"), ai("2", "a", 1)]),
    ];
    let (sessions, said) = read(&json!(states));
    assert_eq!(sessions, ["t: 5"]);
    assert_eq!(said, ["1 message of this state changed later; the newest form is read"]);
}

#[test]
fn what_the_newest_state_does_not_follow_from_is_said() {
    let states = [
        state(4, Some(1), &[human("1"), ai("8", "x", 9), tool("9", "x")]),
        state(3, Some(2), &[human("1"), ai("2", "a", 1), tool("3", "a")]),
        state(2, Some(1), &[human("1"), ai("2", "a", 1)]),
        state(1, None, &[human("1")]),
    ];
    let (sessions, said) = read(&json!(states));
    assert_eq!(sessions, ["t: 9"]);
    assert_eq!(
        said,
        ["2 messages with 1 call on a branch that the newest state does not follow from; the first is here"]
    );
}
