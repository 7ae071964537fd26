//! Any bytes as an Inspect evaluation log.

#![no_main]

#[path = "../reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::any("inspect", bytes));
