//! A rejection plan looks at the messages, so the gate is given the conversation: a transfer is rejected unless the
//! caller asked for it.
//!
//! `cargo run --example messages --no-default-features --features rejection-plans`.

#![expect(clippy::print_stdout, reason = "an example talks to the terminal")]

use rulestep_engine::{Gate, InvalidPolicy, Policy};
use serde_json::json;

const ASSISTANT: &str = r#"
model:
  tools:
    - type: transferCall
      function: {name: transfer_call}
      rejectionPlan:
        conditions:
          - {type: regex, target: {role: user, position: -1}, regex: "(?i)human|transfer", negate: true}
"#;

fn main() -> Result<(), InvalidPolicy> {
    let policy = Policy::parse("assistant.yaml", ASSISTANT)?;
    let mut gate = Gate::new(&policy);
    for said in ["What are your opening hours?", "Please transfer me to a human."] {
        gate.message("user", said);
        let mut turn = gate.turn();
        turn.respond("One moment.");
        let call = turn.propose("transfer_call", json!({"to": "front desk"}));
        println!("{said:?}: {}", call.decision().verdict.word());
        if call.allowed() {
            call.succeeded("transferred");
        }
    }
    Ok(())
}
