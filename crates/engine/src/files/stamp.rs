//! Detects, without reading it, whether a file has changed.

use std::fs::Metadata;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// The system's metadata of a file. Two equal stamps may still belong to different bytes if the file was young: see
/// [`Stamp::is_young`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    system: System,
}

/// The coarsest clock of file systems: two changes within it may have the same time.
pub const GRAIN: Duration = Duration::from_secs(2);

impl Stamp {
    /// For a file, links followed.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Stamp {
        Stamp { modified: metadata.modified().ok(), length: metadata.len(), system: System::of(metadata) }
    }

    /// For the files of one recording: if the stamp is unchanged, all of them are. `None` for none.
    #[must_use]
    pub fn of_all(files: impl Iterator<Item = Stamp>) -> Option<Stamp> {
        files.reduce(|all, file| Stamp {
            modified: all.modified.max(file.modified),
            length: all.length.saturating_add(file.length),
            system: all.system.with(file.system),
        })
    }

    /// Whether every change of a file gives it another stamp, once it is not young: elsewhere a program may reset all
    /// parts of one.
    pub const TELLS: bool = cfg!(unix);

    /// The stamp of a file that was read from its beginning to its end and now has the stamp `now`; `before` is its
    /// stamp when reading began, and is the one that is kept. `None` if the file has changed since, or can change
    /// without getting another stamp.
    ///
    /// Only such a stamp may represent the bytes that were read. The system sets the time of a change itself, so a file
    /// that has this stamp later has not been written to, renamed or replaced since, and need not be read again.
    /// Exceptions: the clock was set back to that very instant, the disk was edited under the file system, a program
    /// writes through memory that it had mapped before, or another machine changes a file whose attributes this one
    /// caches.
    #[must_use]
    pub fn after_reading(
        now: impl FnOnce() -> Option<Stamp>,
        before: Stamp,
        began: SystemTime,
    ) -> Option<Stamp> {
        if !Stamp::TELLS || before.is_young_by_any_clock(began) {
            return None;
        }
        now().filter(|now| *now == before)
    }

    /// Bytes of what [`Stamp::write`] writes.
    pub const WRITTEN: usize = 24 + System::WRITTEN;

    /// Writes all that is in it: two stamps are equal where their bytes are.
    pub fn write(&self, out: &mut Vec<u8>) {
        write_time(self.modified, out);
        out.extend_from_slice(&self.length.to_le_bytes());
        self.system.write(out);
    }

    /// When the file was last changed, if the system records it.
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

    /// The same, also for a file whose modification time a program has set back.
    #[must_use]
    pub fn is_young_by_any_clock(&self, now: SystemTime) -> bool {
        self.is_young(now) || self.system.changed().is_some_and(|changed| is_young(Some(changed), now))
    }
}

fn is_young(time: Option<SystemTime>, now: SystemTime) -> bool {
    let age = time.and_then(|time| now.duration_since(time).ok());
    age.is_none_or(|age| age < GRAIN)
}

fn write_time(time: Option<SystemTime>, out: &mut Vec<u8>) {
    let nanoseconds = |since: Duration| i128::try_from(since.as_nanos()).unwrap_or(i128::MAX);
    let since = time.map_or(i128::MIN, |time| match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => nanoseconds(since),
        Err(before) => -nanoseconds(before.duration()),
    });
    out.extend_from_slice(&since.to_le_bytes());
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
    const WRITTEN: usize = 32;

    fn write(&self, out: &mut Vec<u8>) {
        let (seconds, nanoseconds) = self.changed;
        out.extend_from_slice(&self.device.to_le_bytes());
        out.extend_from_slice(&self.inode.to_le_bytes());
        out.extend_from_slice(&seconds.to_le_bytes());
        out.extend_from_slice(&nanoseconds.to_le_bytes());
    }

    fn of(metadata: &Metadata) -> Unix {
        use std::os::unix::fs::MetadataExt as _;
        Unix {
            device: metadata.dev(),
            inode: metadata.ino(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// The stamp of a recording which also has this file. Added and removed files change its length, and any other
    /// change is the latest.
    fn with(self, other: Unix) -> Unix {
        Unix { changed: self.changed.max(other.changed), ..self }
    }

    fn changed(&self) -> Option<SystemTime> {
        let (seconds, nanoseconds) = self.changed;
        let since = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanoseconds).ok()?);
        SystemTime::UNIX_EPOCH.checked_add(since)
    }

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
    const WRITTEN: usize = 16;

    fn write(&self, out: &mut Vec<u8>) {
        write_time(self.created, out);
    }

    fn of(metadata: &Metadata) -> FileIdentity {
        FileIdentity { created: metadata.created().ok() }
    }

    fn with(self, other: FileIdentity) -> FileIdentity {
        FileIdentity { created: self.created.max(other.created) }
    }

    fn changed(&self) -> Option<SystemTime> {
        None
    }

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
        let stamp = || {
            let (stamp, mut bytes) = (Stamp::of(&std::fs::metadata(&path).unwrap()), Vec::new());
            stamp.write(&mut bytes);
            assert_eq!(bytes.len(), Stamp::WRITTEN);
            (stamp, bytes)
        };
        std::fs::write(&path, "one").unwrap();
        let (first, bytes) = stamp();
        assert_eq!((first, bytes.clone()), stamp());
        let now = SystemTime::now();
        assert!(first.is_young(now) && !first.is_young(now + GRAIN * 2));
        assert!(first.is_young(now - GRAIN * 2), "a time from the future");
        std::fs::write(&path, "four").unwrap();
        assert!(stamp().0 != first && stamp().1 != bytes);
        let (second, bytes) = stamp();
        std::fs::write(folder.path().join("b"), "four").unwrap();
        std::fs::rename(folder.path().join("b"), &path).unwrap();
        assert!(stamp().0 != second && stamp().1 != bytes);
    }

    #[cfg(unix)]
    #[test]
    fn a_stamp_stands_for_what_was_read_only_where_every_change_shows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "one").unwrap();
        let read = || Some(Stamp::of(&std::fs::metadata(&path).unwrap()));
        let before = Stamp::of(&std::fs::metadata(&path).unwrap());
        let now = SystemTime::now();
        assert_eq!(Stamp::after_reading(read, before, now), None, "it is young");
        assert_eq!(Stamp::after_reading(read, before, now - GRAIN * 9), None, "it is from the future");
        let later = now + GRAIN * 2;
        assert_eq!(Stamp::after_reading(read, before, later), Some(before));
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(now - GRAIN * 9).unwrap();
        let set_back = Stamp::of(&file.metadata().unwrap());
        assert_eq!(
            Stamp::after_reading(read, set_back, now),
            None,
            "only the time that programs can set is old"
        );
        assert_eq!(Stamp::after_reading(read, before, later), None, "it was changed while it was read");
    }
}
