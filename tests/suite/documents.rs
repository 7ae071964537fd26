//! Documents that look like guards and must not load as if they were none, dialect by dialect.

mod stars;

use toolgate::diagnostic::{Diagnostic, Severity};
use toolgate::policy::{Loaded, Policy, PolicyFile};

/// A folder with one file of this name and text.
pub fn in_folder(name: &str, text: &str) -> Loaded {
    folder(&[(name, text)])
}

/// A folder with these files.
pub fn folder(files: &[(&str, &str)]) -> Loaded {
    let files: Vec<PolicyFile> = files
        .iter()
        .map(|(name, text)| PolicyFile {
            name: (*name).into(),
            relative: (*name).into(),
            text: (*text).into(),
            named: false,
        })
        .collect();
    Policy::load(&files, None)
}

/// The errors alone, each with its message and its help.
pub fn errors(loaded: &Loaded) -> Vec<String> {
    let errors = loaded.diagnostics.iter().filter(|told| told.severity == Severity::Error);
    let help = |told: &Diagnostic| told.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
    errors.map(|told| format!("{}: {}{}", told.code, told.message, help(told))).collect()
}
