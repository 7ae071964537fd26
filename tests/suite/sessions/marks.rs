//! How recordings mark what became of a call.

use rstest::rstest;
use rulestep_base::session::{Call, Outcome};
use rulestep_recording::{self as recording, Options};
use serde_json::{Value, json};

use super::{opened, told};

#[test]
fn claude_code_tells_refusals_by_what_their_results_say() {
    let outcome = |text: &str, error: bool| {
        let line = |kind: &str, uuid: &str, parent: Option<&str>, content| {
            json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s",
                "timestamp": "2026-05-04T10:00:00.000Z", "message": {"role": kind, "content": [content]}})
        };
        let call = json!({"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "git push"}});
        let result = json!({"type": "tool_result", "tool_use_id": "c1", "content": text, "is_error": error});
        let lines = [line("assistant", "a", None, call), line("user", "b", Some("a"), result)];
        let (sessions, _) = opened(lines.map(|line| format!("{line}\n")).concat());
        sessions[0].calls[0].outcome
    };
    for (text, error, expected) in [
        (
            "The user doesn't want to proceed with this tool use. The tool use was rejected.",
            true,
            Outcome::Refused,
        ),
        ("Permission to use Bash with command git push has been denied.", true, Outcome::Refused),
        ("Claude requested permissions to use Bash, but you haven't granted it yet.", true, Outcome::Refused),
        ("This command requires approval", true, Outcome::Refused),
        (
            "This Bash command contains multiple operations. The following part requires approval: git push",
            true,
            Outcome::Refused,
        ),
        ("Error: PreToolUse:Bash hook error: [guard.sh]: no push", true, Outcome::Refused),
        ("grep: This command requires approval", true, Outcome::Error),
        ("This command requires approval", false, Outcome::Ok),
        ("Exit code 1", true, Outcome::Error),
    ] {
        assert_eq!(outcome(text, error), expected, "{text}");
    }
}

/// Claude Code may write a line of a response again when it knows more of it.
#[test]
fn a_call_that_is_written_twice_is_one_and_another_one_of_its_id_is_lost() {
    let read = |again: &str| {
        let line = |uuid: &str, parent: Option<&str>, id: &str, command: &str| {
            json!({"type": "assistant", "uuid": uuid, "parentUuid": parent, "sessionId": "s",
                "timestamp": "2026-05-04T10:00:00.000Z", "message": {"role": "assistant", "id": id, "content":
                    [{"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": command}}]}})
        };
        let lines = [line("a", None, "m1", "ls"), line("b", Some("a"), "m1", again)];
        let (sessions, read) = opened(lines.map(|line| format!("{line}\n")).concat());
        let lost = told(&sessions, &read).into_iter().any(|line| line.contains("another call has the id"));
        (sessions[0].calls.len(), lost)
    };
    assert_eq!(read("ls"), (1, false));
    assert_eq!(read("rm x"), (1, true));
}

/// Two calls, one after the other: what a tool policy makes of the second hangs on whether the first one ran.
#[rstest]
#[case("Tool 'build' requires: lint, test", Outcome::Refused)]
#[case("File 'src/my notes.md' must be read before overwriting.", Outcome::Refused)]
#[case("Denied by policy.", Outcome::Refused)]
#[case("Tool 'deploy' requires: lint", Outcome::Ok)]
#[case("Tool 'build' requires: a token in the environment", Outcome::Ok)]
#[case("2 warnings\nDenied by policy.", Outcome::Ok)]
#[case("File 'a' is fine. File 'b' must be read before overwriting.", Outcome::Ok)]
fn a_published_refusal_is_no_success(#[case] text: &str, #[case] expected: Outcome) {
    let chat = json!([
        {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "build", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": text},
    ]);
    let blocks = json!([
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "build", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": text}]},
    ]);
    for messages in [chat, blocks] {
        let (sessions, _) = opened(json!({"messages": messages}).to_string());
        let call = &sessions[0].calls[0];
        assert_eq!(call.outcome, expected, "{}", sessions[0].origin.format);
        assert_eq!(call.refusal.is_some(), expected == Outcome::Refused);
    }
}

/// Lines of a stream in which two calls failed, with `more` behind the results, and what became of the calls.
fn denied(result: &str, more: &[Value]) -> (Vec<Call>, Vec<String>) {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": id}});
    let mut lines = vec![
        json!({"type": "system", "subtype": "init", "session_id": "s", "tools": ["Bash"], "uuid": "a"}),
        json!({"type": "assistant", "session_id": "s", "uuid": "b",
            "message": {"id": "m", "role": "assistant", "content": [call("c1"), call("c2"), call("c3")]}}),
    ];
    for id in ["c1", "c2"] {
        let failed = id == "c2" || result == "failed";
        let result =
            json!({"type": "tool_result", "tool_use_id": id, "content": "not here", "is_error": failed});
        lines.push(json!({"type": "user", "session_id": "s", "uuid": id,
            "message": {"role": "user", "content": [result]}}));
    }
    lines.extend_from_slice(more);
    let (sessions, of_file) = opened(lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    (sessions[0].calls.clone(), told(&sessions, &of_file))
}

#[rstest]
#[case::at_the_end(json!({"type": "result", "session_id": "s", "uuid": "z",
    "permission_denials": [{"tool_name": "Bash", "tool_use_id": "c1", "tool_input": {}}]}))]
#[case::when_it_happens(json!({"type": "system", "subtype": "permission_denied", "session_id": "s", "uuid": "z",
    "tool_name": "Bash", "tool_use_id": "c1"}))]
#[case::beside_the_result(json!({"type": "user", "session_id": "s", "uuid": "z",
    "tool_result_meta": [{"id": "c1", "non_execution_kind": "permission-rule"}, {"id": "c2"}, 7],
    "message": {"role": "user", "content": "go on"}}))]
fn claude_code_tells_refusals_on_other_lines(#[case] line: Value) {
    let (calls, _) = denied("failed", &[line]);
    let outcomes = calls.iter().map(|call| call.outcome).collect::<Vec<_>>();
    assert_eq!(outcomes, [Outcome::Refused, Outcome::Error, Outcome::Unknown]);
    assert_eq!(calls[0].refusal, Some("the log says that permission was denied"));
}

#[test]
fn a_denied_call_without_a_result_was_refused_and_one_that_went_well_was_not() {
    let denial = |id| json!({"tool_name": "Bash", "tool_use_id": id});
    let line =
        json!({"type": "result", "session_id": "s", "permission_denials": [denial("c1"), denial("c3"), 7]});
    let (calls, told) = denied("fine", &[line]);
    let outcomes = calls.iter().map(|call| call.outcome).collect::<Vec<_>>();
    assert_eq!(outcomes, [Outcome::Ok, Outcome::Error, Outcome::Refused]);
    let expected = [
        "some.json:5: warning[damaged_record]: an item of a list is a number, not an object; it is left out",
        "some.json: error[damaged_record]: the file could not be read completely: 1 part of the file is damaged or \
         skipped, and may have contained calls",
        "some.json:3: warning[damaged_record]: line 5 says that the call `c1` was denied, but its result is not marked as \
         failed; it is read as it is marked",
    ];
    assert_eq!(told, expected);
}

/// Summaries of other conversations of the folder stand at the head of a log that has its own beginning.
#[test]
fn a_summary_of_another_session_does_not_cut_off_the_beginning() {
    let log = |parent: Value| {
        let lines = [
            json!({"type": "summary", "summary": "Other work", "leafUuid": "elsewhere"}),
            json!({"type": "user", "uuid": "a", "parentUuid": parent, "sessionId": "s",
                "message": {"role": "user", "content": "Hi"}}),
        ];
        let (sessions, _) = opened(lines.map(|line| format!("{line}\n")).concat());
        sessions[0].facts.from_the_middle
    };
    assert_eq!((log(Value::Null), log(json!("gone"))), (false, true));
}

#[rstest]
#[case::of_a_message_that_is_not_there(
    "gone",
    "a message that is not in the file, so all before is left out",
    0
)]
#[case::of_one_that_is("m2", "to before this line; 1 message with 0 calls after it is left out", 1)]
fn the_gemini_cli_takes_messages_back(#[case] to: &str, #[case] says: &str, #[case] left: usize) {
    let lines = [
        json!({"sessionId": "s", "projectHash": "1b"}),
        json!({"id": "m1", "type": "user", "content": "one"}),
        json!({"id": "m2", "type": "user", "content": "two"}),
        json!({"$rewindTo": to}),
    ];
    let (sessions, of_file) = opened(lines.map(|line| format!("{line}\n")).concat());
    assert_eq!(sessions.first().map_or(0, |session| session.messages.len()), left);
    let told = told(&sessions, &of_file);
    assert!(told.iter().any(|line| line.contains(says)), "{told:?}");
}

#[test]
fn a_list_of_prompts_is_no_session_and_says_where_they_are() {
    let prompt = json!({"sessionId": "s", "messageId": 0, "timestamp": "2026-05-04T10:00:00Z", "type": "user",
        "message": "hi"});
    let input = std::io::Cursor::new(json!([prompt]).to_string());
    let told = recording::open("logs.json", Box::new(input), &Options::default()).err().unwrap();
    assert!(told.help.as_ref().is_some_and(|help| help.contains("`chats/`")), "{told}");
}

#[rstest]
#[case("success", json!({"exitCode": 0}), Outcome::Ok)]
#[case("success", json!({"exitCode": 1}), Outcome::Error)]
#[case("success", json!({"isError": true}), Outcome::Error)]
#[case("failure", json!({"exitCode": 1}), Outcome::Error)]
#[case("permissionDenied", json!({"error": "no"}), Outcome::Error)]
#[case("newOutcome", json!({}), Outcome::Error)]
#[case("rejected", json!({"reason": ""}), Outcome::Refused)]
#[case("stillRunning", json!({}), Outcome::Unknown)]
fn cursor_tells_by_a_key_what_became_of_a_call(
    #[case] how: &str,
    #[case] inner: Value,
    #[case] expected: Outcome,
) {
    let call = json!({"shellToolCall": {"args": {"command": "ls"}, "result": {how: inner}}});
    let event = json!({"type": "tool_call", "subtype": "completed", "call_id": "c", "tool_call": call});
    let (sessions, _) = opened(event.to_string());
    let call = &sessions[0].calls[0];
    assert_eq!((&*call.tool, call.outcome), ("shell", expected));
}

#[rstest]
#[case("success", "", "[Operation Cancelled] Reason: denied, says the log", Outcome::Ok)]
#[case("error", "execution_failed", "Exit Code: 2", Outcome::Error)]
#[case("error", "execution_denied", "not in this mode", Outcome::Refused)]
#[case("cancelled", "", "[Operation Cancelled] Reason: User did not allow tool call", Outcome::Refused)]
#[case("cancelled", "", "[Operation Cancelled] Reason: User cancelled tool execution.", Outcome::Error)]
fn qwen_code_tells_what_became_of_a_call_beside_its_result(
    #[case] status: &str,
    #[case] kind: &str,
    #[case] text: &str,
    #[case] expected: Outcome,
) {
    let line = |kind: &str, uuid: &str, parent: Option<&str>, part: Value| json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": {"parts": [part]}});
    let call = json!({"functionCall": {"id": "c", "name": "edit", "args": {}}});
    let mut result = line(
        "tool_result",
        "b",
        Some("a"),
        json!({"functionResponse": {"id": "c", "response": {"output": text}}}),
    );
    result["toolCallResult"] = json!({"callId": "c", "status": status, "errorType": kind});
    let lines = [line("assistant", "a", None, call), result];
    let (sessions, _) = opened(lines.map(|line| format!("{line}\n")).concat());
    assert_eq!((sessions[0].origin.format, sessions[0].calls[0].outcome), ("qwen-code", expected));
}

/// Fixtures in which one mark is another: what becomes of the call that it is of, and nothing of the others. Where a format
/// has several marks for one thing, each has to do alone.
#[test]
fn each_mark_of_a_failure_does_alone() {
    use Outcome::{Error, Refused, Unknown};
    let (sold_out, found) =
        (r#""error": "ValueError('sold out')", "status": "error""#, r#""tool_call_id": "c1", "status": "#);
    let no_database = r#""error":{"message":"no database"},"status":"failed""#;
    let written = r#""tool_id":"write_1","status":"success""#;
    let exit_1 = r#""metadata": {"exit_code": 1}}, "success": false"#;
    for (fixture, mark, other, call, expected) in [
        ("langsmith.jsonl", sold_out, r#""error": null, "status": "error""#, 1, Error),
        ("langsmith.jsonl", sold_out, r#""error": "sold out", "status": "success""#, 1, Error),
        ("langsmith.jsonl", sold_out, r#""error": null, "status": "success""#, 1, Unknown),
        ("langsmith.jsonl", &format!(r#"{found}"success""#), &format!(r#"{found}"error""#), 0, Error),
        ("codex-exec.jsonl", no_database, r#""error":null,"status":"failed""#, 1, Error),
        ("codex-exec.jsonl", no_database, r#""error":{"message":"?"},"status":"completed""#, 1, Error),
        ("openai-responses.jsonl", r#""output":"on its way","error":null"#, r#""error":"lost""#, 2, Error),
        ("mcp.json", r#""isError": false"#, r#""isError": "yes""#, 0, Error),
        ("mcp.json", r#""isError": false"#, r#""isError": true, "isError": false"#, 0, Unknown),
        ("mcp.json", r#""isError": false"#, r#""is_error": true"#, 0, Unknown),
        ("openhands.json", exit_1, r#""metadata": {"exit_code": 1}}"#, 1, Error),
        ("openhands.json", exit_1, r#""metadata": {}}, "success": false"#, 1, Error),
        ("bedrock.jsonl", r#""status":"success""#, r#""status":"odd""#, 0, Error),
        ("gemini-stream.jsonl", r#""type":"policy_violation","#, "", 2, Refused),
        (
            "gemini-stream.jsonl",
            r#"status":"error","output":"File"#,
            r#"status":"success","output":"File"#,
            1,
            Error,
        ),
        (
            "gemini-stream.jsonl",
            written,
            &format!("{written},\"output\":\"[Operation Cancelled] by the user\""),
            3,
            Error,
        ),
    ] {
        let path = format!("{}/tests/fixtures/sessions/{fixture}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains(mark), "{fixture}: {mark}");
        let outcomes = |text: String| -> Vec<Outcome> {
            let (sessions, _) = opened(text);
            sessions.iter().flat_map(|session| &session.calls).map(|call| call.outcome).collect()
        };
        let mut as_before = outcomes(text.clone());
        as_before[call] = expected;
        assert_eq!(outcomes(text.replacen(mark, other, 1)), as_before, "{fixture}: {other}");
    }
}

/// What a span says of itself is read in every spelling of the status.
#[test]
fn the_status_of_a_span_tells_of_a_failure() {
    for (status, failed) in [
        (json!({"code": 2}), true),
        (json!({"code": "2"}), true),
        (json!({"code": "STATUS_CODE_ERROR"}), true),
        (json!({"status_code": "ERROR"}), true),
        (json!({"code": "StatusCode.ERROR"}), true),
        (json!("error"), true),
        (json!({"code": 1}), false),
        (json!({"code": "STATUS_CODE_OK"}), false),
        (json!({}), false),
    ] {
        let attribute = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
        let attributes = [
            attribute("gen_ai.operation.name", "execute_tool"),
            attribute("gen_ai.tool.name", "look"),
            attribute("gen_ai.tool.call.result", "r"),
        ];
        let span = json!({"traceId": "t", "spanId": "a", "name": "look", "startTimeUnixNano": "1777888800000000000",
            "endTimeUnixNano": "1777888801000000000", "attributes": attributes, "status": status});
        let (sessions, _) =
            opened(json!({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).to_string());
        assert_eq!(sessions[0].calls[0].outcome == Outcome::Error, failed, "{status}");
    }
}

#[test]
fn a_mark_that_cannot_be_read_is_no_success() {
    for (mark, outcome) in [
        (json!(true), Outcome::Error),
        (json!("true"), Outcome::Error),
        (json!(1), Outcome::Error),
        (json!(false), Outcome::Ok),
    ] {
        let messages = json!([
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "build", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "no", "is_error": mark}]},
        ]);
        let (sessions, _) = opened(json!({"messages": messages}).to_string());
        assert_eq!(sessions[0].calls[0].outcome, outcome, "{mark}");
    }
}

/// Events of Codex tell what became of a call over MCP where its result does not.
#[test]
fn an_event_of_codex_tells_that_a_call_failed() {
    for (event, expected) in [
        (json!({"result": {"Ok": {"content": [], "isError": false}}}), Outcome::Ok),
        (json!({"result": {"Ok": {"content": [], "isError": true}}}), Outcome::Error),
        (json!({"result": {"Ok": {"content": [], "is_error": true}}}), Outcome::Error),
        (json!({"result": {"Err": "no server"}}), Outcome::Error),
        (json!({"success": true}), Outcome::Ok),
        (json!({"success": false}), Outcome::Error),
        (json!({"exit_code": 0}), Outcome::Ok),
        (json!({"exit_code": 2}), Outcome::Error),
    ] {
        let mut told = json!({"type": "mcp_tool_call_end", "call_id": "c1"});
        for (key, value) in event.as_object().unwrap() {
            told[key] = value.clone();
        }
        let item = |payload: Value| json!({"timestamp": "2026-05-04T10:00:01.000Z", "type": "response_item", "payload": payload});
        let lines = [
            json!({"timestamp": "2026-05-04T10:00:00.000Z", "type": "session_meta", "payload": {"id": "s", "cwd": "/x"}}),
            item(json!({"type": "function_call", "name": "look", "arguments": "{}", "call_id": "c1"})),
            json!({"timestamp": "2026-05-04T10:00:02.000Z", "type": "event_msg", "payload": told}),
            item(json!({"type": "function_call_output", "call_id": "c1", "output": "seen"})),
        ];
        let (sessions, _) = opened(lines.map(|line| format!("{line}\n")).concat());
        assert_eq!(sessions[0].origin.format, "codex-rollout");
        assert_eq!(sessions[0].calls[0].outcome, expected, "{event}");
    }
}

/// A result of the Responses API, and a call that the provider ran.
#[test]
fn items_say_that_they_failed() {
    let ran = |status: &str| json!({"type": "web_search_call", "id": "w", "status": status, "action": {"query": "x"}});
    let called = |output: Value| {
        json!([{"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": output}])
    };
    for (items, failed) in [
        (json!([ran("completed")]), false),
        (json!([ran("failed")]), true),
        (json!([ran("incomplete")]), true),
        (called(json!({"content": "x", "success": true})), false),
        (called(json!({"content": "x", "success": false})), true),
    ] {
        let log = json!({"request": {"model": "m", "input": items}, "response": {"id": "r", "object": "response", "output": []}});
        let (sessions, _) = opened(log.to_string());
        assert_eq!(sessions[0].origin.format, "openai-responses");
        assert_eq!(sessions[0].calls[0].outcome == Outcome::Error, failed, "{items}");
    }
}

/// Exporters write one tag or another.
#[test]
fn each_tag_of_a_span_of_jaeger_does_alone() {
    for (tag, failed) in [
        (json!({"key": "error", "type": "bool", "value": true}), true),
        (json!({"key": "error", "type": "string", "value": "true"}), true),
        (json!({"key": "error", "type": "bool", "value": false}), false),
        (json!({"key": "otel.status_code", "type": "string", "value": "ERROR"}), true),
        (json!({"key": "otel.status_code", "type": "string", "value": "OK"}), false),
        (json!({"key": "status.code", "type": "int64", "value": 2}), true),
        (json!({"key": "status.code", "type": "int64", "value": 1}), false),
    ] {
        let text = |key: &str, value: &str| json!({"key": key, "type": "string", "value": value});
        let tags = [
            text("gen_ai.operation.name", "execute_tool"),
            text("gen_ai.tool.name", "look"),
            text("gen_ai.tool.call.result", "seen"),
            tag.clone(),
        ];
        let span = json!({"traceID": "t", "spanID": "a", "operationName": "look", "startTime": 1777888800000000_u64,
            "duration": 5, "tags": tags});
        let (sessions, _) = opened(json!({"data": [{"traceID": "t", "spans": [span]}]}).to_string());
        assert_eq!(sessions[0].calls[0].outcome == Outcome::Error, failed, "{tag}");
    }
}

/// The reason that a rule or a hook gives reaches the model word for word, so the mark alone says that a call was rejected.
#[test]
fn claude_code_marks_the_line_of_a_call_that_was_not_let_through() {
    let outcome = |kind: Option<&str>| {
        let line = |role: &str, uuid: &str, content: Value| json!({"type": role, "uuid": uuid, "sessionId": "s", "message": {"role": role, "content": [content]}});
        let call = json!({"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "x"}});
        let result =
            json!({"type": "tool_result", "tool_use_id": "c1", "content": "check first", "is_error": true});
        let mut answer = line("user", "b", result);
        answer["parentUuid"] = json!("a");
        answer["toolDenialKind"] = json!(kind);
        let (sessions, _) = opened(format!("{}\n{answer}\n", line("assistant", "a", call)));
        sessions[0].calls[0].outcome
    };
    for kind in ["permission-rule", "user-rejected", "automode-blocked", "some-new-kind"] {
        assert_eq!(outcome(Some(kind)), Outcome::Refused, "{kind}");
    }
    assert_eq!(outcome(None), Outcome::Error);
}
