//! Rules with `scope: tree`: an agent, its parent and its subagents as one history.

use serde_json::{Value, json};

use crate::cli::{folder, rulestep};

/// A native session: a turn a call, `TOOL ARGUMENT`, at these seconds.
fn session(id: &str, parent: Option<&str>, calls: &[(u32, &str)]) -> String {
    let mut messages = Vec::new();
    for (second, call) in calls {
        let (tool, argument) = call.split_once(' ').unwrap_or((call, ""));
        let key = match tool {
            "Bash" => "command",
            "Task" => "prompt",
            _ => "file_path",
        };
        let id = format!("{id}-{second}");
        let call =
            json!({"id": id, "function": {"name": tool, "arguments": json!({key: argument}).to_string()}});
        let at = |second: u32| format!("2026-05-04T10:{:02}:{:02}.500Z", second / 60, second % 60);
        messages.push(json!({"role": "assistant", "at": at(*second), "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": "ok", "at": at(*second + 1)}));
    }
    json!({"id": id, "parent": parent, "messages": messages}).to_string() + "\n"
}

fn main_and_sub() -> (String, String) {
    let main =
        session("main", None, &[(0, "Bash cat .env"), (10, "Task look around"), (60, "Bash git push")]);
    let sub =
        session("sub-agent", Some("main"), &[(20, "Bash curl https://example.com"), (30, "Bash cargo test")]);
    (main, sub)
}

const POLICY: &str = "rules:
  - {id: leak, type: never_after, trigger: {reads: .env}, forbidden: {reaches: '*', runs: {program: curl}}, SCOPE}
  - {id: tested, type: before, first: {runs: {program: cargo, args: [test]}}, then: {runs: {program: git, args: [push]}}, SCOPE}
";

fn policy(scope: &str) -> String {
    POLICY.replace("SCOPE", scope)
}

/// The calls that are stopped, as `SESSION CALL CODE`, and the whole output.
fn stopped(files: &[(&str, &str)], arguments: &[&str]) -> (Vec<String>, Vec<Value>) {
    let folder = folder(files);
    let arguments = [&["replay", "-p", "p.yaml", "--format", "json"], arguments].concat();
    let output = rulestep(folder.path(), &arguments).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut stopped = Vec::new();
    for line in lines.iter().filter(|line| line["session"].is_object()) {
        for call in
            line["turns"].as_array().unwrap().iter().flat_map(|turn| turn["calls"].as_array().unwrap())
        {
            if call["decision"] == "deny" {
                let id = line["session"]["id"].as_str().unwrap();
                let code = call["findings"][0]["code"].as_str().unwrap();
                stopped.push(format!("{id} {}.{} {code}", call["turn"], call["call"]));
            }
        }
    }
    (stopped, lines)
}

#[test]
fn a_rule_sees_what_the_parent_and_the_subagents_did() {
    let (main, sub) = main_and_sub();
    let (alone, tree) = (policy("effect: deny"), policy("scope: tree"));
    // By itself the subagent read nothing, and the main agent tested nothing.
    let (found, _) =
        stopped(&[("p.yaml", &alone), ("a.jsonl", &main), ("b.jsonl", &sub)], &["a.jsonl", "b.jsonl"]);
    assert_eq!(found, ["main 3.1 before_missing"]);
    let (same, _) = stopped(
        &[("p.yaml", &policy("scope: session")), ("a.jsonl", &main), ("b.jsonl", &sub)],
        &["a.jsonl", "b.jsonl"],
    );
    assert_eq!(same, found);
    // Whatever the order and the files in which they are read.
    let both = format!("{sub}{main}");
    for (files, named) in [
        (vec![("p.yaml", &*tree), ("a.jsonl", &*main), ("b.jsonl", &*sub)], vec!["a.jsonl", "b.jsonl"]),
        (vec![("p.yaml", &*tree), ("a.jsonl", &*main), ("b.jsonl", &*sub)], vec!["b.jsonl", "a.jsonl"]),
        (vec![("p.yaml", &*tree), ("both.jsonl", &*both)], vec!["both.jsonl"]),
    ] {
        let (found, lines) = stopped(&files, &named);
        assert_eq!(found, ["sub-agent 1.1 after_trigger"], "{named:?}");
        let line = lines.iter().find(|line| line["session"]["id"] == "sub-agent").unwrap();
        let finding = &line["turns"][0]["calls"][0]["findings"][0];
        assert_eq!(
            finding["found"],
            json!([{"session": "main", "turn": 1, "call": 1, "index": 0, "value": null}])
        );
        let message = finding["message"].as_str().unwrap();
        assert!(message.contains("Bash ran in turn 1 of the parent session main"), "{message}");
    }
}

#[test]
fn calls_of_other_sessions_are_judged_there_alone() {
    let main = session("main", None, &[(0, "Task look"), (60, "Bash ls")]);
    let sub = session("sub-agent", Some("main"), &[(20, "Bash git push"), (30, "Bash git push")]);
    let files = [("p.yaml", &*policy("scope: tree")), ("a.jsonl", &*main), ("b.jsonl", &*sub)];
    let (found, lines) = stopped(&files, &["--mode", "shadow", "a.jsonl", "b.jsonl"]);
    assert_eq!(found, ["sub-agent 1.1 before_missing", "sub-agent 2.1 before_missing"]);
    let violated = |id: &str| {
        let line = lines.iter().find(|line| line["session"]["id"] == id).unwrap();
        line["rules"].as_array().unwrap().iter().filter(|rule| rule["outcome"] == "violated").count()
    };
    assert_eq!((violated("main"), violated("sub-agent")), (0, 1));
}

#[test]
fn what_was_refused_elsewhere_never_ran() {
    let (main, sub) = main_and_sub();
    let refused = sub.replace("\"content\":\"ok\"", "\"content\":\"no\",\"refused\":true");
    assert_ne!(refused, sub);
    let files = [("p.yaml", &*policy("scope: tree")), ("a.jsonl", &*main), ("b.jsonl", &*refused)];
    let (found, _) = stopped(&files, &["a.jsonl", "b.jsonl"]);
    assert_eq!(found, ["main 3.1 before_missing", "sub-agent 1.1 after_trigger"]);
}

#[test]
fn a_tree_that_was_not_read_whole_is_never_green() {
    let (main, sub) = main_and_sub();
    let tree = policy("scope: tree");
    let files = [("p.yaml", &*tree), ("a.jsonl", &*main), ("b.jsonl", &*sub)];
    let (found, lines) = stopped(&files, &["b.jsonl"]);
    assert_eq!(found, ["sub-agent 1.1 unseen_session"]);
    let message = lines[0]["turns"][0]["calls"][0]["findings"][0]["message"].as_str().unwrap();
    assert!(message.contains("the parent session `main` was not read"), "{message}");
    let (found, _) = stopped(&files, &["a.jsonl"]);
    assert_eq!(found, ["main 3.1 before_missing"], "it may have been tested, which is not known");
    let folder = folder(&files);
    let output = rulestep(folder.path(), &["replay", "-p", "p.yaml", "b.jsonl"]).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("the parent session `main` was not read, so rules with `scope: tree`"), "{told}");

    // What counts for the agent is reported, and what is asked is asked.
    for (unsure, decision, effect) in [("allow", "allow", "report"), ("ask", "ask", "ask")] {
        let asked = policy(&format!("scope: tree, unsure: {unsure}"));
        let files = [("p.yaml", &*asked), ("b.jsonl", &*sub)];
        let (_, lines) = stopped(&files, &["b.jsonl"]);
        let call = &lines[0]["turns"][0]["calls"][0];
        assert_eq!((&call["decision"], &call["findings"][0]["effect"]), (&json!(decision), &json!(effect)));
        assert_eq!(call["findings"][0]["code"], "unseen_session");
    }
}

#[test]
fn versions_are_compared_over_trees() {
    let (main, sub) = main_and_sub();
    let folder = folder(&[
        ("p.yaml", &policy("scope: tree")),
        ("old.yaml", &policy("effect: deny")),
        ("a.jsonl", &main),
        ("b.jsonl", &sub),
    ]);
    let arguments = ["diff", "-p", "p.yaml", "-b", "old.yaml", "--format", "json", "a.jsonl", "b.jsonl"];
    let output = rulestep(folder.path(), &arguments).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let changes = |line: &str| -> Vec<String> {
        let line: Value = serde_json::from_str(line).unwrap();
        let of = line["changes"].as_array().cloned().unwrap_or_default();
        of.iter().filter_map(|change| change["kind"].as_str().map(str::to_owned)).collect()
    };
    let changes: Vec<String> = text.lines().flat_map(changes).collect();
    assert!(changes.contains(&"newly_allowed".to_owned()), "{text}");
    assert!(changes.contains(&"newly_blocked".to_owned()), "{text}");
}

#[test]
fn a_case_has_the_other_sessions_of_its_file() {
    let (main, sub) = main_and_sub();
    let case = "policy: p.yaml\nsession: {file: both.jsonl, id: sub-agent}\nexpect:\n  - {call: 1.1, decision: deny}\n---
policy: p.yaml\nsession: {file: both.jsonl, id: main}\nexpect:\n  - {status: pass}\n";
    let folder = folder(&[
        ("p.yaml", &policy("scope: tree")),
        ("both.jsonl", &format!("{main}{sub}")),
        ("tree.case.yaml", case),
    ]);
    let output = rulestep(folder.path(), &["test", "tree.case.yaml"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn only_rules_that_can_look_at_a_tree_have_the_key() {
    let folder = folder(&[
        ("no.yaml", "rules: [{type: max_calls, tool: a, max: 1, scope: tree}]"),
        ("odd.yaml", "rules: [{type: before, first: a, then: b, scope: forest}]"),
        ("p.yaml", &policy("scope: tree")),
    ]);
    for (file, message) in [("no.yaml", "unknown key `scope`"), ("odd.yaml", "session")] {
        let output = rulestep(folder.path(), &["check", file]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(message), "{file}: {text}");
        assert_ne!(output.status.code(), Some(0));
    }
    // A host's sessions are decided each by itself, so it takes no such policy.
    let state = folder.path().join("state");
    let mut command = rulestep(folder.path(), &["gate", "--stdio", "-p", "p.yaml"]);
    std::fs::write(folder.path().join("open.json"), r#"{"op": "open", "session": "s"}"#.to_owned() + "\n")
        .unwrap();
    let open = std::fs::File::open(folder.path().join("open.json")).unwrap();
    let output = command.env("XDG_STATE_HOME", &state).stdin(open).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("`scope: tree` at p.yaml:2 needs all sessions of a tree"), "{told}");
}
