//! Logs of requests and responses: streams, and requests that were not answered.

use serde_json::{Value, json};
use toolgate::session::Session;

use super::{opened, told};

fn read(exchanges: &[Value]) -> (Vec<Session>, Vec<String>) {
    let lines: Vec<String> = exchanges.iter().map(Value::to_string).collect();
    let (sessions, of_file) = opened(lines.join("\n"));
    let told = told(&sessions, &of_file);
    (sessions, told)
}

/// Calls of each session, by their tools.
fn calls(sessions: &[Session]) -> Vec<Vec<&str>> {
    sessions.iter().map(|session| session.calls.iter().map(|call| &*call.tool).collect()).collect()
}

fn sent(events: &[Value]) -> String {
    events.iter().map(|event| format!("event: some\ndata: {event}\n\n")).collect()
}

#[test]
fn a_stream_is_not_put_together_and_that_is_told() {
    const STREAM: &str = "some.json:1: warning[damaged_record]: the response is a stream, which is not put together: its calls are left out unless a later request repeats them";
    let chat = [
        json!({"object": "chat.completion.chunk", "choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f"}}]}}]}),
        json!({"object": "chat.completion.chunk", "choices": [{"delta": {}, "finish_reason": "tool_calls"}]}),
    ];
    let messages = [
        json!({"type": "message_start", "message": {"role": "assistant", "content": []}}),
        json!({"type": "content_block_start", "content_block": {"type": "tool_use", "id": "c", "name": "f"}}),
    ];
    let asked = |extra: Value| {
        let mut request = json!({"messages": [{"role": "user", "content": "go"}]});
        request.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        request
    };
    let openai = asked(json!({"tools": [{"type": "function", "function": {"name": "f"}}]}));
    let anthropic = asked(json!({"tools": [{"name": "f", "input_schema": {}}]}));
    let responses = json!({"model": "m", "instructions": "be brief", "input": "go"});
    for (request, response) in [
        (&openai, json!(format!(": waiting\n\n{}", sent(&chat)))),
        (&openai, json!(chat)),
        (&openai, json!({"status": 200, "body": sent(&chat)})),
        (&anthropic, json!(sent(&messages))),
        (&anthropic, json!(messages)),
        (&anthropic, json!({"status_code": 200, "body_raw": sent(&messages)})),
        (&responses, json!([{"type": "response.created", "response": {"id": "r"}}])),
    ] {
        let (sessions, told) = read(&[json!({"request": request, "response": response})]);
        assert_eq!(calls(&sessions), [[""; 0]], "{response}");
        assert_eq!(told[1], STREAM, "{response}");
        assert!(told[0].contains("error[damaged_record]: no call could be read"), "{response}");
        assert_eq!(told.len(), 2, "{response}");
    }

    // What a later request repeats is not left out.
    let later = json!({"messages": [{"role": "user", "content": "go"},
        {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "fine"}]});
    let answer = json!({"choices": [{"message": {"role": "assistant", "content": "done"}}]});
    let (sessions, told) = read(&[
        json!({"request": openai, "response": sent(&chat)}),
        json!({"request": later, "response": answer}),
    ]);
    assert_eq!(calls(&sessions), [["f"]]);
    assert!(!told.iter().any(|line| line.contains("stream")), "{told:?}");
}

#[test]
fn a_request_that_was_not_answered_is_dropped_once_it_is_made_again() {
    let call = json!({"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]});
    let more = json!({"role": "assistant", "tool_calls": [{"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}}]});
    let answer = |message: &Value| json!({"choices": [{"message": message}]});
    let user = json!({"role": "user", "content": "go"});
    let result = json!({"role": "tool", "tool_call_id": "a", "content": "fine"});
    let first = json!({"messages": [user]});
    let second = json!({"messages": [user, call, result]});
    let hurry = json!({"messages": [user, call, result, {"role": "user", "content": "well?"}]});
    let error = json!({"error": {"message": "rate limit"}});
    let asked = |at: &str, request: &Value, response: Value| json!({"timestamp": format!("2026-01-01T00:00:{at}Z"), "request": request, "response": response});
    let good = asked("00", &first, answer(&call));
    let (fails, nothing) = (asked("10", &second, error.clone()), asked("10", &second, Value::Null));
    let no_response = json!({"request": second});
    let again = asked("20", &second, answer(&more));
    let both = || vec![vec!["f", "g"]];
    for (log, expected) in [
        (vec![&good, &fails, &again], both()),
        (vec![&good, &nothing, &again], both()),
        (vec![&good, &no_response, &fails, &again], both()),
        // It is made again with more.
        (vec![&good, &fails, &asked("20", &hurry, answer(&more))], both()),
        // The very first one; one after the same was answered.
        (vec![&asked("00", &first, error.clone()), &good, &again], both()),
        (vec![&good, &asked("01", &first, error.clone()), &again], both()),
        // None follows.
        (vec![&good, &fails], vec![vec!["f"]]),
        (vec![&good, &again, &fails], vec![vec!["f", "g"], vec!["f"]]),
        // Both were answered.
        (vec![&good, &again, &again], vec![vec!["f", "g"], vec!["f", "g"]]),
    ] {
        let log: Vec<Value> = log.into_iter().cloned().collect();
        let (sessions, _) = read(&log);
        assert_eq!(calls(&sessions), expected, "{log:?}");
    }
    // Times are those of the answers.
    let (sessions, _) = read(&[good, fails, again]);
    let seconds: Vec<_> = sessions[0].calls.iter().map(|call| call.time.unwrap() % 60_000).collect();
    assert_eq!(seconds, [0, 20_000]);

    // Conversations by themselves were not asked: they may be alike.
    let whole = json!({"model": "m", "tools": [{"name": "f", "input_schema": {}}], "messages": [user]});
    assert_eq!(read(&[whole.clone(), whole]).0.len(), 2);
}

#[test]
fn a_request_that_goes_on_from_a_response_can_be_made_again() {
    let item = |id: &str, tool: &str| json!({"type": "function_call", "call_id": id, "name": tool, "arguments": "{}"});
    let answer =
        |id: &str, output: Value| json!({"id": id, "object": "response", "error": null, "output": [output]});
    let first = json!({"request": {"input": "go"}, "response": answer("r1", item("a", "f"))});
    let on = json!({"previous_response_id": "r1", "input": [{"type": "function_call_output", "call_id": "a", "output": "fine"}]});
    let fails = json!({"request": on, "response": {"error": {"message": "down"}}});
    let nothing = json!({"request": on});
    let again = json!({"request": on, "response": answer("r2", item("b", "g"))});
    let (sessions, told) = read(&[first.clone(), fails.clone(), nothing.clone(), again]);
    assert_eq!(calls(&sessions), [["f", "g"]]);
    assert_eq!(told, ["some.json:4: notice[call_without_result]: 1 call has no result"]);
    assert_eq!(sessions[0].messages.len(), 4, "the failure is nothing of the session");

    // None follows: what it tells is kept.
    for (attempt, messages) in [(fails, 4), (nothing, 3)] {
        let (sessions, told) = read(&[first.clone(), attempt]);
        assert_eq!((calls(&sessions), told), (vec![vec!["f"]], Vec::new()));
        assert_eq!(sessions[0].messages.len(), messages);
    }
}
