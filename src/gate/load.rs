//! A policy from files or text, or everything that is wrong with it.

use std::path::Path;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Severity, code};
use crate::files;
use crate::policy::{Policy, PolicyFile};

/// Why a policy does not load: a version with an error does not decide.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", words(.diagnostics))]
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

fn words(diagnostics: &[Diagnostic]) -> String {
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    errors.map(Diagnostic::to_string).collect::<Vec<_>>().join("\n")
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

fn loaded(files: &[PolicyFile], mut diagnostics: Vec<Diagnostic>) -> Result<Arc<Policy>, InvalidPolicy> {
    let loaded = Policy::load(files, None);
    diagnostics.extend(loaded.diagnostics);
    // A folder in which no document is a policy is no policy that allows everything.
    if loaded.policy.as_ref().is_some_and(|policy| policy.documents().is_empty()) {
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
