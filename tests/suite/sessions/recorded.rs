//! Single points of real recordings, where they are at hand; and the fixtures, point by point.

use std::path::{Path, PathBuf};

use rulestep_base::session::{Body, MessageKind, Operation, Outcome, Results};
use rulestep_recording as recording;
use serde_json::json;

use super::{opened, told};
use crate::skipped::skipped;

pub fn traces(folder: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/traces").join(folder);
    if !path.is_dir() {
        skipped("no recordings beside the project");
        return None;
    }
    Some(path)
}

#[test]
fn arguments_in_python_notation_are_read() {
    let Some(path) = traces("tau-bench") else { return };
    let (sessions, of_file) = opened(std::fs::read(path.join("retail-assertions-agent-noids.json")).unwrap());
    let unread =
        sessions.iter().flat_map(|s| &s.calls).filter(|call| call.arguments.parsed().is_none()).count();
    assert_eq!(unread, 0);
    let unmarked =
        of_file.iter().find(|d| d.code == rulestep_base::diagnostic::code::NO_ERRORS_MARKED).unwrap();
    assert_eq!(unmarked.message, "none of 224 results is marked as failed");
}

/// Legacy calls, offered tools under another name, context kept apart.
#[test]
fn real_chat_recordings_keep_what_was_offered() {
    let Some(path) = traces("openai-chat-tools") else { return };
    let (legacy, _) = opened(std::fs::read(path.join("toucan-legacy-function-call.json")).unwrap());
    let [session] = &legacy[..] else { panic!("{} sessions", legacy.len()) };
    assert_eq!(&*session.id, "toucan_sample_0");
    assert_eq!(&*session.calls[0].tool, "exa-search-web_search_exa");
    assert_eq!(session.calls[0].outcome, Outcome::Ok);
    assert_eq!(&*session.offered_in(1).unwrap()[0].name, "exa-search-web_search_exa");
    let (chats, _) = opened(std::fs::read(path.join("swe-gym-openhands.json")).unwrap());
    assert_eq!(&*chats[0].id, "python__mypy-15976_0");
    let offered: Vec<_> = chats[0].offered_in(1).unwrap().iter().map(|tool| &*tool.name).collect();
    assert_eq!(offered, ["execute_bash", "finish", "str_replace_editor"]);
}

/// Files are read in parallel.
#[test]
fn a_reading_can_go_to_another_thread() {
    fn is_send<T: Send>() {}
    is_send::<recording::Reading>();
}

/// Made up samples of other shapes: two with a call, two without any.
#[test]
fn synthetic_samples_are_read_or_refused_with_a_reason() {
    let Some(path) = traces("synthetic-fixtures") else { return };
    let open = |name: &str| {
        let input = std::io::Cursor::new(std::fs::read(path.join(name)).unwrap());
        recording::open(name, Box::new(input), &recording::Options::default())
    };
    for (name, format, call) in [
        ("vercel-ai-uimessage-valid.vercel-ai.json", "vercel-ai", "searchFlights"),
        ("openai-agents-trace-success.openai-agents.ndjson", "openai-agents", "lookup_policy"),
    ] {
        let reading = open(name).unwrap();
        assert_eq!(reading.format(), format);
        let sessions: Vec<_> = reading.collect();
        let calls: Vec<_> = sessions.iter().flat_map(|session| &session.calls).collect();
        assert_eq!(
            calls.iter().map(|call| (&*call.tool, call.outcome)).collect::<Vec<_>>(),
            [(call, Outcome::Ok)]
        );
    }
    for (name, what) in [
        ("langfuse-experiment-valid.langfuse.json", "an item of an experiment, which holds no tool calls"),
        ("langgraph-task-success.langgraph.ndjson", "a stream of LangGraph tasks, which holds no tool calls"),
    ] {
        let refused = open(name).err().unwrap();
        assert!(refused.message.contains(what), "{}", refused.message);
    }
}

#[test]
fn the_native_fixture_is_read_point_by_point() {
    let (sessions, of_file) = opened(include_bytes!("../../fixtures/sessions/native.json"));
    let [session] = &sessions[..] else { panic!("{} sessions", sessions.len()) };
    assert_eq!((&*session.id, session.parent.as_deref()), ("refund-124", Some("shift-7")));
    let facts = &session.facts;
    assert_eq!(facts.context.as_ref().unwrap()["user_role"], json!("standard"));
    assert_eq!(facts.variables.as_ref().unwrap()["customer"], json!({"name": "Ada"}));
    assert_eq!(facts.files.as_deref(), Some(&["config.yaml".to_owned()][..]));
    assert_eq!((facts.now, facts.results), (Some(1_777_888_800_000), Results::Recorded));
    let names = |turn| session.offered_in(turn).unwrap().iter().map(|tool| &*tool.name).collect::<Vec<_>>();
    assert_eq!((names(1), names(2)), (vec!["lookup_order", "issue_refund"], vec!["lookup_order"]));

    let turns: Vec<_> =
        session.turns.iter().map(|t| (t.messages.clone(), t.calls.clone(), t.late.clone())).collect();
    assert_eq!(turns, [(2..4, 0..3, vec![]), (7..8, 3..4, vec![2])]);
    let outcomes: Vec<_> =
        session.calls.iter().map(|call| (call.id.as_deref().unwrap(), call.outcome, call.in_turn)).collect();
    assert_eq!(
        outcomes,
        [
            ("c1", Outcome::Ok, true),
            ("c2", Outcome::Error, true),
            ("c3", Outcome::Ok, false),
            ("c4", Outcome::Refused, true)
        ]
    );
    assert_eq!(session.calls[1].arguments, Body::json(r#"{"order_id": "ORD-9007199254740993"}"#));
    assert_eq!(session.calls[2].arguments, Body::text("{'order_id': 'ORD-124'}"));
    assert_eq!(session.calls[0].time, None);
    assert_eq!(session.time_of(&session.turns[0]), Some(1_777_888_801_500));
    assert_eq!(session.messages[1].content.shown(), "Refund\nORD-124");
    let operation = |kind: &MessageKind| match kind {
        MessageKind::Operation(operation) => Some(operation.clone()),
        _ => None,
    };
    let operations: Vec<_> = session.messages.iter().filter_map(|message| operation(&message.kind)).collect();
    assert_eq!(operations, [Operation::Snapshot("before".into()), Operation::Restore("before".into())]);
    let lines: Vec<_> = session.messages.iter().map(|message| message.line).collect();
    assert_eq!(lines, [15, 16, 17, 18, 28, 29, 30, 31, 32, 33, 34, 35]);
    assert_eq!(
        told(&sessions, &of_file),
        [
            "some.json: error[damaged_record]: the file could not be read completely: 1 part of the file is \
             damaged or skipped, and may have contained calls",
            "some.json:18: warning[arguments_not_json]: the arguments of a call to `issue_refund` are not JSON; they \
             are kept as text",
            "some.json:34: warning[result_without_call]: result for call `c9`, which is not in this recording",
        ]
    );
}

#[test]
fn lines_with_blanks_between_and_older_calls_are_read() {
    let (sessions, of_file) = opened(include_bytes!("../../fixtures/sessions/lines.jsonl"));
    let seen: Vec<_> =
        sessions.iter().map(|s| (&*s.id, s.origin.index, s.origin.line, s.calls.len())).collect();
    assert_eq!(seen, [("one", 0, 1, 1), ("two", 1, 3, 1), ("some#2", 2, 4, 0)]);
    assert!(sessions.iter().flat_map(|s| &s.calls).all(|call| call.outcome == Outcome::Ok));
    assert_eq!(told(&sessions, &of_file), [""; 0]);
}

#[test]
fn bare_messages_are_one_session_and_pair_in_order() {
    let (sessions, of_file) = opened(include_bytes!("../../fixtures/sessions/messages.json"));
    let [session] = &sessions[..] else { panic!("{} sessions", sessions.len()) };
    assert_eq!(&*session.id, "some");
    let outputs: Vec<_> = session.calls.iter().map(|call| (&*call.tool, call.output.raw())).collect();
    assert_eq!(outputs, [("first", "of the first"), ("second", "of the second")]);
    assert_eq!(told(&sessions, &of_file), [""; 0]);
}

#[test]
fn the_tau_bench_fixture_is_read_point_by_point() {
    let (sessions, of_file) = opened(include_bytes!("../../fixtures/sessions/tau-bench.json"));
    let [first, second] = &sessions[..] else { panic!("{} sessions", sessions.len()) };
    assert_eq!((&*first.id, &*second.id), ("task-4-trial-1", "task-5-trial-1"));
    assert_eq!(first.facts.context, Some(json!({"task_id": 4, "trial": 1, "reward": 0.0})));
    let outcomes: Vec<_> = first.calls.iter().map(|call| (&*call.tool, call.outcome)).collect();
    assert_eq!(outcomes, [("find_user", Outcome::Error), ("get_order", Outcome::Ok)]);
    let expected = json!({"order_id": "#W2", "note": "it's", "ids": ["1", "2"], "sure": true, "why": null});
    assert_eq!(second.calls[0].arguments.parsed(), Some(&expected));
    assert_eq!(
        told(&sessions, &of_file),
        [
            "some.json: notice[arguments_not_json]: the arguments of 1 call are in Python notation, and are read as such"
        ]
    );
}
