//! Reads files named by something other than the user: a document, an event, a recording.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads a file of at most this many bytes.
///
/// # Errors
/// It is larger, or cannot be read.
pub fn read(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(largest + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > largest {
        true => Err(io::Error::other(format!("the file has more than {} megabytes", largest >> 20))),
        false => Ok(bytes),
    }
}

/// The same for a regular file: a device never ends, and a pipe may never begin.
///
/// # Errors It is not a regular file, is larger, or cannot be read.
pub fn read_regular(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    regular(path)?;
    read(path, largest)
}

/// Checks that a path leads to a regular file. Before opening it, because opening a pipe waits for its writer.
///
/// # Errors It does not, or there is nothing.
pub fn regular(path: &Path) -> io::Result<()> {
    match std::fs::metadata(path)?.is_file() {
        true => Ok(()),
        false => Err(io::Error::other("it is not a regular file")),
    }
}
