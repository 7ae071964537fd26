//! Any bytes as tau-bench results, arguments in Python notation included.

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use toolgate::session::read::{self, Options};

fuzz_target!(|bytes: &[u8]| {
    let options = Options { format: read::format("tau-bench"), ..Options::default() };
    let Ok(mut reading) = read::open("fuzz", Box::new(Cursor::new(bytes.to_vec())), &options) else { return };
    for session in reading.by_ref() {
        for call in &session.calls {
            let _ = (call.arguments.parsed(), call.output.shown());
        }
    }
    let _ = reading.diagnostics();
});
