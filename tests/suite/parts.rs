//! Sessions that are judged while they are read come to what they come to as a whole, whatever stands in the file.

mod forks;

use std::io::{BufRead, Cursor};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use rulestep::engine::Mode;
use rulestep::policy::Policy;
use rulestep::recording::{self, Options, Piece};
use rulestep::replay::corpus::{Judge, Read};
use rulestep::replay::outcomes;
use rulestep::session::{Call, MessageKind, Part, Session};
use serde_json::json;

use super::{policies, samples};
use crate::skipped::skipped;

mod long;
mod traced;

use long::long;

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
    let mut reading = match recording::open("some.jsonl", input().unwrap(), &options) {
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
                (*session, outcomes)
            }
            Some(Read::Judged(session, outcomes)) => {
                in_parts += 1;
                (*session, *outcomes)
            }
        };
        let Session { id, origin, title, began, parent, offered, diagnostics, facts, .. } = session;
        told.push(format!("{id} {origin:?} {title:?} {began:?} {parent:?} {offered:?} {diagnostics:#?} {facts:?} {outcomes:?}"));
    }
    told.push(format!("{of_file:#?}"));
    (told, in_parts)
}

/// The sessions of a file as they are whole, put together of their parts, and how many pieces that were.
fn joined(bytes: &[u8], parts_beyond: Option<usize>) -> (Vec<Session>, usize) {
    let shared: Arc<[u8]> = bytes.into();
    let input = move || -> std::io::Result<Box<dyn BufRead + Send>> {
        Ok(Box::new(Cursor::new(Arc::clone(&shared))))
    };
    let again = Arc::new(input.clone());
    let options = Options { again: Some(again), parts_beyond, ..Options::default() };
    let mut reading = recording::open("some.jsonl", input().unwrap(), &options).unwrap();
    let (mut sessions, mut open, mut pieces) = (Vec::new(), Vec::new(), 0);
    while let Some(piece) = reading.piece() {
        pieces += 1;
        match piece {
            Piece::Whole(session) => sessions.push(session),
            Piece::Part(part) => open.push(part),
            Piece::Last(part) => {
                open.push(part);
                sessions.push(whole(std::mem::take(&mut open)));
            }
            Piece::Again => open.clear(),
        }
    }
    (sessions, pieces)
}

/// The session that these are the parts of.
fn whole(parts: Vec<Part>) -> Session {
    let (mut messages, mut turns, mut calls) = (Vec::new(), Vec::new(), Vec::<Call>::new());
    let (mut alternatives, mut last) = (Vec::new(), None);
    for Part { mut session, first, answered } in parts {
        assert_eq!(first as usize, calls.len());
        for call in answered {
            let known = &mut calls[call.at.index as usize];
            *known = Call { arguments: known.arguments.clone(), ..call };
        }
        let (said, called) = (messages.len(), calls.len());
        for mut turn in std::mem::take(&mut session.turns) {
            turn.messages = turn.messages.start + said..turn.messages.end + said;
            turn.calls = turn.calls.start + called..turn.calls.end + called;
            turns.push(turn);
        }
        calls.append(&mut session.calls);
        alternatives.append(&mut session.alternatives);
        for (place, message) in std::mem::take(&mut session.messages).into_iter().enumerate() {
            if let MessageKind::Result(Some(index), _) = message.kind {
                calls[index as usize].result = Some(said + place);
            }
            messages.push(message);
        }
        last = Some(session);
    }
    Session { messages, turns, calls, alternatives, ..last.unwrap() }
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
        skipped("no recordings beside the project");
    }
    const FOLDERS: [&str; 10] = [
        "claude-code",
        "claude-code-edge",
        "codex-rollout",
        "codex-exec-json",
        "otel",
        "agentfootprint",
        "assay-trace",
        "gemini-cli",
        "mcp-jsonrpc",
        "openhands-events",
    ];
    for folder in FOLDERS {
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

#[test]
fn long_sessions_come_in_parts() {
    let policy = samples::policy();
    for format in long::FORMATS {
        let text = long(format, 60);
        let whole = judged(text.as_bytes(), &policy, Mode::Enforce, None);
        assert!(whole.0.concat().contains("calls: 120"), "{format}: {:?}", whole.0);
        for beyond in [0, 1_000, 4_000] {
            let parts = judged(text.as_bytes(), &policy, Mode::Enforce, Some(beyond));
            assert_eq!((parts.0, parts.1), (whole.0.clone(), 1), "{format} beyond {beyond}");
            let (joined, count) = joined(text.as_bytes(), Some(beyond));
            assert_eq!(joined, self::joined(text.as_bytes(), None).0, "{format} beyond {beyond}");
            assert!(count > 1, "{format} beyond {beyond} came in {count} parts");
        }
    }
}

/// What may have been a refusal is counted over all parts, whether its result stands in the part of its call or later.
#[test]
fn counted_refusals_are_the_same_in_parts() {
    let forbidden =
        |text: &str| json!({"sequence": ["x"], "action": "deny", "reason": "a:b", "tellLLM": text});
    let text =
        json!({"dialect": "sequence_policy", "id": "p", "forbidden": [forbidden("a7"), forbidden("b41")]});
    let policy = policies::policy("p.json", &text.to_string());
    let mut counted = 0;
    for format in long::FORMATS {
        let text = long(format, 60);
        let whole = judged(text.as_bytes(), &policy, Mode::Enforce, None);
        counted += whole.0.concat().matches("CountedRefusals {").count();
        for beyond in [0, 1_000, 4_000] {
            let parts = judged(text.as_bytes(), &policy, Mode::Enforce, Some(beyond));
            assert_eq!(parts, (whole.0.clone(), 1), "{format} beyond {beyond}");
        }
    }
    assert!(counted >= 2 * 12, "{counted}");
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
            "claude-code",
            json!({"type": "result", "session_id": "s", "permission_denials": [{"tool_use_id": "a3"}]}),
        ),
        (
            "codex-rollout",
            json!({"type": "event_msg", "payload": {"type": "exec_command_end", "call_id": "a3",
            "exit_code": 1}}),
        ),
        (
            "qwen-code",
            json!({"type": "user", "sessionId": "s", "uuid": "again", "parentUuid": "u4",
            "message": {"parts": [{"text": "no, from there"}]}}),
        ),
        ("gemini-cli", json!({"$rewindTo": "m3"})),
        ("gemini-cli", json!({"$rewindTo": "gone"})),
        ("gemini-cli", json!({"id": "m3", "type": "gemini", "content": "so"})),
        ("mcp", json!({"jsonrpc": "2.0", "id": "c", "result": {"content": "[permission denied: policy]"}})),
        (
            "assay",
            json!({"type": "tool_call", "episode_id": "e", "step_id": "s3", "tool_name": "t", "result": 1}),
        ),
        (
            "otel-flat",
            json!({"trace_id": "t", "span_id": "late", "parent_span_id": "r3", "name": "span",
            "start_time": "1777888832000000000", "attributes": {"gen_ai.tool.name": "t"}}),
        ),
        (
            "otel-flat",
            json!({"trace_id": "t", "span_id": "late", "parent_span_id": "run", "name": "span",
            "start_time": "1777888832000000000", "attributes": {"gen_ai.operation.name": "chat"}}),
        ),
    ];
    for (format, late) in late {
        let call = json!({"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "t", "arguments": "{}"}}]});
        let before = match format {
            "native" => format!("{call}\n"),
            "mcp" => {
                json!({"jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": {"name": "t"}})
                    .to_string()
                    + "\n"
            }
            _ => String::new(),
        };
        let mut text = format!("{before}{}", long(format, 60));
        if format == "assay" {
            // Behind its end an episode begins anew.
            text.truncate(text.trim_end().rfind('\n').unwrap() + 1);
        }
        text += &format!("{late}\n");
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
    let mut reading = recording::open("-", Box::new(Cursor::new(text.into_bytes())), &options).unwrap();
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
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

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

    #[test]
    fn damaged_long_sessions_in_parts_come_to_the_same(
        format in prop::sample::select(long::FORMATS.to_vec()),
        edits in edits(),
        beyond in prop::sample::select(BEYOND.to_vec()),
    ) {
        let bytes = edited(long(format, 16).as_bytes(), &edits);
        the_same(&bytes, beyond)?;
    }

    #[test]
    fn spans_in_parts_come_to_the_same(text in traced::spans(), beyond in 0..4_000usize) {
        the_same(text.as_bytes(), beyond)?;
    }
}

/// What is told of a file, and its sessions, are the same in parts.
fn the_same(bytes: &[u8], beyond: usize) -> Result<(), TestCaseError> {
    let policy = samples::policy();
    let whole = judged(bytes, &policy, Mode::Enforce, None);
    prop_assert_eq!(&judged(bytes, &policy, Mode::Enforce, Some(beyond)).0, &whole.0);
    if recording::open("some.jsonl", Box::new(Cursor::new(bytes.to_vec())), &Options::default()).is_ok() {
        prop_assert_eq!(joined(bytes, Some(beyond)).0, joined(bytes, None).0);
    }
    Ok(())
}

/// A call without an id follows from the latest request before it, and that may come when the call was told.
#[test]
fn a_request_that_comes_late_has_its_calls() {
    let file = [
        r#"{"run_type": "tool", "id": "t", "name": "h", "start_time": "4", "outputs": ""}"#,
        r#"{"run_type": ""}"#,
        r#"{"run_type": "tool", "trace_id": "t", "parent_run_id": "t", "start_time": "2"}"#,
        r#"{"run_type": "llm", "trace_id": "t", "parent_run_id": "t"}"#,
        r#"{"run_type": "llm", "trace_id": "t", "parent_run_id": "t", "start_time": "1"}"#,
    ];
    let (whole, _) = joined(file.join("\n").as_bytes(), None);
    assert_eq!(whole[0].calls[0].at.turn, 2);
    for beyond in BEYOND {
        assert_eq!(joined(file.join("\n").as_bytes(), Some(beyond)).0, whole, "beyond {beyond} bytes");
    }
}

/// A session whose end cannot be told yet, since no result came so far, is read again before another one is handed on.
#[test]
fn parts_of_two_sessions_never_stand_among_each_other() {
    let call = r#"{"role": "assistant", "content": [{"type": "tool_use"}]}"#;
    let said = r#"{"role": "assistant"}"#;
    let file = format!("{call}\na[\n[\n {call} {said}]{said},\n{said},\n");
    let input = move || -> std::io::Result<Box<dyn BufRead + Send>> {
        Ok(Box::new(Cursor::new(file.clone().into_bytes())))
    };
    let again = Some(Arc::new(input.clone()) as recording::Again);
    let format = recording::named("anthropic");
    let options = Options { format, again, parts_beyond: Some(0), ..Options::default() };
    let mut reading = recording::open("some.jsonl", input().unwrap(), &options).unwrap();
    let mut open = 0;
    while let Some(piece) = reading.piece() {
        match piece {
            Piece::Part(part) => {
                assert_eq!(part.first, open);
                open += part.session.calls.len() as u32;
            }
            Piece::Last(part) => assert_eq!(part.first, std::mem::take(&mut open)),
            Piece::Again => open = 0,
            Piece::Whole(_) => {}
        }
    }
}

/// What proptest has found, whole: lines of a fixture as they were edited.
#[rstest::rstest]
// The look that follows upon a second one still knows what the first one told.
#[case::a_third_look("assay", &[Edit::Repeat(12, 9), Edit::CutOff(8)], "the value is not closed")]
// What a run offers holds from its first call on, also where that call follows from no request.
#[case::a_run_that_offers_late("openai-agents", &[Edit::Move(1, 4), Edit::Drop(1)], "OfferedFrom { turn: 1")]
fn edited_files_in_parts(#[case] fixture: &str, #[case] edits: &[Edit], #[case] told: &str) {
    let name = format!("tests/fixtures/sessions/{fixture}.jsonl");
    let file = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
    let (file, policy) = (edited(&file, edits), samples::policy());
    let whole = judged(&file, &policy, Mode::Enforce, None).0;
    assert!(whole.iter().any(|whole| whole.contains(told)), "{whole:#?}");
    for beyond in BEYOND {
        assert_eq!(judged(&file, &policy, Mode::Enforce, Some(beyond)).0, whole, "beyond {beyond} bytes");
        assert_eq!(joined(&file, Some(beyond)).0, joined(&file, None).0, "beyond {beyond} bytes");
    }
}
