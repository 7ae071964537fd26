//! Any text as a document of the dialect `rejection_plan`, at work on any sessions.

#![no_main]

#[path = "../judge.rs"]
mod judge;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| judge::any("rejection_plan", bytes));
