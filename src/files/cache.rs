//! Facts about files, cached from one run to the next in a file of the program's own.
//!
//! Damage makes it smaller and never wrong: each entry has a checksum, and one that does not match is ignored. A run
//! replaces the file in one step, so that parallel runs at most lose entries.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::hash::Hasher as _;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use rulestep_base::checksum::Checksum;

use super::replace::put_private;

/// With another number, older caches are ignored.
const MAGIC: &[u8] = b"rulestep cache 3\n";
/// Bytes of one file of entries.
pub const MOST: usize = 256 << 20;
/// Bytes of the folder.
const MOST_OF_ALL: u64 = 1 << 30;
/// File extension of entries.
const EXTENSION: &str = "entries";

/// Entries by name, all for one question about files, which is in the key. They are read when the first one is
/// requested.
pub struct Entries {
    path: PathBuf,
    header: Vec<u8>,
    read: OnceLock<ReadEntries>,
}

struct ReadEntries {
    bytes: Vec<u8>,
    /// By a digest of the name.
    places: HashMap<u64, Range<usize>>,
}

impl Entries {
    /// The entries in this folder under the key; none if they cannot be read.
    pub fn open(folder: &Path, key: &str) -> Entries {
        let name = Checksum::oneshot(key.as_bytes());
        let path = folder.join(format!("{name:016x}.{EXTENSION}"));
        let header = [MAGIC, key.as_bytes(), b"\n"].concat();
        Entries { path, header, read: OnceLock::new() }
    }

    fn read(&self) -> &ReadEntries {
        self.read.get_or_init(|| {
            let small = fs::metadata(&self.path).is_ok_and(|metadata| metadata.len() <= MOST as u64);
            let bytes = if small { fs::read(&self.path).unwrap_or_default() } else { Vec::new() };
            let mut places = HashMap::new();
            let mut at = if bytes.starts_with(&self.header) { self.header.len() } else { bytes.len() };
            while let Some(place) = frame(&bytes, at) {
                at = place.end;
                if let Some((name, _)) = bytes.get(place.clone()).and_then(named) {
                    places.insert(Checksum::oneshot(name), place);
                }
            }
            ReadEntries { bytes, places }
        })
    }

    /// The entry of this name.
    pub fn get(&self, name: &[u8]) -> Option<&[u8]> {
        let read = self.read();
        let (found, entry) = read.entry(read.places.get(&Checksum::oneshot(name))?)?;
        (found == name).then_some(entry)
    }

    /// All entries with their names, in the order in which they were added.
    pub fn all(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let read = self.read();
        let mut places: Vec<_> = read.places.values().collect();
        places.sort_by_key(|place| place.start);
        places.into_iter().filter_map(|place| read.entry(place))
    }

    /// Saves these as well, and those of the others for whose name and rest `still` holds. A failure is not reported:
    /// the next run reads the files again.
    pub fn save(&self, new: &[(Vec<u8>, Vec<u8>)], still: &dyn Fn(&[u8], &[u8]) -> bool) {
        if new.is_empty() {
            self.touch();
            return;
        }
        let names: HashSet<&[u8]> = new.iter().map(|(name, _)| name.as_slice()).collect();
        let old = self.all().filter(|(name, entry)| !names.contains(name) && still(name, entry));
        let mut bytes = self.header.clone();
        let new = new.iter().map(|(name, entry)| (name.as_slice(), entry.as_slice()));
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

    /// Marks it as used: used entries stay longest.
    pub fn touch(&self) {
        if let Ok(file) = File::options().write(true).open(&self.path) {
            let _ = file.set_modified(SystemTime::now());
        }
    }
}

impl ReadEntries {
    fn entry(&self, place: &Range<usize>) -> Option<(&[u8], &[u8])> {
        let frame = self.bytes.get(place.clone())?;
        let (sum, rest) = frame.split_first_chunk::<8>()?;
        (checksum(rest).to_le_bytes() == *sum).then_some(())?;
        named(frame)
    }
}

/// The place of the next entry, with its checksum.
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
    let mut hash = Checksum::new();
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

/// Removes the least recently used files, until the rest is small enough.
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
        names.iter().map(|name| entries.get(name.as_bytes()).map(text)).collect()
    }

    fn entry(name: &str, text: &str) -> (Vec<u8>, Vec<u8>) {
        (name.as_bytes().to_vec(), text.as_bytes().to_vec())
    }

    #[test]
    fn entries_are_kept_until_they_no_longer_hold() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("below/rulestep");
        let open = || Entries::open(&folder, "key");
        assert_eq!(kept(&open(), &["a"]), [None]);
        open().save(&[entry("a", "one"), entry("b", "two")], &|_, _| true);
        assert_eq!(kept(&open(), &["a", "b", "c"]), [Some("one".to_owned()), Some("two".to_owned()), None]);
        open().save(&[entry("a", "three")], &|name, entry| (name, entry) != (b"b", b"two"));
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
        open().save(&[entry("a", "one"), entry("b", "two")], &|_, _| true);
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
            Entries::open(folder.path(), key).save(&[entry("a", &"x".repeat(1000))], &|_, _| true);
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        fs::write(folder.path().join("of somebody else"), "x".repeat(5000)).unwrap();
        let there =
            || ["one", "two", "three"].map(|key| Entries::open(folder.path(), key).get(b"a").is_some());
        Entries::open(folder.path(), "one").save(&[], &|_, _| true);
        prune(folder.path(), 2500);
        assert_eq!(there(), [true, false, true], "the first one was used again");
        prune(folder.path(), 0);
        assert_eq!(there(), [false; 3]);
        assert!(folder.path().join("of somebody else").exists());
    }
}
