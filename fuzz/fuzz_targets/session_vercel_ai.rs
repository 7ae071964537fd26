//! Any bytes as messages of the Vercel AI SDK.

#![no_main]

#[path = "../reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::any("vercel-ai", bytes));
