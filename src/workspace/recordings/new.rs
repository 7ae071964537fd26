//! Files that are read for the first time: by many threads, and returned in order.

use std::cell::RefCell;
use std::collections::HashMap;
use std::iter::Enumerate;
use std::sync::Arc;
use std::time::SystemTime;

use super::again::{RecordedLine, RecordedLines};
use super::event::{Event, Look};
use super::file::{File, Read, Source};
use crate::corpus::{Recording, Recordings, Weigh, weight};
use crate::stored::{RecordedAt, SessionStore};
use rulestep_base::diagnostic::{Diagnostic, Severity};
use rulestep_base::session::Session;
use rulestep_recording::{Options, Reading, Stretch};

/// Sessions that are handed on together at most.
const TOGETHER: usize = 64;

/// The result of looking at a session, and its approximate size in memory.
pub fn seen<L: Look>(
    store: &Arc<SessionStore>,
    session: Session,
    recorded: Option<Box<dyn RecordedAt>>,
    known: bool,
    look: &L,
) -> (L::Seen, usize) {
    let content = Arc::new(session);
    let stored = store.hold(Arc::clone(&content), recorded);
    let (seen, done) = look.look(&stored, &content, known);
    drop(content);
    store.release(&stored, !done);
    (seen, stored.weight_in_memory())
}

/// A file, and the number of files before it.
#[derive(PartialEq)]
pub struct FilePlace {
    pub name: Arc<str>,
    pub progress: (usize, usize),
}

/// Sessions of a file that go together.
pub struct Batch<'o, S> {
    pub out: &'o mut dyn FnMut(Event<S>),
    pub of: Option<Arc<FilePlace>>,
    pub sessions: Vec<S>,
    pub sent: bool,
}

impl<S> Batch<'_, S> {
    /// Adds a session of a file; sessions of one file come together.
    pub fn add(&mut self, of: Arc<FilePlace>, session: S) {
        self.of = Some(of);
        self.sessions.push(session);
        if self.sessions.len() >= TOGETHER {
            self.send(Vec::new());
        }
    }

    /// Ends the file. Returns the notices about one that is not a recording.
    pub fn end(&mut self, of: Arc<FilePlace>, mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let mut told = Vec::new();
        if self.sessions.is_empty() && !self.sent {
            (diagnostics, told) = notices(diagnostics);
        }
        self.of = Some(of);
        self.send(diagnostics);
        self.sent = false;
        told
    }

    fn send(&mut self, diagnostics: Vec<Diagnostic>) {
        let Some(of) = self.of.take().filter(|_| !self.sessions.is_empty() || !diagnostics.is_empty()) else {
            return;
        };
        self.sent = true;
        let (file, progress) = (Arc::clone(&of.name), of.progress);
        (self.out)(Event::Sessions {
            file,
            sessions: std::mem::take(&mut self.sessions),
            diagnostics,
            progress,
        });
    }
}

/// For a file without sessions: problems, and mere notices.
pub fn notices(diagnostics: Vec<Diagnostic>) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    diagnostics.into_iter().partition(|told| told.severity == Severity::Error)
}

/// Files that are not read yet.
pub struct NewFiles<'r, 'f, 'o, S> {
    pub files: Enumerate<std::vec::IntoIter<&'f File>>,
    pub options: &'f Options,
    /// The number of files to read, these and others.
    pub all: usize,
    pub batch: &'r RefCell<Batch<'o, S>>,
    /// The files that were read.
    pub read: &'r mut HashMap<Arc<str>, Read>,
}

impl<'f, S> Recordings for NewFiles<'_, 'f, '_, S> {
    type Recording = NewFile<'f>;

    fn begin(&mut self, _no_other: bool) -> Option<NewFile<'f>> {
        let (done, file) = self.files.next()?;
        let place = Arc::new(FilePlace { name: Arc::clone(&file.name), progress: (done, self.all) });
        let (options, diagnostics) = (self.options, Vec::new());
        Some(NewFile { file, options, place, at: None, reading: None, lines: None, diagnostics })
    }

    fn end(&mut self, mut file: NewFile<'f>) {
        let stamp = match &file.file.source {
            Source::Input(_, stamp) => *stamp,
            Source::Sample(_) => None,
        };
        file.diagnostics.extend(file.reading.iter_mut().flat_map(Reading::diagnostics));
        let at = file.at.unwrap_or_else(SystemTime::now);
        let notices = self.batch.borrow_mut().end(file.place, file.diagnostics);
        self.read.insert(Arc::clone(&file.file.name), Read { stamp, at, grows: false, notices });
    }
}

/// A file that is being read. It is opened when its first session is requested.
pub struct NewFile<'f> {
    file: &'f File,
    options: &'f Options,
    place: Arc<FilePlace>,
    /// When it was opened.
    at: Option<SystemTime>,
    reading: Option<Reading>,
    /// The lines from which a session can be read again.
    lines: Option<Arc<RecordedLines>>,
    diagnostics: Vec<Diagnostic>,
}

impl NewFile<'_> {
    fn begun(&mut self) -> Option<&mut Reading> {
        if self.at.is_none() {
            self.at = Some(SystemTime::now());
            let opened = self.file.open(self.options, false);
            self.reading = opened.map_err(|told| self.diagnostics.push(told)).ok();
            self.lines = self.reading.as_ref().and_then(|reading| RecordedLines::of(self.file, reading));
        }
        self.reading.as_mut()
    }

    fn session(&self, session: Session) -> FileSession {
        let reading = self.reading.as_ref();
        let recorded = reading.and_then(|reading| RecordedLine::latest(self.lines.as_ref(), reading));
        FileSession { of: Arc::clone(&self.place), session, recorded }
    }
}

impl Iterator for NewFile<'_> {
    type Item = FileSession;

    fn next(&mut self) -> Option<FileSession> {
        let session = self.begun()?.next()?;
        Some(self.session(session))
    }
}

impl Recording for NewFile<'_> {
    type Part = Stretch;

    fn size(&self) -> u64 {
        match (&self.file.source, self.at) {
            (Source::Input(_, Some(stamp)), None) => stamp.length(),
            _ => u64::MAX,
        }
    }

    fn cut(&mut self) -> Option<Stretch> {
        self.begun()?.cut()
    }

    fn join(&mut self, part: Stretch) -> Vec<FileSession> {
        if let Some(reading) = &mut self.reading {
            reading.join(part);
        }
        let ready = || Some(self.reading.as_mut()?.ready()?).map(|session| self.session(session));
        std::iter::from_fn(ready).collect()
    }
}

/// A session, and the file that it is of.
pub struct FileSession {
    pub of: Arc<FilePlace>,
    pub session: Session,
    /// Where it can be read again.
    pub recorded: Option<Box<dyn RecordedAt>>,
}

impl Weigh for FileSession {
    fn weight(&self) -> usize {
        weight(&self.session)
    }
}
