//! What was found out about files, kept from one run to the next in a file of the program's own.
//!
//! Whatever is wrong with it makes it smaller and never wrong: each entry has a checksum, and one that does not fit is as if it
//! were not there. A run replaces the file in one step, so runs beside each other lose entries at most.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::hash::Hasher as _;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use super::replace::put_private;
use super::stamp::Stamp;

/// With another number nothing that was kept is read.
const MAGIC: &[u8] = b"rulestep cache 2\n";
/// Bytes of one file of entries.
const MOST: usize = 256 << 20;
/// Bytes of the folder.
const MOST_OF_ALL: u64 = 1 << 30;
/// Bytes at either end of a file that are looked at.
const EDGE: u64 = 4096;
/// How the names of files of entries end.
const EXTENSION: &str = "entries";

/// By what a file is known to be as it was: what the system says of it, and a digest of its first and its last bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    stamp: Stamp,
    edges: u64,
}

impl Fingerprint {
    /// Of a file that has been read, had this stamp before, and whose reading began then; `None` where it has changed
    /// since, or could change without another stamp.
    pub fn after(path: &Path, before: Stamp, began: SystemTime) -> Option<Fingerprint> {
        if !Stamp::TELLS || before.is_young_by_any_clock(began) {
            return None;
        }
        let edges = edges(path, before.length()).ok()?;
        let now = Stamp::of(&fs::metadata(path).ok()?);
        (now == before).then_some(Fingerprint { stamp: before, edges })
    }

    /// Whether a file that has this stamp now is still as it was.
    pub fn is_of(&self, path: &Path, stamp: &Stamp) -> bool {
        self.stamp == *stamp && edges(path, stamp.length()).is_ok_and(|edges| edges == self.edges)
    }

    /// The same, by the stamp alone.
    pub fn may_be_of(&self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|metadata| Stamp::of(&metadata) == self.stamp)
    }
}

/// A digest of the first and the last bytes of a file of this length.
fn edges(path: &Path, length: u64) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let mut bytes = [0; 2 * EDGE as usize];
    let all = usize::try_from(length).unwrap_or(usize::MAX).min(bytes.len());
    let (first, last) = bytes.get_mut(..all).unwrap_or_default().split_at_mut(all.min(EDGE as usize));
    file.read_exact(first)?;
    if !last.is_empty() {
        if length > 2 * EDGE {
            file.seek(SeekFrom::Start(length - EDGE))?;
        }
        file.read_exact(last)?;
    }
    Ok(XxHash3_64::oneshot(bytes.get(..all).unwrap_or_default()))
}

/// Entries by name, all of one question: what is asked of the files is in the key.
pub struct Entries {
    path: PathBuf,
    header: Vec<u8>,
    bytes: Vec<u8>,
    /// By a digest of the name.
    places: HashMap<u64, Range<usize>>,
}

impl Entries {
    /// What is kept in this folder under the key. Nothing, where it cannot be read.
    pub fn open(folder: &Path, key: &str) -> Entries {
        let name = XxHash3_64::oneshot(key.as_bytes());
        let path = folder.join(format!("{name:016x}.{EXTENSION}"));
        let header = [MAGIC, key.as_bytes(), b"\n"].concat();
        let small = fs::metadata(&path).is_ok_and(|metadata| metadata.len() <= MOST as u64);
        let bytes = if small { fs::read(&path).unwrap_or_default() } else { Vec::new() };
        let mut places = HashMap::new();
        let mut at = if bytes.starts_with(&header) { header.len() } else { bytes.len() };
        while let Some(place) = frame(&bytes, at) {
            at = place.end;
            if let Some((name, _)) = bytes.get(place.clone()).and_then(named) {
                places.insert(XxHash3_64::oneshot(name), place);
            }
        }
        Entries { path, header, bytes, places }
    }

    /// The entry of this name.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        let place = self.places.get(&XxHash3_64::oneshot(name.as_bytes()))?;
        let (found, entry) = self.read(place)?;
        (found == name.as_bytes()).then_some(entry)
    }

    fn read(&self, place: &Range<usize>) -> Option<(&[u8], &[u8])> {
        let (sum, rest) = self.bytes.get(place.clone())?.split_first_chunk::<8>()?;
        (checksum(rest).to_le_bytes() == *sum).then_some(())?;
        named(self.bytes.get(place.clone())?)
    }

    /// Keeps these as well, and those of the others that `still` holds of. Nobody needs to know that nothing could be written:
    /// the next run reads the files again.
    pub fn save(self, new: &[(String, Vec<u8>)], still: &dyn Fn(&[u8]) -> bool) {
        if new.is_empty() {
            self.touch();
            return;
        }
        let names: HashSet<&[u8]> = new.iter().map(|(name, _)| name.as_bytes()).collect();
        let mut places: Vec<_> = self.places.values().collect();
        places.sort_by_key(|place| place.start);
        let old = places.into_iter().filter_map(|place| self.read(place));
        let old = old.filter(|(name, entry)| !names.contains(name) && still(entry));
        let mut bytes = self.header.clone();
        let new = new.iter().map(|(name, entry)| (name.as_bytes(), entry.as_slice()));
        for (name, entry) in new.chain(old) {
            if bytes.len() + name.len() + entry.len() + 64 > MOST {
                break;
            }
            push(&mut bytes, name, entry);
        }
        let Some(folder) = self.path.parent() else { return };
        if private_folder(folder).and_then(|()| put_private(&self.path, &bytes)).is_ok() {
            prune(folder, MOST_OF_ALL);
        }
    }

    /// What is used stays the longest.
    fn touch(&self) {
        if let Ok(file) = File::options().write(true).open(&self.path) {
            let _ = file.set_modified(SystemTime::now());
        }
    }
}

/// Where the next entry is, with its checksum.
fn frame(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let (length, _) = bytes.get(at..)?.split_first_chunk::<4>()?;
    let end = (at + 4).checked_add(u32::from_le_bytes(*length) as usize)?;
    (end <= bytes.len()).then_some(at + 4..end)
}

/// The name and the rest of an entry.
fn named(frame: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = frame.get(8..)?.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}

fn push(bytes: &mut Vec<u8>, name: &[u8], entry: &[u8]) {
    let [Ok(length), Ok(whole)] = [name.len(), name.len() + entry.len() + 12].map(u32::try_from) else {
        return;
    };
    let body = [&length.to_le_bytes(), name, entry].concat();
    bytes.extend_from_slice(&whole.to_le_bytes());
    bytes.extend_from_slice(&checksum(&body).to_le_bytes());
    bytes.extend_from_slice(&body);
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut hash = XxHash3_64::new();
    hash.write(bytes);
    hash.finish()
}

/// A folder that only its user looks into.
fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Removes what was used the longest ago, until the rest is small enough.
fn prune(folder: &Path, most: u64) {
    let Ok(listed) = fs::read_dir(folder) else { return };
    let own = |path: &Path| path.extension().is_some_and(|extension| extension == EXTENSION);
    let mut files: Vec<_> = listed
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| own(path) || super::replace::is_pending(path))
        .filter_map(|path| {
            let metadata = fs::symlink_metadata(&path).ok()?;
            Some((metadata.modified().ok()?, metadata.len(), path))
        })
        .collect();
    files.sort();
    let mut size: u64 = files.iter().map(|(_, length, _)| length).sum();
    for (_, length, path) in files {
        if size <= most {
            return;
        }
        size -= length;
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(entries: &Entries, names: &[&str]) -> Vec<Option<String>> {
        let text = |entry: &[u8]| String::from_utf8(entry.to_vec()).unwrap();
        names.iter().map(|name| entries.get(name).map(text)).collect()
    }

    fn entry(name: &str, text: &str) -> (String, Vec<u8>) {
        (name.to_owned(), text.as_bytes().to_vec())
    }

    #[test]
    fn entries_are_kept_until_they_no_longer_hold() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("below/rulestep");
        let open = || Entries::open(&folder, "key");
        assert_eq!(kept(&open(), &["a"]), [None]);
        open().save(&[entry("a", "one"), entry("b", "two")], &|_| true);
        assert_eq!(kept(&open(), &["a", "b", "c"]), [Some("one".to_owned()), Some("two".to_owned()), None]);
        open().save(&[entry("a", "three")], &|entry| entry != b"two");
        assert_eq!(kept(&open(), &["a", "b"]), [Some("three".to_owned()), None]);
        assert_eq!(kept(&Entries::open(&folder, "other key"), &["a"]), [None]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&folder), mode(&open().path)), (0o700, 0o600));
        }
    }

    #[test]
    fn a_damaged_byte_loses_entries_and_changes_none() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Entries::open(folder.path(), "key");
        let whole = [Some("one".to_owned()), Some("two".to_owned())];
        open().save(&[entry("a", "one"), entry("b", "two")], &|_| true);
        let path = open().path;
        let bytes = fs::read(&path).unwrap();
        for at in 0..bytes.len() {
            for damage in [1, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] ^= damage;
                fs::write(&path, &damaged).unwrap();
                let found = kept(&open(), &["a", "b"]);
                assert!(found.iter().zip(&whole).all(|(found, whole)| found.is_none() || found == whole));
                assert_ne!(found, whole, "byte {at} is not looked at");
            }
            fs::write(&path, &bytes[..at]).unwrap();
            assert!(kept(&open(), &["b"]) == [None]);
        }
    }

    #[test]
    fn the_oldest_files_are_removed_first() {
        let folder = tempfile::tempdir().unwrap();
        for key in ["one", "two", "three"] {
            Entries::open(folder.path(), key).save(&[entry("a", &"x".repeat(1000))], &|_| true);
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        fs::write(folder.path().join("of somebody else"), "x".repeat(5000)).unwrap();
        let there =
            || ["one", "two", "three"].map(|key| Entries::open(folder.path(), key).get("a").is_some());
        Entries::open(folder.path(), "one").save(&[], &|_| true);
        prune(folder.path(), 2500);
        assert_eq!(there(), [true, false, true], "the first one was used again");
        prune(folder.path(), 0);
        assert_eq!(there(), [false; 3]);
        assert!(folder.path().join("of somebody else").exists());
    }
}
