//! Traces of agents, case by case: what spans add up to.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use rulestep_base::session::Session;
use serde_json::{Value, json};

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

/// The tools of each turn, where requests do not say what they offer.
#[test]
fn runs_say_what_their_requests_offer() {
    let run = |id: &str, parent: &str, from: u64, to: u64, tools: &[&str]| {
        let tools = tools.iter().map(|name| json!({"type": "function", "name": name})).collect::<Vec<_>>();
        let tools = Value::from(tools).to_string();
        let about = json!({"gen_ai.operation.name": "invoke_agent", "gen_ai.tool.definitions": tools});
        span(id, parent, from, to, about)
    };
    let spans = [
        run("outer", "-", 0, 100, &["delegate", "read"]),
        model("m", "outer", 1, 2),
        run("inner", "outer", 3, 20, &["search"]),
        model("n", "inner", 4, 5),
        tool("search", "inner", 6, 7),
        model("o", "outer", 30, 31),
    ];
    let (sessions, _) = opened(request(&spans));
    let offered =
        |turn| sessions[0].offered_in(turn).unwrap().iter().map(|tool| &*tool.name).collect::<Vec<_>>();
    assert_eq!([1, 2, 3].map(offered), [vec!["delegate", "read"], vec!["search"], vec!["delegate", "read"]]);
}

/// The inputs and outputs of LangChain's runs as LangSmith exports them, and the tools of Pydantic AI.
#[test]
fn services_have_attributes_of_their_own() {
    let sent = json!({"messages": [[{"lc": 1, "id": ["langchain", "schema", "messages", "HumanMessage"],
        "kwargs": {"content": "Flights?", "type": "human"}}]]});
    let call = json!({"name": "search", "args": {"to": "LIS"}, "id": "c1", "type": "tool_call"});
    let answered = json!({"generations": [[{"message": {"lc": 1, "id": ["langchain", "schema", "messages", "AIMessage"],
        "kwargs": {"content": "Looking.", "type": "ai", "tool_calls": [call]}}}]]});
    let offered = json!({"function_tools": [{"name": "search", "parameters_json_schema": {"type": "object"}}],
        "output_tools": [{"name": "final_result"}]});
    let asked = json!({"gen_ai.operation.name": "chat", "gen_ai.prompt": sent.to_string(),
        "gen_ai.completion": answered.to_string(), "model_request_parameters": offered.to_string()});
    let given = json!({"output": {"type": "tool", "content": "2 found", "tool_call_id": "c1"}});
    let made = json!({"gen_ai.operation.name": "execute_tool",
        "gen_ai.prompt": json!({"input": "{'to': 'LIS'}"}).to_string(), "gen_ai.completion": given.to_string()});
    let (sessions, _) = opened(request(&[span("m", "-", 1, 2, asked), span("search", "-", 3, 4, made)]));
    let [session] = &sessions[..] else { panic!("{} sessions", sessions.len()) };
    let said: Vec<_> = session.messages.iter().map(|m| format!("{} {}", m.role, m.content.shown())).collect();
    assert_eq!(said, ["user Flights?", "assistant Looking.", "tool 2 found"]);
    assert_eq!(turns(session), "search");
    assert_eq!(session.calls[0].arguments.value(), Some(&json!({"to": "LIS"})));
    let offered: Vec<_> = session.offered_in(1).unwrap().iter().map(|tool| &*tool.name).collect();
    assert_eq!(offered, ["search", "final_result"]);
}

/// OpenLLMetry wraps what a tool was given and what it gave back.
#[test]
fn wrappers_are_taken_off() {
    let args = |args: Value, kwargs: Value| json!({"args": args, "kwargs": kwargs}).to_string();
    let chain = |text: &str, inputs: Value| {
        json!({"input_str": text, "tags": [], "metadata": {}, "inputs": inputs, "kwargs": {"name": "get"}})
            .to_string()
    };
    let wrapped = json!({"output": {"n": 1}, "kwargs": {}}).to_string();
    let positional = args(json!(["O1"]), json!({}));
    let plain = json!({"args": [], "kwargs": {}, "x": 1}).to_string();
    for (given, back, arguments, output) in [
        (args(json!([]), json!({"id": "O1"})), wrapped.as_str(), json!({"id": "O1"}), json!({"n": 1})),
        (args(json!([]), json!({})), "\"it is there\"", json!({}), json!("it is there")),
        (chain("{'id': 'O2'}", json!({"id": "O1"})), r#""{\"n\": 2}""#, json!({"id": "O1"}), json!({"n": 2})),
        (chain("{'id': 'O2'}", Value::Null), r#"{"n": 3}"#, json!({"id": "O2"}), json!({"n": 3})),
        (chain("{\"id\": \"O3\"}", Value::Null), "some text", json!({"id": "O3"}), json!("some text")),
        (positional.clone(), r#"{"output": 1}"#, json!({"args": ["O1"], "kwargs": {}}), json!({"output": 1})),
        (plain, "[]", json!({"args": [], "kwargs": {}, "x": 1}), json!([])),
        (json!({"kwargs": {"a": 1}}).to_string(), "1", json!({"kwargs": {"a": 1}}), json!(1)),
    ] {
        let about = json!({"traceloop.span.kind": "tool", "traceloop.entity.name": "get",
            "traceloop.entity.input": given, "traceloop.entity.output": back});
        let (sessions, _) = opened(request(&[span("get.tool", "-", 3, 4, about)]));
        let call = &sessions[0].calls[0];
        assert_eq!(call.arguments.value(), Some(&arguments), "{given}");
        assert_eq!(call.output.value(), Some(&output), "{back}");
    }
    // Of other attributes it is what the tool was given.
    let about = json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get",
        "gen_ai.tool.call.arguments": positional, "gen_ai.tool.call.result": wrapped});
    let (sessions, _) = opened(request(&[span("get", "-", 3, 4, about)]));
    let call = &sessions[0].calls[0];
    assert_eq!((call.arguments.raw(), call.output.raw()), (&*positional, &*wrapped));
}

/// What a function was called with need not be what the model wrote, which is what is decided.
#[test]
fn given_arguments_do_not_replace_proposed_ones() {
    for (proposed, given, expected) in [
        (r#"{"id": "O1"}"#, json!({"args": ["O1"], "kwargs": {}}), json!({"id": "O1"})),
        (r#"{"id": "O1"}"#, json!({"args": [], "kwargs": {"id": "O1", "limit": 5}}), json!({"id": "O1"})),
        ("", json!({"args": [], "kwargs": {"id": "O1"}}), json!({"id": "O1"})),
        (r#"{"id": "O1"}"#, json!({"id": "O2"}), json!({"id": "O1"})),
    ] {
        let asked = json!({"llm.request.type": "chat", "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.tool_calls.0.id": "c1", "gen_ai.completion.0.tool_calls.0.name": "get",
            "gen_ai.completion.0.tool_calls.0.arguments": proposed});
        let about = json!({"traceloop.span.kind": "tool", "traceloop.entity.name": "get",
            "traceloop.entity.input": given.to_string()});
        let (sessions, _) =
            opened(request(&[span("m", "-", 1, 2, asked), span("get.tool", "-", 3, 4, about)]));
        let [call] = &sessions[0].calls[..] else { panic!("{} calls", sessions[0].calls.len()) };
        assert_eq!(call.arguments.value(), Some(&expected), "{proposed} {given}");
    }
}

#[test]
fn the_status_of_a_call_is_a_mark() {
    for (name, status, expected) in [
        ("gen_ai.tool.status", "error", "get:error"),
        ("tool.status", "error", "get:error"),
        ("gen_ai.tool.status", "success", "get"),
        ("tool.note", "error", "get"),
    ] {
        let mut call = tool("get", "-", 3, 4);
        call["attributes"]
            .as_array_mut()
            .unwrap()
            .push(json!({"key": name, "value": {"stringValue": status}}));
        let (sessions, _) = opened(request(&[call]));
        assert_eq!(turns(&sessions[0]), expected, "{name} {status}");
        assert_eq!(sessions[0].calls[0].output.raw(), "r");
    }
}

/// What a message in an event says, be it JSON, and which call it answers.
#[test]
fn events_hold_results() {
    let event = |name: &str, about: Value| {
        let attributes = span("e", "-", 0, 0, about)["attributes"].clone();
        json!({"name": name, "timeUnixNano": "1777888800000000000", "attributes": attributes})
    };
    let call = json!({"id": "c1", "function": {"name": "get", "arguments": "{}"}});
    let answer = json!({"message": json!({"role": "assistant", "tool_calls": [call]}).to_string()});
    let whole = json!({"role": "tool", "id": "c1", "content": "{}"}).to_string();
    let like = json!({"role": "user", "content": "x"}).to_string();
    for (result, expected) in [
        (json!({"id": "c1", "content": "{}"}), Some("{}")),
        (json!({"id": "c1", "content": "two"}), Some("two")),
        (json!({"role": "tool", "id": "c1", "content": "{\"n\": 1.0}"}), Some("{\"n\": 1.0}")),
        (json!({"role": "tool", "tool_call_id": "c1", "content": "{}"}), Some("{}")),
        (json!({"id": "c1", "content": like}), Some(&*like)),
        (json!({"content": whole}), Some("{}")),
        (json!({"role": "tool", "content": whole}), Some("{}")),
        (json!({"gen_ai.event.content": whole}), Some("{}")),
        (json!({"id": "c2", "content": "{}"}), None),
    ] {
        let mut first = model("m", "-", 1, 2);
        first["events"] = json!([event("gen_ai.choice", answer.clone())]);
        let mut then = model("n", "-", 5, 6);
        let asked = event("gen_ai.user.message", json!({"content": "{\"a\": 1}"}));
        then["events"] = json!([asked, event("gen_ai.tool.message", result.clone())]);
        let (sessions, _) = opened(request(&[first, then]));
        let call = &sessions[0].calls[0];
        let output = Some(call.output.raw()).filter(|_| !call.output.is_missing());
        assert_eq!(output, expected, "{result}");
        let said = sessions[0].messages.iter().find(|message| &*message.role == "user").unwrap();
        assert_eq!(said.content.raw(), "{\"a\": 1}");
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

    let mut lost = record("gen_ai.choice", json!({"content": "hello"}));
    lost["spanId"] = json!("of nothing");
    let logs = [record("agent.tool_result", json!({"content": "a"})), lost];
    let apart = json!({"resourceLogs": [{"scopeLogs": [{"logRecords": logs}]}]});
    let (_, of_file) = opened(apart.to_string());
    let left_out = "log records that say nothing of a span are left out: 2, the first is `agent.tool_result`";
    assert!(of_file.iter().any(|diagnostic| diagnostic.message == left_out), "{of_file:?}");
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
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

/// What two values or two spans say of one call is a loss, and what it failed with is no success.
#[test]
fn a_span_says_one_thing() {
    let add = |mut span: Value, key: &str, value: &str| {
        let more = json!({"key": key, "value": {"stringValue": value}});
        span["attributes"].as_array_mut().unwrap().push(more);
        span
    };
    let call = || tool("a", "-", 0, 10);
    let renamed = tool("b", "-", 0, 10);
    let mut renamed = add(renamed, "x", "y");
    renamed["spanId"] = json!("a");
    for (spans, lost) in [
        (vec![call(), call()], 0),
        (vec![call(), renamed], 1),
        (vec![add(call(), "gen_ai.tool.name", "a")], 0),
        (vec![add(call(), "gen_ai.tool.name", "b")], 1),
        (vec![add(call(), "gen_ai.tool.call.result", "other")], 1),
    ] {
        assert_eq!(super::losses::losses(&request(&spans)).len(), lost, "{spans:#?}");
    }
    for (status, expected) in
        [("success", "a"), ("failed", "a:error"), ("timeout", "a:error"), ("denied", "a:error")]
    {
        let (sessions, _) = opened(request(&[add(call(), "gen_ai.tool.status", status)]));
        assert_eq!(turns(&sessions[0]), expected, "{status}");
    }
}
