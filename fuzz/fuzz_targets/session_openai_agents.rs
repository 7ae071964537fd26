//! Any bytes as traces of the OpenAI Agents SDK.

#![no_main]

#[path = "../reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::any("openai-agents", bytes));
