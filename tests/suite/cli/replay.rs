//! `rulestep replay` as people see it, with good and with bad input.

use std::io::{Read, Write};
use std::process::Stdio;

use insta::assert_snapshot;

use super::{CLEAN, CLOSE_CASE, REFUND_124, folder, refunds, rulestep, run, seen};

#[test]
fn what_was_stopped_and_why() {
    assert_snapshot!(run(&refunds(), &["replay", "sessions"]));
}

#[test]
fn everything() {
    assert_snapshot!(run(&refunds(), &["replay", "sessions", "--full"]));
}

#[test]
fn in_shadow_nothing_is_stopped_and_it_still_counts() {
    assert_snapshot!(run(&refunds(), &["replay", "sessions", "--mode", "shadow"]));
}

#[test]
fn a_line_a_session() {
    assert_snapshot!(run(&refunds(), &["replay", "sessions", "--summary"]));
}

#[test]
fn in_colours() {
    assert_snapshot!(run(&refunds(), &["replay", "sessions", "--color", "always"]).replace('\x1b', "␛"));
}

#[test]
fn a_clean_session() {
    assert_snapshot!(run(&refunds(), &["replay", "sessions/b.json"]), @r"
    exit 0
    --- stdout
    1 session, 1 turn, 0 calls: 0 allowed, none stopped
    --- stderr
    ");
}

#[test]
fn standard_input() {
    let folder = refunds();
    let mut child = rulestep(folder.path(), &["replay", "-", "--summary"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(REFUND_124.as_bytes()).unwrap();
    assert_snapshot!(seen(&child.wait_with_output().unwrap()));
}

#[test]
fn a_path_that_is_not_there() {
    assert_snapshot!(run(&refunds(), &["replay", "nowhere"]));
}

#[test]
fn a_path_that_is_not_there_beside_one_that_is() {
    assert_snapshot!(run(&refunds(), &["replay", "nowhere", "sessions/b.json"]));
}

#[test]
fn an_empty_folder() {
    let folder = refunds();
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    assert_snapshot!(run(&folder, &["replay", "empty"]));
}

#[test]
fn a_damaged_line() {
    let oneline = REFUND_124.replace('\n', "");
    let text = format!("{oneline}\n{{\"id\": \"cut\", \"messages\": [\n{}\n", CLEAN.replace('\n', ""));
    let folder = folder(&[("contracts/issue_refund.yaml", super::ISSUE_REFUND), ("log.jsonl", &text)]);
    assert_snapshot!(run(&folder, &["replay", "log.jsonl"]));
}

#[test]
fn broken_yaml() {
    let folder = folder(&[("contracts/a.yaml", "tool: [x\npreconditions: }\n"), ("s.json", CLEAN)]);
    assert_snapshot!(run(&folder, &["replay", "s.json"]));
}

#[test]
fn an_unknown_key() {
    let folder = folder(&[("contracts/a.yaml", "tool: x\nforbid_after: [y]\n"), ("s.json", CLEAN)]);
    assert_snapshot!(run(&folder, &["replay", "s.json"]));
}

#[test]
fn two_contracts_for_one_tool() {
    let folder = folder(&[
        ("one/a.yaml", "tool: x\nforbids_after: [y]\n"),
        ("two/b.yaml", "forbids_after: [z]\ntool: x\n"),
        ("s.json", CLEAN),
    ]);
    assert_snapshot!(run(&folder, &["replay", "s.json", "-p", "one", "-p", "two"]));
}

#[test]
fn several_versions_are_one() {
    let folder = refunds();
    let arguments = ["-p", "contracts/close_case.yaml", "-p", "contracts/issue_refund.yaml"];
    let seen = run(&folder, &[["replay", "sessions/a.json"].as_slice(), &arguments].concat());
    assert_eq!(seen, run(&folder, &["replay", "sessions/a.json"]));
}

#[test]
fn no_policy_at_all() {
    let folder = folder(&[("s.json", CLEAN)]);
    assert_snapshot!(run(&folder, &["replay", "s.json"]));
}

#[test]
fn a_policy_folder_without_policies() {
    let folder = folder(&[("contracts/notes.yaml", "shopping: [milk]\n"), ("s.json", CLEAN)]);
    assert_snapshot!(run(&folder, &["replay", "s.json"]));
}

#[test]
fn usage() {
    let folder = refunds();
    assert_snapshot!(run(&folder, &["replay", "--summary", "--full"]));
    assert_snapshot!(run(&folder, &["replay", "--only", "contracts", "sessions"]));
    assert_snapshot!(run(&folder, &["replay", "--from", "natif", "sessions"]));
    assert_snapshot!(run(&folder, &["replay", "--error-regex", "(", "sessions"]));
}

#[test]
fn the_bare_program_says_that_it_judges_samples() {
    let folder = folder(&[]);
    let bare = rulestep(folder.path(), &[]).output().unwrap();
    let replay = rulestep(folder.path(), &["replay", "--samples"]).output().unwrap();
    assert!(bare.status == replay.status && bare.stdout == replay.stdout);
    assert_eq!(bare.status.code(), Some(1));
    let told = String::from_utf8_lossy(&bare.stderr).into_owned();
    let notes: Vec<&str> = told.lines().take(2).collect();
    let samples = "note: no recordings given: these are the samples built into the program, judged by their own policies";
    assert_eq!(notes, ["note: the output is not a terminal, so here is what `replay` prints", samples]);
    assert!(!run(&folder, &["--quiet"]).contains(samples));
}

/// `rulestep diff $FILES` with an empty variable must not be green.
#[test]
fn samples_are_judged_only_when_asked_for() {
    let folder = folder(&[("p.yaml", CLOSE_CASE), ("contracts/p.yaml", CLOSE_CASE)]);
    for (arguments, usage) in [
        (&["replay", "-p", "p.yaml"][..], "rulestep replay SESSIONS"),
        (&["replay", "--summary", "--format", "json"], "rulestep replay SESSIONS"),
        (&["diff", "-p", "p.yaml", "-b", "p.yaml"], "rulestep diff SESSIONS --base VERSION"),
        (&["convert"], "rulestep convert SESSIONS"),
        (&["convert", "-o", "out/"], "rulestep convert SESSIONS"),
        (&["explain", "--at", "refund-124:4.1"], "rulestep explain --at refund-124:4.1 SESSIONS"),
        (&["-p", "p.yaml"], "rulestep SESSIONS"),
        (&["--mode", "shadow"], "rulestep SESSIONS"),
        (&["--only", "contract"], "rulestep SESSIONS"),
        (&["--base", "p.yaml"], "rulestep SESSIONS"),
        (&["--from", "native"], "rulestep SESSIONS"),
    ] {
        let told = run(&folder, arguments);
        assert_eq!(
            told,
            format!(
                "exit 2\n--- stdout\n--- stderr\nerror: no recordings given\n  help: give files, folders, globs or `-`: \
                 `{usage}`; `--samples` uses the samples built into the program\n"
            ),
            "{arguments:?}"
        );
    }
    for arguments in [
        &["replay", "--samples", "-p", "p.yaml"][..],
        &["diff", "--samples", "-p", "p.yaml", "-b", "recorded"],
        &["explain", "--samples", "--at", "refund-124:4.1"],
        &["--samples", "-p", "p.yaml"],
    ] {
        let told = run(&folder, arguments);
        assert!(!told.starts_with("exit 2") && told.contains("sample-traces/"), "{arguments:?}: {told}");
    }
    assert!(run(&folder, &["convert", "--samples"]).starts_with("exit 0\n--- stdout\n{\"id\":"));
    // One or the other.
    for verb in ["replay", "convert"] {
        let told = run(&folder, &[verb, "p.yaml", "--samples"]);
        assert!(told.starts_with("exit 2") && told.contains("cannot be used with"), "{told}");
    }
}

#[test]
fn quiet_hides_notices_and_no_warning() {
    let session = r#"{"id": "s", "messages": [
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "x", "arguments": "{}"}},
            {"id": "2", "type": "function", "function": {"name": "x", "arguments": "no JSON"}}]},
        {"role": "tool", "tool_call_id": "2", "content": "ok"}]}"#;
    let policies = [("p/a.yaml", CLOSE_CASE), ("p/notes.yaml", "shopping: [milk]\n"), ("s.json", session)];
    let folder = folder(&policies);
    let told = |more: &[&str]| run(&folder, &[&["replay", "s.json", "-p", "p"], more].concat());
    let (loud, quiet) = (told(&[]), told(&["-q"]));
    let about = |told: &str, kind: &str, file: &str| {
        let lines: Vec<&str> = told.lines().collect();
        let of_file = |pair: &[&str]| pair[0].starts_with(kind) && pair[1].contains(file);
        lines.windows(2).filter(|pair| of_file(pair)).count()
    };
    for (kind, file, when_quiet) in
        [("notice", "p/notes", 1), ("warning", "s.json", 1), ("notice", "s.json", 0)]
    {
        assert_eq!(about(&loud, kind, file), 1, "{kind} {file}: {loud}");
        assert_eq!(about(&quiet, kind, file), when_quiet, "{kind} {file}: {quiet}");
    }
}

#[test]
fn recorded_text_cannot_steer_the_terminal() {
    let session = r#"{"id": "\u001b[2Jx\u202e", "messages": [
      {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "check", "arguments": "{\"id\": \"\\u001b]0;t\\u0007\u202e\"}"}}]},
      {"role": "tool", "tool_call_id": "1", "content": "\u001b[31m"},
      {"role": "assistant", "tool_calls": [{"id": "2", "function": {"name": "pay", "arguments": "{\"id\": \"\u200b\u009b1m\"}"}}]}]}"#;
    let policy = "tool: pay\npreconditions:\n  - requires_prior_tool: check\n    \
                  resource: {bind_from: arguments, path: $.id}\n    description: \"a\\e[1mb\"\n";
    let folder = folder(&[("s.json", session), ("p.yaml", policy)]);
    for more in [
        &["replay", "s.json"][..],
        &["replay", "s.json", "--full"],
        &["explain", "s.json", "--at", "s.json:2.1"],
    ] {
        let seen = run(&folder, &[more, &["-p", "p.yaml"]].concat());
        let hidden = |c: char| (c.is_control() && c != '\n') || ('\u{200b}'..='\u{202e}').contains(&c);
        assert!(!seen.contains(hidden), "{seen:?}");
        assert!(seen.contains("⟨U+202E⟩") && seen.contains("⟨U+200B⟩⟨U+009B⟩"), "{seen}");
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let folder = refunds();
    let many = format!("[{}]", vec![REFUND_124; 2000].join(","));
    std::fs::write(folder.path().join("many.json"), many).unwrap();
    let mut child = rulestep(folder.path(), &["replay", "-q", "many.json", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 64];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let folder = refunds();
    let many = format!("[{}]", vec![REFUND_124; 300].join(","));
    std::fs::write(folder.path().join("many.json"), many).unwrap();
    let one = run(&folder, &["replay", "many.json", "sessions", "--jobs", "1", "--format", "json"]);
    let four = run(&folder, &["replay", "many.json", "sessions", "--jobs", "4", "--format", "json"]);
    assert_eq!(one, four);
    // One of the folder is also in the file, and is counted once.
    assert_eq!(one.lines().filter(|line| line.starts_with('{')).count(), 302);
}

#[test]
fn results_that_match_are_errors() {
    let session = r#"{"id": "e", "messages": [
      {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "check", "arguments": "{}"}}]},
      {"role": "tool", "tool_call_id": "1", "content": "Error: no such order"},
      {"role": "assistant", "tool_calls": [{"id": "2", "function": {"name": "pay", "arguments": "{}"}}]},
      {"role": "tool", "tool_call_id": "2", "content": "paid"}]}"#;
    let policy = "tool: pay\npreconditions:\n  - requires_prior_tool: check\n";
    let folder = folder(&[("s.json", session), ("p.yaml", policy)]);
    let run = |more: &[&str]| run(&folder, &[&["replay", "-q", "s.json", "-p", "p.yaml"], more].concat());
    assert!(run(&[]).starts_with("exit 0\n"));
    assert_snapshot!(run(&["--error-regex", "^Error"]));
}

/// What was refused satisfies nothing, also in what `convert` writes of it and without the option.
#[test]
fn results_that_match_are_refusals() {
    let session = r#"{"id": "e", "messages": [
      {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "check", "arguments": "{}"}}]},
      {"role": "tool", "tool_call_id": "1", "content": "blocked by guard: no such order"},
      {"role": "assistant", "tool_calls": [{"id": "2", "function": {"name": "pay", "arguments": "{}"}}]},
      {"role": "tool", "tool_call_id": "2", "content": "paid"}]}"#;
    let policy = "tool: pay\npreconditions:\n  - requires_prior_tool: check\n";
    let folder = folder(&[("s.json", session), ("p.yaml", policy)]);
    let option = ["--refused-regex", "^blocked by"];
    let replay = |more: &[&str]| run(&folder, &[&["replay", "-q", "s.json", "-p", "p.yaml"], more].concat());
    assert!(replay(&[]).starts_with("exit 0\n"));
    assert_snapshot!(replay(&option));
    assert_snapshot!(replay(&["--refused-regex", "("]));
    let diff = run(&folder, &[&["diff", "s.json", "-b", "recorded", "-p", "p.yaml"][..], &option].concat());
    assert!(diff.contains("newly allowed") && diff.contains("check"), "{diff}");
    let told = run(&folder, &[&["convert", "-q", "s.json", "-o", "c.json"][..], &option].concat());
    assert!(told.starts_with("exit 0\n"), "{told}");
    let again = run(&folder, &["replay", "-q", "c.json", "-p", "p.yaml"]);
    assert!(again.starts_with("exit 1\n") && again.contains("refused"), "{again}");
}

#[test]
fn words_that_are_no_command() {
    let folder = refunds();
    for (arguments, help) in [
        (&["replya"][..], "did you mean `rulestep replay`?"),
        (&["--only", "contract", "replay"][..], "the command comes before its options: `rulestep replay …`"),
    ] {
        let told = run(&folder, arguments);
        assert!(told.contains("exit 2") && told.contains(help), "{told}");
    }
    // What is there is a recording, whatever it is called.
    std::fs::create_dir(folder.path().join("replays")).unwrap();
    assert!(!run(&folder, &["replays"]).contains("did you mean"));
}

#[test]
fn a_theme_that_is_none_is_refused_without_a_terminal_too() {
    let told = run(&refunds(), &["--theme", "nope", "sessions"]);
    assert!(told.contains("exit 2") && told.contains("nope"), "{told}");
}

#[test]
fn help_lists_what_can_be_named() {
    let told = run(&refunds(), &["--help"]).split_whitespace().collect::<Vec<_>>().join(" ");
    for names in [
        "instead of recognising the format of each: rulestep-live, claude-code,",
        "policies in this one language: contract,",
        "theme of the workbench: ansi-dark,",
    ] {
        assert!(told.contains(names), "{names}: {told}");
    }
}

#[test]
fn samples_are_judged_by_their_own_contracts_unless_a_policy_is_named() {
    let folder = folder(&[("contracts/a.yaml", "tool: x\nforbids_after: [y]\n")]);
    let digests = |arguments: &[&str]| {
        let told = run(&folder, arguments);
        let from = told.split("\"digest\":\"").nth(1).unwrap_or_default();
        from.split('"').next().unwrap_or_default().to_owned()
    };
    let own = digests(&["replay", "--samples", "--format", "json", "--policy", "contracts"]);
    let samples = digests(&["replay", "--samples", "--format", "json"]);
    assert!(
        own.starts_with("sha256:") && samples.starts_with("sha256:") && own != samples,
        "{own} {samples}"
    );
}

/// Rules about tools that no session has look as if they held.
#[test]
fn tools_that_rules_name_and_no_session_has() {
    let folder = folder(&[
        ("a.json", REFUND_124),
        (
            "rules.yaml",
            "version: \"1.0\"\nrules:\n  - {type: never, call: issue_refnd}\n  - {type: never, call: nuke}\n",
        ),
    ]);
    // A copy would be the same session.
    std::fs::write(folder.path().join("b.json"), REFUND_124.replacen("124", "125", 1)).unwrap();
    for command in
        [&["replay", "-p", "rules.yaml"][..], &["diff", "-p", "rules.yaml", "--base", "rules.yaml"]]
    {
        let told = |names: &[&str]| {
            let all = run(&folder, &[command, names].concat());
            let said = |text: &str| all.contains(text);
            [
                said("no recording calls or offers `issue_refnd`") && said("did you mean `issue_refund`?"),
                said("no recording calls or offers `nuke`, so no rule for it was checked"),
            ]
        };
        assert_eq!(told(&["a.json", "b.json"]), [true, true], "{command:?}");
        // One session has few tools; and of some that were picked nothing is concluded.
        assert_eq!(told(&["a.json"]), [true, false], "{command:?}");
        assert_eq!(
            told(&["a.json", "b.json", "--where", "tool:issue_refund"]),
            [false, false],
            "{command:?}"
        );
    }
}
