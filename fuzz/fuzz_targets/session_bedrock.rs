//! Any bytes as requests and responses of the Converse API of Bedrock.

#![no_main]

#[path = "../reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::any("bedrock", bytes));
