//! The index of a journal: a file beside it with the outline of every record, so that a process reads the events
//! without the output of every tool.
//!
//! The journal alone is authoritative. The last line of the index, its seal, identifies the file of the journal, its
//! length and time of change, and holds a digest of the lines before. For any other journal, or with another digest,
//! the index is invalid and made again. So it is never synced, and a writer that is killed at any point does no harm.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{File, Metadata, OpenOptions};
use std::hash::Hasher as _;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rulestep_base::checksum::Checksum;

use rulestep_base::session::body::{Place, Store};

/// The form of outlines; changes with them.
const FORM: &str = concat!("#rulestep.index/5 ", env!("CARGO_PKG_VERSION"));

/// Bytes of a seal.
const SEAL: usize = 192;

/// Lines with an outline are not longer: see [`outline`](super::outline).
const ROOM: u64 = 64 << 20;

/// The index of a journal whose lock is held.
pub struct Index {
    file: File,
    /// Digest of its outlines.
    digest: Checksum,
    /// Bytes of its outlines: where the seal begins.
    end: u64,
}

/// Identity and state of a journal's file.
#[derive(Debug, PartialEq, Eq)]
pub struct Stamp(String);

impl Stamp {
    /// Of a journal.
    pub fn of(journal: &Metadata) -> Stamp {
        let length = journal.len();
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let (device, node) = (journal.dev(), journal.ino());
            // This time cannot be set by a program.
            Stamp(format!("{length} {device} {node} {}.{}", journal.ctime(), journal.ctime_nsec()))
        }
        #[cfg(not(unix))]
        {
            let since = |time: io::Result<std::time::SystemTime>| {
                Some(time.ok()?.duration_since(std::time::UNIX_EPOCH).ok()?.as_nanos())
            };
            Stamp(format!("{length} {:?} {:?}", since(journal.created()), since(journal.modified())))
        }
    }
}

impl Index {
    /// The index of the journal in this state, with its outlines. `None`: there is no valid one.
    pub fn open(path: &Path, journal: &Stamp) -> Option<(Index, String)> {
        // A pipe or a device in its place would never end.
        if !std::fs::metadata(path).ok()?.is_file() {
            return None;
        }
        let mut file = OpenOptions::new().read(true).write(true).open(path).ok()?;
        let length = file.metadata().ok()?.len();
        let mut text = Vec::with_capacity(usize::try_from(length).ok()? + 1);
        file.read_to_end(&mut text).ok()?;
        let seal = text.len().checked_sub(SEAL)?;
        let mut digest = beginning(path);
        digest.write(text.get(..seal)?);
        if text.get(seal..)? != sealed(journal, &digest).as_bytes() {
            return None;
        }
        text.truncate(seal);
        Some((Index { file, digest, end: seal as u64 }, String::from_utf8(text).ok()?))
    }

    /// The outlines of the journal at the time of the last index, whatever it is by now. `None`: there are no valid
    /// ones.
    pub fn last(path: &Path) -> Option<String> {
        if !std::fs::metadata(path).ok()?.is_file() {
            return None;
        }
        let mut text = std::fs::read(path).ok()?;
        let end = text.len().checked_sub(SEAL)?;
        let mut digest = beginning(path);
        digest.write(text.get(..end)?);
        if !text.get(end..)?.starts_with(signed(&digest).as_bytes()) {
            return None;
        }
        text.truncate(end);
        String::from_utf8(text).ok()
    }

    /// Makes the index of a journal in this state again.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn create(path: &Path, outlines: &str, journal: &Stamp) -> io::Result<Index> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut index = Index { file: options.open(path)?, digest: beginning(path), end: 0 };
        index.append(outlines, journal)?;
        Ok(index)
    }

    /// The outlines that other processes have added, if it is still the index of the journal, which is in this state
    /// now.
    pub fn follow(&mut self, journal: &Stamp) -> Option<String> {
        self.file.seek(SeekFrom::Start(self.end)).ok()?;
        let mut text = Vec::new();
        self.file.read_to_end(&mut text).ok()?;
        let seal = text.len().checked_sub(SEAL)?;
        let mut digest = self.digest.clone();
        digest.write(text.get(..seal)?);
        if text.get(seal..)? != sealed(journal, &digest).as_bytes() {
            return None;
        }
        text.truncate(seal);
        self.digest = digest;
        self.end += seal as u64;
        String::from_utf8(text).ok()
    }

    /// Adds the outlines of the journal's last records; they take the place of the seal, which follows them.
    ///
    /// # Errors
    /// They cannot be written. What is there then is no index of the journal.
    pub fn append(&mut self, outlines: &str, journal: &Stamp) -> io::Result<()> {
        self.digest.write(outlines.as_bytes());
        let seal = sealed(journal, &self.digest);
        self.file.seek(SeekFrom::Start(self.end))?;
        self.end += outlines.len() as u64;
        // All seals are equally long, so nothing of the one before is left over.
        self.file.write_all(&[outlines.as_bytes(), seal.as_bytes()].concat())
    }
}

/// The digest of an index without outlines: the index of one journal is invalid for another, even if both have no
/// records.
fn beginning(path: &Path) -> Checksum {
    let mut digest = Checksum::new();
    digest.write(path.file_name().map_or(&[][..], OsStr::as_encoded_bytes));
    digest
}

/// The beginning of a seal.
fn signed(digest: &Checksum) -> String {
    format!("{FORM} {:016x} ", digest.finish())
}

fn sealed(journal: &Stamp, digest: &Checksum) -> String {
    let mut seal = format!("{}{}", signed(digest), journal.0);
    // One that has no room fits nothing.
    seal.truncate(SEAL - 1);
    format!("{seal:width$}\n", width = SEAL - 1)
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.end)
    }
}

/// A journal that is read at places.
#[derive(Debug)]
pub struct Bodies {
    #[cfg(unix)]
    journal: File,
    #[cfg(not(unix))]
    journal: std::sync::Mutex<File>,
    misread: AtomicBool,
}

impl Bodies {
    /// For an open journal.
    ///
    /// # Errors The system provides no further handle for it.
    pub fn of(journal: &File) -> io::Result<Bodies> {
        let journal = journal.try_clone()?;
        #[cfg(not(unix))]
        let journal = std::sync::Mutex::new(journal);
        Ok(Bodies { journal, misread: AtomicBool::new(false) })
    }

    /// Whether something could not be read, or is not what the index was made of.
    pub fn misread(&self) -> bool {
        self.misread.load(Ordering::Relaxed)
    }

    /// Remembers that a body could not be read, to be reported later.
    pub fn set_misread(&self) {
        self.misread.store(true, Ordering::Relaxed);
    }

    /// The text at a place of the journal.
    pub fn text_at(&self, start: u64, length: u64) -> Option<String> {
        let mut text = vec![0; usize::try_from(length).ok().filter(|_| length <= ROOM)?];
        #[cfg(unix)]
        std::os::unix::fs::FileExt::read_exact_at(&self.journal, &mut text, start).ok()?;
        #[cfg(not(unix))]
        {
            let mut journal = self.journal.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            journal.seek(SeekFrom::Start(start)).ok()?;
            journal.read_exact(&mut text).ok()?;
        }
        String::from_utf8(text).ok()
    }

    fn text(&self, place: Place) -> Option<String> {
        self.text_at(place.start, place.length)
            .filter(|text| Checksum::oneshot(text.as_bytes()) == place.digest)
    }
}

impl Store for Bodies {
    fn read(&self, place: Place) -> String {
        self.text(place).unwrap_or_else(|| {
            self.set_misread();
            String::new()
        })
    }
}
