//! Writing rules into files of the policy.

use std::fs;
use std::path::Path;

use crate::files::replace::{Expected, NotWritten, remove, replace};
use crate::workbench::message::Msg;
use crate::workbench::model::suggest::FileWrite;

/// Writes a file if it has not changed since it was read.
pub fn write(write: FileWrite, undo: bool) -> Msg {
    let failed = |text: String| Msg::Note { failed: true, text };
    match put(&write) {
        Ok(()) => Msg::Written { write: Box::new(write), undo },
        Err(NotWritten::Changed | NotWritten::Exists) => {
            let done = if undo { "nothing was undone" } else { "it was not written" };
            failed(format!("`{}` was changed meanwhile, so {done}", write.file))
        }
        Err(error) => failed(format!("`{}` cannot be written: {error}", write.file)),
    }
}

fn put(write: &FileWrite) -> Result<(), NotWritten> {
    let path = Path::new(&*write.file);
    match (&write.before, &write.after) {
        (None, after) => {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            replace(path, Expected::Nothing, after.as_deref().unwrap_or_default())
        }
        (Some(before), Some(after)) => replace(path, Expected::Text(before), after),
        (Some(before), None) => remove(path, before),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rule is written into a file with a byte order mark, undone, and not written into a file that was changed.
    #[test]
    fn a_file_is_written_only_as_it_was_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p/a.yaml");
        let on_disk = || fs::read_to_string(&path).unwrap();
        let file: std::sync::Arc<str> = path.to_string_lossy().into();
        let of = |before: Option<&str>, after: Option<&str>| FileWrite {
            file: file.clone(),
            before: before.map(Into::into),
            after: after.map(Into::into),
        };
        assert!(put(&of(None, Some("a: 1\n"))).is_ok());
        assert!(matches!(put(&of(None, Some("a: 2\n"))), Err(NotWritten::Exists)));
        fs::write(&path, "\u{feff}a: 1\n").unwrap();
        let write = of(Some("a: 1\n"), Some("a: 2\n"));
        assert!(put(&write).is_ok());
        assert_eq!(on_disk(), "\u{feff}a: 2\n");
        assert!(matches!(put(&write), Err(NotWritten::Changed)));
        assert!(put(&write.inverse()).is_ok());
        assert_eq!(on_disk(), "\u{feff}a: 1\n");
        assert!(matches!(put(&of(Some("a: 2\n"), None)), Err(NotWritten::Changed)));
        assert!(put(&of(Some("a: 1\n"), None)).is_ok());
        assert!(!path.exists());
    }
}
