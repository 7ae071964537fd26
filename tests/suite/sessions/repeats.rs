//! What spans say more than once: requests repeat the calls and results before, and a span may be written twice.

use serde_json::{Value, json};

use super::{opened, told};

fn read(lines: &[Value]) -> (Vec<String>, Vec<String>) {
    let (sessions, of_file) = opened(lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    let calls = sessions.iter().flat_map(|session| &session.calls);
    let calls = calls.map(|call| format!("{} {}", call.tool, call.outcome.word())).collect();
    (calls, told(&sessions, &of_file))
}

/// A request to a model that begins at this second.
fn span(at: u32, inputs: &[Value], outputs: &[Value]) -> Value {
    let time = |at: u32| format!("2026-05-04T10:00:{at:02}.000000Z");
    let mut attributes = json!({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"});
    for (key, messages) in [("gen_ai.input.messages", inputs), ("gen_ai.output.messages", outputs)] {
        if !messages.is_empty() {
            attributes[key] = json!(json!(messages).to_string());
        }
    }
    json!({"name": "chat", "context": {"trace_id": "0xaa", "span_id": format!("0x{at:016x}")}, "parent_id": null,
        "start_time": time(at), "end_time": time(at + 1), "status": {"status_code": "UNSET"},
        "attributes": attributes, "events": []})
}

fn user() -> Value {
    json!({"role": "user", "parts": [{"type": "text", "content": "go"}]})
}

fn call(id: Option<&str>, tool: &str) -> Value {
    json!({"role": "assistant", "parts": [{"type": "tool_call", "id": id, "name": tool, "arguments": {}}]})
}

fn result(id: Option<&str>) -> Value {
    json!({"role": "tool", "parts": [{"type": "tool_call_response", "id": id, "response": "fine"}]})
}

fn done() -> Value {
    json!({"role": "assistant", "parts": [{"type": "text", "content": "done"}]})
}

#[test]
fn calls_that_only_a_later_request_has_are_lost() {
    let first = |id| span(0, &[user()], &[call(id, "ls")]);
    let lost = |line: u32, what: &str| {
        format!(
            "some.json:{line}: warning[damaged_record]: the request repeats {what} that no response of the file makes; \
             left out"
        )
    };
    for (ids, more, expected) in [
        (Some("c1"), vec![], None),
        (Some("c1"), vec![call(Some("c2"), "rm"), result(Some("c2"))], Some("a call")),
        (Some("c1"), vec![call(Some("c2"), "rm"), call(Some("c3"), "ls")], Some("2 calls")),
        (None, vec![], None),
        (None, vec![call(None, "rm"), result(None)], Some("a call")),
    ] {
        let history = [vec![user(), call(ids, "ls"), result(ids)], more].concat();
        let again = [history.clone(), vec![done(), user()]].concat();
        let (_, told) = read(&[first(ids), span(4, &history, &[done()]), span(8, &again, &[done()])]);
        let told: Vec<_> = told.into_iter().filter(|line| line.contains("repeats")).collect();
        let expected: Vec<_> = expected.into_iter().map(|what| lost(2, what)).collect();
        assert_eq!(told, expected, "{history:?}");
    }

    // The response has no messages in its span.
    let history = [user(), call(Some("c1"), "rm"), result(Some("c1"))];
    let (calls, told) = read(&[span(0, &[user()], &[]), span(4, &history, &[done()])]);
    assert_eq!((calls, told.contains(&lost(2, "a call"))), (Vec::new(), true), "{told:?}");

    // The session begins before its file.
    let (_, told) = read(&[span(4, &history, &[done()])]);
    assert!(!told.iter().any(|line| line.contains("left out")), "{told:?}");
}

#[test]
fn results_within_requests_say_that_they_are_errors() {
    for (part, expected) in [
        (json!({"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": true}), "ls error"),
        (json!({"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": false}), "ls ok"),
        (json!({"toolResult": {"toolUseId": "c1", "content": [], "status": "error"}}), "ls error"),
        (json!({"toolResult": {"toolUseId": "c1", "content": [], "status": "success"}}), "ls ok"),
    ] {
        let history = [user(), call(Some("c1"), "ls"), json!({"role": "user", "content": [part]})];
        let (calls, _) = read(&[span(0, &[user()], &[call(Some("c1"), "ls")]), span(4, &history, &[done()])]);
        assert_eq!(calls, [expected], "{part}");
    }
    for (status, expected) in [("error", "ls error"), ("success", "ls ok"), ("running", "ls unknown")] {
        let told = json!({"role": "tool", "tool_call_id": "c1", "content": "no", "status": status});
        let history = [user(), call(Some("c1"), "ls"), told];
        let (calls, _) = read(&[span(0, &[user()], &[call(Some("c1"), "ls")]), span(4, &history, &[done()])]);
        assert_eq!(calls, [expected], "{status}");
    }
}

#[test]
fn a_span_that_is_written_at_its_beginning_and_its_end_is_read_as_it_ends() {
    let whole = span(0, &[user()], &[call(Some("c1"), "ls")]);
    let mut begun = span(0, &[user()], &[]);
    begun["end_time"] = Value::Null;
    let mut ended = whole.clone();
    ended["attributes"].as_object_mut().unwrap().shift_remove("gen_ai.input.messages");
    let alone = read(std::slice::from_ref(&whole));
    assert_eq!(alone.0, ["ls unknown"]);
    assert_eq!(read(&[begun.clone(), ended.clone()]), alone);
    // The other way round, and twice at the end, nothing is new.
    for lines in [[whole.clone(), begun], [whole, ended]] {
        let (calls, told) = read(&lines);
        assert_eq!(calls, ["ls unknown"]);
        assert!(
            told.iter().any(|line| line.ends_with("1 spans are repeated; each is read once")),
            "{told:?}"
        );
    }
}

/// Items of the Responses API are read wherever messages are: the calls of the answer, and the results that a request repeats.
#[test]
fn items_are_messages() {
    let user =
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "2 - 5?"}]});
    let call = json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "subtract", "arguments": "{\"x\":2}", "status": "completed"});
    let output = json!({"type": "function_call_output", "id": "fco_1", "call_id": "call_1", "output": "-3"});
    let thought = json!({"type": "reasoning", "id": "rs_1", "summary": []});
    let ran = json!({"type": "mcp_call", "id": "mcp_1", "server_label": "shop", "name": "find", "arguments": "{}", "output": "found"});
    let done =
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "-3"}]});
    let asked = json!([user.clone()]);
    let answered = json!([thought.clone(), call.clone(), ran.clone()]);
    let repeated = json!([user, thought, call, ran, output]);
    let span = |at: u32, about: Value| {
        let (from, to) = (i64::from(at) * 1_000_000_000, i64::from(at + 1) * 1_000_000_000);
        json!({"trace_id": "t", "span_id": at.to_string(), "name": "chat", "startTimeUnixNano": (1_777_888_800_000_000_000 + from).to_string(),
            "endTimeUnixNano": (1_777_888_800_000_000_000 + to).to_string(), "attributes": about})
    };
    let wrapped = |sent: &Value| json!({"model": "m", "input": sent});
    type Written = fn(&Value) -> Value;
    let text: Written = |value| json!(value.to_string());
    for (input, output, wraps) in [
        ("gen_ai.input.messages", "gen_ai.output.messages", false),
        ("gen_ai.prompt", "gen_ai.completion", false),
        ("gen_ai.prompt", "gen_ai.completion", true),
        ("langfuse.observation.input", "langfuse.observation.output", false),
        ("langfuse.observation.input", "langfuse.observation.output", true),
        ("input.value", "output.value", true),
        ("ai.prompt.messages", "output.value", false),
    ] {
        for written in [text, Value::clone as Written] {
            let about = |sent: &Value, gave: &Value| {
                let sent = if wraps { wrapped(sent) } else { sent.clone() };
                json!({"gen_ai.operation.name": "chat", input: written(&sent), output: written(gave)})
            };
            let lines = [span(1, about(&asked, &answered)), span(3, about(&repeated, &json!([done])))];
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let (sessions, of_file) = super::opened(text);
            assert_eq!(sessions.len(), 1);
            let calls = sessions[0].calls.iter();
            let calls: Vec<_> = calls
                .map(|call| format!("{} {}: {}", call.tool, call.arguments.shown(), call.output.shown()))
                .collect();
            assert_eq!(
                calls,
                ["subtract {\"x\":2}: -3", "mcp__shop__find {}: found"],
                "{input} {output} {wraps}"
            );
            assert_eq!(sessions[0].turns.len(), 2, "{input}");
            assert_eq!(super::told(&sessions, &of_file), Vec::<String>::new(), "{input} {output} {wraps}");
        }
    }
}
