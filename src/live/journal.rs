//! The journal of one session: an append-only file that is locked while a call is decided.
//!
//! Every record was written and synced before the answer was given, so a call that ran is in it. A line that is cut off
//! is of a writer that was killed before it answered: it is not a decision, and the next writer marks it.

mod follow;
pub mod going_on;
mod lines;
mod place;

use std::fs::{File, OpenOptions};
use std::io::{Cursor, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lines::{Lines, about};
pub use place::{file_name, private_folder};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::fault::Fault;
use super::index::{Bodies, Index, Stamp};
use super::lock;
use super::outline::{Keep, Kind, outlines};
use super::outlines::Outlines;
use super::record::Record;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::Session;
use rulestep_base::session::body::Store;
use rulestep_base::wording::count;
use rulestep_recording::known::Known;
use rulestep_recording::{self as recording, Options};

/// A journal whose lock is held.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    records: Records,
    /// `None` if it cannot be written: it is made again when the journal is next opened.
    index: Option<Index>,
    /// Outlines that the index gets later; `None`: it gets each at once.
    later: Option<String>,
    /// Bytes that the file ends with and that are no record.
    cut_off: bool,
    /// Bytes of the file.
    length: u64,
    /// Whether the whole file was read after a body was not at its place in the index.
    distrusted: bool,
}

/// The content of a journal.
#[derive(Debug)]
enum Records {
    /// Its complete lines, if some are not in the form of records.
    Lines(Lines),
    /// The outlines of its records, and the source of the long bodies of which they have the places.
    Outlines(Outlines, Arc<Bodies>),
}

/// Bytes of outlines that the index gets later at the most.
const LATER: usize = 1 << 16;

impl Journal {
    /// Opens the journal of a session and waits for its lock.
    ///
    /// # Errors
    /// It cannot be made, read or locked in time.
    pub fn open(folder: &Path, session: &str, wait: Duration) -> Result<Journal, Fault> {
        private_folder(folder).map_err(|error| Fault::file(folder, "made", &error))?;
        let path = folder.join(format!("{}.jsonl", file_name(session)));
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let journal = Journal::open_as(&path, wait, &options)?;
        let lost = || Fault::file(&path, "made", &std::io::ErrorKind::NotFound.into());
        journal.ok_or_else(lost)
    }

    /// The same for an existing journal; `None`: there is none.
    ///
    /// # Errors It cannot be read or locked in time.
    pub fn open_existing(path: &Path, wait: Duration) -> Result<Option<Journal>, Fault> {
        Journal::open_as(path, wait, OpenOptions::new().read(true).append(true))
    }

    fn open_as(path: &Path, wait: Duration, options: &OpenOptions) -> Result<Option<Journal>, Fault> {
        let file = lock::open(path, wait, || match options.open(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            file => file.map(Some).map_err(|error| Fault::file(path, "opened", &error)),
        })?;
        let Some(file) = file else { return Ok(None) };
        let mut journal = Journal {
            path: path.to_owned(),
            file,
            records: Records::Lines(Lines::default()),
            index: None,
            later: None,
            cut_off: false,
            length: 0,
            distrusted: false,
        };
        let stamp = journal.stamp()?;
        let kept = Index::open(&journal.index_path(), &stamp)
            .and_then(|(index, text)| Some((index, Outlines::of(text)?)))
            .filter(|(_, outlines)| outlines.end() == journal.length);
        match kept {
            Some((index, outlines)) => {
                journal.records = Records::Outlines(outlines, Arc::new(journal.bodies()?));
                journal.index = Some(index);
            }
            None => journal.read()?,
        }
        Ok(Some(journal))
    }

    /// The path of the index.
    fn index_path(&self) -> PathBuf {
        self.path.with_extension("index")
    }

    fn stamp(&mut self) -> Result<Stamp, Fault> {
        let state = self.file.metadata().map_err(|error| Fault::file(&self.path, "read", &error))?;
        self.length = state.len();
        Ok(Stamp::of(&state))
    }

    fn bodies(&self) -> Result<Bodies, Fault> {
        Bodies::of(&self.file).map_err(|error| Fault::file(&self.path, "read", &error))
    }

    /// Whether a body was not at its place in the index: decisions since then do not count.
    pub fn misread(&self) -> bool {
        matches!(&self.records, Records::Outlines(_, bodies) if bodies.misread())
    }

    /// Reads the whole journal, and makes its index again.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(&mut self) -> Result<(), Fault> {
        self.distrusted |= self.misread();
        let stamp = self.stamp()?;
        let mut text = self.text()?;
        self.length = text.len() as u64;
        let complete = memchr::memrchr(b'\n', &text).map_or(0, |end| end + 1);
        self.cut_off = complete < text.len();
        text.truncate(complete);
        self.compare(memchr::memchr_iter(b'\n', &text).count())?;
        // Its writer may have been killed after the line feed that ends a cut-off line, and before the mark.
        let last = text.split(|byte| *byte == b'\n').rev().nth(1);
        self.cut_off |= last.is_some_and(|line| serde_json::from_slice::<IgnoredAny>(line).is_err());
        self.index = None;
        self.later.iter_mut().for_each(String::clear);
        let outlines = outlines(&text, true, Keep::Short).filter(|_| !self.cut_off);
        let known = outlines.and_then(|outlines| {
            self.index = Index::create(&self.index_path(), &outlines, &stamp).ok();
            Outlines::of(outlines)
        });
        self.records = match known {
            Some(outlines) => Records::Outlines(outlines, Arc::new(self.bodies()?)),
            None => Records::Lines(Lines::of(text)),
        };
        Ok(())
    }

    /// Reports a journal with fewer records than its index had: a loss of records would lose what they forbid. An
    /// edited journal is valid as it is.
    fn compare(&self, records: usize) -> Result<(), Fault> {
        let path = self.index_path();
        let before = Index::last(&path).and_then(Outlines::of).map_or(0, |outlines| outlines.len());
        let gone = before.saturating_sub(records);
        if gone == 0 {
            return Ok(());
        }
        let (name, gone) = (self.name(), count(gone as u64, "record"));
        let message = format!("the journal `{name}` has lost {gone}, so calls may be missing from it");
        let help = format!("put it back as it was, or delete `{}` to go on without them", path.display());
        Err(Fault::new(message, help))
    }

    /// The whole file.
    fn text(&self) -> Result<Vec<u8>, Fault> {
        let unreadable = |error| Fault::file(&self.path, "read", &error);
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0)).map_err(unreadable)?;
        let mut text = Vec::with_capacity(usize::try_from(self.length).unwrap_or_default() + 1);
        file.read_to_end(&mut text).map_err(unreadable)?;
        Ok(text)
    }

    /// Whether it holds no record.
    pub fn is_new(&self) -> bool {
        match &self.records {
            Records::Lines(lines) => lines.is_empty(),
            Records::Outlines(outlines, _) => outlines.is_empty(),
        }
    }

    /// The last turn of the session, with what followed it.
    ///
    /// # Errors
    /// Something in it is no record.
    pub fn latest(&self) -> Result<Session, Fault> {
        match &self.records {
            Records::Lines(lines) => self.parse(lines.latest().to_vec()),
            Records::Outlines(outlines, bodies) => {
                let store: Arc<dyn Store> = Arc::<Bodies>::clone(bodies);
                let from = outlines.last(Kind::Turn).unwrap_or_default();
                let mut known = if from == 0 { Known::new(&self.name()) } else { Known::part(&self.name()) };
                if outlines.play(from, Some(&store), &mut known).is_none() {
                    bodies.set_misread();
                }
                self.read_as(known.session())
            }
        }
    }

    /// The session that it records, with these records added.
    ///
    /// # Errors
    /// Something in it is no record: a decision may be missing.
    pub fn session(&self, added: &str) -> Result<Session, Fault> {
        let mut text = match &self.records {
            Records::Lines(lines) => lines.text().to_vec(),
            Records::Outlines(known, bodies) => match self.known(known, bodies, added) {
                Some(known) => return self.read_as(known.session()),
                None => self.text()?,
            },
        };
        if self.cut_off {
            text.extend_from_slice(Record::Repaired.line().as_bytes());
        }
        text.extend_from_slice(added.as_bytes());
        self.parse(text)
    }

    /// The journal by its outlines. `None`: the added text is not in the form of records.
    fn known(&self, outlines: &Outlines, bodies: &Arc<Bodies>, added: &str) -> Option<Known> {
        let added = self::outlines(added.as_bytes(), outlines.is_empty(), Keep::All)?;
        let added = Outlines::of(added)?;
        let store: Arc<dyn Store> = Arc::<Bodies>::clone(bodies);
        let mut known = Known::new(&self.name());
        if outlines.play(0, Some(&store), &mut known).is_none() {
            bodies.set_misread();
        }
        added.play(0, Some(&store), &mut known)?;
        Some(known)
    }

    /// The file, as people write it.
    pub fn name(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    fn parse(&self, text: Vec<u8>) -> Result<Session, Fault> {
        let options = Options { format: recording::named("rulestep-live"), ..Options::default() };
        let reading = recording::open(self.name(), Box::new(Cursor::new(text)), &options);
        let mut reading = reading.map_err(|why| self.damaged(&why))?;
        let mut sessions: Vec<Session> = reading.by_ref().collect();
        let session = sessions.pop().filter(|_| sessions.is_empty());
        self.read_as((session, reading.diagnostics()))
    }

    fn read_as(&self, (session, found): (Option<Session>, Vec<Diagnostic>)) -> Result<Session, Fault> {
        if let Some(why) = found.iter().find(|found| found.may_lose_calls()) {
            return Err(self.damaged(why));
        }
        session.ok_or_else(|| {
            let message = format!("the journal `{}` does not hold one session", self.name());
            Fault::new(message, "move it away and begin a new session")
        })
    }

    fn damaged(&self, why: &Diagnostic) -> Fault {
        let message = format!(
            "the journal `{}` is damaged, so calls may be missing from it: {}",
            self.name(),
            why.message
        );
        Fault::new(message, "look at it, move it away and begin a new session")
    }

    /// Bytes of the agent's log that were read, as the last turn says.
    pub fn transcript(&self) -> u64 {
        match &self.records {
            Records::Lines(lines) => lines.record("turn\"").and_then(|turn| turn.get("transcript")?.as_u64()),
            Records::Outlines(outlines, _) => {
                outlines.last(Kind::Turn).and_then(|turn| outlines.transcript(turn))
            }
        }
        .unwrap_or_default()
    }

    /// Bytes of the agent's log that were read before the turn of the first call that waits for its result.
    pub fn waits_since(&self) -> Option<u64> {
        match &self.records {
            Records::Lines(lines) => lines.waits_since(),
            Records::Outlines(outlines, _) => outlines.waits_since(),
        }
    }

    /// The last record of a call with this id, with its bodies.
    pub fn proposed(&self, id: &str) -> Option<Value> {
        match &self.records {
            Records::Lines(lines) => lines.record(&about("proposed", id)),
            Records::Outlines(outlines, bodies) => {
                let (start, end) = outlines.line(outlines.last_about(Kind::Proposed, id)?)?;
                let text = bodies.text_at(start, end.checked_sub(start)?);
                let record: Option<Value> = text.and_then(|text| serde_json::from_str(&text).ok());
                let is = |record: &Value| record.get("id").and_then(Value::as_str) == Some(id);
                let found = record.filter(is);
                if found.is_none() {
                    bodies.set_misread();
                }
                found
            }
        }
    }

    /// Whether the call with this id was allowed and has no result yet. `None`: there is no such call.
    pub fn waits_for(&self, id: &str) -> Option<bool> {
        match &self.records {
            Records::Lines(lines) => lines.waits_for(id),
            Records::Outlines(outlines, _) => {
                let proposed = outlines.last_about(Kind::Proposed, id)?;
                let resolved = outlines.last_about(Kind::Resolved, id);
                Some(outlines.is_stopped(proposed) == Some(false) && resolved.is_none_or(|at| at < proposed))
            }
        }
    }

    /// Whether no call was proposed after the one with this id.
    pub fn is_last(&self, id: &str) -> bool {
        match &self.records {
            Records::Lines(lines) => lines.is_last(id),
            Records::Outlines(outlines, _) => {
                outlines.last(Kind::Proposed) == outlines.last_about(Kind::Proposed, id)
            }
        }
    }

    /// The number of its calls.
    pub fn calls(&self) -> usize {
        match &self.records {
            Records::Lines(lines) => lines.calls(),
            Records::Outlines(outlines, _) => outlines.count(Kind::Proposed),
        }
    }

    /// Adds records and syncs them. Either all of them are in the journal then, or none.
    ///
    /// # Errors They cannot be written.
    pub fn append(&mut self, records: &str) -> Result<(), Fault> {
        if self.misread() {
            let message = format!("the journal `{}` was changed, or cannot be read", self.path.display());
            return Err(Fault::new(message, "look at it, move it away and begin a new session"));
        }
        let mut text = String::new();
        if self.cut_off {
            text.push('\n');
            text.push_str(&Record::Repaired.line());
        }
        text.push_str(records);
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // The remains would not be a record; nothing more can be done if this fails, too.
            let _ = self.file.set_len(self.length);
            return Err(Fault::file(&self.path, "written", &error));
        }
        self.cut_off = false;
        let stamp = self.stamp()?;
        let known = match &mut self.records {
            Records::Lines(lines) => {
                lines.add(&text);
                return Ok(());
            }
            Records::Outlines(known, _) => known,
        };
        let added = outlines(text.as_bytes(), known.is_empty(), Keep::Short);
        let added = added.and_then(|added| known.add(&added).map(|()| added));
        let Some(added) = added else { return self.read() };
        match &mut self.later {
            None => self.add_to_index(&added, &stamp),
            Some(later) => {
                later.push_str(&added);
                if later.len() > LATER {
                    let later = std::mem::take(later);
                    self.add_to_index(&later, &stamp);
                }
            }
        }
        Ok(())
    }

    /// Writes the index now and then, and when the journal is released: a process that holds the lock for long need not
    /// do so with every record. If it is killed, the index no longer matches and is made again.
    pub fn index_later(&mut self) {
        self.later.get_or_insert_default();
    }

    fn add_to_index(&mut self, outlines: &str, stamp: &Stamp) {
        self.index =
            self.index.take().and_then(|mut index| index.append(outlines, stamp).ok().map(|()| index));
    }
}

impl Drop for Journal {
    /// A session may still use bodies of it.
    fn drop(&mut self) {
        if let Some(later) = self.later.take().filter(|later| !later.is_empty())
            && let Ok(stamp) = self.stamp()
        {
            self.add_to_index(&later, &stamp);
        }
        let _ = self.file.unlock();
    }
}
