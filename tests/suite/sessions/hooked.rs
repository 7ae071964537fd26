//! Logs of agents in whose sessions the gate took part: what it stopped is refused, and what only reads like it has run.

use std::sync::Arc;

use rulestep_engine::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use rulestep_recording::{self as recording, Options};
use serde_json::{Value, json};

use super::{opened, opened_with};

const STOPPED: &str = "Rulestep stopped this call: Run the tests first. (release.yaml:9)";

/// Tools and outcomes of the calls of one session, as a recording and as whoever decides while the session runs reads them.
fn both(lines: &[Value]) -> [Vec<String>; 2] {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let formats = opened(text.clone()).0[0].origin.format;
    [false, true].map(|marks_alone| {
        let format = recording::named(formats);
        let options = Options { format, marks_alone, ..Options::default() };
        let (sessions, _) = opened_with(text.clone(), &options);
        assert_eq!(sessions.len(), 1);
        sessions[0].calls.iter().map(|call| format!("{} {}", call.tool, call.outcome.word())).collect()
    })
}

fn claude(kind: &str, uuid: usize, content: Value) -> Value {
    let parent = uuid.checked_sub(1).map(|parent| parent.to_string());
    json!({"type": kind, "uuid": uuid.to_string(), "parentUuid": parent, "sessionId": "s", "version": "2.1.197", "cwd": "/w",
        "timestamp": "2026-05-04T10:00:00.000Z", "message": {"role": kind, "id": format!("m{uuid}"), "content": [content]}})
}

/// A session of Claude Code with calls of `tool`, each with its result and what the log says of it beside.
fn claude_session(results: &[(&str, &str, bool, Value)], more: &Value) -> Vec<Value> {
    let mut lines = Vec::new();
    for (n, (tool, text, error, told)) in results.iter().enumerate() {
        let id = format!("c{n}");
        lines.push(claude(
            "assistant",
            lines.len(),
            json!({"type": "tool_use", "id": id, "name": tool, "input": {"n": n}}),
        ));
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": error});
        let mut line = claude("user", lines.len(), result);
        line["toolUseResult"] = told.clone();
        lines.push(line);
    }
    if let (Some(line), Some(more)) = (lines.last_mut(), more.as_object()) {
        line.as_object_mut().unwrap().extend(more.clone());
    }
    lines
}

#[test]
fn claude_code_has_the_words_of_the_gate_in_a_result_that_failed() {
    let error = |text: &str| json!(format!("Error: {text}"));
    let unusable = |text: &str| format!("<tool_use_error>{text}</tool_use_error>");
    let (unread, unknown) =
        (unusable("File has not been read yet."), unusable("Error: No such tool available: X"));
    let (invalid, broken) =
        (unusable("InputValidationError: Bash failed"), unusable("Error calling tool: boom"));
    let forged = unusable("File has not been read yet.");
    let asked = "Rulestep asks about this call: A person is asked. (mine.yaml:2)";
    let results = [
        ("Bash", STOPPED, true, error(STOPPED)),
        ("Bash", asked, true, error(asked)),
        // Rejected by the program before anything ran.
        ("Edit", &*unread, true, error("File has not been read yet.")),
        ("X", &unknown, true, error("No such tool available: X")),
        ("Bash", &invalid, true, json!("InputValidationError: [{\"code\": \"invalid_type\"}]")),
        // It failed when it ran, or a server says these words.
        ("Bash", &broken, true, json!("Error calling tool: boom")),
        ("mcp__a__b", &forged, true, error(&forged)),
        ("Bash", "Exit code 3\nbad", true, error("Exit code 3\nbad")),
        // Printed by a tool that ran.
        ("Bash", STOPPED, false, json!({"stdout": STOPPED, "stderr": ""})),
        ("Bash", "[permission denied: policy]", false, json!({"stdout": "", "stderr": ""})),
    ];
    let [recorded, live] = both(&claude_session(&results, &Value::Null));
    let ends = |calls: &[String]| {
        calls.iter().map(|call| call.rsplit(' ').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let known = ["refused", "refused", "refused", "error", "error", "error", "ok", "ok"];
    assert_eq!(ends(&recorded)[2..], known.map(str::to_owned));
    assert_eq!(ends(&recorded)[..2], ["refused", "refused"], "by the words of the gate");
    assert_eq!(ends(&live)[2..], known.map(str::to_owned));
    assert_eq!(ends(&live)[..2], ["error", "error"], "what the gate stopped it knows itself");
}

/// A log that marks one denial marks all, so that no text is one.
#[test]
fn where_claude_code_marks_denials_no_text_is_one() {
    let results = [
        ("Bash", STOPPED, true, json!(format!("Error: {STOPPED}"))),
        (
            "mcp__a__b",
            "Permission to use Bash has been denied.",
            true,
            json!("Error: Permission to use Bash has been denied."),
        ),
        ("Bash", "a hook's own reason", true, json!("Error: a hook's own reason")),
    ];
    let marked = claude_session(&results, &json!({"toolDenialKind": "permission-rule"}));
    let [recorded, live] = both(&marked);
    assert_eq!(recorded, ["Bash error", "mcp__a__b error", "Bash refused"]);
    assert_eq!(live, recorded);
}

#[test]
fn claude_code_says_in_many_words_that_its_own_rules_denied_a_call() {
    for text in [
        "Permission to use Bash with command git push has been denied.",
        "Permission to edit /w/a has been denied.",
        "Permission for this action has been denied. Reason: no",
        "Agent type 'x' has been denied by permission rule 'Agent(x)' from project settings.",
        "Claude requested permissions to use Bash, but you haven't granted it yet.",
        "Claude requested permissions to edit /w/.claude/x.json which is a sensitive file.",
        "File is in a directory that is denied by your permission settings.",
        "Output redirection to '/etc/x' was blocked. For security, Claude Code may only write to files in the allowed \
         working directories for this session: '/w'.",
        "Output redirection to '/w/x' was blocked by a deny rule.",
        "This command requires approval",
        "This Bash command contains multiple operations. The following part requires approval: x",
        "sed command requires approval (contains potentially dangerous operations)",
        "Permission rule 'Bash(x)' from project settings requires approval for this Bash command",
    ] {
        let told = json!(format!("Error: {text}"));
        let [recorded, live] = both(&claude_session(&[("Bash", text, true, told)], &Value::Null));
        assert_eq!(recorded, ["Bash refused"], "{text}");
        assert_eq!(live, ["Bash error"], "{text}");
        let [quoted, _] = both(&claude_session(
            &[("Bash", &format!("Exit code 1\n{text}"), true, Value::Null)],
            &Value::Null,
        ));
        assert_eq!(quoted, ["Bash error"], "{text}");
    }
}

#[test]
fn gemini_says_that_a_hook_blocked_a_call_or_that_it_made_none() {
    let blocked = format!("Tool execution blocked: {STOPPED}");
    let outside =
        "Path not in workspace: Attempted path \"/x\" resolves outside the allowed workspace directories: /w";
    let server =
        "MCP tool 'b' reported tool error for function call: {} with response: Path not in workspace: /x";
    let rows = [
        ("run_shell_command", "error", &*blocked, "refused"),
        ("read_file", "error", outside, "refused"),
        ("no_such", "error", "Tool \"no_such\" not found. Did you mean one of: \"write_todos\"?", "refused"),
        ("run_shell_command", "error", "params must have required property 'command'", "refused"),
        ("mcp_a_b", "error", server, "error"),
        ("read_file", "error", "Tool \"other\" not found.", "error"),
        ("read_file", "success", &blocked, "ok"),
        ("read_file", "success", "[permission denied: policy]", "ok"),
    ];
    let saved = |(n, (tool, status, text, _)): (usize, &(&str, &str, &str, &str))| {
        let id = format!("c{n}");
        let key = if *status == "error" { "error" } else { "output" };
        let result = json!([{"functionResponse": {"id": id, "name": tool, "response": {key: text}}}]);
        let call = json!({"id": id, "name": tool, "args": {}, "status": status, "result": result});
        json!({"id": format!("m{n}"), "type": "gemini", "content": "", "toolCalls": [call]})
    };
    let mut lines = vec![
        json!({"sessionId": "g", "projectHash": "x", "startTime": "2026-01-01T00:00:00Z", "kind": "main"}),
    ];
    lines.extend(rows.iter().enumerate().map(saved));
    let [recorded, _] = both(&lines);
    assert_eq!(recorded, rows.map(|(tool, _, _, end)| format!("{tool} {end}")));

    let event = |kind: &str, more: Value| {
        let mut event = json!({"type": kind, "timestamp": "2026-01-01T00:00:00Z"});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let mut stream = vec![event("init", json!({"session_id": "g", "model": "m"}))];
    for (n, kind, text) in [
        (0, "policy_violation", "no"),
        (1, "invalid_tool_params", "no"),
        (2, "unknown", &*blocked),
        (3, "unknown", "no"),
    ] {
        let id = n.to_string();
        stream.push(event("tool_use", json!({"tool_name": "write_file", "tool_id": id, "parameters": {}})));
        stream.push(event(
            "tool_result",
            json!({"tool_id": id, "status": "error", "error": {"type": kind, "message": text}}),
        ));
    }
    let [streamed, _] = both(&stream);
    assert_eq!(
        streamed,
        ["write_file refused", "write_file refused", "write_file refused", "write_file error"]
    );
}

fn rollout(items: &[Value]) -> Vec<Value> {
    let line = |kind: &str, payload: &Value| json!({"timestamp": "2026-01-01T00:00:00Z", "type": kind, "payload": payload});
    let meta = json!({"id": "x", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w", "cli_version": "0.171.0", "source": "exec"});
    let lines = items
        .iter()
        .map(|item| line(if item["type"] == "item_completed" { "event_msg" } else { "response_item" }, item));
    std::iter::once(line("session_meta", &meta)).chain(lines).collect()
}

#[test]
fn codex_says_that_a_hook_blocked_a_command() {
    let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "exec_command", "arguments": "{\"cmd\": \"git push\"}"});
    let output =
        |id: &str, text: &str| json!({"type": "function_call_output", "call_id": id, "output": text});
    let blocked = format!("Command blocked by PreToolUse hook: {STOPPED}. Command: git push");
    let printed = format!("Exit code: 0\nWall time: 0.1 seconds\nOutput:\n{blocked}");
    let items = [call("a"), output("a", &blocked), call("b"), output("b", &printed)];
    let [recorded, live] = both(&rollout(&items));
    assert_eq!(recorded, ["exec_command refused", "exec_command ok"]);
    assert_eq!(live, ["exec_command error", "exec_command ok"]);
}

/// A script of Codex ends where a hook blocks a call that it makes, and only its error says which call that was.
#[test]
fn what_a_script_of_codex_was_not_let_call_is_a_call_that_was_refused() {
    let script = |id: &str, text: &str| json!({"type": "custom_tool_call", "call_id": id, "name": "exec", "input": text});
    let output = |id: &str, texts: &[&str]| {
        let parts: Vec<Value> =
            texts.iter().map(|text| json!({"type": "input_text", "text": text})).collect();
        json!({"type": "custom_tool_call_output", "call_id": id, "output": parts})
    };
    let ran = json!({"type": "item_completed", "item": {"type": "CommandExecution", "id": "exec-1", "command": ["/bin/bash", "-lc", "cat .env"],
        "cwd": "file:///w", "source": "unified_exec_startup", "status": "completed", "aggregated_output": "x", "exit_code": 0}});
    let failed = "Script failed\nWall time 0.4 seconds\nOutput:\n";
    let error = format!("Script error:\nCommand blocked by PreToolUse hook: {STOPPED}. Command: git push");
    let server =
        format!("Script error:\nTool call blocked by PreToolUse hook: {STOPPED}. Tool: mcp__gh__push");
    let items = [
        script(
            "c1",
            "text(await tools.exec_command({cmd: 'cat .env'})); text(await tools.exec_command({cmd: 'git push'}));",
        ),
        ran,
        output("c1", &[failed, "{}", &error]),
        script("c2", "await tools.mcp__gh__push({})"),
        output("c2", &[failed, &server]),
        // A script that only says so.
        script("c3", "text('…')"),
        output("c3", &["Script completed\nWall time 0.4 seconds\nOutput:\n", &error]),
    ];
    let [recorded, live] = both(&rollout(&items));
    let expected = [
        "exec error",
        "exec_command ok",
        "exec_command refused",
        "exec error",
        "mcp__gh__push refused",
        "exec ok",
    ];
    assert_eq!(recorded, expected);
    assert_eq!(
        live,
        ["exec error", "exec_command ok", "exec error", "exec ok"],
        "the gate knows what it stopped"
    );
    // The script does nothing beside its calls, so that a rule does not find them twice.
    let text: String = rollout(&items).iter().map(|line| format!("{line}\n")).collect();
    let rule = "rules:\n  - {type: never, call: {runs: {program: [git, cat]}}}\n";
    let policy = Policy::parse("p.yaml", rule).unwrap();
    let verdicts = |recording: String| {
        let session = Arc::new(opened(recording).0.remove(0));
        let replay = Replay::new(&session, &policy, Mode::Shadow);
        replay.calls().iter().map(|call| call.decision.verdict.word()).collect::<Vec<_>>()
    };
    assert_eq!(verdicts(text), ["allow", "deny", "deny", "allow", "allow", "allow"]);
    // Without them its text is all there is, and what is opaque in it is reported.
    for (input, verdict) in [
        ("text(await tools.exec_command({cmd: 'git push'}))", "deny"),
        ("text(await tools.exec_command({cmd: 'ls'}))", "allow"),
        ("['git push'].map(cmd => tools.exec_command({cmd}))", "allow"),
        ("git push", "deny"),
    ] {
        let function = json!({"name": "exec", "arguments": json!({"input": input}).to_string()});
        let made = json!([{"id": "a", "type": "function", "function": function}]);
        let messages = json!([{"role": "user", "content": "go"}, {"role": "assistant", "tool_calls": made}]);
        assert_eq!(verdicts(json!({"messages": messages}).to_string()), [verdict], "{input}");
    }
}

/// What the journal says became of a call is what became of it, whatever its tool printed.
#[test]
fn a_journal_is_believed_by_its_marks_alone() {
    let records = [
        json!({"record": "opened", "schema": "rulestep.live/1", "agent": "codex", "session": "s", "parent": null, "at": 0, "context": null, "middle": null}),
        json!({"record": "turn", "at": 0, "transcript": 0}),
        json!({"record": "proposed", "id": "a", "tool": "t", "arguments": {}, "at": 0, "decision": "allow", "runs": true, "findings": []}),
        json!({"record": "resolved", "id": "a", "outcome": "ok", "output": "[permission denied: policy]", "at": 0}),
        json!({"record": "proposed", "id": "b", "tool": "t", "arguments": {}, "at": 0, "decision": "deny", "runs": false, "findings": [], "told": "no"}),
    ];
    let [recorded, live] = both(&records);
    assert_eq!(recorded, ["t ok", "t refused"]);
    assert_eq!(live, recorded);
    // Written anew it stays so.
    let text: String = records.iter().map(|line| format!("{line}\n")).collect();
    let (sessions, _) = opened(text);
    let written = serde_json::to_string(&rulestep_base::session::write::Native(&sessions[0])).unwrap();
    assert!(written.contains(r#""refused":false"#), "{written}");
    let (again, _) = opened(written);
    assert_eq!(again[0].calls.iter().map(|call| call.outcome.word()).collect::<Vec<_>>(), ["ok", "refused"]);
}

/// Under which conditions a call was made: what the session says of all, and what is another for one.
#[test]
fn agents_say_in_which_mode_and_by_which_version_a_call_is_made() {
    let call = |n: usize| json!({"type": "tool_use", "id": format!("c{n}"), "name": "Bash", "input": {}});
    let prompt = |uuid: usize, mode: &str| {
        let mut line = claude("user", uuid, json!({"type": "text", "text": "go"}));
        line["permissionMode"] = json!(mode);
        line
    };
    let mut newer = claude("assistant", 4, call(2));
    newer["version"] = json!("2.1.332");
    let shape = json!({"type": "api-request-shape", "sessionId": "s", "hash": "h", "system": [], "tools": [{"name": "Bash", "description": "d", "input_schema": {}}]});
    let request = json!({"type": "api-request", "sessionId": "s", "shape": "h"});
    let blob = json!({"type": "api-request-blob", "sessionId": "s", "hash": "b", "message": {"role": "assistant", "content": [call(0)]}});
    let lines = [
        prompt(0, "default"),
        shape,
        request,
        blob,
        claude("assistant", 1, call(0)),
        claude("assistant", 2, call(1)),
        prompt(3, "plan"),
        newer,
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let (sessions, of_file) = opened(text);
    assert!(of_file.is_empty(), "{of_file:?}");
    let session = &sessions[0];
    let context = session.facts.context.as_ref().unwrap();
    let keys = ["agent", "agent_version", "permission_mode", "cwd"];
    assert_eq!(keys.map(|key| context[key].as_str().unwrap()), ["claude-code", "2.1.197", "default", "/w"]);
    let own = |n: usize| {
        let agent = session.calls[n].agent.as_deref();
        agent.map(|agent| (agent.permission_mode.as_deref(), agent.version.as_deref()))
    };
    assert_eq!([own(0), own(1), own(2)], [None, None, Some((Some("plan"), Some("2.1.332")))]);
    let offered = session.offered_in(1).unwrap();
    assert_eq!(offered.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["Bash"]);
    // Written anew and read again it is the same.
    let written = serde_json::to_string(&rulestep_base::session::write::Native(session)).unwrap();
    let (again, _) = opened(written);
    let modes = |calls: &[rulestep_base::session::Call]| {
        calls.iter().map(|call| call.agent.clone()).collect::<Vec<_>>()
    };
    assert_eq!(modes(&again[0].calls), modes(&session.calls));

    let turn = |mode: &str| {
        json!({"timestamp": "2026-01-01T00:00:00Z", "type": "turn_context", "payload": {"cwd": "/w", "approval_policy": mode,
        "sandbox_policy": {"type": "read-only"}, "model": "m"}})
    };
    let made =
        |id: &str| json!({"type": "function_call", "call_id": id, "name": "exec_command", "arguments": "{}"});
    let mut lines = rollout(&[]);
    lines.extend([
        turn("never"),
        rollout(&[made("a")]).remove(1),
        turn("on-request"),
        rollout(&[made("b")]).remove(1),
    ]);
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let session = &opened(text).0[0];
    let context = session.facts.context.as_ref().unwrap();
    let keys = ["agent", "agent_version", "permission_mode", "cwd", "sandbox"];
    assert_eq!(
        keys.map(|key| context[key].as_str().unwrap()),
        ["codex", "0.171.0", "never", "/w", "read-only"]
    );
    let modes: Vec<_> = session
        .calls
        .iter()
        .map(|call| call.agent.as_ref().and_then(|agent| agent.permission_mode.as_deref()))
        .collect();
    assert_eq!(modes, [None, Some("on-request")]);
}
