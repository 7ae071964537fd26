//! Responses that were sent piece by piece: put together, and what is said of those that broke off or lost a piece.

use rstest::rstest;
use rulestep_base::session::Session;
use serde_json::{Value, json};

use super::{opened, told};

const BREAKS_OFF: &str = "some.json:1: warning[damaged_record]: the response is a stream that breaks off; its recorded part is read";

fn sent(events: &[Value]) -> String {
    events.iter().map(|event| format!("event: some\ndata: {event}\n\n")).collect()
}

/// What a request with this response comes to, and what is told but that its calls have no results.
fn read(request: &Value, response: Value) -> (Vec<Session>, Vec<String>) {
    let (sessions, of_file) = opened(json!({"request": request, "response": response}).to_string());
    let mut told = told(&sessions, &of_file);
    told.retain(|line| !line.contains("no_results_recorded") && !line.contains("may have contained calls"));
    (sessions, told)
}

/// Its calls: tool and arguments.
fn calls(session: &Session) -> Vec<(&str, &str)> {
    session.calls.iter().map(|call| (&*call.tool, call.arguments.raw())).collect()
}

fn chat() -> (Value, Vec<Value>) {
    let chunk = |delta: Value, finish: Value| json!({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    let call = |call: Value| chunk(json!({"tool_calls": [call]}), Value::Null);
    let chunks = vec![
        chunk(json!({"role": "assistant", "content": "so"}), Value::Null),
        call(json!({"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}})),
        call(json!({"index": 0, "function": {"arguments": "{\"x\": "}})),
        call(json!({"index": 0, "function": {"arguments": "1}"}})),
        call(
            json!({"index": 1, "id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}}),
        ),
        chunk(json!({}), json!("tool_calls")),
    ];
    let request = json!({"messages": [{"role": "user", "content": "go"}],
        "tools": [{"type": "function", "function": {"name": "f"}}]});
    (request, chunks)
}

fn messages() -> (Value, Vec<Value>) {
    let begun = |index: u32, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta =
        |index: u32, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let input =
        |index: u32, text: &str| delta(index, json!({"type": "input_json_delta", "partial_json": text}));
    let stop = |index: u32| json!({"type": "content_block_stop", "index": index});
    let events = vec![
        json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}}),
        begun(0, json!({"type": "text", "text": ""})),
        delta(0, json!({"type": "text_delta", "text": "so"})),
        stop(0),
        begun(1, json!({"type": "tool_use", "id": "a", "name": "f", "input": {}})),
        input(1, "{\"x\": "),
        input(1, "1}"),
        stop(1),
        begun(2, json!({"type": "tool_use", "id": "b", "name": "g", "input": {}})),
        stop(2),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        json!({"type": "message_stop"}),
    ];
    let request = json!({"messages": [{"role": "user", "content": "go"}], "tools": [{"name": "f", "input_schema": {}}]});
    (request, events)
}

fn items() -> (Value, Vec<Value>) {
    let item = |id: &str, tool: &str, arguments: &str| json!({"type": "function_call", "call_id": id, "name": tool, "arguments": arguments});
    let said = json!({"type": "message", "role": "assistant", "content": "so"});
    let event =
        |kind: &str, index: u32, item: Value| json!({"type": kind, "output_index": index, "item": item});
    let delta = |text: &str| json!({"type": "response.function_call_arguments.delta", "output_index": 1, "delta": text});
    let whole = [said.clone(), item("a", "f", "{\"x\": 1}"), item("b", "g", "{}")];
    let events = vec![
        json!({"type": "response.created", "response": {"id": "r", "object": "response", "output": []}}),
        event(
            "response.output_item.added",
            0,
            json!({"type": "message", "role": "assistant", "content": []}),
        ),
        json!({"type": "response.output_text.delta", "output_index": 0, "delta": "so"}),
        event("response.output_item.done", 0, said),
        event("response.output_item.added", 1, item("a", "f", "")),
        delta("{\"x\": "),
        delta("1}"),
        event("response.output_item.done", 1, item("a", "f", "{\"x\": 1}")),
        event("response.output_item.added", 2, item("b", "g", "")),
        event("response.output_item.done", 2, item("b", "g", "{}")),
        json!({"type": "response.completed", "response": {"id": "r", "object": "response", "output": whole}}),
    ];
    (json!({"model": "m", "instructions": "be brief", "input": "go"}), events)
}

#[rstest]
#[case::chat(chat())]
#[case::messages(messages())]
#[case::items(items())]
fn a_stream_is_put_together_in_whichever_wrapping(#[case] (request, events): (Value, Vec<Value>)) {
    let texts: Vec<_> = events.iter().map(|event| format!("data: {event}")).collect();
    let data: Vec<_> = events.iter().map(|event| json!({"event": "some", "data": event})).collect();
    let data_texts: Vec<_> = events.iter().map(|event| json!({"data": event.to_string()})).collect();
    for response in [
        json!(events),
        json!(texts),
        json!(data),
        json!(data_texts),
        json!(texts.join("\n")),
        json!(format!(": waiting\n\n{}data: [DONE]\n\n", sent(&events))),
        json!(sent(&events).replace('\n', "\r\n")),
        json!({"status": 200, "body": sent(&events)}),
        json!({"status_code": 200, "body_raw": sent(&events)}),
        json!({"chunks": events}),
    ] {
        let shown = response.to_string();
        let (sessions, told) = read(&request, response);
        assert_eq!(told, [""; 0], "{shown}");
        assert_eq!(sessions.len(), 1, "{shown}");
        assert_eq!(calls(&sessions[0]), [("f", "{\"x\": 1}"), ("g", "{}")], "{shown}");
        assert_eq!(sessions[0].turns.len(), 1, "{shown}");
        assert!(sessions[0].messages.iter().any(|message| message.content.shown() == "so"), "{shown}");
    }
}

#[rstest]
#[case::chat(chat(), 3, "{\"x\": ")]
#[case::messages(messages(), 6, "{\"x\": ")]
#[case::items(items(), 6, "{\"x\": ")]
fn what_a_stream_breaks_off_within_is_told_and_not_guessed(
    #[case] (request, events): (Value, Vec<Value>),
    #[case] kept: usize,
    #[case] arguments: &str,
) {
    let cut_off = "some.json:1: warning[arguments_not_json]: the arguments of a call to `f` are not JSON; they are kept as text";
    let (sessions, told) = read(&request, json!(events[..kept]));
    assert_eq!(calls(&sessions[0]), [("f", arguments)]);
    assert_eq!(told, [BREAKS_OFF, cut_off]);

    // Within a piece.
    let text = sent(&events[..kept]) + "data: {\"type\": \"resp";
    assert_eq!(read(&request, json!(text)).1, [BREAKS_OFF, cut_off]);

    // Behind a call that is whole.
    let (sessions, told) = read(&request, json!(events[..kept + 2]));
    assert_eq!(calls(&sessions[0])[0], ("f", "{\"x\": 1}"));
    assert!(told.contains(&BREAKS_OFF.to_owned()));

    // Before anything came of it.
    let nothing = json!(events[..1]);
    assert!(read(&request, nothing).1.contains(&BREAKS_OFF.to_owned()));
}

#[rstest]
#[case::chat(chat(), 2)]
#[case::messages(messages(), 5)]
fn arguments_that_may_lack_a_piece_are_left_out(
    #[case] (request, events): (Value, Vec<Value>),
    #[case] lost: usize,
) {
    let mut texts: Vec<_> = events.iter().map(Value::to_string).collect();
    texts[lost] = "{\"type\": ".to_owned();
    let (sessions, told) = read(&request, json!(texts));
    assert!(sessions[0].calls[0].arguments.is_missing());
    assert_eq!(calls(&sessions[0])[1], ("g", "{}"));
    let lacks = "1 piece of the response, which is a stream, cannot be read; arguments that may lack one are left out";
    assert_eq!(told[0], format!("some.json:1: warning[damaged_record]: {lacks}"));
}

#[test]
fn an_item_that_is_whole_needs_no_pieces() {
    let (request, mut events) = items();
    events[5] = Value::Null;
    let (sessions, _) = read(&request, json!(events));
    assert_eq!(calls(&sessions[0])[0], ("f", "{\"x\": 1}"));
    // A service that leaves the output of the whole empty; one that does not tell it at all.
    let (request, mut events) = items();
    events[10]["response"]["output"] = json!([]);
    assert_eq!(calls(&read(&request, json!(events)).0[0]).len(), 2);
}

#[test]
fn calls_are_told_apart_without_an_index() {
    let (request, _) = chat();
    let call = |id: &str, more: Value| {
        let mut call = json!({"id": id, "function": {"name": "f", "arguments": "{}"}});
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"object": "chat.completion.chunk", "choices": [{"delta": {"tool_calls": [call]}}]})
    };
    let end = json!({"object": "chat.completion.chunk", "choices": [{"delta": {}, "finish_reason": "stop"}]});
    for more in [json!({}), json!({"index": 0})] {
        let response = json!([call("a", more.clone()), call("b", more), end]);
        assert_eq!(calls(&read(&request, response).0[0]), [("f", "{}"), ("f", "{}")]);
    }
}

#[test]
fn an_error_within_a_stream_is_told() {
    let (request, events) = messages();
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let (sessions, told) =
        read(&request, json!(sent(&[&events[..8], std::slice::from_ref(&error)].concat())));
    assert_eq!(calls(&sessions[0]), [("f", "{\"x\": 1}")]);
    assert!(
        told[0]
            .contains("the stream that the response is ends with an error: `{\"type\":\"overloaded_error\""),
        "{told:?}"
    );
    // Nothing else came.
    let (sessions, told) = read(&request, json!(sent(&[error])));
    assert_eq!((sessions[0].calls.len(), &*sessions[0].messages[1].role), (0, "system"));
    assert_eq!(told, [""; 0]);
}

#[test]
fn a_request_whose_stream_broke_off_can_be_made_again() {
    let (request, events) = chat();
    let broken = json!({"request": request, "response": events[..3]});
    let again = json!({"request": request, "response": events});
    let (sessions, of_file) = opened(format!("{broken}\n{again}"));
    assert_eq!((sessions.len(), sessions[0].calls.len()), (1, 2));
    assert!(!told(&sessions, &of_file).iter().any(|line| line.contains("breaks off")));
}

#[rstest]
#[case::chat(chat().0, json!({"choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]}}]}))]
#[case::messages(messages().0, json!({"type": "message", "role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]}))]
#[case::items(items().0, json!({"object": "response", "output": [{"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}]}))]
fn requests_and_responses_may_be_json_as_text(#[case] request: Value, #[case] response: Value) {
    let (asked, answered) = (request.to_string(), response.to_string());
    for value in [
        json!({"request": asked, "response": answered}),
        json!({"request": request, "response": answered}),
        json!({"request": {"method": "POST", "body": asked}, "response": {"status": 200, "body": answered}}),
        json!({"request_body": asked, "response_body": answered}),
    ] {
        let (sessions, of_file) = opened(value.to_string());
        assert_eq!((sessions.len(), calls(&sessions[0])), (1, vec![("f", "{}")]), "{value}");
        assert!(!told(&sessions, &of_file).iter().any(|line| line.contains("damaged")), "{value}");
    }
    let cut = &answered[..answered.len() - 3];
    let (_, told) = read(&request, json!(cut));
    let left_out =
        "some.json:1: warning[damaged_record]: the response is a text that is not JSON; it is left out";
    assert_eq!(told, [left_out]);
}
