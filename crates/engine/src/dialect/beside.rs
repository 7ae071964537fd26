//! Files that documents of a version name: read together with the document, as a part of it.
//!
//! Nothing here opens a file. The loader passes in the texts, named by [`path`].

use std::collections::BTreeMap;

use rulestep_base::source::{Node, Source};

/// The texts of a version, each by its name without detours.
#[derive(Debug, Default)]
pub struct Beside {
    texts: BTreeMap<String, BesideText>,
}

/// One text that may be named.
#[derive(Debug)]
pub struct BesideText {
    /// The text.
    pub source: Source,
    /// Its documents, each with the prefix of its rules' ids, without empty ones.
    pub documents: Vec<(Node, String)>,
    /// The dialect of the document that names it.
    pub dialect: &'static str,
}

impl Beside {
    /// Adds a text.
    pub fn add(&mut self, text: BesideText) {
        self.texts.insert(clean(text.source.name()), text);
    }

    /// The text of this name.
    pub fn get(&self, name: &str) -> Option<&BesideText> {
        self.texts.get(&clean(name))
    }

    /// The text that a document of `file` names so, and the name it is shown under.
    pub fn find(&self, file: &str, written: &str) -> (String, Option<&BesideText>) {
        let name = path(file, written);
        let text = self.get(&name);
        (name, text)
    }
}

/// The name of a file that a document of `file` names: relative to that document's folder, without detours. Within a git
/// revision (`git:REV:PATH`) it stays in the revision.
///
/// ```
/// use rulestep_engine::dialect::beside::path;
///
/// assert_eq!(path("suites/eval.yaml", "../policies/a.yaml"), "policies/a.yaml");
/// assert_eq!(path("eval.yaml", "../a.yaml"), "../a.yaml");
/// assert_eq!(path("git:HEAD:suites/eval.yaml", "./a.yaml"), "git:HEAD:suites/a.yaml");
/// assert_eq!(path("suites/eval.yaml", "/etc/a.yaml"), "/etc/a.yaml");
/// ```
pub fn path(file: &str, written: &str) -> String {
    if written.starts_with('/') {
        return clean(written);
    }
    let (revision, file) = in_revision(file);
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let root = if file.starts_with('/') { "/" } else { "" };
    let folder = if folder.is_empty() { root.to_owned() } else { format!("{folder}/") };
    format!("{revision}{}", clean(&format!("{folder}{written}")))
}

/// A name without detours: one file has one such name.
pub fn clean(name: &str) -> String {
    let (revision, path) = in_revision(name);
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            // The root has no parent.
            ".." if rooted => {}
            part => parts.push(part),
        }
    }
    format!("{revision}{}{}", if rooted { "/" } else { "" }, parts.join("/"))
}

/// The git revision that a name begins with, as `git:REV:`, and the path in it.
fn in_revision(name: &str) -> (&str, &str) {
    let path = name.strip_prefix("git:").and_then(|rest| rest.split_once(':')).map_or(name, |(_, path)| path);
    name.split_at_checked(name.len() - path.len()).unwrap_or(("", name))
}
