//! Logs of requests and responses: requests that were not answered.

use rulestep_base::session::Session;
use serde_json::{Value, json};

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
fn a_response_that_no_request_goes_on_from_is_a_session_of_its_own() {
    let call = |id: &str, command: &str| {
        let function = json!({"name": "sh", "arguments": json!({"command": command}).to_string()});
        json!({"id": id, "type": "function", "function": function})
    };
    let proposed = |calls: &[Value]| json!({"role": "assistant", "tool_calls": calls});
    let result = |call: &Value| json!({"role": "tool", "tool_call_id": call["id"], "content": "fine"});
    let asked = |messages: &[Value], answer: Value| json!({"request": {"messages": messages}, "response": {"choices": [{"message": answer}]}});
    let user = json!({"role": "user", "content": "go"});
    let end = json!({"role": "assistant", "content": "done"});
    let first = asked(std::slice::from_ref(&user), proposed(&[call("a", "rm"), call("b", "ls")]));
    let after = |calls: &[Value]| asked(&[user.clone(), proposed(calls), result(&calls[0])], end.clone());

    // The next request has other calls: the model was asked again, and that is not in the log.
    let (sessions, told) = read(&[first.clone(), after(&[call("x", "ls -l")])]);
    assert_eq!(calls(&sessions), [vec!["sh", "sh"], vec!["sh"]]);
    assert!(!told.iter().any(|line| line.contains("damaged")), "{told:?}");

    // Ids may be given anew.
    let (sessions, _) = read(&[first.clone(), after(&[call("x", "rm"), call("y", "ls")])]);
    assert_eq!(calls(&sessions), [["sh", "sh"]]);

    // One of two is left out, whatever comes after that.
    let rm = call("a", "rm");
    let longer =
        asked(&[user.clone(), proposed(std::slice::from_ref(&rm)), result(&rm), end.clone()], end.clone());
    for log in
        [vec![first.clone(), after(&[call("a", "rm")])], vec![first, after(&[call("a", "rm")]), longer]]
    {
        let (sessions, told) = read(&log);
        assert_eq!(calls(&sessions), [["sh"]]);
        let lost = "some.json:1: warning[damaged_record]: the response proposes a call that is not in the request after it; \
                    left out";
        assert!(told.iter().any(|line| line == lost), "{told:?}");
    }
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

#[test]
fn responses_alone_are_one_conversation_by_what_they_go_on_from() {
    let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": id, "arguments": "{}"});
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "fine"});
    let response = |id: &str, before: Value, calls: &[&str]| {
        let output: Vec<_> = calls.iter().map(|id| call(id)).collect();
        json!({"id": id, "object": "response", "previous_response_id": before, "output": output})
    };
    let turns = |session: &Session| session.turns.len();
    let (first, other) = (response("r1", Value::Null, &["a", "b"]), response("s1", Value::Null, &["x"]));
    let (second, third) = (response("r2", json!("r1"), &["c"]), response("r3", json!("r2"), &[]));
    let (sessions, _) = read(&[first.clone(), other.clone(), second, third]);
    assert_eq!(calls(&sessions), [vec!["a", "b", "c"], vec!["x"]]);
    assert_eq!(sessions.iter().map(turns).collect::<Vec<_>>(), [2, 1]);

    // Results stand between them, and say themselves what they belong to.
    let alone = |id: &str, calls: &[&str]| response(id, Value::Null, calls);
    let (sessions, told) = read(&[first, output("b"), output("a"), alone("r2", &["c"]), other, output("c")]);
    assert_eq!(calls(&sessions), [vec!["a", "b", "c"], vec!["x"]]);
    assert_eq!(sessions[0].turns.len(), 2);
    assert!(!told.iter().any(|line| line.contains("result_without_call")), "{told:?}");
}

#[test]
fn each_line_of_a_batch_is_a_session_named_by_its_custom_id() {
    let line = |id: &str| {
        json!({"custom_id": id, "id": "same", "response": {"status_code": 200, "body": {"id": "same",
            "choices": [{"message": {"role": "assistant", "content": id}}]}}})
    };
    let (sessions, _) = read(&[line("b"), line("a"), line("c")]);
    assert_eq!(sessions.iter().map(|session| &*session.id).collect::<Vec<_>>(), ["b", "a", "c"]);
    assert!(sessions.iter().all(|session| session.turns.len() == 1 && session.facts.from_the_middle));
}

#[test]
fn messages_of_strands_agents_say_which_they_are() {
    let said = |number: u32| json!({"message": {"role": "user", "content": [{"text": "hi"}]}, "message_id": number, "created_at": "2026-01-01T00:00:00Z"});
    assert_eq!(read(&[said(0), said(1)]).1, [""; 0]);
    let (sessions, told) = read(&[said(4)]);
    assert!(sessions[0].facts.from_the_middle);
    assert_eq!(
        told,
        [
            "some.json:1: notice[starts_in_the_middle]: the first message here is number 4 of its session; put those before it into the same file"
        ]
    );
    // Their results stand in another file.
    let call =
        json!({"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "f", "input": {}}}]});
    let (sessions, _) = read(&[json!({"message": call, "message_id": 1})]);
    assert_eq!(sessions[0].calls[0].outcome, rulestep_base::session::Outcome::Unknown);
    let (_, told) = read(&[said(0), said(10), said(2), said(1)]);
    let unordered = "message 2 comes after message 10: calls may not find their results";
    assert_eq!(told, [format!("some.json:3: warning[damaged_record]: {unordered}")]);
}

#[test]
fn messages_of_bedrock_stand_alone_in_any_way() {
    let call = json!({"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "f", "input": {"x": 1}}}]});
    let result = |status: Value| json!({"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"json": {"y": 2}}], "status": status}}]});
    for (status, failed) in
        [(json!("success"), false), (json!("error"), true), (json!(7), true), (Value::Null, false)]
    {
        let (call, result) = (&call, result(status));
        for file in [
            json!([call, result]),
            json!({"messages": [call, result]}),
            json!([{"message": call, "message_id": 0}, {"message": result, "message_id": 1}]),
            json!({"messages": [call], "toolConfig": {"tools": []}, "output": {"message": result}}),
        ] {
            let (sessions, of_file) = opened(file.to_string());
            assert_eq!(calls(&sessions), [["f"]], "{file}");
            let made = &sessions[0].calls[0];
            assert_eq!((made.arguments.raw(), made.output.raw()), ("{\"x\":1}", "{\"y\":2}"), "{file}");
            assert_eq!(made.outcome == rulestep_base::session::Outcome::Error, failed, "{file}");
            assert_eq!(told(&sessions, &of_file), [""; 0], "{file}");
        }
    }
}

#[test]
fn offered_tools_stand_where_gateways_keep_them() {
    let tools = json!([{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]);
    let messages = json!([{"role": "user", "content": "go"}]);
    let answer = json!({"choices": [{"message": {"role": "assistant", "content": "so"}}]});
    let params = json!({"tools": tools});
    for line in [
        json!({"messages": messages, "optional_params": params, "response": answer}),
        json!({"messages": messages, "model_parameters": params, "response": answer}),
        json!({"messages": messages, "optional_params": params, "original_response": answer.to_string()}),
        json!({"model_call_dict": {"messages": messages, "optional_params": params}, "response_obj": answer}),
        json!({"kwargs": {"messages": messages, "additional_args": {"complete_input_dict": params}}, "response": answer}),
        json!({"messages": messages, "optional_params": params}),
        json!({"run_type": "llm", "id": "r", "trace_id": "t", "start_time": "2026-01-01T00:00:00Z",
            "inputs": {"messages": messages, "tools": tools}, "outputs": answer}),
        json!({"run_type": "llm", "id": "r", "trace_id": "t", "start_time": "2026-01-01T00:00:00Z",
            "inputs": {"messages": messages}, "outputs": answer, "extra": {"invocation_params": params}}),
    ] {
        let (sessions, _) = read(std::slice::from_ref(&line));
        let offered = sessions[0].offered_in(1).map(|tools| &*tools[0].name);
        assert_eq!(offered, Some("f"), "{line}");
        assert!(sessions[0].messages.iter().any(|message| message.content.shown() == "go"), "{line}");
    }
}

/// Clients send back what the model said, and not what the provider did for it.
#[test]
fn what_the_provider_did_need_not_be_repeated() {
    let searched = |id: &str, said: &str| {
        json!([{"type": "web_search_call", "id": id, "status": "completed", "action": {"type": "search", "query": "q"}},
            {"type": "message", "role": "assistant", "id": "m", "content": [{"type": "output_text", "text": said}]}])
    };
    let (user, assistant) = (
        |text: &str| json!({"role": "user", "content": text}),
        |text: &str| json!({"role": "assistant", "content": text}),
    );
    let call = json!({"type": "function_call", "call_id": "c", "name": "delete", "arguments": "{\"a\": 1}"});
    let output = json!({"type": "function_call_output", "call_id": "c", "output": "ok"});
    let exchange = |input: &[Value], output: Value| {
        json!({"request": {"model": "m", "input": input},
            "response": {"id": "r", "object": "response", "status": "completed", "output": output}})
    };
    let mut said = vec![user("find it")];
    let first = exchange(&said, searched("w1", "sunny"));
    said.extend([assistant("sunny"), user("now delete it")]);
    let second = exchange(&said, json!([call]));
    said.extend([call.clone(), output]);
    let third = exchange(&said, searched("w2", "done"));
    said.extend([assistant("done"), user("bye")]);
    let fourth = exchange(&said, json!([{"type": "message", "role": "assistant", "id": "m", "content": []}]));
    let (sessions, told) = read(&[first, second, third, fourth]);
    let deleted = calls(&sessions).concat().into_iter().filter(|tool| *tool == "delete").count();
    assert_eq!((sessions.len(), deleted), (1, 1), "{told:#?}");
    assert!(told.iter().any(|told| told.contains("left out")), "{told:#?}");
}

/// A function that is in no namespace is named once, and what pads an absent call is none.
#[test]
fn names_and_calls_that_are_only_padding_add_nothing() {
    let answered = |space: &str| {
        let call = json!({"type": "function_call", "call_id": "c1", "namespace": space, "name": "refund", "arguments": "{}"});
        let (sessions, _) = opened(
            json!({"request": {"model": "m", "input": [{"role": "user", "content": "x"}]},
            "response": {"id": "r", "object": "response", "output": [call]}})
            .to_string(),
        );
        sessions[0].calls[0].tool.to_string()
    };
    assert_eq!((&*answered("refund"), &*answered("shop")), ("refund", "shop__refund"));
    let called = |padding: serde_json::Value| {
        let message = json!({"role": "assistant", "content": "x", "function_call": padding});
        let (sessions, _) = opened(json!({"messages": [message]}).to_string());
        sessions[0].calls.len()
    };
    assert_eq!(called(json!({"name": "", "arguments": ""})), 0);
    assert_eq!(called(json!({"name": "", "arguments": "{\"a\": 1}"})), 1);
    assert_eq!(called(json!({"name": "refund", "arguments": ""})), 1);
}

/// The provider's search for tools is a call with its answer, though neither has an id that the other names.
#[test]
fn a_search_for_tools_is_answered_by_the_item_after_it() {
    let search = |n: u32| {
        json!({"type": "tool_search_call", "id": format!("tsc_{n}"), "call_id": null, "execution": "server",
        "status": "completed", "arguments": {"paths": [n.to_string()]}})
    };
    let found = |n: u32| {
        json!({"type": "tool_search_output", "id": format!("tso_{n}"), "call_id": null, "execution": "server",
        "status": "completed", "tools": [{"type": "function", "name": format!("get_{n}")}]})
    };
    let call = json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "namespace": "tools", "name": "get_1", "arguments": "{}"});
    let answer = json!({"type": "function_call_output", "call_id": "call_1", "output": "1.1"});
    let user = json!({"role": "user", "content": "rate?"});
    let own = |n: u32| {
        let (mut search, mut found) = (search(n), found(n));
        search["call_id"] = json!("own");
        found["call_id"] = json!("own");
        [search, found]
    };
    for output in [
        vec![search(1), found(1), search(2), found(2), call.clone()],
        vec![search(1), search(2), found(1), found(2), call.clone()],
    ] {
        let log = [
            json!({"request": {"model": "m", "input": [user]}, "response": {"id": "r1", "object": "response", "output": output}}),
            json!({"request": {"model": "m", "previous_response_id": "r1", "input": [answer]}, "response": {"id": "r2", "object": "response", "output": []}}),
        ];
        let (sessions, told) = read(&log);
        assert_eq!(calls(&sessions), [["tool_search", "tool_search", "tools__get_1"]]);
        assert_eq!(told, Vec::<String>::new());
        for (n, call) in sessions[0].calls.iter().take(2).enumerate() {
            let (own, other) = (format!("get_{}", n + 1), format!("get_{}", 2 - n));
            assert!(
                call.output.shown().contains(&own) && !call.output.shown().contains(&other),
                "{output:?}"
            );
        }
        assert_eq!(sessions[0].calls_of(&sessions[0].turns[0]).len(), 3, "one response is one turn");
    }
    // A client that searches itself names its call.
    let (sessions, told) = read(&own(1));
    assert_eq!((calls(&sessions), told), (vec![vec!["tool_search"]], vec![]));
    // One that no search comes before is a result of a call that is missing.
    let (_, told) = read(&[user, found(1)]);
    assert!(told.iter().any(|line| line.contains("no call without an id is waiting")), "{told:?}");
}
