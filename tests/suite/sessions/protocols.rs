//! Logs of protocols between an agent and what it works for.

use rulestep_base::session::Outcome;
use serde_json::{Value, json};

use super::losses::losses;
use super::opened;

fn update(session: &str, update: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}})
}

fn lines(messages: &[Value]) -> String {
    messages.iter().map(|message| format!("{message}\n")).collect()
}

/// The calls of each session: turn, tool, arguments and outcome.
fn calls(text: &str) -> Vec<Vec<(u32, String, String, Outcome)>> {
    let (sessions, _) = opened(text.to_owned());
    let of = |session: &rulestep_base::session::Session| {
        let calls = session.calls.iter();
        let call = |call: &rulestep_base::session::Call| {
            (call.at.turn, call.tool.to_string(), call.arguments.raw().to_owned(), call.outcome)
        };
        calls.map(call).collect()
    };
    sessions.iter().map(of).collect()
}

/// Sessions of one connection stand among each other, and answers to requests name none.
#[test]
fn sessions_of_one_connection_are_told_apart() {
    let call = |id: &str, command: &str| json!({"sessionUpdate": "tool_call", "toolCallId": id, "kind": "execute", "title": "run", "rawInput": {"command": command}});
    let ask = |id: u32, session: &str, call: &str| {
        json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": {"sessionId": session,
            "toolCall": {"toolCallId": call}, "options": [{"optionId": "0", "kind": "allow_once"}, {"optionId": "1", "kind": "reject_always"}]}})
    };
    let answer =
        |id: u32, outcome: Value| json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": outcome}});
    let ended = |id: &str, status: &str| json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status});
    let log = [
        update("a", call("1", "make")),
        update("b", call("1", "rm x")),
        ask(7, "a", "1"),
        ask(8, "b", "1"),
        answer(8, json!({"outcome": "selected", "optionId": "1"})),
        answer(7, json!({"outcome": "selected", "optionId": "0"})),
        update("b", ended("1", "failed")),
        update("a", ended("1", "completed")),
        update("a", call("2", "make -k")),
        update("a", call("3", "ls")),
        update("a", ended("3", "completed")),
        ask(9, "a", "2"),
        answer(9, json!({"outcome": "cancelled"})),
    ];
    let wanted = vec![
        vec![
            (1, "execute".to_owned(), "{\"command\":\"make\"}".to_owned(), Outcome::Ok),
            (2, "execute".to_owned(), "{\"command\":\"make -k\"}".to_owned(), Outcome::Refused),
            (2, "execute".to_owned(), "{\"command\":\"ls\"}".to_owned(), Outcome::Ok),
        ],
        vec![(1, "execute".to_owned(), "{\"command\":\"rm x\"}".to_owned(), Outcome::Refused)],
    ];
    assert_eq!(calls(&lines(&log)), wanted);
    let wrapped =
        log.clone().map(|message| json!({"direction": "in", "ts": 1_777_888_800, "message": message}));
    assert_eq!(calls(&lines(&wrapped)), wanted);
    assert_eq!(losses(&lines(&log)), [] as [(_, _); 0]);
}

/// What a call is made with may come after it, and what it gives back in pieces.
#[test]
fn updates_of_a_call_are_put_together() {
    let told = |status: &str, more: Value| {
        let mut told = json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": status});
        told.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        update("s", told)
    };
    let chunk = |text: &str| {
        update(
            "s",
            json!({"sessionUpdate": "tool_call_content_chunk", "toolCallId": "1",
            "content": {"type": "content", "content": {"type": "text", "text": text}}}),
        )
    };
    let log = [
        told("pending", json!({"name": "read_file", "title": "Read", "kind": "read"})),
        told("in_progress", json!({"rawInput": {"path": "a"}})),
        chunk("one "),
        chunk("two"),
        told("completed", json!({})),
    ];
    let (sessions, _) = opened(lines(&log));
    assert_eq!(calls(&lines(&log)), [[(1, "read_file".into(), "{\"path\":\"a\"}".into(), Outcome::Ok)]]);
    assert_eq!(sessions[0].calls[0].output.shown(), "one two");
}

/// Updates of a kind that nobody knows are a notice, unless they look like a call.
#[test]
fn unknown_updates_are_a_loss_only_if_they_may_be_calls() {
    let log = |more: Value| {
        let known =
            json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hi"}});
        lines(&[update("s", known), update("s", more)])
    };
    for (more, lost) in [
        (json!({"sessionUpdate": "mood_update", "mood": "good"}), 0),
        (json!({"sessionUpdate": "tool_use", "name": "rm", "input": {"path": "x"}}), 1),
    ] {
        let lost_calls = losses(&log(more.clone()));
        let lost_calls =
            lost_calls.iter().filter(|(loss, _)| *loss == rulestep_base::diagnostic::Loss::MayHoldCalls);
        assert_eq!(lost_calls.count(), lost, "{more}");
    }
}
