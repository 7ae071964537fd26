//! What every target of recordings does: read, write in the native form, and read again; and read in parts.

use std::io::{self, BufRead, Cursor};
use std::sync::Arc;

use rulestep::recording::{self, Options, Piece};
use rulestep::session::write::Native;
use rulestep::session::{Call, CallRef, MessageKind, Millis, Outcome, Session};

/// The input is a file of this format. Reading ends, every body can be looked into, what is written in the native form
/// reads as the same calls, and so do the sessions in parts.
pub fn any(format: &str, bytes: &[u8]) {
    let whole = sessions(format, bytes.to_vec());
    let expected: Vec<_> = whole.iter().map(|session| (session.id.clone(), calls(session))).collect();
    for beyond in [0, bytes.len() / 4] {
        assert!(in_parts(format, bytes, beyond) == expected, "beyond {beyond} bytes");
    }
    for session in whole {
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

/// Ids and calls of the sessions as they come to be where those of more than so many bytes are handed on in parts.
fn in_parts(format: &str, bytes: &[u8], beyond: usize) -> Vec<(Arc<str>, Vec<Told>)> {
    let shared: Arc<[u8]> = bytes.into();
    let input = move || -> io::Result<Box<dyn BufRead + Send>> { Ok(Box::new(Cursor::new(Arc::clone(&shared)))) };
    let options = Options {
        format: Some(recording::named(format).unwrap()),
        again: Some(Arc::new(input.clone())),
        parts_beyond: Some(beyond),
        ..Options::default()
    };
    let Ok(mut reading) = recording::open("fuzz", input().unwrap(), &options) else { return Vec::new() };
    let (mut sessions, mut open, mut messages) = (Vec::new(), Vec::<Told>::new(), 0);
    while let Some(piece) = reading.piece() {
        let (part, is_last) = match piece {
            Piece::Whole(session) => {
                sessions.push((session.id.clone(), calls(&session)));
                continue;
            }
            Piece::Again => {
                (open, messages) = (Vec::new(), 0);
                continue;
            }
            Piece::Part(part) => (part, false),
            Piece::Last(part) => (part, true),
        };
        assert_eq!(part.first as usize, open.len());
        for call in &part.answered {
            open[call.at.index as usize] = told(call);
        }
        open.extend(part.session.calls.iter().map(told));
        for message in &part.session.messages {
            if let MessageKind::Result(Some(index), _) = message.kind {
                open[index as usize].4 = Some(messages);
            }
            messages += 1;
        }
        if is_last {
            sessions.push((part.session.id.clone(), std::mem::take(&mut open)));
            messages = 0;
        }
    }
    let _ = reading.diagnostics();
    sessions
}

/// What is the same of a call in both, for the lines and files are not.
type Told = (CallRef, Option<Arc<str>>, Arc<str>, Outcome, Option<usize>, bool, Option<Millis>);

fn calls(session: &Session) -> Vec<Told> {
    session.calls.iter().map(told).collect()
}

/// A call; where its result stands counts from the beginning of its part.
fn told(call: &Call) -> Told {
    (call.at, call.id.clone(), call.tool.clone(), call.outcome, call.result, call.in_turn, call.time)
}
