//! The engine as a gate in front of calls that run side by side: the calls of one response are decided in their order,
//! started together, and resolved as they end.
//!
//! `cargo run --example siblings`. A call that is in flight counts as one that may have happened, so of two refunds in
//! one response only the first one runs, whatever becomes of it.

#![expect(clippy::print_stdout, reason = "an example talks to the terminal")]

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use rulestep::engine::{Mode, NewCall, Run, Verdict};
use rulestep::monitor::Depth;
use rulestep::policy::{Policy, PolicyFile};
use rulestep::session::{Body, Facts, Outcome};

const CONTRACT: &str = "
tool: issue_refund
forbids_after: [issue_refund]
";

fn main() {
    let name: Arc<str> = "issue_refund.yaml".into();
    let file = PolicyFile { name: Arc::clone(&name), relative: name, text: CONTRACT.into(), named: true };
    let Some(policy) = Policy::load(&[file], None).policy else { std::process::exit(2) };
    let mut run = Run::new(&policy, Mode::Enforce, Depth::Findings, &Arc::new(Facts::default()));

    run.begin_turn(None);
    let response = [
        ("lookup_order", r#"{"order_id": "ORD-1"}"#, 30),
        ("issue_refund", r#"{"order_id": "ORD-1"}"#, 20),
        ("issue_refund", r#"{"order_id": "ORD-1"}"#, 10),
    ];
    let (done, results) = mpsc::channel();
    for (tool, arguments, takes) in response {
        let arguments = Body::text(arguments);
        let (ticket, decision) = run.propose(NewCall { tool, arguments: &arguments });
        println!("{tool} {}: {}", arguments.raw(), decision.verdict.word());
        if decision.verdict == Verdict::Allow {
            let done = done.clone();
            thread::spawn(move || {
                thread::sleep(Duration::from_millis(takes));
                // The receiver lives until every sender is gone.
                let _ = done.send((ticket, tool));
            });
        }
    }
    drop(done);
    // Results arrive in the order in which the calls end, and are resolved by their ticket.
    for (ticket, tool) in results {
        run.resolve(ticket, Outcome::Ok, &Body::text(r#"{"ok": true}"#));
        println!("{tool} ended");
    }
    run.end_turn();

    run.begin_turn(None);
    let arguments = Body::text("{}");
    let (_, decision) = run.propose(NewCall { tool: "issue_refund", arguments: &arguments });
    println!("the next turn's issue_refund: {}", decision.verdict.word());
}
