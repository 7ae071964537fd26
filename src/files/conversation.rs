//! Conversations that are stored in a folder, with a file for each event: the folder is one recording, whatever path
//! leads to it.
//!
//! The files are read one after the other as if each were a line of one file, so that a damaged one does not affect the
//! others.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::stamp::Stamp;
use super::{packed, walk};
use rulestep_base::diagnostic::{Diagnostic, Loss, code};
use rulestep_base::source::quoted;

/// How a program stores its conversations.
struct Layout {
    /// The folder of the events, within that of the conversation.
    events: &'static str,
    /// Prefix of the name of an event's file; its number follows.
    prefix: &'static str,
    /// A file in the folder of the conversation that holds no event but describes the conversation.
    state: &'static str,
    /// Other files there, which are not part of it.
    aside: &'static [&'static str],
}

/// Every layout that is known: OpenHands since version 1.
const LAYOUTS: [Layout; 1] =
    [Layout { events: "events", prefix: "event-", state: "base_state.json", aside: &["meta.json"] }];

/// A conversation, as its folder is now.
pub struct Conversation {
    /// Its files, in order.
    pub parts: Vec<Part>,
    /// Its missing parts.
    pub diagnostics: Vec<Diagnostic>,
}

/// A file of it.
pub struct Part {
    /// Its name, as shown.
    pub name: Arc<str>,
    /// Its path.
    pub path: PathBuf,
    /// Whether it is an event.
    pub is_event: bool,
    stamp: Option<Stamp>,
}

/// The folder of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Its name, as shown.
    pub shown: String,
    /// Its path.
    pub path: PathBuf,
}

impl Root {
    /// The conversation that a file is of, by its name and that of its folder; `shown` is the name of the file.
    pub fn of(path: &Path, shown: &str) -> Option<Root> {
        let name = path.file_name()?.to_str()?;
        let folder = path.parent()?;
        if LAYOUTS.iter().any(|layout| layout.number(name).is_some()) {
            let named = folder.file_name();
            // A folder that has no name here, such as `.`, has one elsewhere.
            let real = if named.is_none() { folder.canonicalize().ok() } else { None };
            let is_named = |layout: &&Layout| {
                let own = named.or_else(|| real.as_deref()?.file_name());
                own.is_some_and(|own| own == layout.events) && layout.number(name).is_some()
            };
            LAYOUTS.iter().find(is_named)?;
            let events = parent(shown);
            return Some(match real {
                Some(real) => Root { shown: walk::join(events, ".."), path: real.parent()?.to_owned() },
                None => Root { shown: or_here(parent(events)), path: folder.parent()?.to_owned() },
            });
        }
        let beside = |layout: &&Layout| name == layout.state || layout.aside.contains(&name);
        let layout = LAYOUTS.iter().find(beside)?;
        let root = Root { shown: or_here(parent(shown)), path: folder.to_owned() };
        if layout.events_of(&root).is_empty() { None } else { Some(root) }
    }

    /// The conversation as it is now.
    pub fn conversation(&self) -> Conversation {
        let events: Vec<(u64, Part)> = LAYOUTS.iter().flat_map(|layout| layout.events_of(self)).collect();
        let mut diagnostics = Vec::new();
        self.missing(&events, &mut diagnostics);
        let states = LAYOUTS.iter().filter_map(|layout| layout.state_of(self));
        let parts = states.chain(events.into_iter().map(|(_, part)| part)).collect();
        Conversation { parts, diagnostics }
    }

    /// Events are numbered from 0: a missing event may be a missing call.
    fn missing(&self, events: &[(u64, Part)], told: &mut Vec<Diagnostic>) {
        let (mut next, mut before): (u64, Option<&Part>) = (0, None);
        for (number, part) in events {
            if *number > next {
                let which = match number - next {
                    1 => format!("event {next} is"),
                    _ => format!("events {next} to {} are", number - 1),
                };
                let message = format!("{which} missing before this one, and may have contained calls");
                let lost = Diagnostic::lost(code::DAMAGED_RECORD, Loss::MayHoldCalls, message);
                told.push(lost.on_line(Arc::clone(&part.name), 1));
            } else if let Some(before) = before.filter(|_| *number < next) {
                let message = format!("{} has the same number; both are read", quoted(&before.name));
                let twice = Diagnostic::lost(code::DAMAGED_RECORD, Loss::Harmless, message);
                told.push(twice.on_line(Arc::clone(&part.name), 1));
            }
            (next, before) = (number.saturating_add(1), Some(part));
        }
    }
}

impl Layout {
    /// The number of the event that a file of this name is.
    fn number(&self, name: &str) -> Option<u64> {
        let after = name.strip_prefix(self.prefix)?.strip_suffix(".json")?;
        let (number, id) = after.split_once('-')?;
        // At least five digits are written.
        number.parse().ok().filter(|_| number.len() >= 5 && !id.is_empty())
    }

    /// The events of a conversation, by their numbers.
    fn events_of(&self, root: &Root) -> Vec<(u64, Part)> {
        let (folder, shown) = (root.path.join(self.events), walk::join(&root.shown, self.events));
        // A folder that is not there is no conversation of this layout.
        let listed = walk::entries(&folder, &shown, &mut Vec::new());
        let event = |entry: walk::FolderEntry| {
            let number = self.number(&entry.name)?;
            let name = walk::join(&shown, &entry.name);
            let file = entry.into_file(name);
            Some((number, Part::of(file.relative.into(), file.path, true)))
        };
        let mut events: Vec<_> = listed.into_iter().filter_map(event).collect();
        events.sort_by(|(one, a), (other, b)| (one, &a.name).cmp(&(other, &b.name)));
        events
    }

    fn state_of(&self, root: &Root) -> Option<Part> {
        let path = root.path.join(self.state);
        path.is_file().then(|| Part::of(walk::join(&root.shown, self.state).into(), path, false))
    }
}

impl Part {
    fn of(name: Arc<str>, path: PathBuf, is_event: bool) -> Part {
        let metadata = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file);
        Part { name, stamp: metadata.map(|metadata| Stamp::of(&metadata)), path, is_event }
    }
}

impl Conversation {
    /// Its stamp, which changes with it.
    pub fn stamp(&self) -> Option<Stamp> {
        Stamp::of_all(self.parts.iter().filter_map(|part| part.stamp))
    }

    /// All of it, each file as a line.
    pub fn reader(&self) -> packed::Input {
        let unread = self.parts.iter().map(|part| part.path.clone()).collect();
        Box::new(io::BufReader::new(Joined { unread, open: None, is_blank: true, rest: b"" }))
    }

    /// The line of this file, from 0, on which it ends to be JSON.
    pub fn broken_line(&self, part: usize) -> Option<u64> {
        let part = self.parts.get(part)?;
        let read: Result<serde::de::IgnoredAny, _> = serde_json::from_reader(open(&part.path).ok()?);
        read.err().map(|error| error.line() as u64)
    }
}

/// A file of a conversation, unpacked if it is compressed.
fn open(path: &Path) -> io::Result<packed::Input> {
    packed::unpacked(Box::new(io::BufReader::new(File::open(path)?)))
}

/// The files of a conversation after each other.
struct Joined {
    unread: VecDeque<PathBuf>,
    open: Option<packed::Input>,
    /// Whether nothing was in the open file so far.
    is_blank: bool,
    /// The text added after a file.
    rest: &'static [u8],
}

/// Replaces an empty file, an unreadable one, and one that is not an object: not JSON.
const NOTHING: &[u8] = b"(nothing)\n";

impl Read for Joined {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.rest.is_empty() {
                return self.rest.read(into);
            }
            let Some(open) = &mut self.open else {
                let Some(path) = self.unread.pop_front() else { return Ok(0) };
                match open(&path) {
                    Ok(open) => (self.open, self.is_blank) = (Some(open), true),
                    Err(_) => self.rest = NOTHING,
                }
                continue;
            };
            let chunk = match open.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // With this after it, the part that was read is not JSON.
                Err(_) => {
                    (self.open, self.rest) = (None, NOTHING);
                    continue;
                }
            };
            if chunk.is_empty() {
                (self.open, self.rest) = (None, if self.is_blank { NOTHING } else { b"\n" });
                continue;
            }
            let count = chunk.len().min(into.len());
            // Each is an object: a list that is not closed would take the others in.
            let begins = chunk.iter().find(|byte| !byte.is_ascii_whitespace());
            if self.is_blank && begins.is_some_and(|byte| *byte != b'{') {
                (self.open, self.rest) = (None, NOTHING);
                continue;
            }
            for (to, from) in into.iter_mut().zip(chunk) {
                // In JSON they are between its parts only.
                *to = if *from == b'\n' { b' ' } else { *from };
                self.is_blank &= from.is_ascii_whitespace();
            }
            open.consume(count);
            return Ok(count);
        }
    }
}

/// The path without its last name.
fn parent(shown: &str) -> &str {
    match shown.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => "/",
        Some((folder, _)) => folder,
        None => "",
    }
}

fn or_here(shown: &str) -> String {
    if shown.is_empty() { ".".to_owned() } else { shown.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_file_leads_to_its_conversation() {
        let root = |path: &str| Root::of(Path::new(path), path).map(|root| root.shown);
        assert_eq!(root("a/b/events/event-00012-0f.json").as_deref(), Some("a/b"));
        assert_eq!(root("events/event-00012-0f.json").as_deref(), Some("."));
        assert_eq!(root("/events/event-123456-0f.json").as_deref(), Some("/"));
        for other in [
            "a/events/event-0f.json",
            "a/events/event-00012.json",
            "a/events/event-12-0f.json",
            "a/events/event-00012-.json",
            "a/other/event-00012-0f.json",
            "a/events/event-00012-0f.jsonl",
            "event-00012-0f.json",
            "a/base_state.json",
        ] {
            assert_eq!(root(other), None, "{other}");
        }
    }
}
