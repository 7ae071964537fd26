//! A counter is its row in `replay::counts` and the line that increments it: whatever shows counters has each of them from there.

use std::sync::Arc;

use rulestep::case::read::read;
use rulestep::explore::identity::Identity;
use rulestep::report::ci::Issues;
use rulestep::report::merge::RunResult;
use rulestep::report::report_data::ReportData;
use rulestep::report::{DOCUMENTS, End, Look, OUTPUTS, Output, RunCounts, export};
use rulestep_base::source::Source;
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::counts::{Counter, session_json};
use rulestep_engine::replay::{Counts, Replay};
use rulestep_engine::run::Mode;
use serde_json::{Value, json};

const POLICY: &str = "{tool: refund, forbids_after: [refund]}";

fn policy() -> Arc<Policy> {
    let name: Arc<str> = "p.yaml".into();
    let file = PolicyFile { relative: Arc::clone(&name), name, text: POLICY.to_owned().into(), named: true };
    Policy::load(&[file], None).policy.unwrap()
}

/// Seven of one counter, and nothing else.
fn seven(counter: &Counter) -> RunCounts {
    let mut counts = serde_json::to_value(Counts::default()).unwrap();
    counts[counter.name] = json!(7);
    let mut total = RunCounts { counts: serde_json::from_value(counts).unwrap(), ..RunCounts::default() };
    let sessions = 0..total.counts.sessions;
    total.provenance.sessions = sessions.map(|of| Identity::of_text(&format!("{of}"))).collect();
    total
}

fn written(output: &Output, total: &RunCounts) -> String {
    let (policy, mut out) = (policy(), Vec::new());
    let (gathered, data) = (Issues::default(), ReportData::default());
    let end = End {
        total,
        policy: &policy,
        of_policy: &[],
        mode: Mode::Enforce,
        gathered: &gathered,
        data: &data,
        only: None,
        caveats: &[],
        command: "",
    };
    (output.end)(&end, &Look::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn named(name: &str) -> &'static Output {
    OUTPUTS.iter().chain(DOCUMENTS).find(|output| output.name == name).unwrap()
}

#[test]
fn totals_have_every_counter_and_add_it() {
    for counter in Counts::ALL {
        let json = written(named("json"), &seven(counter));
        let value: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["totals"][counter.name], 7, "{json}");
        assert_eq!((counter.value)(&seven(counter).counts), 7);
        if counter.name != "sessions" {
            let twice = RunResult::read(json.repeat(2).as_bytes()).unwrap();
            let mut merged = Vec::new();
            twice.write(&mut merged).unwrap();
            let merged: Value = serde_json::from_slice(&merged).unwrap();
            assert_eq!(merged["totals"][counter.name], 14, "{merged}");
        }
        let mut one = seven(counter);
        one.merge(&seven(counter));
        assert_eq!(one.counts.get(counter.name), Some(14));
    }
}

#[test]
fn sessions_have_every_counter() {
    let session = json!([{"role": "assistant", "tool_calls": [{"name": "refund"}, {"name": "refund"}]}]);
    let session = rulestep_recording::read("s.json", session.to_string()).unwrap().remove(0);
    let session = Arc::new(session);
    let mut rows = Vec::new();
    let sessions = export::TABLES.iter().find(|table| table.name == "sessions").unwrap();
    let replay = Replay::new(&session, &policy(), Mode::Enforce);
    (sessions.rows)(&replay, &mut rows).unwrap();
    let row: Value = serde_json::from_slice(&rows).unwrap();
    assert_eq!((row["calls"].clone(), row["deny"].clone()), (json!(2), json!(1)), "{row}");
    for counter in Counts::of_session() {
        let summary = session_json(&seven(counter).counts, serde_json::value::Serializer).unwrap();
        assert_eq!(summary[counter.name], 7, "{summary}");
        assert!(row[counter.name].is_u64(), "{}: {row}", counter.name);
        let text = format!(
            "policy: {POLICY}\nsession: [{{role: user, content: hi}}]\nexpect:\n  - {{summary: {{{}: 7}}}}\n",
            counter.name
        );
        let cases = read(&Source::new("c.case.yaml", text.as_str()), true);
        assert!(cases.diagnostics.is_empty(), "{:?}", cases.diagnostics);
        assert_eq!(cases.cases.len(), 1);
    }
}

#[test]
fn a_counter_with_words_is_in_every_document() {
    let worded: Vec<&Counter> = Counts::ALL.iter().filter(|counter| counter.words.is_some()).collect();
    assert!(worded.len() > 1);
    for counter in worded {
        let many = counter.words.unwrap()[1];
        let total = seven(counter);
        for output in ["text", "markdown"] {
            let document = written(named(output), &total);
            assert!(document.contains(&format!("7 {many}")), "{output}: {document}");
        }
        let page = written(named("html"), &total);
        assert!(page.contains(&format!("<dt>{many}</dt><dd>7</dd>")), "{page}");
    }
}
