//! What each kind of sequence rule costs a call, in sessions of different lengths.
//!
//! `cargo bench --bench sequence_rules`. Sessions are built before the clock starts; `items/s` counts calls. A cost a
//! call that does not grow shows as the same `items/s` at every length.

#![expect(clippy::expect_used, reason = "a benchmark may fail")]

use std::sync::Arc;

use divan::{Bencher, counter::ItemsCount};
use toolgate::engine::Mode;
use toolgate::policy::{Policy, PolicyFile};
use toolgate::replay::{self, Replay};
use toolgate::session::build::{Builder, Mark};
use toolgate::session::{Body, Origin, Session};

fn main() {
    divan::main();
}

const LENGTHS: [usize; 4] = [100, 1_000, 10_000, 100_000];

fn policy(rules: &str) -> Arc<Policy> {
    let text = format!("aliases: {{Any: [a, b, c, d]}}\nrules:\n- {rules}\n");
    let file =
        PolicyFile { name: "r.yaml".into(), relative: "r.yaml".into(), text: text.into(), named: true };
    Policy::load(&[file], None).policy.expect("the rules are sound")
}

/// Turns of one call, the tools one after the other; a tool with `?` never gets a result, one with `+` at the end.
fn session(calls: usize, tools: &[&str]) -> Session {
    let mut build =
        Builder::new("bench", Origin { file: "bench".into(), index: 0, format: "native", line: 1 });
    for (call, tool) in tools.iter().cycle().take(calls).enumerate() {
        let id = format!("{call}");
        build.response(None, Body::MISSING, None);
        build.call(
            Some(&id),
            tool.trim_end_matches(['?', '+']),
            Body::text(r#"{"cmd": "git push", "n": 5}"#),
            None,
        );
        if !tool.ends_with(['?', '+']) {
            build.result(Some(&id), Body::text("done"), Mark::default(), None);
        }
    }
    for (call, _) in tools.iter().cycle().take(calls).enumerate().filter(|(_, tool)| tool.ends_with('+')) {
        build.result(Some(&call.to_string()), Body::text("done"), Mark::default(), None);
    }
    let session = build.finish();
    for call in &session.calls {
        let _ = call.arguments.value();
    }
    session
}

fn play(bencher: Bencher<'_, '_>, calls: usize, tools: &[&str], rules: &str) {
    let (session, policy) = (session(calls, tools), policy(rules));
    bencher
        .counter(ItemsCount::new(calls))
        .bench(|| replay::outcomes(divan::black_box(&session), &policy, Mode::Shadow));
}

/// The same with every finding, where deadlines are put to their rules as well.
fn play_whole(bencher: Bencher<'_, '_>, calls: usize, tools: &[&str], rules: &str) {
    let (session, policy) = (Arc::new(session(calls, tools)), policy(rules));
    bencher
        .counter(ItemsCount::new(calls))
        .bench(|| Replay::new(divan::black_box(&session), &policy, Mode::Shadow));
}

/// A benchmark a rule.
macro_rules! kinds {
    ($($name:ident: $play:ident, $tools:expr, $rules:literal;)+) => {
        $(#[divan::bench(args = LENGTHS)]
        fn $name(bencher: Bencher<'_, '_>, calls: usize) {
            $play(bencher, calls, &$tools, $rules);
        })+
    };
}

kinds! {
    require: play, ["a", "b"], "{type: require, tool: a}";
    before: play, ["a", "b"], "{type: before, first: a, then: [b, c]}";
    before_never_met: play, ["b"], "{type: before, first: a, then: [b, c]}";
    immediately_before: play, ["a", "b"], "{type: immediately_before, first: a, then: b}";
    immediately_before_unknown: play, ["a?", "b"], "{type: immediately_before, first: a, then: b}";
    immediately_before_late: play, ["a+", "b"], "{type: immediately_before, first: a, then: b}";
    blocklist: play, ["a", "b"], "{type: blocklist, tools: [\"b*\"]}";
    allowlist: play, ["a", "b"], "{type: allowlist, tools: [\"a*\"]}";
    max_calls: play, ["a", "b"], "{type: max_calls, tool: Any, max: 50}";
    max_calls_by_arguments: play, ["a", "b"], "{type: max_calls, tool: {tool: a, args_match: {cmd: \"push|pull\"}}, max: 50}";
    eventually: play, ["a"], "{type: eventually, tool: b, within: 90000}";
    never_after: play, ["a", "b"], "{type: never_after, trigger: a, forbidden: b}";
    after_answered: play, ["a", "b"], "{type: after, trigger: a, then: b, within: 3}";
    after_many_open_windows: play, ["a"], "{type: after, trigger: a, then: b, within: 1000000}";
    after_many_open_windows_findings: play_whole, ["a"], "{type: after, trigger: a, then: b, within: 1000000}";
    after_every_deadline_missed_findings: play_whole, ["a"], "{type: after, trigger: a, then: b, within: 10}";
    after_late_answers: play, ["a", "b+"], "{type: after, trigger: a, then: b, within: 10}";
    sequence: play, ["a", "b", "c", "d"], "{type: sequence, tools: [a, b, c, d, e]}";
    sequence_strict: play, ["a", "b", "c", "d"], "{type: sequence, tools: [a, b, c, d, e], strict: true}";
    sequence_unknown_steps: play, ["a?", "b", "c"], "{type: sequence, tools: [a, b, c, d]}";
}
