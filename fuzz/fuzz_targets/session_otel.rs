//! Any bytes as OpenTelemetry spans.

#![no_main]

#[path = "../reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::any("otel", bytes));
