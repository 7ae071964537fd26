//! A gate in front of parallel calls: the calls of one response are decided in their order, run on threads of their
//! own, and each reports how it ended.
//!
//! `cargo run --example siblings --no-default-features`. A call that is running may have happened, so of two refunds in
//! one response only the first runs, whatever its result.

#![expect(clippy::print_stdout, reason = "an example talks to the terminal")]

use std::thread;
use std::time::Duration;

use rulestep_engine::{Gate, InvalidPolicy, Policy};
use serde_json::json;

fn main() -> Result<(), InvalidPolicy> {
    let policy = Policy::parse("issue_refund.yaml", "{tool: issue_refund, forbids_after: [issue_refund]}")?;
    let mut gate = Gate::new(&policy);

    let order = json!({"order_id": "ORD-1"});
    let response =
        [("lookup_order", order.clone()), ("issue_refund", order.clone()), ("issue_refund", order.clone())];
    let mut turn = gate.turn();
    thread::scope(|scope| {
        for (tool, call) in response.clone().iter().map(|(tool, _)| *tool).zip(turn.propose_all(response)) {
            println!("{tool}: {}", call.decision().verdict.word());
            if call.allowed() {
                scope.spawn(move || {
                    thread::sleep(Duration::from_millis(10));
                    call.succeeded(json!({"ok": true}));
                });
            }
        }
    });
    drop(turn);

    let again = gate.turn().propose("issue_refund", order);
    println!("the next turn's issue_refund: {}", again.decision().verdict.word());
    Ok(())
}
