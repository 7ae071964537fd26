//! A policy from files or text, and sessions that were saved, or everything that is wrong with them.

#[cfg(feature = "recordings")]
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Severity, code};
use crate::files;
use crate::policy::{Document, GUARD, Policy, PolicyFile};
#[cfg(feature = "recordings")]
use crate::{diagnostic::Loss, recording, session::Session};

/// Why a policy does not load: a version with an error does not decide.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", lines(.diagnostics.iter().filter(|found| found.severity == Severity::Error)))]
#[non_exhaustive]
pub struct InvalidPolicy {
    diagnostics: Vec<Diagnostic>,
}

impl InvalidPolicy {
    /// Everything that is wrong or worth knowing, warnings included, in the order of the files.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

/// Why a recording cannot be gone on with: something of it cannot be read, and calls may have been in it.
#[cfg(feature = "recordings")]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", lines(.diagnostics.iter()))]
#[non_exhaustive]
pub struct InvalidRecording {
    diagnostics: Vec<Diagnostic>,
}

#[cfg(feature = "recordings")]
impl InvalidRecording {
    /// What is wrong, in the order of the recording.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

#[cfg(feature = "recordings")]
impl Session {
    /// Reads the sessions of a recording: one that a gate saved, or of any other format that the program reads. `name` is
    /// what diagnostics call it. Calls that were lost would be missing from what a gate knows, so that is an error.
    pub fn read(name: &str, bytes: impl Into<Vec<u8>>) -> Result<Vec<Session>, InvalidRecording> {
        let input = Box::new(Cursor::new(bytes.into()));
        let reading = recording::open(name, input, &recording::Options::default());
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
}

fn lines<'d>(diagnostics: impl Iterator<Item = &'d Diagnostic>) -> String {
    diagnostics.map(Diagnostic::to_string).collect::<Vec<_>>().join("\n")
}

impl Policy {
    /// Reads the policies of a folder (its `*.yaml`, `*.yml` and `*.json`, subfolders included), of one file, or of a
    /// revision (`git:REV[:PATH]`). A file that cannot be read is an error: what it forbids would be allowed.
    pub fn from_dir(path: impl AsRef<Path>) -> Result<Arc<Policy>, InvalidPolicy> {
        let read = files::read_version(&path.as_ref().to_string_lossy(), &[]);
        let version = read.map_err(|missing| InvalidPolicy { diagnostics: vec![missing] })?;
        let (files, diagnostics) = version.into_policy_files();
        loaded(&files, diagnostics)
    }

    /// Reads one policy text. `name` is what diagnostics and rules call it.
    pub fn parse(name: &str, text: &str) -> Result<Arc<Policy>, InvalidPolicy> {
        let file = PolicyFile { name: name.into(), relative: name.into(), text: text.into(), named: true };
        loaded(&[file], Vec::new())
    }
}

/// The policy of these files, if it decides. `diagnostics` is what was met on the way to them.
fn loaded(files: &[PolicyFile], diagnostics: Vec<Diagnostic>) -> Result<Arc<Policy>, InvalidPolicy> {
    loaded_guarded(files, diagnostics, None)
}

/// The same, with rules of the program beside them.
pub fn loaded_guarded(
    files: &[PolicyFile],
    mut diagnostics: Vec<Diagnostic>,
    guard: Option<&PolicyFile>,
) -> Result<Arc<Policy>, InvalidPolicy> {
    let loaded = Policy::load_guarded(files, None, guard);
    diagnostics.extend(loaded.diagnostics);
    // A folder in which no document is a policy is no policy that allows everything.
    let is_own = |document: &Document| document.source.name() != GUARD;
    if loaded.policy.as_ref().is_some_and(|policy| !policy.documents().iter().any(is_own)) {
        let message = "none of the files holds a policy, so nothing would be decided";
        diagnostics.push(Diagnostic::error(code::UNRECOGNISED_DOCUMENT, message));
    }
    let usable = diagnostics.iter().all(|diagnostic| diagnostic.severity != Severity::Error);
    match loaded.policy.filter(|_| usable) {
        Some(mut policy) => {
            // What was met on the way to the files belongs to the version as well. Nobody else has it yet.
            if let Some(policy) = Arc::get_mut(&mut policy) {
                policy.set_diagnostics(diagnostics);
            }
            Ok(policy)
        }
        None => Err(InvalidPolicy { diagnostics }),
    }
}
