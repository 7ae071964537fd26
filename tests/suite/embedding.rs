//! A run in the hands of a host that does not keep to the order of its calls: rules hold all the same.

use std::sync::Arc;

use rulestep_base::session::{Body, Facts, Message, MessageKind, Outcome};
use rulestep_engine::dialect::contracts::codes;
use rulestep_engine::monitor::finding::RuleOutcome;
use rulestep_engine::monitor::{Depth, End, StateItem};
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::run::{Mode, NewCall, Run, Ticket, Verdict};

fn run(text: &str) -> Run {
    let file =
        PolicyFile { name: "a.yaml".into(), relative: "a.yaml".into(), text: text.into(), named: false };
    let policy = Policy::load(&[file], None).policy.unwrap();
    Run::new(&policy, Mode::Enforce, Depth::Findings, &Arc::new(Facts::default()))
}

fn propose(run: &mut Run, tool: &str) -> (Ticket, Verdict) {
    let (ticket, decision) = run.propose(NewCall { tool, arguments: &Body::text("{}") });
    (ticket, decision.verdict)
}

#[test]
fn a_turn_ends_once() {
    let mut run = run("tool: deploy\npreconditions: [{requires_step_count: {gte: 2}}]\n");
    run.begin_turn(None);
    for _ in 0..5 {
        run.end_turn();
    }
    run.begin_turn(None);
    assert_eq!(propose(&mut run, "deploy").1, Verdict::Deny);
}

#[test]
fn a_call_outside_a_turn_begins_one() {
    let mut run = run("tool: pay\npreconditions: [{requires_prior_tool: check}]\nforbids_after: [pay]\n");
    let (ticket, verdict) = propose(&mut run, "check");
    assert_eq!((ticket.at().turn, ticket.at().call, verdict), (1, 1, Verdict::Allow));
    run.resolve(ticket, Outcome::Ok, &Body::MISSING);
    // Still the same turn, so the check is no prior call.
    assert_eq!(propose(&mut run, "pay").1, Verdict::Deny);
    run.end_turn();
    let (ticket, verdict) = propose(&mut run, "pay");
    assert_eq!((ticket.at().turn, verdict), (2, Verdict::Allow));
    run.end_turn();
    assert_eq!(propose(&mut run, "pay").1, Verdict::Deny);
}

/// The plan stops the call that comes when the results so far say `done`.
#[test]
fn what_is_said_within_a_turn_is_history_from_the_next_one() {
    let mut run =
        run("{tool: pay, rejectionPlan: {conditions: [{type: regex, regex: done, target: {position: -1}}]}}");
    let said = |role: &str, text: &str, kind: MessageKind| Message {
        role: role.into(),
        content: Body::text(text),
        at: None,
        kind,
        calls: Vec::new(),
        line: 0,
    };
    run.begin_turn(None);
    run.respond(&said("assistant", "I begin", MessageKind::Response(1)));
    let (ticket, verdict) = propose(&mut run, "pay");
    run.resolve(ticket, Outcome::Ok, &Body::text("done"));
    run.message(&said("tool", "done", MessageKind::Result(Some(0), None)));
    assert_eq!((verdict, propose(&mut run, "pay").1), (Verdict::Allow, Verdict::Allow));
    let mut other = run.fork();
    for run in [&mut run, &mut other] {
        run.end_turn();
        assert_eq!(propose(run, "pay").1, Verdict::Deny);
    }
}

#[test]
fn a_call_is_resolved_once() {
    let mut run = run("tool: pay\npreconditions: [{requires_prior_tool: check}]\n");
    run.begin_turn(None);
    let (ticket, _) = propose(&mut run, "check");
    run.resolve(ticket, Outcome::Error, &Body::MISSING);
    run.resolve(ticket, Outcome::Ok, &Body::MISSING);
    let mut never = ticket.at();
    never.index += 7;
    run.resolve(Ticket::of(never), Outcome::Ok, &Body::MISSING);
    run.end_turn();
    run.begin_turn(None);
    assert_eq!(propose(&mut run, "pay").1, Verdict::Deny);
}

#[test]
fn of_many_siblings_the_earliest_stands_for_its_rule() {
    let mut run = run("tool: close\nforbids_after: [pay]\n");
    run.begin_turn(None);
    let (first, _) = propose(&mut run, "close");
    let (second, _) = propose(&mut run, "close");
    let (_, decision) = run.propose(NewCall { tool: "pay", arguments: &Body::MISSING });
    let since = |at: Ticket| (codes::FORBIDDEN, vec![at.at()]);
    let said = |finding: &rulestep_engine::monitor::Finding| {
        (finding.code, finding.found.iter().map(|found| found.call).collect::<Vec<_>>())
    };
    assert_eq!(decision.findings.iter().map(said).collect::<Vec<_>>(), [since(first)]);
    // The first one fails and gives back what it forbade; the second stands in for it.
    run.resolve(first, Outcome::Error, &Body::MISSING);
    run.resolve(second, Outcome::Ok, &Body::MISSING);
    run.end_turn();
    run.begin_turn(None);
    let (_, decision) = run.propose(NewCall { tool: "pay", arguments: &Body::MISSING });
    assert_eq!(decision.findings.iter().map(said).collect::<Vec<_>>(), [since(second)]);
    let forbidden =
        run.state().into_iter().filter(|item| matches!(item, StateItem::Forbidden { .. })).count();
    assert_eq!(forbidden, 1);
}

#[test]
fn siblings_that_all_fail_forbid_nothing() {
    let mut run = run("tool: close\nforbids_after: [pay]\n");
    run.begin_turn(None);
    let tickets = [propose(&mut run, "close").0, propose(&mut run, "close").0];
    assert_eq!(propose(&mut run, "pay").1, Verdict::Deny);
    for ticket in tickets {
        run.resolve(ticket, Outcome::Error, &Body::MISSING);
    }
    run.end_turn();
    run.begin_turn(None);
    assert_eq!(propose(&mut run, "pay").1, Verdict::Allow);
}

/// The newest call with a value is the one that was proposed last, not the one whose result came last.
#[test]
fn a_late_result_of_an_older_call_is_not_the_newest() {
    let rule = "{tool: pay, preconditions: [{requires_prior_tool: check, resource: {bind_from: arguments, path: $.id}, \
                with_output: [{path: $.good, equals: true}]}]}";
    for (older, newer, verdict) in [(true, false, Verdict::Deny), (false, true, Verdict::Allow)] {
        let (mut run, body) = (run(rule), Body::text(r#"{"id": 1}"#));
        run.begin_turn(None);
        let (first, _) = run.propose(NewCall { tool: "check", arguments: &body });
        let (second, _) = run.propose(NewCall { tool: "check", arguments: &body });
        run.resolve(second, Outcome::Ok, &Body::text(format!(r#"{{"good": {newer}}}"#)));
        run.end_turn();
        run.begin_turn(None);
        run.end_turn();
        run.resolve(first, Outcome::Ok, &Body::text(format!(r#"{{"good": {older}}}"#)));
        run.begin_turn(None);
        assert_eq!(run.propose(NewCall { tool: "pay", arguments: &body }).1.verdict, verdict);
    }
}

/// The last call in time may still succeed: until its result is there, the deadline is not missed.
#[test]
fn a_follow_up_that_is_under_way_at_the_deadline_is_waited_for() {
    for (outcome, end) in [(Outcome::Ok, RuleOutcome::Held), (Outcome::Error, RuleOutcome::Violated)] {
        let mut run = run("rules: [{type: after, trigger: open, then: close, within: 1}]");
        let (open, _) = propose(&mut run, "open");
        run.resolve(open, Outcome::Ok, &Body::MISSING);
        let (close, _) = propose(&mut run, "close");
        run.end_turn();
        assert_eq!(run.report(End::SoFar)[0].outcome, RuleOutcome::Pending);
        run.resolve(close, outcome, &Body::MISSING);
        assert_eq!(run.report(End::SoFar)[0].outcome, end);
    }
}
