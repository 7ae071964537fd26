//! What a model reads when its call does not run.

use serde_json::json;

use super::{fed, live};
use crate::cli::folder;

const POLICY: &str = "\
rules:
  - {id: no-destroy, type: never, call: {runs: {program: terraform, args: [destroy]}}, tell: This would destroy something in production.}
  - id: tested
    description: The tests passed before anything is pushed
    type: before
    first:
      - {runs: [{program: cargo, args: [[test, t, nextest]]}, {program: pytest}, {program: go, args: [test]}, {program: tox}, {program: make, args: [check]}]}
    then: {runs: {program: git, args: [push]}}
";

fn read(command: &str) -> String {
    let files = folder(&[("p.yaml", POLICY)]);
    let state = tempfile::tempdir().unwrap();
    let event = json!({"session_id": "s", "transcript_path": null, "cwd": "/work", "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "1"});
    let output = fed(
        live(files.path(), state.path(), &["hook", "claude-code", "-p", "p.yaml"]),
        event.to_string().as_bytes(),
    );
    assert_eq!(output.status.code(), Some(2), "{command}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// The author's words are about a call that certainly is what the rule stops: of a doubt they say nothing true.
#[test]
fn a_doubt_says_what_is_not_known_and_what_to_write_instead() {
    for (command, words) in [
        ("echo \"$(cat", ["`echo \"$(cat` cannot be read to its end", "Close its quotes and brackets"]),
        ("if true; then", ["`if true; then` cannot be read to its end", "one command in a line"]),
        ("cat <<EOF", ["cannot be read to its end", "EOF"]),
        ("$TOOL destroy", ["What `$TOOL` does is not known", "Write the value itself in its place"]),
        (
            "terraform $WHAT",
            ["What `$WHAT` in `terraform $WHAT` does is not known", "Write the value itself"],
        ),
    ] {
        let read = read(command);
        assert!(words.iter().all(|word| read.contains(word)), "{command}: {read}");
        for other in ["production", "tests passed", "Way out", "counts as a match", "or 2 more"] {
            assert!(!read.contains(other), "{command}: {read}");
        }
    }
}

#[test]
fn nothing_follows_the_words_of_the_author() {
    let read = read("terraform destroy");
    assert!(read.contains("This would destroy something in production. (p.yaml:2)"), "{read}");
}

/// A way out is a command that can be run.
#[test]
fn a_way_out_is_one_command() {
    let read = read("git push");
    assert!(read.contains("Way out: run `pytest` successfully before `git push`."), "{read}");
}
