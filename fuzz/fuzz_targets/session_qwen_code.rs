//! Any bytes as a log of Qwen Code.

#![no_main]

#[path = "../reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::any("qwen-code", bytes));
