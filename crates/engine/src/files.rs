//! The files of a version: a folder, a file, or a git revision.
//!
//! The only module of this crate that reads files. Files are found in one order, that of the bytes of relative paths with
//! `/` between their parts, whatever order the system lists. An unreadable file is a diagnostic; only hidden files,
//! `target` and `node_modules` are left out silently.

use std::io;
use std::sync::Arc;

use rulestep_base::diagnostic::{Diagnostic, Place, code};

pub mod bounded;
pub mod git;
pub mod read;
pub mod stamp;
pub mod version;
pub mod walk;

pub use read::read_version;
pub use version::is_document;

/// Bytes as text, or the line and byte at which they stop being text.
pub fn utf8(name: &str, bytes: Vec<u8>) -> Result<Arc<str>, Diagnostic> {
    String::from_utf8(bytes).map(Arc::from).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let before = error.as_bytes().get(..valid).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let byte = valid - line_start + 1;
        // It begins with the byte order mark of UTF-16, as files written by PowerShell do.
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
pub fn unreadable(name: &str, error: &io::Error) -> Diagnostic {
    let (code, reason) = match error.kind() {
        io::ErrorKind::NotFound => (code::MISSING_FILE, "no such file or folder".to_owned()),
        io::ErrorKind::PermissionDenied => (code::UNREADABLE_FILE, "no permission to read it".to_owned()),
        _ => (code::UNREADABLE_FILE, format!("cannot be read: {}", words(error))),
    };
    Diagnostic::error(code, reason).in_file(name)
}

/// The system's message, without its number and in lower case.
pub fn words(error: &io::Error) -> String {
    let told = error.to_string();
    told.split(" (os error").next().unwrap_or_default().to_lowercase()
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
