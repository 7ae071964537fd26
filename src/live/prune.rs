//! Removes journals that are no longer needed. A journal is removed as a whole: rules look at the beginning of a
//! session, so a shortened one would be decided differently.

use std::cell::Cell;
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::journal::file_name;

/// What may be removed.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// Since when nothing was written.
    pub older_than: Duration,
    /// Sessions that have no end, too.
    pub unfinished: bool,
    /// Whether nothing is removed, only listed.
    pub dry_run: bool,
}

/// A journal that was looked at.
#[derive(Debug)]
pub struct Seen {
    /// The file.
    pub path: PathBuf,
    /// Bytes of it and of its index.
    pub bytes: u64,
    /// What happened to it.
    pub fate: Fate,
}

/// What happens to a journal.
#[derive(Debug)]
pub enum Fate {
    /// It is removed, or would be.
    Removed,
    /// Something was written to it since.
    Recent,
    /// The session has no end.
    Unfinished,
    /// Its lock is held.
    InUse,
    /// It cannot be read or removed.
    Failed(io::Error),
}

/// Looks at journals, and removes those that are wanted with their indexes.
pub fn prune(journals: &[PathBuf], wanted: Wanted, now: SystemTime) -> Vec<Seen> {
    // Before anything is removed: the journal of a subagent is finished with that of its session.
    let ends: HashMap<&Path, End> = journals.iter().map(|path| (path.as_path(), End::of(path))).collect();
    let parent = |path: &Path| {
        let parent = ends.get(path)?.parent.as_ref()?;
        Some(path.with_file_name(format!("{}.jsonl", file_name(parent))))
    };
    let ended = |root: &Path| ends.get(root).is_none_or(|end| end.closed);
    // A policy looks at all sessions of such a tree: it is removed as a whole, by the session that was written last.
    let mut trees: HashMap<PathBuf, Watched> = HashMap::new();
    for path in journals {
        let root = parent(path).unwrap_or_else(|| path.clone());
        if root.with_extension(TREE).is_file() {
            let written = fs::metadata(path).and_then(|file| file.modified()).ok();
            let tree = trees.entry(root).or_default();
            tree.written = tree.written.max(written);
            tree.journals.update(|journals| journals + 1);
        }
    }
    let is_finished = |path: &Path| match (ends.get(path), parent(path)) {
        (_, Some(parent)) if trees.contains_key(&parent) => ended(&parent),
        (Some(End { closed: true, .. }), _) => true,
        (_, Some(parent)) => ended(&parent),
        _ => false,
    };
    let mut seen = Vec::with_capacity(journals.len());
    for path in journals {
        let size = |path: &Path| fs::symlink_metadata(path).map_or(0, |file| file.len());
        let mut bytes: u64 =
            size(path) + CACHES.iter().map(|cache| size(&path.with_extension(cache))).sum::<u64>();
        let root = parent(path).unwrap_or_else(|| path.clone());
        let written = trees.get(&root).and_then(|tree| tree.written);
        let finished = wanted.unfinished || is_finished(path);
        let fate = one(path, finished, written, wanted, now).unwrap_or_else(Fate::Failed);
        if let Some(tree) = trees.get(&root).filter(|_| matches!(fate, Fate::Removed)) {
            tree.journals.update(|left| left - 1);
            if tree.journals.get() == 0 {
                bytes += size(&root.with_extension(TREE));
                if !wanted.dry_run {
                    remove_tree(&root.with_extension(TREE));
                }
            }
        }
        seen.push(Seen { path: path.clone(), bytes, fate });
    }
    seen
}

/// A tree whose sessions are used together.
#[derive(Default)]
struct Watched {
    /// When something was written to any of its journals.
    written: Option<SystemTime>,
    /// The number of its remaining journals.
    journals: Cell<usize>,
}

/// File extension of the lock of a tree, beside the journal of its agent.
const TREE: &str = "tree";

/// Removes the lock of a tree without journals, unless a session begins in it.
fn remove_tree(path: &Path) {
    // Held until it is removed: a process that waits for it meanwhile notices that, and makes another.
    if let Ok(file) = OpenOptions::new().read(true).write(true).open(path)
        && file.try_lock().is_ok()
    {
        let _ = fs::remove_file(path);
    }
}

/// Files beside a journal that are useless without it: its index, and the state of a run.
const CACHES: [&str; 2] = ["index", "state"];

fn one(
    path: &Path,
    finished: bool,
    tree: Option<SystemTime>,
    wanted: Wanted,
    now: SystemTime,
) -> io::Result<Fate> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    // Held until the journal is removed: a process that waits for it meanwhile notices that, and begins another.
    let file = OpenOptions::new().read(true).append(true).open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(Fate::InUse),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let written = file.metadata()?.modified()?;
    let written = tree.map_or(written, |tree| tree.max(written));
    if now.duration_since(written).unwrap_or_default() < wanted.older_than {
        return Ok(Fate::Recent);
    }
    if !finished {
        return Ok(Fate::Unfinished);
    }
    if !wanted.dry_run {
        // A journal without its index is a journal; an index without its journal is nothing.
        for cache in CACHES {
            match fs::remove_file(path.with_extension(cache)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        fs::remove_file(path)?;
    }
    Ok(Fate::Removed)
}

/// The end of a journal, and its session.
#[derive(Debug, Default)]
struct End {
    closed: bool,
    parent: Option<String>,
}

/// Bytes at the end of a journal in which its last record is, if that is the session's end.
const LAST: u64 = 4096;

impl End {
    /// Of a journal; an unreadable one is not finished.
    fn of(path: &Path) -> End {
        File::open(path).and_then(|file| End::read(&file)).unwrap_or_default()
    }

    fn read(mut file: &File) -> io::Result<End> {
        let length = file.metadata()?.len();
        let mut first = Vec::new();
        // The first record may hold a long context; without its parent the journal is treated as a tree of its own.
        (&mut file).take(1 << 20).read_to_end(&mut first)?;
        let record = |line: Option<&[u8]>| serde_json::from_slice::<Value>(line?).ok();
        let opened = record(first.split(|byte| *byte == b'\n').next());
        let mut last = Vec::new();
        file.seek(SeekFrom::Start(length.saturating_sub(LAST)))?;
        file.read_to_end(&mut last)?;
        // A line that is cut off is of a writer that was stopped.
        let whole = last.strip_suffix(b"\n");
        let last = record(whole.and_then(|lines| lines.rsplit(|byte| *byte == b'\n').next()));
        let text = |record: Option<Value>, name: &str| Some(record?.get(name)?.as_str()?.to_owned());
        Ok(End { closed: text(last, "record").as_deref() == Some("closed"), parent: text(opened, "parent") })
    }
}
