//! Any bytes as a session of the Gemini CLI.

#![no_main]

#[path = "../reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::any("gemini-cli", bytes));
