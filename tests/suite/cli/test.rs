//! `rulestep test`.

use insta::assert_snapshot;

use super::{CLOSE_CASE, ISSUE_REFUND, REFUND_124, folder, rulestep, run, seen};

const CASE: &str = "\
# Two orders.
name: another order
policy: [contracts]   # the folder beside
session: {file: sessions/a.json, id: refund-124}
expect:
  - {call: 2.1, decision: deny, code: resource_unmatched}   # the point of it
  - {status: stopped, summary: {deny: 1}}
";

fn files(case: &str) -> tempfile::TempDir {
    folder(&[
        ("contracts/issue_refund.yaml", ISSUE_REFUND),
        ("contracts/close_case.yaml", CLOSE_CASE),
        ("sessions/a.json", REFUND_124),
        ("other_order.case.yaml", case),
    ])
}

#[test]
fn all_as_expected() {
    assert_snapshot!(run(&files(CASE), &["test", "other_order.case.yaml"]));
    // Folders and globs are searched; what is no case in them is passed over.
    for cases in [".", "*", "**/*.yaml"] {
        let told = run(&files(CASE), &["test", cases]);
        assert!(told.starts_with("exit 0") && told.contains("1 case: 1 as expected"), "{cases}: {told}");
    }
    // A file that is named twice is run once.
    let told = run(&files(CASE), &["test", "other_order.case.yaml", "other_order.case.yaml"]);
    assert!(told.contains("1 case: 1 as expected"), "{told}");
}

#[test]
fn what_is_not_as_expected() {
    let wrong = CASE.replace("deny, code: resource_unmatched", "allow").replace("deny: 1", "deny: 0");
    let folder = files(&wrong);
    assert_snapshot!(run(&folder, &["test", "other_order.case.yaml"]));
    assert_snapshot!(run(&folder, &["test", "other_order.case.yaml", "--color", "always"]));
    let told = run(&folder, &["test", "other_order.case.yaml", "--format", "json"]);
    let lines: Vec<serde_json::Value> = told
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2, "{told}");
    assert_eq!(lines[0]["case"]["unmet"][0]["got"], "deny");
    assert_eq!(lines[0]["case"]["unmet"][0]["line"], 6);
    assert_eq!(lines[1]["totals"], serde_json::json!({"cases": 1, "passed": 0, "failed": 1, "broken": 0}));
}

#[test]
fn a_report_for_continuous_integration() {
    let wrong = CASE.replace("deny, code: resource_unmatched", "allow");
    let folder = files(&format!("{wrong}---\n{}", CASE.replace("another order", "fine <&> \\u001b")));
    assert_snapshot!(run(&folder, &["test", ".", "--format", "junit"]));
    std::fs::write(
        folder.path().join("broken.case.yaml"),
        "policy: nowhere\nsession: x\nexpect: {status: pass}\n",
    )
    .unwrap();
    let told = run(&folder, &["test", ".", "--format", "junit"]);
    assert!(
        told.starts_with("exit 2")
            && told.contains("errors=\"1\"")
            && told.contains("no such file or folder"),
        "{told}"
    );
}

/// A file that is named as one of cases and holds none was broken by an edit; passing it over would look like a pass.
#[test]
fn a_file_named_as_a_case_is_never_passed_over() {
    for broken in ["nothing: of the kind\n", ": [\n", "", "polcy: .\nsesion: []\nexpct: {}\n"] {
        let folder = files(CASE);
        std::fs::write(folder.path().join("broken.case.yaml"), broken).unwrap();
        let told = run(&folder, &["test", "."]);
        assert!(told.starts_with("exit 2") && told.contains("1 could not be judged"), "{broken:?}: {told}");
    }
}

#[test]
fn update_rewrites_what_was_expected_and_keeps_everything_else() {
    let wrong =
        CASE.replace("deny, code: resource_unmatched", "allow, code: null").replace("deny: 1", "deny: 0");
    let folder = files(&format!("\u{feff}{wrong}"));
    assert_snapshot!(run(&folder, &["test", ".", "--update"]));
    let path = folder.path().join("other_order.case.yaml");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("\u{feff}{CASE}"));
    let told = run(&folder, &["test", ".", "--update"]);
    assert!(told.starts_with("exit 0") && !told.contains("rewritten"), "{told}");
    // What has nothing to be written is told, and the file stays.
    let gone = CASE.replace("call: 2.1", "call: 8.1");
    std::fs::write(&path, &gone).unwrap();
    assert_snapshot!(run(&folder, &["test", ".", "--update"]));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), gone);
}

#[test]
fn references_that_lead_nowhere() {
    let bad = [
        CASE.replace("[contracts]", "[contracts, nowhere.yaml]"),
        CASE.replace("sessions/a.json", "sessions/b.json"),
        CASE.replace("id: refund-124", "id: refund-125"),
        CASE.replace("sessions/a.json", "contracts/close_case.yaml"),
        CASE.replace("[contracts]", "sessions"),
    ];
    let folder = files(&bad.join("---\n"));
    assert_snapshot!(run(&folder, &["test", "."]));
}

#[test]
fn a_policy_that_does_not_load_judges_nothing() {
    let folder = files(CASE);
    std::fs::write(folder.path().join("contracts/close_case.yaml"), "tool: close_case\nforbids_afer: []\n")
        .unwrap();
    assert_snapshot!(run(&folder, &["test", "."]));
}

#[test]
fn nothing_to_run() {
    let folder = folder(&[("sessions/a.json", REFUND_124)]);
    assert_snapshot!(run(&folder, &["test"]));
    assert_snapshot!(run(&folder, &["test", "sessions"]));
    assert_snapshot!(run(&folder, &["test", "sessions/a.json"]));
    assert_snapshot!(run(&folder, &["test", "nowhere.yaml"]));
}

/// A folder that was named and holds no case is not passed over; one that holds the cases of another is not empty.
#[test]
fn each_folder_that_is_named_has_cases() {
    let folder = files(CASE);
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let whole = folder.path().display().to_string();
    for named in [&["."][..], &[".", "./"], &[".", &whole], &[&whole, "."], &["./", "contracts/../."]] {
        let told = run(&folder, &[&["test"], named].concat());
        assert!(told.starts_with("exit 0"), "{named:?}: {told}");
    }
    let told = run(&folder, &["test", "empty", "."]);
    assert!(told.starts_with("exit 2") && told.contains("the folder holds no case"), "{told}");
}

#[test]
fn a_case_from_standard_input_is_run_and_not_rewritten() {
    let folder = files(CASE);
    let fed = |case: &str, arguments: &[&str]| {
        let mut command = rulestep(folder.path(), arguments);
        assert_cmd::Command::from_std(std::mem::replace(&mut command, std::process::Command::new("true")))
            .write_stdin(case)
            .output()
            .unwrap()
    };
    assert!(seen(&fed(CASE, &["test", "-"])).starts_with("exit 0"));
    let told = seen(&fed(&CASE.replace("stopped", "pass"), &["test", "-", "--update"]));
    assert!(told.starts_with("exit 2") && told.contains("standard input cannot be rewritten"), "{told}");
}

#[test]
fn check_reads_the_cases_beside_the_policies() {
    let folder = files(CASE);
    std::fs::write(
        folder.path().join("contracts/a.case.yaml"),
        CASE.replace("expect:\n", "expct: 1\nexpect:\n"),
    )
    .unwrap();
    assert_snapshot!(run(&folder, &["check"]));
}

/// The cases that document the policy languages are judged by the program as well, and a wrong one fails.
#[test]
fn cases_with_policies_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let cases = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let seen = run(&folder, &["test", "-q", cases.to_str().unwrap()]);
    assert!(seen.starts_with("exit 0\n"), "{seen}");
    let right = "policy: {tool: pay, preconditions: [{requires_prior_tool: check}]}\n\
                 session: [{role: assistant, tool_calls: [{name: pay}]}]\n\
                 expect: {call: 1.1, decision: deny}\n";
    let file = folder.path().join("a.case.yaml");
    for (text, exit) in [
        (right.to_owned(), "exit 0\n"),
        (right.replace("decision: deny", "decision: allow"), "exit 1\n"),
        (right.replace("preconditions", "precondition"), "exit 2\n"),
        (right.replace("policy: {", "policy: [other.yaml, {").replace("}]}\nsess", "}]}]\nsess"), "exit 2\n"),
    ] {
        std::fs::write(&file, &text).unwrap();
        let seen = run(&folder, &["test", "a.case.yaml"]);
        assert!(seen.starts_with(exit), "{text}{seen}");
    }
    std::fs::write(folder.path().join("other.yaml"), "tool: other\nforbids_after: [pay]\n").unwrap();
    assert!(run(&folder, &["test", "a.case.yaml"]).starts_with("exit 0\n"));
}

/// Two rules: one that the case would miss, and one whose removal it does not notice.
#[test]
fn weakened_policies_are_noticed_or_listed() {
    let folder = files(CASE);
    let told = run(&folder, &["test", "--mutate", "."]);
    assert!(told.starts_with("exit 1"), "a removal survives\n{told}");
    for part in [
        "contracts/close_case.yaml:2: no case notices: without this rule: no close_case after close_case\n",
        "contracts/issue_refund.yaml:5: no case notices: without `with_output`\n",
        "1 of 3 removals noticed, 1 of 2 weakenings noticed, score 40 %",
    ] {
        assert!(told.contains(part), "{part}\n{told}");
    }
    let told = run(&folder, &["test", "--mutate", ".", "--sessions", "sessions/a.json"]);
    assert!(told.contains("nor does any of the recordings"), "{told}");
    // The recordings notice what this case does not look at.
    let blind = files(
        &CASE
            .replace("{call: 2.1, decision: deny, code: resource_unmatched}", "{call: 1.1, decision: allow}")
            .replace("  - {status: stopped, summary: {deny: 1}}\n", ""),
    );
    let told = run(&blind, &["test", "--mutate", ".", "--sessions", "sessions/a.json"]);
    assert!(told.contains("  a case of this would: refund-124:2.1\n"), "{told}");
    let told = run(&folder, &["test", "--mutate", ".", "--format", "json"]);
    assert!(told.contains(r#""removals":{"noticed":1,"of":3}"#), "{told}");
    // What does not pass notices nothing.
    let told = run(&files(&CASE.replace("deny, code", "allow, code")), &["test", "--mutate", "."]);
    assert!(told.starts_with("exit 2") && told.contains("does not pass, so it notices nothing"), "{told}");
}

/// Every key that asks what a call does is weakened, and one that changes nothing where it is left out is not.
#[test]
fn what_calls_do_is_weakened() {
    let folder = tempfile::tempdir().unwrap();
    let policy = r"facts: [{program: shipit, reads: operands}, {program: sendit, reaches: operands}]
rules:
  - type: never
    call: {agent: main, runs: {program: git, args: [push], flags: [force]}, reaches: '*', except: ['*.internal']}
    unsure: allow
    opaque: deny
  - {type: never_after, trigger: {reads: [.env, '*.pem'], ended: ok}, forbidden: {writes: [a, b], deletes: c}, unsure: deny}
  - {type: before, first: {reads: '**'}, then: {tool: Edit, writes: '**'}, same: file}
";
    std::fs::write(folder.path().join("policy.yaml"), policy).unwrap();
    let call = r#"{"role": "assistant", "tool_calls": [{"name": "Bash", "arguments": {"command": "ls"}}]}"#;
    let case = format!(
        "name: a listing\npolicy: policy.yaml\nsession:\n  - {call}\n  - {{role: tool, content: a}}\nexpect:\n  - {{call: 1.1, decision: allow}}\n"
    );
    std::fs::write(folder.path().join("a.case.yaml"), case).unwrap();
    let told = run(&folder, &["test", "--mutate", "."]);
    for part in [
        "without `agent`",
        "without `runs`",
        "without `args`",
        "without `flags`",
        "without `reaches`",
        "without `except`",
        "without `ended`",
        "without `deletes`",
        "without `same`",
        "without `opaque`",
        "policy.yaml:5: no case notices: without `unsure`",
        "`reads` without \".env\"",
        "`reads` without \"*.pem\"",
        "`writes` without \"b\"",
        "`facts` without {\"program\":\"sendit\"",
    ] {
        assert!(told.contains(part), "{part}\n{told}");
    }
    assert_eq!(told.matches("without `unsure`").count(), 1, "{told}");
}

#[test]
fn every_rule_of_the_samples_is_tested_beside_it() {
    let contracts = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("contracts");
    let sets = std::fs::read_dir(&contracts).unwrap().map(|entry| entry.unwrap().file_name());
    // The words of the policies for coding agents are held to the lists in `tests/cases/coding`, their rules by `init coding`.
    let mut args = vec!["test".to_owned(), "--mutate".to_owned(), "--min-score".to_owned(), "90".to_owned()];
    args.extend(
        sets.map(|name| name.into_string().unwrap()).filter(|name| !name.contains('.') && name != "coding"),
    );
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let told = seen(&rulestep(&contracts, &args).output().unwrap());
    assert!(told.starts_with("exit 0"), "{told}");
    assert!(!told.contains("without this rule"), "{told}");
}

/// What is missing of a recording may be the very call that the case is about.
#[test]
fn a_recording_that_is_not_whole_proves_no_case() {
    const CALL: &str =
        r#"{"role":"assistant","tool_calls":[{"id":"c1","function":{"name":"x","arguments":"{}"}}]}"#;
    const RESULT: &str = r#"{"role":"tool","tool_call_id":"c1","content":"ok"}"#;
    let whole = |id: &str| format!("{{\"id\":\"{id}\",\"messages\":[{CALL},{RESULT}]}}");
    let one = whole("s");
    let incomplete = "could not be read completely, and what is missing may have contained calls";
    for (session, text, exit, said) in [
        ("{file: s.json}", one.clone(), 0, "1 as expected"),
        ("{file: s.json, id: s}", format!("{one}\n{}", whole("q")), 0, "1 as expected"),
        (
            "{file: s.json}",
            format!("{{\"id\":\"s\",\"messages\":[{CALL},{RESULT},{{\"role\":\""),
            2,
            incomplete,
        ),
        ("{file: s.json}", format!("{CALL}\n{RESULT}\n{{\"role\":\"assistant\n{RESULT}"), 2, incomplete),
        ("{file: s.json}", format!("{one}\n{{\"id\":\"q\",\"messages\":[{{\"role\"\n"), 2, incomplete),
        ("{file: s.json, id: s}", format!("{one}\n{one}"), 2, "several sessions with the id `s`"),
        ("{file: s.json, id: 's#1'}", format!("{one}\n{one}"), 0, "1 as expected"),
        ("{file: s.json, id: s}", format!("{one}\n{}", whole("s#1")), 0, "1 as expected"),
        ("{file: s.json, id: s}", one.replace("tool_calls", "toolCalls"), 2, incomplete),
    ] {
        let case = format!(
            "policy: {{rules: [{{type: never, call: y}}]}}\nsession: {session}\nexpect: {{summary: {{deny: 0}}}}\n"
        );
        let told = run(&folder(&[("s.json", &text), ("a.case.yaml", &case)]), &["test", "."]);
        assert!(told.starts_with(&format!("exit {exit}")) && told.contains(said), "{session} {text}: {told}");
    }
}
