//! Puts a text in a file's place.

use std::fs;
use std::path::Path;

/// In one step, so that nobody ever sees half of it. A link stays one, and permissions stay.
///
/// # Errors
/// The file cannot be found, or nothing can be written beside it.
pub fn replace(path: &Path, text: &str) -> anyhow::Result<()> {
    let path = fs::canonicalize(path)?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.tmp", std::process::id()));
    fs::write(&beside, text)?;
    let put = fs::metadata(&path)
        .and_then(|old| fs::set_permissions(&beside, old.permissions()))
        .and_then(|()| fs::rename(&beside, &path));
    if put.is_err() {
        let _ = fs::remove_file(&beside);
    }
    Ok(put?)
}
