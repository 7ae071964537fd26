//! `rulestep live` opens the journals of the gate.

use serde_json::json;

use super::{fed, live};

#[test]
fn journals_are_opened_by_their_session() {
    let root = tempfile::tempdir().unwrap();
    let (project, state) = (root.path().join("project"), root.path().join("state"));
    std::fs::create_dir(&project).unwrap();
    std::fs::write(
        project.join("p.yaml"),
        "{tool: deploy, preconditions: [{requires_prior_tool: run_tests}]}",
    )
    .unwrap();
    let run = |arguments: &[&str]| {
        let output = fed(live(&project, &state, arguments), b"");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    };
    let (code, _, error) = run(&["live", "-p", "p.yaml"]);
    assert!(code == 2 && error.contains("no session has a journal"), "{error}");
    for (session, agent, tool) in
        [("alpha-1", None, "deploy"), ("alpha-1", Some("sub"), "look"), ("beta-2", None, "look")]
    {
        let event = json!({
            "session_id": session, "agent_id": agent, "hook_event_name": "PreToolUse", "cwd": "/x", "tool_name": tool,
            "tool_input": {}, "tool_use_id": "t1",
        });
        fed(live(&project, &state, &["hook", "claude-code", "-p", "p.yaml"]), event.to_string().as_bytes());
    }
    let (code, said, error) = run(&["live", "-p", "p.yaml"]);
    assert!(code == 1 && said.contains("deploy") && said.contains("3 sessions"), "{said}{error}");
    // The session with its subagent, by the beginning of its id.
    let (code, said, _) = run(&["live", "alpha", "-p", "p.yaml"]);
    assert!(code == 1 && said.contains("2 sessions"), "{said}");
    let (code, said, _) = run(&["live", "beta-2", "-p", "p.yaml"]);
    assert!(code == 0 && !said.contains("deploy"), "{said}");
    let (code, _, error) = run(&["live", "beta-3", "-p", "p.yaml"]);
    assert!(code == 2 && error.contains("did you mean `beta-2`?"), "{error}");
}

/// The journal says where the policy is; older ones do not.
#[test]
fn the_policy_that_decided_last_is_found_again() {
    let root = tempfile::tempdir().unwrap();
    let (project, state) = (root.path().join("project"), root.path().join("state"));
    let elsewhere = root.path().join("elsewhere");
    std::fs::create_dir(&project).unwrap();
    std::fs::create_dir(&elsewhere).unwrap();
    let policy = project.join("p.yaml");
    std::fs::write(&policy, "{tool: deploy, preconditions: [{requires_prior_tool: run_tests}]}").unwrap();
    let event = json!({"session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/x", "tool_name": "deploy",
        "tool_input": {"text": "\n{\"record\":\"proposed\",\"policy_from\":{}}"}, "tool_use_id": "t1"});
    fed(live(&project, &state, &["hook", "claude-code", "-p", "p.yaml"]), event.to_string().as_bytes());
    let run = |folder: &std::path::Path| {
        let output = fed(live(folder, &state, &["live"]), b"");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    };
    for folder in [&project, &elsewhere] {
        let (code, said, error) = run(folder);
        assert!(code == 1 && said.contains("by this policy, enforce"), "{said}{error}");
        assert!(!error.contains("no longer"), "{error}");
    }
    std::fs::write(&policy, "{tool: look, preconditions: [{requires_prior_tool: run_tests}]}").unwrap();
    let (code, said, error) = run(&elsewhere);
    assert!(code == 0 && said.contains("≠ newly allowed"), "{said}{error}");
    assert!(error.contains("is no longer the one that decided last"), "{error}");
    std::fs::write(&policy, "{tool: look, preconditions: 1}").unwrap();
    let (code, said, error) = run(&elsewhere);
    assert!(code == 2 && said.is_empty() && error.contains("does not load"), "{said}{error}");
    // A journal that does not say it: as before, a policy has to be named.
    let journal = state.join("rulestep/live/claude-code/s.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap().replace("policy_from", "policy_was");
    std::fs::write(&journal, text).unwrap();
    let (code, _, error) = run(&elsewhere);
    assert!(code == 2 && error.contains("no policy is named"), "{error}");
}
