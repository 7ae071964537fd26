//! What a decision costs: with how many rules, and in how long a session.
//!
//! `cargo bench --bench decide`. Sessions are parsed before the clock starts, bodies included, so this is the engine
//! alone, in summary: `items/s` counts calls.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a benchmark may fail")]

use std::sync::Arc;

use divan::{Bencher, counter::ItemsCount};
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Origin, Session};
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay;
use rulestep_engine::run::Mode;

fn main() {
    divan::main();
}

/// Preconditions of every kind, `rules` of them, spread over `tools` tools; the last entry of each forbids a tool.
fn policy(rules: usize, tools: usize) -> Arc<Policy> {
    let file = |tool: usize| {
        let mut text = format!("tool: act_{tool}\npreconditions:\n");
        for rule in (tool..rules).step_by(tools) {
            text += &match rule % 3 {
                0 => format!(
                    "  - requires_prior_tool: check_{tool}\n    resource: {{bind_from: arguments, path: $.order_id}}\n    \
                     with_output: [{{path: $.eligible, equals: true}}, {{path: $.score, gte: {rule}e-3}}]\n"
                ),
                1 => format!("  - requires_step_count: {{gte: {}}}\n", rule / 30),
                _ => format!(
                    "  - requires_prior_tool: check_{tool}\n    with_output: [{{path: $.score, lte: {rule}e3}}]\n"
                ),
            };
        }
        let name = format!("act_{tool:03}.yaml");
        PolicyFile { name: name.as_str().into(), relative: name.into(), text: text.into(), named: true }
    };
    let files: Vec<PolicyFile> = (0..tools).filter(|tool| *tool < rules).map(file).collect();
    let loaded = Policy::load(&files, None);
    assert!(loaded.diagnostics.is_empty(), "{}", loaded.diagnostics[0]);
    let policy = loaded.policy.expect("the policy is sound");
    assert_eq!(policy.rules().len(), rules);
    policy
}

/// Turns of one call: check an order, act on it, and so on; a thousand orders that come again.
fn session(calls: usize, tools: usize) -> Session {
    let mut build =
        Builder::new("bench", Origin { file: "bench".into(), index: 0, format: "native", line: 1 });
    for call in 0..calls {
        let (pair, tool) = (call / 2, call / 2 % tools);
        let name = if call % 2 == 0 { format!("check_{tool}") } else { format!("act_{tool}") };
        build.response(None, Body::MISSING, None);
        let order = format!("ORD-{}", pair % 1000);
        build.call(None, &name, Body::text(format!(r#"{{"order_id": "{order}", "amount": 21.50}}"#)), None);
        build.result(None, Body::text(r#"{"eligible": true, "score": 0.9}"#), Mark::default(), None);
    }
    let session = build.finish();
    for call in &session.calls {
        let _ = (call.arguments.value(), call.output.value());
    }
    session
}

fn play(bencher: Bencher<'_, '_>, session: &Session, policy: &Arc<Policy>) {
    bencher
        .counter(ItemsCount::new(session.calls.len()))
        .bench(|| replay::outcomes(divan::black_box(session), policy, Mode::Enforce));
}

/// All rules govern one tool: every second call is put to all of them.
#[divan::bench(args = [1, 10, 100])]
fn rules_on_one_tool(bencher: Bencher<'_, '_>, rules: usize) {
    play(bencher, &session(1000, 1), &policy(rules, 1));
}

/// The rules are spread over ten tools, as in a folder of contracts.
#[divan::bench(args = [10, 100])]
fn rules_on_ten_tools(bencher: Bencher<'_, '_>, rules: usize) {
    play(bencher, &session(1000, 10), &policy(rules, 10));
}

/// Ten rules and 100,000 calls, in sessions of this many: what a call costs by how many came before it. Every row reads
/// the same amount of recording, so the rows differ by the length of a session and not by what fits a cache.
#[divan::bench(args = [100, 1_000, 10_000, 100_000])]
fn calls_in_a_session(bencher: Bencher<'_, '_>, calls: usize) {
    const ALL: usize = 100_000;
    let sessions: Vec<Session> = (0..ALL / calls).map(|_| session(calls, 1)).collect();
    let policy = policy(10, 1);
    bencher.counter(ItemsCount::new(ALL)).bench(|| {
        for session in divan::black_box(&sessions) {
            divan::black_box(replay::outcomes(session, &policy, Mode::Enforce));
        }
    });
}
