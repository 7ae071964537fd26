//! Any bytes as tau-bench results, arguments in Python notation included.

#![no_main]

#[path = "../reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::any("tau-bench", bytes));
