//! Any bytes as requests and responses of the OpenAI chat API.

#![no_main]

#[path = "../reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::any("openai-chat", bytes));
