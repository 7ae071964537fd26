//! The known verdicts on recordings, through the program: those of the repository, which `tests/oracles/tau` wrote and
//! judged, and the real ones, where they are at hand.

mod diff;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use crate::cli::rulestep;
use crate::skipped::skipped;

/// Folders with recordings, each with the cases about them.
fn sources() -> Vec<(PathBuf, Vec<Value>)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let parsed = |cases: &str| -> Vec<Value> {
        let cases: Vec<Value> = serde_json::from_str(cases).unwrap();
        assert_eq!(cases.len(), 16);
        cases
    };
    let mut sources = vec![(root.join("tests/fixtures"), parsed(include_str!("../fixtures/tau/cases.json")))];
    let real = root.join("../shared/traces");
    if real.join("tau-bench").is_dir() {
        sources.push((real, parsed(include_str!("../conformance/tau_bench.json"))));
    } else {
        skipped("no recordings beside the project");
    }
    sources
}

#[test]
fn the_known_verdicts_on_recordings() {
    for (traces, case) in
        sources().iter().flat_map(|(traces, cases)| cases.iter().map(move |case| (traces, case)))
    {
        let policy = tempfile::tempdir().unwrap();
        for (number, contract) in case["contracts"].as_array().unwrap().iter().enumerate() {
            std::fs::write(policy.path().join(format!("{number:02}.json")), contract.to_string()).unwrap();
        }
        for mode in ["enforce", "shadow"] {
            let expected = &case[mode];
            let (denied, codes) = replayed(traces, case["file"].as_str().unwrap(), &policy, mode);
            let name = format!("{} {} {mode}", case["file"], case["policy"]);
            assert_eq!(denied.len() as u64, expected["denied"].as_u64().unwrap(), "{name}");
            assert_eq!(Value::from(denied), expected["calls"], "{name}");
            let expected: BTreeMap<String, u64> = serde_json::from_value(expected["codes"].clone()).unwrap();
            assert_eq!(codes, expected, "{name}");
        }
    }
}

/// The denied calls, as session and call index, and how often each code was found.
fn replayed(
    traces: &std::path::Path,
    file: &str,
    policy: &tempfile::TempDir,
    mode: &str,
) -> (Vec<Value>, BTreeMap<String, u64>) {
    let policy = policy.path().to_str().unwrap();
    let arguments = ["replay", file, "-p", policy, "--format", "json", "--mode", mode];
    let output = rulestep(traces, &arguments).output().unwrap();
    let (mut denied, mut codes) = (Vec::new(), BTreeMap::new());
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let session: Value = serde_json::from_str(line).unwrap();
        if session.get("totals").is_some() {
            continue;
        }
        let turns = session["turns"].as_array().unwrap();
        for call in turns.iter().flat_map(|turn| turn["calls"].as_array().unwrap()) {
            if call["decision"] == "deny" {
                denied.push(Value::from(vec![session["session"]["index"].clone(), call["index"].clone()]));
                for finding in call["findings"].as_array().unwrap() {
                    *codes.entry(finding["code"].as_str().unwrap().to_owned()).or_insert(0) += 1;
                }
            }
        }
    }
    assert_eq!(output.status.code(), Some(i32::from(!denied.is_empty())));
    (denied, codes)
}
