//! What tells, without reading it, whether a file is another one than before.

use std::fs::Metadata;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// What the system says of a file. Two that are equal may still hold different bytes where the file was young: see
/// [`Stamp::is_young`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    system: System,
}

/// As coarse as the clocks of file systems get: two changes within it may bear the same time.
pub const GRAIN: Duration = Duration::from_secs(2);

impl Stamp {
    /// Of a file, links followed.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Stamp {
        Stamp { modified: metadata.modified().ok(), length: metadata.len(), system: System::of(metadata) }
    }

    /// Whether every change of a file gives it another stamp, once it is not young: elsewhere a program may set all back that is
    /// in one.
    pub const TELLS: bool = cfg!(unix);

    /// When the file was last changed, where the system says so.
    #[cfg(feature = "tui")]
    #[must_use]
    pub fn modified(&self) -> Option<SystemTime> {
        self.modified
    }

    /// Bytes of the file.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Whether it is the same file, and longer.
    #[cfg(feature = "tui")]
    #[must_use]
    pub fn has_grown_from(&self, before: &Stamp) -> bool {
        self.system.is_same_file(&before.system) && self.length > before.length
    }

    /// Whether the file had been changed so shortly before `now` that another change might leave the same stamp. A time
    /// from the future says nothing, nor does none.
    #[must_use]
    pub fn is_young(&self, now: SystemTime) -> bool {
        is_young(self.modified, now)
    }

    /// The same, also of a file whose time of modification a program has set back.
    #[must_use]
    pub fn is_young_by_any_clock(&self, now: SystemTime) -> bool {
        self.is_young(now) || self.system.changed().is_some_and(|changed| is_young(Some(changed), now))
    }
}

fn is_young(time: Option<SystemTime>, now: SystemTime) -> bool {
    let age = time.and_then(|time| now.duration_since(time).ok());
    age.is_none_or(|age| age < GRAIN)
}

#[cfg(unix)]
type System = Unix;
#[cfg(not(unix))]
type System = FileIdentity;

/// A file that took another's place under the same name may be as long and as old.
#[cfg(unix)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Unix {
    device: u64,
    inode: u64,
    changed: (i64, i64),
}

#[cfg(unix)]
impl Unix {
    fn of(metadata: &Metadata) -> Unix {
        use std::os::unix::fs::MetadataExt as _;
        Unix {
            device: metadata.dev(),
            inode: metadata.ino(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    fn changed(&self) -> Option<SystemTime> {
        let (seconds, nanoseconds) = self.changed;
        let since = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanoseconds).ok()?);
        SystemTime::UNIX_EPOCH.checked_add(since)
    }

    #[cfg(feature = "tui")]
    fn is_same_file(&self, other: &Unix) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

#[cfg(not(unix))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FileIdentity {
    created: Option<SystemTime>,
}

#[cfg(not(unix))]
impl FileIdentity {
    fn of(metadata: &Metadata) -> FileIdentity {
        FileIdentity { created: metadata.created().ok() }
    }

    fn changed(&self) -> Option<SystemTime> {
        None
    }

    #[cfg(feature = "tui")]
    fn is_same_file(&self, other: &FileIdentity) -> bool {
        self == other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_file_has_another_stamp() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let stamp = || Stamp::of(&std::fs::metadata(&path).unwrap());
        std::fs::write(&path, "one").unwrap();
        let first = stamp();
        assert_eq!(first, stamp());
        let now = SystemTime::now();
        assert!(first.is_young(now) && !first.is_young(now + GRAIN * 2));
        assert!(first.is_young(now - GRAIN * 2), "a time from the future");
        std::fs::write(&path, "four").unwrap();
        assert_ne!(first, stamp());
        let second = stamp();
        std::fs::write(folder.path().join("b"), "four").unwrap();
        std::fs::rename(folder.path().join("b"), &path).unwrap();
        assert_ne!(second, stamp());
    }
}
