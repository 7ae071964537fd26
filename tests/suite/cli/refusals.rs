//! Results that are what a sequence policy tells the model: they count, and both readings are named.

use insta::assert_snapshot;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{folder, rulestep, run};

const POLICY: &str = r#"{"dialect": "sequence_policy", "id": "refunds", "limits": {
  "process_refund": {"maxPerSession": 2, "action": "deny", "reason": "correctness:idempotency",
    "tellLLM": "Refund limit reached (2/2). Don't retry."}}}"#;

/// Refunds with these results, each in a turn of its own.
fn recorded(results: &[Value]) -> TempDir {
    let mut messages = vec![json!({"role": "user", "content": "refund"})];
    for (place, result) in results.iter().enumerate() {
        let id = format!("c{place}");
        let call =
            json!({"id": id, "type": "function", "function": {"name": "process_refund", "arguments": "{}"}});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
    }
    let session = json!({"id": "s", "messages": messages}).to_string();
    let other = POLICY.replace("\"maxPerSession\": 2", "\"maxPerSession\": 3");
    folder(&[("p/policy.json", POLICY), ("base.json", &other), ("s.json", &session)])
}

/// Refused by a gate that answers in the policy's own words: as text, in a list of parts, with a line end.
fn gated() -> TempDir {
    let told = "Refund limit reached (2/2). Don't retry.";
    recorded(&[
        json!("ok"),
        json!(told),
        json!([{"type": "text", "text": told}]),
        json!(format!("{told}\n")),
        json!("ok"),
    ])
}

#[test]
fn both_readings_are_named() {
    assert_snapshot!(run(&gated(), &["replay", "s.json", "-p", "p"]));
}

#[test]
fn the_text_makes_a_refusal_with_the_option_that_is_advised() {
    let folder = gated();
    let advised = r"^Refund limit reached \(2/2\)\. Don't retry\.";
    let output = run(&folder, &["replay", "s.json", "-p", "p", "--refused-regex", advised]);
    assert!(!output.contains("refusal_counted"), "{output}");
    // Two refunds ran: the limit is not reached by those that were refused.
    assert!(output.starts_with("exit 0"), "{output}");
}

/// A result that only quotes the text, is longer, or is empty, is a result.
#[test]
fn another_result_is_no_refusal() {
    for result in [
        json!("Refund limit reached (2/2)."),
        json!("note: Refund limit reached (2/2). Don't retry."),
        json!({"error": "Refund limit reached (2/2). Don't retry."}),
        json!(""),
        json!(null),
        json!("[permission denied: policy]"),
    ] {
        let output = run(&recorded(&[result]), &["replay", "s.json", "-p", "p", "--full"]);
        assert!(!output.contains("refusal_counted"), "{output}");
    }
}

/// In text, as data, in a summary, redacted, and when two versions are compared.
#[test]
fn every_output_has_it() {
    let folder = gated();
    for arguments in [
        &["replay", "s.json", "-p", "p", "--summary"][..],
        &["replay", "s.json", "-p", "p", "--redact"],
        &["replay", "s.json", "-p", "p", "--redact", "--summary"],
        &["replay", "s.json", "-p", "p", "--mode", "shadow"],
        &["diff", "s.json", "-p", "p", "--base", "base.json"],
        &["diff", "s.json", "-p", "p", "--base", "base.json", "--redact"],
        &["diff", "s.json", "-p", "p", "--base", "recorded"],
        &["diff", "s.json", "-p", "p", "--base", "p"],
    ] {
        let output = run(&folder, arguments);
        assert_eq!(output.matches("notice[refusal_counted]").count(), 1, "{arguments:?}\n{output}");
        assert!(output.contains("3 results, the first of `process_refund` (turn 2 call 1)"), "{output}");
    }
    let quiet = run(&folder, &["replay", "-q", "s.json", "-p", "p"]);
    assert!(!quiet.contains("refusal_counted"), "{quiet}");
    for scope in ["--summary", "--full"] {
        let output = rulestep(folder.path(), &["replay", "s.json", "-p", "p", "--format", "json", scope])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let (session, totals) = (lines.next().unwrap(), lines.next().unwrap());
        let told = session["diagnostics"].as_array().unwrap();
        assert_eq!(told.len(), 1);
        assert_eq!((&told[0]["code"], &told[0]["severity"]), (&json!("refusal_counted"), &json!("notice")));
        assert_eq!(told[0]["source"]["file"], "s.json");
        assert_eq!(totals["totals"]["diagnostics"]["notices"], 1);
    }
}

/// A rule about the order of calls hears nothing of a call that was refused, and stops it all the same: then it had
/// something to decide.
#[test]
fn what_would_be_stopped_was_decided_about_though_it_never_ran() {
    let rules = r#"{"version": "1", "name": "x", "aliases": {"Nothing": []},
      "rules": [{"type": "sequence", "tools": ["Nothing", "refund"]}]}"#;
    let session = r#"{"id": "s", "messages": [
      {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "refund", "arguments": "{}"}}]},
      {"role": "tool", "tool_call_id": "a", "content": "no", "refused": true}]}"#;
    let folder = folder(&[("p.json", rules), ("s.json", session)]);
    let output = run(&folder, &["replay", "s.json", "-p", "p.json", "--mode", "shadow"]);
    assert!(output.starts_with("exit 1") && output.contains("1 would be denied"), "{output}");
    assert!(!output.contains("had anything to decide"), "{output}");
}
