//! Reads recordings, and again what has changed of them: a file at a time, never all for one.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::opener::{open, open_sample};
use super::samples;
use crate::diagnostic::{Diagnostic, Severity, code};
use crate::files::spill::Spill;
use crate::files::stamp::Stamp;
use crate::files::{self, Input};
use crate::recording::{Options, Reading};
use crate::session::stored::{SessionStore, StoredSession};

/// The recordings that were named, and what was read of them.
pub struct Recordings {
    arguments: Vec<String>,
    options: Options,
    /// How long a file that grows has to stay as it is to be taken for whole.
    rests: Duration,
    read: HashMap<Arc<str>, Read>,
    /// Where the sessions are.
    store: Arc<SessionStore>,
}

/// What comes of reading recordings, in this order.
#[derive(Debug)]
pub enum Event {
    /// The recordings are about to be read, again or for the first time.
    Listing {
        /// All files of them that there are, each once, in their order. Others are gone.
        files: Vec<Arc<str>>,
    },
    /// A part of a file was read for the first time: what follows on the parts before.
    Sessions {
        /// The file, as it was named.
        file: Arc<str>,
        /// Its sessions.
        sessions: Vec<Arc<StoredSession>>,
        /// What is wrong with the file, beyond what its sessions say of themselves.
        diagnostics: Vec<Diagnostic>,
        /// Files read so far, and how many there are.
        progress: (usize, usize),
    },
    /// A file was read again, whole: this is what it holds now.
    File {
        /// The file, as it was named.
        file: Arc<str>,
        /// Its sessions.
        sessions: Vec<Arc<StoredSession>>,
        /// What is wrong with the file, beyond what its sessions say of themselves.
        diagnostics: Vec<Diagnostic>,
        /// Files read so far, and how many there are to read.
        progress: (usize, usize),
    },
    /// Every file that had to be was read.
    End {
        /// All that is wrong besides: paths that are not there, folders without recordings.
        diagnostics: Vec<Diagnostic>,
    },
}

/// What is known of a file that was read.
struct Read {
    /// As it was before reading; `None` for what is not on disk, or can be read once only.
    stamp: Option<Stamp>,
    /// When that was.
    at: SystemTime,
    /// It is being written: it has become longer while it was watched.
    grows: bool,
    /// What is worth knowing of a file that is no recording.
    notices: Vec<Diagnostic>,
}

/// What the arguments lead to.
#[derive(Default)]
struct Contents {
    /// The files that there are, each under a name of its own.
    files: Vec<File>,
    /// What was named and cannot be read, each with what there is to say of it.
    missing: Vec<(Arc<str>, Vec<Diagnostic>)>,
    /// What else there is to say.
    besides: Vec<Diagnostic>,
}

/// A file to read.
struct File {
    name: Arc<str>,
    source: Source,
}

enum Source {
    Input(Input, Option<Stamp>),
    Sample(&'static [u8]),
}

/// How long a file that grows has to stay as it is to be taken for whole.
const RESTS: Duration = Duration::from_secs(10);
/// Bytes of memory that sessions take, about, before those leave it that were not looked at for a while. What is less stays in
/// memory whole, with what was decided about it.
const MOST: usize = 256 << 20;
/// Sessions that go to the workbench together at most, when a file is read for the first time.
const TOGETHER: usize = 64;

impl Recordings {
    /// Of these arguments; of the samples where there are none.
    pub fn new(arguments: Vec<String>, options: Options) -> Recordings {
        let store = SessionStore::new(Box::new(Spill::new(None)), MOST);
        Recordings { arguments, options, rests: RESTS, read: HashMap::new(), store }
    }

    /// Sessions that leave memory go to a file in this folder.
    pub fn spilling_to(self, folder: PathBuf) -> Recordings {
        Recordings { store: SessionStore::new(Box::new(Spill::new(Some(folder))), MOST), ..self }
    }

    /// Another number of bytes that sessions may take.
    #[cfg(test)]
    pub fn bounded(self, most: usize) -> Recordings {
        Recordings { store: SessionStore::new(Box::new(Spill::new(None)), most), ..self }
    }

    /// Another time for what grows to come to rest.
    #[cfg(test)]
    pub fn resting(self, rests: Duration) -> Recordings {
        Recordings { rests, ..self }
    }

    /// Reads what was not read yet or has changed since. Gives when what is being written will have come to rest, if
    /// anything is: it is to be read once more then, since its end proves something only now.
    pub fn read(&mut self, out: &mut dyn FnMut(Event)) -> Option<Duration> {
        let now = SystemTime::now();
        let Contents { files, missing, mut besides } = self.find();
        let names: Vec<Arc<str>> = files
            .iter()
            .map(|file| &file.name)
            .chain(missing.iter().map(|(name, _)| name))
            .cloned()
            .collect();
        let there: HashSet<Arc<str>> = files.iter().map(|file| Arc::clone(&file.name)).collect();
        self.read.retain(|name, _| there.contains(name));
        out(Event::Listing { files: names });
        let mut due: Vec<&File> = files.iter().filter(|file| self.is_due(file, now)).collect();
        // What may keep waiting keeps no other waiting.
        due.sort_by_key(|file| matches!(file.source, Source::Input(_, None)));
        let all = due.len();
        for (done, file) in due.into_iter().enumerate() {
            self.file(file, (done, all), out);
        }
        for (file, diagnostics) in missing {
            out(Event::File { file, sessions: Vec::new(), diagnostics, progress: (all, all) });
        }
        let notices =
            files.iter().filter_map(|file| self.read.get(&file.name)).flat_map(|read| &read.notices);
        besides.extend(notices.cloned());
        besides.extend(self.store.fault().map(|fault| {
            let message = format!("sessions cannot leave memory, so all of it is used: {fault}");
            Diagnostic::warning(code::UNREADABLE_FILE, message)
        }));
        out(Event::End { diagnostics: besides });
        let growing = self.read.values().filter(|read| read.grows);
        growing.map(|read| self.rests.saturating_sub(read.age(SystemTime::now()))).min()
    }

    fn find(&self) -> Contents {
        if self.arguments.is_empty() {
            let sample =
                |(name, bytes): (String, _)| File { name: name.into(), source: Source::Sample(bytes) };
            return Contents { files: samples::sessions().map(sample).collect(), ..Contents::default() };
        }
        let found = files::expand(&self.arguments);
        let mut files = Vec::with_capacity(found.inputs.len());
        let mut names: HashMap<Arc<str>, Vec<Option<PathBuf>>> = HashMap::new();
        for input in found.inputs {
            // A file that was named twice is read once. Others may look alike, where their names are no text.
            let alike = names.entry(Arc::clone(&input.name)).or_default();
            if alike.contains(&input.path) {
                continue;
            }
            alike.push(input.path.clone());
            let name = match alike.len() {
                1 => Arc::clone(&input.name),
                count => format!("{} ({count})", input.name).into(),
            };
            let metadata = input.path.as_ref().and_then(|path| std::fs::metadata(path).ok());
            let stamp = metadata.filter(std::fs::Metadata::is_file).map(|metadata| Stamp::of(&metadata));
            files.push(File { name, source: Source::Input(input, stamp) });
        }
        let (mut missing, mut besides) = (Vec::<(Arc<str>, Vec<Diagnostic>)>::new(), Vec::new());
        for told in found.diagnostics {
            // What is only worth knowing makes no row of its own.
            let file =
                told.place().filter(|_| told.severity == Severity::Error).map(|place| place.file().into());
            let Some(file) = file else {
                besides.push(told);
                continue;
            };
            match missing.iter_mut().find(|(known, _)| *known == file) {
                // Named twice, missing once.
                Some((_, known)) if known.contains(&told) => {}
                Some((_, known)) => known.push(told),
                None => missing.push((file, vec![told])),
            }
        }
        Contents { files, missing, besides }
    }

    /// Whether a file is to be read: it never was, or is another one now, or may be.
    fn is_due(&self, file: &File, now: SystemTime) -> bool {
        let Some(read) = self.read.get(&file.name) else { return true };
        match (&file.source, read.stamp) {
            (Source::Input(_, Some(stamp)), Some(before)) => {
                *stamp != before || stamp.is_young(read.at) || read.grows && read.age(now) >= self.rests
            }
            (Source::Input(_, Some(_)), None) => true,
            // Standard input and pipes give what they give once.
            (Source::Input(_, None), _) | (Source::Sample(_), _) => false,
        }
    }

    fn file(&mut self, file: &File, progress: (usize, usize), out: &mut dyn FnMut(Event)) {
        let at = SystemTime::now();
        let before = self.read.get(&file.name);
        let again = before.is_some();
        let stamp = match &file.source {
            Source::Input(_, stamp) => *stamp,
            Source::Sample(_) => None,
        };
        let mut read = Read { stamp, at, grows: false, notices: Vec::new() };
        if let (Some(before), Some(stamp)) = (before, stamp) {
            let known = before.stamp;
            read.grows = known.is_some_and(|known| stamp.has_grown_from(&known))
                || before.grows && known == Some(stamp) && before.age(at) < self.rests;
        }
        let mut batch = Batch { file: &file.name, progress, sessions: Vec::new(), sent: false };
        let mut diagnostics = Vec::new();
        match self.open(file, read.grows) {
            Ok(mut reading) => {
                for session in reading.by_ref() {
                    batch.sessions.push(self.store.put(session));
                    // One that is on screen already is exchanged as a whole.
                    if !again && batch.sessions.len() >= TOGETHER {
                        batch.send(Vec::new(), out);
                    }
                }
                diagnostics.extend(reading.diagnostics());
            }
            Err(told) => diagnostics.push(told),
        }
        if batch.sessions.is_empty() && !batch.sent {
            (diagnostics, read.notices) =
                diagnostics.into_iter().partition(|told| told.severity == Severity::Error);
        }
        if again {
            let (file, sessions) = (Arc::clone(&file.name), batch.sessions);
            out(Event::File { file, sessions, diagnostics, progress });
        } else {
            batch.send(diagnostics, out);
        }
        self.read.insert(Arc::clone(&file.name), read);
    }

    fn open(&self, file: &File, following: bool) -> Result<Reading, Diagnostic> {
        let options = Options { following, ..self.options.clone() };
        match &file.source {
            Source::Sample(bytes) => open_sample(Arc::clone(&file.name), bytes, &options),
            Source::Input(input, _) => {
                open(Input { name: Arc::clone(&file.name), ..input.clone() }, &options)
            }
        }
    }
}

impl Read {
    /// How long it has stayed as it is.
    fn age(&self, now: SystemTime) -> Duration {
        let modified = self.stamp.and_then(|stamp| stamp.modified()).unwrap_or(self.at);
        now.duration_since(modified).unwrap_or_default()
    }
}

/// Sessions of a file that go together.
struct Batch<'f> {
    file: &'f Arc<str>,
    progress: (usize, usize),
    sessions: Vec<Arc<StoredSession>>,
    sent: bool,
}

impl Batch<'_> {
    fn send(&mut self, diagnostics: Vec<Diagnostic>, out: &mut dyn FnMut(Event)) {
        if self.sessions.is_empty() && diagnostics.is_empty() {
            return;
        }
        self.sent = true;
        let sessions = std::mem::take(&mut self.sessions);
        out(Event::Sessions { file: Arc::clone(self.file), sessions, diagnostics, progress: self.progress });
    }
}

#[cfg(test)]
mod tests;
