//! Any text as a document of the dialect `sequence_rule`, at work on any sessions.

#![no_main]

#[path = "../judge.rs"]
mod judge;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| judge::any("sequence_rule", bytes));
