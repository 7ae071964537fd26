//! `rulestep hook`: what each agent sends, and what it is answered.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use super::{fed, live, records};
use crate::cli::folder;

const POLICY: &str = "tool: Bash\npreconditions:\n  - {requires_prior_tool: Read, description: A file is read before a command runs}\n";

fn event(name: &str, more: Value) -> Vec<u8> {
    let mut event =
        json!({"session_id": "s-1", "transcript_path": null, "cwd": "/work", "hook_event_name": name});
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event.to_string().into_bytes()
}

fn call(name: &str, id: &str, tool: &str) -> Vec<u8> {
    event(
        name,
        json!({"tool_name": tool, "tool_input": {"n": 1.50}, "tool_use_id": id, "tool_response": "done"}),
    )
}

fn hook(state: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let files = folder(&[
        ("p.yaml", POLICY),
        ("halt.yaml", "forbidden: [{sequence: [Bash], action: halt, reason: no}]\n"),
    ]);
    let arguments: Vec<&str> = ["hook"].iter().chain(arguments).copied().collect();
    fed(live(files.path(), state, &arguments), input)
}

fn texts(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

const DENIED: &str = "Rulestep stopped this call: A file is read before a command runs: Read has not succeeded in an earlier turn. Way out: call Read successfully in an earlier turn. (p.yaml:3)";

#[test]
fn each_policy_of_a_session_decides_a_call_whoever_was_first() {
    let state = tempfile::tempdir().unwrap();
    let go = |arguments: &[&str], id: &str| {
        let arguments: Vec<&str> = ["claude-code"].iter().chain(arguments).copied().collect();
        let (exit, _, error) = texts(&hook(state.path(), &arguments, &call("PreToolUse", id, "Bash")));
        (exit, error)
    };
    let silent = (0, String::new());
    let loose = ["-p", "halt.yaml", "--shadow"];
    let strict = ["-p", "p.yaml"];
    let only_watching = ["-p", "p.yaml", "--shadow"];
    for (id, first) in [("1", &loose[..]), ("2", &only_watching)] {
        assert_eq!(go(first, id), silent);
        for _ in 0..2 {
            assert_eq!(go(&strict, id), (2, DENIED.to_owned()), "call {id} after {first:?}");
        }
        assert_eq!(go(first, id), silent, "it has decided this call");
    }
    assert_eq!(go(&strict, "3").0, 2);
    assert_eq!(go(&loose, "3").0, 0, "what the other one stops is not its own answer");
    let records = records(&state.path().join("rulestep/live/claude-code/s-1.jsonl"));
    let proposed = |denied: bool| {
        let is = |record: &&Value| record["record"] == "proposed" && (record["runs"] == false) == denied;
        records.iter().filter(is).count()
    };
    assert_eq!((proposed(true), proposed(false)), (3, 2), "each denial once, and no call twice");
}

/// Every agent: a call that is denied, one that is allowed, one that ends the run.
#[test]
fn each_agent_is_answered_in_its_own_form() {
    for (agent, before) in [
        ("claude-code", "PreToolUse"),
        ("codex", "PreToolUse"),
        ("gemini-cli", "BeforeTool"),
        ("cursor", "preToolUse"),
        ("qwen-code", "PreToolUse"),
    ] {
        let state = tempfile::tempdir().unwrap();
        let quiet = if agent.starts_with('c') && agent != "cursor" { "" } else { "{}" };
        let allowed = hook(state.path(), &[agent, "-p", "p.yaml"], &call(before, "a", "Read"));
        assert_eq!(texts(&allowed), (0, quiet.to_owned(), String::new()), "{agent}");
        let (exit, output, error) =
            texts(&hook(state.path(), &[agent, "-p", "p.yaml"], &call(before, "b", "Bash")));
        let output: Value = serde_json::from_str(&output).unwrap();
        let reason = match agent {
            "cursor" => &output["agent_message"],
            "gemini-cli" => &output["reason"],
            _ => &output["hookSpecificOutput"]["permissionDecisionReason"],
        };
        assert!(
            reason
                .as_str()
                .unwrap()
                .starts_with("Rulestep stopped this call: A file is read before a command runs: "),
            "{agent} {output}"
        );
        match agent {
            "cursor" => assert_eq!((exit, &output["permission"], &*error), (0, &json!("deny"), "")),
            "gemini-cli" => {
                assert_eq!((exit, &output["decision"], &json!(error)), (2, &json!("deny"), reason))
            }
            // With exit code 2 it reads standard error alone.
            "qwen-code" => {
                let error: Value = serde_json::from_str(&error).unwrap();
                assert_eq!((exit, &output["decision"], &error), (2, &json!("deny"), &output));
                assert_eq!(&output["reason"], reason);
            }
            _ => {
                let decision = &output["hookSpecificOutput"]["permissionDecision"];
                assert_eq!((exit, decision, &json!(error)), (2, &json!("deny"), reason), "{agent}");
                // Codex knows no other members, and lets the call run where it meets one.
                assert_eq!(output.as_object().unwrap().len(), 1, "{agent}");
            }
        }
        let state = tempfile::tempdir().unwrap();
        let (exit, output, _) =
            texts(&hook(state.path(), &[agent, "-p", "halt.yaml"], &call(before, "c", "Bash")));
        let output: Value = serde_json::from_str(&output).unwrap();
        match agent {
            "codex" | "qwen-code" => assert!(exit == 2 && output.get("continue").is_none(), "{output}"),
            "cursor" => assert_eq!(output["permission"], "deny"),
            _ => assert_eq!((exit, &output["continue"]), (0, &json!(false)), "{agent} {output}"),
        }
    }
}

/// The journal of a call that is denied until another one has succeeded, and what it says is what was sent.
#[test]
fn a_session_is_journaled() {
    let state = tempfile::tempdir().unwrap();
    let go = |input: &[u8]| texts(&hook(state.path(), &["claude-code", "-p", "p.yaml"], input));
    assert_eq!(go(&call("SessionStart", "", "")).0, 0);
    assert_eq!(go(&event("UserPromptSubmit", json!({"prompt": "run it"}))).0, 0);
    let (exit, _, error) = go(&call("PreToolUse", "1", "Bash"));
    assert_eq!((exit, &*error), (2, DENIED));
    assert_eq!(go(&call("PreToolUse", "2", "Read")).0, 0);
    assert_eq!(go(&call("PreToolUse", "3", "Bash")).0, 2, "Read is in flight: its result is not known");
    assert_eq!(go(&call("PostToolUse", "2", "Read")).0, 0);
    assert_eq!(go(&call("PreToolUse", "4", "Bash")), (0, String::new(), String::new()));
    assert_eq!(
        go(&call("PreToolUse", "4", "Bash")),
        (0, String::new(), String::new()),
        "the event came twice"
    );
    let path = state.path().join("rulestep/live/claude-code/s-1.jsonl");
    let records = records(&path);
    let kinds: Vec<&str> = records.iter().map(|record| record["record"].as_str().unwrap()).collect();
    let expected = [
        "opened", "said", "turn", "proposed", "turn", "proposed", "proposed", "resolved", "turn", "proposed",
    ];
    assert_eq!(kinds, expected);
    let denied = &records[3];
    assert_eq!(denied["told"], DENIED);
    assert_eq!(
        (&denied["decision"], &denied["mode"], &denied["runs"]),
        (&json!("deny"), &json!("enforce"), &json!(false))
    );
    assert_eq!(denied["findings"][0]["code"], "prior_tool_missing");
    assert!(
        denied["policy"].as_str().unwrap().starts_with("sha256:") && denied["took"].as_f64().unwrap() > 0.0
    );
    assert!(
        std::fs::read_to_string(&path).unwrap().contains("{\"n\":1.5}")
            || denied["arguments"]["n"].as_f64() == Some(1.5)
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }
}

#[test]
fn shadow_mode_says_nothing_and_records_everything() {
    let state = tempfile::tempdir().unwrap();
    let denied =
        hook(state.path(), &["claude-code", "-p", "p.yaml", "--shadow"], &call("PreToolUse", "1", "Bash"));
    assert_eq!(texts(&denied), (0, String::new(), String::new()));
    let records = records(&state.path().join("rulestep/live/claude-code/s-1.jsonl"));
    let last = records.last().unwrap();
    assert_eq!((&last["decision"], &last["runs"]), (&json!("deny"), &json!(true)));
}

/// The words of a rule stand alone where the rest would quote a pattern, which a model takes for an instruction.
#[test]
fn a_reason_quotes_no_pattern() {
    let state = tempfile::tempdir().unwrap();
    let policy = state.path().join("release.yaml");
    let rule = r"
rules:
  - type: before
    first: {tool: Bash, args_match: {command: '\b(cargo|npm) test\b'}}
    then: {tool: Bash, args_match: {command: '^git push'}}
    description: Nothing is pushed before tests have passed in this session
";
    std::fs::write(&policy, rule).unwrap();
    let push = json!({"tool_name": "Bash", "tool_input": {"command": "git push"}, "tool_use_id": "1"});
    let policy = policy.to_str().unwrap();
    let answer = hook(state.path(), &["claude-code", "-p", policy], &event("PreToolUse", push));
    let (exit, _, reason) = texts(&answer);
    assert_eq!(exit, 2);
    let begins = "Rulestep stopped this call: ";
    assert_eq!(
        reason,
        format!("{begins}Nothing is pushed before tests have passed in this session. ({policy}:3)")
    );
}

/// Whatever is wrong, the answer is a denial that says what failed, and never another exit code.
#[test]
fn what_cannot_be_decided_is_denied() {
    let state = tempfile::tempdir().unwrap();
    let no_folder = state.path().join("file");
    std::fs::write(&no_folder, "").unwrap();
    let ask = call("PreToolUse", "1", "Read");
    let without = |input: &str| event("PreToolUse", json!({"tool_name": "Read", input: {"a": 1}}));
    let cases: [(&str, &Path, Vec<u8>); 9] = [
        ("p.yaml", state.path(), b"".to_vec()),
        ("p.yaml", state.path(), b"\xff\xfe{".to_vec()),
        ("p.yaml", state.path(), br#"{"hook_event_name": "PreToolUse", "session_id": "x"}"#.to_vec()),
        ("p.yaml", state.path(), event("BeforeEverything", json!({}))),
        ("p.yaml", state.path(), br#"{"hook_event_name": "PreToolUse", "tool_name": "Read"}"#.to_vec()),
        ("p.yaml", state.path(), without("toolInput")),
        ("p.yaml", state.path(), event("PreToolUse", json!({"tool_name": "Read", "tool_input": null}))),
        ("missing.yaml", state.path(), ask.clone()),
        ("p.yaml", &no_folder, ask.clone()),
    ];
    for (policy, state, input) in cases {
        let shown = String::from_utf8_lossy(&input).into_owned();
        let (exit, output, error) = texts(&hook(state, &["claude-code", "-p", policy], &input));
        assert_eq!(exit, 2, "{shown}");
        assert!(
            error.starts_with("Rulestep could not decide this call: ") && error.contains("To fix it, "),
            "{error}"
        );
        let output: Value = serde_json::from_str(&output).unwrap();
        assert_eq!(output["hookSpecificOutput"]["permissionDecision"], "deny", "{shown}");
        let (exit, output, _) =
            texts(&hook(state, &["claude-code", "-p", policy, "--on-error", "ask"], &input));
        let output: Value = serde_json::from_str(&output).unwrap();
        assert_eq!(
            (exit, &output["hookSpecificOutput"]["permissionDecision"]),
            (0, &json!("ask")),
            "{shown}"
        );
        let arguments = ["claude-code", "-p", policy, "--on-error", "ask", "--on-ask", "deny"];
        assert_eq!(texts(&hook(state, &arguments, &input)).0, 2, "{shown}");
        let arguments = [&arguments[..], &["--shadow"]].concat();
        let (exit, output, error) = texts(&hook(state, &arguments, &input));
        assert_eq!((exit, &*output), (0, ""), "{shown}");
        assert!(error.starts_with("rulestep: ") && error.contains("To fix it, "), "{shown}: {error}");
        // Codex cannot ask.
        let codex = hook(state, &["codex", "-p", policy, "--on-error", "ask"], &input);
        assert_eq!(texts(&codex).0, 2, "{shown}");
        let (exit, output, _) =
            texts(&hook(state, &["claude-code", "-p", policy, "--on-error", "allow"], &input));
        assert_eq!((exit, &*output), (0, ""), "{shown}");
    }
    // Bad usage blocks as well.
    assert_eq!(texts(&hook(state.path(), &["claude-code", "--nonsense"], &ask)).0, 2);
    assert_eq!(texts(&hook(state.path(), &["vim"], &ask)).0, 2);
}

/// The last version that loaded decides while the file is broken.
#[test]
fn a_broken_policy_leaves_the_last_good_one_in_force() {
    let (state, files) = (tempfile::tempdir().unwrap(), folder(&[("p.yaml", POLICY)]));
    let go = |id| {
        texts(&fed(
            live(files.path(), state.path(), &["hook", "codex", "-p", "p.yaml"]),
            &call("PreToolUse", id, "Bash"),
        ))
    };
    assert_eq!(go("1").0, 2);
    std::fs::write(files.path().join("p.yaml"), "tool: [").unwrap();
    let (exit, _, error) = go("2");
    assert!(exit == 2 && error.starts_with("Rulestep stopped this call: A file is read"), "{error}");
    let records = records(&state.path().join("rulestep/live/codex/s-1.jsonl"));
    let fault = |place: usize| {
        records.iter().filter(|record| record["record"] == "proposed").nth(place).unwrap()["policy_fault"]
            .clone()
    };
    assert!(fault(0).is_null() && fault(1).as_str().unwrap().contains("p.yaml"), "{records:?}");
}

/// An editor empties a file before it writes it. Without the guards of that file, what they stop would run.
#[test]
fn an_emptied_file_is_a_broken_policy() {
    for emptied in ["", "\n", "# to be written\n", "---\n---\n"] {
        let files =
            folder(&[("p/a.yaml", POLICY), ("p/b.yaml", "rules: [{type: blocklist, tools: [WebFetch]}]\n")]);
        let state = tempfile::tempdir().unwrap();
        let go = |id| {
            let command = live(files.path(), state.path(), &["hook", "codex", "-p", "p"]);
            texts(&fed(command, &call("PreToolUse", id, "Bash"))).0
        };
        assert_eq!(go("1"), 2);
        std::fs::write(files.path().join("p/a.yaml"), emptied).unwrap();
        assert_eq!(go("2"), 2, "{emptied:?}");
    }
}

/// A call that was let go on may have happened, and is not known to have succeeded, also where the agent uses its id again.
#[test]
fn an_id_that_comes_again_takes_nothing_back() {
    let policy = "tool: deploy\npreconditions: [{requires_prior_tool: check}]\n---\nrules: [{type: never_after, trigger: Bash, forbidden: send}]\n";
    let files = folder(&[("p.yaml", policy)]);
    let run = |events: &[(&str, &str, &str)]| {
        let state = tempfile::tempdir().unwrap();
        let exits: Vec<_> = events
            .iter()
            .map(|(event, id, tool)| {
                let command = live(files.path(), state.path(), &["hook", "codex", "-p", "p.yaml"]);
                texts(&fed(command, &call(event, id, tool))).0
            })
            .collect();
        let journal = state.path().join("rulestep/live/codex/s-1.jsonl");
        let arguments = ["replay", journal.to_str().unwrap(), "-p", "p.yaml", "--format", "json"];
        let (_, lines, _) = texts(&fed(live(files.path(), state.path(), &arguments), b""));
        let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
        let calls =
            first["turns"].as_array().unwrap().iter().flat_map(|turn| turn["calls"].as_array().unwrap());
        let word = |call: &Value, key: &str| call[key].as_str().unwrap().to_owned();
        let seen = calls.map(|call| word(call, "recorded") + " " + &word(call, "decision"));
        (exits, seen.collect::<Vec<_>>().join(", "))
    };
    let (before, after) = ("PreToolUse", "PostToolUse");
    let stopped = run(&[(before, "1", "Bash"), (before, "1", "deploy"), (before, "2", "send")]);
    assert_eq!(stopped, (vec![0, 2, 2], "unknown allow, refused deny, refused deny".to_owned()));
    let ended =
        run(&[(before, "1", "check"), (before, "1", "look"), (after, "1", "look"), (before, "2", "deploy")]);
    assert_eq!(ended, (vec![0, 0, 0, 2], "unknown allow, ok allow, refused deny".to_owned()));
}

/// Some models count the ids of their calls anew in every response.
#[test]
fn an_id_whose_call_is_over_is_that_of_a_new_call() {
    let policy = "rules:\n- {type: never_after, trigger: Read, forbidden: send}\n- {type: max_calls, tool: Bash, max: 1}\n";
    let files = folder(&[("p.yaml", policy)]);
    for (agent, before, after) in
        [("claude-code", "PreToolUse", "PostToolUse"), ("cursor", "preToolUse", "postToolUse")]
    {
        let state = tempfile::tempdir().unwrap();
        let go = |event: &str, id: &str, tool: &str| {
            let command = live(files.path(), state.path(), &["hook", agent, "-p", "p.yaml"]);
            let (exit, output, _) = texts(&fed(command, &call(event, id, tool)));
            exit == 2 || output.contains("\"deny\"")
        };
        let twice = |id: &str, tool: &str| [go(before, id, tool), go(before, id, tool)];
        assert_eq!(twice("c0", "send"), [false; 2], "one event that comes twice");
        assert!(!go(after, "c0", "send"));
        assert_eq!(twice("c0", "Read"), [false; 2]);
        assert!(!go(after, "c0", "Read"));
        assert_eq!(twice("c0", "send"), [true; 2], "a new call of {agent}");
        assert_eq!(twice("c0", "Bash"), [false; 2]);
        assert!(!go(after, "c0", "Bash"));
        assert_eq!(twice("c0", "Bash"), [true; 2], "the second one of {agent}");
        let records = records(&state.path().join(format!("rulestep/live/{agent}/s-1.jsonl")));
        assert_eq!(records.iter().filter(|record| record["record"] == "proposed").count(), 5);
    }
}

/// What no rule can look into must not be taken for a call without arguments.
#[test]
fn arguments_that_hide_a_part_of_themselves_are_not_decided() {
    let policy = "rules:\n- {type: never, call: {tool: deploy, args_match: {env: prod}}}\n";
    let files = folder(&[("p.yaml", policy)]);
    let deep = format!("{{\"env\":\"prod\",\"n\":{}{}}}", "[".repeat(127), "]".repeat(127));
    for arguments in [
        r#"{"env":"prod"}"#,
        r#"{"env":"prod","$serde_json::private::RawValue":"x"}"#,
        r#"{"env":"prod","n":{"$serde_json::private::Number":"1"}}"#,
        r#"{"env":"prod","x":"\ud800"}"#,
        r#"{"env":"prod","env":"test"}"#,
        &deep,
    ] {
        for (agent, before) in [
            ("claude-code", "PreToolUse"),
            ("codex", "PreToolUse"),
            ("gemini-cli", "BeforeTool"),
            ("qwen-code", "PreToolUse"),
        ] {
            let state = tempfile::tempdir().unwrap();
            let event = format!(
                r#"{{"session_id":"s","hook_event_name":"{before}","tool_name":"deploy","tool_use_id":"a","tool_input":{arguments}}}"#
            );
            let go = |more: &[&str]| {
                let command =
                    live(files.path(), state.path(), &[&["hook", agent, "-p", "p.yaml"], more].concat());
                let (exit, output, _) = texts(&fed(command, event.as_bytes()));
                exit == 2 || output.contains("\"deny\"")
            };
            assert!(go(&[]), "{agent} {arguments}");
            assert!(go(&["--on-error", "deny"]), "{agent} {arguments}");
        }
        let state = tempfile::tempdir().unwrap();
        let lines = format!(
            "{{\"op\":\"open\",\"session\":\"s\"}}\n{{\"op\":\"turn\",\"session\":\"s\"}}\n{{\"op\":\"propose\",\"session\":\"s\",\"id\":\"a\",\"tool\":\"deploy\",\"arguments\":{arguments}}}\n"
        );
        let command = live(files.path(), state.path(), &["gate", "--stdio", "-p", "p.yaml"]);
        let (_, output, _) = texts(&fed(command, lines.as_bytes()));
        let last: Value = serde_json::from_str(output.lines().last().unwrap()).unwrap();
        assert_ne!(last["runs"], true, "{arguments}: {output}");
    }
}

/// Two projects that spell their policy alike do not decide for each other.
#[test]
fn a_broken_policy_is_not_replaced_by_that_of_another_project() {
    let state = tempfile::tempdir().unwrap();
    let (one, other) = (folder(&[("p.yaml", POLICY)]), folder(&[("p.yaml", "tool: [")]));
    let go = |files: &tempfile::TempDir, id| {
        let command = live(files.path(), state.path(), &["hook", "codex", "-p", "p.yaml"]);
        texts(&fed(command, &call("PreToolUse", id, "Read")))
    };
    assert_eq!(go(&one, "1").0, 0);
    let (exit, _, error) = go(&other, "2");
    assert!(exit == 2 && error.contains("the policy `p.yaml` does not load"), "{error}");
}

/// A line that was cut off was never answered; a damaged one in the middle may have been.
#[test]
fn a_cut_off_record_is_no_decision_and_a_damaged_one_is_an_error() {
    let state = tempfile::tempdir().unwrap();
    let go = |id, tool| {
        texts(&hook(state.path(), &["claude-code", "-p", "p.yaml"], &call("PreToolUse", id, tool)))
    };
    assert_eq!(go("1", "Read").0, 0);
    let path = state.path().join("rulestep/live/claude-code/s-1.jsonl");
    let whole = std::fs::read_to_string(&path).unwrap();
    let last = whole.lines().last().unwrap();
    // Whoever puts an older journal back takes its index away as well.
    let rewind = || std::fs::remove_file(path.with_extension("index")).unwrap();
    for cut in [1, last.len() / 2, last.len() - 1] {
        rewind();
        std::fs::write(&path, format!("{whole}{}", &last[..cut])).unwrap();
        assert_eq!(go("2", "Read").0, 0, "{cut}");
        assert_eq!(go("3", "Read").0, 0, "{cut}");
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches("\"repaired\"").count(), 1, "{text}");
    }
    rewind();
    let middle = whole.find("\"record\":\"turn\"").unwrap();
    std::fs::write(&path, format!("{}X{}", &whole[..middle], &whole[middle + 3..])).unwrap();
    let (exit, _, error) = go("4", "Read");
    assert!(exit == 2 && error.contains("is damaged"), "{error}");
}

/// What the lost records forbid would be forgotten.
#[test]
fn a_journal_that_lost_records_decides_nothing() {
    let state = tempfile::tempdir().unwrap();
    let go = |id: &str, tool: &str| {
        texts(&hook(state.path(), &["claude-code", "-p", "p.yaml"], &call("PreToolUse", id, tool)))
    };
    assert_eq!(go("1", "Read").0, 0);
    assert_eq!(go("2", "Read").0, 0);
    let path = state.path().join("rulestep/live/claude-code/s-1.jsonl");
    let index = path.with_extension("index");
    let (whole, known) = (std::fs::read_to_string(&path).unwrap(), std::fs::read(&index).unwrap());
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let without = |left_out: usize| -> String {
        lines.iter().enumerate().filter(|(place, _)| *place != left_out).map(|(_, line)| *line).collect()
    };
    let last = lines.len() - 1;
    for (text, lost) in [
        (String::new(), lines.len()),
        (lines[..1].concat(), last),
        (without(2), 1),
        (without(last), 1),
        (format!("{}{}", without(last), &lines[last][..9]), 1),
    ] {
        std::fs::write(&path, &text).unwrap();
        std::fs::write(&index, &known).unwrap();
        for id in ["3", "4"] {
            let (exit, _, error) = go(id, "Read");
            let records = if lost == 1 { "1 record".to_owned() } else { format!("{lost} records") };
            assert!(exit == 2 && error.contains(&format!("has lost {records}")), "{text}: {error}");
            assert!(error.contains("s-1.index"), "{error}");
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "nothing is added to it");
    }
    std::fs::remove_file(&path).unwrap();
    assert!(go("3", "Read").2.contains("has lost"));
    std::fs::write(&path, &whole).unwrap();
    assert_eq!(go("3", "Read").0, 0, "it was put back");
    std::fs::remove_file(&path).unwrap();
    std::fs::remove_file(&index).unwrap();
    assert_eq!(go("3", "Read").0, 0, "the session begins anew, as somebody wanted");
}

#[test]
fn the_way_out_names_what_every_rule_asks_for() {
    let files = folder(&[(
        "both.yaml",
        "tool: Bash\npreconditions: [{requires_prior_tool: Read}, {requires_prior_tool: Grep}]\n",
    )]);
    let state = tempfile::tempdir().unwrap();
    let event = call("PreToolUse", "1", "Bash");
    let (exit, _, error) =
        texts(&fed(live(files.path(), state.path(), &["hook", "claude-code", "-p", "both.yaml"]), &event));
    let ways = "Way out: call Read successfully in an earlier turn. Also: call Grep successfully in an earlier turn.";
    assert!(exit == 2 && error.contains(ways), "{error}");
}
