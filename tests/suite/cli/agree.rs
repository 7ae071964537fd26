//! Whatever a policy objects to, every output and the exit code say so, and none says more than happened.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{folder, run};

const FORMATS: [&str; 6] = ["text", "json", "markdown", "junit", "sarif", "github"];

fn call(id: &str, tool: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": tool, "arguments": "{\"path\": \"a.txt\"}"}})
}

/// Calls of these tools, a turn each; a response may have a second choice, with a call of another tool.
fn session(tools: &[(&str, Option<&str>)]) -> String {
    let mut messages = vec![json!({"role": "user", "content": "go"})];
    let (mut lines, mut response) = (Vec::new(), Value::Null);
    for (turn, (tool, other)) in tools.iter().enumerate() {
        let id = format!("c{turn}");
        let said = json!({"role": "assistant", "content": null, "tool_calls": [call(&id, tool)]});
        let mut choices = vec![json!({"index": 0, "message": said})];
        if let Some(other) = other {
            let said = json!({"role": "assistant", "content": null, "tool_calls": [call("other", other)]});
            choices.push(json!({"index": 1, "message": said}));
        }
        response = json!({"id": id, "choices": choices});
        lines.push(json!({"request": {"messages": messages}, "response": response}).to_string());
        messages.push(said);
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": "fine"}));
    }
    lines.push(
        json!({"request": {"messages": messages}, "response": {"id": "end", "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "done"}}]}})
        .to_string(),
    );
    assert!(!response.is_null());
    lines.join("\n")
}

/// What only one kind of statement objects to, with how it is called.
fn cases() -> Vec<(&'static str, TempDir)> {
    let plain: &[(&str, Option<&str>)] = &[("look", None), ("look", None), ("look", None)];
    let halt = r#"{"dialect": "sequence_policy", "id": "p", "forbidden":
        [{"sequence": ["look", "look", "look"], "action": "halt", "reason": "a:b"}]}"#;
    let with = |policy: &str, tools| folder(&[("p.yaml", policy), ("s.jsonl", &session(tools))]);
    vec![
        ("a session rule", with("rules: [{type: require, tool: test}]", plain)),
        ("a denial", with("{tool: look, preconditions: [{requires_prior_tool: never}]}", plain)),
        ("a late halt", with(halt, plain)),
        (
            "a choice not taken",
            with("rules: [{type: blocklist, tools: [rm]}]", &[("look", Some("rm")), ("look", None)]),
        ),
    ]
}

fn exit(seen: &str) -> &str {
    seen.lines().next().unwrap()
}

#[test]
fn whatever_is_objected_to_is_in_every_output() {
    for (what, folder) in cases() {
        for mode in ["enforce", "shadow"] {
            let of = |format| {
                run(&folder, &["replay", "-q", "s.jsonl", "-p", "p.yaml", "--mode", mode, "--format", format])
            };
            for format in FORMATS {
                let output = of(format);
                assert_eq!(exit(&output), "exit 1", "{what} {mode} {format}\n{output}");
                let mark = match format {
                    "text" => "✗",
                    "json" => r#""objected":1"#,
                    "markdown" => "| finding |",
                    "junit" => "<failure",
                    "sarif" => r#""ruleIndex": 0"#,
                    _ => "::error file=p.yaml",
                };
                assert!(output.contains(mark), "{what} {mode} {format}\n{output}");
                let said =
                    ["denied", "halted", "stopped", "violated"].iter().any(|word| output.contains(word));
                assert!(said || format == "json", "{what} {mode} {format}\n{output}");
            }
            let junit = of("junit");
            assert_eq!(junit.matches("<failure").count(), 1, "{what} {mode}\n{junit}");
            if mode == "enforce" {
                let json = of("json");
                assert!(!json.contains(r#""status":"pass""#), "{what}\n{json}");
            }
        }
    }
}

/// A rule that only reports stops nothing and fails nothing, and is still told.
#[test]
fn what_only_reports_fails_nothing() {
    let policy = "{dialect: tool_policy, policies: [{type: read_before_write, name: r, write_tools: [look], read_tools: [cat]}]}";
    let folder =
        folder(&[("p.yaml", policy), ("s.jsonl", &session(&[("look", None)]).replace("path", "zzz"))]);
    let output = run(&folder, &["replay", "s.jsonl", "-p", "p.yaml"]);
    assert!(output.contains("write_path_unknown") || output.contains("report"), "{output}");
    for format in FORMATS {
        let output = run(&folder, &["replay", "-q", "s.jsonl", "-p", "p.yaml", "--format", format]);
        assert_eq!(exit(&output), "exit 0", "{format}\n{output}");
        assert!(!output.contains("<failure"), "{output}");
    }
}

/// In shadow a call is never said to have been stopped.
#[test]
fn in_shadow_nothing_was_stopped() {
    let says_so = regex::Regex::new(r"\b(denied|halted|stopped)\b").unwrap();
    for (what, folder) in cases() {
        std::fs::write(
            folder.path().join("base.yaml"),
            "{tool: look, preconditions: [{requires_prior_tool: x}]}",
        )
        .unwrap();
        let replay: &[&str] = &["replay", "s.jsonl", "-p", "p.yaml"];
        let full: &[&str] = &["replay", "s.jsonl", "-p", "p.yaml", "--full"];
        let summary: &[&str] = &["replay", "s.jsonl", "-p", "p.yaml", "--summary"];
        let diff: &[&str] = &["diff", "s.jsonl", "-p", "p.yaml", "--base", "base.yaml"];
        let explain: &[&str] = &["explain", "--at", "s", "s.jsonl", "-p", "p.yaml"];
        for (command, formats) in [
            (replay, &FORMATS[..]),
            (diff, &FORMATS),
            (full, &["text"]),
            (summary, &["text"]),
            (explain, &["text"]),
        ] {
            for format in formats.iter().filter(|format| **format != "json") {
                let output = run(&folder, &[command, &["--mode", "shadow", "--format", format]].concat());
                assert!(!output.starts_with("exit 2"), "{output}");
                let rest = output.replace("[permission denied", "").replace("&#91;permission denied", "");
                let rest = ["denied", "halted", "stopped"]
                    .iter()
                    .fold(rest, |rest, word| rest.replace(&format!("would be {word}"), ""));
                let found = rest.lines().find(|line| says_so.is_match(line));
                assert_eq!(found, None, "{what}: {command:?} --format {format}\n{output}");
            }
        }
    }
}
