//! Contracts as Vesanor's documentation and its cookbook print them.

use super::{check, errors, folder, rules, told};

#[test]
fn documents_as_published() {
    check(&[
        ("refund.yaml", "tool: issue_refund\npreconditions:\n- requires_prior_tool: check_eligibility\n", ""),
        // Snippets of the documentation are named by their file.
        (
            "issue_refund.yaml",
            "preconditions:\n- requires_prior_tool: check_eligibility\n  with_output:\n  - path: \"$.eligible\"\n    equals: true\n  - path: \"$.reason\"\n    exists: true\n",
            "1 notice tool_from_file_name",
        ),
        (
            "trade.yaml",
            "tool: place_trade\npreconditions:\n- requires_prior_tool: calculate_var\n  with_output:\n  - {path: $.status, equals: OK}\n  - {path: $.var_value, gte: 0.01, lte: 0.05}\n",
            "",
        ),
        (
            "resource.yaml",
            "tool: issue_refund\npreconditions:\n- requires_prior_tool: check_eligibility\n  resource: {bind_from: arguments, path: $.order_id}\n- requires_step_count: {gte: 3}\nforbids_after: [issue_refund, void_order]\n",
            "",
        ),
        // The basic structure of the cookbook: everything in it is for the test runner, or empty.
        (
            "my_tool_name.yaml",
            "tool: my_tool_name\nside_effect: read\nevidence_class: local_transaction\ncommit_requirement: acknowledged\ntimeouts: {total_ms: 30000}\nretries: {max_attempts: 1, retry_on: []}\nrate_limits: {on_429: {respect_retry_after: true, max_sleep_seconds: 60}}\nassertions:\n  input_invariants: []\n  output_invariants: []\ngolden_cases: []\nallowed_errors: []\n",
            "1 warning no_rules; 2 notice runner_keys",
        ),
        // The name of the tool may be missing there as well.
        (
            "get_user.yaml",
            "side_effect: read\nforbids_after: [drop_user]\n",
            "1 notice tool_from_file_name; 1 notice runner_keys",
        ),
        (
            "archive.yaml",
            "tool: archive_records\nside_effect: write\ngate: allow\n",
            "3 error not_enforced; 2 notice runner_keys",
        ),
        (
            "phased.yaml",
            "tool: issue_refund\ntransitions: {valid_in_phases: [eligible], advances_to: refunded}\n",
            "2 error not_enforced",
        ),
        (
            "lookup_customer.yaml",
            "transitions:\n  valid_in_phases: [triage]\n  advances_to: customer_identified\n",
            "1 error not_enforced",
        ),
        (
            "spend.yaml",
            "tool: spend\nargument_value_invariants:\n- {path: $.amount, lte: 500}\n",
            "2 error not_enforced",
        ),
        ("spend.yaml", "argument_value_invariants:\n- {path: $.amount, lte: 500}\n", "1 error not_enforced"),
        (
            "spend.yaml",
            "tool: spend\nassertions: {input_invariants: [{path: $.amount, lte: 500}]}\n",
            "2 error not_enforced",
        ),
        (
            "spend.yaml",
            "tool: spend\nexecution_constraints: {max_calls: 1}\npolicy: {default_deny: true}\n",
            "3 error not_enforced; 2 error not_enforced",
        ),
        (
            "incident.yaml",
            "tool: multi_tool_call\nexpect_tools: [check_health, pull_logs]\ntool_order: strict\nexpected_tool_calls:\n- {name: create_ticket, argument_invariants: [{path: $.severity, equals: P1}]}\n",
            "2 error not_enforced; 3 error not_enforced; 4 error not_enforced",
        ),
        (
            "pack.yaml",
            "name: my-pack\nversion: 1.0.0\ndescription: contracts of the shop\n",
            "notice unrecognised_document",
        ),
        (
            "session.yaml",
            "schema_version: '1.0'\nagent: refund-support-bot\nphases:\n- {name: triage, initial: true}\n- {name: done, terminal: true}\ntransitions:\n  triage: [done]\n",
            "3 error not_enforced; 6 error not_enforced",
        ),
        // Slips in the keys of the test runner are slips.
        ("a.yaml", "tool: a\nside_efect: read\nforbids_after: [b]\n", "2 error unknown_key"),
        (
            "a.yaml",
            "tool: a\nassertions: {output_invariant: []}\nforbids_after: [b]\n",
            "2 error unknown_key",
        ),
    ]);
}

#[test]
fn a_contract_without_a_tool_is_for_the_one_its_file_is_named_after() {
    let loaded = folder(&[("tools/slack.post_message.yaml", "forbids_after: [slack.delete]\n")]);
    assert_eq!(rules(&loaded), ["slack.post_message tools/slack.post_message.yaml#/forbids_after/0"]);
    assert!(loaded.diagnostics[0].message.contains("`slack.post_message`"), "{:?}", loaded.diagnostics);

    // A second contract for the same tool is one, however it got its name.
    let twice = folder(&[("a.yaml", "forbids_after: [b]\n"), ("b.yaml", "{tool: a, forbids_after: [c]}\n")]);
    assert!(errors(&twice).iter().any(|error| error.starts_with("duplicate_contract")), "{}", told(&twice));

    // With several in one file the name says nothing.
    for text in ["forbids_after: [b]\n---\ntool: c\n", "tool: c\n---\nforbids_after: [b]\n"] {
        let several = errors(&folder(&[("a.yaml", text)]));
        assert_eq!(several.len(), 1, "{several:?}");
        assert!(
            several[0].starts_with("missing_key: the key `tool` is missing") && several[0].contains("`---`")
        );
    }
    // An empty document beside it is none.
    assert!(folder(&[("a.yaml", "---\nforbids_after: [b]\n---\n")]).policy.is_some());
}

/// A folder of published contracts gives one notice, and says how much was skipped.
#[test]
fn keys_of_the_test_runner_are_counted_once() {
    let contract = |tool: &str| {
        format!("tool: {tool}\nside_effect: read\ntimeouts: {{total_ms: 1}}\nforbids_after: [z]\n")
    };
    let loaded = folder(&[("a.yaml", &contract("a")), ("b.yaml", &contract("b"))]);
    assert_eq!(told(&loaded), "2 notice runner_keys");
    let message = &loaded.diagnostics[0].message;
    assert!(message.contains("`side_effect` and 3 other keys in 2 contracts"), "{message}");
}
