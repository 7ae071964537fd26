//! Which folders have to be watched to see every change of the named files, and which names in them matter.
//!
//! A file itself is never watched, because editors save by renaming another file onto it. Its folder is, and so is
//! every folder that holds a link in its path.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::WatchTargets;
use crate::files::inputs::of_file;
use crate::files::{glob, read, version, walk};
use rulestep_engine::policy::is_case_file;

/// What a change may concern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Policies,
    Sessions,
}

/// Folders as the system knows them, and what matters in each.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    pub folders: BTreeMap<PathBuf, Interest>,
    /// Files that policies name, which need not be in a folder of theirs.
    named: BTreeSet<PathBuf>,
}

/// The relevant names in a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Interest {
    policies: Names,
    sessions: Names,
}

/// The names in a folder that matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    /// Everything that a search of the folder would find.
    all: bool,
    /// These names, whether or not a search would skip them.
    some: BTreeSet<OsString>,
    /// Files of cases: they are kept beside a named policy.
    cases: bool,
}

/// Links that a path may go through.
const MOST_LINKS: usize = 64;

impl Plan {
    /// The plan for these targets, with the folders as they are now.
    pub fn of(watched: &WatchTargets) -> Plan {
        let mut plan = Plan::default();
        for (side, arguments) in [(Side::Policies, &watched.policies), (Side::Sessions, &watched.sessions)] {
            for argument in arguments {
                plan.argument(side, argument);
            }
        }
        plan.named = named(watched);
        for path in plan.named.clone() {
            plan.trace(Side::Policies, &path);
        }
        plan
    }

    /// Whether policies name other files by now than they did for this plan.
    pub fn is_outdated(&self, watched: &WatchTargets) -> bool {
        self.named != named(watched)
    }

    fn argument(&mut self, side: Side, argument: &str) {
        if side == Side::Sessions && !Path::new(argument).exists() && glob::is_glob(argument) {
            let parts: Vec<&str> = argument.split('/').collect();
            let literal = parts.iter().take_while(|part| !glob::is_glob(part)).count();
            let base = parts.get(..literal).unwrap_or_default().join("/");
            let base =
                if base.is_empty() { if argument.starts_with('/') { "/" } else { "." } } else { &base };
            return self.root(side, Path::new(base));
        }
        self.root(side, Path::new(argument));
    }

    fn root(&mut self, side: Side, path: &Path) {
        match self.trace(side, path) {
            Some(real) if real.is_dir() => self.folder(side, real),
            // Under its own name, as the reader of the cases sees it.
            Some(_) if side == Side::Policies => {
                if let Some(folder) = path.parent().and_then(|folder| of_file(folder).canonicalize().ok()) {
                    self.folders.entry(folder).or_default().names_mut(side).cases = true;
                }
            }
            _ => {}
        }
    }

    /// All folders below a folder that a search would go through. A link back to one of them ends there.
    fn folder(&mut self, side: Side, real: PathBuf) {
        let names = self.folders.entry(real.clone()).or_default().names_mut(side);
        if std::mem::replace(&mut names.all, true) {
            return;
        }
        // Its reader reports a folder that cannot be listed.
        let Ok(listed) = fs::read_dir(&real) else { return };
        for entry in listed.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            if walk::is_passed_by(&entry.file_name().to_string_lossy()) {
                continue;
            }
            if kind.is_dir() {
                self.folder(side, entry.path());
            } else if kind.is_symlink() {
                self.root(side, &entry.path());
            }
        }
    }

    /// Every name in `path` that could lead elsewhere some day: its own and that of each link. Returns the real path;
    /// `None` if it ends before.
    fn trace(&mut self, side: Side, path: &Path) -> Option<PathBuf> {
        let mut at = PathBuf::new();
        let mut rest: Vec<OsString> = Vec::new();
        let mut links = 0;
        if path.is_relative() {
            at = fs::canonicalize(".").ok()?;
        }
        push(&mut rest, path);
        while let Some(part) = rest.pop() {
            match Path::new(&part).components().next() {
                Some(Component::ParentDir) => {
                    at.pop();
                }
                Some(Component::Normal(name)) => {
                    let next = at.join(name);
                    let target = fs::read_link(&next).ok();
                    if target.is_some() || rest.is_empty() {
                        self.name(side, &at, name);
                    }
                    let Some(target) = target else {
                        if !next.exists() {
                            self.name(side, &at, name);
                            return None;
                        }
                        at = next;
                        continue;
                    };
                    links += 1;
                    if links > MOST_LINKS {
                        return None;
                    }
                    push(&mut rest, &target);
                }
                Some(root @ (Component::RootDir | Component::Prefix(_))) => at.push(root),
                Some(Component::CurDir) | None => {}
            }
        }
        Some(at)
    }

    fn name(&mut self, side: Side, folder: &Path, name: &OsStr) {
        if folder.is_dir() {
            let interest = self.folders.entry(folder.to_owned()).or_default();
            interest.names_mut(side).some.insert(name.to_owned());
        }
    }

    /// Whether a change at `path`, which may no longer exist, concerns that side. A watched folder itself concerns
    /// everything planned in it.
    pub fn concerns(&self, side: Side, path: &Path) -> bool {
        let own = self.folders.get(path).is_some_and(|interest| interest.names(side).any());
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return own };
        let named = self.folders.get(folder).is_some_and(|interest| {
            let names = interest.names(side);
            names.has(side, path, name)
        });
        own || named
    }

    /// Whether a change at `path`, which concerns some side, may have changed what has to be looked at: it is a folder or
    /// a link, or was a folder. A link that became a file is looked at in one place too many, which does no harm.
    pub fn is_shaped_by(&self, path: &Path) -> bool {
        self.folders.contains_key(path)
            || fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file())
    }
}

impl Interest {
    pub fn names(&self, side: Side) -> &Names {
        match side {
            Side::Policies => &self.policies,
            Side::Sessions => &self.sessions,
        }
    }

    fn names_mut(&mut self, side: Side) -> &mut Names {
        match side {
            Side::Policies => &mut self.policies,
            Side::Sessions => &mut self.sessions,
        }
    }
}

impl Names {
    pub fn any(&self) -> bool {
        self.all || self.cases || !self.some.is_empty()
    }

    /// Whether `path`, which is called so, matters.
    fn has(&self, side: Side, path: &Path, name: &OsStr) -> bool {
        self.some.contains(name)
            || self.all && is_found(side, path, name)
            || self.cases && is_case_file(&name.to_string_lossy())
    }

    /// The paths in `folder` that matter and are there.
    pub fn paths(&self, side: Side, folder: &Path) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = self.some.iter().map(|name| folder.join(name)).collect();
        if self.all || self.cases {
            let listed = fs::read_dir(folder).into_iter().flatten().flatten();
            let found = listed.map(|entry| (entry.path(), entry.file_name()));
            let found = found.filter(|(_, name)| !self.some.contains(name));
            paths.extend(found.filter(|(path, name)| self.has(side, path, name)).map(|(path, _)| path));
        }
        paths
    }
}

fn named(watched: &WatchTargets) -> BTreeSet<PathBuf> {
    watched.policies.iter().flat_map(|argument| read::named_on_disk(argument)).collect()
}

/// Whether a search of the folder finds `path`, or found it while it was there.
fn is_found(side: Side, path: &Path, name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    if walk::is_passed_by(&name) || name.ends_with('~') {
        return false;
    }
    side == Side::Sessions || version::is_document(&name) || path.is_dir()
}

/// Puts the parts of a path on a stack, the first on top.
fn push(rest: &mut Vec<OsString>, path: &Path) {
    rest.extend(path.components().rev().map(|part| part.as_os_str().to_owned()));
}
