//! By which words and keys a result says that its call failed, was refused, or has not ended.

use std::sync::Arc;

use rulestep_base::session::Outcome;
use rulestep_base::session::write::Native;
use rulestep_recording::Options;
use serde_json::{Value, json};

use super::losses::losses;
use super::{opened, opened_with, told};

type Test = Arc<dyn Fn(&str) -> bool + Send + Sync>;

fn with(mut object: Value, more: &Value) -> Value {
    object.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    object
}

fn chat(more: &Value) -> Value {
    let call = json!({"id": "1", "function": {"name": "b", "arguments": "{}"}});
    let result = with(json!({"role": "tool", "tool_call_id": "1", "content": "x"}), more);
    json!({"id": "s", "messages": [{"role": "assistant", "tool_calls": [call]}, result]})
}

#[test]
fn results_in_the_chat_form_are_marked_in_many_ways() {
    for (more, outcome) in [
        (json!({}), Outcome::Ok),
        (json!({"isError": true}), Outcome::Error),
        (json!({"isError": false}), Outcome::Ok),
        (json!({"is_error": false, "isError": true}), Outcome::Error),
        (json!({"status": "success"}), Outcome::Ok),
        (json!({"status": "completed"}), Outcome::Ok),
        (json!({"status": "ok"}), Outcome::Ok),
        (json!({"status": "Done"}), Outcome::Ok),
        (json!({"status": "error"}), Outcome::Error),
        (json!({"status": "failed"}), Outcome::Error),
        (json!({"status": "failure"}), Outcome::Error),
        (json!({"status": "cancelled"}), Outcome::Error),
        (json!({"status": "canceled"}), Outcome::Error),
        (json!({"status": "timeout"}), Outcome::Error),
        (json!({"status": "timed_out"}), Outcome::Error),
        (json!({"status": "failed", "is_error": false}), Outcome::Error),
        (json!({"status": "denied"}), Outcome::Refused),
        (json!({"status": "rejected"}), Outcome::Refused),
        (json!({"status": "running"}), Outcome::Unknown),
        (json!({"status": "pending"}), Outcome::Unknown),
        (json!({"status": "partial"}), Outcome::Unknown),
        (json!({"status": "partial", "is_error": false}), Outcome::Ok),
        (json!({"status": "partial", "is_error": true}), Outcome::Error),
        (json!({"success": false}), Outcome::Error),
        (json!({"success": true}), Outcome::Ok),
        (json!({"ok": false}), Outcome::Error),
        (json!({"ok": "false"}), Outcome::Error),
        (json!({"error": "no"}), Outcome::Error),
    ] {
        let text = chat(&more).to_string();
        let (sessions, _) = opened(text.clone());
        assert_eq!((sessions[0].calls[0].outcome, losses(&text)), (outcome, vec![]), "{more}");
        // What is written says the same.
        let written = serde_json::to_string(&Native(&sessions[0])).unwrap();
        assert_eq!(opened(written.clone()).0[0].calls[0].outcome, outcome, "{written}");
    }
}

/// A status that nobody knows is said once a session, and a later result still finds its call.
#[test]
fn an_unknown_status_is_no_success_and_is_told_once() {
    let call = |id: &str| json!({"id": id, "function": {"name": "b", "arguments": "{}"}});
    let result = |id: &str, status: &str| json!({"role": "tool", "tool_call_id": id, "content": "x", "status": status});
    let messages = json!([
        {"role": "assistant", "tool_calls": [call("1"), call("2")]},
        result("1", "odd"), result("2", "odder"), result("2", "success"),
    ]);
    let (sessions, of_file) = opened(json!({"messages": messages}).to_string());
    let outcomes: Vec<_> = sessions[0].calls.iter().map(|call| call.outcome).collect();
    assert_eq!(outcomes, [Outcome::Unknown, Outcome::Ok]);
    let said = told(&sessions, &of_file);
    let unknown = "some.json:1: warning[damaged_record]: it is not known what the status `odd` of a result means; its call \
                   counts as one without a result";
    assert_eq!(said.iter().filter(|line| line.contains("status")).collect::<Vec<_>>(), [unknown]);
}

#[test]
fn results_among_blocks_are_marked_in_both_spellings() {
    for (more, outcome) in [
        (json!({}), Outcome::Ok),
        (json!({"is_error": true}), Outcome::Error),
        (json!({"isError": true}), Outcome::Error),
        (json!({"isError": false}), Outcome::Ok),
        (json!({"status": "failed"}), Outcome::Error),
        (json!({"status": "success"}), Outcome::Ok),
    ] {
        let result = with(json!({"type": "tool_result", "tool_use_id": "1", "content": "x"}), &more);
        let messages = json!([
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "b", "input": {}}]},
            {"role": "user", "content": [result]},
        ]);
        let (sessions, _) = opened(json!({"messages": messages}).to_string());
        assert_eq!(sessions[0].calls[0].outcome, outcome, "{more}");
    }
}

/// Whoever names its parent is a subagent, for which rules may be others.
#[test]
fn a_parent_is_known_by_every_spelling() {
    for key in ["parent", "parent_id", "parentId", "parentID", "parent_session_id", "parentSessionId"] {
        let (sessions, _) = opened(with(chat(&json!({})), &json!({key: "p"})).to_string());
        assert_eq!((sessions[0].parent.as_deref(), sessions[0].facts.subagent), (Some("p"), true), "{key}");
    }
    let (sessions, _) = opened(with(chat(&json!({})), &json!({"parent_id": null})).to_string());
    assert_eq!((sessions[0].parent.as_deref(), sessions[0].facts.subagent), (None, false));
}

/// The outcomes of the calls of one recording.
fn outcomes(text: String) -> Vec<Outcome> {
    let (sessions, _) = opened(text);
    sessions.iter().flat_map(|session| &session.calls).map(|call| call.outcome).collect()
}

fn lines(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn gemini(tool: &str, response: &Value) -> String {
    let result = json!([{"functionResponse": {"id": "a", "name": tool, "response": response}}]);
    let call = json!({"id": "a", "name": tool, "args": {}, "status": "success", "result": result});
    json!({"sessionId": "g", "projectHash": "x", "messages": [
        {"id": "1", "type": "gemini", "content": "", "toolCalls": [call]}]})
    .to_string()
}

/// The same conversation in the form of the API, whose calls have no ids, and with another call after it.
fn contents(tool: &str, response: &Value) -> String {
    let call = json!({"role": "model", "parts": [{"functionCall": {"name": tool, "args": {}}}]});
    let gave = |response: &Value| json!({"role": "user", "parts": [{"functionResponse": {"name": tool, "response": response}}]});
    let ok = json!({"output": "Output: ok"});
    let user = json!({"role": "user", "parts": [{"text": "go"}]});
    json!({"contents": [user, call, gave(response), call, gave(&ok)]}).to_string()
}

fn qwen(tool: &str, response: &Value) -> String {
    let line = |kind: &str, id: &str, parent: Option<&str>, parts: Value| {
        json!({"uuid": id, "parentUuid": parent, "sessionId": "s", "timestamp": "2026-05-04T10:00:00Z", "type": kind,
            "message": {"parts": parts}})
    };
    let gave = json!([{"functionResponse": {"id": "c", "name": tool, "response": response}}]);
    let mut result = line("tool_result", "r", Some("a"), gave);
    result["toolCallResult"] = json!({"callId": "c", "status": "success"});
    let call = json!([{"functionCall": {"id": "c", "name": tool, "args": {}}}]);
    lines(&[
        line("user", "u", None, json!([{"text": "go"}])),
        line("assistant", "a", Some("u"), call),
        result,
    ])
}

/// Gemini CLI calls a command that ran a success, however it ended: that is in the text for the model.
#[test]
fn commands_of_gemini_cli_end_as_their_text_says() {
    use Outcome::{Error, Ok, Unknown};
    const SHELL: &str = "run_shell_command";
    for (tool, output, expected) in [
        (SHELL, "Output: x", Ok),
        (SHELL, "Output: x\nExit Code: 101", Error),
        (SHELL, "Command: pip install x\nOutput: no pip\nError: (none)\nExit Code: 127\nSignal: 0", Error),
        (SHELL, "Output: Exit Code: 1\nProcess Group PGID: 7", Ok),
        (
            SHELL,
            "<untrusted_context>\nOutput: x\nExit Code: 1\nProcess Group PGID: 7\n</untrusted_context>",
            Error,
        ),
        (SHELL, "<untrusted_context>\nCommand timed out after 5s\n</untrusted_context>", Unknown),
        (
            SHELL,
            "Command was automatically cancelled because it exceeded the timeout of 5.0 minutes",
            Unknown,
        ),
        (SHELL, "Command was cancelled by user before it could complete.", Unknown),
        (SHELL, "Command moved to background (PID: 33701). Output hidden. Press Ctrl+B to view.", Unknown),
        // What a file says is nothing of how it was read.
        ("read_file", "Output: x\nExit Code: 1", Ok),
        ("read_file", "Command moved to background (PID: 1).", Ok),
    ] {
        let response = json!({ "output": output });
        assert_eq!(outcomes(gemini(tool, &response)), [expected], "{output}");
        assert_eq!(outcomes(qwen(tool, &response)), [expected], "{output}");
        // A call of which nothing is known takes no result from the next one.
        assert_eq!(outcomes(contents(tool, &response)), [expected, Ok], "{output}");
    }
    assert_eq!(outcomes(gemini("read_file", &json!({"error": "no such file"}))), [Error]);
}

/// An id that is used again is that of the newer call, also where it is not known how the older one ended.
#[test]
fn a_call_that_goes_on_takes_no_result_of_a_newer_one() {
    let call = json!({"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "b", "arguments": "{}"}}]});
    let result =
        |status: &str| json!({"role": "tool", "tool_call_id": "1", "content": "x", "status": status});
    let messages = json!([call, result("running"), call, result("success")]);
    assert_eq!(outcomes(json!({"messages": messages}).to_string()), [Outcome::Unknown, Outcome::Ok]);
}

/// The stream of Gemini CLI has what a command printed, and where it printed nothing, how it ended.
#[test]
fn the_stream_of_gemini_cli_says_little_of_commands() {
    use Outcome::{Error, Ok, Unknown};
    let stream = |tool: &str, output: &Value| {
        let mut result = json!({"type": "tool_result", "tool_id": "a", "status": "success"});
        if !output.is_null() {
            result["output"] = output.clone();
        }
        lines(&[
            json!({"type": "init", "session_id": "s", "model": "auto"}),
            json!({"type": "tool_use", "tool_id": "a", "tool_name": tool, "parameters": {}}),
            result,
        ])
    };
    for (tool, output, expected) in [
        ("run_shell_command", json!(""), Ok),
        ("run_shell_command", json!("Command exited with code: 2"), Error),
        ("run_shell_command", json!("Command exited with code: 2\nsays a test"), Unknown),
        ("run_shell_command", json!("Output: x\nProcess Group PGID: 7"), Ok),
        ("run_shell_command", json!("Output: x\nExit Code: 1\nProcess Group PGID: 7"), Error),
        ("run_shell_command", json!("test result: ok"), Unknown),
        ("run_shell_command", Value::Null, Unknown),
        ("run_shell_command", json!("Command cancelled by user."), Unknown),
        ("read_file", json!("test result: ok"), Ok),
    ] {
        assert_eq!(outcomes(stream(tool, &output)), [expected], "{output}");
    }
    let (sessions, of_file) = opened(stream("run_shell_command", &json!("test result: ok")));
    let why = "some.json:3: warning[damaged_record]: the stream shows what commands printed and not how they ended, so they \
               count as calls without a result; `--error-regex RE` says which of them failed";
    assert!(told(&sessions, &of_file).iter().any(|line| line == why), "{:?}", told(&sessions, &of_file));
    let failed: Test = Arc::new(|text| text.contains("FAILED"));
    let options = Options { error: Some(failed), ..Options::default() };
    for (output, expected) in [("test result: ok", Ok), ("test result: FAILED", Error)] {
        let (sessions, _) = opened_with(stream("run_shell_command", &json!(output)), &options);
        assert_eq!(sessions[0].calls[0].outcome, expected, "{output}");
    }
}

fn codex(results: &[(&str, &str, String)]) -> String {
    let item = |payload: Value| json!({"timestamp": "2026-06-01T00:00:00Z", "type": "response_item", "payload": payload});
    let session =
        json!({"timestamp": "2026-06-01T00:00:00Z", "type": "session_meta", "payload": {"id": "t"}});
    let calls = results.iter().enumerate().flat_map(|(id, (tool, arguments, output))| {
        let id = format!("c{id}");
        [
            item(json!({"type": "function_call", "name": tool, "call_id": id, "arguments": arguments})),
            item(json!({"type": "function_call_output", "call_id": id, "output": output})),
        ]
    });
    lines(&std::iter::once(session).chain(calls).collect::<Vec<_>>())
}

#[test]
fn commands_of_codex_that_run_on_end_with_a_later_call() {
    use Outcome::{Error, Ok, Unknown};
    let began = |output: String| ("exec_command", r#"{"cmd": "cargo test"}"#, output);
    let poll = |output: String| ("write_stdin", r#"{"session_id": 42, "chars": ""}"#, output);
    let runs = |number: &str| {
        format!("Chunk ID: a\nProcess running with session ID {number}\nOutput:\nBuilding...\n")
    };
    let exited = |code: &str| format!("Chunk ID: b\nProcess exited with code {code}\nOutput:\nbuilt\n");
    for (outputs, expected) in [
        (vec![began(exited("0"))], vec![Ok]),
        (vec![began(runs("42"))], vec![Unknown]),
        (vec![began("command timed out after 1000 milliseconds".to_owned())], vec![Error]),
        (vec![began(runs("42")), poll(runs("42"))], vec![Unknown, Unknown]),
        (vec![began(runs("42")), poll(exited("0"))], vec![Ok, Ok]),
        (vec![began(runs("42")), poll(exited("101"))], vec![Error, Error]),
        (vec![began(runs("7")), poll(exited("0"))], vec![Unknown, Ok]),
        (vec![began(runs("42")), poll(runs("42")), poll(exited("0"))], vec![Ok, Unknown, Ok]),
    ] {
        assert_eq!(outcomes(codex(&outputs)), expected, "{outputs:?}");
    }
}

/// Hooks are sent what a log keeps as `toolUseResult`, so both come to the same.
#[test]
fn results_of_claude_code_say_beside_the_mark_how_they_ended() {
    use Outcome::{Error, Ok, Unknown};
    let log = |marked: Option<bool>, content: &str, own: &Value| {
        let line = |id: &str, parent: Option<&str>, kind: &str, message: Value| {
            json!({"sessionId": "s", "timestamp": "2026-01-01T00:00:00Z", "uuid": id, "parentUuid": parent, "isSidechain": false,
                "type": kind, "message": message})
        };
        let call = json!({"type": "tool_use", "id": "c", "name": "Bash", "input": {}});
        let mut answer = json!({"type": "tool_result", "tool_use_id": "c", "content": content});
        if let Some(marked) = marked {
            answer["is_error"] = json!(marked);
        }
        let mut result = line("r", Some("a"), "user", json!({"role": "user", "content": [answer]}));
        if !own.is_null() {
            result["toolUseResult"] = own.clone();
        }
        let message =
            json!({"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [call]});
        lines(&[
            line("u", None, "user", json!({"role": "user", "content": "go"})),
            line("a", Some("u"), "assistant", message),
            result,
        ])
    };
    for (marked, content, own, expected) in [
        (None, "x", Value::Null, Ok),
        (None, "x", json!({"stdout": "x", "stderr": "", "interrupted": false}), Ok),
        (None, "x", json!({"stdout": "x", "interrupted": true}), Unknown),
        (None, "x", json!({"stdout": "", "timedOut": true}), Unknown),
        (None, "x", json!({"stdout": "", "backgroundTaskId": "b1"}), Unknown),
        (Some(false), "x", json!({"isAsync": true, "status": "async_launched", "agentId": "a"}), Unknown),
        (Some(false), "x", json!({"status": "completed"}), Ok),
        (Some(false), "x", json!({"stdout": "", "error": "x"}), Error),
        (Some(false), "x", json!({"stdout": "", "status": "failed"}), Error),
        (Some(true), "x", json!({"stdout": "", "interrupted": true}), Error),
        (
            None,
            "Command running in background with ID: b1. Output is being written to: x",
            Value::Null,
            Unknown,
        ),
        (None, "Command was manually backgrounded by user with ID: b1", json!("text"), Unknown),
        (None, "1 Command running in background with ID: b1", Value::Null, Ok),
    ] {
        assert_eq!(outcomes(log(marked, content, &own)), [expected], "{content} {own}");
    }
}

/// Calls of other messages are a loss wherever these stand, also if they have an id that is known.
#[test]
fn messages_with_calls_at_odd_depths_are_a_loss() {
    let call = |name: &str| json!({"id": "1", "function": {"name": name, "arguments": "{}"}});
    let said = |name: &str| json!({"role": "assistant", "content": null, "tool_calls": [call(name)]});
    let result = json!({"role": "tool", "tool_call_id": "1", "content": "x"});
    let messages = json!([said("read"), result]);
    for (history, lost) in [
        (json!([said("rm")]), true),
        (json!([[said("rm")]]), true),
        (json!([{"message": said("rm")}]), true),
        (json!([said("read")]), false),
        (json!([[said("read")]]), false),
        (json!([{"role": "user", "content": "hi"}]), false),
    ] {
        let text = json!({"history": history, "messages": messages}).to_string();
        assert_eq!(!losses(&text).is_empty(), lost, "{text}");
    }
    // Exports of AgentDojo repeat the call in its result.
    for (key, lost) in [("toolCalls", true), ("tool_calls", true), ("tool_call", false)] {
        let result = json!({"role": "tool", "tool_call_id": "1", "content": "x", key: [call("rm")]});
        let text = json!({"messages": [said("read"), result]}).to_string();
        assert_eq!(!losses(&text).is_empty(), lost, "{text}");
    }
}

/// OpenHands says -1 of a command that was still running when the agent looked: nobody knows how it ended.
#[test]
fn events_of_openhands_say_how_commands_ended() {
    use Outcome::{Error, Ok, Unknown};
    let older = |extras: &Value, success: &Value| {
        let call = json!({"id": 1, "source": "agent", "action": "run", "args": {"command": "make"}});
        let mut result = json!({"id": 2, "source": "agent", "cause": 1, "observation": "run", "content": "x", "extras": extras});
        if !success.is_null() {
            result["success"] = success.clone();
        }
        json!([call, result]).to_string()
    };
    let code = |code: Value| json!({"metadata": {"exit_code": code}});
    for (extras, success, expected) in [
        (code(json!(0)), json!(true), Ok),
        (code(json!(0)), json!(false), Error),
        (code(json!(1)), json!(false), Error),
        (code(json!(1)), json!(true), Error),
        (code(json!(-1)), json!(false), Unknown),
        (code(json!(-1)), json!(true), Unknown),
        (code(json!(-1)), Value::Null, Unknown),
        (code(json!(-9)), Value::Null, Error),
        (code(json!("-1")), Value::Null, Unknown),
        (code(json!("?")), Value::Null, Unknown),
        (json!({"exit_code": -1}), Value::Null, Unknown),
        (json!({}), json!(false), Error),
        (json!({}), Value::Null, Ok),
    ] {
        assert_eq!(outcomes(older(&extras, &success)), [expected], "{extras} {success}");
    }
    let newer = |observation: Value| {
        let call = json!({"kind": "ActionEvent", "id": "e", "source": "agent", "tool_name": "terminal", "tool_call_id": "c",
            "action": {"command": "make"}, "llm_response_id": "r"});
        let result = json!({"kind": "ObservationEvent", "source": "environment", "tool_call_id": "c", "action_id": "e",
            "observation": observation});
        lines(&[call, result])
    };
    for (observation, expected) in [
        (json!({"is_error": false, "exit_code": 0}), Ok),
        (json!({"is_error": false, "exit_code": 2}), Error),
        (json!({"is_error": false, "exit_code": -1}), Unknown),
        (json!({"is_error": true, "exit_code": -1}), Error),
        (json!({"is_error": false, "exit_code": 0, "timeout": true}), Unknown),
        (json!({"is_error": false, "metadata": {"exit_code": -1}}), Unknown),
        (json!({"is_error": false}), Ok),
    ] {
        assert_eq!(outcomes(newer(observation.clone())), [expected], "{observation}");
    }
}

/// Whoever gives a pattern for failures is heard, also of a command that has not ended.
#[test]
fn the_users_pattern_counts_for_commands_that_go_on() {
    let failed: Test = Arc::new(|text| text.contains("FAILED"));
    let options = Options { error: Some(failed), ..Options::default() };
    let events = json!([{"id": 1, "source": "agent", "action": "run", "args": {"command": "make"}},
        {"id": 2, "source": "agent", "cause": 1, "observation": "run", "content": "FAILED", "extras": {"exit_code": -1}}]);
    let chat =
        chat(&json!({"content": "OBSERVATION:\nFAILED\n[The command timed out after 9 seconds. Wait.]"}));
    for text in [events, chat] {
        let (sessions, _) = opened_with(text.to_string(), &options);
        assert_eq!(sessions[0].calls[0].outcome, Outcome::Error, "{text}");
    }
}

/// Chats of OpenHands are known by how their results begin.
#[test]
fn chats_of_openhands_say_how_commands_ended() {
    use Outcome::{Error, Ok, Unknown};
    for (content, expected) in [
        ("OBSERVATION:\nERROR:\nno such file", Error),
        ("OBSERVATION:\nfine\n[Command finished with exit code 0]", Ok),
        ("OBSERVATION:\n3 failed\n[Command finished with exit code 1]", Error),
        ("OBSERVATION:\n3 failed\n[The command completed with exit code 1.]", Error),
        ("OBSERVATION:\n...\n[Command finished with exit code -1]", Unknown),
        ("OBSERVATION:\n...\n[The command has no new output after 30 seconds. Wait.]", Unknown),
        ("OBSERVATION:\n[Command finished with exit code 1]\nis what the file says", Ok),
        // Anybody may write this.
        ("3 failed\n[Command finished with exit code 1]", Ok),
        ("he said: OBSERVATION:\n[Command finished with exit code 1]", Ok),
    ] {
        let text = chat(&json!({"content": content})).to_string();
        assert_eq!((outcomes(text.clone()), losses(&text)), (vec![expected], vec![]), "{content}");
        let marked = chat(&json!({"content": content, "is_error": false})).to_string();
        assert_eq!(outcomes(marked), [Ok], "{content}");
    }
}

#[test]
fn commands_of_mini_swe_agent_end_with_a_return_code() {
    use Outcome::{Error, Ok, Unknown};
    let in_text = |content: &str, extra: &Value| {
        let mut result = json!({"role": "user", "content": content});
        if !extra.is_null() {
            result["extra"] = extra.clone();
        }
        let call = json!({"role": "assistant", "content": "So.\n```mswea_bash_command\npytest\n```"});
        json!({"trajectory_format": "mini-swe-agent-1", "info": {}, "messages": [call, result]}).to_string()
    };
    for (content, extra, expected) in [
        ("<returncode>0</returncode>\n<output>\nfine\n</output>", Value::Null, Ok),
        ("<returncode>1</returncode>\n<output>\n3 failed\n</output>", Value::Null, Error),
        ("<returncode>-1</returncode>\n<output>\n</output>", Value::Null, Error),
        ("<returncode>None</returncode>\n<output>\n</output>", Value::Null, Unknown),
        ("<returncode>0", Value::Null, Unknown),
        ("<exception>no shell</exception>\n<returncode>0</returncode>", Value::Null, Error),
        ("{\n  \"returncode\": 0,\n  \"output\": \"fine\"\n}", Value::Null, Ok),
        ("{\n  \"returncode\": 2,\n  \"output\": \"no\"\n}", Value::Null, Error),
        ("{\"returncode\": 2, \"output_head\": \"a\", \"output_tail\": \"b\"}", Value::Null, Error),
        ("{\"returncode\": 0, \"output\": \"\", \"exception_info\": \"timed out\"}", Value::Null, Error),
        ("{\"returncode\": null, \"output\": \"\"}", Value::Null, Ok),
        ("{\"returncode\": \"?\", \"output\": \"\"}", Value::Null, Unknown),
        // What a command printed.
        ("{\"returncode\": 2}", Value::Null, Ok),
        ("it says <returncode>1</returncode>", Value::Null, Ok),
        ("fine", json!({"returncode": 0}), Ok),
        ("no", json!({"returncode": 1}), Error),
        ("<returncode>0</returncode>", json!({"returncode": 1}), Error),
        ("<returncode>1</returncode>", json!({"returncode": 0}), Error),
        ("?", json!({"returncode": "?"}), Unknown),
        ("no", json!({"returncode": 0, "exception_info": "timed out"}), Error),
    ] {
        assert_eq!(outcomes(in_text(content, &extra)), [expected], "{content} {extra}");
    }
}

/// Formats without marks of failure say so of a single result, others of many.
#[test]
fn that_nothing_is_marked_as_failed_is_said() {
    let steps = |count: usize| {
        let step = json!({"action": "ls\n", "observation": "a", "response": "So."});
        json!({"environment": "main", "trajectory": vec![step; count], "history": [], "info": {}}).to_string()
    };
    let mini = |content: &str| {
        let call = json!({"role": "assistant", "content": "So.\n```mswea_bash_command\nls\n```"});
        let result = json!({"role": "user", "content": content});
        json!({"trajectory_format": "mini-swe-agent-1", "info": {}, "messages": [call, result]}).to_string()
    };
    let chats = |count: usize| {
        let call =
            |id| json!({"role": "assistant", "tool_calls": [{"id": id, "name": "b", "arguments": "{}"}]});
        let result = |id| json!({"role": "tool", "tool_call_id": id, "content": "x"});
        let messages: Vec<Value> =
            (0..count).flat_map(|id| [call(id.to_string()), result(id.to_string())]).collect();
        json!({"messages": messages}).to_string()
    };
    let notice = |text: String| -> Option<String> {
        let (_, of_file) = opened(text);
        let found = of_file.into_iter().find(|told| told.code.as_str() == "no_errors_marked");
        found.map(|told| told.message)
    };
    assert_eq!(notice(steps(3)).as_deref(), Some("none of 3 results is marked as failed"));
    assert_eq!(notice(steps(1)).as_deref(), Some("the only result is not marked as failed"));
    assert_eq!(notice(mini("a")).as_deref(), Some("the only result is not marked as failed"));
    assert_eq!(notice(mini("<returncode>0</returncode>")), None);
    assert_eq!(notice(chats(19)), None);
    assert_eq!(notice(chats(20)).as_deref(), Some("none of 20 results is marked as failed"));
}
