//! Any bytes as a Codex rollout file.

#![no_main]

#[path = "../reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::any("codex-rollout", bytes));
