//! Any bytes as a Claude Code log.

#![no_main]

#[path = "../reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::any("claude-code", bytes));
