//! The version that an open document is a part of: the files of its folder, with unsaved texts over them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::case::read::read;
use crate::diagnostic::{Diagnostic, code};
use crate::dialect;
use crate::policy::{LoadResult, Policy, PolicyFile};
use crate::source::{Node, Source, parse};

/// A folder of policies.
pub struct Folder {
    /// What is on disk.
    files: Vec<PolicyFile>,
    /// What could not be read of it.
    unreadable: Vec<Diagnostic>,
    /// The version with the unsaved texts.
    pub loaded: LoadResult,
    /// Everything there is to say of it, by file.
    pub problems: BTreeMap<String, Vec<Diagnostic>>,
}

impl Folder {
    /// Of the files on disk. Nothing is loaded yet.
    pub fn new(files: Vec<PolicyFile>, unreadable: Vec<Diagnostic>) -> Folder {
        let loaded = Policy::load(&[], None);
        Folder { files, unreadable, loaded, problems: BTreeMap::new() }
    }

    /// Loads the version anew. `open` are the texts of editors, by path.
    pub fn load(&mut self, folder: &str, open: &BTreeMap<String, Arc<str>>) {
        let mut files = self.files.clone();
        for (path, text) in open {
            if let Some(file) = files.iter_mut().find(|file| *file.name == **path) {
                file.text = Arc::clone(text);
                continue;
            }
            let relative = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
            if let Some(relative) = relative.filter(|relative| !relative.contains('/')) {
                let (name, relative) = (path.as_str().into(), relative.into());
                files.push(PolicyFile { name, relative, text: Arc::clone(text), named: false });
            }
        }
        self.loaded = Policy::load(&files, None);
        self.problems.clear();
        let cases: Vec<Diagnostic> =
            self.loaded.cases.iter().flat_map(|source| read(source, false).diagnostics).collect();
        let all = self.unreadable.iter().chain(&self.loaded.diagnostics).chain(&cases);
        // What is of no dialect is somebody else's.
        for told in all.filter(|told| told.code != code::UNRECOGNISED_DOCUMENT || told.help.is_some()) {
            let file = told.place().map_or(folder, |place| place.file());
            self.problems.entry(file.to_owned()).or_default().push(told.clone());
        }
    }
}

/// Whether a text is a policy, or would be one but for a mistake in its keys.
pub fn is_policy(name: &str, text: &str) -> bool {
    let source = Source::new(name, text);
    let parsed = parse(&source);
    let ours = |node: &Node| {
        dialect::of(node).is_some()
            || crate::policy::is_case(node)
            || !dialect::lookalike::refused(node, &source, None, false).is_empty()
            || node.get("dialect").is_some()
    };
    parsed.documents.iter().any(ours)
}
