//! What readers drop, and whether calls may have been in it.

use rulestep_base::diagnostic::{Diagnostic, Loss, Severity};
use rulestep_base::session::Outcome;
use serde_json::json;

use super::{opened, told};

pub fn losses(text: &str) -> Vec<(Loss, Severity)> {
    let (sessions, of_file) = opened(text);
    let all = sessions.iter().flat_map(|session| &session.diagnostics).chain(&of_file);
    all.filter_map(|told: &Diagnostic| Some((told.loss?, told.severity))).collect()
}

#[test]
fn a_line_that_is_there_twice_is_harmless() {
    let line =
        json!({"type": "user", "sessionId": "s", "uuid": "u", "message": {"role": "user", "content": "x"}});
    assert_eq!(losses(&format!("{line}\n{line}\n")), [(Loss::Harmless, Severity::Notice)]);
    assert_eq!(losses(&format!("{line}\n[{{\n")).first(), Some(&(Loss::MayHoldCalls, Severity::Warning)));
}

/// The place of what was summarised is in no line, and nothing is lost for that.
#[test]
fn a_compaction_is_no_damage() {
    let said = |uuid: &str, parent: Option<&str>, text: &str| {
        json!({"type": "user", "sessionId": "s", "uuid": uuid, "parentUuid": parent,
            "message": {"role": "user", "content": text}})
    };
    let boundary = json!({"type": "system", "subtype": "compact_boundary", "sessionId": "s", "uuid": "b",
        "parentUuid": null, "logicalParentUuid": "nowhere", "content": "Conversation compacted"});
    let lines = [said("a", None, "x"), boundary, said("c", Some("b"), "y")].map(|line| line.to_string());
    let (sessions, of_file) = opened(lines.join("\n"));
    assert_eq!(told(&sessions, &of_file), [""; 0]);
    assert_eq!(sessions[0].messages.len(), 2);
}

/// A call whose arguments are under a key that nobody knows is judged as one without arguments, and that is said.
#[test]
fn arguments_under_an_unknown_key_are_a_loss() {
    let said = |call: serde_json::Value| {
        losses(
            &json!({"messages": [
                {"role": "user", "content": "x"},
                {"role": "assistant", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "1", "content": "y"},
            ]})
            .to_string(),
        )
    };
    let lost = [(Loss::MayHoldCalls, Severity::Warning)];
    for call in [
        json!({"id": "1", "type": "function", "function": {"name": "f", "argument": "{}"}}),
        json!({"id": "1", "function": {"name": "f", "payload": {"a": 1}}}),
        json!({"id": "1", "name": "f", "params": {"a": 1}}),
    ] {
        assert_eq!(said(call.clone()), lost, "{call}");
    }
    for call in [
        json!({"id": "1", "type": "function", "function": {"name": "f"}}),
        json!({"id": "1", "type": "function", "function": {"name": "f", "arguments": null}}),
        json!({"id": "1", "name": "f", "index": 0}),
    ] {
        assert_eq!(said(call.clone()), [], "{call}");
    }
}

#[test]
fn arguments_in_python_notation_are_one_notice_of_the_file() {
    let episode = json!({"task_id": 1, "traj": [
        {"role": "user", "content": "x"},
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{'a': True}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "y"},
    ]});
    let (sessions, of_file) = opened(json!([episode, episode, episode]).to_string());
    assert_eq!(sessions.len(), 3);
    let of_python = |told: &&String| told.contains("Python notation");
    let all = told(&sessions, &of_file);
    let python: Vec<_> = all.iter().filter(of_python).collect();
    assert_eq!(
        python,
        [
            "some.json: notice[arguments_not_json]: the arguments of 3 calls are in Python notation, and are read as such"
        ]
    );
}

/// A trajectory of SWE-agent whose steps were not kept.
#[test]
fn a_history_alone_is_a_run() {
    let newer = json!({"history": [
        {"role": "system", "content": "be good", "agent": "main", "message_type": "system_prompt"},
        {"role": "assistant", "content": "look", "agent": "main", "action": "ls",
            "tool_calls": [{"id": "c", "function": {"name": "bash", "arguments": "{\"command\": \"ls\"}"}}]},
        {"role": "tool", "content": "a b", "agent": "main", "tool_call_ids": ["c"]},
    ], "info": {}});
    let older = json!({"environment": "swe", "history": [
        {"role": "user", "content": "mend it", "agent": "primary"},
        {"role": "assistant", "content": "DISCUSSION", "thought": "so", "action": "open setup.py", "agent": "primary"},
        {"role": "user", "content": "[File: setup.py]", "agent": "primary"},
    ], "info": {}});
    for (recording, tool, arguments) in
        [(newer, "bash", "{\"command\": \"ls\"}"), (older, "open", "{\"command\": \"open setup.py\"}")]
    {
        let (sessions, of_file) = opened(recording.to_string());
        assert_eq!(sessions[0].origin.format, "swe-agent");
        let calls: Vec<_> =
            sessions[0].calls.iter().map(|call| (&*call.tool, call.arguments.raw(), call.outcome)).collect();
        assert_eq!(calls, [(tool, arguments, Outcome::Ok)], "{:?}", told(&sessions, &of_file));
        assert_eq!(losses(&recording.to_string()), []);
    }
}

/// Some versions of SWE-agent end a run before they write its last step into the history.
#[test]
fn the_last_step_of_a_run_is_read_where_the_history_lacks_it() {
    let message = |action: &str, id: &str| {
        json!({"role": "assistant", "content": "look", "agent": "main", "action": action,
            "tool_calls": [{"id": id, "function": {"name": "bash", "arguments": format!("{{\"command\": \"{action}\"}}")}}]})
    };
    let result = |id: &str| json!({"role": "tool", "content": "a b", "agent": "main", "tool_call_ids": [id]});
    let step = |action: &str| json!({"action": action, "observation": "a b", "response": "look"});
    let run = |steps: &[&str]| {
        let steps: Vec<_> = steps.iter().map(|action| step(action)).collect();
        json!({"trajectory": steps, "info": {},
            "history": [message("ls", "1"), result("1"), message("pwd", "2"), result("2")]})
        .to_string()
    };
    let text = run(&["ls", "pwd", "rm -r /"]);
    let (sessions, _) = opened(&*text);
    let calls: Vec<_> = sessions[0].calls.iter().map(|call| (call.arguments.raw(), call.outcome)).collect();
    let call = |command| (command, Outcome::Ok);
    assert_eq!(
        calls,
        [call("{\"command\": \"ls\"}"), call("{\"command\": \"pwd\"}"), call("{\"command\": \"rm -r /\"}")]
    );
    assert!(sessions[0].calls.iter().all(|call| &*call.tool == "bash"));
    assert_eq!(losses(&text), []);
    // What hands in the work runs nothing.
    assert_eq!(losses(&run(&["ls", "pwd", "submit"])), [(Loss::Harmless, Severity::Notice)]);
    // Where it was among the others is not known.
    assert_eq!(losses(&run(&["ls", "rm -r /", "pwd"])), [(Loss::MayHoldCalls, Severity::Warning)]);
}

/// A run may say that it failed by its status alone, without an error beside it.
#[test]
fn a_run_of_langsmith_fails_by_its_status() {
    let run = |status: &str| {
        json!({"id": "r1", "trace_id": "t", "run_type": "tool", "name": "refund", "status": status,
            "start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-01T00:00:01Z",
            "inputs": {"input": "{}"}, "outputs": {"output": "x"}})
    };
    for (status, expected) in [("success", Outcome::Ok), ("error", Outcome::Error)] {
        let (sessions, _) = opened(run(status).to_string());
        assert_eq!(sessions[0].origin.format, "langsmith");
        let outcomes: Vec<_> = sessions[0].calls.iter().map(|call| call.outcome).collect();
        assert_eq!(outcomes, [expected], "{status}");
    }
}
