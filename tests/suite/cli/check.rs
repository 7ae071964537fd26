//! `rulestep check`.

use insta::assert_snapshot;

use super::{folder, refunds, run};

#[test]
fn nothing_wrong() {
    assert_snapshot!(run(&refunds(), &["check"]), @r"
    exit 0
    --- stdout
    2 documents, 3 rules: nothing wrong
    --- stderr
    ");
}

#[test]
fn every_mistake_is_shown_at_its_place() {
    let folder = folder(&[
        ("p/a.yaml", "tool: a\npreconditions:\n  - requires_prior_tool: b\n    with_ouput: [{path: $.x}]\n"),
        ("p/b.yaml", "tool: b\npreconditions:\n  - resource: {bind_from: arguments, path: $..id}\n"),
        ("p/c.yaml", "tool: a\n"),
        ("p/notes.yaml", "milk: 2\n"),
    ]);
    assert_snapshot!(run(&folder, &["check", "p"]));
    assert_snapshot!(run(&folder, &["check", "p", "--format", "json"]));
}

#[test]
fn a_file_that_is_not_there() {
    assert_snapshot!(run(&refunds(), &["check", "nowhere.yaml"]));
}

#[test]
fn a_named_file_must_be_a_policy() {
    let folder = folder(&[("notes.yaml", "milk: 2\n")]);
    assert_snapshot!(run(&folder, &["check", "notes.yaml"]));
}

#[test]
fn nothing_to_check() {
    assert_snapshot!(run(&folder(&[]), &["check"]));
}

#[test]
fn what_is_left_out_is_not_passed_over() {
    let folder = folder(&[
        ("p/a.yaml", "tool: a\nforbids_after: [b]\n"),
        ("p/notes.yaml", "milk: 2\n"),
        ("q/notes.yaml", "milk: 2\n"),
    ]);
    let told = run(&folder, &["check", "p"]);
    assert!(told.contains("1 document, 1 rule: nothing wrong; 1 file left out"), "{told}");
    let told = run(&folder, &["check", "q"]);
    assert!(told.contains("exit 2") && told.contains("no policy was found"), "{told}");
}

#[test]
fn a_contract_whose_tool_is_misspelt_is_wrong() {
    let text = "tol: issue_refund\npreconditions:\n  - requires_prior_tool: x\n";
    let told = run(&folder(&[("p/typo.yaml", text)]), &["check", "p"]);
    assert!(told.contains("exit 1") && told.contains("did you mean `tool`?"), "{told}");
}

/// A warning is reason enough for an exit of 1: a condition that cannot be evaluated rejects every call.
#[test]
fn a_warning_is_found() {
    let plan = "{tool: pay, rejectionPlan: {conditions: [{type: regex, regex: '('}]}}";
    let seen = run(&folder(&[("p/a.yaml", plan)]), &["check", "p"]);
    assert!(seen.starts_with("exit 1") && seen.contains("1 warning"), "{seen}");
}
