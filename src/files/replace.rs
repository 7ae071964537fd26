//! The only writer of users' files: policies, cases, and the saved position in the workbench.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Prefix of incomplete files.
const PREFIX: &str = ".rulestep-";

/// The byte order mark, which is no part of a text.
const MARK: &str = "\u{feff}";

/// The required state of a file before it is written.
#[derive(Clone, Copy)]
pub enum Expected<'a> {
    /// No file yet.
    Nothing,
    /// A file with this text, as it was read.
    Text(&'a str),
    /// Whatever is there.
    Any,
}

/// Why a file was not written.
#[derive(Debug, thiserror::Error)]
pub enum NotWritten {
    /// It exists already.
    #[error("it exists already")]
    Exists,
    /// It is not what was read: a change made meanwhile is not lost.
    #[error("it was changed meanwhile")]
    Changed,
    /// The system does not let us.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// Gives a file this text, in one step: half of it is never visible, and if it fails, the file is unchanged. A link
/// stays a link, permissions stay, and so does a byte order mark.
///
/// # Errors The file is not as expected, or cannot be written.
pub fn replace(path: &Path, expected: Expected<'_>, text: &str) -> Result<(), NotWritten> {
    let target = match (expected, fs::canonicalize(path)) {
        (Expected::Nothing, _) => path.to_owned(),
        (Expected::Any, Err(error)) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        (_, found) => found?,
    };
    let mark = match expected {
        Expected::Text(before) => compare(&target, before)?,
        _ => "",
    };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut beside = builder().tempfile_in(folder)?;
    beside.write_all(mark.as_bytes())?;
    beside.write_all(text.strip_prefix(MARK).filter(|_| !mark.is_empty()).unwrap_or(text).as_bytes())?;
    if let Expected::Nothing = expected {
        beside.as_file().sync_all()?;
        return match beside.persist_noclobber(&target) {
            Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => Err(NotWritten::Exists),
            put => put.map(drop).map_err(|failed| failed.error.into()),
        };
    }
    match fs::metadata(&target) {
        Ok(old) if !old.is_file() => return Err(io::Error::other("it is not a regular file").into()),
        Ok(old) => fs::set_permissions(beside.path(), old.permissions())?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error.into()),
    }
    beside.as_file().sync_all()?;
    beside.persist(&target).map(drop).map_err(|failed| failed.error.into())
}

/// Writes these bytes to a file that only the user can read, in one step.
///
/// # Errors It cannot be written.
pub fn put_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut beside = tempfile::Builder::new().prefix(PREFIX).tempfile_in(folder.unwrap_or(Path::new(".")))?;
    beside.write_all(bytes)?;
    beside.as_file().sync_data()?;
    beside.persist(path).map(drop).map_err(|failed| failed.error)
}

/// Whether a file has a name that only those have which are not whole yet.
pub fn is_pending(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX))
}

/// Removes a file that still has this text.
///
/// # Errors
/// The file has another text, or cannot be removed.
pub fn remove(path: &Path, before: &str) -> Result<(), NotWritten> {
    compare(path, before)?;
    Ok(fs::remove_file(path)?)
}

/// The byte order mark of a file, if it has one and has this text.
fn compare(path: &Path, before: &str) -> Result<&'static str, NotWritten> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file").into());
    }
    let bytes = fs::read(path)?;
    let (mark, found) = match bytes.strip_prefix(MARK.as_bytes()) {
        Some(rest) => (MARK, rest),
        None => ("", &*bytes),
    };
    let before = before.strip_prefix(MARK).unwrap_or(before);
    if found == before.as_bytes() { Ok(mark) } else { Err(NotWritten::Changed) }
}

/// A file that is written bit by bit and has its name once it is whole.
pub enum PendingFile {
    /// Beside its final path.
    Beside {
        /// The content being written.
        file: BufWriter<NamedTempFile>,
        /// Its final path.
        target: PathBuf,
    },
    /// A pipe or a device, which nothing replaces.
    Straight(BufWriter<fs::File>),
}

impl PendingFile {
    /// Begins a file. An older file of the name is removed at once, so that the result of another run is not taken for
    /// that of one which was aborted.
    ///
    /// # Errors There is no folder for it, or nothing can be written there.
    pub fn create(path: &Path) -> io::Result<PendingFile> {
        let file = PendingFile::replacing(path)?;
        if let PendingFile::Beside { target, .. } = &file
            && target.exists()
        {
            fs::remove_file(target)?;
        }
        Ok(file)
    }

    /// Begins it. What had the name before keeps it until this file is whole.
    ///
    /// # Errors
    /// There is no folder for it, or nothing can be written there.
    pub fn replacing(path: &Path) -> io::Result<PendingFile> {
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let old = fs::metadata(&target);
        if old.as_ref().is_ok_and(|old| !old.is_file()) {
            return Ok(PendingFile::Straight(BufWriter::new(fs::File::create(target)?)));
        }
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let file = builder().tempfile_in(folder.unwrap_or(Path::new(".")))?;
        if let Ok(old) = old {
            fs::set_permissions(file.path(), old.permissions())?;
            // One that may not be written to is not replaced either.
            fs::OpenOptions::new().write(true).open(&target)?;
        }
        Ok(PendingFile::Beside { file: BufWriter::new(file), target })
    }

    /// Moves it to its final path.
    ///
    /// # Errors The rest of it cannot be written.
    pub fn finish(self) -> io::Result<()> {
        match self {
            PendingFile::Straight(mut file) => file.flush(),
            PendingFile::Beside { file, target } => {
                let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.as_file().sync_all()?;
                file.persist(target).map(drop).map_err(|failed| failed.error)
            }
        }
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            PendingFile::Beside { file, .. } => file.write(bytes),
            PendingFile::Straight(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            PendingFile::Beside { file, .. } => file.flush(),
            PendingFile::Straight(file) => file.flush(),
        }
    }
}

/// A new file gets the permissions that the user's files get; those that are only for a moment would be private.
fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn names(folder: &Path) -> Vec<PathBuf> {
        let mut names: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_if_it_is_what_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.yaml");
        // On disk, the text as read, the new text, and what is then on disk.
        for (disk, read, new, then) in [
            ("a: 1\r\n", "a: 1\r\n", "a: 2\r\n", Some("a: 2\r\n")),
            ("\u{feff}a: 1\n", "a: 1\n", "a: 2\n", Some("\u{feff}a: 2\n")),
            ("\u{feff}a: 1\n", "\u{feff}a: 1\n", "\u{feff}a: 2\n", Some("\u{feff}a: 2\n")),
            ("\u{feff}", "", "", Some("\u{feff}")),
            ("a: 3\n", "a: 1\n", "a: 2\n", None),
            ("a: 1\r\n", "a: 1\n", "a: 2\n", None),
            ("", "a: 1\n", "a: 2\n", None),
        ] {
            fs::write(&file, disk).unwrap();
            let written = replace(&file, Expected::Text(read), new);
            match then {
                Some(_) => assert!(written.is_ok(), "{disk:?}"),
                None => assert!(matches!(written, Err(NotWritten::Changed)), "{disk:?}"),
            }
            assert_eq!(fs::read_to_string(&file).unwrap(), then.unwrap_or(disk));
            assert_eq!(names(folder.path()), [PathBuf::from("a.yaml")], "nothing is left beside it");
        }
        fs::write(&file, b"\xff").unwrap();
        assert!(matches!(replace(&file, Expected::Text(""), "x"), Err(NotWritten::Changed)));
    }

    #[test]
    fn what_is_there_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.yaml");
        assert!(matches!(replace(&file, Expected::Text(""), "x"), Err(NotWritten::System(_))));
        assert!(replace(&file, Expected::Nothing, "one").is_ok());
        assert!(matches!(replace(&file, Expected::Nothing, "two"), Err(NotWritten::Exists)));
        assert!(matches!(replace(folder.path(), Expected::Nothing, "two"), Err(NotWritten::Exists)));
        assert!(matches!(replace(folder.path(), Expected::Text(""), "two"), Err(NotWritten::System(_))));
        assert_eq!(fs::read_to_string(&file).unwrap(), "one");
        assert_eq!(names(folder.path()), [PathBuf::from("a.yaml")]);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("a.yaml"), folder.path().join("link.yaml"));
        fs::write(&file, "one").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("a.yaml", &link).unwrap();
        assert!(replace(&link, Expected::Text("one"), "two").is_ok());
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "two");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        // A new file is as readable as any other new file, and a link that leads nowhere is something that is there.
        let (new, usual) = (folder.path().join("new"), folder.path().join("usual"));
        assert!(replace(&new, Expected::Nothing, "x").is_ok());
        fs::write(&usual, "x").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&new), mode(&usual));
        symlink("nowhere", folder.path().join("loose")).unwrap();
        assert!(matches!(
            replace(&folder.path().join("loose"), Expected::Nothing, "x"),
            Err(NotWritten::Exists)
        ));
    }

    #[test]
    fn a_pending_file_has_its_name_once_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.md");
        fs::write(&path, "of another run").unwrap();
        let mut pending = PendingFile::create(&path).unwrap();
        pending.write_all(b"half").unwrap();
        pending.flush().unwrap();
        assert!(!path.exists(), "neither the half nor the result of another run");
        drop(pending);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left of it");
        let mut pending = PendingFile::create(&path).unwrap();
        pending.write_all(b"whole").unwrap();
        pending.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        let mut pending = PendingFile::replacing(&path).unwrap();
        pending.write_all(b"more").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole", "the old one until the new one is whole");
        pending.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"more");
        drop(PendingFile::replacing(&path).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"more", "the old one where the new one is dropped");
        let straight = PendingFile::create(Path::new("/dev/null")).unwrap();
        assert!(matches!(straight, PendingFile::Straight(_)));
        assert!(PendingFile::create(&folder.path().join("none/report.md")).is_err());
    }
}
