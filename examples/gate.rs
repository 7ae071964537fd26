//! The engine as the gate of a live agent: narrow the tools, decide each call, run what is allowed.
//!
//! `cargo run --example gate`. The "model" here is a fixed script; everything else is what a host does. Calls run one
//! after the other; `examples/siblings.rs` starts the calls of one response together.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to the terminal")]

use std::sync::Arc;

use rulestep::engine::{Mode, NewCall, Run, Verdict};
use rulestep::monitor::Depth;
use rulestep::policy::{Policy, PolicyFile};
use rulestep::session::{Body, Facts, Outcome};

const CONTRACT: &str = "
tool: issue_refund
preconditions:
  - requires_prior_tool: check_eligibility
    resource: {bind_from: arguments, path: $.order_id}
    with_output: [{path: $.eligible, equals: true}]
forbids_after: [issue_refund]
";

fn main() {
    let file = PolicyFile {
        name: "issue_refund.yaml".into(),
        relative: "issue_refund.yaml".into(),
        text: CONTRACT.into(),
        named: true,
    };
    let loaded = Policy::load(&[file], None);
    for diagnostic in &loaded.diagnostics {
        eprintln!("{diagnostic}");
    }
    // A version with an error does not decide: better no agent than an ungated one.
    let Some(policy) = loaded.policy else { std::process::exit(2) };

    let tools: Vec<Arc<str>> = vec!["check_eligibility".into(), "issue_refund".into()];
    let responses = [
        vec![("check_eligibility", r#"{"order_id": "ORD-123"}"#)],
        vec![("issue_refund", r#"{"order_id": "ORD-124"}"#)],
        vec![("issue_refund", r#"{"order_id": "ORD-123"}"#)],
        vec![("issue_refund", r#"{"order_id": "ORD-123"}"#)],
    ];

    let mut run = Run::new(&policy, Mode::Enforce, Depth::Findings, &Arc::new(Facts::default()));
    for (number, calls) in (1..).zip(responses) {
        run.begin_turn(None);
        let offer: Vec<_> =
            run.narrow(&tools).into_iter().filter(|tool| tool.visible()).map(|tool| tool.tool).collect();
        println!("turn {number}: the model sees {offer:?}");
        for (tool, arguments) in calls {
            let arguments = Body::text(arguments);
            let (ticket, decision) = run.propose(NewCall { tool, arguments: &arguments });
            match decision.verdict {
                Verdict::Allow => {
                    let (outcome, output) = execute(tool);
                    println!("  {tool} {} ran: {}", arguments.raw(), output.raw());
                    run.resolve(ticket, outcome, &output);
                }
                Verdict::Deny | Verdict::Halt | Verdict::NotReached => {
                    let code = decision.deciding().map(|finding| finding.code.as_str()).unwrap_or_default();
                    println!("  {tool} {} stopped: {code}", arguments.raw());
                    println!("  told: {}", decision.told.as_deref().unwrap_or_default());
                }
            }
        }
        run.end_turn();
    }
}

/// Runs a tool. Here: the shop's answers, made up.
fn execute(tool: &str) -> (Outcome, Body) {
    match tool {
        "check_eligibility" => (Outcome::Ok, Body::text(r#"{"eligible": true}"#)),
        "issue_refund" => (Outcome::Ok, Body::text(r#"{"refunded": true}"#)),
        other => (Outcome::Error, Body::text(format!("no tool {other}"))),
    }
}
