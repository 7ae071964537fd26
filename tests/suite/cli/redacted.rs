//! `--redact`: no recorded value is shown that no rule looks at, and everything is decided as before.

use std::path::Path;

use serde_json::Value;

use super::{folder, rulestep, run};

/// A secret in every place where a recording may hold one, beside values that some rules look at.
const SESSION: &str = r#"{"id":"s","context":{"tier":"gold","cwd":"/SECRET","deep":{"a":"SECRET","b":"kept-b"}},"variables":{"plan":"kept-plan","card":"SECRET"},"files":["src/kept.rs"],"messages":[
{"role":"system","content":"SECRET system"},
{"role":"user","content":"SECRET first"},
{"role":"user","content":[{"type":"text","text":"SECRET part"}]},
{"role":"assistant","content":"SECRET thought","tool_calls":[{"id":"1","function":{"name":"check","arguments":"{\"order\":{\"id\":\"kept-1\",\"card\":\"SECRET\"},\"n\":4242424242}"}}]},
{"role":"tool","tool_call_id":"1","content":"{\"eligible\":true,\"owner\":\"SECRET\",\"list\":[\"SECRET\",4242424242]}"},
{"role":"assistant","tool_calls":[{"id":"2","function":{"name":"write_file","arguments":"{\"path\":\"src/kept.rs\",\"content\":\"SECRET\"}"}}]},
{"role":"tool","tool_call_id":"2","content":"SECRET result"},
{"role":"assistant","tool_calls":[{"id":"3","function":{"name":"pay","arguments":"{\"order\":{\"id\":\"kept-2\",\"card\":\"SECRET\"},\"note\":\"kept-note\"}"}}]},
{"role":"tool","tool_call_id":"3","content":[{"type":"text","text":"SECRET"}]},
{"role":"tool","tool_call_id":"nobody","content":"SECRET"},
{"role":"assistant","tool_calls":[{"id":"4","function":{"name":"pay","arguments":"SECRET not json"}}]}]}"#;
const CONTRACT: &str = "tool: pay\npreconditions:\n  - requires_prior_tool: check\n    resource: {bind_from: arguments, path: $.order.id}\n    with_output: [{path: $.eligible, equals: true}]\n";
const FILES: &str = "policies: [{type: read_before_write}]\n";
const RULES: &str = "rules:\n  - {type: never_after, trigger: check, forbidden: {tool: pay, args_match: {note: kept}}, when: {context.tier: gold, context.deep.b: kept-b}}\n";
const PLAN: &str = "tool: pay\nrejectionPlan: {conditions: [{type: liquid, liquid: \"{% if plan == 'kept-plan' %}true{% else %}false{% endif %}\"}]}\n";

fn secrets() -> tempfile::TempDir {
    folder(&[
        ("s.jsonl", &SESSION.replace('\n', "")),
        ("contracts/pay.yaml", CONTRACT),
        ("contracts/files.yaml", FILES),
        ("contracts/rules.yaml", RULES),
        ("contracts/plan.yaml", PLAN),
    ])
}

#[test]
fn what_no_rule_looks_at_is_in_no_output() {
    let folder = secrets();
    let commands: &[&[&str]] = &[
        &["replay", "s.jsonl", "--redact"],
        &["replay", "s.jsonl", "--redact", "--full"],
        &["replay", "s.jsonl", "--redact", "--full", "--format", "json"],
        &["replay", "s.jsonl", "--redact", "--summary", "--format", "json"],
        &["diff", "s.jsonl", "--base", "recorded", "--redact"],
        &["diff", "s.jsonl", "--base", "recorded", "--redact", "--full", "--format", "json"],
        &["diff", "s.jsonl", "--base", "recorded", "--redact", "--format", "markdown"],
        &["diff", "s.jsonl", "--base", "recorded", "--redact", "--format", "junit"],
        &["explain", "--at", "s:3.1", "s.jsonl", "--redact"],
        &["explain", "--at", "s:3.1", "s.jsonl", "--redact", "--format", "json"],
        &["explain", "--at", "s", "s.jsonl", "--redact"],
        &["convert", "s.jsonl", "--redact", "-p", "contracts"],
    ];
    for command in commands {
        let shown = run(&folder, command);
        assert!(!shown.contains("SECRET") && !shown.contains("4242424242"), "{command:?}: {shown}");
        assert!(!shown.contains("redacted_differs"), "{command:?}: {shown}");
    }
    let converted = run(&folder, &["convert", "s.jsonl", "--redact", "-p", "contracts"]);
    for kept in
        ["kept-1", "kept-2", "kept-note", "kept-b", "kept-plan", "src/kept.rs", "gold", "eligible\\\":true"]
    {
        assert!(converted.contains(kept), "{kept}: {converted}");
    }
    assert!(run(&folder, &["replay", "s.jsonl"]).contains("SECRET"), "it is there to be blanked");
    let nothing_looks = run(&folder, &["convert", "s.jsonl", "--redact"]);
    assert!(!nothing_looks.contains("kept-1") && nothing_looks.contains("[redacted]"), "{nothing_looks}");
}

#[test]
fn a_saved_case_holds_no_secret_and_passes() {
    let folder = secrets();
    run(&folder, &["diff", "s.jsonl", "--base", "recorded", "--redact", "--witness", "cases"]);
    let cases: Vec<_> = std::fs::read_dir(folder.path().join("cases")).unwrap().collect();
    assert!(!cases.is_empty());
    for case in cases {
        let text = std::fs::read_to_string(case.unwrap().path()).unwrap();
        assert!(!text.contains("SECRET") && !text.contains("4242424242"), "{text}");
    }
    let tested = run(&folder, &["test", "cases"]);
    assert!(tested.starts_with("exit 0"), "{tested}");
}

/// What stays of a decision, without the values that it shows.
fn decided(line: &Value) -> Vec<String> {
    let turns = line["turns"].as_array().into_iter().flatten();
    let calls = turns.flat_map(|turn| {
        let tools = turn["tools"].to_string();
        let calls = turn["calls"].as_array().unwrap().iter().map(|call| {
            let findings = call["findings"].as_array().unwrap().iter();
            let codes: Vec<String> =
                findings.map(|finding| format!("{} {}", finding["rule"], finding["code"])).collect();
            format!("{} {} {} {codes:?}", call["tool"], call["decision"], call["recorded"])
        });
        std::iter::once(tools).chain(calls).collect::<Vec<_>>()
    });
    calls.chain([line["status"].to_string(), line["summary"].to_string()]).collect()
}

#[test]
fn the_samples_decide_the_same_without_their_values() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for mode in ["enforce", "shadow"] {
        let lines = |more: &[&str]| -> Vec<Value> {
            let mut arguments =
                vec!["replay", "sample-traces", "-p", "contracts", "--format", "json", "--mode", mode];
            arguments.extend(more);
            let output = rulestep(root, &arguments).output().unwrap();
            let told = String::from_utf8(output.stderr).unwrap();
            assert!(!told.contains("redacted_differs"), "{told}");
            let text = String::from_utf8(output.stdout).unwrap();
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        let (plain, blank) = (lines(&[]), lines(&["--redact"]));
        assert!(plain.len() > 10 && plain.len() == blank.len());
        let mut blanked = 0;
        for (plain, blank) in plain.iter().zip(&blank) {
            assert_eq!(decided(plain), decided(blank), "{}", plain["session"]["id"]);
            blanked += usize::from(blank.to_string().contains("[redacted]"));
        }
        assert!(blanked > 10, "{blanked}");
    }
}

#[test]
fn the_command_of_an_editor_is_kept_where_a_rule_asks_what_it_does() {
    let session = r#"{"id":"s","messages":[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"str_replace_editor","arguments":"{\"command\":\"view\",\"path\":\"/a.py\",\"view_range\":[4242424242,9]}"}}]},{"role":"tool","tool_call_id":"1","content":"SECRET"}]}"#;
    for (key, what) in [("writes", "a view writes nothing"), ("reads", "a view reads")] {
        let rule = format!("rules: [{{type: never, call: {{{key}: '*.py'}}}}]\n");
        let folder = folder(&[("s.jsonl", session), ("contracts/rules.yaml", &rule)]);
        let blank = run(&folder, &["convert", "s.jsonl", "--redact", "-p", "contracts"]);
        assert!(blank.contains("view\\\"") && blank.contains("/a.py"), "{what}: {blank}");
        assert!(!blank.contains("redacted_differs") && !blank.contains("4242424242"), "{what}: {blank}");
    }
}

#[test]
fn of_a_command_the_words_remain_that_rules_rest_on() {
    let commands = [
        ("git push --force origin SECRET", "git push --force '[redacted]'"),
        ("cat .env | grep SECRET", "cat .env | grep '[redacted]'"),
        ("curl -H 'X-Key: SECRET' https://example.com/SECRET", "curl -H '[redacted]"),
        ("kubectl --context prod delete SECRET", "kubectl --context prod [redacted]"),
    ];
    let calls = commands.iter().enumerate().map(|(number, (command, _))| {
        let arguments = serde_json::json!({"command": command, "description": "SECRET"}).to_string();
        serde_json::json!({"id": number.to_string(), "function": {"name": "Bash", "arguments": arguments}})
    });
    let turn = serde_json::json!({"role": "assistant", "tool_calls": calls.collect::<Vec<_>>()});
    let session = serde_json::json!({"id": "s", "messages": [turn]}).to_string();
    let asks = "rules:\n  - {type: never, call: {runs: {program: git, args: [push], flags: [--force]}}}\n  - {type: never, call: {reads: .env}}\n  - {type: never, call: {args_match: {command: prod}, runs: {program: kubectl}}}\n";
    let reads = "rules: [{type: never, call: {tool: Bash, args_match: {command: force}}}]\n";
    let folder = folder(&[("s.jsonl", &session), ("contracts/rules.yaml", asks), ("text.yaml", reads)]);
    let blank = run(&folder, &["convert", "s.jsonl", "--redact", "-p", "contracts"]);
    assert!(!blank.contains("SECRET") && !blank.contains("redacted_"), "{blank}");
    for (_, shown) in commands {
        assert!(blank.contains(shown), "{shown}: {blank}");
    }
    // A rule that reads the text may rest on any word of it.
    let whole = run(&folder, &["convert", "s.jsonl", "--redact", "-p", "contracts", "-p", "text.yaml"]);
    assert!(whole.contains("origin SECRET") && whole.contains("redacted_whole"), "{whole}");
}
