//! Properties of the contracts dialect, held against an evaluator that shares nothing with the engine.

#[cfg(test)]
#[path = "property/generate.rs"]
mod generate;
#[cfg(test)]
#[path = "property/naive.rs"]
mod naive;

use std::collections::BTreeMap;

use generate::Pair;
use naive::Mode;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

const MODES: [(Mode, &str); 2] = [(Mode::Enforce, "enforce"), (Mode::Shadow, "shadow")];

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// The turns that differ, at most three of them, a line for each side of each key.
fn differences(expected: &[Value], actual: &[Value]) -> String {
    let mut text = format!("{} turns expected, {} given\n", expected.len(), actual.len());
    let turns = expected.iter().zip(actual).enumerate().filter(|(_, (expected, actual))| expected != actual);
    for (turn, (expected, actual)) in turns.take(3) {
        for key in
            ["visible", "hidden", "forbidden", "calls"].iter().filter(|key| expected[**key] != actual[**key])
        {
            text += &format!(
                "turn {} {key}\n  expected {}\n  actual   {}\n",
                turn + 1,
                expected[*key],
                actual[*key]
            );
        }
    }
    text
}

#[test]
fn the_oracle_meets_every_contract_case() {
    let cases: Vec<Value> = include_str!("conformance/contracts.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(cases.len(), 300);
    let mut failures = Vec::new();
    for case in &cases {
        for (mode, name) in MODES {
            let expected = list(&case["expect"][name]);
            let actual = naive::evaluate(&list(&case["contracts"]), &case["session"], mode);
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
    json!({"messages": messages})
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
fn the_oracle_meets_the_real_sessions() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/traces");
    if !folder.is_dir() {
        println!("skipped: no recorded sessions beside the checkout");
        return;
    }
    let cases: Vec<Value> = serde_json::from_str(include_str!("conformance/tau_bench.json")).unwrap();
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
                let turns = naive::evaluate(&list(&case["contracts"]), session, mode);
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

/// Something that judges a session in the shape of [`naive::evaluate`].
type Judge = fn(&[Value], &Value, Mode) -> Vec<Value>;

/// As many cases as `PROPTEST_CASES` says, else `usual`.
fn config(usual: u32) -> ProptestConfig {
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = usual;
    }
    config
}

/// What the first call of a turn would be told, by code and precondition.
fn first_call(
    judge: Judge,
    pair: &Pair,
    mode: Mode,
    turn: usize,
    tool: &str,
    arguments: &Value,
) -> Vec<Value> {
    let asked = naive::with_first_call(&pair.session, turn, tool, arguments);
    list(&judge(&pair.contracts, &asked, mode)[turn - 1]["calls"][0]["codes"])
}

/// "hides a tool when one rule alone refuses it for every argument": a hidden tool is denied as the turn's first call
/// whatever its arguments, for the reasons narrowing gave; for each rule of a visible one there are arguments that
/// the rule lets pass.
fn narrowing_is_exact(
    judge: Judge,
    pair: &Pair,
    mode: Mode,
    turn: usize,
    drawn: &[Value],
) -> Result<(), TestCaseError> {
    let narrowed = judge(&pair.contracts, &pair.session, mode).swap_remove(turn - 1);
    let candidates = |tool: &str| {
        let bindable = naive::bindable_values(&pair.contracts, &pair.session, tool);
        let mut candidates: Vec<Value> =
            bindable.iter().map(|(path, value)| generate::arguments_with(path, value)).collect();
        candidates.extend_from_slice(drawn);
        candidates.dedup();
        candidates
    };
    for (tool, reasons) in narrowed["hidden"].as_object().unwrap() {
        for arguments in candidates(tool) {
            let codes = first_call(judge, pair, mode, turn, tool, &arguments);
            for reason in list(reasons) {
                // Other arguments may meet an earlier obstacle of the same precondition (no value at the path).
                let same = |code: &Value| code["precondition"] == reason["precondition"];
                prop_assert!(
                    codes.iter().any(same),
                    "{tool} hidden for {reason}, yet {arguments} give {codes:?}"
                );
            }
        }
    }
    for tool in naive::strings(&narrowed["visible"]) {
        let governed = pair.contracts.iter().find(|contract| contract["tool"] == tool);
        let rules = governed.map_or(0, |contract| list(&contract["preconditions"]).len());
        let mut never_passed: Vec<usize> = (0..rules).collect();
        for arguments in candidates(&tool) {
            let codes = first_call(judge, pair, mode, turn, &tool, &arguments);
            prop_assert!(
                codes.iter().all(|code| code["code"] != "forbidden"),
                "{tool} is visible and forbidden"
            );
            never_passed.retain(|rule| codes.iter().any(|code| code["precondition"] == *rule));
            if never_passed.is_empty() {
                break;
            }
        }
        prop_assert!(never_passed.is_empty(), "{tool} is visible, yet {never_passed:?} refuse all arguments");
    }
    Ok(())
}

/// A pair, one of its turns, and arguments that nothing in it suggests.
fn questions() -> impl Strategy<Value = (Pair, usize, Vec<Value>)> {
    let arguments = proptest::collection::vec(generate::record(), 3);
    (generate::pairs(), any::<proptest::sample::Index>(), arguments).prop_map(|(pair, index, arguments)| {
        let turns = naive::evaluate(&pair.contracts, &pair.session, Mode::Shadow).len();
        let turn = index.index(turns) + 1;
        (pair, turn, arguments)
    })
}

proptest! {
    #![proptest_config(config(128))]

    #[test]
    fn the_oracle_narrows_exactly((pair, turn, arguments) in questions()) {
        for (mode, _) in MODES {
            narrowing_is_exact(naive::evaluate, &pair, mode, turn, &arguments)?;
        }
    }
}
