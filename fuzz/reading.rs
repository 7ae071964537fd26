//! What every target of recordings does: read, write in the native form, and read again.

use std::io::Cursor;

use toolgate::session::Session;
use toolgate::session::read::{self, Options};
use toolgate::session::write::Native;

/// The input is a file of this format. Reading ends, every body can be looked into, and what is written in the native
/// form reads as the same calls.
pub fn any(format: &str, bytes: &[u8]) {
    for session in sessions(format, bytes.to_vec()) {
        for call in &session.calls {
            let _ = (call.arguments.parsed(), call.output.shown());
        }
        let written = serde_json::to_vec(&Native(&session)).unwrap();
        let again = sessions("native", written);
        assert_eq!(again.len(), 1);
        assert_eq!(calls(&session), calls(&again[0]));
    }
}

fn sessions(format: &str, bytes: Vec<u8>) -> Vec<Session> {
    let options = Options { format: Some(read::format(format).unwrap()), ..Options::default() };
    let Ok(mut reading) = read::open("fuzz", Box::new(Cursor::new(bytes)), &options) else { return Vec::new() };
    let sessions = reading.by_ref().collect();
    let _ = reading.diagnostics();
    sessions
}

/// What is the same in both, for the lines and files are not.
fn calls(session: &Session) -> Vec<impl PartialEq + std::fmt::Debug + use<>> {
    let calls = session.calls.iter();
    calls.map(|c| (c.at, c.id.clone(), c.tool.clone(), c.outcome, c.result, c.in_turn, c.time)).collect()
}
