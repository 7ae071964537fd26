//! What a rejection plan costs a call: in how long a session, with how many conditions, and by how many forks.
//!
//! `cargo bench --bench rejection_plans`. `items/s` counts calls; of a session every turn asks for one call of the
//! governed tool, and half of the calls are rejected.

#![expect(clippy::expect_used, reason = "a benchmark may fail")]

#[path = "shared/lengths.rs"]
mod lengths;

use std::sync::Arc;

use divan::{Bencher, counter::ItemsCount};
use lengths::{LENGTHS, builder, play, play_whole};
use rulestep_base::session::build::Mark;
use rulestep_base::session::{Body, Session};
use rulestep_engine::policy::Policy;
use rulestep_engine::replay;
use rulestep_engine::run::Mode;
use rulestep_template::liquid::{self, Scope};

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

const GROUP: &str = r"
    - type: group
      operator: OR
      conditions:
        - {type: regex, regex: 'nobody says this', target: {role: user}}
        - type: group
          operator: AND
          conditions:
            - {type: regex, regex: '(?i)\b(yes|go ahead)\b', target: {role: user}}
            - {type: regex, regex: 'shall I', target: {role: assistant, position: -2}}
";

fn policy(conditions: &str) -> Arc<Policy> {
    lengths::policy("plan.yaml", &format!("tool: act\nrejectionPlan:\n  conditions:\n{conditions}"))
}

/// The user says yes or no, the model asks and calls, the tool answers.
fn session(calls: usize) -> Session {
    let mut build = builder();
    for call in 0..calls {
        let said = if call % 2 == 0 { "well, yes, of course" } else { "no, not on Friday" };
        build.said("user", Body::text(said), None);
        build.response(None, Body::text("shall I do that for you?"), None);
        build.call(None, "act", Body::text(r#"{"order_id": "ORD-1"}"#), None);
        build.result(None, Body::text(r#"{"ok": true}"#), Mark::default(), None);
    }
    build.finish()
}

/// The plan, which rejects every second call.
fn rejecting(conditions: &str) -> Arc<Policy> {
    let policy = policy(conditions);
    let summary = replay::outcomes(&session(100), &policy, Mode::Shadow).summary;
    assert!(summary.deny >= 48, "{summary:?}");
    policy
}

/// Three patterns, each on its own message: the cost of a call should be the same in each session.
#[divan::bench(args = LENGTHS, sample_count = 20)]
fn patterns(bencher: Bencher<'_, '_>, calls: usize) {
    play(bencher, calls, session, &rejecting(REGEX), Mode::Shadow);
}

/// The same with the findings and forks that a whole replay keeps.
#[divan::bench(args = LENGTHS, sample_count = 20)]
fn patterns_in_a_whole_replay(bencher: Bencher<'_, '_>, calls: usize) {
    play_whole(bencher, calls, session, &rejecting(REGEX), Mode::Shadow);
}

/// Patterns in groups.
#[divan::bench(args = LENGTHS, sample_count = 20)]
fn groups(bencher: Bencher<'_, '_>, calls: usize) {
    play(bencher, calls, session, &rejecting(GROUP), Mode::Shadow);
}

/// A template gets the list of all messages, so it costs what the session is long.
#[divan::bench(args = [100, 1_000])]
fn templates_by_calls_in_a_session(bencher: Bencher<'_, '_>, calls: usize) {
    let (session, policy) = (session(calls), rejecting(LIQUID));
    bencher
        .counter(ItemsCount::new(calls))
        .bench(|| replay::outcomes(divan::black_box(&session), &policy, Mode::Shadow));
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
