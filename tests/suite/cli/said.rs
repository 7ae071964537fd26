//! What every report says of a call: its arguments, the rule by its name, the difference, what the model is told, the
//! calls that led to a halt.

use serde_json::{Value, json};

use super::{folder, refunds, rulestep, run};

/// Two calls whose long paths differ in one letter in the middle, and a pattern that is longer than a line.
const WRITES: &str = r#"{"id":"long","context":{"cwd":"/home/a/project","tier":{"n":1.50}},"now":"2026-05-04T10:00:00Z","messages":[
 {"role":"user","content":"\n  Please deploy\nsoon","at":"2026-05-04T09:00:00Z"},
 {"role":"assistant","at":"2026-05-04T09:00:01Z","tool_calls":[{"id":"a","function":{"name":"check","arguments":"{\"order\":\"HEAD1TAIL\",\"amount\":1.50}"}}]},
 {"role":"tool","tool_call_id":"a","content":"ok"},
 {"role":"assistant","tool_calls":[{"id":"b","function":{"name":"pay","arguments":"{\"note\":\"NOTE\",\"order\":\"HEAD2TAIL\",\"command\":\"make pay\"}"}}]},
 {"role":"tool","tool_call_id":"b","content":"ok"}]}"#;
const PAYS: &str = "tool: pay\npreconditions:\n  - requires_prior_tool: check\n    resource: {bind_from: arguments, path: $.order}\n";

fn long() -> tempfile::TempDir {
    let session = WRITES.replace("HEAD", &"h".repeat(120)).replace("TAIL", &"t".repeat(120));
    let session = session.replace("NOTE", &"n".repeat(900)).replace('\n', " ");
    folder(&[("s.jsonl", &session), ("contracts/pay.yaml", PAYS)])
}

fn data(folder: &tempfile::TempDir, arguments: &[&str]) -> Vec<Value> {
    let output = rulestep(folder.path(), arguments).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_call_is_shown_with_what_tells_most() {
    let text = run(&long(), &["replay", "s.jsonl"]);
    let arguments = text.lines().find(|line| line.contains("arguments")).unwrap();
    assert!(arguments.contains(r#"arguments command: "make pay", "#), "{arguments}");
    assert!(arguments.chars().count() < 120, "{arguments}");
    for (format, call) in [
        ("text", "pay(command: \"make pay\""),
        ("junit", "pay(command: &quot;make pay&quot;"),
        ("markdown", "pay(command: \"make pay\""),
    ] {
        let changes = run(&long(), &["diff", "s.jsonl", "--base", "recorded", "--format", format]);
        assert!(changes.contains(call), "{changes}");
        assert!(changes.contains("check before pay"), "the rule's name: {changes}");
    }
}

#[test]
fn the_data_has_the_call_and_its_session_as_recorded() {
    let folder = long();
    let line = data(&folder, &["replay", "s.jsonl", "--format", "json"]).remove(0);
    assert_eq!(line["schema"], "rulestep.replay/2");
    let session =
        json!({"title": "Please deploy", "at": "2026-05-04T09:00:00Z", "project": "/home/a/project"});
    for (key, value) in session.as_object().unwrap() {
        assert_eq!(line["session"][key], *value);
    }
    assert_eq!(line["session"]["context"]["tier"].to_string(), r#"{"n":1.50}"#);
    let call = &line["turns"][0]["calls"][0];
    assert_eq!(call["arguments"]["amount"].to_string(), "1.50");
    assert_eq!((&call["at"], &call["told"]), (&json!("2026-05-04T09:00:01Z"), &Value::Null));
    assert_eq!(line["turns"][1]["calls"][0]["told"], "[permission denied: resource_unmatched]");
    let change = data(&folder, &["diff", "s.jsonl", "--base", "recorded", "--format", "json"]).remove(0);
    assert_eq!((&change["schema"], &change["session"]), (&json!("rulestep.diff/2"), &line["session"]));
    assert_eq!(change["changes"][0]["arguments"], line["turns"][1]["calls"][0]["arguments"]);
    assert_eq!(change["changes"][0]["rule_name"], "check before pay");
}

#[test]
fn arguments_that_are_not_json_are_text_and_missing_ones_are_null() {
    let folder = folder(&[
        (
            "s.jsonl",
            r#"{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"a","arguments":"rm -rf"}},{"function":{"name":"b","arguments":"[1,2.50]"}},{"function":{"name":"c"}}]}]}"#,
        ),
        ("contracts/pay.yaml", PAYS),
    ]);
    let line = data(&folder, &["replay", "s.jsonl", "--format", "json"]).remove(0);
    let arguments: Vec<String> = line["turns"][0]["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call["arguments"].to_string())
        .collect();
    assert_eq!(arguments, [r#""rm -rf""#, "[1,2.50]", "null"]);
}

#[test]
fn two_long_values_are_cut_so_that_they_differ_and_explain_cuts_nothing() {
    let folder = long();
    let text = run(&folder, &["replay", "s.jsonl"]);
    let because = text.lines().find(|line| line.contains("because")).unwrap();
    assert!(because.contains("hhh1ttt") && because.contains("hhh2ttt"), "{because}");
    let text = run(&folder, &["explain", "--at", "long:2.1", "s.jsonl"]);
    for whole in
        ["h".repeat(120) + "1" + &"t".repeat(120), "h".repeat(120) + "2" + &"t".repeat(120), "n".repeat(900)]
    {
        assert!(text.contains(&whole), "{text}");
    }
    assert!(!text.contains('…'), "{text}");
}

#[test]
fn a_session_alone_lists_its_findings_by_the_names_of_its_calls() {
    let folder = refunds();
    let text = run(&folder, &["explain", "--at", "refund-124", "sessions"]);
    assert!(text.contains("  refund-124:2.1  issue_refund  denied\n"), "{text}");
    assert!(text.contains("Eligibility must be checked for the same order"), "{text}");
    let call = run(&folder, &["explain", "--at", "refund-124:2.1", "sessions"]);
    assert!(call.starts_with("exit 0") && call.contains("resource_unmatched"), "{call}");
    let line = data(&folder, &["explain", "--at", "refund-124", "sessions", "--format", "json"]).remove(0);
    let calls: Vec<&Value> = line["calls"].as_array().unwrap().iter().map(|call| &call["index"]).collect();
    assert_eq!(calls, [2]);
    let clean = run(&folder, &["explain", "--at", "clean", "sessions"]);
    assert!(clean.contains("no rule found anything against a call"), "{clean}");
}

/// Each dialect's own message, and none for a call that may run.
#[test]
fn the_message_to_the_model_is_data_in_every_dialect() {
    let cases = [
        ("{tool: a, preconditions: [{requires_prior_tool: b}]}", "[permission denied: prior_tool_missing]"),
        ("{id: x, forbidden: [{sequence: [a], action: deny, reason: r, tellLLM: Not a.}]}", "Not a."),
        (
            "{id: x, limits: {a: {maxPerSession: 0, action: halt, reason: r}}}",
            "Tool 'a' is not available in this context.",
        ),
        (
            "{policies: [{type: sequential_dependency, dependencies: {a: [b]}}], sections: [{id: s, tools: [a, b]}]}",
            "Tool 'a' requires: b",
        ),
        (
            "{tool: a, rejectionPlan: {conditions: [{type: regex, regex: go, target: {role: user}}]}}",
            "Tool call rejected based on configured rejection plan",
        ),
        ("{rules: [{type: blocklist, tools: [a]}]}", "[permission denied: blocklisted]"),
    ];
    let session = r#"{"id":"s","messages":[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"c","arguments":"{}"}},{"id":"2","function":{"name":"a","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"x"},{"role":"tool","tool_call_id":"2","content":"x"}]}"#;
    for (policy, told) in cases {
        let folder = folder(&[("s.jsonl", session), ("contracts/p.yaml", policy)]);
        let line = data(&folder, &["replay", "s.jsonl", "--format", "json"]).remove(0);
        let calls = &line["turns"][0]["calls"];
        assert_eq!((&calls[0]["told"], &calls[1]["told"]), (&Value::Null, &json!(told)), "{policy}");
        let explained = data(&folder, &["explain", "--at", "s:1.2", "s.jsonl", "--format", "json"]).remove(0);
        assert_eq!(explained["call"]["told"], told, "{policy}");
        assert!(run(&folder, &["replay", "s.jsonl"]).contains(&format!("to model  {told}\n")), "{policy}");
    }
}

#[test]
fn a_halt_names_the_calls_that_led_to_it() {
    let session = r#"{"id":"s","messages":[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"read","arguments":"{\"path\":\"/etc/passwd\"}"}}]},{"role":"tool","tool_call_id":"1","content":"x"},{"role":"assistant","tool_calls":[{"id":"2","function":{"name":"mail.send","arguments":"{\"to\":\"x@y\"}"}}]},{"role":"tool","tool_call_id":"2","content":"x"}]}"#;
    let policy = "forbidden: [{sequence: [read, {namePrefix: mail.}], action: halt, reason: security:x}]";
    let folder = folder(&[("s.jsonl", session), ("contracts/p.yaml", policy)]);
    let line = data(&folder, &["replay", "s.jsonl", "--format", "json"]).remove(0);
    let sequence = json!([
        {"turn": 1, "call": 1, "index": 0, "tool": "read", "arguments": {"path": "/etc/passwd"}},
        {"turn": 2, "call": 1, "index": 1, "tool": "mail.send", "arguments": {"to": "x@y"}},
    ]);
    assert_eq!(line["halt"]["sequence"], sequence);
    let text = run(&folder, &["replay", "s.jsonl"]);
    assert!(text.contains("sequence  1.1 read(path: \"/etc/passwd\")\n"), "{text}");
    assert!(text.contains("          2.1 mail.send(to: \"x@y\")\n"), "{text}");
}

/// Objects with several reasons, several calls and a `true`: nothing behind the first is lost.
#[test]
fn lists_and_flags_of_the_data_are_whole() {
    let call = |id: &str, tool: &str, arguments: &str, result: &str| {
        let call = json!({"id": id, "function": {"name": tool, "arguments": arguments}});
        [
            json!({"role": "assistant", "tool_calls": [call]}),
            json!({"role": "tool", "tool_call_id": id, "content": result}),
        ]
    };
    let messages: Vec<Value> = [
        call("1", "check", r#"{"id":"a"}"#, r#"{"ok":true}"#),
        call("2", "check", r#"{"id":"a"}"#, r#"{"ok":false}"#),
        call("3", "check", r#"{"id":"b"}"#, r#"{"ok":true}"#),
        call("4", "pay", r#"{"id":"a"}"#, "paid"),
        call("5", "pay", r#"{"id":"c"}"#, "paid"),
    ]
    .concat();
    let session = json!({"id": "s", "tools": [{"name": "void"}, {"name": "pay"}], "messages": messages});
    let folder = folder(&[
        ("s.jsonl", &session.to_string()),
        (
            "contracts/pay.yaml",
            "tool: pay\npreconditions:\n  - requires_prior_tool: check\n    resource: {bind_from: arguments, path: $.id}\n    with_output: [{path: $.ok, equals: true}]\n",
        ),
        (
            "contracts/void.yaml",
            "{tool: void, preconditions: [{requires_prior_tool: x}, {requires_prior_tool: y}]}",
        ),
        ("contracts/rules.yaml", "rules: [{type: blocklist, tools: [pay]}]"),
    ]);
    let line = data(&folder, &["replay", "s.jsonl", "--format", "json", "--full"]).remove(0);
    let reasons = line["turns"][0]["tools"]["hidden"][0]["reasons"].as_array().unwrap();
    let rules: Vec<&str> = reasons.iter().map(|reason| reason["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, ["contracts/void.yaml#/preconditions/0", "contracts/void.yaml#/preconditions/1"]);
    let (denied, later) = (&line["turns"][3]["calls"][0], &line["turns"][4]["calls"][0]);
    assert_eq!((&denied["counterfactual"], &later["counterfactual"]), (&json!(false), &json!(true)));
    assert_eq!(denied["checks"][0]["detail"]["other_reading"], true);
    let codes: Vec<_> = denied["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, ["prior_output_unmatched", "blocklisted"]);
    let found = later["findings"][0]["found"].as_array().unwrap();
    assert!(found.len() > 1, "{later}");
}
