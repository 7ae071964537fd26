//! Any bytes as the stream of `gemini --output-format stream-json`.

#![no_main]

#[path = "../reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::any("gemini-stream", bytes));
