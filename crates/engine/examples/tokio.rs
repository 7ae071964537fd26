//! A gate in an asynchronous agent: decisions are immediate, only the calls are awaited.
//!
//! `cargo run --example tokio --no-default-features`. A [`Gate`] is `Send` and holds no lock while a call runs.

#![expect(clippy::print_stdout, reason = "an example talks to the terminal")]

use std::error::Error;
use std::time::Duration;

use rulestep_engine::{Gate, Policy};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let policy = Policy::parse("shop.yaml", "{tool: ship, preconditions: [{requires_prior_tool: pay}]}")?;
    runtime.block_on(agent(Gate::new(&policy)));
    Ok(())
}

async fn agent(mut gate: Gate) {
    for response in [vec!["ship"], vec!["pay", "look_up"], vec!["ship"]] {
        let calls = gate.turn().propose_all(response.into_iter().map(|tool| (tool, json!({}))));
        let mut running = Vec::new();
        for call in calls {
            println!("{}: {}", call.at().index + 1, call.message().unwrap_or("allowed"));
            if call.allowed() {
                running.push(tokio::task::spawn(async move { call.succeeded(execute().await) }));
            }
        }
        for task in running {
            // A task that panicked has dropped its call, which then satisfies no rule.
            let _ = task.await;
        }
    }
}

async fn execute() -> Value {
    tokio::time::sleep(Duration::from_millis(5)).await;
    json!({"ok": true})
}
