//! Reads recordings, and again the changed ones: file by file, so that one file never delays all.

mod again;
mod event;
mod file;
mod new;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use self::again::{RecordedLine, RecordedLines};
pub use self::event::{Event, Look};
use self::file::{File, Read, Source};
use self::new::{Batch, FilePlace, FileSession, NewFiles, notices, seen};
use super::{others, samples};
use crate::corpus::Corpus;
use crate::files;
use crate::files::spill::Spill;
use crate::stored::SessionStore;
use rulestep_base::diagnostic::{Diagnostic, Severity, code};
use rulestep_recording::Options;

/// The named recordings, and what was read of them.
pub struct Recordings {
    arguments: Vec<String>,
    options: Options,
    /// How long a growing file has to stay unchanged to count as complete.
    rests: Duration,
    read: HashMap<Arc<str>, Read>,
    /// Holds the sessions.
    store: Arc<SessionStore>,
    /// Threads that read; made when there is a file to read.
    threads: Option<Corpus>,
}

/// The files of the arguments.
#[derive(Default)]
struct Contents {
    /// The files, each with a unique name.
    files: Vec<File>,
    /// Named files that cannot be read, each with its diagnostics.
    missing: Vec<(Arc<str>, Vec<Diagnostic>)>,
    /// Further diagnostics.
    besides: Vec<Diagnostic>,
}

/// How long a growing file has to stay unchanged to count as complete.
const RESTS: Duration = Duration::from_secs(10);
/// Bytes of memory, about, from which sessions that were not looked at for a while leave it. Below that all stay in
/// memory, with their decisions.
const MOST: usize = 256 << 20;

impl Recordings {
    /// For these arguments; for the samples if there are none.
    pub fn new(arguments: Vec<String>, options: Options) -> Recordings {
        let store = SessionStore::new(Box::new(Spill::new(None)), MOST);
        Recordings { arguments, options, rests: RESTS, read: HashMap::new(), store, threads: None }
    }

    /// Sessions that leave memory go to a file in this folder.
    pub fn spilling_to(self, folder: PathBuf) -> Recordings {
        Recordings { store: SessionStore::new(Box::new(Spill::new(Some(folder))), MOST), ..self }
    }

    /// Sets how many bytes sessions may take.
    #[cfg(test)]
    pub fn bounded(self, most: usize) -> Recordings {
        Recordings { store: SessionStore::new(Box::new(Spill::new(None)), most), ..self }
    }

    /// Sets how long a growing file has to stay unchanged.
    #[cfg(test)]
    pub fn resting(self, rests: Duration) -> Recordings {
        Recordings { rests, ..self }
    }

    /// Reads the files that are new or have changed. Returns when files that are being written will count as complete,
    /// if there are any: they are to be read again then, because only then does their end prove something.
    pub fn read<L: Look>(&mut self, look: &L, out: &mut dyn FnMut(Event<L::Seen>)) -> Option<Duration> {
        let now = SystemTime::now();
        let Contents { files, missing, mut besides } = self.find();
        self.options.others = others::others(files.iter().filter_map(File::input), &self.options);
        self.store.expect(files.iter().map(File::length).fold(0, u64::saturating_add));
        let names: Vec<Arc<str>> = files
            .iter()
            .map(|file| &file.name)
            .chain(missing.iter().map(|(name, _)| name))
            .cloned()
            .collect();
        let there: HashSet<Arc<str>> = files.iter().map(|file| Arc::clone(&file.name)).collect();
        self.read.retain(|name, _| there.contains(name));
        out(Event::Listing { files: names });
        let due = files.iter().filter(|file| self.is_due(file, now));
        // Inputs that may block must not delay others.
        let (new, others): (Vec<&File>, Vec<&File>) = due.partition(|file| self.is_new(file));
        let (waiting, others): (Vec<&File>, Vec<&File>) =
            others.into_iter().partition(|file| matches!(file.source, Source::Input(_, None)));
        let all = new.len() + others.len() + waiting.len();
        let left = self.together(new, all, look, out);
        let first = all - left.len() - others.len() - waiting.len();
        for (done, file) in (first..).zip(left.into_iter().chain(others).chain(waiting)) {
            self.file(file, (done, all), look, out);
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
            // A file that was named twice is read once. Others may be displayed the same, if their names are not UTF-8.
            let alike = names.entry(Arc::clone(&input.name)).or_default();
            if alike.contains(&input.path) {
                continue;
            }
            alike.push(input.path.clone());
            let name = match alike.len() {
                1 => Arc::clone(&input.name),
                count => format!("{} ({count})", input.name).into(),
            };
            let stamp = input.stamp_now();
            files.push(File { name, source: Source::Input(input, stamp) });
        }
        let (mut missing, mut besides) = (Vec::<(Arc<str>, Vec<Diagnostic>)>::new(), Vec::new());
        for told in found.diagnostics {
            // Mere notices make no row of their own.
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
            // Standard input and pipes can be read only once.
            (Source::Input(_, None), _) | (Source::Sample(_), _) => false,
        }
    }

    /// Whether it is a file that was never read, and that no one else may be read before.
    fn is_new(&self, file: &File) -> bool {
        matches!(file.source, Source::Input(_, Some(_))) && !self.read.contains_key(&file.name)
    }

    /// Reads files for the first time, on as many threads as there are processors, as [`Corpus`] does. Returns the
    /// remaining files if no threads are available.
    fn together<'f, L: Look>(
        &mut self,
        files: Vec<&'f File>,
        all: usize,
        look: &L,
        out: &mut dyn FnMut(Event<L::Seen>),
    ) -> Vec<&'f File> {
        if files.is_empty() {
            return files;
        }
        let threads = match self.threads.take().map_or_else(|| Corpus::new(0), Ok) {
            Ok(threads) => threads,
            Err(_) => return files,
        };
        let batch = RefCell::new(Batch { out, of: None, sessions: Vec::new(), sent: false });
        let mut read = HashMap::new();
        let store = &self.store;
        let mut unread = NewFiles {
            files: files.into_iter().enumerate(),
            options: &self.options,
            all,
            batch: &batch,
            read: &mut read,
        };
        let judge = |FileSession { of, session, recorded }: FileSession| {
            let (seen, weight) = seen(store, session, recorded, false, look);
            (of, seen, weight)
        };
        // Files that were read before a fault of the program are not read again after it.
        let ran = catch_unwind(AssertUnwindSafe(|| {
            threads.run(&mut unread, &judge, &|(.., weight)| *weight, &mut |(of, seen, _)| {
                batch.borrow_mut().add(of, seen);
                ControlFlow::Continue(())
            })
        }));
        self.threads = Some(threads);
        self.read.extend(read);
        if let Err(fault) = ran {
            resume_unwind(fault);
        }
        Vec::new()
    }

    /// Reads a file on this thread.
    fn file<L: Look>(
        &mut self,
        file: &File,
        progress: (usize, usize),
        look: &L,
        out: &mut dyn FnMut(Event<L::Seen>),
    ) {
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
        let of = Arc::new(FilePlace { name: Arc::clone(&file.name), progress });
        let mut batch = Batch { out, of: None, sessions: Vec::new(), sent: false };
        let mut diagnostics = Vec::new();
        match file.open(&self.options, read.grows) {
            Ok(mut reading) => {
                let lines = RecordedLines::of(file, &reading);
                let mut sessions = Vec::new();
                while let Some(session) = reading.next() {
                    let recorded = RecordedLine::latest(lines.as_ref(), &reading);
                    let (seen, _) = seen(&self.store, session, recorded, again, look);
                    // One that is on screen already is exchanged as a whole.
                    match again {
                        true => sessions.push(seen),
                        false => batch.add(Arc::clone(&of), seen),
                    }
                }
                diagnostics.extend(reading.diagnostics());
                batch.sessions.extend(sessions);
            }
            Err(told) => diagnostics.push(told),
        }
        if again {
            if batch.sessions.is_empty() {
                (diagnostics, read.notices) = notices(diagnostics);
            }
            let (file, sessions) = (Arc::clone(&file.name), batch.sessions);
            (batch.out)(Event::File { file, sessions, diagnostics, progress });
        } else {
            read.notices = batch.end(of, diagnostics);
        }
        self.read.insert(Arc::clone(&file.name), read);
    }
}

#[cfg(test)]
mod tests;
