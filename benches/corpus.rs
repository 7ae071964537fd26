//! Recordings end to end: bytes to verdicts, beside plain parsing of the same bytes.
//!
//! `cargo bench --bench corpus`. Without recordings in `../shared/traces/tau-bench` it makes one of the same shape.

#![expect(clippy::expect_used, reason = "a benchmark may fail")]

use std::fs;
use std::io::Cursor;
use std::sync::Arc;

use divan::{Bencher, counter::BytesCount};
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::{Replay, outcomes};
use rulestep_engine::run::Mode;
use rulestep_recording::{Options, open};
use serde_json::{Value, json, value::RawValue};

fn main() {
    divan::main();
}

/// The largest of the recordings, or one like it.
fn bytes() -> Vec<u8> {
    fs::read("../shared/traces/tau-bench/retail-tool-calling.json").unwrap_or_else(|_| made())
}

fn made() -> Vec<u8> {
    let episode = |task: u32| {
        let mut traj = vec![json!({"role": "user", "content": "Please look at my order. ".repeat(8)})];
        for call in 0..8 {
            let arguments = json!({"order_id": format!("#W{call}")}).to_string();
            let id = format!("call_{call}");
            let function = json!({"name": "get_order_details", "arguments": arguments});
            traj.push(json!({"role": "assistant", "content": null,
                "tool_calls": [{"id": id, "type": "function", "function": function}]}));
            traj.push(json!({"role": "tool", "tool_call_id": id, "name": "get_order_details",
                "content": json!({"status": "delivered", "items": vec!["item"; 200]}).to_string()}));
        }
        json!({"task_id": task, "reward": 1.0, "info": {}, "traj": traj})
    };
    Value::from((0..100).map(episode).collect::<Vec<_>>()).to_string().into_bytes()
}

fn policy() -> Arc<Policy> {
    let contract = |tool: &str| {
        let text = format!(
            "tool: {tool}\npreconditions:\n  - requires_prior_tool: get_order_details\n    \
             resource: {{bind_from: arguments, path: $.order_id}}\n    \
             with_output: [{{path: $.status, equals: delivered}}]\nforbids_after: [{tool}]\n"
        );
        let name = format!("{tool}.yaml");
        PolicyFile { name: name.as_str().into(), relative: name.into(), text: text.into(), named: true }
    };
    let tools =
        ["exchange_delivered_order_items", "return_delivered_order_items", "modify_pending_order_items"];
    let files: Vec<PolicyFile> = tools.into_iter().map(contract).collect();
    Policy::load(&files, None).policy.expect("the policy is sound")
}

/// The yardstick: serde_json into a tree of values.
#[divan::bench]
fn parse_values(bencher: Bencher<'_, '_>) {
    let bytes = bytes();
    bencher
        .counter(BytesCount::new(bytes.len()))
        .bench(|| serde_json::from_slice::<Value>(divan::black_box(&bytes)).expect("the recording is JSON"));
}

/// The floor: serde_json to the end of the text, without a tree.
#[divan::bench]
fn parse_raw(bencher: Bencher<'_, '_>) {
    let bytes = bytes();
    bencher
        .counter(BytesCount::new(bytes.len()))
        .bench(|| serde_json::from_slice::<Vec<&RawValue>>(divan::black_box(&bytes)).map(|list| list.len()));
}

/// Reading alone: sessions with turns, calls and outcomes.
#[divan::bench]
fn read_sessions(bencher: Bencher<'_, '_>) {
    let bytes = bytes();
    bencher.counter(BytesCount::new(bytes.len())).bench(|| {
        let reading = open("tau.json", Box::new(Cursor::new(bytes.clone())), &Options::default());
        reading.expect("the recording is known").count()
    });
}

/// What `replay --summary` does.
#[divan::bench]
fn read_and_sum_up(bencher: Bencher<'_, '_>) {
    let (bytes, policy) = (bytes(), policy());
    bencher.counter(BytesCount::new(bytes.len())).bench(|| {
        let reading = open("tau.json", Box::new(Cursor::new(bytes.clone())), &Options::default());
        let sessions = reading.expect("the recording is known");
        sessions.map(|session| outcomes(&session, &policy, Mode::Enforce).summary.deny).sum::<u64>()
    });
}

/// What the workbench does before it shows a session: every decision with its evidence.
#[divan::bench]
fn read_and_replay(bencher: Bencher<'_, '_>) {
    let (bytes, policy) = (bytes(), policy());
    bencher.counter(BytesCount::new(bytes.len())).bench(|| {
        let reading = open("tau.json", Box::new(Cursor::new(bytes.clone())), &Options::default());
        let sessions = reading.expect("the recording is known");
        sessions
            .map(|session| Replay::new(&Arc::new(session), &policy, Mode::Enforce).summary().deny)
            .sum::<u64>()
    });
}
