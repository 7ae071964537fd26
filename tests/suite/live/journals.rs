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
