//! What a decision of sequence policies and tool policies costs in ever longer sessions, and what a fork of them costs.
//!
//! `cargo bench --bench policies`. As in `decide`, the engine alone, in summary: `items/s` counts calls.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a benchmark may fail")]

use std::sync::Arc;

use divan::{Bencher, counter::ItemsCount};
use toolgate::engine::{Mode, NewCall, Run};
use toolgate::monitor::Depth;
use toolgate::policy::{Policy, PolicyFile};
use toolgate::replay;
use toolgate::session::build::{Builder, Mark};
use toolgate::session::{Body, Origin, Outcome, Session};

const LENGTHS: [usize; 4] = [100, 1_000, 10_000, 100_000];

fn main() {
    divan::main();
}

fn policy(text: &str) -> Arc<Policy> {
    let file = PolicyFile { name: "p".into(), relative: "p".into(), text: text.into(), named: true };
    let loaded = Policy::load(&[file], None);
    assert!(loaded.diagnostics.is_empty(), "{}", loaded.diagnostics[0]);
    loaded.policy.expect("the policy is sound")
}

/// Twenty sequences of up to five calls that are never quite complete, ten limits out of reach, and halts, so that
/// every dispatched name is kept.
fn sequence_policy() -> Arc<Policy> {
    let mut text = "forbidden:\n".to_owned();
    for rule in 0..20 {
        let (prefix, length) = (rule % 4, rule % 4);
        let steps = vec![format!("{{namePrefix: tool_{prefix}}}"); length + 1].join(", ");
        text += &format!("  - {{sequence: [{steps}, tool_9], action: halt, reason: security:x}}\n");
    }
    text += "limits:\n";
    for tool in 0..9 {
        text += &format!("  tool_{tool}: {{maxPerSession: 1000000, action: deny, reason: cost:x}}\n");
    }
    policy(&text)
}

fn tool_policy() -> Arc<Policy> {
    let needs: Vec<String> = (1..9).map(|tool| format!("tool_{tool}: [tool_{}, tool_0]", tool - 1)).collect();
    policy(&format!(
        "policies:\n  - {{type: sequential_dependency, dependencies: {{{}}}}}\n  - {{type: read_before_write, mount_point: /w}}\n\
         existing_files: [a]\n",
        needs.join(", ")
    ))
}

/// Turns of one call each, with its tool and path.
fn session(calls: usize, call: impl Fn(usize) -> (String, String)) -> Session {
    let mut build =
        Builder::new("bench", Origin { file: "bench".into(), index: 0, format: "native", line: 1 });
    for number in 0..calls {
        let (tool, path) = call(number);
        build.response(None, Body::MISSING, None);
        build.call(None, &tool, Body::text(format!(r#"{{"path": "{path}", "content": "…"}}"#)), None);
        build.result(None, Body::text("done"), Mark::default(), None);
    }
    let session = build.finish();
    for call in &session.calls {
        let _ = call.arguments.value();
    }
    session
}

fn play(bencher: Bencher<'_, '_>, session: &Session, policy: &Arc<Policy>) {
    bencher
        .counter(ItemsCount::new(session.calls.len()))
        .bench(|| replay::outcomes(divan::black_box(session), policy, Mode::Enforce));
}

#[divan::bench(args = LENGTHS)]
fn sequences_and_limits(bencher: Bencher<'_, '_>, calls: usize) {
    let session = session(calls, |call| (format!("tool_{}", call % 9), String::new()));
    play(bencher, &session, &sequence_policy());
}

#[divan::bench(args = LENGTHS)]
fn dependencies(bencher: Bencher<'_, '_>, calls: usize) {
    let session = session(calls, |call| (format!("tool_{}", call % 9), String::new()));
    play(bencher, &session, &tool_policy());
}

/// A thousand files that come again: read, then written.
#[divan::bench(args = LENGTHS)]
fn files_that_come_again(bencher: Bencher<'_, '_>, calls: usize) {
    files(bencher, calls, 1000);
}

/// Ever new files, so that what is recorded grows to the end.
#[divan::bench(args = LENGTHS)]
fn ever_new_files(bencher: Bencher<'_, '_>, calls: usize) {
    files(bencher, calls, usize::MAX);
}

fn files(bencher: Bencher<'_, '_>, calls: usize, distinct: usize) {
    let session = session(calls, |call| {
        let tool = if call % 2 == 0 { "read_file" } else { "write_file" };
        (tool.to_owned(), format!("/w/src/{}/file.rs", call / 2 % distinct))
    });
    play(bencher, &session, &tool_policy());
}

/// A fork of a run behind so many calls with ever new files, and one more call in it.
#[divan::bench(args = LENGTHS)]
fn fork(bencher: Bencher<'_, '_>, calls: usize) {
    let (policy, facts) = (tool_policy(), Arc::default());
    let mut run = Run::new(&policy, Mode::Enforce, Depth::Verdict, &facts);
    for call in 0..calls {
        run.begin_turn(None);
        let arguments = Body::text(format!(r#"{{"path": "/w/src/{call}/file.rs"}}"#));
        let (ticket, _) = run.propose(NewCall { tool: "read_file", arguments: &arguments });
        run.resolve(ticket, Outcome::Ok, &Body::MISSING);
        run.end_turn();
    }
    let arguments = Body::text(r#"{"path": "/w/new.rs"}"#);
    bencher.bench_local(|| {
        let mut fork = run.fork();
        fork.begin_turn(None);
        let (ticket, decision) = fork.propose(NewCall { tool: "write_file", arguments: &arguments });
        fork.resolve(ticket, Outcome::Ok, &Body::MISSING);
        fork.end_turn();
        decision
    });
}
