//! What each kind of sequence rule costs a call, in sessions of different lengths.
//!
//! `cargo bench --bench sequence_rules`. `items/s` counts calls. A cost a call that does not grow shows as the same
//! `items/s` at every length.

#![expect(clippy::expect_used, reason = "a benchmark may fail")]

#[path = "shared/lengths.rs"]
mod lengths;

use std::sync::Arc;

use divan::Bencher;
use lengths::{LENGTHS, builder};
use rulestep_base::session::build::Mark;
use rulestep_base::session::{Body, Session};
use rulestep_engine::policy::Policy;
use rulestep_engine::run::Mode;

fn main() {
    divan::main();
}

fn policy(rules: &str) -> Arc<Policy> {
    let aliases = if rules.contains("Any") { "aliases: {Any: [a, b, c, d]}\n" } else { "" };
    lengths::policy("r.yaml", &format!("{aliases}rules:\n- {rules}\n"))
}

/// Turns of one call, the tools one after the other. A tool with `?` never gets a result, one with `+` at the end, and one
/// with `-` there too, the last call's first.
fn session(calls: usize, tools: &[&str]) -> Session {
    let mut build = builder();
    let named = || tools.iter().cycle().take(calls).enumerate();
    for (call, tool) in named() {
        let id = call.to_string();
        build.response(None, Body::MISSING, None);
        let name = tool.trim_end_matches(['?', '+', '-']);
        build.call(Some(&id), name, Body::text(r#"{"cmd": "git push", "n": 5}"#), None);
        if name.len() == tool.len() {
            build.result(Some(&id), Body::text("done"), Mark::default(), None);
        }
    }
    let late = |mark| named().filter(move |(_, tool)| tool.ends_with(mark)).map(|(call, _)| call);
    for call in late('+').chain(late('-').collect::<Vec<_>>().into_iter().rev()) {
        build.result(Some(&call.to_string()), Body::text("done"), Mark::default(), None);
    }
    build.finish()
}

/// A benchmark a rule.
macro_rules! kinds {
    ($($name:ident: $play:ident, $tools:expr, $rules:literal;)+) => {
        $(#[divan::bench(args = LENGTHS, sample_count = 20)]
        fn $name(bencher: Bencher<'_, '_>, calls: usize) {
            lengths::$play(bencher, calls, |calls| session(calls, &$tools), &policy($rules), Mode::Shadow);
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
    max_calls: play, ["a", "b"], "{type: max_calls, tool: Any, max: 2}";
    max_calls_by_arguments: play, ["a", "b"], "{type: max_calls, tool: {tool: a, args_match: {cmd: \"push|pull\"}}, max: 2}";
    eventually: play, ["a"], "{type: eventually, tool: b, within: 90000}";
    never_after: play, ["a", "b"], "{type: never_after, trigger: a, forbidden: b}";
    after_answered: play, ["a", "b"], "{type: after, trigger: a, then: b, within: 3}";
    after_many_open_windows: play, ["a"], "{type: after, trigger: a, then: b, within: 1000000}";
    after_many_open_windows_findings: play_whole, ["a"], "{type: after, trigger: a, then: b, within: 1000000}";
    after_every_deadline_missed_findings: play_whole, ["a"], "{type: after, trigger: a, then: b, within: 10}";
    after_late_answers: play, ["a", "b+"], "{type: after, trigger: a, then: b, within: 10}";
    after_late_answers_backwards: play, ["a", "b-"], "{type: after, trigger: a, then: b, within: 10}";
    sequence: play, ["a", "b", "c", "d"], "{type: sequence, tools: [a, b, c, d, e]}";
    sequence_strict: play, ["a", "b", "c", "d"], "{type: sequence, tools: [a, b, c, d, e], strict: true}";
    sequence_unknown_steps: play, ["a?", "b", "c"], "{type: sequence, tools: [a, b, c, d]}";
}
