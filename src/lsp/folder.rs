//! The version that an open document belongs to: the files of its folder, with unsaved texts in place of theirs.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::place;
use crate::case::read::read;
use crate::lint::settle;
use crate::workspace::Version;
use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_engine::policy::{LoadResult, PolicyFile};

/// A folder of policies. Nothing is loaded at first.
#[derive(Default)]
pub struct Folder {
    /// As it is on disk.
    pub version: Version,
    /// With the unsaved texts.
    pub loaded: LoadResult,
    /// All its diagnostics, by file.
    pub problems: BTreeMap<String, Vec<Diagnostic>>,
}

impl Folder {
    /// Whether a file is a part of it, or would be once it is saved.
    pub fn holds(&self, name: &str, path: &str) -> bool {
        place::folder(path) == name || self.version.files.iter().any(|file| *file.name == *path)
    }

    /// Loads the version again. `open` are the texts of editors, by path.
    pub fn load(&mut self, folder: &str, open: &BTreeMap<String, Arc<str>>) {
        let mut version = self.version.clone();
        for (path, text) in open {
            if let Some(file) = version.files.iter_mut().find(|file| *file.name == **path) {
                file.text = Arc::clone(text);
                continue;
            }
            if place::folder(path) == folder {
                let relative = path.rsplit('/').next().unwrap_or_default().into();
                let name = path.as_str().into();
                version.files.push(PolicyFile { name, relative, text: Arc::clone(text), named: false });
            }
        }
        self.loaded = version.load(None).loaded;
    }

    /// Sorts the diagnostics by file; `recorded` are findings of the recordings.
    pub fn judge(&mut self, folder: &str, recorded: &[Diagnostic]) {
        self.problems.clear();
        let cases = self.loaded.cases.iter().flat_map(|source| read(source, false).diagnostics);
        let recorded = self
            .loaded
            .policy
            .iter()
            .flat_map(|policy| settle(recorded.to_vec(), policy, &self.version.levels));
        let all: Vec<Diagnostic> =
            self.loaded.diagnostics.iter().cloned().chain(cases).chain(recorded).collect();
        // A file of no dialect is unrelated.
        for told in
            all.into_iter().filter(|told| told.code != code::UNRECOGNISED_DOCUMENT || told.help.is_some())
        {
            let file = told.place().map_or(folder, |place| place.file()).to_owned();
            self.problems.entry(file).or_default().push(told);
        }
    }
}
