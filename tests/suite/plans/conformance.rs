//! The cases with known verdicts, in either mode.

use rulestep_engine::dialect::rejection_plans::facts::{Condition, ConditionKind};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::{Mode, Verdict};
use serde_json::{Value, json};

use super::{check, facts, policy, session};
use crate::skipped::skipped;

/// The case's history, and a turn without text that calls the tool that the plan governs.
fn asked(case: &Value) -> Value {
    let mut session = json!({"id": case["id"], "messages": case["messages"]});
    for key in ["variables", "now"] {
        if let Some(value) = case.get(key) {
            session[key] = value.clone();
        }
    }
    let call = json!({"id": "c1", "type": "function", "function": {"name": "act", "arguments": "{}"}});
    session["messages"]
        .as_array_mut()
        .unwrap()
        .push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
    session
}

fn unevaluable_templates(condition: &Condition) -> usize {
    let own = matches!(condition.kind, ConditionKind::Liquid { .. }) && condition.unevaluable.is_some();
    usize::from(own) + condition.conditions.iter().map(unevaluable_templates).sum::<usize>()
}

/// Gives the templates that could not be evaluated.
fn meets(cases: &str, count: usize) -> usize {
    let cases: Vec<Value> = cases.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(cases.len(), count);
    let (mut wrong, mut unevaluable) = (Vec::new(), 0);
    for case in &cases {
        let (session, policy) = (session(&asked(case)), policy(&case["rejection_plan"]));
        for mode in [Mode::Enforce, Mode::Shadow] {
            let replay = Replay::new(&session, &policy, mode);
            let judged = replay.calls().last().unwrap();
            let check = check(&session, &policy, mode);
            let plan = facts(&check);
            let rejected = judged.decision.verdict == Verdict::Deny;
            assert_eq!((check.passed, plan.tree.value), (!rejected, rejected), "{}", case["id"]);
            let actual = json!({"rejected": rejected, "matched": plan.matched});
            if actual != case["expect"] {
                wrong.push(format!("{} {}: {actual}, not {}", case["id"], mode.word(), case["expect"]));
            }
            unevaluable += unevaluable_templates(&plan.tree);
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    unevaluable
}

#[test]
fn every_case_that_follows_from_the_public_description() {
    assert_eq!(meets(include_str!("../../conformance/vapi.jsonl"), 250), 0);
}

#[test]
fn every_case_where_the_public_description_is_silent() {
    assert!(meets(include_str!("../../conformance/vapi-silent.jsonl"), 123) > 0);
}

/// The copies are those that are shared.
#[test]
fn the_cases_are_those_that_are_shared() {
    for name in ["vapi.jsonl", "vapi-silent.jsonl"] {
        let root = env!("CARGO_MANIFEST_DIR");
        let Ok(shared) = std::fs::read_to_string(format!("{root}/../shared/conformance/{name}")) else {
            skipped("no originals of the measured cases beside the project");
            return;
        };
        assert!(
            shared == std::fs::read_to_string(format!("{root}/tests/conformance/{name}")).unwrap(),
            "{name}"
        );
    }
}
