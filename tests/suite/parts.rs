//! Sessions that are judged while they are read come to what they come to as a whole, whatever stands in the file.

use std::io::{BufRead, Cursor};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;
use toolgate::engine::Mode;
use toolgate::policy::Policy;
use toolgate::replay::corpus::{Judge, Read};
use toolgate::replay::outcomes;
use toolgate::session::Session;
use toolgate::session::read::{self, Options, Piece};

use super::samples;

/// What `replay --summary` needs of a file: every session with its outcome, and everything that is told.
fn judged(
    bytes: &[u8],
    policy: &Arc<Policy>,
    mode: Mode,
    parts_beyond: Option<usize>,
) -> (Vec<String>, usize) {
    let shared: Arc<[u8]> = bytes.into();
    let input = move || -> std::io::Result<Box<dyn BufRead + Send>> {
        Ok(Box::new(Cursor::new(Arc::clone(&shared))))
    };
    let again = Arc::new(input.clone());
    let options = Options { again: Some(again), parts_beyond, ..Options::default() };
    let mut reading = match read::open("some.jsonl", input().unwrap(), &options) {
        Ok(reading) => reading,
        Err(told) => return (vec![format!("{told:?}")], 0),
    };
    let mut judge = Judge::new(policy, mode);
    let (mut told, mut of_file, mut in_parts) = (Vec::new(), Vec::new(), 0);
    loop {
        let next = judge.next(&mut reading);
        of_file.extend(reading.diagnostics());
        let (session, outcomes) = match next {
            None => break,
            Some(Read::Whole(session)) => {
                let outcomes = outcomes(&session, policy, mode);
                (session, outcomes)
            }
            Some(Read::Judged(session, outcomes)) => {
                in_parts += 1;
                (*session, *outcomes)
            }
        };
        let Session { id, origin, parent, offered, diagnostics, facts, .. } = session;
        told.push(format!("{id} {origin:?} {parent:?} {offered:?} {diagnostics:#?} {facts:?} {outcomes:?}"));
    }
    told.push(format!("{of_file:#?}"));
    (told, in_parts)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found.into_iter().flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn recordings() -> Vec<(PathBuf, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = files(&root.join("tests/fixtures/sessions"));
    found.extend(files(&root.join("sample-traces")));
    found.retain(|path| path.extension().is_some_and(|kind| kind == "jsonl"));
    found.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Thresholds that cut files anywhere.
const BEYOND: [usize; 4] = [0, 300, 3_000, 30_000];

#[test]
fn recordings_in_parts_come_to_the_same() {
    let policy = samples::policy();
    let mut all = recordings();
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/traces");
    if !shared.exists() {
        eprintln!("skipped in part: there is no folder of recordings beside this one");
    }
    for folder in ["claude-code", "claude-code-edge", "codex-rollout", "codex-exec-json", "otel"] {
        let found = files(&shared.join(folder));
        all.extend(found.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())));
    }
    let mut in_parts = 0;
    for (path, bytes) in &all {
        for mode in [Mode::Enforce, Mode::Shadow] {
            let whole = judged(bytes, &policy, mode, None);
            for beyond in BEYOND {
                let parts = judged(bytes, &policy, mode, Some(beyond));
                assert_eq!(parts.0, whole.0, "{} beyond {beyond}", path.display());
                in_parts += parts.1;
            }
        }
    }
    // The fixtures alone are short, and few of them can be cut.
    let fewest = if shared.exists() { 30 } else { 20 };
    assert!(in_parts >= fewest, "{in_parts} sessions came in parts");
}

/// Some steps of each format that goes on line by line: what is said, and two calls at once with their results.
fn long(format: &str, steps: usize) -> String {
    let mut lines: Vec<serde_json::Value> = Vec::new();
    let (mut before, mut names) = (serde_json::Value::Null, 0);
    let mut claude = |kind: &str, parent: Option<serde_json::Value>, message: serde_json::Value| {
        names += 1;
        let line = json!({"type": kind, "sessionId": "s", "uuid": format!("u{names}"), "message": message,
            "parentUuid": parent.unwrap_or_else(|| before.clone())});
        before = line["uuid"].clone();
        line
    };
    if format == "codex-rollout" {
        lines.push(
            json!({"type": "session_meta", "timestamp": "2026-01-01T00:00:00Z", "payload": {"id": "s"}}),
        );
    }
    for step in 0..steps {
        let ids = [format!("a{step}"), format!("b{step}")];
        let result = format!("{step}");
        match format {
            "native" => {
                let call = |id: &String| json!({"id": id, "function": {"name": "t", "arguments": "{}"}});
                lines.push(
                    json!({"role": "assistant", "content": "so", "tool_calls": ids.each_ref().map(call)}),
                );
                lines.extend(ids.map(|id| json!({"role": "tool", "tool_call_id": id, "content": result})));
            }
            "claude-code" => {
                let mut parents = Vec::new();
                for id in &ids {
                    let call = json!({"type": "tool_use", "id": id, "name": "Read", "input": {}});
                    let message = json!({"id": format!("m{step}"), "role": "assistant", "content": [call]});
                    lines.push(claude("assistant", None, message));
                    parents.push(lines.last().unwrap()["uuid"].clone());
                }
                for (id, parent) in ids.iter().zip(parents) {
                    let result = json!({"type": "tool_result", "tool_use_id": id, "content": result});
                    lines.push(claude("user", Some(parent), json!({"role": "user", "content": [result]})));
                }
            }
            "codex-rollout" => {
                let item = |payload: serde_json::Value| json!({"type": "response_item", "payload": payload});
                for id in &ids {
                    let call =
                        json!({"type": "function_call", "call_id": id, "name": "shell", "arguments": "{}"});
                    lines.push(item(call));
                }
                for id in &ids {
                    lines
                        .push(item(json!({"type": "function_call_output", "call_id": id, "output": result})));
                }
            }
            _ => {
                let item = |id: &String| json!({"id": id, "type": "command_execution", "command": "ls"});
                lines.extend(ids.iter().map(|id| json!({"type": "item.started", "item": item(id)})));
                lines.extend(ids.iter().map(|id| json!({"type": "item.completed", "item": item(id)})));
            }
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn long_sessions_come_in_parts() {
    let policy = samples::policy();
    for format in ["native", "claude-code", "codex-rollout", "codex-exec"] {
        let text = long(format, 60);
        let whole = judged(text.as_bytes(), &policy, Mode::Enforce, None);
        assert!(whole.0.concat().contains("turns: 60, calls: 120"), "{format}: {:?}", whole.0);
        for beyond in [0, 1_000, 4_000] {
            let parts = judged(text.as_bytes(), &policy, Mode::Enforce, Some(beyond));
            assert_eq!((parts.0, parts.1), (whole.0.clone(), 1), "{format} beyond {beyond}");
        }
    }
}

/// What comes too late to be known in time makes a log be read once more, as a whole.
#[test]
fn what_comes_too_late_is_read_again() {
    let policy = samples::policy();
    let late = [
        ("native", json!({"role": "tool", "tool_call_id": "c", "content": "[permission denied: policy]"})),
        (
            "claude-code",
            json!({"type": "user", "sessionId": "s", "uuid": "again", "parentUuid": "u4",
            "message": {"role": "user", "content": "no, from the beginning"}}),
        ),
        (
            "codex-rollout",
            json!({"type": "event_msg", "payload": {"type": "exec_command_end", "call_id": "a3",
            "exit_code": 1}}),
        ),
    ];
    for (format, late) in late {
        let call = json!({"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "t", "arguments": "{}"}}]});
        let before = if format == "native" { format!("{call}\n") } else { String::new() };
        let text = format!("{before}{}{late}\n", long(format, 60));
        let whole = judged(text.as_bytes(), &policy, Mode::Enforce, None);
        let parts = judged(text.as_bytes(), &policy, Mode::Enforce, Some(1_000));
        assert_eq!((parts.0, parts.1), (whole.0, 0), "{format}");
    }
}

#[test]
fn without_a_second_look_sessions_are_whole() {
    let line = r#"{"role": "assistant", "content": "", "tool_calls": [{"id": "a", "function": {"name": "t", "arguments": "{}"}}]}"#;
    let text = format!("{line}\n").repeat(50);
    let options = Options { parts_beyond: Some(0), ..Options::default() };
    let mut reading = read::open("-", Box::new(Cursor::new(text.into_bytes())), &options).unwrap();
    assert!(matches!(reading.piece(), Some(Piece::Whole(session)) if session.turns.len() == 50));
    assert!(reading.piece().is_none());
}

/// A change of a file: what is done with the line at a place.
#[derive(Debug, Clone)]
enum Edit {
    Drop(usize),
    Repeat(usize, usize),
    Move(usize, usize),
    CutOff(usize),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let at = || 0..10_000usize;
    let edit = prop_oneof![
        at().prop_map(Edit::Drop),
        (at(), at()).prop_map(|(from, to)| Edit::Repeat(from, to)),
        (at(), at()).prop_map(|(from, to)| Edit::Move(from, to)),
        at().prop_map(Edit::CutOff),
    ];
    prop::collection::vec(edit, 0..6)
}

fn edited(bytes: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    for edit in edits {
        let count = lines.len();
        match edit {
            Edit::Drop(at) if count > 1 => drop(lines.remove(at % count)),
            Edit::Repeat(from, to) => lines.insert(to % count, lines[from % count].clone()),
            Edit::Move(from, to) if count > 1 => {
                let line = lines.remove(from % count);
                lines.insert(to % (count - 1), line);
            }
            Edit::CutOff(at) => {
                let line = &mut lines[at % count];
                line.truncate(line.len() / 2);
            }
            Edit::Drop(_) | Edit::Move(..) => {}
        }
    }
    lines.join(&b'\n')
}

/// A session of messages, a line each, in which results come when they like and as they like.
fn conversation() -> impl Strategy<Value = String> {
    let result = prop_oneof![Just("fine"), Just("[permission denied: policy]"), Just("{\"eligible\": true}")];
    let step = (0..4usize, 0..3usize, result, prop::bool::ANY);
    prop::collection::vec(step, 1..30).prop_map(|steps| {
        let (mut text, mut waiting, mut made) = (String::new(), Vec::new(), 0);
        for (calls, answers, result, says) in steps {
            let proposed: Vec<String> = (0..calls)
                .map(|call| {
                    made += 1;
                    waiting.push(made);
                    let tool = ["check_eligibility", "issue_refund", "transfer_call", "open_record"][call % 4];
                    format!(
                        r#"{{"id": "c{made}", "function": {{"name": "{tool}", "arguments": "{{\"order_id\": \"{}\"}}"}}}}"#,
                        made % 3
                    )
                })
                .collect();
            text += &format!(
                "{{\"role\": \"assistant\", \"content\": \"so\", \"tool_calls\": [{}]}}\n",
                proposed.join(", ")
            );
            for _ in 0..answers.min(waiting.len()) {
                let id = waiting.remove(made % waiting.len());
                text += &serde_json::json!({"role": "tool", "tool_call_id": format!("c{id}"), "content": result})
                    .to_string();
                text.push('\n');
            }
            if says {
                text += "{\"role\": \"user\", \"content\": \"transfer me, please\"}\n";
            }
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn damaged_recordings_in_parts_come_to_the_same(
        at in 0..10_000usize,
        edits in edits(),
        beyond in prop::sample::select(BEYOND.to_vec()),
    ) {
        let (policy, all) = (samples::policy(), recordings());
        let (path, bytes) = &all[at % all.len()];
        let bytes = edited(bytes, &edits);
        let whole = judged(&bytes, &policy, Mode::Enforce, None);
        prop_assert_eq!(&judged(&bytes, &policy, Mode::Enforce, Some(beyond)).0, &whole.0, "{}", path.display());
    }

    #[test]
    fn conversations_in_parts_come_to_the_same(text in conversation(), beyond in 0..4_000usize) {
        let policy = samples::policy();
        for mode in [Mode::Enforce, Mode::Shadow] {
            let whole = judged(text.as_bytes(), &policy, mode, None);
            prop_assert_eq!(&judged(text.as_bytes(), &policy, mode, Some(beyond)).0, &whole.0);
        }
    }
}
