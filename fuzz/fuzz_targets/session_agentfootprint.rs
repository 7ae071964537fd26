//! Any bytes as a recording of agentfootprint.

#![no_main]

#[path = "../reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::any("agentfootprint", bytes));
