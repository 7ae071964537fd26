//! Consecutive files, cached together: if none of them has changed, they cost one comparison.
//!
//! A group is cached under a name that holds the identity and state of each of its files. So it is found as long as
//! they all are unchanged, and no longer. The end of a group depends on the names of its files, not on their number: a
//! new or removed file changes its own group, and moves no other.

use rulestep_base::checksum::Checksum;
use serde::{Deserialize, Serialize};

use super::answers::{Answers, Read};
use crate::cli::input::interrupted;
use crate::cli::input::sessions::FileNotes;
use crate::files::Input;
use crate::files::cache::Entries;
use crate::files::stamp::Stamp;

/// Files of a group on average.
const AVERAGE: u64 = 64;
/// Files of a group at most.
const MOST: usize = 512;

/// The name of a file in the cache: names that are shown are in answers, and may lead to several files, and diagnostics
/// of a file depend on whether it was named itself. `None` if it has no name as text.
pub fn file_name(input: &Input) -> Option<Vec<u8>> {
    let path = input.path.as_deref()?.to_str()?.as_bytes();
    let named: &[u8] = if input.named { b"+" } else { b"-" };
    Some([input.name.as_bytes(), b"\0", path, b"\0", named].concat())
}

/// The path in it.
pub fn path(file_name: &[u8]) -> Option<&str> {
    std::str::from_utf8(file_name.split(|byte| *byte == 0).nth(1)?).ok()
}

/// The name of each file with its stamp, one after the other.
#[derive(Default)]
pub struct GroupName(pub Vec<u8>);

impl GroupName {
    /// The name for the next files, as they were found, and their number: 0 if the next one cannot be cached.
    pub fn of<'i>(files: impl Iterator<Item = &'i Input>) -> (GroupName, usize) {
        let (mut name, mut count) = (GroupName::default(), 0);
        for input in files.take(MOST) {
            let (Some(file), Some(stamp)) = (file_name(input), input.stamp()) else { break };
            name.push(&file, stamp);
            count += 1;
            if Checksum::oneshot(input.name.as_bytes()).is_multiple_of(AVERAGE) {
                break;
            }
        }
        (name, count)
    }

    /// Its digest, used in memory.
    pub fn digest(&self) -> u64 {
        digest(&self.0)
    }

    /// Adds a file.
    pub fn push(&mut self, file: &[u8], stamp: &Stamp) {
        self.0.extend_from_slice(file);
        stamp.write(&mut self.0);
    }
}

/// A digest of the name of a group.
pub fn digest(group: &[u8]) -> u64 {
    Checksum::oneshot(group)
}

/// The names of the files of a group and their stamps, as they were written.
pub fn files(mut group: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    std::iter::from_fn(move || {
        let mut ends = group.iter().enumerate().filter(|(_, byte)| **byte == 0).map(|(at, _)| at);
        let (name, rest) = group.split_at_checked(ends.nth(1)? + 2)?;
        let (stamp, rest) = rest.split_at_checked(Stamp::WRITTEN)?;
        group = rest;
        Some((name, stamp))
    })
}

/// Whether all files of a group still are as they were.
pub fn holds(group: &[u8]) -> bool {
    let mut written = Vec::with_capacity(Stamp::WRITTEN);
    files(group).all(|(name, stamp)| {
        written.clear();
        if let Some(metadata) = path(name).and_then(|path| std::fs::metadata(path).ok()) {
            Stamp::of(&metadata).write(&mut written);
        }
        written == stamp
    })
}

/// The cached data of a group.
#[derive(Serialize, Deserialize)]
pub struct GroupEntry<A> {
    pub notes: FileNotes,
    pub answers: Vec<A>,
}

/// A group of which no file is read.
pub struct KnownGroup<A> {
    answers: std::vec::IntoIter<A>,
    pub notes: FileNotes,
    pub files: u64,
    /// Bytes that it was kept in.
    pub size: u64,
}

impl<A: Answers> KnownGroup<A> {
    /// The group of this name, of this many files.
    pub fn of(name: &GroupName, files: usize, entries: &Entries) -> Option<KnownGroup<A>> {
        if files == 0 {
            return None;
        }
        let bytes = entries.get(&name.0)?;
        let GroupEntry { notes, answers } = serde_json::from_slice(bytes).ok()?;
        Some(KnownGroup {
            answers: answers.into_iter(),
            notes,
            files: files as u64,
            size: bytes.len() as u64,
        })
    }
}

impl<A> Iterator for KnownGroup<A> {
    type Item = Read<A>;

    fn next(&mut self) -> Option<Read<A>> {
        if interrupted() { None } else { self.answers.next().map(Read::GroupAnswers) }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::files;

    /// The groups of the files of a folder.
    fn groups(folder: &std::path::Path) -> Vec<Vec<u8>> {
        let inputs = files::expand(&[folder.to_str().unwrap().to_owned()]).inputs;
        let (mut rest, mut groups) = (&inputs[..], Vec::new());
        while !rest.is_empty() {
            let (name, count) = GroupName::of(rest.iter());
            rest = &rest[count..];
            groups.push(name.0);
        }
        groups
    }

    #[test]
    fn a_file_that_changes_changes_its_own_group() {
        let folder = tempfile::tempdir().unwrap();
        let path = |number: usize| folder.path().join(format!("{number:04}.jsonl"));
        (0..2000).for_each(|number| fs::write(path(number), "").unwrap());
        let before = groups(folder.path());
        assert!((10..90).contains(&before.len()), "{} groups", before.len());
        let all: Vec<_> = before.iter().flat_map(|group| super::files(group)).collect();
        assert_eq!(all.len(), 2000);
        assert!(before.iter().all(|group| holds(group)));
        let others = |after: &[Vec<u8>]| after.iter().filter(|group| !before.contains(group)).count();
        fs::write(path(1000), "changed").unwrap();
        assert_eq!(others(&groups(folder.path())), 1);
        assert_eq!(before.iter().filter(|group| !holds(group)).count(), 1);
        let changes: [&dyn Fn(); 3] = [
            &|| fs::remove_file(path(500)).unwrap(),
            &|| fs::write(path(9999).with_extension("new"), "").unwrap(),
            &|| fs::rename(path(1500), path(1500).with_extension("new")).unwrap(),
        ];
        for change in changes {
            let before = groups(folder.path());
            change();
            let after = groups(folder.path());
            let new = after.iter().filter(|group| !before.contains(group)).count();
            assert!((1..=3).contains(&new), "{new} of {} groups are new", after.len());
        }
    }

    #[test]
    fn a_file_is_kept_under_its_path_and_how_it_was_found() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.jsonl");
        fs::write(&file, "").unwrap();
        let name = |path: &std::path::Path| {
            let inputs = files::expand(&[path.to_str().unwrap().to_owned()]).inputs;
            file_name(&inputs[0]).unwrap()
        };
        assert_eq!(path(&name(&file)), file.to_str());
        assert_eq!(path(&name(folder.path())), file.to_str());
        assert_ne!(name(&file), name(folder.path()));
    }
}
