//! Traces of agents, case by case: what spans add up to.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate::session::Session;

use super::{opened, told};

/// A span of trace `t`: its id, its parent's (`-` for none), when it began and ended, and its attributes.
fn span(id: &str, parent: &str, from: u64, to: u64, attributes: Value) -> Value {
    let at = |at: u64| (1_777_888_800_000_000_000 + at * 1_000_000).to_string();
    let attributes: Vec<_> = attributes
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| json!({"key": key, "value": {"stringValue": value}}))
        .collect();
    let parent = if parent == "-" { "" } else { parent };
    json!({"traceId": "t", "spanId": id, "parentSpanId": parent, "name": id, "startTimeUnixNano": at(from),
           "endTimeUnixNano": at(to), "attributes": attributes})
}

fn agent(id: &str, parent: &str, from: u64, to: u64) -> Value {
    span(id, parent, from, to, json!({"gen_ai.operation.name": "invoke_agent"}))
}

fn model(id: &str, parent: &str, from: u64, to: u64) -> Value {
    span(id, parent, from, to, json!({"gen_ai.operation.name": "chat"}))
}

fn tool(id: &str, parent: &str, from: u64, to: u64) -> Value {
    let about = json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": id, "gen_ai.tool.call.result": "r"});
    span(id, parent, from, to, about)
}

fn request(spans: &[Value]) -> String {
    json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).to_string()
}

/// The tools of each turn, `-` for none, and of calls that did not go well what became of them.
fn turns(session: &Session) -> String {
    let mut text = String::new();
    for turn in &session.turns {
        let calls = session.calls_of(turn).iter().map(|call| match call.outcome.word() {
            "ok" => call.tool.to_string(),
            outcome => format!("{}:{outcome}", call.tool),
        });
        let calls: Vec<_> = calls.collect();
        let calls = if calls.is_empty() { "-".to_owned() } else { calls.join("+") };
        write!(text, "{}{calls}", if text.is_empty() { "" } else { " " }).unwrap();
    }
    text
}

#[test]
fn turns_follow_from_parents_and_times() {
    let run = || agent("run", "-", 0, 100);
    for (what, spans, expected) in [
        (
            "calls after one response",
            vec![
                run(),
                model("m", "run", 1, 5),
                tool("a", "run", 6, 8),
                tool("b", "run", 9, 10),
                model("n", "run", 11, 12),
            ],
            "a+b -",
        ),
        (
            "calls between two responses",
            vec![
                model("n", "run", 20, 30),
                tool("b", "run", 31, 40),
                run(),
                model("m", "run", 1, 5),
                tool("a", "run", 6, 8),
            ],
            "a b",
        ),
        ("within the request", vec![run(), model("m", "run", 1, 50), tool("a", "m", 10, 20)], "a"),
        (
            "no model, overlapping",
            vec![tool("a", "run", 1, 10), tool("b", "run", 5, 15), tool("c", "run", 15, 20)],
            "a+b c",
        ),
        ("no model, other parents", vec![tool("a", "x", 1, 10), tool("b", "y", 5, 15)], "a b"),
        (
            "a request within a request",
            vec![run(), model("m", "run", 1, 9), model("n", "m", 2, 8), tool("a", "run", 10, 11)],
            "a",
        ),
        (
            "requests within a request",
            vec![
                model("loop", "-", 0, 90),
                model("m", "loop", 1, 9),
                tool("a", "loop", 10, 11),
                model("n", "loop", 12, 20),
            ],
            "a -",
        ),
        (
            "an agent as a tool",
            vec![
                run(),
                model("m", "run", 1, 5),
                tool("ask", "run", 6, 50),
                agent("sub", "ask", 7, 49),
                model("n", "sub", 8, 10),
                tool("a", "sub", 11, 12),
                model("o", "run", 51, 60),
            ],
            "ask a -",
        ),
        (
            "what lies between does not matter",
            vec![
                run(),
                span("step", "run", 1, 9, json!({})),
                model("m", "step", 1, 5),
                tool("a", "step", 6, 8),
            ],
            "a",
        ),
        (
            "an agent beside the other",
            vec![
                run(),
                agent("sub", "run", 10, 50),
                model("m", "run", 1, 5),
                model("n", "sub", 11, 12),
                tool("a", "sub", 13, 14),
                tool("b", "run", 51, 52),
            ],
            "b a",
        ),
        ("parents in a circle", vec![model("m", "a", 1, 5), tool("a", "m", 6, 8)], "a"),
        ("its own parent", vec![tool("a", "a", 6, 8)], "a"),
        ("parents that are not there", vec![model("m", "gone", 1, 5), tool("a", "gone", 6, 8)], "a"),
    ] {
        let (sessions, of_file) = opened(request(&spans));
        assert_eq!(sessions.iter().map(turns).collect::<Vec<_>>(), [expected], "{what}");
        assert_eq!(told(&sessions, &of_file), [""; 0], "{what}");
        // The order in the file means nothing.
        let reversed: Vec<Value> = spans.into_iter().rev().collect();
        assert_eq!(opened(request(&reversed)).0.iter().map(turns).collect::<Vec<_>>(), [expected], "{what}");
    }
}

#[test]
fn spans_of_one_call_are_one() {
    let with = |id: &str, parent: &str, from: u64, to: u64, about: Value| {
        let mut all = json!({"gen_ai.tool.name": "read", "mcp.method.name": "tools/call"});
        all.as_object_mut().unwrap().extend(about.as_object().unwrap().clone());
        span(id, parent, from, to, all)
    };
    let server = with("server", "client", 2, 8, json!({"gen_ai.tool.call.result": "A"}));
    let client = with("client", "-", 1, 9, json!({"gen_ai.tool.call.arguments": "{\"path\": \"a\"}"}));
    let (sessions, _) = opened(request(&[server.clone(), client.clone(), client]));
    assert_eq!(sessions.iter().map(turns).collect::<Vec<_>>(), ["read"]);
    let call = &sessions[0].calls[0];
    assert_eq!((call.arguments.raw(), call.output.raw()), ("{\"path\": \"a\"}", "A"));
    let other = with("client", "-", 1, 9, json!({"gen_ai.tool.call.arguments": "{\"path\": \"b\"}"}));
    let inner = with("server", "client", 2, 8, json!({"gen_ai.tool.call.arguments": "{\"path\": \"a\"}"}));
    assert_eq!(opened(request(&[other, inner])).0[0].calls.len(), 2, "other arguments are another call");
}

#[test]
fn answers_and_spans_are_matched() {
    let said = |id: &str, calls: Value, from: u64| {
        let parts = json!([{"role": "assistant", "parts": calls}]).to_string();
        span(
            id,
            "run",
            from,
            from + 2,
            json!({"gen_ai.operation.name": "chat", "gen_ai.output.messages": parts}),
        )
    };
    let call = |id: Value, name: &str| json!({"type": "tool_call", "id": id, "name": name, "arguments": {}});
    let made = |id: &str, name: &str, from: u64| {
        let about = json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.call.id": id, "gen_ai.tool.call.result": "r"});
        span(&format!("{id}{name}"), "elsewhere", from, from + 1, about)
    };
    for (what, spans, expected) in [
        (
            "by id, wherever it was made",
            vec![
                said("m", json!([call(json!("1"), "a")]), 1),
                said("n", json!([call(json!("2"), "b")]), 5),
                made("2", "b", 8),
                made("1", "a", 9),
            ],
            "a b",
        ),
        (
            "in the order of the answer",
            vec![
                said("m", json!([call(json!("1"), "a"), call(json!("2"), "b")]), 1),
                made("2", "b", 4),
                made("1", "a", 6),
            ],
            "a+b",
        ),
        ("by name", vec![said("m", json!([call(Value::Null, "x")]), 1), tool("x", "run", 4, 5)], "x"),
        (
            "a handoff, which no tool runs",
            vec![said("m", json!([call(json!("h"), "transfer_to_billing")]), 1), said("n", json!([]), 5)],
            "transfer_to_billing:unknown -",
        ),
    ] {
        let (sessions, _) = opened(request(&spans));
        assert_eq!(sessions.iter().map(turns).collect::<Vec<_>>(), [expected], "{what}");
    }
}

#[test]
fn events_may_stand_apart_from_their_spans() {
    let record = |name: &str, body: Value| {
        let body: Vec<_> = body
            .as_object()
            .unwrap()
            .iter()
            .map(|(key, value)| json!({"key": key, "value": {"stringValue": value}}))
            .collect();
        json!({"traceId": "t", "spanId": "m", "eventName": name, "body": {"kvlistValue": {"values": body}}})
    };
    let logs = [
        record("gen_ai.user.message", json!({"content": "hi"})),
        record("gen_ai.choice", json!({"content": "hello"})),
    ];
    let both = json!({"resourceLogs": [{"scopeLogs": [{"logRecords": logs}]}], "resourceSpans": [{"scopeSpans": [{"spans": [model("m", "-", 1, 2)]}]}]});
    let (sessions, of_file) = opened(both.to_string());
    let said: Vec<_> =
        sessions[0].messages.iter().map(|message| (&*message.role, message.content.raw())).collect();
    assert_eq!(said, [("user", "hi"), ("assistant", "hello")]);
    assert_eq!(told(&sessions, &of_file), [""; 0]);
}

#[test]
fn long_chains_take_no_longer_than_they_are() {
    let begun = Instant::now();
    let name = |n: usize| format!("s{n}");
    let chain = (0..20_000).map(|n| match n % 3 {
        0 => tool(&name(n), &name(n + 1), 1, 2),
        1 => model(&name(n), &name(n + 1), 1, 2),
        _ => span(&name(n), &name(n + 1), 1, 2, json!({})),
    });
    let (sessions, _) = opened(request(&chain.collect::<Vec<_>>()));
    assert_eq!(sessions.len(), 1);
    let models = (0..20_000).map(|n| model(&name(n), &name((n + 1) % 20_000), 1, 2)).collect::<Vec<_>>();
    assert_eq!(opened(request(&models)).0.len(), 1);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}
