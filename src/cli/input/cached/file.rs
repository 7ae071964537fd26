//! A file that is read, unless it was read before.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::answers::{Answers, Read};
use super::group::{file_name, path};
use crate::cli::input::interrupted;
use crate::cli::input::sessions::{FileNotes, Growth, ReadFile};
use crate::corpus::Recording as _;
use crate::files::Input;
use crate::files::cache::Entries;
use crate::files::stamp::Stamp;
use rulestep_recording::Stretch;

/// The cached data of a file.
#[derive(Serialize, Deserialize)]
pub struct Entry<A> {
    /// `None` if it may change without another stamp.
    pub stamp: Option<Stamp>,
    pub notes: FileNotes,
    pub answers: Vec<A>,
    pub growth: Option<Growth>,
}

/// The part of it that shows whether the file may be unchanged, or have grown.
#[derive(Deserialize)]
struct EntryFile {
    stamp: Option<Stamp>,
    growth: Option<Growth>,
}

/// Whether an entry may still be of use.
pub fn holds(name: &[u8], entry: &[u8]) -> bool {
    let metadata = path(name).and_then(|path| std::fs::metadata(path).ok());
    let (Some(metadata), Ok(entry)) = (metadata, serde_json::from_slice::<EntryFile>(entry)) else {
        return false;
    };
    let now = Stamp::of(&metadata);
    entry.stamp == Some(now) || entry.growth.is_some_and(|growth| growth.may_be_of(now.length()))
}

pub struct CachedFile<'a, A> {
    pub file: ReadFile,
    input: Option<Input>,
    entries: &'a Entries,
    state: State,
    known: std::vec::IntoIter<A>,
    /// Whether all of it was returned.
    pub ended: bool,
    /// Its stamp once it was, if that identifies the file.
    pub stamp: Option<Stamp>,
    /// Files of its group that come after it; `None` if it is in none.
    pub after: Option<usize>,
}

enum State {
    Unread,
    Known,
    /// With its earlier stamp, and the time of that.
    Reading(Option<(Stamp, SystemTime)>),
}

impl<'a, A: Answers> CachedFile<'a, A> {
    pub fn new(file: ReadFile, entries: &'a Entries, after: Option<usize>) -> CachedFile<'a, A> {
        CachedFile {
            input: file.input().cloned(),
            file,
            entries,
            state: State::Unread,
            known: Vec::new().into_iter(),
            ended: false,
            stamp: None,
            after,
        }
    }

    /// Its name in the cache.
    pub fn name(&self) -> Option<Vec<u8>> {
        self.input.as_ref().and_then(file_name)
    }

    /// Whether it was read in this run, all of it or the rest.
    pub fn is_read(&self) -> bool {
        matches!(self.state, State::Reading(_))
    }

    fn begun(&mut self) -> &mut State {
        if matches!(self.state, State::Unread) {
            self.state = self.begin();
        }
        &mut self.state
    }

    fn begin(&mut self) -> State {
        let (Some(name), Some(input)) = (self.name(), &self.input) else { return State::Reading(None) };
        let entry = self.entries.get(&name).and_then(|bytes| serde_json::from_slice::<Entry<A>>(bytes).ok());
        match entry {
            Some(Entry { stamp: Some(stamp), notes, answers, .. }) if input.stamp() == Some(&stamp) => {
                self.stamp = Some(stamp);
                self.file.take_notes(notes);
                self.known = answers.into_iter();
                State::Known
            }
            entry => self.read(entry),
        }
    }

    /// Begins to read it, or continues where it ended. The file may have changed since the search, so it gets a new
    /// stamp.
    fn read(&mut self, entry: Option<Entry<A>>) -> State {
        let began = SystemTime::now();
        let Some(stamp) = self.input.as_ref().and_then(Input::stamp_now) else { return State::Reading(None) };
        if let Some(Entry { notes, answers, growth: Some(growth), .. }) = entry
            && growth.may_be_of(stamp.length())
            && self.file.resume(&notes, &growth)
        {
            self.known = answers.into_iter();
        }
        State::Reading(Some((stamp, began)))
    }

    pub fn cut(&mut self) -> Option<Stretch> {
        let reads = matches!(self.begun(), State::Reading(_)) && self.known.len() == 0;
        if reads { self.file.cut() } else { None }
    }

    pub fn join(&mut self, part: Stretch) -> Vec<Read<A>> {
        self.file.join(part).into_iter().map(|session| Read::Session(Box::new(session))).collect()
    }
}

impl<A: Answers> Iterator for CachedFile<'_, A> {
    type Item = Read<A>;

    fn next(&mut self) -> Option<Read<A>> {
        if interrupted() {
            return None;
        }
        self.begun();
        if let Some(answers) = self.known.next() {
            return Some(Read::Answers(answers));
        }
        let State::Reading(before) = &mut self.state else {
            self.ended = true;
            return None;
        };
        if let Some(session) = self.file.next() {
            return Some(Read::Session(Box::new(session)));
        }
        if let (Some((stamp, began)), Some(input)) = (before.take(), &self.input)
            && !interrupted()
        {
            self.ended = true;
            let now = || input.stamp_now().filter(|_| !self.file.has_asked_others());
            self.stamp = Stamp::after_reading(now, stamp, began);
        }
        None
    }
}
