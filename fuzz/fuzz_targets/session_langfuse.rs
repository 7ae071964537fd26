//! Any bytes as traces of Langfuse.

#![no_main]

#[path = "../reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::any("langfuse", bytes));
