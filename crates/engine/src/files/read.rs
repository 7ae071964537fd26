//! Reads the files of a version, from the disk or a git revision.

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use super::version::{NamedFile, VersionFile, VersionFiles, empty, file_name, is_document};
use super::{bounded, git, unreadable, utf8, walk};
use rulestep_base::diagnostic::{Diagnostic, Severity};

/// The default folder.
const DEFAULT_FOLDER: &str = "contracts";
/// The largest file of a version, in bytes: a thousand times the size of large policies.
const LARGEST: u64 = 16 << 20;

/// Finds and reads the files of a version: a file, a folder (its `*.yaml`, `*.yml` and `*.json`, subfolders included),
/// or `git:REV[:PATH]`.
///
/// `git:REV` without a path means the same paths as `beside`, the other versions of the command, as they are in the
/// revision; without any, the folder `contracts`.
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
    // A policy that cannot be read allows what it forbids.
    let weigh = |told: Diagnostic| {
        let is_policy = told.place().is_some_and(|place| is_document(place.file()));
        if is_policy && told.severity == Severity::Warning { told.severity(Severity::Error) } else { told }
    };
    version.diagnostics.extend(walked.diagnostics.into_iter().map(weigh));
    for file in walked.files {
        let name = walk::join(spec, &file.relative);
        let text = read_chosen(&file.path, &name);
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
        for named in version.files.get(at).map(NamedFile::of).unwrap_or_default() {
            let Some(folder) = version.files.get(at).and_then(|file| Path::new(&*file.name).parent()) else {
                continue;
            };
            let path = folder.join(&*named.written);
            if path.exists() && !version.has(&named.name) {
                let text = read_chosen(&path, &named.name);
                version.files.push(named.file(text));
            }
        }
    }
}

fn read(path: &Path, name: &str) -> Result<Arc<str>, Diagnostic> {
    let bytes = bounded::read(path, LARGEST).map_err(|error| unreadable(name, &error))?;
    utf8(name, bytes)
}

/// A file that a document or a folder names: the user did not choose it, so it must be a regular file.
fn read_chosen(path: &Path, name: &str) -> Result<Arc<str>, Diagnostic> {
    let bytes = bounded::read_regular(path, LARGEST).map_err(|error| unreadable(name, &error))?;
    utf8(name, bytes)
}

/// The paths that files of a version name, be they there or not.
pub fn named_on_disk(spec: &str) -> Vec<PathBuf> {
    let mut version = VersionFiles { spec: spec.to_owned(), files: Vec::new(), diagnostics: Vec::new() };
    // Errors of reading are reported by the reader.
    let _ = read_path(spec, &mut version);
    let named = version.files.iter().flat_map(|file| {
        let folder = Path::new(&*file.name).parent().unwrap_or(Path::new(""));
        NamedFile::of(file).into_iter().map(|named| folder.join(&*named.written))
    });
    named.collect()
}
