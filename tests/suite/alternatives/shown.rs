//! Choices that were not taken, as the program shows them.

use insta::assert_snapshot;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{REFUNDS, call, exchange, refund_not_taken, says};
use crate::cli::{folder, rulestep, run};

fn refunds() -> TempDir {
    folder(&[("contracts/refund.yaml", REFUNDS), ("log.json", &refund_not_taken().to_string())])
}

fn judged(folder: &TempDir, arguments: &[&str]) -> Value {
    let output = rulestep(folder.path(), arguments).output().unwrap();
    // What closes the output stands on a line after it.
    let line = output.stdout.split(|byte| *byte == b'\n').next().unwrap();
    serde_json::from_slice(line).unwrap()
}

#[test]
fn a_denial_among_them_is_shown_and_makes_the_exit_1() {
    assert_snapshot!(run(&refunds(), &["replay", "log.json"]));
}

#[test]
fn with_every_check() {
    assert_snapshot!(run(&refunds(), &["replay", "log.json", "--full"]));
}

#[test]
fn a_summary_counts_them() {
    assert_snapshot!(run(&refunds(), &["replay", "log.json", "--summary"]));
}

#[test]
fn one_of_their_calls_explained() {
    assert_snapshot!(run(&refunds(), &["explain", "--at", "log:1.2.2", "log.json"]));
    assert_snapshot!(run(&refunds(), &["explain", "--at", "log:1.3.1", "log.json"]));
}

#[test]
fn as_data() {
    let folder = refunds();
    let line = judged(&folder, &["replay", "log.json", "--format", "json"]);
    assert_eq!(line["status"], "stopped");
    assert_eq!(
        (&line["summary"]["alternatives"], &line["summary"]["alternatives_stopped"]),
        (&2.into(), &1.into())
    );
    let others = line["turns"][0]["alternatives"].as_array().unwrap();
    let fields: Vec<_> = others
        .iter()
        .map(|call| {
            assert!(call["recorded"].is_null() && call["agrees"].is_null());
            (
                call["choice"].as_u64(),
                call["chosen"].as_bool(),
                call["decision"].as_str(),
                call["findings"][0]["code"].as_str(),
            )
        })
        .collect();
    assert_eq!(
        fields,
        [
            (Some(2), Some(false), Some("allow"), None),
            (Some(2), Some(false), Some("deny"), Some("prior_tool_missing"))
        ]
    );
    let taken = judged(&crate::cli::refunds(), &["replay", "sessions/a.json", "--format", "json"]);
    assert_eq!(taken["turns"][0]["calls"][0]["chosen"], true);
    let explained = judged(&folder, &["explain", "--at", "log:1.2.2", "log.json", "--format", "json"]);
    assert_eq!((&explained["call"]["chosen"], &explained["call"]["choice"]), (&false.into(), &2.into()));
}

#[test]
fn convert_keeps_them() {
    let folder = refunds();
    let native = rulestep(folder.path(), &["convert", "log.json"]).output().unwrap().stdout;
    std::fs::write(folder.path().join("native.json"), native).unwrap();
    let before = judged(&folder, &["replay", "log.json", "--format", "json"]);
    let after = judged(&folder, &["replay", "native.json", "--format", "json"]);
    assert_eq!(before["turns"], after["turns"]);
}

/// What happened after a refund that the policy stops is no evidence for it: of the turn itself it is, of later ones not.
#[test]
fn what_rests_on_a_stopped_call_is_marked_as_counterfactual() {
    let user = json!({"role": "user", "content": "a refund, please"});
    let refunds = says(Value::Null, &[call("a", "issue_refund"), call("b", "issue_refund")]);
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "{}"});
    let sent = [user.clone(), refunds.clone(), result("a"), result("b")];
    let other = says(Value::Null, &[call("d", "issue_refund")]);
    let again = says(Value::Null, &[call("c", "issue_refund")]);
    let log = [
        exchange(&[user], &[refunds, says(json!("No."), &[call("e", "issue_refund")])]),
        exchange(&sent, &[again, other]),
    ];
    let log: String = log.iter().map(|line| format!("{line}\n")).collect();
    let folder = folder(&[("contracts/refund.yaml", REFUNDS), ("log.jsonl", &log)]);
    let line = judged(&folder, &["replay", "log.jsonl", "--format", "json"]);
    let marks = |turn: usize, key: &str| -> Vec<_> {
        let calls = line["turns"][turn][key].as_array().unwrap().iter();
        calls
            .map(|call| (call["decision"].as_str().unwrap(), call["counterfactual"].as_bool().unwrap()))
            .collect()
    };
    assert_eq!(marks(0, "calls"), [("deny", false), ("deny", false)]);
    assert_eq!(marks(0, "alternatives"), [("deny", false)]);
    assert_eq!((marks(1, "calls"), marks(1, "alternatives")), (vec![("deny", true)], vec![("deny", true)]));
    assert_eq!(line["summary"]["deny_counterfactual"], 1);
}
