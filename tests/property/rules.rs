//! Properties of sequence rules: the engine against the evaluator that scans the trace for every question.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rulestep_engine::monitor::Finding;
use rulestep_engine::monitor::finding::RuleOutcome;
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::{self, Replay};
use serde_json::{Value, json};

use crate::contracts::config;
use crate::engine::{engine_mode, read};
use crate::generate::pools;
use crate::generate_rules::document;
use crate::generate_sessions::session;
use crate::naive::{MODES, Mode, list};
use crate::naive_rules;
use crate::policy_sessions::{named_runs_agree, saved_runs_agree};

fn pairs() -> impl Strategy<Value = (Value, Value)> {
    pools().prop_flat_map(|pools| (document(pools), session(pools)))
}

fn policy(document: &Value) -> Arc<Policy> {
    let (name, text): (Arc<str>, Arc<str>) = ("rules.json".into(), document.to_string().into());
    let loaded = Policy::load(&[PolicyFile { relative: Arc::clone(&name), name, text, named: true }], None);
    assert!(loaded.policy.is_some(), "{document}: {:#?}", loaded.diagnostics);
    loaded.policy.unwrap()
}

/// What the engine says, in the shape of the naive evaluator.
fn judged(replay: &Replay) -> Value {
    let finding = |finding: &Finding| json!([finding.rule.0, finding.effect.word(), finding.code]);
    let calls = replay.calls().iter().map(|judged| {
        let mut findings: Vec<Value> = judged.decision.findings.iter().map(finding).collect();
        findings.sort_by_key(|finding| finding[0].as_u64());
        Value::from(findings)
    });
    let rules = replay.rules().iter().map(|state| {
        json!({"outcome": state.outcome, "code": state.code, "position": state.position, "calls": state.calls,
               "averted": state.averted})
    });
    json!({"calls": calls.collect::<Vec<_>>(), "rules": rules.collect::<Vec<_>>()})
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn the_engine_judges_as_the_naive_evaluator((document, session) in pairs()) {
        let (policy, recorded) = (policy(&document), Arc::new(read(&session)));
        for (mode, name) in MODES {
            let replay = Replay::new(&recorded, &policy, engine_mode(mode));
            let (expected, actual) = (naive_rules::evaluate(&document, &session, mode), judged(&replay));
            prop_assert_eq!(&expected["calls"], &actual["calls"], "{}\n{}\n{:#}", name, document, session);
            prop_assert_eq!(&expected["rules"], &actual["rules"], "{}\n{}\n{:#}", name, document, session);
            // Asked for less, it comes to the same; and so do the frames of its turns.
            let outcomes = replay::outcomes(&recorded, &policy, engine_mode(mode));
            prop_assert_eq!(outcomes.summary, replay.summary());
            let mut less = replay.rules().to_vec();
            // Why a rule is kept is not worked out where nobody reads it.
            less.iter_mut().filter(|state| state.outcome != RuleOutcome::Violated).for_each(|state| state.facts = None);
            prop_assert_eq!(outcomes.rules, less);
            for turn in &recorded.turns {
                let frame = replay.frame(turn.number).unwrap();
                for (call, decision) in recorded.calls_of(turn).iter().zip(&frame.calls) {
                    prop_assert_eq!(&decision.findings, &replay.call(call.at.index).unwrap().decision.findings);
                }
            }
        }
    }

    #[test]
    fn a_run_that_was_written_down_goes_on((document, session) in pairs()) {
        let (policy, recorded) = (policy(&document), Arc::new(read(&session)));
        for (mode, _) in MODES {
            saved_runs_agree(&recorded, &policy, engine_mode(mode))?;
            named_runs_agree(&recorded, &policy, engine_mode(mode))?;
        }
    }

    #[test]
    fn no_gate_is_violated_in_enforce((document, session) in pairs()) {
        let replay = Replay::new(&Arc::new(read(&session)), &policy(&document), engine_mode(Mode::Enforce));
        let late = ["required_missing", "deadline_missed", "follow_up_missing", "sequence_cut_short"];
        for state in replay.rules() {
            prop_assert!(state.code.is_none_or(|code| late.contains(&code.as_str())), "{state:?} {document}");
        }
    }

}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn narrowing_is_what_every_first_call_would_get((document, session) in pairs()) {
        let (policy, recorded) = (policy(&document), Arc::new(read(&session)));
        let arguments = [json!({}), json!({"order_id": "A", "weird key": "A"}), json!({"order_id": 1, "weird key": "k"})];
        for (mode, _) in MODES {
            let replay = Replay::new(&recorded, &policy, engine_mode(mode));
            let judged = naive_rules::evaluate(&document, &session, mode);
            for turn in &recorded.turns {
                for tool in replay.frame(turn.number).unwrap().narrowing.tools {
                    for (number, rule) in list(&document["rules"]).iter().enumerate() {
                        let hidden = tool.reasons.iter().any(|reason| reason.rule.0 as usize == number);
                        let denied = |arguments: &Value| {
                            let (turn, arguments) = (turn.number as usize, arguments.clone());
                            naive_rules::denies_first(&document, &session, &judged, mode, number, turn, &tool.tool, arguments)
                        };
                        if hidden {
                            prop_assert!(arguments.iter().all(denied), "{} {rule} turn {}", tool.tool, turn.number);
                        } else if !rule.to_string().contains("args_match") {
                            prop_assert!(!denied(&arguments[0]), "{} {rule} turn {}", tool.tool, turn.number);
                        }
                    }
                }
            }
        }
    }
}

/// The properties say something only if the drawn pairs reach every code often.
#[test]
fn the_generated_rules_reach_every_code() {
    let mut runner = TestRunner::deterministic();
    let (mut findings, mut ends) = (BTreeMap::<String, u32>::new(), BTreeMap::<String, u32>::new());
    for _ in 0..1500 {
        let (document, session) = pairs().new_tree(&mut runner).unwrap().current();
        for (mode, _) in MODES {
            let judged = naive_rules::evaluate(&document, &session, mode);
            for finding in list(&judged["calls"]).iter().flat_map(list) {
                *findings.entry(finding[2].as_str().unwrap().to_owned()).or_default() += 1;
            }
            for rule in list(&judged["rules"]) {
                let end = rule["code"].as_str().or(rule["outcome"].as_str()).unwrap();
                *ends.entry(end.to_owned()).or_default() += 1;
            }
        }
    }
    println!("findings {findings:?}\nends {ends:?}");
    let said = [
        "before_missing",
        "not_adjacent",
        "blocklisted",
        "not_allowlisted",
        "max_calls_over",
        "deadline_missed",
        "after_trigger",
        "follow_up_missing",
        "sequence_interrupted",
        "sequence_out_of_order",
    ];
    let ended = ["held", "not_exercised", "required_missing", "before_late", "sequence_cut_short"];
    for code in said {
        assert!(findings.get(code).is_some_and(|times| *times > 100), "{code}: {findings:?}");
    }
    for end in said.iter().chain(&ended) {
        assert!(ends.get(*end).is_some_and(|times| *times > 20), "{end}: {ends:?}");
    }
}
