//! The journal of one session: an append-only file that is locked while a call is decided.
//!
//! What is in it was written and synced before the answer was given, so a call that ran is in it. A line that is cut off is
//! of a writer that was stopped before it answered: it is no decision, and the next writer marks it so.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Cursor, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::de::IgnoredAny;
use serde_json::Value;

use super::fault::Fault;
use super::index::{Bodies, Index, Stamp};
use super::outline;
use super::record::Record;
use crate::diagnostic::Diagnostic;
use crate::recording::{self, Options};
use crate::session::Session;
use crate::session::body::Store;

/// A journal that nobody else can write to.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// The complete records; where there are `bodies`, their outlines.
    text: Vec<u8>,
    /// The long bodies, which the outlines have the places of.
    bodies: Option<Arc<Bodies>>,
    /// `None` where it cannot be written: it is made again when the journal is next opened.
    index: Option<Index>,
    /// Bytes that the file ends with and that are no record.
    cut_off: bool,
    /// Bytes of the file.
    length: u64,
}

/// Between two tries for the lock.
const PAUSE: Duration = Duration::from_millis(2);

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
        let file = options.open(&path).map_err(|error| Fault::file(&path, "opened", &error))?;
        let mut journal =
            Journal { path, file, text: Vec::new(), bodies: None, index: None, cut_off: false, length: 0 };
        journal.lock(wait)?;
        let stamp = journal.stamp()?;
        match Index::open(&journal.index_path(), &stamp) {
            Some((index, text)) => {
                journal.bodies = Some(Arc::new(journal.bodies()?));
                (journal.text, journal.index) = (text, Some(index));
            }
            None => journal.read()?,
        }
        Ok(journal)
    }

    fn lock(&self, wait: Duration) -> Result<(), Fault> {
        let begun = Instant::now();
        loop {
            match self.file.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::Error(error)) => return Err(Fault::file(&self.path, "locked", &error)),
                Err(TryLockError::WouldBlock) if begun.elapsed() >= wait => {
                    let held = self.path.display();
                    let message =
                        format!("another process has held the lock of the journal `{held}` for {wait:?}");
                    return Err(Fault::new(message, "end that process, or let it finish and try again"));
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            }
        }
    }

    /// Where the index is.
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

    /// Whether a body that was looked at is not where the index has it: what was decided since then does not count.
    pub fn misread(&self) -> bool {
        self.bodies.as_ref().is_some_and(|bodies| bodies.misread())
    }

    /// Reads the whole journal, and makes its index anew.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(&mut self) -> Result<(), Fault> {
        let stamp = self.stamp()?;
        let unreadable = |error| Fault::file(&self.path, "read", &error);
        self.file.seek(SeekFrom::Start(0)).map_err(unreadable)?;
        let size = self.length;
        let mut text = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + 1);
        self.file.read_to_end(&mut text).map_err(unreadable)?;
        self.length = text.len() as u64;
        let complete = memchr::memrchr(b'\n', &text).map_or(0, |end| end + 1);
        self.cut_off = complete < text.len();
        text.truncate(complete);
        // Its writer may have been stopped after the line feed that sets a cut-off line apart, and before the mark.
        let last = text.split(|byte| *byte == b'\n').rev().nth(1);
        self.cut_off |= last.is_some_and(|line| serde_json::from_slice::<IgnoredAny>(line).is_err());
        (self.bodies, self.index) = (None, None);
        if let Some(outlines) = outline::outlines(&text, 0).filter(|_| !self.cut_off) {
            self.bodies = Some(Arc::new(self.bodies()?));
            self.index = Index::create(&self.index_path(), &outlines, &stamp).ok();
            text = outlines;
        }
        self.text = text;
        Ok(())
    }

    /// Whether it holds no record.
    pub fn is_new(&self) -> bool {
        self.text.is_empty()
    }

    /// Where the last record begins that begins so. The line feed before it is in no record, whatever a tool printed.
    fn last(&self, beginning: &str) -> Option<usize> {
        let beginning = format!("\n{{\"record\":\"{beginning}");
        memchr::memmem::rfind(&self.text, beginning.as_bytes()).map(|before| before + 1)
    }

    /// The last record that begins so, as JSON.
    fn record(&self, beginning: &str) -> Option<Value> {
        let rest = self.text.get(self.last(beginning)?..)?;
        serde_json::from_slice(rest.get(..memchr::memchr(b'\n', rest)?)?).ok()
    }

    /// The last turn of the session, with what followed it.
    ///
    /// # Errors
    /// Something in it is no record.
    pub fn latest(&self) -> Result<Session, Fault> {
        let start = self.last("turn\"").unwrap_or_default();
        self.parse(self.text.get(start..).unwrap_or_default().to_vec())
    }

    /// The session that it records, with these records added.
    ///
    /// # Errors
    /// Something in it is no record: a decision may be missing.
    pub fn session(&self, added: &str) -> Result<Session, Fault> {
        let mut text = self.text.clone();
        if self.cut_off {
            text.extend_from_slice(Record::Repaired.line().as_bytes());
        }
        text.extend_from_slice(added.as_bytes());
        self.parse(text)
    }

    fn parse(&self, text: Vec<u8>) -> Result<Session, Fault> {
        let store = self.bodies.clone().map(|bodies| bodies as Arc<dyn Store>);
        let options = Options { format: recording::named("rulestep-live"), store, ..Options::default() };
        let name = self.path.to_string_lossy().into_owned();
        let damaged = |why: &Diagnostic| {
            let message =
                format!("the journal `{name}` is damaged, so calls may be missing from it: {}", why.message);
            Fault::new(message, "look at it, move it away and begin a new session")
        };
        let reading = recording::open(name.as_str(), Box::new(Cursor::new(text)), &options);
        let mut reading = reading.map_err(|why| damaged(&why))?;
        let mut sessions: Vec<Session> = reading.by_ref().collect();
        if let Some(why) = reading.diagnostics().iter().find(|found| found.may_lose_calls()) {
            return Err(damaged(why));
        }
        let session = sessions.pop().filter(|_| sessions.is_empty());
        session.ok_or_else(|| {
            let message = format!("the journal `{name}` does not hold one session");
            Fault::new(message, "move it away and begin a new session")
        })
    }

    /// The last record of a turn.
    pub fn last_turn(&self) -> Option<Value> {
        self.record("turn\"")
    }

    /// The last record of a call with this id, with its bodies.
    pub fn proposed(&self, id: &str) -> Option<Value> {
        let mut record = self.record(&about("proposed", id))?;
        let (Some(members), Some(bodies)) = (record.as_object_mut(), &self.bodies) else {
            return Some(record);
        };
        for name in outline::BODIES {
            if let Some(place) = members.remove(&format!("{name}@")) {
                let text = bodies.read(outline::place(&place)?);
                members.insert(name.to_owned(), serde_json::from_str(&text).ok()?);
            }
        }
        Some(record)
    }

    /// Whether the call with this id was let go on and has no result yet. `None`: there is no such call.
    pub fn waits_for(&self, id: &str) -> Option<bool> {
        let proposed = self.last(&about("proposed", id))?;
        let stopped =
            self.record(&about("proposed", id))?.get("runs").and_then(Value::as_bool) == Some(false);
        Some(!stopped && self.last(&about("resolved", id)).is_none_or(|resolved| resolved < proposed))
    }

    /// Whether no call was proposed after the one with this id.
    pub fn is_last(&self, id: &str) -> bool {
        self.last("proposed\"") == self.last(&about("proposed", id))
    }

    /// How many calls it holds.
    pub fn calls(&self) -> usize {
        memchr::memmem::find_iter(&self.text, b"\n{\"record\":\"proposed\",").count()
    }

    /// Adds records and syncs them. Either all of them are in the journal then, or none.
    ///
    /// # Errors
    /// They cannot be written.
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
            // What is left of it would be no record; nothing more can be done where this fails, too.
            let _ = self.file.set_len(self.length);
            return Err(Fault::file(&self.path, "written", &error));
        }
        self.cut_off = false;
        let start = self.length;
        let stamp = self.stamp()?;
        if self.bodies.is_none() {
            self.text.extend_from_slice(text.as_bytes());
            return Ok(());
        }
        let Some(outlines) = outline::outlines(text.as_bytes(), start) else { return self.read() };
        self.index =
            self.index.take().and_then(|mut index| index.append(&outlines, &stamp).ok().map(|()| index));
        self.text.extend_from_slice(&outlines);
        Ok(())
    }
}

impl Drop for Journal {
    /// A session may still have bodies of it.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// How a record about a call begins.
fn about(record: &str, id: &str) -> String {
    format!("{record}\",\"id\":{},", Value::from(id))
}

/// Makes a folder that only its owner can look into.
pub fn private_folder(folder: &Path) -> std::io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// A name for a file, from an id that an agent chose: two ids have two names, and none leaves its folder.
pub fn file_name(id: &str) -> String {
    const LONGEST: usize = 160;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_' || byte == b'.';
    let mut name = String::new();
    for (at, byte) in id.bytes().enumerate() {
        match plain(byte) && (at > 0 || byte != b'.') {
            true => name.push(char::from(byte)),
            false => name.push_str(&format!("%{byte:02X}")),
        }
    }
    if name.is_empty() {
        name.push('%');
    }
    if name.len() > LONGEST {
        let digest = hmac_sha256::Hash::hash(id.as_bytes());
        let digest: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        name.truncate(LONGEST);
        name = format!("{name}%{digest}");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_stay_in_their_folder() {
        let ids =
            ["", ".", "..", "../../etc/passwd", "a/b", "a\\b", "%", "C:", "é", "a\0b", "5d2c-1", ".hidden"];
        let names: Vec<String> = ids.iter().map(|id| file_name(id)).collect();
        for name in &names {
            assert!(!name.contains(['/', '\\', ':', '\0']) && !name.starts_with('.'), "{name}");
        }
        let mut unique = names.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), names.len(), "{names:?}");
        let (long, other) = ("x".repeat(5000), format!("{}y", "x".repeat(4999)));
        assert!(file_name(&long).len() < 200);
        assert_ne!(file_name(&long), file_name(&other));
    }
}
