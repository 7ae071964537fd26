//! The files of a version of the policy: a file, a folder, or `git:REV[:PATH]`.

use std::sync::Arc;

use crate::dialect::beside;
use crate::policy::{PolicyFile, named_in};
use rulestep_base::diagnostic::{Diagnostic, code};

/// The files of a version, unread by any dialect.
#[derive(Clone, Debug)]
pub struct VersionFiles {
    /// The version as the user named it.
    pub spec: String,
    /// The files, in the order of the bytes of their relative paths.
    pub files: Vec<VersionFile>,
    /// Diagnostics of the search: links, subfolders that cannot be read.
    pub diagnostics: Vec<Diagnostic>,
}

/// A file of a version.
#[derive(Clone, Debug)]
pub struct VersionFile {
    /// The name it is shown under: the user's name of the version, joined with the path within it.
    pub name: Arc<str>,
    /// Its path within the version, with `/` between the parts; for a file named itself, its last part.
    pub relative: Arc<str>,
    /// Its text, or why there is none.
    pub text: Result<Arc<str>, Diagnostic>,
    /// Whether it was named itself, rather than found in a folder.
    pub named: bool,
}

impl VersionFiles {
    /// Whether a file of this name is there.
    pub fn has(&self, name: &str) -> bool {
        self.files.iter().any(|file| beside::clean(&file.name) == name)
    }

    /// The files to load the policy from, and diagnostics of those that could not be read.
    pub fn into_policy_files(self) -> (Vec<PolicyFile>, Vec<Diagnostic>) {
        let mut diagnostics = self.diagnostics;
        let mut files = Vec::with_capacity(self.files.len());
        for VersionFile { name, relative, text, named } in self.files {
            match text {
                Ok(text) => files.push(PolicyFile { name, relative, text, named }),
                Err(diagnostic) => diagnostics.push(diagnostic),
            }
        }
        (files, diagnostics)
    }
}

/// Whether a file found in a folder is read as a policy.
pub fn is_document(relative: &str) -> bool {
    let end = relative.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
    matches!(end.as_deref(), Some("yaml" | "yml" | "json"))
}

/// The problem of a folder that holds no policy.
pub fn empty(spec: &str) -> Diagnostic {
    Diagnostic::error(code::EMPTY_FOLDER, "the folder has no `*.yaml`, `*.yml` or `*.json` files")
        .in_file(spec)
}

/// The last part of a path.
pub fn file_name(path: &str) -> Arc<str> {
    let path = path.trim_end_matches('/');
    path.rsplit(['/', '\\']).next().unwrap_or(path).into()
}

/// A file that a document of a version names.
pub struct NamedFile {
    /// As written.
    pub written: Arc<str>,
    /// The name it is shown under.
    pub name: String,
    /// Its path within the version.
    relative: String,
}

impl NamedFile {
    /// The files that a file's documents name.
    pub fn of(file: &VersionFile) -> Vec<NamedFile> {
        let Ok(text) = &file.text else { return Vec::new() };
        let named = named_in(&file.name, text).into_iter().map(|written| NamedFile {
            name: beside::path(&file.name, &written),
            relative: beside::path(&file.relative, &written),
            written,
        });
        named.collect()
    }

    /// The file, with its text.
    pub fn file(self, text: Result<Arc<str>, Diagnostic>) -> VersionFile {
        VersionFile { name: self.name.into(), relative: self.relative.into(), text, named: false }
    }
}
