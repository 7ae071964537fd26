//! The smallest agent with a gate: one call after the other, each decided before it runs.
//!
//! `cargo run --example gate --no-default-features`. The made-up agent checks one order, tries to refund another, and
//! then does it right.

#![expect(clippy::print_stdout, reason = "an example talks to the terminal")]

use rulestep_engine::{Gate, InvalidPolicy, Policy};
use serde_json::{Value, json};

const CONTRACT: &str = "
tool: issue_refund
preconditions:
  - requires_prior_tool: check_eligibility
    resource: {bind_from: arguments, path: $.order_id}
    with_output: [{path: $.eligible, equals: true}]
forbids_after: [issue_refund]
";

fn main() -> Result<(), InvalidPolicy> {
    // A version with an error does not decide: better no agent than an ungated one.
    let policy = Policy::parse("issue_refund.yaml", CONTRACT)?;
    for diagnostic in policy.diagnostics() {
        println!("{diagnostic}");
    }
    let responses = [
        ("check_eligibility", "ORD-123"),
        ("issue_refund", "ORD-124"),
        ("issue_refund", "ORD-123"),
        ("issue_refund", "ORD-123"),
    ];

    let mut gate = Gate::new(&policy).context(json!({"user_role": "standard"}));
    for (number, (tool, order)) in (1..).zip(responses) {
        let mut turn = gate.turn();
        println!("turn {number}: the model sees {:?}", turn.visible(&["check_eligibility", "issue_refund"]));
        let call = turn.propose(tool, json!({"order_id": order}));
        if call.allowed() {
            let result = execute(tool);
            println!("  {tool} {order} ran: {result}");
            call.succeeded(result);
        } else {
            println!("  {tool} {order} stopped: {}", call.message().unwrap_or_default());
        }
    }
    // The session opens in the workbench once it is saved.
    let session = gate.into_session();
    println!("{} calls in {} turns", session.calls.len(), session.turns.len());
    Ok(())
}

/// Runs a tool. Here: the shop's answers, made up.
fn execute(tool: &str) -> Value {
    match tool {
        "check_eligibility" => json!({"eligible": true}),
        _ => json!({"refunded": true}),
    }
}
