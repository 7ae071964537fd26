//! The files of a version of the policy: a file, a folder, or `git:REV[:PATH]`.

use std::fs;
use std::path::Path;
#[cfg(feature = "tui")]
use std::path::PathBuf;
use std::sync::Arc;

use super::{git, unreadable, utf8, walk};
use crate::diagnostic::{Diagnostic, code};
use crate::dialect::beside;
use crate::policy::{PolicyFile, named_in};

/// The folder that is meant where no policy is named.
const DEFAULT_FOLDER: &str = "contracts";

/// The files of a version, unread by any dialect.
#[derive(Clone, Debug)]
pub struct VersionFiles {
    /// The version as it was asked for.
    pub spec: String,
    /// The files, in the order of the bytes of their relative paths.
    pub files: Vec<VersionFile>,
    /// What was met on the way: links, subfolders that cannot be read.
    pub diagnostics: Vec<Diagnostic>,
}

/// A file of a version.
#[derive(Clone, Debug)]
pub struct VersionFile {
    /// The name it is shown under: what was asked for, joined with the path within it.
    pub name: Arc<str>,
    /// Its path within the version, with `/` between the parts; of a file named itself, its last part.
    pub relative: Arc<str>,
    /// Its text, or why there is none.
    pub text: Result<Arc<str>, Diagnostic>,
    /// Whether it was named itself, rather than found in a folder.
    pub named: bool,
}

/// Finds and reads the files of a version: a file, a folder (its `*.yaml`, `*.yml` and `*.json`, subfolders
/// included), or `git:REV[:PATH]`.
///
/// `git:REV` without a path means the same paths as `beside`, the versions that were asked for with it, as they
/// are in the revision; without any, the folder `contracts`.
pub fn read_version(spec: &str, beside: &[String]) -> Result<VersionFiles, Diagnostic> {
    let mut version = VersionFiles { spec: spec.to_owned(), files: Vec::new(), diagnostics: Vec::new() };
    match spec.strip_prefix("git:") {
        None => read_path(spec, &mut version)?,
        Some(rest) => {
            let (revision, path) = match rest.split_once(':') {
                Some((revision, path)) => (revision, Some(path)),
                None => (rest, None),
            };
            for path in paths_of_revision(path, beside) {
                git::read(revision, &path, path_is_given(spec), &mut version)?;
            }
        }
    }
    version.files.sort_by(|a, b| a.relative.as_bytes().cmp(b.relative.as_bytes()));
    Ok(version)
}

impl VersionFiles {
    /// Whether a file of this name is there.
    pub(super) fn has(&self, name: &str) -> bool {
        self.files.iter().any(|file| beside::clean(&file.name) == name)
    }

    /// What the policy is loaded from, and what could not be read for it.
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

pub(super) fn empty(spec: &str) -> Diagnostic {
    Diagnostic::error(code::EMPTY_FOLDER, "the folder has no `*.yaml`, `*.yml` or `*.json` files")
        .in_file(spec)
}

/// The last part of a path.
pub(super) fn file_name(path: &str) -> Arc<str> {
    let path = path.trim_end_matches('/');
    path.rsplit(['/', '\\']).next().unwrap_or(path).into()
}

fn path_is_given(spec: &str) -> bool {
    spec.matches(':').count() > 1
}

fn paths_of_revision(given: Option<&str>, beside: &[String]) -> Vec<String> {
    if let Some(path) = given {
        return vec![path.to_owned()];
    }
    let mut paths: Vec<String> = Vec::new();
    for spec in beside {
        let path = match spec.strip_prefix("git:") {
            None => Some(spec.as_str()),
            Some(other) => other.split_once(':').map(|(_, path)| path),
        };
        paths.extend(path.filter(|path| *path != "recorded").map(str::to_owned));
    }
    if paths.is_empty() {
        paths.push(DEFAULT_FOLDER.to_owned());
    }
    paths
}

fn read_path(spec: &str, version: &mut VersionFiles) -> Result<(), Diagnostic> {
    let path = Path::new(spec);
    let metadata = fs::metadata(path).map_err(|error| unreadable(spec, &error))?;
    if !metadata.is_dir() {
        let text = read(path, spec);
        version.files.push(VersionFile { name: spec.into(), relative: file_name(spec), text, named: true });
        read_named(version);
        return Ok(());
    }
    let walked = walk::files(path, spec, &is_document);
    version.diagnostics.extend(walked.diagnostics);
    for file in walked.files {
        let name = walk::join(spec, &file.relative);
        let text = read(&file.path, &name);
        version.files.push(VersionFile {
            name: name.into(),
            relative: file.relative.into(),
            text,
            named: false,
        });
    }
    read_named(version);
    if version.files.is_empty() { Err(empty(spec)) } else { Ok(()) }
}

/// Adds the files that documents of the version name. One that is not there is an error of the document that names it.
fn read_named(version: &mut VersionFiles) {
    for at in 0..version.files.len() {
        for named in version.files.get(at).map(Named::of).unwrap_or_default() {
            let Some(folder) = version.files.get(at).and_then(|file| Path::new(&*file.name).parent()) else {
                continue;
            };
            let path = folder.join(&*named.written);
            if path.exists() && !version.has(&named.name) {
                let text = read(&path, &named.name);
                version.files.push(named.file(text));
            }
        }
    }
}

/// A file that a document of a version names.
pub(super) struct Named {
    /// As it is written.
    pub written: Arc<str>,
    /// What it is shown under.
    pub name: String,
    /// Its path within the version.
    relative: String,
}

impl Named {
    /// The files that a file's documents name.
    pub fn of(file: &VersionFile) -> Vec<Named> {
        let Ok(text) = &file.text else { return Vec::new() };
        let named = named_in(&file.name, text).into_iter().map(|written| Named {
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

/// The paths that files of a version name, be they there or not.
#[cfg(feature = "tui")]
pub(super) fn named_on_disk(spec: &str) -> Vec<PathBuf> {
    let mut version = VersionFiles { spec: spec.to_owned(), files: Vec::new(), diagnostics: Vec::new() };
    // What cannot be read is reported by whoever reads it.
    let _ = read_path(spec, &mut version);
    let named = version.files.iter().flat_map(|file| {
        let folder = Path::new(&*file.name).parent().unwrap_or(Path::new(""));
        Named::of(file).into_iter().map(|named| folder.join(&*named.written))
    });
    named.collect()
}

fn read(path: &Path, name: &str) -> Result<Arc<str>, Diagnostic> {
    let bytes = fs::read(path).map_err(|error| unreadable(name, &error))?;
    utf8(name, bytes)
}
