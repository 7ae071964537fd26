//! `rulestep diff` as people and programs see it, with good and with bad input.

use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;
use serde_json::Value;
use tempfile::TempDir;

use super::{CLEAN, CLOSE_CASE, ISSUE_REFUND, REFUND_124, folder, refunds, rulestep, run, seen};
use crate::skipped::skipped;

/// The refunds under two versions: the order need not be the same any more, and a closed case may be closed again;
/// and under a third one, which asks for two turns first.
fn two_versions() -> TempDir {
    let loose = ISSUE_REFUND.replace("    resource: {bind_from: arguments, path: $.order_id}\n", "");
    let late = ISSUE_REFUND.replace(
        "preconditions:\n",
        "preconditions:\n  - requires_step_count: {gte: 2}\n    description: Not so soon\n",
    );
    let third = REFUND_124.replace("refund-124", "refund-125").replace("ORD-124", "ORD-123");
    folder(&[
        ("v1/issue_refund.yaml", ISSUE_REFUND),
        ("v1/close_case.yaml", CLOSE_CASE),
        ("v2/issue_refund.yaml", &loose),
        ("v2/close_case.yaml", &CLOSE_CASE.replace("[close_case, void_order]", "[void_order]")),
        ("v3/issue_refund.yaml", &late),
        ("v3/close_case.yaml", CLOSE_CASE),
        ("sessions/a.json", REFUND_124),
        ("sessions/b.json", CLEAN),
        ("sessions/c.json", &third),
    ])
}

fn compared(more: &[&str]) -> String {
    run(&two_versions(), &[&["diff", "sessions", "-b", "v1", "-p", "v2"], more].concat())
}

#[test]
fn for_people() {
    assert_snapshot!(compared(&[]));
}

#[test]
fn for_people_in_shadow() {
    assert_snapshot!(compared(&["--mode", "shadow"]));
}

#[test]
fn for_people_in_colours() {
    assert_snapshot!(compared(&["--color", "always"]).replace('\x1b', "␛"));
}

#[test]
fn the_other_way_round() {
    assert_snapshot!(run(&two_versions(), &["diff", "sessions", "-b", "v2", "-p", "v1"]));
}

#[test]
fn as_data() {
    assert_snapshot!(compared(&["--format", "json"]));
}

#[test]
fn as_data_in_full() {
    assert_snapshot!(compared(&["--format", "json", "--full"]));
}

#[test]
fn another_reason_and_a_new_rule() {
    let folder = two_versions();
    for format in ["text", "markdown"] {
        assert_snapshot!(run(&folder, &["diff", "sessions", "-b", "v1", "-p", "v3", "--format", format]));
    }
}

#[test]
fn for_a_pull_request() {
    assert_snapshot!(compared(&["--format", "markdown"]));
}

#[test]
fn for_a_build_server() {
    assert_snapshot!(compared(&["--format", "junit"]));
    // What is no failure is written all the same.
    assert_snapshot!(compared(&["--format", "junit", "--fail-on", "newly_blocked"]));
}

#[test]
fn no_change() {
    let folder = two_versions();
    assert_snapshot!(run(&folder, &["diff", "sessions", "-b", "v1", "-p", "v1"]));
    assert_snapshot!(run(&folder, &["diff", "sessions", "-b", "v1", "-p", "v1", "--format", "markdown"]));
}

#[test]
fn many_changes_of_a_rule_are_counted() {
    let folder = two_versions();
    let many: Vec<String> =
        (0..23).map(|number| REFUND_124.replace("refund-124", &format!("many-{number}"))).collect();
    std::fs::write(folder.path().join("many.json"), format!("[{}]", many.join(","))).unwrap();
    let arguments = ["diff", "many.json", "-b", "v1", "-p", "v2", "--mode", "shadow"];
    assert_snapshot!(run(&folder, &arguments));
    assert_snapshot!(run(&folder, &[&arguments[..], &["--format", "markdown"]].concat()));
    let full = run(&folder, &[&arguments[..], &["--full"]].concat());
    assert!(
        (0..23).all(|number| full.contains(&format!("many-{number} "))) && !full.contains("more"),
        "{full}"
    );
    // The number of threads changes nothing.
    for format in ["text", "json", "markdown", "junit"] {
        let with = |jobs| run(&folder, &[&arguments[..], &["--format", format, "--jobs", jobs]].concat());
        assert_eq!(with("1"), with("4"));
    }
}

#[test]
fn the_exit_code_is_what_was_asked_for() {
    let folder = two_versions();
    let code = |arguments: &[&str]| {
        let arguments = [&["diff", "-q", "sessions", "-b", "v1"], arguments].concat();
        rulestep(folder.path(), &arguments).output().unwrap().status.code().unwrap()
    };
    assert_eq!(code(&["-p", "v1"]), 0);
    assert_eq!(code(&["-p", "v2"]), 1);
    assert_eq!(code(&["-p", "v2", "--fail-on", "any"]), 1);
    assert_eq!(code(&["-p", "v2", "--fail-on", "newly_allowed"]), 1);
    assert_eq!(code(&["-p", "v2", "--fail-on", "newly_blocked"]), 0);
    assert_eq!(code(&["-p", "v2", "--fail-on", "newly_blocked,newly_allowed"]), 1);
    assert_eq!(code(&["-p", "v2", "--fail-on", "newly"]), 2);
    assert_eq!(code(&["-p", "v2", "--format", "pdf"]), 2);
    assert_eq!(code(&["-p", "nowhere"]), 2);
    assert_eq!(code(&["-p", "v1", "nowhere.json"]), 2, "what was not read may hold anything");
    assert_eq!(code(&["-p", "v2", "nowhere.json"]), 1);
    assert_eq!(code(&["-p", "v2", "-b", "recorded"]), 2, "the recording is not joined with a version");
    // The rules of one dialect alone.
    assert_eq!(code(&["-p", "v2", "--only", "sequence_policy"]), 2);
    assert_eq!(code(&["-p", "v2", "--only", "contract"]), 1);
}

#[test]
fn a_version_that_does_not_load() {
    let folder = two_versions();
    std::fs::write(folder.path().join("v2/broken.yaml"), "tool: [x\n").unwrap();
    assert_snapshot!(run(&folder, &["diff", "sessions", "-b", "v1", "-p", "v2"]));
    assert_snapshot!(run(&folder, &["diff", "sessions", "-b", "v2", "-p", "v1"]));
    assert_snapshot!(run(&folder, &["diff", "sessions", "-p", "v1"]));
}

#[test]
fn the_recording_as_the_base() {
    let refused = REFUND_124
        .replace("\"content\": \"{\\\"eligible\\\": true}\"", "\"content\": \"no\", \"refused\": true");
    let folder = two_versions();
    std::fs::write(folder.path().join("sessions/d.json"), refused.replace("refund-124", "refund-126"))
        .unwrap();
    for format in ["text", "json", "markdown"] {
        assert_snapshot!(run(
            &folder,
            &["diff", "sessions", "-b", "recorded", "-p", "v1", "--format", format]
        ));
    }
    // These are the calls of which `replay` says that they do not agree.
    let lines = |arguments: &[&str]| -> Vec<Value> {
        let output = rulestep(folder.path(), arguments).output().unwrap();
        String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    for mode in ["enforce", "shadow"] {
        let common = ["-q", "sessions", "-p", "v1", "--format", "json", "--mode", mode];
        let replayed = lines(&[&["replay"], &common[..]].concat());
        let diffed = lines(&[&["diff", "-b", "recorded"], &common[..]].concat());
        let sessions = replayed.iter().zip(&diffed).filter(|(replayed, _)| replayed.get("totals").is_none());
        for (replayed, diffed) in sessions {
            let turns = replayed["turns"].as_array().unwrap();
            let calls = turns.iter().flat_map(|turn| turn["calls"].as_array().unwrap());
            let disagree =
                calls.filter(|call| call["agrees"] == false).map(|call| call["index"].as_u64().unwrap());
            let changes = diffed["changes"].as_array().unwrap();
            let mut changed: Vec<_> =
                changes.iter().map(|change| change["index"].as_u64().unwrap()).collect();
            changed.sort_unstable();
            assert_eq!(changed, disagree.collect::<Vec<_>>());
        }
    }
}

#[test]
fn recorded_text_formats_and_steers_nothing() {
    let session = r#"{"id": "\u001b[2J<b>|*x*", "tools": [{"name": "pay"}], "messages": [
      {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "check", "arguments": "{\"id\": \"a\"}"}}]},
      {"role": "tool", "tool_call_id": "1", "content": "1"},
      {"role": "assistant", "tool_calls": [{"id": "2", "function": {"name": "pay",
        "arguments": "{\"id\": \"</details>|`@you` http://x.example www.x.example #1 \\u001b[31m\u202e]]>\"}"}}]}]}"#;
    let policy = "tool: pay\npreconditions:\n  - requires_prior_tool: check\n    \
                  resource: {bind_from: arguments, path: $.id}\n    description: \"```\\n</details> <!-- a\\e[1mb\"\n";
    let folder =
        folder(&[("s.json", session), ("p.yaml", policy), ("q.yaml", "tool: x\nforbids_after: [x]\n")]);
    let told =
        |format| run(&folder, &["diff", "-q", "s.json", "-b", "p.yaml", "-p", "q.yaml", "--format", format]);
    for format in ["text", "markdown", "junit"] {
        let told = told(format);
        let hidden =
            |c: char| (c.is_control() && c != '\n') || (c != '…' && ('\u{200b}'..='\u{202e}').contains(&c));
        assert!(!told.contains(hidden), "{told:?}");
    }
    assert_snapshot!(told("markdown"));
    assert_snapshot!(told("junit"));
}

// ---- Revisions --------------------------------------------------------------------------------------------------

fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args([
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@example.org",
        "-c",
        "commit.gpgsign=false",
    ]);
    let output = git.args(arguments).env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The refunds, committed, then with a contract edited; nothing where there is no `git`.
fn edited() -> Option<TempDir> {
    Command::new("git").arg("--version").output().ok()?;
    let folder = refunds();
    git(folder.path(), &["init", "-q"]);
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "-q", "-m", "as it was"]);
    let loose = ISSUE_REFUND.replace("    resource: {bind_from: arguments, path: $.order_id}\n", "");
    std::fs::write(folder.path().join("contracts/issue_refund.yaml"), loose).unwrap();
    Some(folder)
}

#[test]
fn edited_contracts_against_the_last_commit() {
    let Some(folder) = edited() else {
        skipped("no `git`");
        return;
    };
    let expected = run(&folder, &["diff", "sessions", "-b", "git:HEAD"]);
    assert_snapshot!(expected);
    // The same, said at length, and from a folder below.
    let same = |told: String| {
        let words = |told: &str| told.split_once('\n').unwrap().1.replace("../", "").replace(":../", ":");
        let (told, expected) = (words(&told), words(&expected));
        told.lines().filter(|line| line.contains('→')).count()
            == expected.lines().filter(|l| l.contains('→')).count()
    };
    assert!(same(run(&folder, &["diff", "sessions", "-p", "contracts", "-b", "git:HEAD"])));
    assert!(same(run(&folder, &["diff", "sessions", "-p", "contracts", "-b", "git:HEAD:contracts"])));
    let below = folder.path().join("sessions");
    let told = rulestep(&below, &["diff", ".", "-p", "../contracts", "-b", "git:HEAD"]).output().unwrap();
    assert!(same(seen(&told)), "{}", seen(&told));
    // One file of it, and a revision against another.
    let file = ["diff", "sessions", "-p", "contracts/issue_refund.yaml", "-b", "git:HEAD"];
    assert!(run(&folder, &file).starts_with("exit 1\n"));
    git(folder.path(), &["commit", "-q", "-a", "-m", "looser"]);
    assert!(run(&folder, &["diff", "sessions", "-b", "git:HEAD"]).starts_with("exit 0\n"));
    assert!(
        run(&folder, &["diff", "sessions", "-p", "git:HEAD", "-b", "git:HEAD~1"]).starts_with("exit 1\n")
    );
}

#[test]
fn samples_are_compared_under_the_policies_of_the_folder() {
    let Some(folder) = edited() else {
        skipped("no `git`");
        return;
    };
    let told = run(&folder, &["diff", "-q", "--samples", "-b", "git:HEAD"]);
    assert!(told.starts_with("exit 1\n") && told.contains("sample-traces/"), "{told}");
}

#[test]
fn revisions_that_cannot_be_read() {
    let Some(folder) = edited() else {
        skipped("no `git`");
        return;
    };
    for base in ["git:nope", "git:", "git:HEAD:nowhere", "git:HEAD:contracts/nope.yaml", "git:--help"] {
        assert_snapshot!(run(&folder, &["diff", "sessions", "-b", base]));
    }
    let outside = refunds();
    // The temporary folder may itself lie in a repository.
    let mut command = rulestep(outside.path(), &["diff", "sessions", "-b", "git:HEAD"]);
    let parent = outside.path().parent().unwrap();
    assert_snapshot!(seen(&command.env("GIT_CEILING_DIRECTORIES", parent).output().unwrap()));
    let mut command = rulestep(folder.path(), &["diff", "sessions", "-b", "git:HEAD"]);
    assert_snapshot!(seen(&command.env("PATH", "").output().unwrap()));
}

#[test]
fn changed_decisions_are_saved_as_cases_that_pass() {
    let folder = two_versions();
    let diff = |more: &[&str]| {
        run(&folder, &[&["diff", "sessions", "-b", "v1", "--witness", "cases/of/v2"], more].concat())
    };
    assert_snapshot!(diff(&["-p", "v2"]).lines().last().unwrap(), @"note: 1 case saved in cases/of/v2");
    assert_snapshot!(
        std::fs::read_to_string(folder.path().join("cases/of/v2/refund-124-0-2_1.case.yaml")).unwrap()
    );
    let told = run(&folder, &["test", "cases"]);
    assert!(told.starts_with("exit 0") && told.contains("1 case: 1 as expected"), "{told}");
    let told = diff(&["-p", "v2"]);
    assert!(told.starts_with("exit 2") && told.contains("already exists"), "{told}");
    let told = diff(&["-p", "git:HEAD:v2"]);
    assert!(told.starts_with("exit 2"), "{told}");
    let told =
        run(&folder, &["diff", "sessions", "-b", "recorded", "-p", "v1", "--witness", "cases/recorded"]);
    assert!(told.contains("saved in cases/recorded"), "{told}");
    assert!(run(&folder, &["test", "cases/recorded"]).starts_with("exit 0"));
}

/// An edit that changes nothing is easily taken for one that works.
#[test]
fn an_altered_rule_that_decides_nothing_is_named() {
    let old = "tool: pay\npreconditions:\n  - {requires_prior_tool: check, description: Checked first}\n";
    let new = format!("{old}  - {{requires_prior_tool: sign, description: Signed first}}\n");
    let calls = |tools: &[&str]| {
        let call = |tool: &&str| {
            format!("{{\"id\": \"1\", \"function\": {{\"name\": \"{tool}\", \"arguments\": \"{{}}\"}}}}")
        };
        let turn = |tool| format!("{{\"role\": \"assistant\", \"tool_calls\": [{}]}}", call(tool));
        format!("{{\"messages\": [{}]}}", tools.iter().map(turn).collect::<Vec<_>>().join(","))
    };
    let folder = super::folder(&[
        ("old/p.yaml", old),
        ("new/p.yaml", &new),
        ("s.json", &calls(&["pay", "pay"])),
        ("other.json", &calls(&["look"])),
        ("signed.json", &calls(&["check", "look", "pay"])),
    ]);
    let told = |session: &str, base: &str, new: &str, format: &str| {
        run(&folder, &["diff", "-q", session, "-b", base, "-p", new, "--format", format])
    };
    let text = told("s.json", "old", "new", "text");
    assert!(
        text.contains(
            "    +    4 │   - {requires_prior_tool: sign, description: Signed first}\n    2 calls match, all stopped by new/p.yaml:3 already"
        ),
        "{text}"
    );
    assert!(text.starts_with("exit 1\n") && text.contains("rule added: 1 rule\n"), "{text}");
    let text = told("other.json", "old", "new", "text");
    assert!(text.contains("    no call matches\n"), "{text}");
    let text = told("s.json", "new", "old", "text");
    assert!(text.contains("rule removed: 1 rule\n"), "{text}");
    assert!(text.contains("    2 calls match, all stopped by new/p.yaml:3 already"), "{text}");
    let markdown = told("s.json", "old", "new", "markdown");
    assert!(markdown.contains("#### Rule added: 1 rule") && markdown.contains("2 calls match"), "{markdown}");
    let json = told("s.json", "old", "new", "json");
    let totals: Value =
        serde_json::from_str(json.split("--- stderr").next().unwrap().lines().last().unwrap()).unwrap();
    let idle = &totals["without_effect"];
    assert_eq!(idle.as_array().unwrap().len(), 1, "{json}");
    assert_eq!(
        (&idle[0]["fate"], &idle[0]["calls"], &idle[0]["decided"]),
        (&"added".into(), &2.into(), &0.into())
    );
    assert_eq!(idle[0]["by"], serde_json::json!([{"rule": "new/p.yaml#/preconditions/0", "calls": 2}]));
    // One that decides something is not listed, nor is one that nobody touched.
    assert!(!told("signed.json", "old", "new", "text").contains("already"));
    assert!(!told("s.json", "old", "old", "text").contains("rule"));
}

/// What the job of docs/ci.md fails by.
const GATE: &str = "newly_allowed,no_longer_asked,softer,rule_removed,rule_weakened,rule_edited";

/// No recording calls `pay`, so no call changes; the edit of its rules does all the same.
#[test]
fn a_rule_that_no_recording_exercises_is_a_change_in_every_output() {
    let old = "rules:\n  - {id: few, type: max_calls, tool: pay, max: 1}\n  - {id: no-drop, type: never, call: drop}\n";
    let new = "rules:\n  - {id: few, type: max_calls, tool: pay, max: 9}\n";
    let folder = super::folder(&[("old/p.yaml", old), ("new/p.yaml", new), ("s.json", super::REFUND_124)]);
    let told = |base: &str, new: &str, fails: &str, format: &str| {
        let arguments =
            ["diff", "-q", "s.json", "-b", base, "-p", new, "--fail-on", fails, "--format", format];
        run(&folder, &arguments)
    };
    for (format, words) in [
        (
            "text",
            [
                "rule weakened: 1 rule\n  few  new/p.yaml:2\n",
                "\n  no-drop  old/p.yaml:3\n",
                "weakened: max\n",
            ],
        ),
        (
            "json",
            [
                r#""kind":"rule_weakened""#,
                r#""kind":"rule_removed""#,
                r#""text":"  - {id: few, type: max_calls, tool: pay, max: 9}""#,
            ],
        ),
        (
            "markdown",
            [
                "rulestep: failed by 1 rule removed, 1 rule weakened\n",
                "| **fails** | rule removed | 1 |",
                "+  - {id: few",
            ],
        ),
        ("junit", ["<failure", r#"type="rule_removed""#, "weakened: max"]),
        ("sarif", [r#""level": "error""#, r#""code": "rule_weakened""#, r#""code": "rule_removed""#]),
        (
            "github",
            [
                "::error file=old/p.yaml,line=3,col=5,title=rule removed%3A no-drop::",
                "::error file=new/p.yaml,line=2",
                "failed by 1 rule removed",
            ],
        ),
    ] {
        let output = told("old", "new", GATE, format);
        assert!(output.starts_with("exit 1\n"), "{format}: {output}");
        for word in words {
            assert!(output.contains(word), "{format}, {word}: {output}");
        }
        // Each kind by itself, and none of them.
        let one = told("old", "new", "rule_weakened", format);
        assert!(one.starts_with("exit 1\n"), "{format}: {one}");
        let none = told("old", "new", "rule_added,rule_tightened,outcome_changed,newly_allowed", format);
        assert!(none.starts_with("exit 0\n"), "{format}: {none}");
        assert!(
            !none.contains("::error") && !none.contains("<failure") && !none.contains("**fails**"),
            "{none}"
        );
        let same = told("old", "old", "any", format);
        assert!(same.starts_with("exit 0\n") && !same.contains("no-drop"), "{format}: {same}");
    }
    let lines = super::seen(
        &rulestep(
            folder.path(),
            &["diff", "-", "--lines", "-b", "old", "-p", "new", "--fail-on", "rule_removed"],
        )
        .output()
        .unwrap(),
    );
    // No line was read; the rules changed all the same.
    assert!(lines.starts_with("exit 1\n"), "{lines}");
}

/// The way back from the looser version: calls are newly blocked, rules added and tightened, and the documented job passes.
#[test]
fn a_tightening_passes_the_documented_gate() {
    let (old, new) =
        ("{type: max_calls, tool: issue_refund, max: 1}", "{type: max_calls, tool: issue_refund, max: 0}");
    let folder = super::folder(&[
        ("old/p.yaml", &format!("rules: [{old}]\n")),
        ("new/p.yaml", &format!("rules:\n  - {new}\n  - {{type: never, call: drop}}\n")),
        ("s.json", super::REFUND_124),
    ]);
    let told =
        |fails: &str| run(&folder, &["diff", "-q", "s.json", "-b", "old", "-p", "new", "--fail-on", fails]);
    let passed = told(GATE);
    assert!(passed.starts_with("exit 0\n"), "{passed}");
    for word in ["newly blocked: 1 call", "rule tightened: 1 rule", "rule added: 1 rule"] {
        assert!(passed.contains(word), "{word}: {passed}");
    }
    // The session's status follows from the call.
    assert!(!passed.contains("outcome changed"), "{passed}");
    assert!(told("newly_blocked").starts_with("exit 1\n") && told("outcome_changed").starts_with("exit 0\n"));
}

/// What altered rules match is more than what they decide: reports stop nothing, and a rule about the session may be
/// violated under both versions.
#[test]
fn what_a_rule_without_effect_matches_is_counted() {
    let call = r#"{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "write_file", "arguments": "{}"}}]}"#;
    let twice = |rule: &str| format!("rules: [{rule}]\n");
    let folder = super::folder(&[
        ("empty/p.yaml", "{tool: unused, forbids_after: [unused]}\n"),
        ("report/p.yaml", "{tool: unused, forbids_after: [unused]}\n"),
        ("report/files.yaml", "policies: [{type: read_before_write}]\n"),
        ("soon/p.yaml", &twice("{type: after, trigger: write_file, then: check, within: 1}")),
        ("later/p.yaml", &twice("{type: after, trigger: write_file, then: check, within: 2}")),
        ("other/p.yaml", &twice("{type: after, trigger: write_file, then: test, within: 1}")),
        ("contract/a.yaml", "{tool: write_file, preconditions: [{requires_prior_tool: check}]}\n"),
        ("sequence/b.yaml", "forbidden: [{sequence: [write_file], action: deny, reason: 'a:b'}]\n"),
        ("s/1.json", &format!("{{\"messages\": [{call},{call},{call},{call}]}}")),
        ("s/2.json", &format!("{{\"messages\": [{call},{call},{call},{call}]}}")),
    ]);
    let told = |base: &str, new: &str, more: &[&str]| {
        let arguments = ["diff", "-q", "s", "-b", base, "-p", new, "--mode", "shadow"];
        run(&folder, &[&arguments, more].concat())
    };
    let last = |base: &str, new: &str| -> Value {
        let told = told(base, new, &["--format", "json"]);
        serde_json::from_str(told.split("--- stderr").next().unwrap().lines().last().unwrap()).unwrap()
    };
    let idle = |base: &str, new: &str| last(base, new)["without_effect"].clone();
    // What is reported under one version only is a change, and it fails unless other kinds are named.
    let reports = last("empty", "report");
    assert_eq!(
        (&reports["without_effect"], &reports["totals"]["newly_reported"]),
        (&serde_json::json!([]), &8.into())
    );
    let gone = told("report", "empty", &[]);
    assert!(gone.contains("no longer reported: 8 reports in 2 sessions, 8 primary\n"), "{gone}");
    assert!(gone.contains("reported → allowed\n") && gone.contains("exit 1"), "{gone}");
    assert!(told("report", "empty", &["--fail-on", "newly_allowed"]).contains("exit 0"));
    let late = last("soon", "later");
    assert_eq!(late["without_effect"], serde_json::json!([]), "{late:#}");
    assert_eq!(late["totals"]["no_longer_reported"], 2, "{late:#}");
    // What is reported of the same calls as before is none.
    let other = idle("soon", "other");
    let counted = ["fate", "calls", "reported", "violated"].map(|key| other[0][key].clone());
    assert_eq!(serde_json::json!(counted), serde_json::json!(["edited", 0, 6, 2]), "{other:#}");
    assert!(told("soon", "other", &[]).contains("    reports 6 calls, as before\n"));
    // Each decides the calls in its version.
    assert_eq!(idle("contract", "sequence"), serde_json::json!([]));
}

/// A build server fetches one commit, unless it is asked for more.
#[test]
fn a_revision_that_a_shallow_clone_lacks_says_how_to_fetch_it() {
    let Some(origin) = edited() else {
        skipped("no `git`");
        return;
    };
    git(origin.path(), &["commit", "-q", "-a", "-m", "looser"]);
    let clone = super::folder(&[]);
    let from = format!("file://{}", origin.path().display());
    git(clone.path(), &["clone", "-q", "--depth", "1", &from, "shallow"]);
    let folder = clone.path().join("shallow");
    let told = |folder: &std::path::Path| {
        let arguments = ["diff", ".", "-p", "contracts", "-b", "git:HEAD~1"];
        seen(&rulestep(folder, &arguments).output().unwrap())
    };
    let shallow = told(&folder);
    assert!(
        shallow.contains("git knows no revision `HEAD~1`") && shallow.contains("fetch-depth: 0"),
        "{shallow}"
    );
    assert!(!told(origin.path()).contains("fetch-depth"));
}

/// What only follows from something else is read last, whatever file its rule stands in.
#[test]
fn groups_in_which_nothing_is_primary_come_last() {
    let call = |id: &str, tool: &str| {
        format!(
            r#"{{"role": "assistant", "tool_calls": [{{"id": "{id}", "function": {{"name": "{tool}", "arguments": "{{}}"}}}}]}},
               {{"role": "tool", "tool_call_id": "{id}", "content": "{{}}"}}"#
        )
    };
    let session = format!(r#"{{"id": "s", "messages": [{}, {}]}}"#, call("1", "first"), call("2", "second"));
    let folder = folder(&[
        ("v1/a.yaml", "rules: [{type: max_calls, tool: x, max: 1}]\n"),
        ("v2/a.yaml", "tool: second\npreconditions: [{requires_prior_tool: x}]\n"),
        ("v2/b.yaml", "tool: first\npreconditions: [{requires_prior_tool: x}]\n"),
        ("s.json", &session),
    ]);
    for format in ["text", "markdown"] {
        let said = run(&folder, &["diff", "s.json", "-b", "v1", "-p", "v2", "--format", format]);
        let blocked = said.get(said.find("ewly blocked: ").unwrap()..).unwrap();
        let (first, second) = (blocked.find("b.yaml").unwrap(), blocked.find("a.yaml").unwrap());
        assert!(first < second, "{said}");
    }
}

/// The recording lists no tools and calls none of those that become visible: nobody knows that there are such tools.
#[test]
fn changes_of_inferred_tools_fail_nothing() {
    let folder = folder(&[
        ("base/refund.yaml", "tool: refund\npreconditions: [{requires_prior_tool: check}]\n"),
        ("new/other.yaml", "{tool: other, forbids_after: [other]}"),
        (
            "s.json",
            &super::REFUND_124
                .replace(r#""tools": [{"name": "check_eligibility"}, {"name": "void_order"}],"#, ""),
        ),
    ]);
    for fail_on in ["newly_visible", "newly_visible,newly_allowed"] {
        for format in ["text", "json", "markdown", "junit", "sarif", "github"] {
            let arguments =
                ["diff", "s.json", "--base", "base", "-p", "new", "--fail-on", fail_on, "--format", format];
            let output = run(&folder, &arguments);
            assert!(output.starts_with("exit 0\n"), "{format}\n{output}");
            if ["text", "json", "markdown"].contains(&format) {
                assert!(output.contains("inferred"), "{format}\n{output}");
            }
            if format == "junit" {
                assert!(output.contains("<testcase") && !output.contains("<failure"), "{output}");
                assert!(output.contains(r#"failures="0""#), "{output}");
            }
        }
    }
}
