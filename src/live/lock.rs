//! Locks of files that several processes wait for, and that may be removed meanwhile.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

use super::fault::Fault;

/// Between two tries for a lock.
const PAUSE: Duration = Duration::from_millis(2);

/// Opens a file and waits for its lock. `None`: `open` finds none.
///
/// # Errors
/// It cannot be opened or locked in time.
pub fn open(
    path: &Path,
    wait: Duration,
    open: impl Fn() -> Result<Option<File>, Fault>,
) -> Result<Option<File>, Fault> {
    let begun = Instant::now();
    loop {
        let Some(file) = open()? else { return Ok(None) };
        lock(&file, path, wait)?;
        // The earlier holder of the lock may have removed the file: anything written to it would be lost.
        if is_named(&file, path) {
            return Ok(Some(file));
        }
        if begun.elapsed() >= wait {
            let message = format!("the journal `{}` is removed again and again", path.display());
            return Err(Fault::new(message, "find out what removes it"));
        }
    }
}

/// Waits for the lock of a file.
///
/// # Errors
/// It cannot be locked in time.
pub fn lock(file: &File, path: &Path, wait: Duration) -> Result<(), Fault> {
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(Fault::file(path, "locked", &error)),
            Err(TryLockError::WouldBlock) if begun.elapsed() >= wait => {
                let held = path.display();
                let message =
                    format!("another process has held the lock of the journal `{held}` for {wait:?}");
                return Err(Fault::new(message, "end that process, or let it finish and try again"));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
        }
    }
}

/// Whether the file that was opened is the one of that name.
pub fn is_named(file: &File, path: &Path) -> bool {
    let (Ok(own), Ok(named)) = (file.metadata(), std::fs::metadata(path)) else {
        return false;
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        (own.dev(), own.ino()) == (named.dev(), named.ino())
    }
    #[cfg(not(unix))]
    {
        own.created().ok() == named.created().ok()
    }
}
