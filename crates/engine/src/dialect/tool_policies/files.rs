//! The files that exist, as far as calls and lists show. Shared between a run and its forks.
//!
//! Everything is found by hash, so that the thousandth file costs as much as the first one.

use std::sync::Arc;

use hashbrown::Equivalent;
use serde::{Deserialize, Serialize};

use super::layered::Layered;
use rulestep_base::session::CallRef;

/// The files that exist as far as calls and lists show, by their folded paths.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Files {
    files: Layered<Arc<str>, Standing>,
    folders: Layered<Step, Folder>,
    /// Number of folders so far, including deleted ones; each has its number, the root 0.
    numbers: u64,
}

/// Why a file exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Standing {
    /// Whether it existed when the session began, or has been read.
    lasting: bool,
    /// Writes that made it, or may have.
    writes: u32,
    /// The newest call that showed it.
    by: Option<CallRef>,
}

/// A folder that holds a file, possibly in subfolders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Folder {
    number: u64,
    /// The number of files in it.
    files: u32,
    /// The call that made the newest of them, unless that was undone.
    by: Option<CallRef>,
}

/// A folder's name in the folder with this number. The path of a folder would be too long as a key: a path of a
/// thousand steps has a thousand folders, whose paths together are as long as its square.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Step(u64, Arc<str>);

/// A [`Step`] as it is looked for. Hashes as that does.
#[derive(Hash)]
struct At<'a>(u64, &'a str);

impl Equivalent<Step> for At<'_> {
    fn equivalent(&self, step: &Step) -> bool {
        self.0 == step.0 && *self.1 == *step.1
    }
}

impl Files {
    /// Adds a file that exists whatever the outcome of writes; `by`: the call that has read it, if any.
    pub fn keep(&mut self, path: &str, by: Option<CallRef>) {
        self.change(path, by, |file| (file.lasting, file.by) = (true, by.or(file.by)));
    }

    /// A write of this file is on its way.
    pub fn begin_write(&mut self, path: &str, by: CallRef) {
        self.change(path, Some(by), |file| {
            (file.writes, file.by) = (file.writes.saturating_add(1), Some(by))
        });
    }

    /// A write of this file has failed: the file is removed if nothing else made it.
    pub fn take_back(&mut self, path: &str, by: CallRef) {
        let Some(file) = self.files.get_mut(path) else { return };
        file.writes = file.writes.saturating_sub(1);
        file.by = file.by.filter(|newest| *newest != by);
        if file.writes == 0 && !file.lasting {
            self.files.remove(path);
            self.leave(path, by);
        }
    }

    /// Whether the folded path is a file or a directory that holds one; the root always is. If so, the call that
    /// showed it, where one did.
    pub fn exists(&self, path: &str) -> Option<Option<CallRef>> {
        if let Some(file) = self.files.get(path) {
            return Some(file.by);
        }
        if path.is_empty() {
            return Some(None);
        }
        let (mut inside, mut by) = (0, None);
        for name in path.split('/') {
            let folder = self.folders.get(&At(inside, name))?;
            (inside, by) = (folder.number, folder.by);
        }
        Some(by)
    }

    /// The number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether no file is known.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    fn change(&mut self, path: &str, by: Option<CallRef>, change: impl FnOnce(&mut Standing)) {
        match self.files.get_mut(path) {
            Some(file) => change(file),
            None => {
                let mut file = Standing::default();
                change(&mut file);
                self.files.insert(path.into(), file);
                self.enter(path, by);
            }
        }
    }

    /// A file is new: its folders hold one more.
    fn enter(&mut self, path: &str, by: Option<CallRef>) {
        let mut inside = 0;
        for name in folders(path) {
            inside = match self.folders.get_mut(&At(inside, name)) {
                Some(folder) => {
                    (folder.files, folder.by) = (folder.files.saturating_add(1), by.or(folder.by));
                    folder.number
                }
                None => {
                    self.numbers += 1;
                    let folder = Folder { number: self.numbers, files: 1, by };
                    self.folders.insert(Step(inside, name.into()), folder);
                    self.numbers
                }
            };
        }
    }

    /// A file was removed: its folders hold one less, and are removed with the last one.
    fn leave(&mut self, path: &str, by: CallRef) {
        let mut inside = 0;
        for name in folders(path) {
            let step = At(inside, name);
            let Some(folder) = self.folders.get_mut(&step) else { return };
            folder.files = folder.files.saturating_sub(1);
            folder.by = folder.by.filter(|newest| *newest != by);
            inside = folder.number;
            if folder.files == 0 {
                self.folders.remove(&step);
            }
        }
    }
}

/// The names of the folders of a path.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.rsplit_once('/').into_iter().flat_map(|(folders, _)| folders.split('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(index: u32) -> CallRef {
        CallRef { turn: index + 1, call: 1, index }
    }

    #[test]
    fn a_directory_exists_as_long_as_it_holds_a_file() {
        let mut files = Files::default();
        files.keep("a-b", None);
        files.begin_write("a/b/c", call(1));
        assert_eq!(files.exists("a/b"), Some(Some(call(1))));
        assert_eq!(files.exists("a"), Some(Some(call(1))));
        assert_eq!((files.exists("a/"), files.exists("a/b/c/d"), files.exists("")), (None, None, Some(None)));
        files.begin_write("a/d", call(2));
        assert_eq!(files.exists("a"), Some(Some(call(2))));
        let before = files.clone();
        files.take_back("a/b/c", call(1));
        assert_eq!(
            (files.exists("a"), files.exists("a/b"), files.exists("b")),
            (Some(Some(call(2))), None, None)
        );
        files.take_back("a/d", call(2));
        assert_eq!((files.exists("a"), files.folders.len()), (None, 0));
        assert_eq!((before.exists("a/b"), before.len(), files.len()), (Some(Some(call(1))), 3, 1));
    }

    #[test]
    fn a_failed_write_takes_back_only_what_it_made() {
        let mut files = Files::default();
        files.keep("old", None);
        files.begin_write("old", call(1));
        files.take_back("old", call(1));
        assert_eq!(files.exists("old"), Some(None));
        files.begin_write("new", call(2));
        files.begin_write("new", call(3));
        files.take_back("new", call(2));
        assert_eq!(files.exists("new"), Some(Some(call(3))));
        files.take_back("new", call(3));
        assert_eq!(files.exists("new"), None);
    }

    #[test]
    fn a_path_of_many_steps_costs_what_it_is_long() {
        let mut files = Files::default();
        let deep = vec!["d"; 100_000].join("/");
        files.keep(&deep, None);
        assert_eq!((files.folders.len(), files.exists("d/d/d")), (99_999, Some(None)));
    }
}
