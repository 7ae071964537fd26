//! What is written in the native form and read again is the same session.

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::select;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::write::Native;
use rulestep_base::session::{Body, Form, MessageKind, Session};
use serde_json::{Value, json};

use super::opened;

/// All that a session says, apart from where it was read and what was odd about that.
pub fn normal(session: &Session) -> Value {
    json!({
        "id": &*session.id,
        "parent": session.parent.as_deref(),
        "context": session.facts.context,
        "variables": session.facts.variables,
        "files": session.facts.files,
        "now": session.facts.now,
        "results": session.facts.results,
        "from_the_middle": session.facts.from_the_middle,
        "offered": session.offered.iter().map(|from| json!({
            "turn": from.turn,
            "tools": from.tools.iter().map(|t| json!([&*t.name, t.description.as_deref(), t.parameters])).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "turns": session.turns.iter().map(|t| {
            json!([t.number, t.messages.start, t.messages.end, t.calls.start, t.calls.end, t.late])
        }).collect::<Vec<_>>(),
        "messages": session.messages.iter().map(|m| {
            let kind = match &m.kind {
                MessageKind::Said => json!("said"),
                MessageKind::Response(turn) => json!({"turn": turn}),
                MessageKind::Result(call, id) => json!({"call": call, "id": id.as_deref()}),
                MessageKind::Operation(operation) => json!(format!("{operation:?}")),
            };
            json!([&*m.role, content(&m.content), m.at, kind])
        }).collect::<Vec<_>>(),
        "calls": session.calls.iter().map(|c| json!({
            "at": c.at, "id": c.id.as_deref(), "tool": &*c.tool, "arguments": arguments(&c.arguments),
            "outcome": c.outcome, "refused": c.refusal.is_some(), "output": content(&c.output),
            "result": c.result, "in_turn": c.in_turn, "time": c.time, "live": c.live, "folder": c.folder,
        })).collect::<Vec<_>>(),
    })
}

/// Arguments that are JSON and no object are written as their text, which means the same.
fn arguments(body: &Body) -> Value {
    match body.parsed() {
        Some(value) if !value.is_object() => json!({"means": value}),
        None if body.form() == Some(Form::Json) => json!({"text": body.shown()}),
        _ => content(body),
    }
}

/// Form and text; JSON without the blanks between its tokens.
fn content(body: &Body) -> Value {
    match body.form() {
        None => Value::Null,
        Some(Form::Text) => json!({"text": body.raw()}),
        // A list of text parts counts as its text elsewhere; here it is the list.
        Some(Form::Json) => match serde_json::from_str::<Value>(body.raw()) {
            Ok(value) => json!({"json": value}),
            Err(_) => json!({"unread": body.raw()}),
        },
    }
}

pub fn again(session: &Session) -> Session {
    let written = serde_json::to_string(&Native(session)).unwrap();
    assert!(!written.contains('\n'), "{written}");
    let (mut sessions, of_file) = opened(written.clone());
    // Results of calls that the recording has not are as suspicious the second time.
    let lost = sessions.iter().flat_map(|session| &session.diagnostics).any(Diagnostic::may_lose_calls);
    assert_eq!((sessions.len(), of_file.len()), (1, usize::from(lost)), "{of_file:?}");
    sessions.remove(0)
}

/// A session is the same when it was written and read again.
pub fn survives(session: &Session, file: &Path) {
    let (again, first) = (normal(&again(session)), normal(session));
    for (key, value) in first.as_object().unwrap() {
        assert_eq!(&again[key], value, "{key} of {} in {}", session.id, file.display());
    }
}

#[test]
fn fixtures_survive() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sessions");
    for file in fixtures.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
        let (sessions, _) = opened(std::fs::read(&file).unwrap());
        assert!(!sessions.is_empty());
        sessions.iter().for_each(|session| survives(session, &file));
    }
}

#[test]
fn a_value_can_be_made_of_it() {
    let (sessions, _) = opened(include_bytes!("../../fixtures/sessions/native.json"));
    let value = serde_json::to_value(Native(&sessions[0])).unwrap();
    assert_eq!(value["messages"][4]["content"], json!({"ok": false}));
    assert_eq!(value["tools_at"], json!([{"turn": 2, "tools": [{"name": "lookup_order"}]}]));
    let calls: Vec<_> = value["messages"][3]["tool_calls"].as_array().unwrap().iter().collect();
    assert_eq!(calls.len(), 3);
    assert_eq!(calls[1]["function"]["arguments"], json!({"order_id": "ORD-9007199254740993"}));
}

fn id() -> impl Strategy<Value = Value> {
    select(vec![json!("a"), json!("b"), json!("c"), json!(""), json!(null), json!(7)])
}

fn anything() -> impl Strategy<Value = Value> {
    select(vec![
        json!(null),
        json!("plain"),
        json!("{\"ok\": true}"),
        json!("Error: no"),
        json!("OBSERVATION:\nERROR:\nno"),
        json!("[permission denied: x]"),
        json!("Tool 'ping' is not available in this context."),
        json!("Tool 'ping' requires: pay"),
        json!("Denied by policy."),
        json!({"ok": [1, 2.50, null]}),
        json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        json!(["\u{1b}[31m", 1e300]),
        json!(false),
        json!({"$serde_json::private::Number": "1"}),
    ])
}

fn at() -> impl Strategy<Value = Value> {
    select(vec![json!(null), json!("2026-05-04T10:00:00.123+02:00"), json!(1_777_888_800), json!("never")])
}

fn call() -> impl Strategy<Value = Value> {
    let arguments = prop_oneof![Just(json!("{}")), Just(json!("{'a': 1}")), Just(json!("")), anything()];
    (id(), select(vec!["ping", "pay"]), arguments, at()).prop_map(|(id, name, arguments, at)| {
        let mut call =
            json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
        if at != json!("never") {
            call["at"] = at;
            call["cwd"] = json!("/elsewhere");
            call["live"] = json!({"decision": "deny", "mode": "shadow", "runs": true, "findings": [{"n": 1.50}],
                "told": null, "policy": "sha256:0", "policy_fault": "no", "took": 0.25});
        }
        call
    })
}

fn message() -> impl Strategy<Value = Value> {
    let flag = || select(vec![json!(null), json!(true), json!(false)]);
    let response = (id(), anything(), prop::collection::vec(call(), 0..4), at());
    let status = select(vec![json!(null), json!(null), json!("running"), json!("odd"), json!("failed")]);
    let result = (id(), anything(), flag(), flag(), at(), status, any::<bool>());
    prop_oneof![
        (select(vec!["user", "system", "developer", "x"]), anything(), at())
            .prop_map(|(role, content, at)| json!({"role": role, "content": content, "at": at})),
        response.prop_map(|(id, content, calls, at)| {
            json!({"role": "assistant", "id": id, "content": content, "tool_calls": calls, "at": at})
        }),
        result.prop_map(|(id, content, error, refused, at, status, late)| {
            json!({"role": "tool", "tool_call_id": id, "content": content, "is_error": error, "refused": refused, "at": at,
                "status": status, "after_siblings": late})
        }),
        (select(vec!["snapshot", "restore", "reset", "burn"]), select(vec![json!("s"), json!(null)]))
            .prop_map(|(op, name)| json!({"role": "policy", "op": op, "name": name})),
    ]
}

pub fn document() -> impl Strategy<Value = Value> {
    let tools = || {
        select(vec![
            json!(null),
            json!([]),
            json!(["ping", {"name": "pay", "description": "d", "parameters": {"type": "object"}}]),
            json!([{"type": "function", "function": {"name": "ping", "parameters": {"$serde_json::x": 1}}}]),
        ])
    };
    let around = (
        select(vec![json!(null), json!({"role": "x", "n": 1.50}), json!([1])]),
        select(vec![json!(null), json!({"a": {"b": 1}})]),
        select(vec![json!(null), json!([]), json!(["a/b"])]),
        select(vec![json!(null), json!("recorded"), json!("absent")]),
        at(),
    );
    let offered = (tools(), tools(), 1..4u32, any::<bool>());
    (around, offered, prop::collection::vec(message(), 1..12)).prop_map(|(around, offered, messages)| {
        let (context, variables, files, results, now) = around;
        let (tools, later, turn, from_the_middle) = offered;
        json!({
            "id": "generated", "context": context, "variables": variables, "files": files, "results": results,
            "now": now, "tools": tools, "tools_at": [{"turn": turn, "tools": later}],
            "from_the_middle": from_the_middle, "messages": messages,
        })
    })
}

proptest! {
    #[test]
    fn any_session_survives(document in document()) {
        let (sessions, _) = opened(document.to_string());
        prop_assert_eq!(sessions.len(), 1);
        let session = &sessions[0];
        prop_assert_eq!(normal(&again(session)), normal(session), "{}", serde_json::to_string(&Native(session)).unwrap());
    }
}
