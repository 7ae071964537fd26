//! A call that was refused never ran, also where the refusal is known only after later calls: it satisfies, forbids, counts
//! and dispatches nothing.

use std::sync::Arc;

use rulestep_base::session::build::{Builder, Mark};
use rulestep_base::session::{Body, Facts, Origin, Outcome, Session};
use rulestep_engine::monitor::finding::RuleOutcome;
use rulestep_engine::monitor::{Depth, End};
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::{Decision, Mode, NewCall, Run, Verdict};

/// Policies under which a `B` after an `A` that ran is denied.
const FORBIDDING: &[&str] = &[
    "{tool: A, forbids_after: [B]}",
    "{forbidden: [{sequence: [A, B], action: deny, reason: x}]}",
    "rules: [{type: never_after, trigger: A, forbidden: B}]",
];

/// Policies under which a second `A` is denied.
const COUNTING: &[&str] = &[
    "{tool: A, forbids_after: [A]}",
    "{limits: {A: {maxPerSession: 1, action: deny, reason: x}}}",
    "rules: [{type: max_calls, tool: A, max: 1}]",
    "rules: [{type: never_after, trigger: A, forbidden: A}]",
];

fn policy(text: &str) -> Arc<Policy> {
    let file =
        PolicyFile { name: "p.yaml".into(), relative: "p.yaml".into(), text: text.into(), named: true };
    Policy::load(&[file], None).policy.unwrap()
}

/// `A`, whose result stands in the next turn, a turn without calls, and another call.
fn recorded(then: &str, refused: bool) -> Arc<Session> {
    let origin = Origin { file: "s.json".into(), index: 0, format: "native", line: 1 };
    let mut build = Builder::new("s", origin);
    build.response(None, Body::MISSING, None);
    build.call(Some("a"), "A", Body::text("{}"), None);
    build.response(None, Body::text("waiting"), None);
    let mark = Mark { refused: refused.then_some("marked"), ..Mark::default() };
    build.result(Some("a"), Body::text("{}"), mark, None);
    build.response(None, Body::MISSING, None);
    build.call(Some("b"), then, Body::text("{}"), None);
    build.result(Some("b"), Body::text("{}"), Mark::default(), None);
    Arc::new(build.finish())
}

#[test]
fn in_a_recording_it_never_ran() {
    for (policies, then) in [(FORBIDDING, "B"), (COUNTING, "A")] {
        for text in policies {
            for mode in [Mode::Enforce, Mode::Shadow] {
                let verdict = |refused| {
                    let session = recorded(then, refused);
                    assert_eq!(session.calls[0].outcome == Outcome::Refused, refused);
                    Replay::new(&session, &policy(text), mode).calls()[1].decision.verdict
                };
                assert_eq!(verdict(true), Verdict::Allow, "{text} {mode:?}");
                assert_eq!(verdict(false), Verdict::Deny, "the policy does forbid: {text} {mode:?}");
            }
        }
    }
}

/// A live run in which `A` counts as running while another call is proposed, and then has this result.
fn live(text: &str, outcome: Outcome, then: &str) -> (Decision, Run) {
    let mut run = Run::new(&policy(text), Mode::Enforce, Depth::Findings, &Arc::new(Facts::default()));
    let arguments = Body::text("{}");
    run.begin_turn(None);
    let (ticket, _) = run.propose(NewCall { tool: "A", arguments: &arguments });
    let _ = run.propose(NewCall { tool: "other", arguments: &arguments });
    run.resolve(ticket, outcome, &arguments);
    run.end_turn();
    run.begin_turn(None);
    let (_, decision) = run.propose(NewCall { tool: then, arguments: &arguments });
    run.end_turn();
    (decision, run)
}

#[test]
fn in_a_live_run_it_forbids_and_counts_nothing_any_more() {
    for (policies, then) in [(FORBIDDING, "B"), (COUNTING, "A")] {
        // What came between the call and its result keeps a sequence from being one.
        for text in policies.iter().filter(|text| !text.contains("sequence: [A, B]")) {
            assert_eq!(live(text, Outcome::Refused, then).0.verdict, Verdict::Allow, "{text}");
            assert_eq!(live(text, Outcome::Ok, then).0.verdict, Verdict::Deny, "{text}");
        }
    }
}

#[test]
fn in_a_live_run_it_violates_nothing_either() {
    for (text, then) in [
        ("rules: [{type: blocklist, tools: [A]}, {type: max_calls, tool: A, max: 0}]", "B"),
        ("rules: [{type: never_after, trigger: A, forbidden: other}]", "B"),
    ] {
        let mut run = Run::new(&policy(text), Mode::Shadow, Depth::Findings, &Arc::new(Facts::default()));
        let arguments = Body::text("{}");
        let (ticket, _) = run.propose(NewCall { tool: "A", arguments: &arguments });
        let _ = run.propose(NewCall { tool: "other", arguments: &arguments });
        let violated = |run: &Run| {
            run.report(End::Complete).iter().filter(|state| state.outcome == RuleOutcome::Violated).count()
        };
        let _ = run.propose(NewCall { tool: then, arguments: &arguments });
        assert!(violated(&run) > 0, "{text}");
        run.resolve(ticket, Outcome::Refused, &arguments);
        assert_eq!(violated(&run), 0, "{text}");
    }
}

/// In `shadow` deciding goes on after a halt; the halt that is reported is the first.
#[test]
fn shadow_reports_the_first_halt() {
    let text = "{id: p, forbidden: [{sequence: [A], action: halt, reason: x}, {sequence: [B], action: halt, reason: y}]}";
    let origin = Origin { file: "s.json".into(), index: 0, format: "native", line: 1 };
    let mut build = Builder::new("s", origin);
    for (number, tool) in ["C", "B", "A", "B"].into_iter().enumerate() {
        let id = number.to_string();
        build.response(None, Body::MISSING, None);
        build.call(Some(&id), tool, Body::text("{}"), None);
        build.result(Some(&id), Body::text("{}"), Mark::default(), None);
    }
    let session = Arc::new(build.finish());
    let replay = Replay::new(&session, &policy(text), Mode::Shadow);
    assert_eq!(replay.calls().iter().filter(|call| call.decision.verdict == Verdict::Halt).count(), 3);
    let halt = replay.halt().unwrap();
    assert_eq!((halt.at.index, &*halt.tool), (1, "B"));
}
