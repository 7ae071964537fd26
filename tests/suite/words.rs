//! The sentences for people, for every code of the contracts and every shape of evidence.

mod names;
mod policies;

use std::io::Cursor;
use std::sync::Arc;

use insta::assert_snapshot;
use rulestep::report::words;
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use rulestep_recording::{Options, open};

/// Calls in turns of their own: tool, arguments, and the result (`!` before it marks an error, nothing: no result).
type Calls<'a> = &'a [(&'a str, &'a str, &'a str)];

fn replay(policy: &str, calls: Calls<'_>, more: &str) -> Replay {
    let mut messages = Vec::new();
    for (at, (tool, arguments, result)) in calls.iter().enumerate() {
        let arguments = serde_json::to_string(arguments).unwrap();
        messages.push(format!(
            r#"{{"role": "assistant", "tool_calls": [{{"id": "c{at}", "function": {{"name": "{tool}", "arguments": {arguments}}}}}]}}"#
        ));
        let content = serde_json::to_string(result.trim_start_matches('!')).unwrap();
        if !result.is_empty() {
            let error = result.starts_with('!');
            messages.push(format!(
                r#"{{"role": "tool", "tool_call_id": "c{at}", "content": {content}, "is_error": {error}}}"#
            ));
        }
    }
    let session = format!(r#"{{"id": "s"{more}, "messages": [{}]}}"#, messages.join(","));
    let session =
        open("s.json", Box::new(Cursor::new(session)), &Options::default()).unwrap().next().unwrap();
    let file =
        PolicyFile { name: "p.yaml".into(), relative: "p.yaml".into(), text: policy.into(), named: true };
    let loaded = Policy::load(&[file], None);
    assert!(loaded.policy.is_some(), "{:?}", loaded.diagnostics);
    let policy = loaded.policy.unwrap();
    Replay::new(&Arc::new(session), &policy, Mode::Enforce)
}

/// What is said of the last call, and what would change it.
fn said(policy: &str, calls: Calls<'_>) -> String {
    let replay = replay(policy, calls, "");
    let (call, judged) = replay.session().calls.iter().zip(replay.calls()).next_back().unwrap();
    let mut lines = Vec::new();
    for finding in &judged.decision.findings {
        let explanation = finding.explain(replay.policy().rules(), replay.session()).unwrap();
        lines.push(format!("{}: {}", finding.code, explanation.headline));
        if let Some(tool) = explanation.awaited {
            let attempts = words::attempts(call, &replay, &tool);
            lines.extend(attempts.iter().map(|attempt| format!("  {}", attempt.sentence(replay.session()))));
        }
        lines.extend(explanation.way_out.map(|way| format!("  way out: {way}")));
    }
    let frame = replay.frame(call.at.turn).unwrap();
    for check in frame.calls.iter().flat_map(|decision| &decision.checks).filter(|check| check.passed) {
        let explanation = check.explain(replay.policy().rules(), replay.session()).unwrap();
        lines.push(format!("passed: {}", explanation.headline));
    }
    lines.join("\n")
}

const BOUND: &str = "tool: pay\npreconditions:\n  - requires_prior_tool: check\n    resource: {bind_from: arguments, path: $.order.id}\n";

fn with_output(conditions: &str) -> String {
    format!("tool: pay\npreconditions:\n  - requires_prior_tool: check\n    with_output: [{conditions}]\n")
}

#[test]
fn forbidden() {
    let policy = "tool: pay\nforbids_after: [pay, refund]\n";
    assert_snapshot!(said(policy, &[("pay", "{}", "1"), ("talk", "{}", "1"), ("refund", "{}", "1")]), @r"
    forbidden: forbidden since pay ran in turn 1
      way out: none in this session: `forbids_after` applies until it ends
    ");
}

#[test]
fn steps() {
    let policy = "tool: pay\npreconditions:\n  - requires_step_count: {gte: 3}\n";
    let talk = ("talk", "{}", "1");
    let pay = ("pay", "{}", "1");
    assert_snapshot!(said(policy, &[pay]), @r"
    step_count_below: 0 turns completed before this one, at least 3 required
      way out: make the call 3 turns later
    ");
    assert_snapshot!(said(policy, &[talk, pay]), @r"
    step_count_below: 1 turn completed before this one, at least 3 required
      way out: make the call 2 turns later
    ");
    assert_snapshot!(said(policy, &[talk, talk, talk, pay]), @"passed: 3 turns completed before this one, at least 3 required");
}

#[test]
fn a_prior_tool_that_is_missing() {
    let failed = ("check", r#"{"order": {"id": 7}}"#, "!no such order");
    let pay = ("pay", r#"{"order": {"id": 7}}"#, "1");
    assert_snapshot!(said(BOUND, &[pay]), @r"
    prior_tool_missing: check has not succeeded in an earlier turn
      way out: call check for order.id 7 successfully in an earlier turn
    ");
    assert_snapshot!(said(BOUND, &[failed, ("check", "{}", ""), pay]), @r"
    prior_tool_missing: check has not succeeded in an earlier turn
      turn 2: check, it has no result
      turn 1: check, it ran and failed
      way out: call check for order.id 7 successfully in an earlier turn
    ");
}

#[test]
fn resources() {
    let pay = ("pay", r#"{"order": {"id": 7}}"#, "1");
    let check = |arguments| ("check", arguments, "1");
    assert_snapshot!(said(BOUND, &[check(r#"{"order": {"id": "7"}}"#), pay]), @r#"
    resource_unmatched: check ran for order.id "7", not 7
      way out: call check for order.id 7 successfully in an earlier turn
    "#);
    let checks =
        [r#"{"order": {"id": 1}}"#, r#"{"order": {"id": [2, {"a": null}]}}"#, r#"{"order": {"id": 1}}"#]
            .map(check);
    assert_snapshot!(said(BOUND, &[checks[0], checks[1], checks[2], pay]), @r#"
    resource_unmatched: check ran for order.id 1 and [2,{"a":null}], not 7
      way out: call check for order.id 7 successfully in an earlier turn
    "#);
    assert_snapshot!(said(BOUND, &[check("{}"), pay]), @r"
    resource_unmatched: check ran without a value for order.id, not for 7
      way out: call check for order.id 7 successfully in an earlier turn
    ");
    assert_snapshot!(said(BOUND, &[check(r#"{"order": {"id": 7.0}}"#), ("pay", "not json", "1")]), @r"
    resource_missing: this call has no value at `$.order.id` to compare with that of check
      way out: give the call a value at `$.order.id`
    ");
    assert_snapshot!(said(BOUND, &[check(r#"{"order": {"id": 7.0}}"#), pay]), @"passed: check ran in turn 1 for order.id 7");
}

#[test]
fn outputs() {
    let pay = ("pay", "{}", "1");
    let case =
        |conditions: &str, result: &str| said(&with_output(conditions), &[("check", "{}", result), pay]);
    let cases = [
        ("{path: $.ok, equals: true}", r#"{"ok": false}"#),
        ("{path: $.ok, equals: true}", r#"{"result": {"ok": true}}"#),
        ("{path: $.ok, equals: true}", "plain text"),
        ("{path: $.risk, lte: 0.5}", r#"{"risk": 0.75}"#),
        ("{path: $.risk, gte: 2}", r#"{"risk": "high"}"#),
        ("{path: $.error, exists: false}", r#"{"error": null}"#),
        ("{path: $.id}", "{}"),
        (
            "{path: '$.items[*].price', lte: 5}",
            r#"{"items": [{"price": 1}, {"price": 9}, {"price": 2}, {"price": 3}]}"#,
        ),
        ("{path: $.ok, equals: true}, {path: $.n, gte: 1}", r#"{"ok": true, "n": 3}"#),
    ];
    let said: Vec<String> = cases
        .iter()
        .map(|(conditions, result)| format!("{conditions} of {result}\n{}", case(conditions, result)))
        .collect();
    assert_snapshot!(said.join("\n\n"));
}

#[test]
fn the_other_reading_is_told() {
    let policy = format!("{BOUND}    with_output: [{{path: $.ok, equals: true}}]\n");
    let arguments = r#"{"order": {"id": 7}}"#;
    let calls = [
        ("check", arguments, r#"{"ok": true}"#),
        ("check", arguments, r#"{"ok": false}"#),
        ("pay", arguments, "1"),
    ];
    assert_snapshot!(said(&policy, &calls), @r"
    prior_output_unmatched: check in turn 2 returned ok false, not true; with `match: any` it would pass
      way out: call check for order.id 7 again; its result must contain ok = true
    ");
}

#[test]
fn long_and_hidden_values_are_cut_and_marked() {
    let long = format!(r#"{{"order": {{"id": "{}"}}}}"#, "x".repeat(500));
    let nasty = r#"{"order": {"id": "\u001b[2J\u202eabc"}}"#;
    assert_snapshot!(said(BOUND, &[("check", &long, "1"), ("pay", nasty, "1")]));
}

/// A model can call tools, and no alias; and what a rule never allows, no earlier call clears.
#[test]
fn what_would_help_names_what_can_be_called() {
    let alias = |members: &str, rule: &str| format!("aliases: {{Check: [{members}]}}\nrules:\n  - {rule}\n");
    let never = |call: &str| format!("rules:\n  - {{type: never, call: {call}}}\n");
    let push = "{runs: {program: git, args: [push]}}";
    let (before, after) =
        ("{type: before, first: Check, then: save}", "{type: never_after, trigger: read, forbidden: Check}");
    let cases: [(String, Calls<'_>); 7] = [
        (alias("run_tests, run_lint", before), &[("save", "{}", "1")]),
        (alias("a, b, c, d, e", before), &[("save", "{}", "1")]),
        (alias("run_tests, run_lint", after), &[("read", "{}", "1"), ("run_lint", "{}", "1")]),
        (never("pay"), &[("pay", "{}", "1")]),
        (never("{tool: pay, args_match: {to: '@'}}"), &[("pay", r#"{"to": "a@b"}"#, "1")]),
        (never(push), &[("Bash", r#"{"command": "make && git push --force"}"#, "1")]),
        (never(push), &[("Bash", r#"{"command": "git $WHAT"}"#, "1")]),
    ];
    let said: Vec<String> = cases.iter().map(|(policy, calls)| said(policy, calls)).collect();
    assert_snapshot!(said.join("\n"));
}
