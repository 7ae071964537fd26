//! Cases about calls of choices that were not taken, and what compares them.

use serde_json::Value;

use super::{REFUNDS, refund_not_taken};
use crate::cli::{folder, rulestep};

/// Under it the refund of the other choice is allowed.
const ALLOWED: &str = "tool: issue_refund\nforbids_after: [issue_refund]\n";

fn output(folder: &tempfile::TempDir, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = rulestep(folder.path(), arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn folders() -> tempfile::TempDir {
    let log = refund_not_taken().to_string();
    folder(&[("v1/refund.yaml", ALLOWED), ("v2/refund.yaml", REFUNDS), ("log.json", &log)])
}

#[test]
fn an_expectation_names_one() {
    let case = |place: &str, decision: &str| {
        format!(
            "policy: v2\nsession: {{file: log.json}}\nexpect: {{call: {place}, tool: issue_refund, decision: {decision}}}\n"
        )
    };
    for (place, decision, exit, said) in [
        ("1.2.2", "deny", 0, "1 as expected"),
        ("1.2.2", "allow", 1, "turn 1 choice 2 call 2"),
        ("1.2.3", "deny", 1, "choice 2 of turn 1 has 2 calls"),
        ("1.3.1", "deny", 1, "besides the one that was taken"),
        ("1.2.2.1", "deny", 2, "a call is named by its turn"),
    ] {
        let folder = folders();
        std::fs::write(folder.path().join("a.case.yaml"), case(place, decision)).unwrap();
        let (code, out, err) = output(&folder, &["test", "a.case.yaml"]);
        assert_eq!(code, Some(exit), "{place} {decision}\n{out}{err}");
        assert!(format!("{out}{err}").contains(said), "{place} {decision}\n{out}{err}");
    }
}

#[test]
fn a_minimal_example_of_one_is_saved_and_passes() {
    let folder = folders();
    let diff = ["diff", "log.json", "-b", "v1", "-p", "v2", "--witness", "cases"];
    let (code, out, err) = output(&folder, &diff);
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(err.contains("1 case saved in cases"), "{err}");
    let saved: Vec<_> =
        std::fs::read_dir(folder.path().join("cases")).unwrap().map(|file| file.unwrap().path()).collect();
    let [case] = saved.as_slice() else { panic!("{saved:?}") };
    assert!(case.to_string_lossy().ends_with("1_2_2.case.yaml"), "{case:?}");
    let text = std::fs::read_to_string(case).unwrap();
    assert!(
        text.contains("{call: 1.2.2, tool: issue_refund, decision: deny, code: prior_tool_missing"),
        "{text}"
    );
    let (code, out, err) = output(&folder, &["test", "cases"]);
    assert_eq!(code, Some(0), "{out}{err}");
    // It fails under the version that allows it.
    std::fs::write(folder.path().join("v2/refund.yaml"), ALLOWED).unwrap();
    assert_eq!(output(&folder, &["test", "cases"]).0, Some(1));
}

#[test]
fn a_changed_one_has_its_findings_and_arguments() {
    let (_, out, _) =
        output(&folders(), &["diff", "log.json", "-b", "v1", "-p", "v2", "--full", "--format", "json"]);
    let line: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    let changes = line["changes"].as_array().unwrap();
    let change = changes.iter().find(|change| change["choice"] == 2).unwrap();
    assert_eq!(change["findings"]["new"][0]["code"], "prior_tool_missing");
    assert_eq!(change["findings"]["base"], serde_json::json!([]));
    assert!(change["arguments"].is_object());
}

#[test]
fn a_recording_is_not_compared_about_them_and_that_is_said() {
    let (code, _, err) = output(&folders(), &["diff", "log.json", "-b", "recorded", "-p", "v2"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("not compared: 2 calls of choices that were not taken"), "{err}");
}

#[test]
fn the_findings_of_a_session_include_theirs() {
    let (code, out, err) =
        output(&folders(), &["explain", "--at", "log", "-p", "v2", "log.json", "--format", "json"]);
    assert_eq!(code, Some(0), "{err}");
    let line: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    let calls = line["calls"].as_array().unwrap();
    assert_eq!(calls.len(), 1, "{out}");
    assert_eq!(
        (&calls[0]["choice"], &calls[0]["chosen"], &calls[0]["call"]),
        (&2.into(), &false.into(), &2.into())
    );
}
