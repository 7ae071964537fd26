//! Options that are refused, implied or quiet: what a person meets who tries them.

use super::{ISSUE_REFUND, REFUND_124, folder, refunds, rulestep, run};

#[test]
fn a_mistyped_number_is_refused() {
    let folder = refunds();
    for arguments in [
        &["replay", "sessions", "-j", "9999999"][..],
        &["diff", "sessions", "-b", "recorded", "-j", "257"],
        &["check", "--against", "sessions", "-j", "9999999"],
        &["suggest", "sessions", "-j", "9999999"],
    ] {
        let told = run(&folder, arguments);
        assert!(told.starts_with("exit 2\n") && told.contains("is not in 0..=256"), "{told}");
    }
    assert!(run(&folder, &["replay", "sessions", "-j", "256"]).starts_with("exit 1\n"));
    let told = run(&folder, &["suggest", "sessions", "--most", "0"]);
    assert!(told.starts_with("exit 2\n") && told.contains("--most"), "{told}");
}

#[test]
fn quiet_leaves_no_notice_and_no_note_but_of_files_that_are_no_policy() {
    let unknown = format!("{ISSUE_REFUND}forbids_after: [no_such_tool]\n");
    let folder = folder(&[("p/refund.yaml", &unknown), ("p/list.yaml", "shopping: [milk]\n")]);
    std::fs::write(folder.path().join("s.json"), REFUND_124).unwrap();
    for arguments in [
        &["replay", "s.json", "-p", "p", "--where", "tool:issue_refund"][..],
        &["report", "s.json", "-p", "p"],
        &["check", "p", "--against", "s.json"],
        &["stats", "s.json", "--shard", "1/1"],
    ] {
        let is_said = |told: &str| told.contains("notice[") || told.contains("note: ");
        let loud = rulestep(folder.path(), arguments).output().unwrap();
        assert!(is_said(&String::from_utf8_lossy(&loud.stderr)), "{arguments:?}");
        let quiet = rulestep(folder.path(), &[arguments, &["-q"]].concat()).output().unwrap();
        let told = String::from_utf8_lossy(&quiet.stderr).into_owned();
        // What is left out is not enforced.
        let left_out = usize::from(arguments.contains(&"p"));
        assert_eq!(told.matches("notice[unrecognised_document]").count(), left_out, "{arguments:?}: {told}");
        let others = told.replacen("notice[unrecognised_document]", "", left_out);
        assert!(!is_said(&others) && quiet.status == loud.status, "{arguments:?}: {told}");
        // What is in the answer stays.
        assert_eq!(quiet.stdout, loud.stdout, "{arguments:?}");
    }
}

#[test]
fn options_about_recordings_need_recordings() {
    let folder = refunds();
    for option in [["--where", "tool:x"], ["--since", "7d"], ["--shard", "1/2"]] {
        let told = run(&folder, &["check", option[0], option[1]]);
        assert!(told.starts_with("exit 2\n") && told.contains("--against"), "{told}");
        assert!(run(&folder, &["check", "--against", "sessions", option[0], option[1]]).len() > 20);
    }
}

#[test]
fn an_empty_selection_is_an_error_that_names_the_filter() {
    let folder = refunds();
    for arguments in [
        &["replay", "sessions", "--where", "tool:nothing"][..],
        &["diff", "sessions", "-b", "recorded", "--where", "tool:nothing", "-q"],
        &["stats", "sessions", "--where", "tool:nothing", "-q"],
    ] {
        let told = run(&folder, arguments);
        assert!(told.starts_with("exit 2\n"), "{told}");
        assert!(told.contains("error: no session matches `--where 'tool:nothing'`"), "{told}");
    }
}

#[test]
fn a_call_is_explained_by_the_name_of_its_file() {
    let folder = refunds();
    std::fs::create_dir(folder.path().join("more")).unwrap();
    let explain = |at: &str, more: &[&str]| run(&folder, &[&["explain", "--at", at], more].concat());
    let told = explain("a.json:2.1", &["sessions"]);
    assert!(told.starts_with("exit 0\n") && told.contains("resource_unmatched"), "{told}");
    std::fs::write(folder.path().join("more/a.json"), REFUND_124.replace("refund-124", "other")).unwrap();
    let told = explain("a.json:2.1", &["sessions", "more"]);
    assert!(told.starts_with("exit 2\n") && told.contains("`more/a.json#"), "{told}");
    let told = explain("refund-124:2", &["sessions"]);
    assert!(told.contains("`refund-124:2` names a turn, but no call in it"), "{told}");
    assert!(told.contains("`refund-124:2.1`"), "{told}");
}

#[test]
fn a_case_in_which_no_rule_decides_is_named_among_those_that_pass() {
    let case = |expected: &str| {
        format!(
            "policy: {{rules: [{{type: never_after, trigger: pay, forbidden: mail}}]}}\n\
             session: [{{role: assistant, tool_calls: [{{name: look}}]}}]\n\
             expect: {{{expected}}}\n"
        )
    };
    // The second one says itself that nothing is exercised.
    let (idle, meant) = (case("call: 1.1, decision: allow"), case("status: not_exercised"));
    let folder = folder(&[("a.case.yaml", &idle), ("b.case.yaml", &meant)]);
    let told = run(&folder, &["test", "a.case.yaml", "b.case.yaml"]);
    assert!(told.contains("2 cases: 2 as expected (1 exercises no rule)"), "{told}");
    assert!(run(&folder, &["test", "b.case.yaml"]).contains("1 case: 1 as expected\n"));
}
