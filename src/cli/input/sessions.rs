//! The sessions of what a command names, for a [`Corpus`](crate::corpus::Corpus) or one by one.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::ProgressBar;

pub use self::notes::{FileNotes, Growth};
use super::{SessionSource, interrupted};
use crate::cli::screen::Screen;
use crate::corpus::{Recording, Recordings};
use crate::files::digested::Digest;
use crate::files::stamp::Stamp;
use crate::files::stream::{self, Opening, Patience};
use crate::files::{self, Input};
use crate::report::words;
use crate::workspace::{opener, others, samples};
use rulestep_base::diagnostic::{Diagnostic, Severity, code};
use rulestep_base::session::{Session, tree};
use rulestep_engine::policy::Policy;
use rulestep_recording::{self as recording, Checkpoint, Options, Stretch};

mod again;
mod notes;

/// Sessions between two changes of the progress line.
const SAID_EVERY: u64 = 32;
/// How long an input is waited for that was waited for before.
const AGAIN: Duration = Duration::from_millis(100);

/// The sessions of all inputs, one by one or for a [`Corpus`](corpus::Corpus), and what is wrong with the inputs themselves.
pub struct Sessions {
    sources: VecDeque<Source>,
    options: Options,
    current: Option<ReadFile>,
    /// What is wrong with files, beyond what their sessions say of themselves.
    pub diagnostics: Vec<Diagnostic>,
    /// Sessions read.
    pub count: u64,
    /// Files that gave no session, by name.
    pub skipped: BTreeMap<String, u64>,
    /// Sessions read, also of files that are not at their end yet.
    so_far: Arc<AtomicU64>,
    progress: ProgressBar,
    patience: Patience,
    /// Whether all are read first, so that those of one tree know each other.
    joins: bool,
    /// Whether each file is to say how far it was read.
    digests: bool,
}

enum Source {
    File(Input),
    /// One that was waited for without success.
    Opening(Opening),
    Sample(String, &'static [u8]),
}

impl Source {
    fn name(&self) -> &str {
        match self {
            Source::File(input) => &input.name,
            Source::Opening(opening) => &opening.input().name,
            Source::Sample(name, _) => name,
        }
    }
}

impl Sessions {
    /// Of what is wanted.
    pub fn new(wanted: &SessionSource<'_>, mut options: Options, screen: &Screen) -> Sessions {
        let (sources, diagnostics) = match wanted {
            SessionSource::Samples => {
                (samples::sessions().map(|(name, bytes)| Source::Sample(name, bytes)).collect(), Vec::new())
            }
            SessionSource::Named(arguments) => {
                let found = files::expand(arguments);
                options.others = others::others(found.inputs.iter(), &options);
                (found.inputs.into_iter().map(Source::File).collect(), found.diagnostics)
            }
        };
        Sessions {
            sources,
            options,
            current: None,
            diagnostics,
            count: 0,
            skipped: BTreeMap::new(),
            so_far: Arc::default(),
            progress: ProgressBar::hidden(),
            patience: Patience { say: screen.voice(), broken_off: interrupted },
            joins: false,
            digests: false,
        }
    }

    /// Files that are opened from now on are digested, so that one that has [grown](ReadFile::growth) can be known.
    pub fn digest(&mut self) {
        self.digests = true;
    }

    /// The regular files that come next, as they were found.
    pub fn ahead(&self) -> impl Iterator<Item = &Input> {
        let most = if self.joins || interrupted() { 0 } else { usize::MAX };
        self.sources.iter().take(most).map_while(|source| match source {
            Source::File(input) if input.stamp().is_some() => Some(input),
            _ => None,
        })
    }

    /// Leaves this many of these unread, whose notes are known.
    pub fn pass(&mut self, files: usize, notes: &FileNotes) {
        self.sources.drain(..files.min(self.sources.len()));
        self.so_far.fetch_add(notes.count, Ordering::Relaxed);
    }

    /// Takes what was found out about this many files.
    pub fn take_notes(&mut self, files: u64, notes: FileNotes) {
        self.diagnostics.extend(notes.diagnostics);
        self.count += notes.count;
        for name in notes.skipped {
            *self.skipped.entry(name).or_default() += 1;
        }
        self.progress.inc(files);
    }

    /// The files by the names they are shown under, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().map(Source::name)
    }

    /// Joins the sessions of each tree, where one of these policies looks at whole trees. All of them are then in memory.
    pub fn join_for<'p>(&mut self, policies: impl IntoIterator<Item = &'p Policy>) {
        self.joins |= policies.into_iter().any(Policy::sees_trees);
    }

    /// Reads everything, and gives it as one recording.
    fn joined(&mut self) -> ReadFile {
        let all: Vec<Session> = self.by_ref().collect();
        let file = self.file(String::new(), None, u64::MAX);
        ReadFile { ready: tree::join(all).into_iter(), is_empty: false, ..file }
    }

    /// Shows how far the reading is.
    pub fn show_progress(&mut self, screen: &mut Screen) {
        self.progress = screen.start_progress(self.sources.len() as u64, "files");
        self.patience.say = screen.voice();
    }

    /// Says what is wrong with the inputs, once all are read, and returns it. That nothing could be read is an error; if `strict`, a
    /// file that gave no session is one, too.
    pub fn finish(&mut self, strict: bool, screen: &mut Screen) -> Vec<Diagnostic> {
        let mut told = std::mem::take(&mut self.diagnostics);
        if strict {
            opener::weigh_strictly(&mut told);
        }
        let is_bad = |told: &Diagnostic| told.severity == Severity::Error;
        if self.count == 0 && !interrupted() && !told.iter().any(is_bad) {
            told.push(Diagnostic::error(code::EMPTY_SESSION, "no session could be read"));
        }
        told.iter().for_each(|diagnostic| screen.tell_recording(diagnostic));
        told
    }

    /// Waits until an input is open. One that has no writer yet is put after the others; that is `None`.
    fn wait(&mut self, opening: Opening, time: Duration) -> Option<Result<recording::Reading, Diagnostic>> {
        let name = Arc::clone(&opening.input().name);
        match opening.within(time, &self.patience) {
            Ok(Ok(stream)) => Some(recording::open(name, stream, &self.options)),
            Err(told) => Some(Err(told)),
            Ok(Err(opening)) => {
                if time == stream::SILENT {
                    let first = if self.sources.is_empty() { "" } else { "; the others are read first" };
                    (self.patience.say)(&format!("waiting for input from `{name}`{first}"));
                }
                self.sources.push_back(Source::Opening(opening));
                None
            }
        }
    }
}

impl Recordings for Sessions {
    type Recording = ReadFile;

    fn begin(&mut self, no_other: bool) -> Option<ReadFile> {
        if std::mem::take(&mut self.joins) {
            return Some(self.joined());
        }
        loop {
            if interrupted() {
                return None;
            }
            let (waits, size) = match self.sources.front()? {
                Source::File(input) => {
                    // What was no regular file when it was found may be one by now.
                    let length = input.stamp().map(Stamp::length).or_else(|| input.length());
                    length.map_or((true, u64::MAX), |length| (false, length))
                }
                Source::Opening(..) => (true, u64::MAX),
                Source::Sample(_, bytes) => (false, bytes.len() as u64),
            };
            if waits && !no_other {
                return None;
            }
            let source = self.sources.pop_front()?;
            let name = source.name().to_owned();
            let source = match source {
                Source::File(input) if waits => match stream::begin(input) {
                    Ok(opening) => self.wait(opening, stream::SILENT),
                    Err(told) => Some(Err(told)),
                },
                Source::Opening(opening) => self.wait(opening, AGAIN),
                source => return Some(self.file(name, Some(Unread::Source(source)), size)),
            };
            if let Some(opened) = source {
                return Some(self.file(name, Some(Unread::Opened(opened.map(Box::new))), size));
            }
        }
    }

    fn end(&mut self, mut file: ReadFile) {
        self.take_from(&mut file);
        if file.is_empty && !interrupted() {
            *self.skipped.entry(file.name).or_default() += 1;
        }
        self.progress.inc(1);
    }
}

impl Sessions {
    fn file(&self, name: String, unread: Option<Unread>, size: u64) -> ReadFile {
        ReadFile {
            name,
            unread,
            ready: Vec::new().into_iter(),
            reading: None,
            options: self.options.clone(),
            diagnostics: Vec::new(),
            count: 0,
            is_empty: true,
            so_far: Arc::clone(&self.so_far),
            progress: self.progress.clone(),
            size,
            digests: self.digests,
            digest: None,
        }
    }

    fn take_from(&mut self, file: &mut ReadFile) {
        self.diagnostics.append(&mut file.diagnostics);
        self.count += std::mem::take(&mut file.count);
    }
}

impl Iterator for Sessions {
    type Item = Session;

    fn next(&mut self) -> Option<Session> {
        loop {
            let mut file = match self.current.take() {
                Some(file) => file,
                None => self.begin(true)?,
            };
            let session = file.next();
            if session.is_some() {
                self.take_from(&mut file);
                self.current = Some(file);
                return session;
            }
            self.end(file);
        }
    }
}

/// A file that is read, and what is found about it. It is opened when its first session is asked for.
pub struct ReadFile {
    name: String,
    unread: Option<Unread>,
    /// Sessions that were read already.
    ready: std::vec::IntoIter<Session>,
    reading: Option<recording::Reading>,
    options: Options,
    diagnostics: Vec<Diagnostic>,
    /// Sessions that were not counted yet.
    count: u64,
    is_empty: bool,
    so_far: Arc<AtomicU64>,
    progress: ProgressBar,
    /// Bytes of the file, where that is known: it is asked for many times.
    size: u64,
    digests: bool,
    /// What says which bytes were read, where they are those of a file.
    digest: Option<Digest>,
}

/// A file of which nothing was read yet.
enum Unread {
    Source(Source),
    /// One that was waited for.
    Opened(Result<Box<recording::Reading>, Diagnostic>),
}

impl ReadFile {
    /// What it is read from, if nothing of it was read yet and it may be read again.
    pub fn input(&self) -> Option<&Input> {
        match &self.unread {
            Some(Unread::Source(Source::File(input))) => Some(input),
            _ => None,
        }
    }

    /// Takes what was found out when it was read, and is not read again.
    pub fn take_notes(&mut self, notes: FileNotes) {
        self.unread = None;
        self.so_far.fetch_add(notes.count, Ordering::Relaxed);
        (self.diagnostics, self.count) = (notes.diagnostics, notes.count);
        self.is_empty = !notes.skipped.is_empty();
    }

    /// What was found out; `None` where it may be found different the next time though the file is the same.
    pub fn notes(&self) -> Option<FileNotes> {
        let failed = |told: &Diagnostic| matches!(told.code, code::UNREADABLE_FILE | code::MISSING_FILE);
        if self.diagnostics.iter().any(failed) {
            return None;
        }
        let skipped = if self.is_empty { vec![self.name.clone()] } else { Vec::new() };
        Some(FileNotes { diagnostics: self.diagnostics.clone(), count: self.count, skipped })
    }

    /// Continues where it was read to before. Returns whether it can: it still begins with the same bytes.
    pub fn resume(&mut self, notes: &FileNotes, growth: &Growth) -> bool {
        let Some(Unread::Source(Source::File(input))) = &self.unread else { return false };
        let Growth { beginning, checkpoint } = growth;
        let Ok(checkpoint) = serde_json::from_str::<Checkpoint>(checkpoint.get()) else { return false };
        let before = notes.diagnostics.get(..checkpoint.diagnostics).unwrap_or_default().to_vec();
        let resumed = opener::resume(input, beginning, checkpoint, &self.options);
        let Some((reading, digest)) = resumed else { return false };
        self.take_notes(FileNotes {
            diagnostics: before,
            count: notes.count,
            skipped: notes.skipped.clone(),
        });
        (self.reading, self.digest) = (Some(reading), Some(digest));
        true
    }

    /// How far it was read, once all of it was, where more of it can be read by itself.
    pub fn growth(&mut self) -> Option<Growth> {
        let (beginning, reading) = (self.digest.as_ref()?.get()?, self.reading.as_mut()?);
        let checkpoint = serde_json::value::to_raw_value(&reading.checkpoint()?).ok()?;
        Some(Growth { beginning, checkpoint })
    }

    fn open(&mut self, unread: Unread) -> Option<recording::Reading> {
        let (opened, named) = match unread {
            Unread::Opened(opened) => (opened.map(|reading| *reading), true),
            Unread::Source(Source::Sample(name, bytes)) => {
                (opener::open_sample(name, bytes, &self.options), true)
            }
            Unread::Source(Source::File(input)) => {
                let named = input.named;
                if !self.digests {
                    return self.opened(opener::open(input, &self.options), named);
                }
                let opened = opener::open_digested(input, &self.options);
                let opened = opened.map(|(reading, digest)| {
                    self.digest = digest;
                    reading
                });
                (opened, named)
            }
            Unread::Source(Source::Opening(_)) => return None,
        };
        self.opened(opened, named)
    }

    fn opened<T>(&mut self, opened: Result<T, Diagnostic>, named: bool) -> Option<T> {
        opened.map_err(|told| self.diagnostics.push(opener::weighed(told, named))).ok()
    }
}

impl ReadFile {
    fn begun(&mut self) -> Option<&mut recording::Reading> {
        if let Some(unread) = self.unread.take() {
            self.reading = self.open(unread);
        }
        self.reading.as_mut()
    }

    /// Notes what was found with a session that was read, or that there is none.
    fn note(&mut self, session: Option<Session>) -> Option<Session> {
        self.diagnostics.extend(self.reading.iter_mut().flat_map(recording::Reading::diagnostics));
        if session.is_some() {
            self.is_empty = false;
            self.count += 1;
            let so_far = self.so_far.fetch_add(1, Ordering::Relaxed) + 1;
            if so_far.is_multiple_of(SAID_EVERY) {
                self.progress.set_message(format!("{} sessions", words::thousands(so_far)));
            }
        }
        session
    }
}

impl Iterator for ReadFile {
    type Item = Session;

    fn next(&mut self) -> Option<Session> {
        if interrupted() {
            return None;
        }
        if let Some(session) = self.ready.next() {
            return Some(session);
        }
        let session = self.begun()?.next();
        self.note(session)
    }
}

impl Recording for ReadFile {
    type Part = Stretch;

    fn size(&self) -> u64 {
        if self.unread.is_some() { self.size } else { u64::MAX }
    }

    fn cut(&mut self) -> Option<Stretch> {
        if interrupted() || self.ready.len() > 0 {
            return None;
        }
        self.begun()?.cut()
    }

    fn join(&mut self, part: Stretch) -> Vec<Session> {
        let Some(reading) = &mut self.reading else { return Vec::new() };
        reading.join(part);
        std::iter::from_fn(|| {
            let session = self.reading.as_mut()?.ready();
            self.note(session)
        })
        .collect()
    }
}
