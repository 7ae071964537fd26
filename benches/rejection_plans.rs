//! What a rejection plan costs a call: in how long a session, with how many conditions, and by how many forks.
//!
//! `cargo bench --bench rejection_plans`. `items/s` counts calls; of a session every turn asks for one call of the
//! governed tool, and half of the calls are rejected.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a benchmark may fail")]

use std::sync::Arc;

use divan::{Bencher, counter::ItemsCount};
use toolgate::condition::liquid::{self, Scope};
use toolgate::engine::Mode;
use toolgate::policy::{Policy, PolicyFile};
use toolgate::replay::{self, Replay};
use toolgate::session::build::{Builder, Mark};
use toolgate::session::{Body, Origin, Session};

fn main() {
    divan::main();
}

const REGEX: &str = r"
    - {type: regex, regex: '(?i)\b(yes|go ahead)\b', target: {role: user}}
    - {type: regex, regex: 'shall I', target: {role: assistant, position: -2}}
    - {type: regex, regex: 'nobody says this', target: {position: 0}, negate: true}
";

const LIQUID: &str = r"
    - type: liquid
      liquid: '{% assign last = messages | where: ''role'', ''user'' | last %}{% if last.content contains ''yes'' %}true{% else %}false{% endif %}'
";

fn policy(conditions: &str) -> Arc<Policy> {
    let text = format!("tool: act\nrejectionPlan:\n  conditions:\n{conditions}");
    let file =
        PolicyFile { name: "plan.yaml".into(), relative: "plan.yaml".into(), text: text.into(), named: true };
    let loaded = Policy::load(&[file], None);
    assert!(loaded.diagnostics.is_empty(), "{}", loaded.diagnostics[0]);
    loaded.policy.expect("the plan is sound")
}

/// The user says yes or no, the model asks and calls, the tool answers.
fn session(calls: usize) -> Session {
    let mut build =
        Builder::new("bench", Origin { file: "bench".into(), index: 0, format: "native", line: 1 });
    for call in 0..calls {
        let said = if call % 2 == 0 { "well, yes, of course" } else { "no, not on Friday" };
        build.said("user", Body::text(said), None);
        build.response(None, Body::text("shall I do that for you?"), None);
        build.call(None, "act", Body::text(r#"{"order_id": "ORD-1"}"#), None);
        build.result(None, Body::text(r#"{"ok": true}"#), Mark::default(), None);
    }
    build.finish()
}

fn play(bencher: Bencher<'_, '_>, calls: usize, conditions: &str) {
    let (session, policy) = (session(calls), policy(conditions));
    let outcomes = replay::outcomes(&session, &policy, Mode::Shadow);
    assert!(outcomes.summary.deny as usize >= calls / 2 - 2, "{:?}", outcomes.summary);
    bencher
        .counter(ItemsCount::new(calls))
        .bench(|| replay::outcomes(divan::black_box(&session), &policy, Mode::Shadow));
}

/// Three patterns, each on its own message: the cost of a call should be the same in each session.
#[divan::bench(args = [100, 1_000, 10_000, 100_000])]
fn patterns_by_calls_in_a_session(bencher: Bencher<'_, '_>, calls: usize) {
    play(bencher, calls, REGEX);
}

/// The same with the forks that a whole replay keeps.
#[divan::bench(args = [1_000, 10_000, 100_000])]
fn patterns_in_a_whole_replay(bencher: Bencher<'_, '_>, calls: usize) {
    let (session, policy) = (Arc::new(session(calls)), policy(REGEX));
    bencher
        .counter(ItemsCount::new(calls))
        .bench(|| Replay::new(divan::black_box(&session), &policy, Mode::Shadow));
}

/// A template gets the list of all messages, so it costs what the session is long.
#[divan::bench(args = [100, 1_000])]
fn templates_by_calls_in_a_session(bencher: Bencher<'_, '_>, calls: usize) {
    play(bencher, calls, LIQUID);
}

/// A template that spends its whole budget.
#[divan::bench]
fn a_template_that_spends_its_budget(bencher: Bencher<'_, '_>) {
    let text = "{% for i in (1..30000) %}{% for j in (1..300) %}{{ j }}{% endfor %}{% endfor %}";
    let template = liquid::parse(text).expect("a template");
    let scope = Scope { globals: &|_| None, now: None };
    assert!(template.render(&scope, 2_000_000).is_err());
    bencher.bench_local(|| divan::black_box(&template).render(&scope, 2_000_000));
}
