//! Any bytes as the stream of `codex exec --json`.

#![no_main]

#[path = "../reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::any("codex-exec", bytes));
