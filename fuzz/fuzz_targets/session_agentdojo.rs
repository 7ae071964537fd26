//! Any bytes as AgentDojo runs.

#![no_main]

#[path = "../reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::any("agentdojo", bytes));
