//! Any bytes as an export of Jaeger.

#![no_main]

#[path = "../reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::any("jaeger", bytes));
