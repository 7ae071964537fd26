//! The results of a run, to be cached.

use std::collections::HashSet;

use super::answers::Answers;
use super::file::{self, CachedFile, Entry};
use super::group::{self, GroupEntry, GroupName};
use crate::cli::input::sessions::FileNotes;
use crate::files::cache::{self, Entries};
use crate::files::stamp::Stamp;

/// Bytes of the answers of one file that are kept, about.
const MOST_ANSWERS: usize = 64 << 20;
/// Most bytes of the kept answers of a group, about: larger files are kept by themselves.
const MOST_OF_GROUP: usize = 4 << 20;
/// Approximate size of a session's identity.
const IDENTITY: usize = 64;

/// New entries, and their total size.
#[derive(Default)]
struct NewEntries {
    entries: Vec<(Vec<u8>, Vec<u8>)>,
    bytes: usize,
}

impl NewEntries {
    /// More than a file of entries holds would only take memory.
    fn push(&mut self, name: Vec<u8>, entry: Vec<u8>) {
        self.bytes += name.len() + entry.len();
        if self.bytes < cache::MOST {
            self.entries.push((name, entry));
        }
    }
}

/// The results to be cached.
pub struct Results<A> {
    files: NewEntries,
    groups: NewEntries,
    /// The answers of the current file; `None` once there are too many, or some are missing.
    answers: Option<Vec<A>>,
    /// Their approximate size: that of another session is counted once it is added.
    weight: usize,
    group: Option<Group<A>>,
}

/// A group whose files are being processed.
struct Group<A> {
    name: GroupName,
    notes: FileNotes,
    answers: Vec<A>,
    weight: usize,
}

impl<A> Default for Group<A> {
    fn default() -> Group<A> {
        Group { name: GroupName::default(), notes: FileNotes::default(), answers: Vec::new(), weight: 0 }
    }
}

impl<A> Default for Results<A> {
    fn default() -> Results<A> {
        Results {
            files: NewEntries::default(),
            groups: NewEntries::default(),
            answers: Some(Vec::new()),
            weight: 0,
            group: Some(Group::default()),
        }
    }
}

/// Merges answers into as few as possible. Diagnostics of a session come before its output, so a session with
/// diagnostics begins a new one.
fn append<A: Answers>(answers: &mut Vec<A>, more: &A) {
    match answers.last_mut() {
        Some(last) if more.diagnostics().is_empty() => last.append(more),
        _ => {
            let mut first = A::default();
            first.append(more);
            answers.push(first);
        }
    }
}

impl<A: Answers> Results<A> {
    /// Adds answers of the current file.
    pub fn take(&mut self, more: &A) {
        let Some(answers) = &mut self.answers else { return };
        let last = |answers: &[A]| answers.last().map_or(0, A::weight);
        let (count, before) = (answers.len(), last(answers));
        append(answers, more);
        if answers.len() == count {
            self.weight = self.weight.saturating_sub(before);
        }
        self.weight += IDENTITY + last(answers);
        if self.weight > MOST_ANSWERS {
            self.answers = None;
        }
    }

    /// Answers are no longer taken: those of this file are not all.
    pub fn break_off(&mut self) {
        self.answers = None;
    }

    /// The file has ended.
    pub fn end(&mut self, file: &mut CachedFile<'_, A>) {
        let (answers, weight) = (self.answers.replace(Vec::new()), std::mem::take(&mut self.weight));
        let found = answers.filter(|_| file.ended).zip(file.name()).zip(file.file.notes());
        if file.after.is_some() {
            let group = self.group.take().zip(found.as_ref().zip(file.stamp.as_ref()));
            self.group = group.and_then(|(group, (((answers, name), notes), stamp))| {
                group.with((name, stamp), notes, (answers, weight))
            });
        }
        if file.after == Some(0) {
            self.end_group();
        }
        if let Some(((answers, name), notes)) = found
            && file.is_read()
        {
            self.keep(name, Entry { stamp: file.stamp, notes, answers, growth: file.file.growth() });
        }
    }

    fn keep(&mut self, name: Vec<u8>, entry: Entry<A>) {
        if (entry.stamp.is_some() || entry.growth.is_some())
            && let Ok(bytes) = serde_json::to_vec(&entry)
        {
            self.files.push(name, bytes);
        }
    }

    fn end_group(&mut self) {
        if let Some(Group { name, notes, answers, .. }) = self.group.replace(Group::default())
            && let Ok(bytes) = serde_json::to_vec(&GroupEntry { notes, answers })
        {
            self.groups.push(name.0, bytes);
        }
    }

    /// Saves everything, and other entries that are still useful. `known` are the groups that this run has found valid,
    /// which are not looked up again, nor are their files.
    pub fn save(self, files: &Entries, groups: &Entries, known: &HashSet<u64>) {
        let (new_files, new_groups) = (self.files.entries, self.groups.entries);
        if new_files.is_empty() && new_groups.is_empty() {
            files.touch();
            groups.touch();
            return;
        }
        let is_known = |group: &[u8]| known.contains(&group::digest(group));
        let current = groups.all().map(|(group, _)| group).filter(|group| is_known(group));
        let current = current.chain(new_groups.iter().map(|(group, _)| group.as_slice()));
        let current: HashSet<&[u8]> = current.flat_map(group::files).map(|(name, _)| name).collect();
        files.save(&new_files, &|name, entry| current.contains(name) || file::holds(name, entry));
        // All files of a group are unchanged, and it is useless once another file is among them.
        let is_replaced =
            |group: &[u8]| group::files(group).next().is_none_or(|(first, _)| current.contains(first));
        let holds = |group: &[u8]| !is_replaced(group) && group::holds(group);
        groups.save(&new_groups, &|group, _| is_known(group) || holds(group));
    }
}

impl<A: Answers> Group<A> {
    /// Adds another file. `None` if its answers become too many.
    fn with(
        mut self,
        (name, stamp): (&[u8], &Stamp),
        notes: &FileNotes,
        (answers, weight): (&[A], usize),
    ) -> Option<Group<A>> {
        self.name.push(name, stamp);
        self.notes.append(notes);
        answers.iter().for_each(|more| append(&mut self.answers, more));
        self.weight += weight;
        (self.weight <= MOST_OF_GROUP).then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::*;
    use rulestep_base::diagnostic::Diagnostic;

    /// Counts, and lines that take room.
    #[derive(Default, Serialize, Deserialize)]
    struct Lines(u64, Vec<u8>);

    impl Answers for Lines {
        fn diagnostics(&self) -> &[Diagnostic] {
            &[]
        }

        fn append(&mut self, later: &Lines) {
            self.0 += later.0;
            self.1.extend_from_slice(&later.1);
        }

        fn weight(&self) -> usize {
            2048 + self.1.len()
        }
    }

    #[test]
    fn answers_are_kept_until_they_weigh_too_much_together() {
        let kept = |count: usize, bytes: usize| {
            let mut results = Results::default();
            let line = Lines(1, vec![0; bytes]);
            (0..count).for_each(|_| results.take(&line));
            results.answers.map(|answers: Vec<Lines>| answers.iter().map(|lines| lines.0).sum())
        };
        assert_eq!(kept(100_000, 0), Some(100_000), "counts of many sessions are no more than those of one");
        assert_eq!(kept(50, 1 << 20), Some(50));
        assert_eq!(kept(70, 1 << 20), None);
    }
}
