//! Any bytes as a trajectory of SWE-agent.

#![no_main]

#[path = "../reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::any("swe-agent", bytes));
