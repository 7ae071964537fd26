//! Any bytes as runs of LangSmith.

#![no_main]

#[path = "../reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::any("langsmith", bytes));
