//! What hostile or merely large recordings cost, through the program itself.

use std::io::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::cli::{folder, rulestep};

/// Far above what these take, far below what they took where a cost grew with the square of the size.
const PATIENCE: Duration = Duration::from_secs(60);

fn call(id: usize, tool: &str) -> Value {
    json!({"id": format!("c{id}"), "function": {"name": tool, "arguments": "{}"}})
}

fn summary(folder: &TempDir, arguments: &[&str]) -> Value {
    let begun = Instant::now();
    let output = rulestep(folder.path(), arguments).stdout(Stdio::piped()).output().unwrap();
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    let text = String::from_utf8(output.stdout).unwrap();
    let line: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    line["summary"].clone()
}

#[test]
fn many_siblings_that_forbid_cost_each_the_same() {
    let calls: Vec<Value> = (0..10_000).map(|i| call(i, if i < 5_000 { "close" } else { "pay" })).collect();
    let session = json!({"messages": [
        {"role": "assistant", "tool_calls": calls}, {"role": "tool", "tool_call_id": "c0", "content": "done"}]});
    let folder = folder(&[
        ("contracts/close.yaml", "tool: close\nforbids_after: [pay]\n"),
        ("wide.json", &session.to_string()),
    ]);
    for mode in ["enforce", "shadow"] {
        let seen = summary(&folder, &["replay", "wide.json", "--format", "json", "--mode", mode]);
        assert_eq!((seen["allow"].as_u64(), seen["deny"].as_u64()), (Some(5_000), Some(5_000)), "{mode}");
    }
}

#[test]
fn tools_that_change_in_every_turn_cost_each_turn_the_same() {
    let turns = 20_000;
    let messages: Vec<Value> = (0..turns).map(|_| json!({"role": "assistant", "content": "…"})).collect();
    let tools: Vec<Value> =
        (1..=turns).map(|turn| json!({"turn": turn, "tools": [{"name": format!("t{turn}")}]})).collect();
    let session = json!({"messages": messages, "tools_at": tools});
    let folder = folder(&[
        ("contracts/a.yaml", "tool: t7\nforbids_after: [b]\n"),
        ("long.json", &session.to_string()),
    ]);
    let seen = summary(&folder, &["replay", "long.json", "--format", "json"]);
    assert_eq!(seen["turns"], turns);
}

/// Without a result among its first 16 MiB, a file is looked ahead in. What comes through a pipe cannot be.
#[cfg(unix)]
#[test]
fn a_pipe_with_a_name_is_read_once() {
    let folder = folder(&[("contracts/a.yaml", "tool: a\nforbids_after: [b]\n")]);
    let padding = "x".repeat(2_000);
    let lines = 10_000;
    let mut child =
        rulestep(folder.path(), &["replay", "/dev/stdin", "--summary", "--format", "json", "--quiet"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        for id in 0..lines {
            let message = json!({"role": "assistant", "content": padding, "tool_calls": [call(id, "b")]});
            if writeln!(stdin, "{}", json!({"messages": [message]})).is_err() {
                break;
            }
        }
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), lines + 1);
}

#[test]
fn calls_denied_for_want_of_others_cost_each_the_same() {
    let calls: Vec<Value> = (0..20_000).map(|i| call(i, "pay")).collect();
    let session = json!({"messages": [
        {"role": "assistant", "tool_calls": calls}, {"role": "tool", "tool_call_id": "c0", "content": "done"}]});
    let folder = folder(&[
        ("contracts/pay.yaml", "tool: pay\npreconditions: [{requires_prior_tool: check}]\n"),
        ("wide.json", &session.to_string()),
    ]);
    let begun = Instant::now();
    let output = rulestep(folder.path(), &["replay", "wide.json"]).output().unwrap();
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    assert_eq!(String::from_utf8(output.stdout).unwrap().matches("(19,999 calls)").count(), 1);
}

#[test]
fn of_errors_that_are_alike_a_hundred_are_drawn() {
    let many = 3_000;
    for text in [
        format!("tool: a\n{}", "forbids_after: [b]\n".repeat(many + 1)),
        format!("{{tool: a{}}}", ", forbids_after: [b]".repeat(many + 1)),
    ] {
        let folder = folder(&[("a.yaml", &text)]);
        let begun = Instant::now();
        let output = rulestep(folder.path(), &["check", "a.yaml"]).output().unwrap();
        assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(told.matches("error[duplicate_key]").count(), 100);
        assert!(told.ends_with("and 2,900 more `duplicate_key`\n"), "{}", &told[told.len() - 200..]);
        assert!(told.len() < 400_000, "{} bytes", told.len());
        let output = rulestep(folder.path(), &["check", "a.yaml", "--format", "json"]).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap().matches("duplicate_key").count(), many);
    }
}
