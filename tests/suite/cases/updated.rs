//! Expectations rewritten in place.

use rstest::rstest;
use rulestep::case::Case;
use rulestep::case::judge::CaseResult;
use rulestep::case::update::update;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::source::Source;

use super::{cases, judged, policy, text};

fn updated(name: &str, text: &str) -> Result<String, Vec<Diagnostic>> {
    let cases = cases(name, text);
    let judged: Vec<CaseResult> = cases.iter().map(|case| judged(case, &policy())).collect();
    let pairs: Vec<(&Case, &CaseResult)> = cases.iter().zip(&judged).collect();
    update(&Source::new(name, text), &pairs)
}

#[rstest]
#[case::flow("  - {call: 2.1, decision: allow}  # why", "  - {call: 2.1, decision: deny}  # why")]
#[case::block(
    "  # a\n  - call: 2.1 # b\n    decision: allow   # c\n\n    # d",
    "  # a\n  - call: 2.1 # b\n    decision: deny   # c\n\n    # d"
)]
#[case::quotes(
    "  {call: 2.1, decision: 'allow', code: \"forbidden\"}",
    "  {call: 2.1, decision: deny, code: resource_unmatched}"
)]
#[case::from_nothing(
    "  - call: 2.1\n    code:\n    rule: ~ # none",
    "  - call: 2.1\n    code: resource_unmatched\n    rule: \"refund.yaml#/preconditions/0\" # none"
)]
#[case::to_nothing("  {call: 2.2, code: forbidden, told: x}", "  {call: 2.2, code: null, told: null}")]
#[case::block_text(
    "  - call: 2.1\n    told: |\n      gone\n      too\n    tool: check\n",
    "  - call: 2.1\n    told: \"[permission denied: resource_unmatched]\"\n    tool: refund\n"
)]
#[case::folded_text(
    "  - call: 2.1\n    told: >-\n      gone",
    "  - call: 2.1\n    told: \"[permission denied: resource_unmatched]\""
)]
#[case::long_text(
    "  - call: 2.1\n    told: several words\n      on two lines\n    tool: check",
    "  - call: 2.1\n    told: \"[permission denied: resource_unmatched]\"\n    tool: refund"
)]
#[case::flow_list(
    "  {turn: 1, visible: [ refund ], hidden: []}",
    "  {turn: 1, visible: [check], hidden: [refund]}"
)]
#[case::block_list(
    "  - turn: 1\n    visible:\n      - refund\n      - void\n    hidden: [check] # x",
    "  - turn: 1\n    visible: [check]\n    hidden: [refund] # x"
)]
#[case::tools(
    "  {turn: 1, tools: {refund: visible, check: hidden}}",
    "  {turn: 1, tools: {refund: prior_tool_missing, check: visible}}"
)]
#[case::session(
    "  - {status: pass, summary: {deny: 7, allow: 0}}",
    "  - {status: stopped, summary: {deny: 1, allow: 2}}"
)]
#[case::rules(
    "  {rule: '#/rules/0', outcome: held, code: null}",
    "  {rule: '#/rules/0', outcome: violated, code: required_missing}"
)]
#[case::met("  - {call: 2.1, decision: deny}", "  - {call: 2.1, decision: deny}")]
fn the_value_changes_and_nothing_else(#[case] before: &str, #[case] after: &str) {
    assert_eq!(updated("a.case.yaml", &text(before)).unwrap(), text(after));
    let windows = |expect: &str| text(expect).replace('\n', "\r\n");
    if !before.contains("told: ") {
        assert_eq!(updated("a.case.yaml", &windows(before)).unwrap(), windows(after));
    }
    // What was rewritten stands as it is.
    assert_eq!(updated("a.case.yaml", &text(after)).unwrap(), text(after));
}

#[test]
fn what_cannot_be_rewritten_is_left_and_told() {
    let cases = [
        ("  - turn: 1\n    visible: # as of March\n      - refund", "`visible` cannot be rewritten in place"),
        ("  {turn: 1, visible: [refund, # x\n  void]}", "`visible` cannot be rewritten in place"),
        ("  {call: 7.1, decision: deny}", "`decision` cannot be rewritten in place"),
        ("  {turn: 1, tools: {nobody: hidden}}", "`nobody` cannot be rewritten in place"),
        (
            "  - {call: 2.1, decision: &a allow}\n  - {call: 2.2, decision: *a}",
            "`decision` cannot be rewritten in place",
        ),
    ];
    for (expect, told) in cases {
        let refused = updated("a.case.yaml", &text(expect)).unwrap_err();
        assert_eq!(refused[0].message, told, "{expect}");
        assert_eq!(refused[0].code.as_str(), "case_not_rewritten");
        assert!(refused[0].place().unwrap().position().is_some());
    }
}

#[test]
fn json_stays_json() {
    let text = r#"{"policy": ".", "session": {"tools": [{"name": "check"}], "messages": [
  {"role": "assistant", "tool_calls": [{"name": "refund", "arguments": {"id": 2}}]}]},
  "expect": [{"call": "1.1", "decision": "allow", "code": null}, {"turn": 1, "visible": []}]}"#;
    let after = updated("a.case.json", text).unwrap();
    let expected = text.replace("\"allow\", \"code\": null", "\"deny\", \"code\": \"prior_tool_missing\"");
    assert_eq!(after, expected.replace("\"visible\": []", "\"visible\": [\"check\"]"));
}

#[test]
fn several_cases_of_a_file_are_rewritten_together() {
    let two =
        |first: &str, second: &str| format!("{}---\ntool: x # kept\n---\n{}", text(first), text(second));
    let after = updated("a.case.yaml", &two("  {status: pass}", "  {call: 2.1, decision: halt}")).unwrap();
    assert_eq!(after, two("  {status: stopped}", "  {call: 2.1, decision: deny}"));
}
