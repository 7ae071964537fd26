//! Sequence rules: Assay's own evaluator, and this one, on the same rules and the same calls.
//!
//! Both are given what they need in memory, and are asked the same: whether a finished session keeps every rule. Assay's
//! evaluator goes through the calls once for each rule; this one decides call by call, as a gate must, and comes to the
//! outcomes by the way.

use std::hint::black_box;
use std::sync::Arc;

use assay_core::model::{Policy as AssayPolicy, SequenceRule};
use assay_core::sequence_eval::{RuleOutcome as AssayOutcome, SequenceCall, TraceExtent, evaluate_rules};
use rulestep_engine::run::Mode;
use rulestep_engine::monitor::finding::RuleOutcome;
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay;
use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Origin, Session};

use crate::clock;

/// Calls that every row plays, in sessions of so many.
const ALL: usize = 100_000;
pub const LENGTHS: [usize; 5] = [10, 100, 1_000, 10_000, ALL];
/// Tools that the calls of a session take in turn.
const TOOLS: [&str; 10] =
    ["login", "search", "read", "lookup", "verify", "draft", "review", "send", "log", "close"];

/// Ten rules that every call is held against, of every kind that both evaluators have. The sessions keep all of them.
const EVERY_KIND: &str = "version: \"1.1\"
name: every-kind
sequences:
- {type: require, tool: verify}
- {type: require, tool: close}
- {type: eventually, tool: review, within: 8}
- {type: max_calls, tool: send, max: 1000000}
- {type: max_calls, tool: search, max: 1000000}
- {type: before, first: verify, then: send}
- {type: after, trigger: draft, then: review, within: 3}
- {type: never_after, trigger: shutdown, forbidden: send}
- {type: sequence, tools: [login, verify, send]}
- {type: blocklist, pattern: admin_}
";

/// Ten rules of the kind that is written most, whose tools all come.
const BEFORE: &str = "version: \"1.1\"
name: before
sequences:
- {type: before, first: login, then: search}
- {type: before, first: search, then: read}
- {type: before, first: read, then: lookup}
- {type: before, first: lookup, then: verify}
- {type: before, first: verify, then: draft}
- {type: before, first: draft, then: review}
- {type: before, first: review, then: send}
- {type: before, first: send, then: log}
- {type: before, first: log, then: close}
- {type: before, first: login, then: close}
";

/// Ten rules about tools that never come: a session has nothing to do with most rules of a large policy.
const ELSEWHERE: &str = "version: \"1.1\"
name: elsewhere
sequences:
- {type: before, first: a1, then: b1}
- {type: before, first: a2, then: b2}
- {type: before, first: a3, then: b3}
- {type: max_calls, tool: c1, max: 3}
- {type: max_calls, tool: c2, max: 3}
- {type: never_after, trigger: d1, forbidden: e1}
- {type: never_after, trigger: d2, forbidden: e2}
- {type: after, trigger: f1, then: g1, within: 3}
- {type: after, trigger: f2, then: g2, within: 3}
- {type: sequence, tools: [h1, h2, h3]}
";

/// Nanoseconds a call, with both evaluators.
#[derive(Debug)]
pub struct Row {
    pub rules: &'static str,
    pub calls: usize,
    pub assay: f64,
    pub ours: f64,
}

pub fn measure() -> Vec<Row> {
    let mut rows = Vec::new();
    for (rules, text) in
        [("of every kind", EVERY_KIND), ("all `before`", BEFORE), ("that no call concerns", ELSEWHERE)]
    {
        let folder = tempfile(text);
        let assay = AssayPolicy::load(&folder).expect("Assay reads its own policy");
        let file =
            PolicyFile { name: "p.yaml".into(), relative: "p.yaml".into(), text: text.into(), named: true };
        let policy = Policy::load(&[file], None).policy.expect("the policy is sound");
        for calls in LENGTHS {
            rows.push(row(rules, calls, &assay, &policy));
        }
    }
    rows
}

fn tempfile(text: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("peers-{}.yaml", std::process::id()));
    std::fs::write(&path, text).expect("the temporary folder is writable");
    path
}

fn row(rules: &'static str, calls: usize, assay: &AssayPolicy, policy: &Arc<Policy>) -> Row {
    let names = || TOOLS.iter().cycle().take(calls);
    let made = ALL / calls;
    let theirs: Vec<Vec<SequenceCall>> =
        (0..made).map(|_| names().map(|tool| SequenceCall::named(*tool)).collect()).collect();
    let ours: Vec<Session> = (0..made).map(|_| session(names().copied())).collect();
    agree(&assay.sequences, &theirs[0], assay, &ours[0], policy);

    let mut assays = || {
        for calls in &theirs {
            black_box(evaluate_rules(&assay.sequences, black_box(calls), Some(assay), TraceExtent::Complete));
        }
    };
    let mut own = || {
        for session in &ours {
            black_box(replay::outcomes(black_box(session), policy, Mode::Shadow));
        }
    };
    let [assay, ours] =
        clock::side_by_side([&mut assays, &mut own]).map(|time| time.as_nanos() as f64 / ALL as f64);
    Row { rules, calls, assay, ours }
}

/// Turns of one call each, all with a result.
fn session<'t>(tools: impl Iterator<Item = &'t str>) -> Session {
    let origin = Origin { file: "bench".into(), index: 0, format: "native", line: 1 };
    let mut build = Builder::new("bench", origin);
    for (number, tool) in tools.enumerate() {
        let id = number.to_string();
        build.response(None, Body::MISSING, None);
        build.call(Some(&id), tool, Body::text(r#"{"id": "A-1"}"#), None);
        build.result(Some(&id), Body::text("done"), Mark::default(), None);
    }
    build.finish()
}

/// Both must come to the same, or the comparison means nothing.
fn agree(
    rules: &[SequenceRule],
    calls: &[SequenceCall],
    assay: &AssayPolicy,
    session: &Session,
    policy: &Arc<Policy>,
) {
    let theirs = evaluate_rules(rules, calls, Some(assay), TraceExtent::Complete);
    let ours = replay::outcomes(session, policy, Mode::Shadow).rules;
    assert_eq!(theirs.len(), ours.len());
    for (theirs, ours) in theirs.iter().zip(&ours) {
        let same = match theirs.outcome {
            AssayOutcome::Held => ours.outcome == RuleOutcome::Held,
            AssayOutcome::Violated => ours.outcome == RuleOutcome::Violated,
            AssayOutcome::NotExercised => ours.outcome == RuleOutcome::NotExercised,
        };
        assert!(same, "{}: {:?}, not {:?}", theirs.rule_id, ours.outcome, theirs.outcome);
    }
}
