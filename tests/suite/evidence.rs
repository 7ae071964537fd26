//! What an allowed call rests on: every rule that was asked names the calls that satisfied it, or that it counted.

use std::sync::Arc;

use rulestep::report::json;
use rulestep_base::session::build::Builder;
use rulestep_base::session::{Body, Origin, Session};
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use serde_json::{Value, json};

fn policy(text: &str) -> Arc<Policy> {
    let file =
        PolicyFile { name: "p.yaml".into(), relative: "p.yaml".into(), text: text.into(), named: true };
    Policy::load(&[file], None).policy.unwrap()
}

/// A turn for each call, all of which succeed.
fn session(calls: &[(&str, Value)]) -> Arc<Session> {
    let origin = Origin { file: "s.json".into(), index: 0, format: "native", line: 1 };
    let mut build = Builder::new("s", origin);
    for (number, (tool, arguments)) in calls.iter().enumerate() {
        build.response(None, Body::MISSING, None);
        let id = number.to_string();
        build.call(Some(&id), tool, Body::text(arguments.to_string()), None);
        build.result(Some(&id), Body::text("{\"ok\": true}"), Default::default(), None);
    }
    Arc::new(build.finish())
}

/// The evidence of the last call's checks, by rule: indices of calls. The call must be allowed.
fn evidence(text: &str, calls: &[(&str, Value)]) -> Vec<(String, Vec<u64>)> {
    let (session, policy) = (session(calls), policy(text));
    let replay = Replay::new(&session, &policy, Mode::Enforce);
    let call = session.calls.last().unwrap();
    let mut out = Vec::new();
    json::call(&replay, &replay.frame(call.at.turn).unwrap(), call, None, false, &mut out).unwrap();
    let told: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(told["call"]["decision"], "allow", "{told:#}");
    let checks = told["call"]["checks"].as_array().unwrap().iter();
    let indices = |check: &Value| {
        let evidence = check["evidence"].as_array().unwrap();
        evidence.iter().map(|found| found["index"].as_u64().unwrap()).collect()
    };
    checks.map(|check| (check["rule"].as_str().unwrap().replace("p.yaml#", ""), indices(check))).collect()
}

fn calls(tools: &str) -> Vec<(&str, Value)> {
    tools.split_whitespace().map(|tool| (tool, json!({}))).collect()
}

#[test]
fn sequence_rules_name_what_satisfied_them() {
    for (rule, tools, expected) in [
        ("{type: before, first: A, then: B}", "X A A B", vec![1]),
        ("{type: before, first: A, then: [B, C]}", "A B C", vec![0]),
        ("{type: immediately_before, first: A, then: B}", "A X A B", vec![2]),
        ("{type: max_calls, tool: A, max: 9}", "A X A A", vec![2, 0]),
        ("{type: max_calls, tool: A, max: 9}", "A A A A A A", vec![4, 3, 2, 1]),
        ("{type: sequence, tools: [A, B, C]}", "A X B C", vec![0, 2]),
        ("{type: never_after, trigger: A, forbidden: B}", "X B", vec![]),
    ] {
        let found = evidence(&format!("rules: [{rule}]"), &calls(tools));
        assert_eq!(found, [("/rules/0".to_owned(), expected)], "{rule} {tools}");
    }
    let exact = "tests: [{id: three_calls, expected: {type: sequence_valid, sequence: [A, B, C]}}]";
    assert_eq!(evidence(exact, &calls("A B C"))[0].1, [0, 1]);
}

#[test]
fn sequence_policies_name_what_they_compared_and_counted() {
    let policy = "
forbidden: [{sequence: [A, B, C], action: deny, reason: x}]
limits: {C: {maxPerSession: 5, action: deny, reason: y}}
";
    assert_eq!(
        evidence(policy, &calls("C A X C")),
        [("/forbidden/0".to_owned(), vec![1, 2]), ("/limits/C".to_owned(), vec![0])]
    );
}

#[test]
fn tool_policies_name_what_was_done_and_read_before() {
    let policy = "
policies:
  - {type: sequential_dependency, name: order, dependencies: {deploy: [build, test]}}
  - {type: read_before_write, read_tools: [read_file, cat], write_tools: [write_file]}
existing_files: [a.txt]
";
    assert_eq!(evidence(policy, &calls("test X build test deploy"))[0].1, [2, 0]);
    let read = |tool| (tool, json!({"path": "a.txt"}));
    let written = [read("cat"), read("read_file"), read("write_file")];
    assert_eq!(evidence(policy, &written), [("/policies/1".to_owned(), vec![1])]);
    assert_eq!(evidence(policy, &[read("cat"), read("write_file")]), [("/policies/1".to_owned(), vec![0])]);
}

#[test]
fn contracts_name_the_prior_call() {
    let policy = "{tool: B, preconditions: [{requires_prior_tool: A}]}";
    assert_eq!(evidence(policy, &calls("A X B")), [("/preconditions/0".to_owned(), vec![0])]);
}
