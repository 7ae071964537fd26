//! `replay --format json`, key by key.

use serde_json::Value;

use super::{folder, refunds, rulestep, run};

/// The lines of a run, read as JSON. serde_json keeps the order of keys and the digits of numbers.
fn lines(folder: &tempfile::TempDir, arguments: &[&str]) -> Vec<Value> {
    let output = rulestep(folder.path(), arguments).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn a_session_is_this_object() {
    let folder = refunds();
    let output =
        rulestep(folder.path(), &["replay", "sessions/a.json", "--format", "json"]).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(1), b"".as_slice()));
    let told = String::from_utf8(output.stdout).unwrap();
    let line = told.lines().next().unwrap();
    let digest = line.split("\"digest\":\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(digest.starts_with("sha256:") && digest.len() == 71, "{digest}");
    let expected = r##"
        {"schema":"rulestep.replay/2","mode":"enforce",
        "session":{"id":"refund-124","file":"sessions/a.json","index":0,"format":"native","title":"Please refund ORD-124","at":null,"project":null,"context":null},
        "policy":{"digest":"DIGEST","documents":["contracts/close_case.yaml","contracts/issue_refund.yaml"]},
        "turns":[
        {"turn":1,"tools":{"inferred":false,"visible":["check_eligibility","void_order"],"hidden":[]},
        "forbidden":[],
        "calls":[
        {"turn":1,"call":1,"index":0,"id":"c1","tool":"check_eligibility","arguments":{"order_id":"ORD-123"},"at":null,
        "chosen":true,"recorded":"ok","decision":"allow","agrees":true,"counterfactual":false,"told":null,"findings":[]},
        {"turn":1,"call":2,"index":1,"id":"c2","tool":"close_case","arguments":{},"at":null,
        "chosen":true,"recorded":"ok","decision":"allow","agrees":true,"counterfactual":false,"told":null,"findings":[]}]},
        {"turn":2,"tools":{"inferred":false,"visible":["check_eligibility"],
        "hidden":[{"tool":"void_order","reasons":[{"rule":"contracts/close_case.yaml#/forbids_after/1","rule_name":"no void_order after close_case","code":"forbidden"}]}]},
        "forbidden":[
        {"tool":"close_case","since":{"turn":1,"call":2,"index":1},"rule":"contracts/close_case.yaml#/forbids_after/0"},
        {"tool":"void_order","since":{"turn":1,"call":2,"index":1},"rule":"contracts/close_case.yaml#/forbids_after/1"}],
        "calls":[{"turn":2,"call":1,"index":2,"id":"c3","tool":"issue_refund","arguments":{"order_id":"ORD-124"},"at":null,
        "chosen":true,"recorded":"ok","decision":"deny","agrees":false,"counterfactual":false,"told":"[permission denied: resource_unmatched]",
        "findings":[{"dialect":"contract","rule":"contracts/issue_refund.yaml#/preconditions/0","rule_name":"Eligibility must be checked for the same order","test":null,
        "code":"resource_unmatched","effect":"deny",
        "message":"check_eligibility ran for order_id \"ORD-123\", not \"ORD-124\"",
        "description":"Eligibility must be checked for the same order",
        "source":{"file":"contracts/issue_refund.yaml","line":3,"column":5},
        "checked":{"path":"$.order_id","value":"ORD-124"},
        "found":[{"turn":1,"call":1,"index":0,"value":"ORD-123"}],
        "reason":null,"tell_llm":null}]}]}],
        "rules":[],
        "halt":null,"status":"stopped",
        "summary":{"turns":2,"calls":3,"allow":2,"deny":1,"halt":0,"not_reached":0,"deny_counterfactual":0,"disagree":1}}"##;
    let expected: String = expected.lines().map(str::trim_start).collect();
    assert_eq!(line.trim_end(), expected.replace("DIGEST", digest));
}

#[test]
fn full_adds_preconditions_state_and_checks() {
    let folder = refunds();
    let line = lines(&folder, &["replay", "sessions/a.json", "--format", "json", "--full"]).remove(0);
    assert_eq!(
        keys(&line),
        ["schema", "mode", "session", "policy", "turns", "state_end", "rules", "halt", "status", "summary"]
    );
    let turn = &line["turns"][1];
    assert_eq!(keys(turn), ["turn", "tools", "forbidden", "preconditions", "state", "calls"]);
    assert_eq!(
        turn["preconditions"].to_string(),
        r#"[{"rule":"contracts/issue_refund.yaml#/preconditions/0","tool":"issue_refund","satisfied":true,"code":null,"by":[{"turn":1,"call":1,"index":0}]}]"#
    );
    let checks = &turn["calls"][0]["checks"];
    assert_eq!(checks.as_array().unwrap().len(), 1);
    assert_eq!(
        keys(&checks[0]),
        ["dialect", "rule", "rule_name", "test", "passed", "code", "message", "checked", "found", "detail"]
    );
    assert_eq!(checks[0]["passed"], Value::Bool(false));
    assert_eq!(line["turns"][0]["preconditions"][0]["code"], "prior_tool_missing");
}

#[test]
fn summary_keeps_what_a_session_comes_to() {
    let folder = refunds();
    let whole = lines(&folder, &["replay", "sessions", "--format", "json"]);
    let short = lines(&folder, &["replay", "sessions", "--format", "json", "--summary"]);
    assert_eq!(short.len(), 3);
    for (whole, short) in whole.iter().zip(&short) {
        if short.get("totals").is_none() {
            let kept = ["schema", "mode", "session", "policy", "rules", "halt", "status", "summary"];
            assert_eq!(keys(short), kept);
        }
        for key in keys(short) {
            assert_eq!(whole[key], short[key], "{key}");
        }
    }
}

#[test]
fn recorded_numbers_keep_their_digits() {
    let session = r#"{"id": "n", "messages": [
      {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "check", "arguments": "{\"id\": 9007199254740993.10}"}}]},
      {"role": "tool", "tool_call_id": "1", "content": "{}"},
      {"role": "assistant", "tool_calls": [{"id": "2", "function": {"name": "pay", "arguments": "{\"id\": 1e400}"}}]}]}"#;
    let policy = "tool: pay\npreconditions:\n  - requires_prior_tool: check\n    resource: {bind_from: arguments, path: $.id}\n";
    let folder = folder(&[("s.json", session), ("p.yaml", policy)]);
    let seen = run(&folder, &["replay", "s.json", "-p", "p.yaml", "--format", "json"]);
    // serde_json writes the sign of an exponent out; the digits stay.
    assert!(seen.contains(r#""checked":{"path":"$.id","value":1e+400}"#), "{seen}");
    assert!(seen.contains(r#""value":9007199254740993.10}"#), "{seen}");
}

#[test]
fn a_session_of_many_turns_is_written_whole_and_in_order() {
    let mut messages = Vec::new();
    for turn in 0..300 {
        messages.push(format!(
            r#"{{"role": "assistant", "tool_calls": [{{"id": "c{turn}", "function": {{"name": "t{}", "arguments": "{{}}"}}}}]}}"#,
            turn % 3
        ));
        messages.push(format!(r#"{{"role": "tool", "tool_call_id": "c{turn}", "content": "1"}}"#));
    }
    let session = format!(r#"{{"messages": [{}]}}"#, messages.join(","));
    let folder = folder(&[("s.json", &session), ("p.yaml", "tool: t0\nforbids_after: [t1]\n")]);
    let line = lines(&folder, &["replay", "s.json", "-p", "p.yaml", "--format", "json"]).remove(0);
    let turns = line["turns"].as_array().unwrap();
    assert!(turns.iter().enumerate().all(|(at, turn)| turn["turn"] == at + 1));
    assert_eq!(turns.len(), 300);
    assert_eq!(line["summary"]["deny"], 100);
    assert_eq!(turns[0]["tools"].to_string(), r#"{"inferred":true,"visible":["t0","t1","t2"],"hidden":[]}"#);
}
