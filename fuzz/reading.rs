//! What every target of recordings does: read, write in the native form, and read again.

use std::io::Cursor;
use std::sync::Arc;

use rulestep::internals::recording::{self, Options};
use rulestep::internals::session::write::Native;
use rulestep::internals::session::{Call, CallRef, Millis, Outcome, Session};

/// The input is a file of this format. Reading ends, every body can be looked into, and what is written in the native form
/// reads as the same calls.
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
    let options = Options { format: Some(recording::named(format).unwrap()), ..Options::default() };
    let Ok(mut reading) = recording::open("fuzz", Box::new(Cursor::new(bytes)), &options) else { return Vec::new() };
    let sessions = reading.by_ref().collect();
    let _ = reading.diagnostics();
    sessions
}

/// What is the same of a call in both, for the lines and files are not.
type Told = (CallRef, Option<Arc<str>>, Arc<str>, Outcome, Option<usize>, bool, Option<Millis>);

fn calls(session: &Session) -> Vec<Told> {
    session.calls.iter().map(told).collect()
}

fn told(call: &Call) -> Told {
    (call.at, call.id.clone(), call.tool.clone(), call.outcome, call.result, call.in_turn, call.time)
}
