//! The settings of a version: the nearest `rulestep.toml`.

use std::fs;
use std::path::{Path, PathBuf};

use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_base::source::Source;

/// The file's name.
const NAME: &str = "rulestep.toml";

/// The settings for a version: in its folder, or in the nearest folder above it, up to the repository's. Of a git revision they
/// are those of the working tree, as the program reads it today.
pub fn nearest(spec: &str) -> Option<Result<Source, Diagnostic>> {
    let path = match spec.strip_prefix("git:") {
        Some(revision) => revision.split_once(':').map_or(".", |(_, path)| path),
        None => spec,
    };
    let here = Path::new(path);
    let here = if here.as_os_str().is_empty() { Path::new(".") } else { here };
    let path = std::path::absolute(here).ok()?;
    let mut folder: Option<&Path> = Some(&path);
    while let Some(at) = folder {
        let file = at.join(NAME);
        if at.is_dir() && file.is_file() {
            return Some(read(&file));
        }
        if at.join(".git").exists() {
            return None;
        }
        folder = at.parent();
    }
    None
}

fn read(file: &Path) -> Result<Source, Diagnostic> {
    let name = shown(file).to_string_lossy().into_owned();
    match fs::read_to_string(file) {
        Ok(text) => Ok(Source::new(name, text)),
        Err(error) => {
            Err(Diagnostic::error(code::UNREADABLE_FILE, format!("cannot be read: {error}")).in_file(name))
        }
    }
}

/// Relative to the current folder, if it is below that.
fn shown(file: &Path) -> PathBuf {
    let here = std::env::current_dir().ok();
    let short = here.and_then(|here| file.strip_prefix(here).ok());
    short.map_or_else(|| file.to_owned(), Path::to_owned)
}
