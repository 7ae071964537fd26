//! What conversion keeps of times, offered tools and refusals: the converted recordings have the counts that
//! `tests/oracles/traces/count.py` reads off the originals.

use std::collections::BTreeMap;
use std::path::Path;

use rulestep_base::session::Session;
use rulestep_base::session::write::Native;
use rulestep_recording::{self as recording, Options};
use serde::Deserialize;
use serde_json::Value;

use super::files;
use crate::sessions::recorded::traces;

/// What the oracle counted, a row a file.
#[derive(Deserialize)]
struct Oracle {
    columns: Vec<String>,
    files: BTreeMap<String, Vec<i64>>,
}

/// The oracle's columns, in its order.
const COLUMNS: [&str; 14] = [
    "sessions",
    "turns",
    "turns_timed",
    "turns_ms",
    "calls",
    "calls_timed",
    "calls_ms",
    "results",
    "results_timed",
    "results_ms",
    "offering_sessions",
    "offering_turns",
    "offered_names",
    "refused",
];
/// Sums of times are kept modulo this.
const PRIME: i64 = 999_983;

#[derive(Default)]
struct Counts {
    sessions: i64,
    turns: i64,
    turns_at: Times,
    calls: i64,
    calls_at: Times,
    results: i64,
    results_at: Times,
    offering_sessions: i64,
    offering_turns: i64,
    offered_names: i64,
    refused: i64,
}

/// How many of some things have a time, and the sum of these.
#[derive(Default)]
struct Times {
    count: i64,
    sum: i64,
}

impl Times {
    fn add(&mut self, at: Option<i64>) {
        if let Some(at) = at {
            self.count += 1;
            self.sum = (self.sum + at).rem_euclid(PRIME);
        }
    }
}

/// A call of a converted session that has no result yet.
struct Open<'a> {
    id: Option<&'a str>,
    tool: &'a str,
}

impl Counts {
    /// Adds a session, given as `convert` writes it.
    fn add(&mut self, document: &Value) {
        self.sessions += 1;
        let mut offered: BTreeMap<u64, usize> = BTreeMap::new();
        let mut offer = |turn: u64, tools: &Value| offered.insert(turn, tools.as_array().unwrap().len());
        if let Some(tools) = document.get("tools") {
            offer(1, tools);
        }
        for change in document.get("tools_at").and_then(Value::as_array).into_iter().flatten() {
            offer(change["turn"].as_u64().unwrap(), &change["tools"]);
        }
        let mut open: Vec<Open<'_>> = Vec::new();
        let (mut turn, mut key) = (0, None);
        for message in document["messages"].as_array().unwrap() {
            let at = message.get("at").and_then(instant);
            match message["role"].as_str().unwrap() {
                "assistant" => {
                    let of = message.get("id").and_then(Value::as_str);
                    if of.is_none() || of != key {
                        (turn, key) = (turn + 1, of);
                        self.turns += 1;
                        self.turns_at.add(at);
                        if let Some((_, names)) = offered.range(..=turn).next_back() {
                            self.offering_turns += 1;
                            self.offered_names += i64::try_from(*names).unwrap();
                        }
                    }
                    for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
                        self.calls += 1;
                        self.calls_at.add(call.get("at").map_or(at, instant));
                        let id = call.get("id").and_then(Value::as_str);
                        open.push(Open { id, tool: call["function"]["name"].as_str().unwrap() });
                    }
                }
                "tool" => {
                    let id = message.get("tool_call_id").and_then(Value::as_str);
                    let Some(of) = open.iter().position(|call| id.is_none() || call.id == id) else {
                        continue;
                    };
                    let call = open.remove(of);
                    self.results += 1;
                    self.results_at.add(at);
                    let marked = message.get("refused").is_some_and(|refused| *refused == true);
                    self.refused += i64::from(marked || refuses(&message["content"], call.tool));
                }
                _ => {}
            }
        }
        self.offering_sessions += i64::from(offered.range(..=turn).next().is_some());
    }

    fn row(&self) -> [i64; COLUMNS.len()] {
        [
            self.sessions,
            self.turns,
            self.turns_at.count,
            self.turns_at.sum,
            self.calls,
            self.calls_at.count,
            self.calls_at.sum,
            self.results,
            self.results_at.count,
            self.results_at.sum,
            self.offering_sessions,
            self.offering_turns,
            self.offered_names,
            self.refused,
        ]
    }
}

/// Milliseconds of a time in a converted session.
fn instant(at: &Value) -> Option<i64> {
    match at {
        Value::String(text) => Some(text.parse::<jiff::Timestamp>().unwrap().as_millisecond()),
        other => other.as_i64(),
    }
}

/// Whether a result is one of the published refusals.
fn refuses(content: &Value, tool: &str) -> bool {
    let Some(text) = content.as_str() else { return false };
    text.starts_with("[permission denied:")
        || text.trim() == format!("Tool '{tool}' is not available in this context.")
        || text.trim() == "Tool call rejected based on configured rejection plan"
}

fn converted(session: &Session) -> Value {
    serde_json::from_str(&serde_json::to_string(&Native(session)).unwrap()).unwrap()
}

fn counted(file: &Path) -> Counts {
    let mut counts = Counts::default();
    let input = Box::new(std::io::Cursor::new(std::fs::read(file).unwrap()));
    // Files that hold no session at all are refused.
    if let Ok(reading) = recording::open(file.to_str().unwrap(), input, &Options::default()) {
        reading.for_each(|session| counts.add(&converted(&session)));
    }
    counts
}

#[test]
fn converted_recordings_have_the_times_tools_and_refusals_of_the_originals() {
    let oracle: Oracle = serde_json::from_str(include_str!("../../oracles/traces/counts.json")).unwrap();
    assert_eq!(oracle.columns, COLUMNS);
    let Some(root) = traces("") else { return };
    let mut seen = 0;
    let mut differ = Vec::new();
    for file in files(&root) {
        let name = file.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        // The recordings lie in folders; beside these, their README.
        if !name.contains('/') {
            continue;
        }
        let Some(expected) = oracle.files.get(&name) else { panic!("the oracle does not know {name}") };
        seen += 1;
        for ((column, expected), found) in COLUMNS.iter().zip(expected).zip(counted(&file).row()) {
            if *expected != found {
                differ.push(format!("{name}: {column}: {expected} recorded, {found} converted"));
            }
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    assert_eq!(seen, oracle.files.len());
}
