//! A policy from files or text, and saved sessions, or all their problems.

use std::path::Path;
use std::sync::Arc;

use crate::files;
use crate::policy::{Document, GUARD, Policy, PolicyFile};
use rulestep_base::diagnostic::{Diagnostic, Severity, code};

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

/// The policy of these files, if it decides. `diagnostics` are those of finding and reading the files.
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
    // A folder in which no document is a policy must not count as a policy that allows everything.
    let is_own = |document: &Document| document.source.name() != GUARD;
    if loaded.policy.as_ref().is_some_and(|policy| !policy.documents().iter().any(is_own)) {
        let message = "none of the files holds a policy, so nothing would be decided";
        diagnostics.push(Diagnostic::error(code::UNRECOGNISED_DOCUMENT, message));
    }
    let usable = diagnostics.iter().all(|diagnostic| diagnostic.severity != Severity::Error);
    match loaded.policy.filter(|_| usable) {
        Some(mut policy) => {
            // Diagnostics of the search belong to the version as well. It is not shared yet.
            if let Some(policy) = Arc::get_mut(&mut policy) {
                policy.set_diagnostics(diagnostics);
            }
            Ok(policy)
        }
        None => Err(InvalidPolicy { diagnostics }),
    }
}
