//! What was decided live, beside what a policy decides now.

use std::path::Path;

use serde_json::{Value, json};

use super::{fed, live, records};
use crate::cli::{folder, rulestep};

/// What decided live: a command needs a file that was read, and a write is reported.
const THEN: &str = "tool: Bash\npreconditions:\n  - {requires_prior_tool: Read, description: A file is read before a command runs}\n";
/// What decides now.
const NOW: &str =
    "tool: Read\npreconditions:\n  - {requires_prior_tool: Glob, description: Look before you read}\n";
/// What decided live, in other words.
const REWORDED: &str =
    "tool: Bash\npreconditions:\n  - {requires_prior_tool: Read, description: Read first}\n";

/// A journal of four calls: a command that is denied, a read, its result, and a command that is allowed and still runs.
pub fn journal(state: &Path, flags: &[&str]) -> String {
    let files = folder(&[("p.yaml", THEN)]);
    let hook = |event: Value| {
        let arguments = [&["hook", "claude-code", "-p", "p.yaml"], flags].concat();
        fed(live(files.path(), state, &arguments), event.to_string().as_bytes());
    };
    let event = |name: &str, tool: &str, id: &str, input: Value| {
        hook(json!({"session_id": "s-1", "cwd": "/work", "hook_event_name": name, "tool_name": tool,
            "tool_input": input, "tool_use_id": id, "tool_response": "done"}));
    };
    hook(json!({"session_id": "s-1", "hook_event_name": "UserPromptSubmit", "prompt": "go"}));
    event("PreToolUse", "Bash", "a", json!({"command": "sesame-1"}));
    if flags.contains(&"--shadow") {
        event("PostToolUse", "Bash", "a", json!({}));
    }
    event("PreToolUse", "Read", "b", json!({"file_path": "sesame-2"}));
    event("PostToolUse", "Read", "b", json!({}));
    event("PreToolUse", "Bash", "c", json!({"command": "sesame-3"}));
    std::fs::read_to_string(state.join("rulestep/live/claude-code/s-1.jsonl")).unwrap()
}

fn run(files: &[(&str, &str)], arguments: &[&str]) -> (i32, String, String) {
    let folder = folder(files);
    let output = rulestep(folder.path(), arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn enforced() -> String {
    let state = tempfile::tempdir().unwrap();
    journal(state.path(), &[])
}

/// The calls of the only session in the JSON of `replay`.
fn calls(json: &str) -> Vec<Value> {
    let session: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    let turns = session["turns"].as_array().unwrap().iter();
    turns.flat_map(|turn| turn["calls"].as_array().unwrap().clone()).collect()
}

#[test]
fn replay_shows_what_was_decided_live() {
    let state = tempfile::tempdir().unwrap();
    let journal = journal(state.path(), &[]);
    let written = records(&state.path().join("rulestep/live/claude-code/s-1.jsonl"));
    let files =
        [("j.jsonl", journal.as_str()), ("p.yaml", THEN), ("now.yaml", NOW), ("words.yaml", REWORDED)];
    let json = |policy| calls(&run(&files, &["replay", "j.jsonl", "-p", policy, "--format", "json"]).1);
    let changes = |policy| json(policy).iter().map(|call| call["live"]["change"].clone()).collect::<Vec<_>>();
    assert_eq!(changes("p.yaml"), [json!(null), json!(null), json!(null)]);
    assert_eq!(changes("now.yaml"), [json!("newly_allowed"), json!("newly_blocked"), json!(null)]);
    assert_eq!(changes("words.yaml"), [json!("other_reason"), json!(null), json!(null)]);
    // All that the journal says is there.
    let proposed: Vec<&Value> = written.iter().filter(|record| record["record"] == "proposed").collect();
    for (call, record) in json("now.yaml").iter().zip(proposed) {
        for key in ["decision", "mode", "runs", "findings", "told", "policy", "policy_fault", "took"] {
            assert_eq!(call["live"][key], record[key], "{key}");
        }
    }
    let text = run(&files, &["replay", "j.jsonl", "-p", "now.yaml"]).1;
    let row = text.lines().filter(|line| line.trim_start().starts_with("live ")).collect::<Vec<_>>();
    assert_eq!(row.len(), 2, "{text}");
    assert!(row[0].contains("denied (prior_tool_missing) by policy "), "{text}");
    assert!(row[0].ends_with(", enforce  ≠ newly allowed"), "{text}");
    assert!(row[1].contains("allowed by policy ") && row[1].ends_with("≠ newly blocked"), "{text}");
    let same = run(&files, &["replay", "j.jsonl", "-p", "p.yaml"]).1;
    assert!(same.contains("live      denied (prior_tool_missing) by this policy, enforce\n"), "{same}");
}

/// What was decided live is beside what is decided now, also in what leaves the terminal.
#[test]
fn reports_show_what_was_decided_live() {
    let journal = enforced();
    let files = [("j.jsonl", journal.as_str()), ("now.yaml", NOW), ("p.yaml", THEN)];
    let (_, page, _) = run(&files, &["report", "j.jsonl", "-p", "now.yaml"]);
    let then = |page: &str, what: &str| page.matches(what).count();
    assert_eq!(then(&page, "Decided live: denied (prior_tool_missing) by policy "), 1, "{page}");
    // Both are in the session and among the findings.
    assert_eq!(then(&page, ", enforce; now: newly allowed"), 2, "{page}");
    assert_eq!(then(&page, ", enforce; now: newly blocked"), 2, "{page}");
    let (_, ticket, _) = run(&files, &["report", "j.jsonl", "-p", "now.yaml", "--markdown"]);
    assert!(ticket.contains("Decided live: `allowed by policy "), "{ticket}");
    assert!(ticket.contains(", enforce; now: newly blocked`"), "{ticket}");
    let (_, same, _) = run(&files, &["report", "j.jsonl", "-p", "p.yaml"]);
    assert!(same.contains("Decided live: denied (prior_tool_missing) by this policy, enforce<"), "{same}");
}

/// Shadow mode never says that something was stopped.
#[test]
fn in_shadow_mode_nothing_was_stopped() {
    let state = tempfile::tempdir().unwrap();
    let journal = journal(state.path(), &["--shadow"]);
    let files = [("j.jsonl", journal.as_str()), ("p.yaml", THEN)];
    let text = run(&files, &["replay", "j.jsonl", "-p", "p.yaml", "--mode", "shadow"]).1;
    assert!(
        text.contains("live      would be denied (prior_tool_missing) by this policy, shadow\n"),
        "{text}"
    );
    let explained = run(&files, &["explain", "--at", "s-1:1.1", "j.jsonl", "-p", "p.yaml"]).1;
    assert!(explained.contains("live      would be denied"), "{explained}");
}

#[test]
fn the_native_form_keeps_it() {
    let journal = enforced();
    let files = [("j.jsonl", journal.as_str()), ("now.yaml", NOW)];
    let native = run(&files, &["convert", "j.jsonl"]).1;
    let again = [("n.jsonl", native.as_str()), ("now.yaml", NOW)];
    let of = |files: &[(&str, &str)], name| {
        let json = run(files, &["replay", name, "-p", "now.yaml", "--format", "json"]).1;
        calls(&json).iter().map(|call| call["live"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(of(&again, "n.jsonl"), of(&files, "j.jsonl"));
    assert_eq!(run(&again, &["convert", "n.jsonl"]).1, native);
}

#[test]
fn a_table_of_calls_has_it() {
    let journal = enforced();

    let folder = folder(&[("j.jsonl", &journal), ("now.yaml", NOW), ("n.json", PLAIN)]);
    rulestep(folder.path(), &["export", "j.jsonl", "n.json", "-p", "now.yaml", "-o", "t"]).output().unwrap();
    let rows = records(&folder.path().join("t/calls.ndjson"));
    let of = |row: &Value| {
        ["live_decision", "live_mode", "live_change"]
            .map(|key| row.get(key).unwrap().as_str().map(str::to_owned))
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(of(&rows[0]), [text("deny"), text("enforce"), text("newly_allowed")]);
    assert_eq!(of(&rows[2]), [text("allow"), text("enforce"), None]);
    assert_eq!(of(&rows[3]), [None, None, None]);
    assert!(rows[0]["live_policy"].as_str().unwrap().starts_with("sha256:"));
    assert!(rows[3]["live_policy"].is_null());
}

/// Sentences of then have recorded values in them.
#[test]
fn redaction_leaves_the_decision_and_takes_the_sentences() {
    let journal = enforced().replace("Read has not succeeded in an earlier turn", "sesame-4");
    let files = [("j.jsonl", journal.as_str()), ("p.yaml", THEN)];
    for format in [&["--format", "json", "--full"][..], &[]] {
        let arguments = [&["replay", "j.jsonl", "-p", "p.yaml", "--redact"], format].concat();
        let (_, text, told) = run(&files, &arguments);
        assert!(!text.contains("sesame") && !told.contains("differently"), "{text}\n{told}");
        assert!(text.contains("prior_tool_missing"), "{text}");
        assert!(!text.contains("other reason") && !text.contains("other_reason"), "{text}");
    }
}

/// What cannot be read is no decision, and nobody takes it for one that is the same.
#[test]
fn a_decision_that_cannot_be_read_is_reported() {
    let journal = enforced().replacen("\"decision\":\"deny\"", "\"decision\":\"perhaps\"", 1);
    let files = [("j.jsonl", journal.as_str()), ("p.yaml", THEN)];
    let (_, json, told) = run(&files, &["replay", "j.jsonl", "-p", "p.yaml", "--format", "json"]);
    assert!(told.contains("what was decided live about a call cannot be read, and is left out"), "{told}");
    let calls = calls(&json);
    assert!(calls[0].get("live").is_none() && calls[1].get("live").is_some());
}

/// A session that no gate saw.
const PLAIN: &str = r#"{"id": "s-2", "messages": [{"role": "assistant", "tool_calls": [{"id": "x", "function": {"name": "Read", "arguments": "{}"}}]}]}"#;

/// Of each session its changes, as `kind base new origin`; then what is not compared.
fn compared(files: &[(&str, &str)], arguments: &[&str]) -> (i32, Vec<String>, u64) {
    let arguments = [&["diff", "-b", "live", "--format", "json"], arguments].concat();
    let (exit, json, told) = run(files, &arguments);
    let lines: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (totals, sessions) = lines.split_last().unwrap_or_else(|| panic!("{told}"));
    let mut changes = Vec::new();
    for session in sessions {
        assert_eq!((&session["base"]["live"], &session["base"]["digest"]), (&json!(true), &json!(null)));
        for change in session["changes"].as_array().unwrap() {
            let word = |key: &str| change[key].as_str().unwrap().to_owned();
            assert_eq!(change["live"]["decision"].as_str().unwrap() == "deny", word("base") == "deny");
            changes.push(["kind", "base", "new", "origin"].map(word).join(" "));
        }
    }
    (exit, changes, totals["totals"]["uncompared"].as_u64().unwrap())
}

#[test]
fn what_was_decided_live_is_a_base() {
    let state = tempfile::tempdir().unwrap();
    let shadow = journal(state.path(), &["--shadow"]);
    let enforced = enforced();
    let files = [
        ("e.jsonl", enforced.as_str()),
        ("s.jsonl", shadow.as_str()),
        ("then.yaml", THEN),
        ("now.yaml", NOW),
        ("words.yaml", REWORDED),
    ];
    let none: &[&str] = &[];
    for (journal, policy, mode, exit, expected) in [
        ("e.jsonl", "then.yaml", "enforce", 0, none),
        ("e.jsonl", "then.yaml", "shadow", 0, none),
        ("s.jsonl", "then.yaml", "shadow", 0, none),
        ("e.jsonl", "words.yaml", "enforce", 1, &["other_reason deny deny primary"]),
        (
            "e.jsonl",
            "now.yaml",
            "enforce",
            1,
            &["newly_allowed deny allow primary", "newly_blocked allow deny primary"],
        ),
        (
            "s.jsonl",
            "now.yaml",
            "shadow",
            1,
            &["newly_allowed deny allow primary", "newly_blocked allow deny primary"],
        ),
    ] {
        let found = compared(&files, &[journal, "-p", policy, "--mode", mode]);
        let expected = expected.iter().map(|change| (*change).to_owned()).collect();
        assert_eq!(found, (exit, expected, 0), "{journal} {policy} {mode}");
    }
    let (exit, text, told) = run(&files, &["diff", "s.jsonl", "-b", "live", "-p", "now.yaml"]);
    assert_eq!(exit, 1);
    let (allowed, blocked) =
        (text.find("newly allowed: 1 call").unwrap(), text.find("newly blocked: 1 call").unwrap());
    assert!(allowed < blocked && text.starts_with("live → now.yaml\n"), "{text}");
    // Nothing was stopped then, and the gate's own words say why it would have been.
    for part in ["would be denied → allowed", "prior_tool_missing: Read has not succeeded", "p.yaml:3"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(told.contains("3 calls decided in shadow mode") && told.contains("--mode shadow"), "{told}");
    let joined = run(&files, &["diff", "s.jsonl", "-b", "live", "-b", "then.yaml", "-p", "now.yaml"]);
    assert!(joined.0 == 2 && joined.2.contains("`live` is a version of its own"), "{}", joined.2);
}

/// What was not decided is not the same.
#[test]
fn calls_that_no_gate_decided_are_counted_and_not_compared() {
    let journal = enforced();
    let files = [("j.jsonl", journal.as_str()), ("n.json", PLAIN), ("then.yaml", THEN)];
    assert_eq!(compared(&files, &["j.jsonl", "n.json", "-p", "then.yaml"]), (0, Vec::new(), 1));
    let of = |format| {
        run(&files, &["diff", "-b", "live", "j.jsonl", "n.json", "-p", "then.yaml", "--format", format]).1
    };
    let said = "not compared: 1 call that no gate decided";
    let text = of("text");
    assert!(text.contains(&format!("1 session compared: no change; {said}")), "{text}");
    let markdown = of("markdown");
    assert!(
        markdown.contains("No change in 1 session\n") && markdown.contains("Not compared: 1 call"),
        "{markdown}"
    );
    assert!(of("github").contains(said) && of("junit").contains("<skipped"), "{}", of("junit"));
    for format in ["text", "json", "markdown", "junit"] {
        let (exit, out, told) =
            run(&files, &["diff", "-b", "live", "n.json", "-p", "then.yaml", "--format", format]);
        assert_eq!(exit, 2, "{format}: {out}");
        assert!(told.contains("no gate decided a call of these sessions"), "{told}");
        assert!(!out.contains("no change"), "{out}");
    }
}

/// Arguments, results, prompts, titles and sentences of then, in every table and in the native form.
#[test]
fn a_journal_is_passed_on_without_its_values() {
    let journal = enforced().replace("\"go\"", "\"sesame-5\"").replace("\"done\"", "\"sesame-6\"");
    let folder = folder(&[("j.jsonl", &journal), ("p.yaml", THEN)]);
    let told = |arguments: &[&str]| {
        let output = rulestep(folder.path(), arguments).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(!told.contains("differently"), "{told}");
        assert_eq!(output.status.code(), Some(0), "{told}");
    };
    told(&["export", "j.jsonl", "-p", "p.yaml", "-o", "plain"]);
    told(&["export", "j.jsonl", "-p", "p.yaml", "-o", "blank", "--redact"]);
    told(&["convert", "j.jsonl", "-p", "p.yaml", "-o", "blank/native.jsonl", "--redact"]);
    let all = |name: &str| -> String {
        let files = std::fs::read_dir(folder.path().join(name)).unwrap();
        files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect()
    };
    assert!(all("plain").contains("sesame"));
    assert!(all("blank").contains("[redacted]") && !all("blank").contains("sesame"), "{}", all("blank"));
    // What was decided, then and now, is the same.
    let decisions = |name: &str| {
        let rows = records(&folder.path().join(name).join("calls.ndjson"));
        let of = |row: &Value| {
            ["tool", "decision", "rule", "live_decision", "live_change"].map(|key| row[key].clone())
        };
        rows.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(decisions("plain"), decisions("blank"));
}

#[test]
fn sessions_that_another_policy_decided_are_told_and_not_marked_as_clean() {
    let state = tempfile::tempdir().unwrap();
    journal(state.path(), &[]);
    // Another host, whose policy says nothing of the first one's tools.
    let other = folder(&[("other.yaml", "tool: Other\nforbids_after: [Other]\n")]);
    let event = json!({"session_id": "t-1", "cwd": "/work", "hook_event_name": "PreToolUse", "tool_name": "Other",
        "tool_input": {}, "tool_use_id": "a"});
    std::thread::sleep(std::time::Duration::from_millis(20));
    fed(
        live(other.path(), state.path(), &["hook", "claude-code", "-p", "other.yaml"]),
        event.to_string().as_bytes(),
    );
    let output = live(other.path(), state.path(), &["live"]).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(err.contains("warning: 1 session had the policy `p.yaml` of "), "{err}");
    assert!(out.lines().any(|line| line.starts_with("≠ s-1 ")), "{out}");
}
