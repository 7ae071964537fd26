//! Any bytes as native sessions: reading ends, and what is written again reads as the same calls.

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use toolgate::session::read::{self, Options};
use toolgate::session::write::Native;

fuzz_target!(|bytes: &[u8]| {
    let options = Options { format: read::format("native"), ..Options::default() };
    let Ok(mut reading) = read::open("fuzz", Box::new(Cursor::new(bytes.to_vec())), &options) else { return };
    for session in reading.by_ref() {
        let written = serde_json::to_vec(&Native(&session)).unwrap();
        let mut again = read::open("fuzz", Box::new(Cursor::new(written)), &options).unwrap();
        let again = again.next().unwrap();
        let calls = |session: &toolgate::session::Session| -> Vec<_> {
            session.calls.iter().map(|c| (c.at, c.id.clone(), c.tool.clone(), c.outcome, c.result, c.in_turn)).collect()
        };
        assert_eq!(calls(&session), calls(&again));
    }
    let _ = reading.diagnostics();
});
