//! Reads a recording to its end, or returns all its problems.

use std::io::Cursor;

use rulestep_base::diagnostic::{Diagnostic, Loss, Severity, code};
use rulestep_base::session::Session;

use crate::Options;

/// Why a recording cannot be continued: a part of it cannot be read, and may have held calls.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", lines(.diagnostics.iter()))]
pub struct InvalidRecording {
    diagnostics: Vec<Diagnostic>,
}

impl InvalidRecording {
    /// The problems, in the order of the recording.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

/// Reads the sessions of a recording: one that a gate saved, or of any other format that the program reads. `name` is
/// what diagnostics call it. Calls that were lost would be missing from what a gate knows, so that is an error.
pub fn read(name: &str, bytes: impl Into<Vec<u8>>) -> Result<Vec<Session>, InvalidRecording> {
    let input = Box::new(Cursor::new(bytes.into()));
    let reading = crate::open(name, input, &Options::default());
    let mut reading = reading.map_err(|unreadable| InvalidRecording { diagnostics: vec![unreadable] })?;
    let sessions: Vec<Session> = reading.by_ref().collect();
    let found = reading.diagnostics().into_iter();
    let found = found.chain(sessions.iter().flat_map(|session| session.diagnostics.clone()));
    let spoils =
        |found: &Diagnostic| found.severity == Severity::Error || found.loss == Some(Loss::MayHoldCalls);
    let mut diagnostics: Vec<Diagnostic> = found.filter(spoils).collect();
    if sessions.is_empty() && diagnostics.is_empty() {
        let message = "the recording holds no session";
        diagnostics.push(Diagnostic::error(code::DAMAGED_LINE, message).in_file(name));
    }
    if diagnostics.is_empty() { Ok(sessions) } else { Err(InvalidRecording { diagnostics }) }
}

fn lines<'d>(diagnostics: impl Iterator<Item = &'d Diagnostic>) -> String {
    diagnostics.map(Diagnostic::to_string).collect::<Vec<_>>().join("\n")
}
