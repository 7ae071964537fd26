//! The cases of `tests/conformance/assay*.jsonl`, in shadow.

use std::sync::Arc;

use rulestep_base::session::{Outcome, Session};
use rulestep_engine::monitor::finding::{RuleOutcome, RuleState};
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use serde_json::{Map, Value, json};

use super::{Short, built, policy, so_far};

/// Codes and the reasons of the cases that they stand for.
const REASONS: [(&str, &[&str]); 13] = [
    ("required_missing", &["missing"]),
    ("before_missing", &["first_missing"]),
    ("before_late", &["first_late"]),
    ("not_adjacent", &[]),
    ("blocklisted", &["match"]),
    ("not_allowlisted", &[]),
    ("max_calls_over", &["over"]),
    ("deadline_missed", &["late", "window_passed", "run_ended"]),
    ("after_trigger", &["forbidden"]),
    ("follow_up_missing", &["unanswered"]),
    ("sequence_interrupted", &["interrupted"]),
    ("sequence_out_of_order", &["out_of_order"]),
    ("sequence_cut_short", &["cut_short"]),
];

struct Case {
    value: Value,
    policy: Arc<Policy>,
    session: Arc<Session>,
}

fn cases(text: &str) -> Vec<Case> {
    let read = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap();
        let mut document = json!({"rules": value["rules"]});
        if let Some(aliases) = value.get("aliases") {
            document["aliases"] = aliases.clone();
        }
        let calls = value["trace"].as_array().unwrap().iter().map(|call| {
            let (tool, arguments) = match call.as_str() {
                Some(tool) => (tool, json!({})),
                None => (call["tool"].as_str().unwrap(), call["args"].clone()),
            };
            vec![Short { tool: tool.to_owned(), arguments, outcome: Outcome::Ok, late: false }]
        });
        let session = built(&calls.collect::<Vec<_>>(), None);
        Case { policy: policy(&document.to_string()), session, value }
    };
    text.lines().map(read).collect()
}

fn outcome(state: &RuleState, live: bool) -> &'static str {
    match (state.outcome, live) {
        (RuleOutcome::Held, _) => "held",
        (RuleOutcome::Violated, _) => "violated",
        (RuleOutcome::NotExercised, _) => "not_exercised",
        // Nothing is pending at the end.
        (RuleOutcome::Pending, false) => "pending",
        (RuleOutcome::Pending, true) => "?",
    }
}

/// What the cases call a pending rule of this type.
fn pending(kind: &str) -> &'static str {
    match kind {
        "require" => "violated",
        "eventually" | "after" => "not_exercised",
        _ => "held",
    }
}

fn violations(replay: &Replay) -> Vec<Value> {
    let violated =
        replay.rules().iter().enumerate().filter(|(_, state)| state.outcome == RuleOutcome::Violated);
    let written = violated.map(|(index, state)| {
        let rule = replay.policy().rules().get(state.rule).unwrap();
        let mut written = json!({"rule_index": index, "type": rule.kind, "calls": state.calls});
        if let Some(position) = state.position {
            written["position"] = position.into();
        }
        written["code"] = state.code.unwrap().as_str().into();
        written
    });
    written.collect()
}

/// The keys of an expected violation that the engine speaks about.
fn comparable(expected: &Value, actual: &Value) -> (Value, Value) {
    let (mut left, mut right) = (Map::new(), Map::new());
    for key in ["rule_index", "type", "calls"] {
        if let Some(value) = expected.get(key) {
            left.insert(key.to_owned(), value.clone());
            right.insert(key.to_owned(), actual[key].clone());
        }
    }
    left.insert("position".to_owned(), expected["position"].clone());
    right.insert("position".to_owned(), actual["position"].clone());
    if let Some(reason) = expected["reason"].as_str() {
        let reasons = REASONS.iter().find(|(code, _)| actual["code"] == *code).map(|(_, reasons)| *reasons);
        left.insert("reason".to_owned(), true.into());
        right.insert("reason".to_owned(), reasons.is_some_and(|reasons| reasons.contains(&reason)).into());
    }
    (left.into(), right.into())
}

fn judge(case: &Case, failures: &mut Vec<String>) {
    let (value, expect) = (&case.value, &case.value["expect"]);
    let replay = Replay::new(&case.session, &case.policy, Mode::Shadow);
    let mut differs = |what: &str, expected: Value, actual: Value| {
        if expected != actual {
            failures.push(format!("{} {what}: expected {expected}, got {actual}\n  {value}", value["id"]));
        }
    };
    let found = violations(&replay);
    let expected = expect["violations"].as_array().unwrap();
    differs("number of violations", expected.len().into(), found.len().into());
    for (expected, found) in expected.iter().zip(&found) {
        let (left, right) = comparable(expected, found);
        differs("violation", left, right);
    }
    differs("pass", expect["pass"].clone(), found.is_empty().into());
    if let Some(status) = expect.get("status") {
        differs("status", status.clone(), replay.status().word().into());
        let outcomes: Vec<_> = replay.rules().iter().map(|state| outcome(state, false)).collect();
        differs("outcomes", expect["outcomes"].clone(), json!(outcomes));
        let live = so_far(&case.session, &case.policy);
        let read = live.iter().map(|state| match outcome(state, true) {
            "?" => pending(case.policy.rules().get(state.rule).unwrap().kind),
            word => word,
        });
        let read: Vec<_> = read.collect();
        differs("live", expect["live"]["outcomes"].clone(), json!(read));
        differs("live allowed", expect["live"]["allowed"].clone(), (!read.contains(&"violated")).into());
    }
}

fn met(text: &str, count: usize, skip: &str) {
    let cases = cases(text);
    let judged: Vec<&Case> = cases.iter().filter(|case| case.value.get(skip).is_none()).collect();
    let mut failures = Vec::new();
    judged.iter().for_each(|case| judge(case, &mut failures));
    let shown = failures.iter().take(6).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} differences in {} cases:\n{shown}", failures.len(), judged.len());
    assert_eq!(judged.len(), count);
}

#[test]
fn the_measured_cases_are_met() {
    met(include_str!("../../conformance/assay.jsonl"), 300, "ambiguous");
}

#[test]
fn the_cases_with_aliases_and_arguments_are_met() {
    met(include_str!("../../conformance/assay-extra.jsonl"), 72, "ambiguous");
}

#[test]
fn the_cases_of_the_document_are_met() {
    let text = include_str!("../../conformance/assay-doc-only.jsonl");
    let clear = text.lines().filter(|line| !line.contains("\"ambiguous\"")).count();
    met(text, clear, "ambiguous");
    met(text, 120, "none is left out: the reading that the cases took is ours as well");
}

/// As a gate each call is asked alone, so in shadow the first denied call is the one at fault.
#[test]
fn what_a_gate_denies_first_is_the_violation() {
    let texts =
        [include_str!("../../conformance/assay.jsonl"), include_str!("../../conformance/assay-extra.jsonl")];
    let mut compared = 0;
    for case in texts.into_iter().flat_map(cases) {
        let replay = Replay::new(&case.session, &case.policy, Mode::Shadow);
        let gates = ["before", "blocklist", "max_calls", "never_after", "sequence", "count", "allowlist"];
        for state in replay.rules() {
            let kind = case.policy.rules().get(state.rule).unwrap().kind;
            if !gates.contains(&kind) {
                continue;
            }
            let denied = replay.calls().iter().position(|judged| {
                judged
                    .decision
                    .findings
                    .iter()
                    .any(|finding| finding.rule == state.rule && finding.effect.word() == "deny")
            });
            let at = state.position.map(|position| position as usize);
            assert_eq!(denied, at, "{}", case.value);
            compared += 1;
        }
    }
    assert!(compared > 350, "{compared}");
}

/// In enforce a gate lets nothing happen that would violate it, and what it stopped counts as averted.
#[test]
fn in_enforce_no_gate_is_violated() {
    let late = ["required_missing", "deadline_missed", "follow_up_missing", "sequence_cut_short"];
    let mut averted = 0;
    for text in [
        include_str!("../../conformance/assay.jsonl"),
        include_str!("../../conformance/assay-extra.jsonl"),
        include_str!("../../conformance/assay-doc-only.jsonl"),
    ] {
        for case in cases(text) {
            let replay = Replay::new(&case.session, &case.policy, Mode::Enforce);
            for state in replay.rules() {
                let code = state.code.map_or("", |code| code.as_str());
                assert!(code.is_empty() || late.contains(&code), "{code}: {}", case.value);
                assert!(state.averted == 0 || state.outcome != RuleOutcome::NotExercised, "{}", case.value);
                let denials = replay.calls().iter().flat_map(|judged| &judged.decision.findings);
                let denials = denials
                    .filter(|finding| finding.rule == state.rule && finding.effect.word() == "deny")
                    .count();
                assert_eq!(state.averted as usize, denials, "{}", case.value);
                averted += state.averted;
            }
        }
    }
    assert!(averted > 100, "{averted}");
}
