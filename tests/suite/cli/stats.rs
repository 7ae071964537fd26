//! `stats`: what recordings hold.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{folder, rulestep};

const POLICY: &str = "tool: pay\npreconditions: [{requires_prior_tool: check}]\n";

/// A session of calls: tool, arguments, and whether the result is ok, an error, a refusal or missing.
fn session(id: &str, at: Option<&str>, project: Option<&str>, calls: &[(&str, Value, &str)]) -> String {
    let mut messages = vec![json!({"role": "user", "content": "x", "at": at})];
    for (number, (tool, arguments, ended)) in calls.iter().enumerate() {
        let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
        let call = json!({"id": number.to_string(), "type": "function", "function": {"name": tool, "arguments": arguments}});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        if *ended != "none" {
            messages.push(json!({"role": "tool", "tool_call_id": number.to_string(), "content": "x",
                "is_error": *ended == "error", "refused": *ended == "refused"}));
        }
    }
    json!({"id": id, "context": {"project": project}, "messages": messages}).to_string()
}

fn files() -> TempDir {
    let first = session(
        "a",
        Some("2026-05-04T23:30:00-02:00"),
        Some("shop"),
        &[
            ("Bash", json!({"command": "cd /x && git push https://git.example.org/x.git | tail"}), "ok"),
            ("Bash", json!({"command": "git commit -m \"$(cat x)\""}), "error"),
            ("shell", json!({"command": ["bash", "-lc", "ls; git status"]}), "none"),
            ("Read", json!({"file_path": "src/a.rs"}), "ok"),
            ("Edit", json!({"file_path": "src/a.rs", "new_string": "see https://not.counted/ here"}), "ok"),
            ("str_replace_editor", json!({"command": "view", "path": "src/a.rs"}), "ok"),
            (
                "apply_patch",
                json!({"input": "*** Begin Patch\n*** Update File: src/a.rs\n*** Add File: src/b.rs\n*** End Patch"}),
                "ok",
            ),
            ("share", json!({"file": "x.png"}), "ok"),
            ("WebFetch", json!({"url": "HTTPS://user:secret@Example.ORG:8443/a?b=c", "prompt": "x"}), "ok"),
            ("WebFetch", json!({"url": "https://exa mple.org"}), "ok"),
            ("WebFetch", json!({"url": "https:///nowhere"}), "error"),
            ("pay", json!({"note": "file:///etc/passwd"}), "ok"),
        ],
    );
    let second = session(
        "b",
        None,
        None,
        &[
            ("pay", json!("{'order': 1}"), "ok"),
            // It did nothing.
            ("Bash", json!({"command": "rm -rf / https://refused.example/"}), "refused"),
            (
                "file_change",
                json!({"changes": [{"path": "c.rs", "kind": "add"}, {"path": "\u{1b}[31m.rs"}]}),
                "ok",
            ),
        ],
    );
    folder(&[("p.yaml", POLICY), ("s.jsonl", &[first, second].join("\n"))])
}

fn stats(files: &TempDir, more: &[&str]) -> (i32, String, String) {
    let output = rulestep(files.path(), &[&["stats", "s.jsonl"], more].concat()).output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|told| String::from_utf8(told).unwrap());
    (output.status.code().unwrap(), stdout, stderr)
}

#[test]
fn text_lists_what_recordings_hold() {
    let (code, text, stderr) = stats(&files(), &[]);
    assert_eq!(code, 0, "{stderr}");
    insta::assert_snapshot!(text);
}

#[test]
fn a_policy_adds_the_calls_that_it_stops() {
    let files = files();
    let (_, text, _) = stats(&files, &["-p", "p.yaml"]);
    assert!(text.contains("calls  errors  refused  no result  stopped\n"), "{text}");
    assert!(text.contains("      2       0        0          0        2  pay\n"), "{text}");
    let json = |more: &[&str]| -> Value {
        serde_json::from_str(&stats(&files, &[&["--format", "json"], more].concat()).1).unwrap()
    };
    let (with, without) = (json(&["-p", "p.yaml"]), json(&[]));
    assert_eq!(with["policy"]["documents"], json!(["p.yaml"]));
    let pay = |json: &Value| {
        json["tools"].as_array().unwrap().iter().find(|tool| tool["tool"] == "pay").cloned().unwrap()
    };
    assert_eq!(pay(&with)["stopped"], 2);
    assert!(without["policy"].is_null() && pay(&without).get("stopped").is_none());
    let (code, _, stderr) = stats(&files, &["--where", "is:stopped"]);
    assert!(code == 2 && stderr.contains("no policy is named"), "{stderr}");
    let (code, text, stderr) = stats(&files, &["--where", "tool:share"]);
    assert!(
        code == 0
            && stderr.contains("1 of 2 sessions match")
            && text.ends_with("\n1 session, 12 calls of 9 tools\n"),
        "{text}"
    );
}

#[test]
fn json_has_every_row() {
    let (_, json, _) = stats(&files(), &["--format", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&json).unwrap());
}

#[test]
fn markdown_keeps_what_is_recorded_apart_from_markup() {
    let (_, markdown, _) = stats(&files(), &["--format", "markdown"]);
    insta::assert_snapshot!(markdown);
}

#[test]
fn long_lists_are_cut_unless_all_is_asked_for() {
    let calls: Vec<_> = (0..25).map(|number| (format!("tool{number:02}"), json!({}), "ok")).collect();
    let calls: Vec<_> =
        calls.iter().map(|(tool, arguments, ended)| (tool.as_str(), arguments.clone(), *ended)).collect();
    let files = folder(&[("s.jsonl", &session("a", None, None, &calls))]);
    let (_, text, _) = stats(&files, &[]);
    assert!(text.contains("tool09\n  15 more (--full shows all)\n") && !text.contains("tool10"), "{text}");
    let (_, text, _) = stats(&files, &["--full"]);
    assert!(text.contains("tool24\n\n") && !text.contains("more"), "{text}");
    let (_, markdown, _) = stats(&files, &["--format", "markdown"]);
    assert!(markdown.contains("\n15 more (`--full` shows all)\n"), "{markdown}");
    let (_, json, _) = stats(&files, &["--format", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["tools"].as_array().unwrap().len(), 25);
}
