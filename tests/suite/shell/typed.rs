//! What is typed into a program that an earlier call has started.

use rulestep_shell::matcher::{Matcher, Runs, Surroundings};
use rulestep_shell::tool::of_call;
use rulestep_shell::{Answer, Root};
use serde_json::json;

fn pushes(tool: &str, arguments: &serde_json::Value) -> Answer {
    let push = Matcher::Runs(Runs::new(["git"], [vec!["push"]], []));
    let line = of_call(tool, Some(arguments), &Root::default());
    Answer::any(line.calls.iter().map(|call| push.answer(call, &Surroundings::default())))
}

#[test]
fn keys_are_perhaps_commands() {
    for (tool, arguments) in [
        ("write_stdin", json!({"session_id": 1, "chars": "git push\n"})),
        ("write_stdin", json!({"session_id": 1, "chars": "cd x\rgit push\r"})),
        ("write_stdin", json!({"session_id": 1, "chars": ["git push"]})),
        ("write_bash", json!({"sessionId": "a", "input": "git push origin main"})),
    ] {
        assert!(matches!(pushes(tool, &arguments), Answer::Perhaps(_)), "{tool} {arguments}");
    }
    for chars in ["", "y\n", "\u{3}", "git status\n", "q"] {
        let arguments = json!({"session_id": 1, "chars": chars});
        assert_eq!(pushes("write_stdin", &arguments), Answer::No, "{chars:?}");
    }
}

#[test]
fn what_is_only_started_is_not_shown_to_end() {
    let arguments = json!({"command": "cargo test", "description": "x"});
    let line = of_call("Monitor", Some(&arguments), &Root::default());
    assert!(!line.calls.is_empty() && line.calls.iter().all(|call| !call.proven), "{line:?}");
    assert_eq!(pushes("Monitor", &json!({"command": "git push"})), Answer::Yes);
}

/// The hook of Codex has the patch as a command.
#[test]
fn a_patch_says_what_it_writes() {
    let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n+y\n*** Delete File: b.rs\n*** End Patch\n";
    for name in ["input", "command"] {
        let line = of_call("apply_patch", Some(&json!({name: patch})), &Root::default());
        let touches: Vec<_> = line.calls.iter().flat_map(|call| &call.touches).collect();
        let shown: Vec<&str> = touches.iter().map(|touch| touch.place.shown()).collect();
        assert_eq!(shown, ["a.rs", "b.rs"], "{line:?}");
        assert!(line.calls.iter().all(|call| call.unclear.is_none()));
    }
}

#[test]
fn keys_do_not_show_how_a_command_ends() {
    let line = of_call("write_stdin", Some(&json!({"chars": "cargo test\n"})), &Root::default());
    assert!(!line.calls.is_empty() && line.calls.iter().all(|call| !call.proven), "{line:?}");
}
