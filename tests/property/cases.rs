//! Cases with known verdicts, met by the oracle and by the engine; and what the generators reach.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::contracts::{Judge, comparable};
use crate::engine;
use crate::generate::{self, Pair};
use crate::naive::{self, MODES, differences, list};
use crate::skipped::skipped;

#[test]
fn the_oracle_meets_every_contract_case() {
    meets_every_contract_case(naive::evaluate);
}

#[test]
fn the_engine_meets_every_contract_case() {
    meets_every_contract_case(engine::evaluate);
}

fn meets_every_contract_case(judge: Judge) {
    let cases: Vec<Value> = include_str!("../conformance/contracts.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(cases.len(), 300);
    let mut failures = Vec::new();
    for case in &cases {
        for (mode, name) in MODES {
            let expected = comparable(list(&case["expect"][name]), &case["session"]);
            let actual = judge(&list(&case["contracts"]), &case["session"], mode);
            let actual = comparable(actual, &case["session"]);
            if actual != expected {
                failures.push(format!("{} {name}: {}", case["id"], differences(&expected, &actual)));
            }
        }
    }
    let shown = failures.iter().take(5).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of 600 runs differ, the first:\n{shown}", failures.len());
}

/// One recorded episode as a native session. There a result that begins `Error` is an error, and one file writes
/// its arguments as Python literals.
fn tau_session(episode: &Value) -> Value {
    let mut messages = list(&episode["traj"]);
    for message in &mut messages {
        if message["role"] == "tool" {
            let failed = message["content"].as_str().is_some_and(|text| text.starts_with("Error"));
            message["is_error"] = json!(failed);
        }
        for call in message["tool_calls"].as_array_mut().into_iter().flatten() {
            let arguments = call["function"]["arguments"].as_str().unwrap();
            if serde_json::from_str::<Value>(arguments).is_err() {
                call["function"]["arguments"] = json!(json_of_python(arguments));
            }
        }
    }
    // These cases say nothing of narrowing, which would be most of the work.
    json!({"messages": messages, "tools": []})
}

/// A Python literal of dictionaries, lists, strings and numbers as JSON text.
fn json_of_python(literal: &str) -> String {
    let (mut json, mut rest) = (String::new(), literal.chars());
    while let Some(char) = rest.next() {
        if char != '\'' && char != '"' {
            json.push(char);
            continue;
        }
        let mut string = String::new();
        while let Some(inner) = rest.next().filter(|&inner| inner != char) {
            match (inner, inner == '\\') {
                (_, false) => string.push(inner),
                (_, true) => match rest.next() {
                    Some('n') => string.push('\n'),
                    other => string.extend(other),
                },
            }
        }
        json += &json!(string).to_string();
    }
    json
}

#[test]
fn the_oracle_meets_the_recorded_sessions() {
    meets_the_recorded_sessions(naive::evaluate);
}

#[test]
fn the_engine_meets_the_recorded_sessions() {
    meets_the_recorded_sessions(engine::evaluate);
}

fn meets_the_recorded_sessions(judge: Judge) {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    meets_sessions(judge, &root.join("tests/fixtures"), include_str!("../fixtures/tau/cases.json"));
    let real = root.join("../shared/traces");
    if real.is_dir() {
        meets_sessions(judge, &real, include_str!("../conformance/tau_bench.json"));
    } else {
        skipped("no recordings beside the project");
    }
}

fn meets_sessions(judge: Judge, folder: &std::path::Path, cases: &str) {
    let cases: Vec<Value> = serde_json::from_str(cases).unwrap();
    assert_eq!(cases.len(), 16);
    let mut files = BTreeMap::new();
    for case in &cases {
        let sessions: &Vec<Value> = files.entry(case["file"].as_str().unwrap()).or_insert_with_key(|file| {
            let text = std::fs::read_to_string(folder.join(file)).unwrap();
            let episodes: Vec<Value> = serde_json::from_str(&text).unwrap();
            episodes.iter().map(tau_session).collect()
        });
        for (mode, name) in MODES {
            let (mut denied, mut codes) = (Vec::new(), BTreeMap::new());
            for (number, session) in sessions.iter().enumerate() {
                let turns = judge(&list(&case["contracts"]), session, mode);
                for (index, call) in turns.iter().flat_map(|turn| list(&turn["calls"])).enumerate() {
                    for reason in list(&call["codes"]) {
                        *codes.entry(reason["code"].as_str().unwrap().to_owned()).or_insert(0) += 1;
                    }
                    if call["decision"] == "deny" {
                        denied.push(json!([number, index]));
                    }
                }
            }
            let actual = json!({"denied": denied.len(), "calls": denied, "codes": codes});
            assert_eq!(actual, case[name], "{} {} {name}", case["file"], case["policy"]);
        }
    }
}

/// The properties say something only if the drawn pairs reach every branch often.
#[test]
fn the_generated_pairs_reach_every_code() {
    let mut runner = TestRunner::deterministic();
    let (mut calls, mut denied, mut turns, mut hidden, mut forbidden) = (0, 0, 0, 0, 0);
    let (mut codes, mut kinds) = (BTreeMap::<String, u32>::new(), BTreeMap::<&str, u32>::new());
    for _ in 0..2000 {
        let Pair { contracts, session } = generate::pairs().new_tree(&mut runner).unwrap().current();
        for (mode, _) in MODES {
            for turn in naive::evaluate(&contracts, &session, mode) {
                turns += 1;
                hidden += usize::from(turn["hidden"] != json!({}));
                forbidden += usize::from(turn["forbidden"] != json!([]));
                for call in list(&turn["calls"]) {
                    calls += 1;
                    denied += u32::from(call["decision"] == "deny");
                    for reason in list(&call["codes"]) {
                        *codes.entry(reason["code"].as_str().unwrap().to_owned()).or_default() += 1;
                    }
                    let governed = contracts.iter().find(|contract| contract["tool"] == call["tool"]);
                    for precondition in
                        governed.into_iter().flat_map(|contract| list(&contract["preconditions"]))
                    {
                        let met =
                            call["decision"] == "allow" && precondition["requires_prior_tool"].is_string();
                        let bound = met && precondition["resource"].is_object();
                        let checked =
                            met && precondition["with_output"].as_array().is_some_and(|o| !o.is_empty());
                        for (kind, holds) in [("prior", met), ("bound", bound), ("output", checked)] {
                            *kinds.entry(kind).or_default() += u32::from(holds);
                        }
                    }
                }
            }
        }
    }
    println!("{calls} calls, {denied} denied, {codes:?}; met by allowed calls: {kinds:?}");
    println!("{turns} turns, {hidden} with a hidden tool, {forbidden} with a forbidden one");
    assert!((calls / 5..calls * 4 / 5).contains(&denied), "{denied} of {calls} denied");
    let wanted = [
        "forbidden",
        "step_count_below",
        "prior_tool_missing",
        "resource_missing",
        "resource_unmatched",
        "prior_output_unmatched",
    ];
    for code in wanted {
        let times = codes.get(code).copied().unwrap_or_default();
        assert!(times * 100 > calls, "{code}: {times} of {calls} calls");
    }
    for (kind, times) in kinds {
        assert!(times * 100 > calls, "met {kind}: {times} of {calls} calls");
    }
}
