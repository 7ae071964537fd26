//! Searches folders, in the same order on every system, and within bounds.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::stamp::Stamp;
use super::unreadable;
use rulestep_base::diagnostic::{Diagnostic, Severity, code};
use rulestep_base::source::quoted;

/// The result of a search.
#[derive(Debug, Default)]
pub struct WalkResult {
    /// In the order of the bytes of their relative paths.
    pub files: Vec<WalkedFile>,
    /// Unreadable and skipped files.
    pub diagnostics: Vec<Diagnostic>,
}

/// A file that a search found.
#[derive(Debug)]
pub struct WalkedFile {
    /// Relative to the folder searched, with `/` between its parts; of a glob, the path as matched.
    pub relative: String,
    /// Its path.
    pub path: PathBuf,
    /// Metadata from the folder.
    pub found: Option<FoundFile>,
}

/// Metadata of a regular file when it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// Of the file itself, links followed.
    pub stamp: Stamp,
    /// Whether its name is that of a link to it.
    pub is_link: bool,
}

impl FoundFile {
    /// `None` if it is not a regular file.
    pub fn of(metadata: &fs::Metadata, is_link: bool) -> Option<FoundFile> {
        metadata.is_file().then(|| FoundFile { stamp: Stamp::of(metadata), is_link })
    }
}

/// All files below `root` whose relative path is `wanted`. `shown` is the root's name for people.
///
/// Links are followed. A folder that several paths lead to is read once: under its own path if it lies in the
/// tree, else under the first link in order.
pub fn files(root: &Path, shown: &str, wanted: &dyn Fn(&str) -> bool) -> WalkResult {
    let mut walk = Walk {
        shown,
        wanted,
        seen: BTreeSet::new(),
        linked: BTreeSet::new(),
        passed: PassedBy::default(),
        walked: WalkResult::default(),
    };
    walk.folder(root, "");
    // Links to folders come after all real ones, so that what they repeat has been seen.
    while let Some((relative, path)) = walk.linked.pop_first() {
        walk.linked_folder(&path, &relative);
    }
    let mut walked = walk.walked;
    walked.diagnostics.extend(walk.passed.diagnostic(shown));
    walked.files.sort_by(|a, b| a.relative.as_bytes().cmp(b.relative.as_bytes()));
    walked
}

/// A folder's name and a path within it.
pub fn join(folder: &str, relative: &str) -> String {
    match folder.trim_end_matches('/') {
        "" if folder.is_empty() => relative.to_owned(),
        "" => format!("/{relative}"),
        folder => format!("{folder}/{relative}"),
    }
}

/// Whether a search skips a name: hidden files and folders, and folders made by tools.
pub fn is_passed_by(name: &str) -> bool {
    name.starts_with('.') || matches!(name, "target" | "node_modules")
}

/// Skipped names of files that would have been read, to be reported.
#[derive(Debug, Default)]
pub struct PassedBy(BTreeSet<String>);

/// Names that are in many folders and never hold a policy or recording; `init` makes `.schemas`.
const NEVER: [&str; 5] = [".git", ".hg", ".svn", ".jj", ".schemas"];
/// Entries of folders that are looked at for this. One with more may hold anything.
const ENTRIES: usize = 2000;

impl PassedBy {
    /// Notes an entry that the search passes by, if it is wanted or holds something that is.
    pub fn note(&mut self, name: &str, path: &Path, relative: &str, wanted: &dyn Fn(&str) -> bool) {
        let wanted = |relative: &str| has_records(relative) && wanted(relative);
        let is_wanted = match path.is_dir() {
            true => holds(path, relative, &wanted, &mut ENTRIES.clone()),
            false => wanted(relative),
        };
        if is_wanted && !NEVER.contains(&name) {
            self.0.insert(relative.to_owned());
        }
    }

    /// Notes a file that is passed by for a folder above it, or for its own name.
    pub fn note_file(&mut self, relative: &str) {
        let mut parts = relative.split('/');
        let above: Vec<&str> = parts.by_ref().take_while(|part| !is_passed_by(part)).collect();
        let name = relative.split('/').nth(above.len()).unwrap_or_default();
        if !NEVER.contains(&name) {
            self.0.insert(join(&above.join("/"), name));
        }
    }

    /// The diagnostic for them. `shown` is the name of the folder that was searched.
    pub fn diagnostic(&self, shown: &str) -> Option<Diagnostic> {
        let mut names = self.0.iter().take(3).map(|name| quoted(name));
        let (first, others) = (names.next()?, names.collect::<Vec<_>>());
        let more = match self.0.len() {
            count @ 4.. => format!(" and {} more", count - 3),
            _ => String::new(),
        };
        let all = [vec![first], others].concat().join(", ");
        let message = format!(
            "not searched: {all}{more}. Hidden names, `target` and `node_modules` are read only where they are named"
        );
        Some(Diagnostic::notice(code::NOT_SEARCHED, message).in_file(shown))
    }
}

/// Whether a name is one under which policies and recordings are kept.
fn has_records(relative: &str) -> bool {
    let ends = [".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".gz", ".zst"];
    ends.iter().any(|end| relative.ends_with(end))
}

/// Whether a folder holds a wanted file, or too much to search.
fn holds(path: &Path, relative: &str, wanted: &dyn Fn(&str) -> bool, left: &mut usize) -> bool {
    // An unreadable folder may hold anything.
    let Ok(entries) = fs::read_dir(path) else { return true };
    for entry in entries.flatten() {
        if *left == 0 {
            return true;
        }
        *left -= 1;
        let name = entry.file_name().to_string_lossy().into_owned();
        let relative = join(relative, &name);
        let found = match entry.file_type() {
            Ok(kind) if kind.is_dir() => {
                !is_passed_by(&name) && holds(&entry.path(), &relative, wanted, left)
            }
            _ => !is_passed_by(&name) && wanted(&relative),
        };
        if found {
            return true;
        }
    }
    false
}

struct Walk<'w> {
    shown: &'w str,
    wanted: &'w dyn Fn(&str) -> bool,
    /// The folders that were read, as the system knows them.
    seen: BTreeSet<PathBuf>,
    linked: BTreeSet<(String, PathBuf)>,
    passed: PassedBy,
    walked: WalkResult,
}

impl Walk<'_> {
    fn folder(&mut self, path: &Path, relative: &str) {
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(error) => {
                self.walked.diagnostics.push(unreadable(&join(self.shown, relative), &error));
                return;
            }
        };
        if !self.seen.insert(real) {
            return;
        }
        let shown = join(self.shown, relative);
        for entry in entries(path, &shown, &mut self.walked.diagnostics) {
            let relative = join(relative, &entry.name);
            if is_passed_by(&entry.name) {
                self.passed.note(&entry.name, &entry.path, &relative, self.wanted);
                continue;
            }
            // Metadata that the folder does not give is requested.
            if entry.is_file() {
                if (self.wanted)(&relative) {
                    self.walked.files.push(entry.into_file(relative));
                }
                continue;
            }
            let path = entry.path;
            let is_link = path.is_symlink();
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() && is_link => {
                    self.linked.insert((relative, path));
                }
                Ok(metadata) if metadata.is_dir() => self.folder(&path, &relative),
                // It may have led to a folder with anything in it.
                Err(error) if is_link => {
                    let message = format!("a link that leads nowhere: {}", super::words(&error));
                    // It has the name of a file that would be read, and was not.
                    let is_missed = has_records(&relative) && (self.wanted)(&relative);
                    let severity = if is_missed { Severity::Error } else { Severity::Warning };
                    let told = Diagnostic::new(code::UNREADABLE_FILE, severity, message);
                    self.tell(told, &relative);
                }
                _ if !(self.wanted)(&relative) => {}
                Ok(metadata) if metadata.is_file() => self.walked.files.push(WalkedFile {
                    relative,
                    path,
                    found: FoundFile::of(&metadata, is_link),
                }),
                Ok(_) => self.tell(not_regular(), &relative),
                Err(error) => self.walked.diagnostics.push(unreadable(&join(self.shown, &relative), &error)),
            }
        }
    }

    fn linked_folder(&mut self, path: &Path, relative: &str) {
        if path.canonicalize().is_ok_and(|real| self.seen.contains(&real)) {
            let message = "a link to a folder that is already read";
            self.tell(Diagnostic::notice(code::LINK_REPEATS, message), relative);
            return;
        }
        self.folder(path, relative);
    }

    fn tell(&mut self, diagnostic: Diagnostic, relative: &str) {
        self.walked.diagnostics.push(diagnostic.in_file(join(self.shown, relative)));
    }
}

/// Pipes and devices could be waited for without end; named themselves, they are read.
pub fn not_regular() -> Diagnostic {
    Diagnostic::warning(code::UNREADABLE_FILE, "not a regular file")
}

/// A file or folder in a folder.
pub struct FolderEntry {
    /// Its name; marks replace bytes that are not text.
    pub name: String,
    /// Its path.
    pub path: PathBuf,
    /// Its type, links not followed, if the system gives it.
    kind: Option<fs::FileType>,
    /// For a regular file: an open folder gives it for less than half the cost of its path.
    found: Option<FoundFile>,
}

impl FolderEntry {
    /// Whether the folder says that it is a regular file.
    pub fn is_file(&self) -> bool {
        self.kind.is_some_and(|kind| kind.is_file())
    }

    /// The same as a file that was found.
    pub fn into_file(self, relative: String) -> WalkedFile {
        WalkedFile { relative, path: self.path, found: self.found }
    }
}

/// The entries of a folder by name. Bytes of a name that are not UTF-8 are shown as marks.
pub fn entries(path: &Path, shown: &str, out: &mut Vec<Diagnostic>) -> Vec<FolderEntry> {
    let mut entries = Vec::new();
    let listed = match fs::read_dir(path) {
        Ok(listed) => listed,
        Err(error) => {
            out.push(unreadable(shown, &error));
            return entries;
        }
    };
    for entry in listed {
        match entry {
            Ok(entry) => {
                let kind = entry.file_type().ok();
                entries.push(FolderEntry {
                    name: entry.file_name().to_string_lossy().into_owned(),
                    path: entry.path(),
                    kind,
                    found: kind
                        .filter(fs::FileType::is_file)
                        .and_then(|_| FoundFile::of(&entry.metadata().ok()?, false)),
                });
            }
            Err(error) => out.push(unreadable(shown, &error)),
        }
    }
    entries.sort_by(|a, b| (&a.name, &a.path).cmp(&(&b.name, &b.path)));
    entries
}
