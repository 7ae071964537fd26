//! Calls at places where few recordings keep them: they are read, or said to be lost, also where other calls are read.

use rulestep_base::session::{Outcome, Session};
use serde_json::{Value, json};

use super::losses::losses;
use super::opened;

fn tools(session: &Session) -> Vec<&str> {
    session.calls.iter().map(|call| &*call.tool).collect()
}

/// A message beside one with a call of `x`, as an object of the file and as lines: the calls that are read, and how many places
/// are said to be lost.
fn read(message: &Value) -> Vec<(Vec<String>, usize)> {
    let call = json!({"role": "assistant", "tool_calls": [{"id": "2", "function": {"name": "x", "arguments": "{}"}}]});
    let result = json!({"role": "tool", "tool_call_id": "2", "content": "ok"});
    let whole = json!({"messages": [message, call, result]}).to_string();
    let lines = [call, result, message.clone()].map(|line| line.to_string()).join("\n");
    let read = |text: String| {
        let (sessions, _) = opened(text.clone());
        let tools = sessions.iter().flat_map(tools).map(str::to_owned).collect();
        (tools, losses(&text).len())
    };
    vec![read(whole), read(lines)]
}

/// What may be calls is a loss wherever it is, and not only where the session has no other call.
#[test]
fn what_may_be_calls_is_a_loss_beside_calls_that_are_read() {
    let y = json!([{"id": "1", "function": {"name": "y", "arguments": "{}"}}]);
    for key in ["toolCalls", "tool_call", "tool_callss", "tool_uses", "functionCalls", "calls"] {
        let message = json!({"role": "assistant", "content": "", key: y});
        for (tools, lost) in read(&message) {
            assert_eq!((tools, lost), (vec!["x".to_owned()], 1), "{message}");
        }
    }
    for message in [
        json!({"role": "assistant", "functionCall": {"name": "y", "arguments": "{}"}}),
        json!({"role": "assistant", "toolCalls": "[{\"name\": \"y\"}]"}),
        json!({"role": "assistant", "executed_tools": [{"type": "python", "name": "y", "arguments": "{}"}]}),
        json!({"role": "assistant", "content": [{"type": "action", "name": "y", "args": {}}]}),
        json!({"role": "assistant", "content": [{"type": "custom_call", "tool": "y"}]}),
        json!({"role": "bot", "toolCalls": y}),
        json!({"role": "tool_call", "content": "{\"name\": \"y\"}"}),
    ] {
        for (tools, lost) in read(&message) {
            assert_eq!((tools, lost), (vec!["x".to_owned()], 1), "{message}");
        }
    }
}

/// Where it is beyond doubt what is meant, it is read.
#[test]
fn calls_at_two_places_of_a_message_are_read_once_each() {
    let both = ["x", "y"].map(str::to_owned).to_vec();
    let function = json!({"name": "y", "arguments": "{\"a\": 1}"});
    for message in [
        json!({"role": "assistant", "content": [{"type": "tool_call", "id": "1", "name": "y", "args": {"a": 1}}]}),
        json!({"role": "assistant", "content": [{"type": "function_call", "call_id": "1", "name": "y", "arguments": "{}"}]}),
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "y", "input": {}}]}),
        json!({"role": "assistant", "function_call": function}),
        json!({"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": [{"id": "1", "function": function}]}}),
        json!({"role": "assistant", "function_call": function, "tool_calls": [{"id": "1", "function": function}]}),
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "y", "input": {"a": 1}}],
            "tool_calls": [{"id": "1", "function": function}]}),
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "y", "input": {}}],
            "tool_calls": [{"id": "1", "function": function}]}),
    ] {
        let (sessions, _) = opened(json!({"messages": [message]}).to_string());
        let arguments = sessions[0].calls[0].arguments.value();
        assert!(arguments.is_some_and(Value::is_object), "{message}");
        for (mut tools, lost) in read(&message) {
            tools.sort();
            assert_eq!((&tools, lost), (&both, 0), "{message}");
        }
    }
    // They differ, so there are two.
    for message in [
        json!({"role": "assistant", "function_call": function, "tool_calls": [{"id": "1", "function": {"name": "z", "arguments": "{}"}}]}),
        json!({"role": "assistant", "function_call": function,
            "tool_calls": [{"id": "1", "function": {"name": "y", "arguments": "{\"a\": 2}"}}]}),
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "y", "input": {"a": 1}}],
            "tool_calls": [{"id": "2", "function": function}]}),
    ] {
        let (sessions, _) = opened(json!({"messages": [message]}).to_string());
        assert_eq!(sessions[0].calls.len(), 2, "{message}");
    }
}

/// A program that talks to both interfaces may write both into one conversation.
#[test]
fn messages_of_two_interfaces_are_one_conversation() {
    let blocks =
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "x", "input": {}}]});
    let given =
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "fine"}]});
    let chat = json!({"role": "assistant", "tool_calls": [{"id": "2", "function": {"name": "y", "arguments": "{}"}}]});
    let result = json!({"role": "tool", "tool_call_id": "2", "content": "fine", "is_error": true});
    for messages in [[&blocks, &given, &chat, &result], [&chat, &result, &blocks, &given]] {
        let lines = messages.map(|line| line.to_string()).join("\n");
        for text in [json!({"messages": messages}).to_string(), lines] {
            let (sessions, _) = opened(text.clone());
            let mut outcomes: Vec<_> =
                sessions[0].calls.iter().map(|call| (call.tool.to_string(), call.outcome)).collect();
            outcomes.sort_by(|one, other| one.0.cmp(&other.0));
            let expected = [("x".to_owned(), Outcome::Ok), ("y".to_owned(), Outcome::Error)];
            assert_eq!((outcomes.as_slice(), losses(&text)), (&expected[..], vec![]), "{text}");
        }
    }
}

/// Words that only sound like calls, and lists of what was called, are no loss.
#[test]
fn what_is_no_call_is_no_loss() {
    for more in [
        json!({"tool_call_ids": ["a", "b"]}),
        json!({"tool_choice": {"type": "auto"}}),
        json!({"tool_results": [{"name": "x", "output": "y"}]}),
        json!({"toolCalls": []}),
        json!({"toolCalls": null}),
        json!({"calls": 3}),
        json!({"tool_use": "auto"}),
        json!({"action": "none"}),
        json!({"steps": [{"name": "plan"}]}),
        json!({"mcp_tools": [{"name": "x", "description": "does x", "parameters": {}}]}),
        json!({"usage": {"tool_calls": 1}}),
        json!({"content": [{"type": "text", "text": "x", "name": "y"}, {"type": "image_url", "image_url": {"url": "u"}}]}),
    ] {
        let mut message = json!({"role": "assistant", "content": "x"});
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        for (tools, lost) in read(&message) {
            assert_eq!((tools, lost), (vec!["x".to_owned()], 0), "{message}");
        }
    }
}

/// A session may repeat its calls beside its messages. What is only there is lost.
#[test]
fn calls_of_a_session_beside_its_messages() {
    let session = |calls: Value| {
        let call = json!({"id": "2", "function": {"name": "x", "arguments": "{}"}});
        let messages = json!([{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "2", "content": ""}]);
        losses(&json!({"messages": messages, "tool_calls": calls}).to_string()).len()
    };
    for (calls, lost) in [
        (json!([{"name": "x", "arguments": {}}]), 0),
        (json!([{"function": {"name": "x"}}]), 0),
        (json!(["x"]), 0),
        (json!(2), 0),
        (json!([{"name": "x", "arguments": {}}, {"name": "y", "arguments": {}}]), 1),
        (json!([{"function": {"name": "y", "arguments": "{}"}}]), 1),
    ] {
        assert_eq!(session(calls.clone()), lost, "{calls}");
    }
}

#[test]
fn gemini_calls_in_both_spellings() {
    let parts = |call: Value, given: Value| {
        json!({"contents": [{"role": "user", "parts": [{"text": "x"}]}, {"role": "model", "parts": [call]},
            {"role": "user", "parts": [given]}]})
        .to_string()
    };
    let (call, given) = (json!({"name": "y", "args": {"a": 1}}), json!({"name": "y", "response": {"ok": 1}}));
    for text in [
        parts(json!({"functionCall": call}), json!({"functionResponse": given})),
        parts(json!({"function_call": call}), json!({"function_response": given})),
    ] {
        let (sessions, of_file) = opened(text.clone());
        assert_eq!((tools(&sessions[0]), sessions[0].calls[0].outcome), (vec!["y"], Outcome::Ok), "{text}");
        assert_eq!((of_file.len(), losses(&text)), (0, vec![]), "{text}");
    }
    let beside = |role: &str, part: Value| {
        let call =
            json!({"role": "model", "parts": [{"functionCall": {"name": "x", "args": {}}}, {"text": "x"}]});
        let other = json!({"role": role, "parts": [part]});
        let text = json!({"contents": [call, other]}).to_string();
        let (sessions, _) = opened(text.clone());
        (sessions[0].calls.len(), losses(&text).len())
    };
    for (part, read) in [
        (json!({"function_call": call}), (2, 0)),
        (json!({"functionCall": call}), (2, 0)),
        (json!({"toolCall": call}), (1, 1)),
        (json!({"toolCalls": [call]}), (1, 1)),
        (json!({"executableCode": {"language": "PYTHON", "code": "1"}}), (1, 1)),
        (json!({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}), (1, 0)),
        (json!({"text": "x", "thoughtSignature": "abc"}), (1, 0)),
        (json!({"inlineData": {"mimeType": "image/png", "data": ""}}), (1, 0)),
    ] {
        assert_eq!(beside("model", part.clone()), read, "{part}");
    }
    assert_eq!(beside("assistant", json!({"functionCall": call})), (2, 0));
    assert_eq!(beside("user", json!({"functionCall": call})), (1, 1));
    // A request with its answer beside it.
    let contents = json!([{"role": "user", "parts": [{"text": "x"}]}]);
    let answer = json!([{"content": {"role": "model", "parts": [{"functionCall": call}]}}]);
    assert_eq!(losses(&json!({"contents": contents, "candidates": answer}).to_string()).len(), 1);
}

#[test]
fn saved_gemini_sessions_tell_calls_that_are_not_in_their_list() {
    let session = |more: Value| {
        let mut message = json!({"id": "m", "type": "gemini", "content": "", "toolCalls": [{"id": "c1", "name": "x", "args": {},
            "status": "success", "result": [{"functionResponse": {"id": "c1", "name": "x", "response": {"output": "ok"}}}]}]});
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let text = json!({"sessionId": "s", "projectHash": "p", "messages": [message]}).to_string();
        losses(&text).len()
    };
    for (more, lost) in [
        (json!({}), 0),
        (json!({"content": [{"functionCall": {"id": "c1", "name": "x", "args": {}}}]}), 0),
        (json!({"content": [{"functionCall": {"id": "c2", "name": "y", "args": {}}}]}), 1),
        (json!({"tool_calls": [{"id": "c2", "name": "y", "args": {}}]}), 1),
        (json!({"functionCalls": [{"id": "c2", "name": "y", "args": {}}]}), 1),
    ] {
        assert_eq!(session(more.clone()), lost, "{more}");
    }
}

/// JSON says nothing of a key that is given twice, and its readers take the last one.
#[test]
fn a_key_that_is_read_and_given_twice_is_a_loss() {
    let call = |tool: &str, id: u8| {
        format!(r#"[{{"id":"{id}","function":{{"name":"{tool}","arguments":"{{}}"}}}}]"#)
    };
    let message = |calls: &str| format!(r#"{{"role":"assistant",{calls}}}"#);
    let result = r#"{"role":"tool","tool_call_id":"2","content":"ok"}"#;
    let (x, y) = (call("x", 2), call("y", 1));
    let twice = message(&format!(r#""tool_calls":{y},"tool_calls":{x}"#));
    let escaped = message(&format!(r#""tool\u005fcalls":{y},"tool_calls":{x}"#));
    let same = message(&format!(r#""tool_calls":{x},"tool_calls":{x}"#));
    let once = message(&format!(r#""tool_calls":{x}"#));
    let named = once.replace(r#""name":"x""#, r#""name":"y","name":"x""#);
    let beside = once.replace(r#""role""#, r#""mood":1,"mood":2,"role""#);
    for (messages, lost) in [
        (format!("[{twice},{result}]"), 1),
        (format!("[{escaped},{result}]"), 1),
        (format!("[{named},{result}]"), 1),
        (format!("[{same},{result}]"), 0),
        (format!("[{beside},{result}]"), 0),
        (format!("[{twice},{twice},{result}]"), 2),
    ] {
        for text in [format!(r#"{{"messages":{messages}}}"#), messages.clone()] {
            let (sessions, _) = opened(text.clone());
            assert_eq!(tools(&sessions[0])[0], "x", "{text}");
            assert_eq!(losses(&text).len(), lost, "{text}");
        }
    }
    let messages = format!(r#"{{"messages":[{twice}],"messages":[{once},{result}]}}"#);
    assert_eq!(losses(&messages).len(), 1);
    let (sessions, of_file) = opened(format!("{{\"messages\": [\n{once},\n{named},\n{result}]}}"));
    let said = super::told(&sessions, &of_file);
    let expected = "some.json:3: warning[damaged_record]: `name` is given twice in one object; only the last one is read";
    assert!(said.iter().any(|line| line == expected), "{said:?}");
}

#[test]
fn a_key_that_is_given_twice_in_arguments_is_told() {
    let read = |arguments: &str| {
        let call = format!(r#"{{"id":"1","function":{{"name":"x","arguments":{arguments}}}}}"#);
        let text = format!(
            r#"[{{"role":"assistant","tool_calls":[{call}]}},{{"role":"tool","tool_call_id":"1","content":""}}]"#
        );
        let (sessions, of_file) = opened(text.clone());
        assert_eq!(losses(&text), [], "{text}");
        super::told(&sessions, &of_file)
            .iter()
            .filter(|line| {
                line.contains("have `path` twice; no rule can decide the call, so it counts as denied")
            })
            .count()
    };
    let many = (0..20).map(|key| format!(r#""k{key}":0,"#)).collect::<String>();
    for (arguments, told) in [
        (r#"{"path":"secret","path":"a"}"#.to_owned(), 1),
        (r#""{\"path\":\"secret\",\"path\":\"a\"}""#.to_owned(), 1),
        (r#""{\"p\\u0061th\":\"secret\",\"path\":\"a\"}""#.to_owned(), 1),
        (r#"{"edits":[{"path":"b"},{"path":"secret","path":"a"}]}"#.to_owned(), 1),
        (format!(r#"{{{many}"path":"secret",{many}"path":"a"}}"#), 1),
        (r#"{"path":"a","path":"a"}"#.to_owned(), 0),
        (r#"{"edits":[{"path":"b"},{"path":"a"}],"path":"c"}"#.to_owned(), 0),
        (r#""{\"path\":\"a\"""#.to_owned(), 0),
    ] {
        assert_eq!(read(&arguments), told, "{arguments}");
    }
}

/// The same of recordings that have readers of their own: each has one call that is read, and one that is not.
#[test]
fn other_formats_say_what_they_do_not_read() {
    let bedrock = |block: Value| {
        json!({"messages": [{"role": "user", "content": [{"text": "x"}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "1", "name": "x", "input": {}}}, block]}]})
        .to_string()
    };
    let tau2 = |more: Value| {
        let call = json!({"id": "1", "name": "x", "arguments": {}, "requestor": "assistant"});
        let mut message = json!({"role": "assistant", "content": "y", "turn_idx": 1});
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"id": "s", "task_id": "1", "trial": 0, "termination_reason": "user_stop", "messages": [
            {"role": "assistant", "content": null, "tool_calls": [call], "turn_idx": 0},
            {"role": "tool", "id": "1", "content": "ok", "requestor": "assistant", "error": false, "turn_idx": 1}, message]})
        .to_string()
    };
    let vercel = |more: Value| {
        let part = json!({"type": "tool-x", "toolCallId": "1", "state": "output-available", "input": {}, "output": "ok"});
        let mut message = json!({"id": "b", "role": "assistant", "parts": [{"type": "text", "text": "x"}]});
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"id": "s", "messages": [{"id": "a", "role": "assistant", "parts": [part]}, message]})
            .to_string()
    };
    let exec = |item: Value| {
        let ran = json!({"id": "i1", "type": "command_execution", "command": "ls", "aggregated_output": "", "exit_code": 0, "status": "completed"});
        [
            json!({"type": "thread.started", "thread_id": "s"}),
            json!({"type": "item.completed", "item": ran}),
            json!({"type": "item.completed", "item": item}),
        ]
        .map(|line| format!("{line}\n"))
        .concat()
    };
    let traced = |output: Value| {
        [json!({"object": "trace", "id": "t1", "workflow_name": "desk"}),
            json!({"object": "trace.span", "id": "s1", "trace_id": "t1", "started_at": "2026-05-04T10:00:01+00:00",
                "ended_at": "2026-05-04T10:00:02+00:00", "span_data": {"type": "generation", "model": "m",
                "input": [{"role": "user", "content": "x"}], "output": [output]}})]
        .map(|line| format!("{line}\n"))
        .concat()
    };
    let call = json!({"id": "2", "name": "y", "args": {}});
    let chat = json!([{"id": "2", "function": {"name": "y", "arguments": "{}"}}]);
    let ran = json!({"id": "i2", "type": "command_execution", "commands": "ls", "aggregated_output": "", "exit_code": 0, "status": "completed"});
    for (text, lost) in [
        (bedrock(json!({"text": "y"})), 0),
        (bedrock(json!({"toolCall": call})), 1),
        (bedrock(json!({"tool_use": {"toolUseId": "2", "name": "y", "input": {}}})), 1),
        (tau2(json!({})), 0),
        (tau2(json!({"toolCalls": [call]})), 1),
        (vercel(json!({})), 0),
        (vercel(json!({"tool_calls": chat})), 1),
        (vercel(json!({"toolCalls": [call]})), 1),
        (exec(ran.clone()), 1),
        (traced(json!({"role": "assistant", "content": "", "tool_calls": chat})), 0),
        (
            traced(
                json!({"role": "assistant", "content": "", "function_call": {"name": "y", "arguments": "{}"}}),
            ),
            0,
        ),
        (traced(json!({"role": "assistant", "content": "", "tool_uses": chat})), 1),
        (traced(json!({"role": "assistant", "content": "", "functionCalls": chat})), 1),
    ] {
        assert_eq!(losses(&text).len(), lost, "{text}");
    }
    let old = traced(
        json!({"role": "assistant", "content": "", "function_call": {"name": "y", "arguments": "{}"}}),
    );
    assert_eq!(tools(&opened(old).0[0]), ["y"]);
    // A type that nobody knows, with a name.
    let item = json!({"timestamp": "2026-05-04T10:00:01.000Z", "type": "response_item",
        "payload": {"type": "tool_call", "name": "y", "arguments": "{}", "call_id": "c1"}});
    let meta = json!({"timestamp": "2026-05-04T10:00:00.000Z", "type": "session_meta", "payload": {"id": "s", "cwd": "/",
        "timestamp": "2026-05-04T10:00:00.000Z", "originator": "x", "cli_version": "1"}});
    assert_eq!(tools(&opened(format!("{meta}\n{item}\n")).0[0]), ["y"]);
}

/// Of LangChain's messages, where the calls of the content are those of the list, or more than them.
#[test]
fn langchain_calls_in_the_content_alone_are_read() {
    let read = |calls: Value, invalid: Value| {
        let message = json!({"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": {
            "content": [{"type": "tool_use", "id": "1", "name": "x", "input": {}}], "tool_calls": calls, "invalid_tool_calls": invalid,
            "type": "ai"}});
        let (sessions, _) = opened(json!({"messages": [message]}).to_string());
        let mut read: Vec<_> = tools(&sessions[0]).into_iter().map(str::to_owned).collect();
        read.sort();
        read.concat()
    };
    let call = |id: &str, name: &str| json!([{"id": id, "name": name, "args": {}, "type": "tool_call"}]);
    for (calls, invalid, expected) in [
        (call("1", "x"), json!([]), "x"),
        (json!([]), json!([]), "x"),
        (call("2", "y"), json!([]), "xy"),
        (json!(null), call("2", "y"), "xy"),
        (call("1", "x"), call("2", "y"), "xy"),
    ] {
        assert_eq!(read(calls.clone(), invalid.clone()), expected, "{calls} {invalid}");
    }
}

#[test]
fn messages_beside_those_that_are_read_may_hold_calls() {
    let call =
        |id: &str| json!({"id": id, "type": "function", "function": {"name": "rm", "arguments": "{}"}});
    let user = json!({"role": "user", "content": "a"});
    let response = |id: &str| json!({"role": "assistant", "tool_calls": [call(id)]});
    let blocks =
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "9", "name": "rm", "input": {}}]});
    let lost = |session: Value| losses(&session.to_string()).len();
    for key in
        ["history", "conversation", "turns", "trajectory", "events", "input", "previous", "children", "x"]
    {
        for list in [json!([user, response("9")]), json!([blocks]), json!({"messages": [response("9")]})] {
            assert_eq!(lost(json!({key: list, "messages": [user]})), 1, "{key}: {list}");
            assert_eq!(lost(json!({key: list, "messages": [user, response("1")]})), 1, "{key}: {list}");
        }
        // They are read already, or none.
        for list in [
            json!([user, response("1")]),
            json!([user]),
            json!([]),
            json!(["a"]),
            json!({"messages": [user]}),
        ] {
            assert_eq!(lost(json!({key: list, "messages": [user, response("1")]})), 0, "{key}: {list}");
        }
    }
    let result = |more: Value| {
        let mut result = json!({"role": "tool", "tool_call_id": "1", "content": "x"});
        result.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        lost(json!({"messages": [response("1"), result]}))
    };
    assert_eq!(result(json!({})), 0);
    assert_eq!(result(json!({"tool_calls": []})), 0);
    assert_eq!(result(json!({"tool_calls": null})), 0);
    assert_eq!(result(json!({"tool_calls": [call("2")]})), 1);
    assert_eq!(result(json!({"function_call": {"name": "rm", "arguments": "{}"}})), 1);
    assert_eq!(result(json!({"content": [{"type": "tool_use", "id": "2", "name": "rm", "input": {}}]})), 1);
    assert_eq!(result(json!({"content": [{"type": "text", "text": "x"}]})), 0);
}

/// Lines of a log that come before the line that they follow.
#[test]
fn a_log_of_claude_code_out_of_its_order_is_a_loss() {
    let line = |uuid: &str, parent: Value, kind: &str, message: Value| {
        json!({"sessionId": "s", "timestamp": "2026-01-01T00:00:00Z", "uuid": uuid, "parentUuid": parent, "type": kind,
            "message": message})
        .to_string()
    };
    let call = |id: &str| {
        json!({"id": format!("m{id}"), "role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "rm x"}}]})
    };
    let done = |id: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "ok"}]});
    let lines = [
        line("u1", Value::Null, "user", json!({"role": "user", "content": "hi"})),
        line("a1", json!("u1"), "assistant", call("1")),
        line("r1", json!("a1"), "user", done("1")),
        line("a2", json!("r1"), "assistant", call("2")),
        line("r2", json!("a2"), "user", done("2")),
    ];
    let read = |order: &[usize]| {
        let text: Vec<&str> = order.iter().map(|at| &*lines[*at]).collect();
        let text = text.join("\n");
        let calls: usize = opened(text.clone()).0.iter().map(|session| session.calls.len()).sum();
        (calls, losses(&text).len())
    };
    assert_eq!(read(&[0, 1, 2, 3, 4]), (2, 0));
    for order in [[4, 3, 2, 1, 0], [0, 3, 4, 1, 2], [1, 0, 2, 3, 4], [0, 2, 1, 3, 4]] {
        let (calls, lost) = read(&order);
        assert!(calls == 2 || lost > 0, "{order:?}: {calls} calls, {lost} losses");
    }
    assert_eq!(read(&[4, 3, 2, 1, 0]), (0, 1));
}

/// What somebody added to a session that was converted, and messages among the tools.
#[test]
fn messages_beside_those_of_a_session_are_a_loss() {
    let call = json!([{"id": "1", "function": {"name": "y", "arguments": "{}"}}]);
    let message = json!([{"role": "assistant", "tool_calls": call}]);
    let user = json!([{"role": "user", "content": "x"}]);
    for (more, lost) in [
        (json!({"results": "recorded", "history": message}), 1),
        (json!({"results": "recorded", "context": {"messages": message}}), 0),
        (json!({"tools": message}), 1),
    ] {
        let mut session = json!({"id": "s", "messages": user});
        session.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(losses(&session.to_string()).len(), lost, "{session}");
    }
}

/// Qwen Code shows people less than it tells the model.
#[test]
fn what_qwen_shows_need_not_be_a_success() {
    let told = |result: Value| {
        let line = |kind: &str, more: Value| {
            let mut line =
                json!({"uuid": kind, "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z", "type": kind});
            line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            line.to_string()
        };
        let call =
            json!({"functionCall": {"id": "1", "name": "run_shell_command", "args": {"command": "x"}}});
        let text = [
            line("user", json!({"message": {"role": "user", "parts": [{"text": "x"}]}})),
            line("assistant", json!({"message": {"role": "model", "parts": [call]}})),
            line("tool_result", json!({"toolCallResult": result})),
        ];
        opened(text.join("\n")).0[0].calls[0].outcome
    };
    for (result, expected) in [
        (json!({"callId": "1", "status": "success", "resultDisplay": "done"}), Outcome::Ok),
        (json!({"callId": "1", "resultDisplay": "done"}), Outcome::Unknown),
        (json!({"callId": "1", "status": "success", "resultDisplay": "Command timed out"}), Outcome::Unknown),
        (
            json!({"callId": "1", "status": "success", "resultDisplay": "Command exited with code: 2"}),
            Outcome::Error,
        ),
        (json!({"callId": "1", "status": "error", "resultDisplay": "done"}), Outcome::Error),
    ] {
        assert_eq!(told(result.clone()), expected, "{result}");
    }
}
