//! Reading recordings: the counts of real ones, fixtures, damage, and writing them again.

mod damage;
mod recorded;
mod written;

use std::io::Cursor;

use toolgate::diagnostic::Diagnostic;
use toolgate::session::Session;
use toolgate::session::read::{self, Options};

/// Sessions and file diagnostics of some bytes.
fn opened(bytes: impl Into<Vec<u8>>) -> (Vec<Session>, Vec<Diagnostic>) {
    opened_with(bytes, &Options::default())
}

fn opened_with(bytes: impl Into<Vec<u8>>, options: &Options) -> (Vec<Session>, Vec<Diagnostic>) {
    let input = Box::new(Cursor::new(bytes.into()));
    let mut reading = read::open("some.json", input, options).unwrap();
    let sessions = reading.by_ref().collect();
    (sessions, reading.diagnostics())
}

/// Every diagnostic as one line: those of the file first.
fn told(sessions: &[Session], of_file: &[Diagnostic]) -> Vec<String> {
    let of_sessions = sessions.iter().flat_map(|session| &session.diagnostics);
    of_file.iter().chain(of_sessions).map(Diagnostic::to_string).collect()
}
