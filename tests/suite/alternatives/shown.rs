//! Choices that were not taken, as the program shows them.

use insta::assert_snapshot;
use serde_json::Value;
use tempfile::TempDir;

use super::{REFUNDS, refund_not_taken};
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
