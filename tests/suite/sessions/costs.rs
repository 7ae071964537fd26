//! What large and hostile recordings cost to read: no more than in proportion to their size, where the square of it
//! would be minutes.

use std::time::{Duration, Instant};

use rulestep_base::session::{OfferedFrom, Outcome, Session};
use serde_json::{Value, json};

use super::opened;

/// Far above what these take, far below what they took.
const PATIENCE: Duration = Duration::from_secs(60);

fn read(recording: impl Into<Vec<u8>>) -> Vec<Session> {
    let begun = Instant::now();
    let (sessions, _) = opened(recording);
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    sessions
}

fn lines(values: impl IntoIterator<Item = Value>) -> String {
    values.into_iter().map(|value| format!("{value}\n")).collect()
}

fn tool(index: usize) -> Value {
    json!({"type": "function", "function": {"name": format!("t{index}"), "parameters": {"type": "object"}}})
}

fn told(session: &Session) -> Vec<String> {
    session.diagnostics.iter().map(ToString::to_string).collect()
}

/// A run of LangSmith, of one trace.
fn run(kind: &str, id: usize, rest: &Value) -> Value {
    let mut run = json!({"run_type": kind, "id": format!("r{id}"), "trace_id": "t",
        "start_time": format!("2026-05-04T10:{:02}:{:02}.{:03}Z", id / 60_000, id / 1_000 % 60, id % 1_000)});
    run.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    run
}

#[test]
fn requests_that_do_not_say_what_they_offer_share_what_was_offered_before() {
    let many = 20_000;
    let answer = json!({"role": "assistant", "content": "…"});
    let first = json!({"inputs": {"messages": []}, "outputs": answer,
        "extra": {"invocation_params": {"tools": (0..many).map(tool).collect::<Vec<_>>()}}});
    let others = (1..many).map(|id| run("llm", id, &json!({"inputs": {"messages": []}, "outputs": answer})));
    let sessions = read(lines([run("llm", 0, &first)].into_iter().chain(others)));
    assert_eq!((sessions[0].turns.len(), sessions[0].offered.len()), (many, 1));
    assert_eq!(sessions[0].offered_in(many as u32).unwrap().len(), many);
}

#[test]
fn calls_within_one_of_many_arguments_are_compared_with_what_was_read_once() {
    let many = 10_000;
    let large: Value =
        (0..many).map(|key| (format!("k{key}"), json!(key))).collect::<serde_json::Map<_, _>>().into();
    let outer = run("tool", 0, &json!({"name": "f", "inputs": large, "outputs": {"n": 0}}));
    let inner = (1..many).map(|id| {
        run(
            "tool",
            id,
            &json!({"name": "f", "parent_run_id": "r0", "inputs": {"k0": id}, "outputs": {"n": id}}),
        )
    });
    let sessions = read(lines([outer].into_iter().chain(inner)));
    assert_eq!(sessions[0].calls.len(), many);
}

#[test]
fn what_logs_say_finds_its_span_at_once() {
    let many = 40_000;
    let attribute = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let spans: Vec<_> = (0..many)
        .map(|id| {
            json!({"traceId": "t", "spanId": format!("s{id}"), "name": "chat", "startTimeUnixNano": id + 1,
                "attributes": [attribute("gen_ai.operation.name", "chat")]})
        })
        .collect();
    let records: Vec<_> = (0..many)
        .map(|id| {
            json!({"traceId": "t", "spanId": format!("s{id}"), "eventName": "gen_ai.choice",
                "attributes": [attribute("content", &format!("answer {id}"))]})
        })
        .collect();
    let sessions = read(lines([
        json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}),
        json!({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}),
    ]));
    assert_eq!(sessions[0].turns.len(), many);
    assert_eq!(sessions[0].messages[many - 1].content.shown(), format!("answer {}", many - 1));
}

fn inspect(events: &str, messages: &str) -> Vec<Session> {
    read(format!(
        r#"{{"status": "success", "eval": {{"task": "t"}}, "samples": [
            {{"id": 1, "epoch": 1, "target": "", "store": {{}}, "messages": {messages}, "events": {events}}}]}}"#
    ))
}

#[test]
fn events_within_events_end_somewhere() {
    let within = |depth: usize, innermost: &str| {
        format!("{}{innermost}{}", r#"[{"event": "tool", "events": "#.repeat(depth), "}]".repeat(depth))
    };
    let call = r#"[{"event": "tool", "id": "x"}]"#;
    let left = "made by agents within this one or in messages that were removed later; they are left out";
    let told_of = |depth| told(&inspect(&within(depth, call), r#"[{"role": "user", "content": "x"}]"#)[0]);
    assert_eq!(
        told_of(64),
        [format!("some.json:2: warning[damaged_record]: 2 calls are only among the events, {left}")]
    );
    let too_deep =
        "some.json:2: warning[damaged_record]: events that are nested in more than 64 others are not read";
    assert_eq!(told_of(65)[0], too_deep);
    assert_eq!(told_of(100_000)[0], too_deep);
}

#[test]
fn messages_that_answer_one_request_share_its_tools() {
    let many = 10_000;
    let tools: Vec<_> =
        (0..many).map(|index| json!({"name": format!("t{index}"), "parameters": {}})).collect();
    let events =
        json!([{"event": "model", "tools": tools, "output": {"choices": [{"message": {"id": "m"}}]}}]);
    let answer = json!({"role": "assistant", "id": "m", "content": "…"});
    let question = json!({"role": "user", "content": "…"});
    let messages: Vec<_> = (0..many).flat_map(|_| [&answer, &question]).collect();
    let sessions = inspect(&events.to_string(), &json!(messages).to_string());
    assert_eq!((sessions[0].turns.len(), sessions[0].offered.len()), (many, 1));
}

#[test]
fn blocks_without_an_end_are_looked_for_once() {
    for fence in ["mswea_bash_command", "bash"] {
        let content = format!(" ```{fence}\n").repeat(200_000);
        let recording = json!({"trajectory_format": "mini-swe-agent-1", "info": {},
            "messages": [{"role": "assistant", "content": content}]});
        let sessions = read(recording.to_string());
        assert_eq!((sessions[0].turns.len(), sessions[0].calls.len()), (1, 0));
    }
}

#[test]
fn parts_of_a_message_are_not_counted_again() {
    let many = 50_000;
    let part =
        |id: usize| json!({"type": "tool-x", "toolCallId": format!("c{id}"), "state": "call", "input": {}});
    let parts: Vec<_> = (0..many).map(part).collect();
    let sessions = read(json!({"messages": [{"role": "assistant", "parts": parts}]}).to_string());
    assert_eq!((sessions[0].turns.len(), sessions[0].calls.len()), (1, many));
}

#[test]
fn refusals_that_stand_twice_are_found_at_once() {
    let many = 30_000;
    let ids = || (0..many).map(|id| (format!("c{id}"), format!("a{id}")));
    let asked = ids().flat_map(|(call, question)| {
        [
            json!({"type": "tool-call", "toolCallId": call, "toolName": "x", "input": {}}),
            json!({"type": "tool-approval-request", "approvalId": question, "toolCallId": call}),
        ]
    });
    let denied = ids().map(
        |(_, question)| json!({"type": "tool-approval-response", "approvalId": question, "approved": false}),
    );
    let again = ids().map(|(call, _)| {
        json!({"type": "tool-result", "toolCallId": call, "output": {"type": "execution-denied"}})
    });
    let sessions = read(
        json!([{"role": "assistant", "content": asked.collect::<Vec<_>>()},
            {"role": "tool", "content": denied.chain(again).collect::<Vec<_>>()}])
        .to_string(),
    );
    assert_eq!(sessions[0].calls.iter().filter(|call| call.outcome == Outcome::Refused).count(), many);
    assert_eq!(told(&sessions[0]), Vec::<String>::new());
}

#[test]
fn simulations_share_the_tools_of_their_results() {
    let many = 20_000;
    let tools: serde_json::Map<_, _> = (0..many).map(|id| (format!("t{id}"), json!({"doc": "…"}))).collect();
    let simulation = json!({"task_id": 1, "messages": [{"role": "user", "content": "…"}]});
    let results =
        json!({"info": {"environment_info": {"tool_defs": tools}}, "simulations": vec![simulation; many]});
    let sessions = read(results.to_string());
    assert_eq!(sessions.len(), many);
    let offered = |session: &Session| session.offered_in(1).unwrap().as_ptr();
    assert_eq!(sessions[0].offered_in(1).unwrap().len(), many);
    assert_eq!(offered(&sessions[0]), offered(&sessions[many - 1]));
}

#[test]
fn what_a_request_goes_on_from_was_told_already() {
    let many = 20_000;
    let exchanges = (0..many).map(|id| {
        let mut request = json!({"input": format!("question {id}"), "tools": [{"type": "function", "name": format!("t{id}")}]});
        if id > 0 {
            request["previous_response_id"] = json!(format!("resp_{}", id - 1));
        }
        let content = json!([{"type": "output_text", "text": format!("answer {id}")}]);
        json!({"request": request, "response": {"id": format!("resp_{id}"), "object": "response",
            "output": [{"type": "message", "role": "assistant", "content": content}]}})
    });
    let sessions = read(lines(exchanges));
    let offered: Vec<u32> = sessions[0].offered.iter().map(|OfferedFrom { turn, .. }| *turn).collect();
    assert_eq!(offered, (1..=many as u32).collect::<Vec<_>>());
}

#[test]
fn subagents_by_the_thousand_are_closed_before_the_end() {
    let many = 10_000;
    let said = json!([{"type": "text", "text": "…"}]);
    let line = |index: usize| {
        json!({"type": "assistant", "sessionId": "s", "isSidechain": true, "agentId": format!("a{index}"),
            "uuid": format!("u{index}"), "message": {"role": "assistant", "content": said}})
    };
    let main =
        json!({"type": "user", "sessionId": "s", "uuid": "u", "message": {"role": "user", "content": "…"}});
    let last = json!({"type": "assistant", "sessionId": "s", "uuid": "v", "parentUuid": "u",
        "message": {"role": "assistant", "content": said}});
    let sessions = read(lines([main].into_iter().chain((0..many).map(line)).chain([last])));
    assert_eq!(sessions.len(), many + 1);
    let whole = sessions.iter().find(|session| &*session.id == "s").unwrap();
    assert_eq!((whole.messages.len(), told(whole)), (2, Vec::new()));
}

#[test]
fn pages_of_tools_are_told_together() {
    let many = 20_000;
    let page = |index: usize| {
        [
            json!({"jsonrpc": "2.0", "id": index, "method": "tools/list", "params": {"cursor": "…"}}),
            json!({"jsonrpc": "2.0", "id": index, "result": {"tools": [{"name": format!("t{index}")}]}}),
        ]
    };
    let call = json!({"jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": {"name": "t7", "arguments": {}}});
    let pages = |from: usize| (from..from + many).flat_map(page);
    let sessions = read(lines(pages(0).chain([call]).chain(pages(many))));
    let offered: Vec<_> = sessions[0].offered.iter().map(|from| (from.turn, from.tools.len())).collect();
    assert_eq!(offered, [(1, many), (2, 2 * many)]);
}

#[test]
fn requests_under_one_id_are_not_all_compared() {
    let many = 40_000;
    let asked = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}});
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}});
    let sessions = read(lines((0..many).map(|_| asked.clone()).chain((0..many).map(|_| answer.clone()))));
    assert_eq!(sessions[0].calls.len(), 0);
}

#[test]
fn streams_of_many_calls_are_put_together_at_once() {
    let many = 20_000;
    let chunk = |index: usize, more: Value| {
        let mut call = json!({"index": index});
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"object": "chat.completion.chunk", "choices": [{"delta": {"tool_calls": [call]}}]})
    };
    let begun =
        (0..many).map(|index| chunk(index, json!({"id": format!("c{index}"), "function": {"name": "f"}})));
    let argued = (0..many).map(|index| chunk(index, json!({"function": {"arguments": "{}"}})));
    let chunks: Vec<_> = begun.chain(argued).collect();
    let sent: String = chunks.iter().map(|chunk| format!("data: {chunk}\n")).collect();
    let request = json!({"messages": [{"role": "user", "content": "go"}]});
    let sessions = read(json!({"request": request, "response": sent}).to_string());
    assert_eq!(sessions[0].calls.len(), many);
    // One event on many lines.
    let lines: String = (0..many).map(|_| "data: 1,\n").collect();
    let sessions = read(json!({"request": request, "response": format!("data: [\n{lines}")}).to_string());
    assert_eq!(sessions[0].calls.len(), 0);
}

#[test]
fn calls_that_are_repeated_under_new_ids_are_found_at_once() {
    let many = 20_000;
    let user = json!({"role": "user", "content": "go"});
    let proposed = |ids: &str| {
        let calls = (0..many).map(|n| {
            json!({"id": format!("{ids}{n}"), "type": "function",
                "function": {"name": "f", "arguments": format!("{{\"n\": {n}}}")}})
        });
        json!({"role": "assistant", "content": null, "tool_calls": calls.collect::<Vec<_>>()})
    };
    let exchange = |messages: &[Value], answer: &Value| {
        json!({"request": {"model": "m", "messages": messages}, "response": {"object": "chat.completion",
            "choices": [{"index": 0, "finish_reason": "stop", "message": answer}]}})
    };
    let done = json!({"role": "assistant", "content": "done"});
    let sessions = read(lines([
        exchange(std::slice::from_ref(&user), &proposed("a")),
        exchange(&[user.clone(), proposed("b")], &done),
    ]));
    assert_eq!(sessions.iter().map(|session| session.calls.len()).collect::<Vec<_>>(), [many]);
}

#[test]
fn a_span_that_is_written_twice_takes_its_attributes_over_at_once() {
    let many = 40_000;
    let attribute = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let said = (0..many).map(|n| attribute(&format!("llm.input_messages.{n}.message.content"), "q"));
    let said: Vec<_> = [attribute("openinference.span.kind", "LLM")].into_iter().chain(said).collect();
    let span = |end: Value, attributes: &[Value]| {
        let mut span = json!({"traceId": "t", "spanId": "s", "name": "chat", "startTimeUnixNano": 1, "attributes": attributes});
        span.as_object_mut().unwrap().extend(end.as_object().unwrap().clone());
        json!({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    };
    let halves = said.split_at(many / 2);
    let ended = json!({"endTimeUnixNano": 2});
    let sessions = read(lines([span(json!({}), halves.0), span(ended, halves.1)]));
    assert_eq!(sessions.len(), 1);
}
