//! Any bytes as a log of the Model Context Protocol.

#![no_main]

#[path = "../reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::any("mcp", bytes));
