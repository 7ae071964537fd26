//! A log of the protocol, sent through the proxy, is decided as a replay of the log is.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use rulestep::live::agent::Answer;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use rulestep_engine::{Policy, Session};
use serde_json::{Value, json};

use super::{Connection, call, result};
use crate::live::records;
use crate::sessions::recorded::traces;

pub const POLICY: &str = "\
tool: b
preconditions: [{requires_prior_tool: a}]
---
tool: c
forbids_after: [a, c]
---
tool: complex_tool
preconditions: [{requires_prior_tool: valid_tool}]
---
tool: orphan_request
preconditions: [{requires_prior_tool: complex_tool}]
---
rules: [{type: max_calls, tool: d, max: 2}]
";

/// Sends a log; what is decided about its calls.
fn compare(log: &[Value]) -> Vec<String> {
    let connection = Connection::with(POLICY, Mode::Shadow, None, |_| Answer::Silent);
    for message in log {
        if message["method"].is_string() {
            connection.client(message)
        } else {
            connection.server(message)
        };
    }
    assert!(!connection.calls(Mode::Shadow).is_empty());
    decided(log, &connection.journal(), &connection.policy)
}

/// What was decided about the calls of a log that passed live: the same as in its replay.
pub fn decided(log: &[Value], journal: &Path, policy: &Path) -> Vec<String> {
    let live: Vec<String> =
        records(journal).iter().filter_map(|record| record["decision"].as_str().map(str::to_owned)).collect();
    let text: String = log.iter().map(|message| format!("{message}\n")).collect();
    let recorded = rulestep_recording::read("log.jsonl", text.clone().into_bytes()).unwrap().remove(0);
    let policy = Policy::from_dir(policy).unwrap();
    let replay = Replay::new(&Arc::new(recorded.clone()), &policy, Mode::Shadow);
    let replayed: Vec<&str> = replay.calls().iter().map(|call| call.decision.verdict.word()).collect();
    let journal = rulestep_recording::read("s.jsonl", fs::read(journal).unwrap()).unwrap().remove(0);
    let places =
        |session: &Session| session.calls.iter().map(|call| (call.at, call.outcome)).collect::<Vec<_>>();
    assert_eq!(places(&journal), places(&recorded), "{text}");
    assert_eq!(live, replayed, "{text}");
    live
}

#[test]
fn recorded_logs_are_decided_as_their_replay() {
    let Some(folder) = traces("mcp-jsonrpc") else { return };
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let log: Vec<Value> = serde_json::from_str(&text).unwrap();
        // A response to nothing: no server sends one, and the reader reports it.
        let log: Vec<Value> = log.into_iter().filter(|message| message["error"].is_null()).collect();
        seen += compare(&log).len();
    }
    assert!(seen > 0);
}

#[test]
fn made_logs_are_decided_as_their_replay() {
    let mut decided = BTreeMap::new();
    for log in made() {
        for word in compare(&log) {
            *decided.entry(word).or_insert(0) += 1;
        }
    }
    assert!(decided["deny"] > 50 && decided["allow"] > 50, "{decided:?}");
}

/// Orders in which calls and results may come, up to a length.
pub fn made() -> Vec<Vec<Value>> {
    let mut random = 1_u64;
    let mut next = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let mut logs = Vec::new();
    for _ in 0..60 {
        let (mut log, mut open, mut id) = (Vec::new(), Vec::new(), 0);
        for _ in 0..12 {
            let ends = !open.is_empty() && next(2) == 0;
            if !ends {
                id += 1;
                open.push(id);
                log.push(call(id, ["a", "b", "c", "d"][next(4) as usize]));
                continue;
            }
            let ended = open.remove(next(open.len() as u64) as usize);
            log.push(match next(4) {
                0 => json!({"jsonrpc": "2.0", "id": ended, "result": {"content": [], "isError": true}}),
                1 => json!({"jsonrpc": "2.0", "id": ended, "error": {"code": 1, "message": "no"}}),
                2 if next(2) == 0 => {
                    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": ended}})
                }
                _ => result(ended),
            });
        }
        logs.push(log);
    }
    logs
}
