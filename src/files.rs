//! The only reader of files: paths, folders, globs, standard input, and git revisions.
//!
//! Everything is found in one order, that of the bytes of relative paths with `/` between their parts, whatever
//! the system lists first. What cannot be read is a diagnostic; nothing is left out silently but hidden files,
//! `target` and `node_modules`, and Markdown beside recordings, which is about them.

use std::io;
#[cfg(feature = "cli")]
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Place, code};

pub mod bounded;
#[cfg(feature = "cli")]
pub mod cache;
#[cfg(feature = "cli")]
pub mod conversation;
#[cfg(feature = "cli")]
pub mod digested;
mod git;
#[cfg(feature = "cli")]
mod glob;
#[cfg(feature = "cli")]
mod inputs;
#[cfg(feature = "cli")]
pub mod packed;
mod read;
#[cfg(feature = "cli")]
pub mod replace;
#[cfg(feature = "cli")]
pub mod settings;
#[cfg(feature = "cli")]
pub mod spill;
#[cfg(feature = "cli")]
pub mod stamp;
#[cfg(feature = "cli")]
pub mod stream;
pub mod version;
mod walk;
#[cfg(feature = "tui")]
pub mod watch;

#[cfg(feature = "tui")]
pub use inputs::case_files;
#[cfg(feature = "cli")]
pub use inputs::{Input, expand};
pub use read::read_version;
pub use version::is_document;

/// A path that is written in a file, relative to that file's folder: as it leads there from here, without detours.
#[cfg(feature = "cli")]
pub fn beside(file: &str, path: &str) -> String {
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let whole = folder.join(path);
    let mut short = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if short.file_name().is_some() => {
                short.pop();
            }
            part => short.push(part),
        }
    }
    if short.as_os_str().is_empty() {
        short.push(".");
    }
    // Behind a link, a folder's parent is not what is before it.
    let climbs = whole.components().any(|part| part == Component::ParentDir);
    let same =
        || matches!((whole.canonicalize(), short.canonicalize()), (Ok(long), Ok(short)) if long == short);
    let same = !climbs || same();
    let path = if same { short } else { whole };
    path.to_string_lossy().into_owned()
}

/// A path as it is written in a file of a folder, to lead from there to where it leads from here.
#[cfg(feature = "cli")]
pub fn from(folder: &str, path: &str) -> String {
    let (Ok(folder), Ok(target)) = (Path::new(folder).canonicalize(), Path::new(path).canonicalize()) else {
        return path.to_owned();
    };
    let shared = folder.components().zip(target.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(target.components().skip(shared)).collect();
    let way = way.to_string_lossy().replace('\\', "/");
    if way.is_empty() { ".".to_owned() } else { way }
}

/// Bytes as text, or the line and byte at which they stop being text.
pub fn utf8(name: &str, bytes: Vec<u8>) -> Result<Arc<str>, Diagnostic> {
    String::from_utf8(bytes).map(Arc::from).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let before = error.as_bytes().get(..valid).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let byte = valid - line_start + 1;
        // It begins with the mark of UTF-16, as files do that PowerShell writes.
        let why = match error.as_bytes() {
            [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => {
                "UTF-16 text: convert it with `iconv -f utf-16 -t utf-8`".to_owned()
            }
            _ => format!("not UTF-8 text: line {line}, byte {byte}"),
        };
        Diagnostic::error(code::UNREADABLE_FILE, why).primary(Place::Line {
            file: name.into(),
            line: count(line),
            byte: Some(count(byte)),
        })
    })
}

/// A file or folder that the system does not let us read, and why.
fn unreadable(name: &str, error: &io::Error) -> Diagnostic {
    let (code, reason) = match error.kind() {
        io::ErrorKind::NotFound => (code::MISSING_FILE, "no such file or folder".to_owned()),
        io::ErrorKind::PermissionDenied => (code::UNREADABLE_FILE, "no permission to read it".to_owned()),
        _ => (code::UNREADABLE_FILE, format!("cannot be read: {}", words(error))),
    };
    Diagnostic::error(code, reason).in_file(name)
}

/// What the system says, without its number and in lower case.
fn words(error: &io::Error) -> String {
    let told = error.to_string();
    told.split(" (os error").next().unwrap_or_default().to_lowercase()
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
