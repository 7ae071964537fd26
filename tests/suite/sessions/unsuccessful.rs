//! Calls that were refused, failed or go on, in the words of each format: none of them succeeded.

use serde_json::{Value, json};

use super::{opened, told};

/// What became of each call of a file of lines, with its tool, and what was said of the file.
fn read(lines: &[Value]) -> (Vec<String>, Vec<String>) {
    let (sessions, of_file) = opened(lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    let calls = sessions.iter().flat_map(|session| &session.calls);
    let calls = calls.map(|call| format!("{} {}", call.tool, call.outcome.word())).collect();
    (calls, told(&sessions, &of_file))
}

fn outcomes(lines: &[Value]) -> Vec<String> {
    read(lines).0
}

fn rollout(items: &[Value]) -> Vec<Value> {
    let line = |kind: &str, payload: &Value| json!({"timestamp": "2026-05-04T10:00:00.000Z", "type": kind, "payload": payload});
    let mut lines = vec![line("session_meta", &json!({"id": "s", "timestamp": "2026-05-04T10:00:00.000Z"}))];
    lines.extend(items.iter().map(|item| {
        let kind = item["type"].as_str().unwrap();
        let is_event = kind.ends_with("_end") || ["item_completed", "thread_rolled_back"].contains(&kind);
        line(if is_event { "event_msg" } else { "response_item" }, item)
    }));
    lines
}

fn called(id: &str, tool: &str, arguments: &Value) -> Value {
    json!({"type": "function_call", "call_id": id, "name": tool, "arguments": arguments.to_string()})
}

fn output(id: &str, text: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": text})
}

#[test]
fn scripts_of_codex_run_on_until_a_wait_says_how_they_ended() {
    let told = |words: &str| format!("{words}\nWall time 1.0 seconds\nOutput:\n");
    let begin = [called("c1", "exec", &json!({})), output("c1", &told("Script running with cell ID 3"))];
    let wait = called("c2", "wait", &json!({"cell_id": "3"}));
    for (end, expected) in [
        (told("Script completed"), ["exec ok", "wait ok"]),
        (told("Script failed"), ["exec error", "wait error"]),
        (told("Script running with cell ID 3"), ["exec unknown", "wait unknown"]),
        ("aborted by user after 2.0s".to_owned(), ["exec unknown", "wait error"]),
    ] {
        let items = [begin.as_slice(), &[wait.clone(), output("c2", &end)]].concat();
        assert_eq!(outcomes(&rollout(&items)), expected, "{end}");
    }
}

#[test]
fn what_a_script_of_codex_calls_is_read_of_events() {
    let server = |id: &str, result: Value| {
        let invocation = json!({"server": "gh", "tool": id, "arguments": {"repo": "x"}});
        json!({"type": "mcp_tool_call_end", "call_id": format!("exec-{id}"), "invocation": invocation, "result": result})
    };
    let changes = json!({"/w/a": {"type": "add", "content": "one\ntwo\n"}, "/w/b": {"type": "delete", "content": "x"},
        "/w/c": {"type": "update", "unified_diff": "@@ -1,1 +1,1 @@\n-old\n+new\n", "move_path": "/w/d"}});
    let patch = json!({"type": "patch_apply_end", "call_id": "exec-p", "success": true, "stdout": "done", "changes": changes});
    let items = [
        called("c1", "exec", &json!({})),
        server("push", json!({"Ok": {"content": [{"type": "text", "text": "done"}]}})),
        server("merge", json!({"Ok": {"content": [], "isError": true}})),
        server("drop", json!({"Err": "user rejected MCP tool call"})),
        patch,
        output("c1", "Script completed\nWall time 1.0 seconds\nOutput:\n"),
    ];
    let (sessions, of_file) =
        opened(rollout(&items).iter().map(|line| format!("{line}\n")).collect::<String>());
    let calls = &sessions[0].calls;
    let outcomes: Vec<_> =
        calls.iter().map(|call| format!("{} {}", call.tool, call.outcome.word())).collect();
    let expected =
        ["exec ok", "mcp__gh__push ok", "mcp__gh__merge error", "mcp__gh__drop refused", "apply_patch ok"];
    assert_eq!(outcomes, expected);
    assert_eq!(told(&sessions, &of_file), [""; 0]);
    assert_eq!(calls[1].arguments.raw(), r#"{"repo":"x"}"#);
    let patch = "*** Begin Patch\n*** Add File: /w/a\n+one\n+two\n*** Delete File: /w/b\n*** Update File: /w/c\n\
                 *** Move to: /w/d\n@@\n-old\n+new\n*** End Patch";
    assert_eq!(calls[4].arguments.value().unwrap()["input"], patch);

    // Several tools have this event, and it does not say which of them was called.
    let command = json!({"type": "exec_command_end", "call_id": "exec-1", "command": ["ls"], "exit_code": 0});
    let (calls, told) = read(&rollout(&[called("c1", "exec", &json!({})), command]));
    assert_eq!(calls, ["exec unknown"]);
    let lost = "the file could not be read completely: 1 part of the file is damaged or skipped, and may have contained calls";
    assert!(told.iter().any(|line| line.contains(lost)), "{told:?}");
}

/// The item of the screen at the end of what newer logs have no event of.
fn completed(item: Value) -> Value {
    json!({"type": "item_completed", "thread_id": "t", "item": item})
}

#[test]
fn what_a_script_of_codex_calls_is_read_of_items_that_are_complete() {
    let item = |kind: &str, id: &str, more: Value| {
        let mut item = json!({"type": kind, "id": format!("exec-{id}")});
        item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        completed(item)
    };
    let command = |id: &str, status: &str, code: Value| {
        let words = json!(["/bin/zsh", "-lc", format!("cargo {id}")]);
        item(
            "CommandExecution",
            id,
            json!({"command": words, "cwd": "file:///w/my%20app", "source": "unified_exec_startup",
            "status": status, "exit_code": code, "aggregated_output": "Exit code: 1"}),
        )
    };
    let server = |id: &str, more: Value| {
        let mut call = json!({"server": "gh", "tool": id, "arguments": {"repo": "x"}});
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        item("McpToolCall", id, call)
    };
    let changes = json!({"/w/a": {"type": "delete", "content": "x"}});
    let items = [
        called("c1", "exec", &json!({})),
        command("test", "completed", json!(0)),
        command("build", "failed", json!(101)),
        command("doc", "declined", json!(-1)),
        command("run", "in_progress", Value::Null),
        server(
            "push",
            json!({"status": "completed", "result": {"content": [{"type": "text", "text": "done"}]}}),
        ),
        server("merge", json!({"status": "failed", "result": {"content": [], "isError": true}})),
        server("drop", json!({"status": "failed", "error": {"message": "timed out"}})),
        item("FileChange", "p", json!({"changes": changes, "status": "completed", "stdout": "done"})),
        item("FileChange", "q", json!({"changes": changes, "status": "failed", "stderr": "no"})),
        output("c1", "Script completed\nWall time 1.0 seconds\nOutput:\n"),
    ];
    let (sessions, of_file) =
        opened(rollout(&items).iter().map(|line| format!("{line}\n")).collect::<String>());
    let calls = &sessions[0].calls;
    let outcomes: Vec<_> =
        calls.iter().map(|call| format!("{} {}", call.tool, call.outcome.word())).collect();
    let expected = [
        "exec ok",
        "exec_command ok",
        "exec_command error",
        "exec_command refused",
        "exec_command unknown",
        "mcp__gh__push ok",
        "mcp__gh__merge error",
        "mcp__gh__drop error",
        "apply_patch ok",
        "apply_patch error",
    ];
    assert_eq!(outcomes, expected);
    assert_eq!(calls[1].arguments.raw(), r#"{"cmd":"cargo test","workdir":"/w/my app"}"#);
    let told = told(&sessions, &of_file);
    assert!(told[0].contains("their other arguments are not in the log"), "{told:?}");
    assert!(told[1..].iter().all(|line| line.contains("1 call has no result")), "{told:?}");

    // What is called so that nobody can say how is a part that is left out.
    for item in [
        item(
            "CommandExecution",
            "x",
            json!({"command": ["ls"], "cwd": "/w", "source": "unified_exec_startup"}),
        ),
        item("CommandExecution", "x", json!({"command": ["sh", "-c", "ls"], "cwd": "/w", "source": "agent"})),
        item("ImageView", "x", json!({"path": "a.png"})),
    ] {
        let (calls, told) = read(&rollout(&[called("c1", "exec", &json!({})), item.clone()]));
        assert_eq!(calls, ["exec unknown"], "{item}");
        assert!(told.iter().any(|line| line.contains("may have contained calls")), "{told:?}");
    }
}

#[test]
fn an_item_and_an_event_of_one_call_of_a_script_are_one_call() {
    let result = json!({"Ok": {"content": [], "isError": true}});
    let invocation = json!({"server": "gh", "tool": "push", "arguments": {}});
    let event =
        json!({"type": "mcp_tool_call_end", "call_id": "exec-1", "invocation": invocation, "result": result});
    let item = called("exec-1", "mcp__gh__push", &json!({}));
    for items in [
        vec![item.clone(), event.clone()],
        vec![item.clone(), event.clone(), output("exec-1", "no")],
        vec![item.clone(), output("exec-1", "no"), event.clone()],
        vec![event.clone(), item, output("exec-1", "no")],
        vec![event.clone(), event],
    ] {
        assert_eq!(read(&rollout(&items)), (vec!["mcp__gh__push error".to_owned()], Vec::new()), "{items:?}");
    }
}

#[test]
fn questions_of_newer_logs_of_codex_can_be_taken_back() {
    let said = |text: &str| json!({"type": "message", "role": "user", "content": text});
    let prompt = completed(json!({"type": "UserMessage", "id": "u"}));
    let items = [
        said("first"),
        prompt.clone(),
        called("c1", "push", &json!({})),
        output("c1", "fine"),
        said("second"),
        prompt,
        called("c2", "merge", &json!({})),
        output("c2", "fine"),
        json!({"type": "thread_rolled_back", "num_turns": 1}),
    ];
    assert_eq!(outcomes(&rollout(&items)), ["push ok"]);
}

#[test]
fn events_of_codex_say_that_a_call_was_declined() {
    let event = json!({"type": "patch_apply_end", "call_id": "c1", "success": false, "status": "declined"});
    let items = [called("c1", "apply_patch", &json!({})), event, output("c1", "no")];
    assert_eq!(outcomes(&rollout(&items)), ["apply_patch refused"]);
}

#[test]
fn words_of_codex_are_its_own_only_where_it_writes_them() {
    let aborted = "Wall time: 1.2 seconds\naborted by user";
    for (tool, text, expected) in [
        ("exec_command", aborted, "error"),
        ("exec_command", "exec_command failed for `x`: no", "error"),
        ("mcp__files__read", "exec_command failed for `x`: no", "ok"),
        ("mcp__ci__run", "Process running with session ID 5", "ok"),
        ("mcp__ci__log", "`git push` rejected: no", "ok"),
        ("mcp__ci__log", "aborted by user after 2.0s", "error"),
    ] {
        let items = [called("c1", tool, &json!({})), output("c1", text)];
        assert_eq!(outcomes(&rollout(&items)), [format!("{tool} {expected}")], "{text}");
    }
}

#[test]
fn items_of_codex_that_hold_no_call_are_no_loss() {
    let items = ["context_compaction", "additional_tools", "agent_message", "compaction_trigger"]
        .map(|kind| json!({"type": kind, "content": [], "tools": []}));
    let call = [called("c1", "push", &json!({})), output("c1", "fine")];
    assert_eq!(read(&rollout(&[call.as_slice(), &items].concat())), (vec!["push ok".to_owned()], Vec::new()));
}

#[test]
fn an_item_of_codex_exec_that_goes_on_has_not_succeeded() {
    let item = |id: &str, status: &str| {
        json!({"type": "item.completed", "item": {"id": id, "type": "command_execution", "command": id,
            "aggregated_output": "", "exit_code": null, "status": status}})
    };
    let lines = [
        json!({"type": "thread.started", "thread_id": "t"}),
        item("a", "in_progress"),
        item("b", "completed"),
        item("c", "failed"),
        item("d", "declined"),
    ];
    let expected = ["unknown", "ok", "error", "refused"].map(|word| format!("command_execution {word}"));
    assert_eq!(outcomes(&lines), expected);
}

fn responses(input: &[Value], output: &[Value]) -> Vec<Value> {
    let response = json!({"object": "response", "id": "r", "output": output});
    vec![json!({"request": {"model": "m", "input": input}, "response": response})]
}

#[test]
fn approvals_of_the_responses_api_propose_and_decide_calls() {
    let asked = |id: &str| json!({"type": "mcp_approval_request", "id": id, "name": "drop", "server_label": "db", "arguments": "{}"});
    let answered = |approve: bool| json!({"type": "mcp_approval_response", "approval_request_id": "q1", "approve": approve});
    let ran = json!({"type": "mcp_call", "id": "m1", "name": "drop", "server_label": "db", "arguments": "{}",
        "status": "completed", "error": null, "output": "done", "approval_request_id": "q1"});
    let mut goes_on = ran.clone();
    (goes_on["status"], goes_on["output"]) = (json!("in_progress"), Value::Null);
    let said =
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "so"}]});
    for (input, output, expected) in [
        (vec![], vec![asked("q1")], vec!["mcp__db__drop unknown"]),
        (vec![asked("q1"), answered(false)], vec![said.clone()], vec!["mcp__db__drop refused"]),
        (vec![asked("q1"), answered(true)], vec![ran.clone(), said.clone()], vec!["mcp__db__drop ok"]),
        // It goes on, and then it is over.
        (vec![asked("q1"), answered(true)], vec![goes_on.clone()], vec!["mcp__db__drop unknown"]),
        (vec![asked("q1"), answered(true)], vec![goes_on.clone(), ran.clone()], vec!["mcp__db__drop ok"]),
        // What was asked stands in another file.
        (vec![answered(true)], vec![goes_on, ran.clone()], vec!["mcp__db__drop ok"]),
        (vec![answered(true)], vec![ran, said], vec!["mcp__db__drop ok"]),
    ] {
        let user = json!({"role": "user", "content": "go"});
        let input = [vec![user], input].concat();
        assert_eq!(outcomes(&responses(&input, &output)), expected, "{input:?}");
    }
}

#[test]
fn calls_of_the_responses_api_say_how_they_ended() {
    let shell = |id: &str, outcome: Value| {
        let output = json!([{"stdout": "", "stderr": "", "outcome": outcome}]);
        [
            json!({"type": "shell_call", "call_id": id, "action": {"commands": ["x"]}, "status": "completed"}),
            json!({"type": "shell_call_output", "call_id": id, "output": output, "status": "completed"}),
        ]
    };
    let input = [
        shell("a", json!({"type": "exit", "exit_code": 0})),
        shell("b", json!({"type": "exit", "exit_code": 2})),
        shell("c", json!({"type": "timeout"})),
    ];
    let user = json!({"role": "user", "content": "go"});
    let input = [vec![user], input.concat()].concat();
    let ran = ["completed", "failed", "incomplete", "calling"].map(|status| {
        json!({"type": "mcp_call", "id": status, "name": status, "server_label": "s", "arguments": "{}",
            "status": status, "error": null, "output": null})
    });
    let expected = [
        "shell ok",
        "shell error",
        "shell error",
        "mcp__s__completed ok",
        "mcp__s__failed error",
        "mcp__s__incomplete error",
        "mcp__s__calling unknown",
    ];
    assert_eq!(outcomes(&responses(&input, &ran)), expected);
}

#[test]
fn code_that_anthropic_runs_fails_by_its_exit_code() {
    let run = |id: &str, code: i64| {
        let inner =
            json!({"type": "bash_code_execution_result", "stdout": "", "stderr": "", "return_code": code});
        [
            json!({"type": "server_tool_use", "id": id, "name": "bash_code_execution", "input": {"command": "x"}}),
            json!({"type": "bash_code_execution_tool_result", "tool_use_id": id, "content": inner}),
        ]
    };
    let content = [run("a", 0), run("b", 2)].concat();
    let response = json!({"id": "m", "type": "message", "role": "assistant", "content": content});
    let request = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "go"}]});
    let expected = ["bash_code_execution ok", "bash_code_execution error"];
    assert_eq!(outcomes(&[json!({"request": request, "response": response})]), expected);
}

#[test]
fn a_call_that_a_server_does_as_a_task_ends_with_its_result() {
    let ask = |id: u32, method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let answer = |id: u32, result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
    let text = json!([{"type": "text", "text": "so"}]);
    let begun = [
        ask(1, "tools/call", json!({"name": "deploy", "arguments": {}, "task": {"ttl": 60}})),
        answer(1, json!({"task": {"taskId": "t1", "status": "working"}})),
        ask(2, "tasks/get", json!({"taskId": "t1"})),
        answer(2, json!({"taskId": "t1", "status": "completed"})),
    ];
    assert_eq!(outcomes(&begun), ["deploy unknown"]);
    for (result, expected) in [
        (answer(3, json!({"content": text})), "deploy ok"),
        (answer(3, json!({"content": text, "isError": true})), "deploy error"),
        (json!({"jsonrpc": "2.0", "id": 3, "error": {"code": -1, "message": "gone"}}), "deploy error"),
    ] {
        let end = [ask(3, "tasks/result", json!({"taskId": "t1"})), result];
        assert_eq!(read(&[begun.as_slice(), &end].concat()), (vec![expected.to_owned()], Vec::new()));
    }
    // A call of which the server asks something has not ended.
    let asks = [begun[0].clone(), answer(1, json!({"resultType": "input_required", "requestState": "x"}))];
    assert_eq!(outcomes(&asks), ["deploy unknown"]);
}

#[test]
fn results_of_servers_say_that_they_are_errors_in_the_ai_sdk() {
    for (failed, expected) in [(true, "deploy error"), (false, "deploy ok")] {
        let result = json!({"content": [{"type": "text", "text": "boom"}], "isError": failed});
        let user = json!({"role": "user", "content": "go"});
        let part = json!({"type": "dynamic-tool", "toolName": "deploy", "toolCallId": "c", "state": "output-available",
            "input": {}, "output": result});
        let chat = json!([{"id": "1", "role": "user", "parts": [{"type": "text", "text": "go"}]},
            {"id": "2", "role": "assistant", "parts": [part]}]);
        let answer = json!({"type": "tool-result", "toolCallId": "c", "toolName": "deploy",
            "output": {"type": "json", "value": result}});
        let call = json!({"type": "tool-call", "toolCallId": "c", "toolName": "deploy", "input": {}});
        let model =
            json!([user, {"role": "assistant", "content": [call]}, {"role": "tool", "content": [answer]}]);
        for messages in [chat, model] {
            assert_eq!(outcomes(std::slice::from_ref(&messages)), [expected], "{messages}");
        }
    }
}

#[test]
fn older_observations_of_openhands_say_that_they_are_errors() {
    let pair = |id: u32, action: &str, args: Value, observation: Value| {
        let mut observation = observation;
        observation["cause"] = json!(id);
        observation["id"] = json!(id + 1);
        [json!({"id": id, "source": "agent", "action": action, "args": args}), observation]
    };
    let browsed =
        |error: bool| json!({"observation": "browse", "content": "", "extras": {"url": "u", "error": error}});
    let answered = |error: bool| {
        let content = json!({"content": [{"type": "text", "text": "so"}], "isError": error}).to_string();
        json!({"observation": "mcp", "content": content, "extras": {"name": "deploy"}})
    };
    let mcp = json!({"name": "deploy", "arguments": {}});
    let events = [
        pair(1, "browse", json!({"url": "u"}), browsed(true)),
        pair(3, "browse", json!({"url": "u"}), browsed(false)),
        pair(5, "call_tool_mcp", mcp.clone(), answered(true)),
        pair(7, "call_tool_mcp", mcp, answered(false)),
    ];
    let expected = ["browse error", "browse ok", "deploy error", "deploy ok"];
    let events = events.concat();
    assert_eq!(outcomes(&[json!(events)]), expected);
}

#[test]
fn spoken_simulations_of_tau2_are_read_by_their_ticks() {
    let call =
        |id: &str| json!({"id": id, "name": "cancel", "arguments": {"order": id}, "requestor": "assistant"});
    let result = |id: &str, error: bool| json!({"id": id, "role": "tool", "content": "so", "error": error, "requestor": "assistant"});
    let tick = |number: u32, more: Value| {
        let mut tick = json!({"tick_id": number, "timestamp": "2026-05-04T10:00:00", "agent_chunk": null, "user_chunk": null,
            "agent_tool_calls": [], "user_tool_calls": [], "agent_tool_results": [], "user_tool_results": []});
        tick.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        tick
    };
    let chunk = |role: &str, text: &str| json!({"role": role, "content": text});
    let ticks = json!([
        tick(0, json!({"user_chunk": chunk("user", "Cancel it")})),
        tick(1, json!({"agent_chunk": chunk("assistant", "One"), "user_chunk": chunk("user", "")})),
        tick(
            2,
            json!({"agent_chunk": chunk("assistant", " moment"), "agent_tool_calls": [call("a"), call("b")]})
        ),
        tick(3, json!({"agent_tool_results": [result("a", false), result("b", true)]})),
        tick(
            4,
            json!({"user_tool_calls": [{"id": "u", "name": "look", "arguments": {}, "requestor": "user"}]})
        ),
    ]);
    for messages in [json!([]), Value::Null] {
        let simulation = json!({"id": "s", "task_id": "1", "trial": 0, "termination_reason": "user_stop",
            "messages": messages, "ticks": ticks});
        let (sessions, of_file) =
            opened(json!({"info": {}, "tasks": [], "simulations": [simulation]}).to_string());
        let calls = sessions[0].calls.iter().map(|call| call.outcome.word());
        assert_eq!(calls.collect::<Vec<_>>(), ["ok", "error"]);
        assert_eq!((sessions[0].turns.len(), sessions[0].calls[1].at.turn), (1, 1));
        let expected = ["some.json:1: notice[left_aside]: 1 call of the simulated user is left out"];
        assert_eq!(told(&sessions, &of_file), expected);
    }
}
