//! Any bytes as a recording. The first byte says as which format: by its row in the table, and a byte beyond the table leaves it to
//! recognition and is the recording's own first one, so any recording is a seed as it is.
//!
//! Reading ends, every body can be looked into, and what is written in the native form reads as the same calls.

#![no_main]

use std::io::Cursor;
use std::sync::Arc;

use rulestep_recording::{self as recording, FORMATS, Format, Options};
use rulestep_base::session::write::Native;
use rulestep_base::session::{CallRef, Millis, Outcome, Session};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // No JSON begins with a byte below the blank.
    assert!(FORMATS.len() <= usize::from(b' '), "a recording's own first byte would name a format");
    let Some((first, rest)) = bytes.split_first() else { return };
    let (format, file) = match FORMATS.get(usize::from(*first)) {
        Some(format) => (Some(format), rest),
        None => (None, bytes),
    };
    for session in sessions(format, file.to_vec()) {
        for call in &session.calls {
            let _ = (call.arguments.parsed(), call.output.shown());
        }
        let written = serde_json::to_vec(&Native(&session)).unwrap();
        let again = sessions(recording::named("native"), written);
        assert_eq!(again.len(), 1);
        assert_eq!(calls(&session), calls(&again[0]));
    }
});

fn sessions(format: Option<&'static Format>, bytes: Vec<u8>) -> Vec<Session> {
    let options = Options { format, ..Options::default() };
    let Ok(mut reading) = recording::open("fuzz", Box::new(Cursor::new(bytes)), &options) else { return Vec::new() };
    let sessions = reading.by_ref().collect();
    let _ = reading.diagnostics();
    sessions
}

/// What is the same of a call in both, for the lines and files are not.
type Told = (CallRef, Option<Arc<str>>, Arc<str>, Outcome, Option<usize>, bool, Option<Millis>);

fn calls(session: &Session) -> Vec<Told> {
    let told = session.calls.iter();
    told.map(|call| (call.at, call.id.clone(), call.tool.clone(), call.outcome, call.result, call.in_turn, call.time)).collect()
}
