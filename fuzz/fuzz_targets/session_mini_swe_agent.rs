//! Any bytes as a trajectory of mini-swe-agent.

#![no_main]

#[path = "../reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::any("mini-swe-agent", bytes));
