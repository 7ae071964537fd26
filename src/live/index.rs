//! The index of a journal: a file beside it with the outline of every record, so that a process reads what happened without
//! what every tool printed.
//!
//! The journal alone is the truth. The last line of the index, its seal, says of which file it is, how long that was and when
//! it last changed, and holds a digest of the lines before. With any other journal, or a digest that differs, the index is
//! as good as none: it is made again. So it is never synced, and a writer that is stopped at any point does no harm.

use std::fmt;
use std::fs::{File, Metadata, OpenOptions};
use std::hash::Hasher as _;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use twox_hash::XxHash3_64;

use crate::session::body::{Place, Store};

/// How outlines are written; changes with them.
const FORM: &str = concat!("#rulestep.index/1 ", env!("CARGO_PKG_VERSION"));

/// Bytes of a body that are asked for before anything of it was read.
const ROOM: u64 = 1 << 20;

/// The index of a journal whose lock is held.
pub struct Index {
    file: File,
    /// Digest of its outlines.
    digest: XxHash3_64,
    /// Bytes of its outlines: where the seal begins.
    end: u64,
}

/// Which file a journal is, and in which state.
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
            // Nobody can set this time.
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
    /// The index of the journal in this state, with its outlines. `None`: there is none that can be trusted.
    pub fn open(path: &Path, journal: &Stamp) -> Option<(Index, Vec<u8>)> {
        let mut file = OpenOptions::new().read(true).write(true).open(path).ok()?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).ok()?;
        let seal = memchr::memrchr(b'\n', text.get(..text.len().checked_sub(1)?)?).map_or(0, |end| end + 1);
        let mut digest = XxHash3_64::new();
        digest.write(text.get(..seal)?);
        if text.get(seal..)? != sealed(journal, &digest).as_bytes() {
            return None;
        }
        text.truncate(seal);
        Some((Index { file, digest, end: seal as u64 }, text))
    }

    /// Makes the index of a journal in this state anew.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn create(path: &Path, outlines: &[u8], journal: &Stamp) -> io::Result<Index> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut index = Index { file: options.open(path)?, digest: XxHash3_64::new(), end: 0 };
        index.append(outlines, journal)?;
        Ok(index)
    }

    /// Adds the outlines of the journal's last records; they take the place of the seal, which follows them.
    ///
    /// # Errors
    /// They cannot be written. What is there then is no index of the journal.
    pub fn append(&mut self, outlines: &[u8], journal: &Stamp) -> io::Result<()> {
        self.digest.write(outlines);
        let seal = sealed(journal, &self.digest);
        self.file.seek(SeekFrom::Start(self.end))?;
        self.end += outlines.len() as u64;
        self.file.write_all(&[outlines, seal.as_bytes()].concat())?;
        self.file.set_len(self.end + seal.len() as u64)
    }
}

fn sealed(journal: &Stamp, digest: &XxHash3_64) -> String {
    format!("{FORM} {} {:016x}\n", journal.0, digest.finish())
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.end)
    }
}

/// The long bodies of a journal, where they are in it.
#[derive(Debug)]
pub struct Bodies {
    journal: Mutex<File>,
    misread: AtomicBool,
}

impl Bodies {
    /// Of a journal that is open.
    ///
    /// # Errors
    /// The system has no further handle for it.
    pub fn of(journal: &File) -> io::Result<Bodies> {
        Ok(Bodies { journal: Mutex::new(journal.try_clone()?), misread: AtomicBool::new(false) })
    }

    /// Whether some body could not be read, or is not the one that the index was made of.
    pub fn misread(&self) -> bool {
        self.misread.load(Ordering::Relaxed)
    }

    fn text(&self, place: Place) -> Option<String> {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        journal.seek(SeekFrom::Start(place.start)).ok()?;
        // Room for the whole, so that it is one read.
        let mut text = Vec::with_capacity(usize::try_from(place.length.min(ROOM)).ok()?);
        (&mut *journal).take(place.length).read_to_end(&mut text).ok()?;
        String::from_utf8(text).ok().filter(|text| XxHash3_64::oneshot(text.as_bytes()) == place.digest)
    }
}

impl Store for Bodies {
    fn read(&self, place: Place) -> String {
        self.text(place).unwrap_or_else(|| {
            self.misread.store(true, Ordering::Relaxed);
            String::new()
        })
    }
}
