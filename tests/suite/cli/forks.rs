//! A fork is a session of its own: the calls that it copied are known to its rules, and are counted where they were made.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{folder, run};

/// `deploy` needs a check before it, and `wipe` is never allowed.
const POLICY: &str = "{tool: deploy, preconditions: [{requires_prior_tool: check}]}";
const BAN: &str = "{tool: wipe, preconditions: [{requires_prior_tool: nothing_is_called_so}]}";
/// Made on the days before the fork, and with it.
const PARENT: &str = "019df362-aa9f-7011-903e-4a0878d49fa0";
const FORK: &str = "019df3d2-6edb-7322-b537-34d4f10cb129";

fn lines(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn codex(kind: &str, payload: Value) -> Value {
    json!({"timestamp": "2026-05-04T16:29:08.000Z", "type": kind, "payload": payload})
}

fn meta(id: &str, from: Option<&str>) -> Value {
    let mut meta =
        json!({"id": id, "timestamp": "2026-05-04T16:29:07.679Z", "cwd": "/w", "cli_version": "0.149.0"});
    if let Some(from) = from {
        meta["forked_from_id"] = json!(from);
    }
    codex("session_meta", meta)
}

fn call(id: &str, tool: &str) -> [Value; 2] {
    let output = json!({"type": "function_call_output", "call_id": id, "output": "{\"output\": \"ok\"}"});
    [
        codex(
            "response_item",
            json!({"type": "function_call", "name": tool, "arguments": "{}", "call_id": id}),
        ),
        codex("response_item", output),
    ]
}

fn said(text: &str) -> Value {
    let content = json!([{"type": "input_text", "text": text}]);
    codex("response_item", json!({"type": "message", "role": "user", "content": content}))
}

/// A rollout of these calls, each after something the user said.
fn rollout(id: &str, calls: &[(&str, &str)]) -> Vec<Value> {
    let calls = calls.iter().flat_map(|(id, tool)| [vec![said("go on")], call(id, tool).to_vec()].concat());
    std::iter::once(meta(id, None)).chain(calls).collect()
}

/// A fork of a session, with further calls; `turn` begins them.
fn fork(id: &str, of: &[Value], turn: Option<Value>, calls: &[(&str, &str)]) -> Vec<Value> {
    let from = of[0]["payload"]["id"].as_str().unwrap();
    let own = rollout(id, calls).split_off(1);
    let head = [meta(id, Some(from))].into_iter();
    head.chain(of.to_vec()).chain(turn).chain(own).collect()
}

/// The calls of each session of a replay: the tool, what is decided, and whether it is a copy; and the totals.
fn replayed(files: &TempDir, policy: &str) -> (Vec<(String, Vec<String>)>, Value) {
    let told = run(files, &["replay", "s", "-p", policy, "--format", "json", "--no-cache"]);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut sessions = Vec::new();
    let mut totals = Value::Null;
    for line in told.split("--- stderr").next().unwrap().lines().filter(|line| line.starts_with('{')) {
        let line: Value = serde_json::from_str(line).unwrap();
        if line.get("totals").is_some() {
            totals = line["totals"].clone();
            continue;
        }
        let turns = line["turns"].as_array().unwrap().iter();
        let calls = turns.flat_map(|turn| turn["calls"].as_array().unwrap()).map(|call| {
            let copied = if call["copied"] == true { " copied" } else { "" };
            format!("{} {}{copied}", text(&call["tool"]), text(&call["decision"]))
        });
        sessions.push((text(&line["session"]["id"]), calls.collect()));
    }
    (sessions, totals)
}

fn named(sessions: &[(String, Vec<String>)], id: &str) -> Vec<String> {
    sessions.iter().find(|(own, _)| own == id).unwrap().1.clone()
}

#[test]
fn what_a_rollout_copied_is_known_by_the_calls_of_the_other_wherever_that_is() {
    let parent = rollout(PARENT, &[("a", "check"), ("b", "wipe")]);
    let child = fork(FORK, &parent, None, &[("c", "deploy")]);
    for (other, own) in
        [("a/rollout-1.jsonl", "b/rollout-2.jsonl"), ("z/rollout-1.jsonl", "b/rollout-2.jsonl")]
    {
        let files = folder(&[
            ("p/deploy.yaml", POLICY),
            ("p/wipe.yaml", BAN),
            (&format!("s/{other}"), &lines(&parent)),
            (&format!("s/{own}"), &lines(&child)),
        ]);
        let (sessions, totals) = replayed(&files, "p");
        assert_eq!(named(&sessions, PARENT), ["check allow", "wipe deny"]);
        assert_eq!(named(&sessions, FORK), ["check allow copied", "wipe deny copied", "deploy allow"]);
        let count = |key: &str| totals[key].as_u64();
        assert_eq!(
            (count("sessions"), count("calls"), count("deny"), count("copied")),
            (Some(2), Some(3), Some(1), Some(2))
        );
        assert_eq!(totals["by_tool"]["wipe"]["calls"], 1);
        let told = run(&files, &["replay", "s", "-p", "p", "--summary", "--format", "json"]);
        let last = told.split("--- stderr").next().unwrap().lines().last().unwrap();
        let last: Value = serde_json::from_str(last).unwrap();
        assert_eq!((&last["totals"]["calls"], &last["totals"]["copied"]), (&json!(3), &json!(2)));
        let text = run(&files, &["stats", "s", "--no-cache"]);
        assert!(
            text.contains("2 sessions, 3 calls of 3 tools; not counted: 2 calls copied from another session"),
            "{text}"
        );
    }
}

/// Without the other one, nobody knows where the copy ends: what is not known to be a copy is counted.
#[test]
fn a_rollout_that_does_not_say_where_its_copy_ends_counts_whole() {
    let parent = rollout(PARENT, &[("a", "wipe")]);
    let child = fork(FORK, &parent, None, &[("b", "deploy")]);
    let files = folder(&[("p/wipe.yaml", BAN), ("s/rollout.jsonl", &lines(&child))]);
    let (sessions, totals) = replayed(&files, "p");
    assert_eq!(named(&sessions, FORK), ["wipe deny", "deploy allow"]);
    assert_eq!((&totals["calls"], &totals["deny"], totals.get("copied")), (&json!(2), &json!(1), None));
    let told = run(&files, &["replay", "s", "-p", "p"]);
    assert!(told.contains("notice[fork_source_missing]") || told.contains("fork_source_missing"), "{told}");
}

/// Turns that say when they began show where it ends, by their ids or beside them.
#[test]
fn a_rollout_whose_turns_have_times_says_where_its_copy_ends() {
    let mut parent = rollout(PARENT, &[("a", "wipe")]);
    let id = "019df363-0000-7000-8000-000000000001";
    parent.insert(1, codex("turn_context", json!({"turn_id": id, "cwd": "/w"})));
    let by_id =
        codex("turn_context", json!({"turn_id": "019df3d2-7000-7000-8000-000000000001", "cwd": "/w"}));
    let by_time = json!({"type": "task_started", "turn_id": "2", "started_at": 1_777_912_148});
    let old = json!({"type": "task_started", "turn_id": "1", "started_at": 1_777_900_000});
    for turn in [by_id, codex("event_msg", by_time)] {
        let child = fork(FORK, &parent, Some(turn), &[("b", "deploy")]);
        let mut grandchild = fork("019df3ff-6edb-7322-b537-34d4f10cb129", &child, None, &[]);
        grandchild[0]["payload"]["timestamp"] = json!("2026-05-04T18:00:00.000Z");
        let files = folder(&[
            ("p/wipe.yaml", BAN),
            ("s/rollout.jsonl", &lines(&child)),
            ("s/rollout-again.jsonl", &lines(&grandchild)),
        ]);
        let (sessions, totals) = replayed(&files, "p");
        assert_eq!(named(&sessions, FORK), ["wipe deny copied", "deploy allow"]);
        assert_eq!(sessions.len(), 2, "a fork of a fork begins with the first lines of both");
        assert_eq!(
            named(&sessions, "019df3ff-6edb-7322-b537-34d4f10cb129"),
            ["wipe deny copied", "deploy allow copied"]
        );
        assert_eq!(
            (&totals["calls"], &totals["copied"], &totals["objected"]),
            (&json!(1), &json!(3), &json!(0))
        );
    }
    // A turn without a time after it may be its own.
    let mut child = fork(FORK, &rollout(PARENT, &[("a", "wipe")]), None, &[("b", "deploy")]);
    child.insert(2, codex("event_msg", old));
    child.insert(6, codex("turn_context", json!({"turn_id": "2", "cwd": "/w"})));
    let files = folder(&[("p/wipe.yaml", BAN), ("s/rollout.jsonl", &lines(&child))]);
    let (sessions, _) = replayed(&files, "p");
    assert_eq!(named(&sessions, FORK), ["wipe deny", "deploy allow"]);
}

/// A subagent that began with the conversation of its parent is a fork of it, whether or not it is called so.
#[test]
fn a_subagent_that_began_with_its_parents_lines_is_a_fork() {
    let parent = rollout(PARENT, &[("a", "wipe")]);
    let mut child = fork(FORK, &parent, None, &[("b", "deploy")]);
    let own = child[0]["payload"].as_object_mut().unwrap();
    own.remove("forked_from_id");
    own.insert(
        "source".to_owned(),
        json!({"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}),
    );
    let files = folder(&[
        ("p/wipe.yaml", BAN),
        ("s/rollout-1.jsonl", &lines(&parent)),
        ("s/rollout-2.jsonl", &lines(&child)),
    ]);
    let (sessions, totals) = replayed(&files, "p");
    assert_eq!(named(&sessions, FORK), ["wipe deny copied", "deploy allow"]);
    assert_eq!((&totals["sessions"], &totals["calls"], &totals["deny"]), (&json!(2), &json!(2), &json!(1)));
}

fn claude(session: &str, uuid: &str, parent: Option<&str>, kind: &str, content: Value) -> Value {
    json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": session, "version": "2.1.258", "cwd": "/w",
        "timestamp": "2026-05-04T10:00:00.000Z", "message": {"role": kind, "id": format!("m-{uuid}"), "content": [content]}})
}

/// Claude Code says of every copied line from which one it was copied.
#[test]
fn claude_code_marks_the_lines_that_a_fork_copied() {
    let tool = |id: &str, name: &str| json!({"type": "tool_use", "id": id, "name": name, "input": {}});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "ok"});
    let past = |session: &str| {
        [
            claude(session, "1", None, "user", json!({"type": "text", "text": "go"})),
            claude(session, "2", Some("1"), "assistant", tool("a", "wipe")),
            claude(session, "3", Some("2"), "user", result("a")),
        ]
    };
    let copied = past("fork").map(|mut line| {
        line["forkedFrom"] = json!({"sessionId": "parent", "messageUuid": line["uuid"]});
        line
    });
    let own = [
        claude("fork", "4", Some("3"), "assistant", tool("b", "deploy")),
        claude("fork", "5", Some("4"), "user", result("b")),
    ];
    let child = lines(&[copied.to_vec(), own.to_vec()].concat());
    for alone in [true, false] {
        let mut all = vec![("p/wipe.yaml", BAN), ("s/fork.jsonl", child.as_str())];
        let parent = lines(&past("parent"));
        if !alone {
            all.push(("s/parent.jsonl", &parent));
        }
        let files = folder(&all);
        let (sessions, totals) = replayed(&files, "p");
        assert_eq!(named(&sessions, "fork"), ["wipe deny copied", "deploy allow"]);
        assert_eq!(totals["calls"], if alone { 1 } else { 2 });
        let text = run(&files, &["replay", "s", "-p", "p", "--full"]);
        assert!(text.contains("copied"), "{text}");
        // What was converted says so as well.
        let native = run(&files, &["convert", "s/fork.jsonl"]);
        let native = native.split("--- stdout\n").nth(1).unwrap().split("--- stderr").next().unwrap();
        let again = folder(&[("p/wipe.yaml", BAN), ("s/native.jsonl", native)]);
        assert_eq!(named(&replayed(&again, "p").0, "fork"), ["wipe deny copied", "deploy allow"]);
    }
}

/// Older versions of Claude Code copied a session that was taken up again, and marked nothing: the same calls, ids and times.
#[test]
fn a_session_that_begins_with_the_calls_of_another_is_a_fork_of_it() {
    let session = |id: &str, calls: &[(&str, &str)]| {
        let messages = calls.iter().flat_map(|(call, tool)| {
            let made = json!({"id": call, "type": "function", "function": {"name": tool, "arguments": "{}"}});
            let at = format!("2026-05-04T10:00:0{}Z", call.len());
            [
                json!({"role": "assistant", "content": null, "tool_calls": [made], "at": at}),
                json!({"role": "tool", "tool_call_id": call, "content": "ok"}),
            ]
        });
        json!({"id": id, "results": "recorded", "messages": messages.collect::<Vec<_>>()}).to_string()
    };
    let (short, long) = (
        session("x", &[("a", "check"), ("bb", "wipe")]),
        &[("a", "check"), ("bb", "wipe"), ("ccc", "deploy")],
    );
    let files = folder(&[
        ("p/deploy.yaml", POLICY),
        ("p/wipe.yaml", BAN),
        ("s/1.json", &short),
        ("s/2.json", &session("y", long)),
        ("s/3.json", &session("z", &[("a", "check"), ("dddd", "deploy")])),
        // Neither begins with a call of the others: another time, another tool.
        ("s/4.json", &short.replace("10:00:01", "11:00:01").replace("\"x\"", "\"v\"")),
        ("s/5.json", &session("w", &[("a", "other")])),
    ]);
    for arguments in [&["--no-cache"][..], &[], &[], &["--where", "tool:/e/"]] {
        let told =
            run(&files, &[&["replay", "s", "-p", "p", "--format", "json", "--summary"], arguments].concat());
        let last = told.split("--- stderr").next().unwrap().lines().last().unwrap();
        let totals = &serde_json::from_str::<Value>(last).unwrap_or_else(|_| panic!("{told}"))["totals"];
        let counts = ["sessions", "calls", "deny", "copied"].map(|key| totals[key].clone());
        assert_eq!(counts, [json!(5), json!(7), json!(2), json!(3)], "{arguments:?} {told}");
    }
    // A fork that is left out is left out once.
    let told = run(&files, &["replay", "s", "-p", "p", "--where", "tool:other"]);
    assert!(told.contains("1 of 5 sessions match"), "{told}");
    let (sessions, _) = replayed(&files, "p");
    assert_eq!(named(&sessions, "y"), ["check allow copied", "wipe deny copied", "deploy allow"]);
    assert_eq!(named(&sessions, "z"), ["check allow copied", "deploy allow"]);
    assert_eq!(named(&sessions, "v"), ["check allow", "wipe deny"]);
    let native = run(&files, &["convert", "s"]);
    assert_eq!(native.matches("\"copied\":true").count(), 3, "{native}");
    // Of many in one file, none is looked at again: that would take the square of their number.
    let all = format!("{short}\n{}\n", session("y", long));
    let together = folder(&[("p/wipe.yaml", BAN), ("s/all.jsonl", &all)]);
    assert_eq!(replayed(&together, "p").1["calls"], 5);
    let coverage = run(&files, &["coverage", "s", "-p", "p", "--format", "json", "--no-cache"]);
    assert!(coverage.contains("\"calls\":7"), "{coverage}");
}
