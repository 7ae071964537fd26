//! What a decision of sequence policies and tool policies costs in ever longer sessions, and what a fork of them costs.
//!
//! `cargo bench --bench policies`. As in `decide`, the engine alone, in summary: `items/s` counts calls.

#![expect(clippy::expect_used, reason = "a benchmark may fail")]

#[path = "shared/lengths.rs"]
mod lengths;

use std::sync::Arc;

use divan::Bencher;
use lengths::{LENGTHS, builder};
use rulestep_base::session::build::Mark;
use rulestep_base::session::{Body, Outcome, Session};
use rulestep_engine::monitor::Depth;
use rulestep_engine::policy::Policy;
use rulestep_engine::run::{Mode, NewCall, Run};

fn main() {
    divan::main();
}

fn policy(text: &str) -> Arc<Policy> {
    lengths::policy("p", text)
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
    let mut build = builder();
    for number in 0..calls {
        let (tool, path) = call(number);
        build.response(None, Body::MISSING, None);
        build.call(None, &tool, Body::text(format!(r#"{{"path": "{path}", "content": "…"}}"#)), None);
        build.result(None, Body::text("done"), Mark::default(), None);
    }
    build.finish()
}

const OVER_LIMIT: &str = "limits:\n  tool_0: {maxPerSession: 2, action: deny, reason: cost:x}\n";

/// One tool all the time.
fn one_tool(calls: usize) -> Session {
    session(calls, |_| ("tool_0".to_owned(), String::new()))
}

/// Nine tools in turn.
fn nine_tools(calls: usize) -> Session {
    session(calls, |call| (format!("tool_{}", call % 9), String::new()))
}

/// Nothing is ever complete, and every dispatched name is kept.
#[divan::bench(args = LENGTHS, sample_count = 20)]
fn sequences_and_limits(bencher: Bencher<'_, '_>, calls: usize) {
    lengths::play(bencher, calls, nine_tools, &sequence_policy(), Mode::Enforce);
}

/// Every second call completes a sequence.
#[divan::bench(args = LENGTHS, sample_count = 20)]
fn sequences_that_forbid(bencher: Bencher<'_, '_>, calls: usize) {
    let tools = |call| (format!("tool_{}", call % 2), String::new());
    let text = "forbidden:\n  - {sequence: [tool_0, tool_1], action: deny, reason: security:x}\n";
    lengths::play(bencher, calls, |calls| session(calls, tools), &policy(text), Mode::Shadow);
}

/// All calls but the first two are over a limit.
#[divan::bench(args = LENGTHS, sample_count = 20)]
fn limits_that_are_reached(bencher: Bencher<'_, '_>, calls: usize) {
    lengths::play(bencher, calls, one_tool, &policy(OVER_LIMIT), Mode::Shadow);
}

/// The same with every finding.
#[divan::bench(args = LENGTHS, sample_count = 20)]
fn limits_that_are_reached_findings(bencher: Bencher<'_, '_>, calls: usize) {
    lengths::play_whole(bencher, calls, one_tool, &policy(OVER_LIMIT), Mode::Shadow);
}

#[divan::bench(args = LENGTHS, sample_count = 20)]
fn dependencies(bencher: Bencher<'_, '_>, calls: usize) {
    lengths::play(bencher, calls, nine_tools, &tool_policy(), Mode::Enforce);
}

/// What every second call needs has never run.
#[divan::bench(args = LENGTHS, sample_count = 20)]
fn dependencies_that_are_missing(bencher: Bencher<'_, '_>, calls: usize) {
    let tools = |call| (format!("tool_{}", 5 + call % 2), String::new());
    lengths::play(bencher, calls, |calls| session(calls, tools), &tool_policy(), Mode::Enforce);
}

/// Ten files that come again: read, then written.
#[divan::bench(args = LENGTHS, sample_count = 20)]
fn files_that_come_again(bencher: Bencher<'_, '_>, calls: usize) {
    files(bencher, calls, 10);
}

/// Ever new files, so that what is recorded grows to the end.
#[divan::bench(args = LENGTHS, sample_count = 20)]
fn ever_new_files(bencher: Bencher<'_, '_>, calls: usize) {
    files(bencher, calls, usize::MAX);
}

/// Every write is of an existing file that nobody has read.
#[divan::bench(args = LENGTHS, sample_count = 20)]
fn files_that_nobody_read(bencher: Bencher<'_, '_>, calls: usize) {
    let tools = |call| ("write_file".to_owned(), format!("/w/a/{}", call % 2));
    let text = "policies:\n  - {type: read_before_write, mount_point: /w}\nexisting_files: [a/0, a/1]\n";
    lengths::play(bencher, calls, |calls| session(calls, tools), &policy(text), Mode::Enforce);
}

fn files(bencher: Bencher<'_, '_>, calls: usize, distinct: usize) {
    let tools = |call: usize| {
        let tool = if call.is_multiple_of(2) { "read_file" } else { "write_file" };
        (tool.to_owned(), format!("/w/src/{:05}/file.rs", call / 2 % distinct))
    };
    lengths::play(bencher, calls, |calls| session(calls, tools), &tool_policy(), Mode::Enforce);
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
