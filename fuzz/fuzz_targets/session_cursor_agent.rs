//! Any bytes as the stream of `cursor-agent --output-format stream-json`.

#![no_main]

#[path = "../reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::any("cursor-agent", bytes));
