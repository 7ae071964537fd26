//! The old form rewritten: what changes, what stays, what is refused.

use rulestep_base::source::Source;
use rulestep_engine::dialect::sequence_rules::migrate::{Change, Migration, Refusal, migrate};

fn run(text: &str) -> Result<Migration, Refusal> {
    let name = if text.starts_with('{') { "old.json" } else { "old.yaml" };
    migrate(&Source::new(name, text))
}

/// Rewrites, and holds that a second time changes nothing and that the rules are the same.
fn rewritten(text: &str) -> String {
    let migrated = run(text);
    assert!(migrated.is_ok(), "{migrated:?}\n{text}");
    let migrated = migrated.unwrap();
    let again = run(&migrated.text).unwrap();
    assert_eq!((again.text.as_str(), again.changes), (migrated.text.as_str(), Vec::new()));
    let kinds = |text: &str| {
        let policy = super::policy(text);
        let rules = policy.rules().iter().map(|(_, rule)| (rule.kind, rule.test.clone()));
        rules.collect::<Vec<_>>()
    };
    assert_eq!(kinds(text), kinds(&migrated.text), "{}", migrated.text);
    migrated.text
}

#[test]
fn block_lists_keep_their_comments() {
    let old = "\
# What the support agent must do first.
sequences:
  # read before write
  - [GetCustomer, \"Update Customer\"]  # always
  - - Verify # who it is
    - Approve
    - Delete
  - [Alone]
  -
    - A
    - B
version: 0  # old
";
    let new = "\
# What the support agent must do first.
rules:
  # read before write
  - type: before
    first: GetCustomer
    then: \"Update Customer\"  # always
  # who it is
  - type: before
    first: Verify
    then: Approve
  - type: before
    first: Approve
    then: Delete
  -
    type: before
    first: A
    then: B
version: 1  # old
";
    assert_eq!(rewritten(old), new);
    assert_eq!(
        run(old).unwrap().changes,
        [Change::Sequences { line: 2, lists: 4, rules: 4, empty: 1 }, Change::Version { line: 12 }]
    );
}

#[test]
fn tests_and_expectations_are_rewritten_and_others_left_alone() {
    let old = "\
suite: orders
tests:
- id: order_check
  metric: sequence_valid
  sequences:
  - [get_customer, update_customer]
  - [verify_identity, delete_customer]
- id: expected_form
  expected:
    type: sequence_valid
    sequences: [[a, b], [b, c]]
- id: another_metric
  metric: regex_match
  sequences: [[a, b]]
";
    let new = "\
suite: orders
tests:
- id: order_check
  metric: sequence_valid
  rules:
  - type: before
    first: get_customer
    then: update_customer
  - type: before
    first: verify_identity
    then: delete_customer
- id: expected_form
  expected:
    type: sequence_valid
    rules: [{type: before, first: a, then: b}, {type: before, first: b, then: c}]
- id: another_metric
  metric: regex_match
  sequences: [[a, b]]
";
    assert_eq!(rewritten(old), new);
}

#[test]
fn rules_that_are_there_stay_first() {
    let old = "sequences:\n  - [C, D]\nrules:\n  - {type: require, tool: A}  # needed\n\n# end\naliases: {A: [a]}\n";
    let new = "rules:\n  - {type: require, tool: A}  # needed\n  - type: before\n    first: C\n    then: D\n\n# end\naliases: {A: [a]}\n";
    let migrated = run(old).unwrap();
    assert_eq!(migrated.text, new);
    assert_eq!(run(new).unwrap().changes, []);
    let old = "rules: [{type: require, tool: A}]\nsequences: [[C, D]]\n";
    assert_eq!(rewritten(old), "rules: [{type: require, tool: A}, {type: before, first: C, then: D}]\n");
    let old = "rules:\n- {type: require, tool: A}\nsequences: [[C, D]]";
    assert_eq!(rewritten(old), "rules:\n- {type: require, tool: A}\n- type: before\n  first: C\n  then: D\n");
}

#[test]
fn flow_and_json_stay_flow_and_json() {
    let rows = [
        ("sequences: [[A, B]]\n", "rules: [{type: before, first: A, then: B}]\n"),
        ("sequences: []\n", "rules: []\n"),
        ("sequences: [[A]]\n", "rules: []\n"),
        ("sequences:\n- [A]\n- []\n", "rules: []\n"),
        (
            "sequences: [\n  [A, B],  # first\n  [B, C, D]\n]\nversion: \"0\"\n",
            "rules: [\n  {type: before, first: A, then: B},  # first\n  {type: before, first: B, then: C},\n  {type: before, first: C, then: D}\n]\nversion: \"1\"\n",
        ),
        (
            "{\"sequences\": [[\"A\", \"B\"]], \"version\": 0}",
            "{\"rules\": [{\"type\": \"before\", \"first\": \"A\", \"then\": \"B\"}], \"version\": 1}",
        ),
        (
            "{\"rules\": [], \"sequences\": [[\"A\", \"B\"]]}",
            "{\"rules\": [{\"type\": \"before\", \"first\": \"A\", \"then\": \"B\"}]}",
        ),
    ];
    for (old, new) in rows {
        assert_eq!(rewritten(old), new, "{old}");
    }
}

#[test]
fn what_cannot_be_rewritten_is_refused() {
    assert_eq!(run("tool: issue_refund\n"), Err(Refusal::Foreign));
    assert_eq!(run("rules: [{type: require, tool: A}]\n").unwrap().changes, []);
    assert!(matches!(run("sequences: [[A, B\n"), Err(Refusal::Broken(_))));
    for tangled in [
        "x: &x [A, B]\nsequences:\n  - *x\n  - &y [C, D]\n",
        "sequences:\n  - A\n  - B\n",
        "sequences: [[A, 1]]\n",
        "sequences: [[A, B]]\nrules: 7\n",
    ] {
        assert!(matches!(run(tangled), Err(Refusal::Tangled(_))), "{tangled}: {:?}", run(tangled));
    }
}
