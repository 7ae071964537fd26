//! Files that a command creates in a named folder: changes to an earlier one are not lost.

use std::path::Path;

use super::exit::Failure;
use crate::files::replace::{Expected, NotWritten, replace};

/// Writes a file that is not there yet.
///
/// # Errors
/// It is there, or cannot be written.
pub fn create(path: &Path, text: &str) -> Result<(), Failure> {
    match replace(path, Expected::Nothing, text) {
        Ok(()) => Ok(()),
        Err(NotWritten::Exists) => {
            let message = format!("{} already exists and is not overwritten", path.display());
            Err(Failure::usage(message).help("name another file or folder"))
        }
        Err(error) => {
            let message = format!("{} cannot be written", path.display());
            Err(Failure::System(anyhow::Error::new(error).context(message)))
        }
    }
}
