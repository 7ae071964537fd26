//! Files that were read and judged before are not read again: what their sessions gave is kept.
//!
//! What is kept is of one question, and all that the answer depends on is in its key: the program, the policy, every option,
//! and where the names of the files lead from. A file is the same where the system says so and its first and last bytes agree
//! ([`Fingerprint`]). One that has grown is read from where it ended, where a digest of all that was read before says that it
//! begins as it was ([`Growth`]). In doubt it is read.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hmac_sha256::Hash;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::sessions::{FileNotes, Growth, ReadFile};
use super::{SessionSource, Sessions, interrupted};
use crate::cli::args;
use crate::cli::selection::{Judge, Selection};
use crate::diagnostic::Diagnostic;
use crate::files::cache::{Entries, Fingerprint};
use crate::files::stamp::Stamp;
use crate::policy::Policy;
use crate::recording::Stretch;
use crate::replay::corpus::{Corpus, Recording, Recordings, Weigh};
use crate::session::Session;

/// Bytes of the answers of one file that are kept, about.
const MOST_ANSWERS: usize = 64 << 20;
/// Bytes by which each session is known, about.
const IDENTITY: usize = 64;

/// What is left of sessions once they are looked at, of one or of several after each other.
pub trait Answers: Serialize + DeserializeOwned + Default + Send {
    /// What there is to say of them.
    fn diagnostics(&self) -> &[Diagnostic];
    /// Adds those of the sessions after these.
    fn append(&mut self, later: &Self);
    /// Bytes that it keeps, about.
    fn weight(&self) -> usize;
}

/// Where answers are kept, and to what.
pub struct Cache {
    folder: PathBuf,
    key: String,
}

impl Cache {
    /// For the answers to a question about these recordings: `options` are all that it depends on beside the policies, the
    /// recordings and how they are read. `None` where nothing is to be kept, or too little is known.
    pub fn of(
        caching: &args::Caching,
        wanted: SessionSource<'_>,
        reading: &args::Reading,
        selection: &Selection,
        policies: &[(&args::Policies, &Policy)],
        options: &str,
    ) -> Option<Cache> {
        let SessionSource::Named(named) = wanted else { return None };
        if caching.no_cache || !Stamp::TELLS || !selection.given().is_empty() {
            return None;
        }
        let program = std::env::current_exe().ok()?;
        let program = (Stamp::of(&std::fs::metadata(&program).ok()?), program);
        let here = std::env::current_dir().ok()?;
        let policies: Vec<_> = policies.iter().map(|(asked, policy)| (asked, policy.digest())).collect();
        let version = env!("CARGO_PKG_VERSION");
        let question =
            format!("{:?}", (version, program, here, folders_of(named), reading, policies, options));
        let mut key = String::with_capacity(64);
        for byte in Hash::hash(question.as_bytes()) {
            let _ = write!(key, "{byte:02x}");
        }
        Some(Cache { folder: folder()?, key })
    }
}

/// The program's folder for what it can find out again: `XDG_CACHE_HOME`, else `.cache` in `HOME`.
pub fn folder() -> Option<PathBuf> {
    let get = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = get("XDG_CACHE_HOME").or_else(|| Some(get("HOME")?.join(".cache")))?;
    Some(folder.join("rulestep"))
}

/// The folders that are named, and those of the files that are: a shell names each file of a folder, and their number grows.
fn folders_of(named: &[String]) -> Vec<&Path> {
    let folder = |named| {
        let path = Path::new(named);
        if path.is_dir() { path } else { path.parent().unwrap_or(path) }
    };
    let mut folders: Vec<_> = named.iter().map(|named| folder(named.as_str())).collect();
    folders.sort_unstable();
    folders.dedup();
    folders
}

/// What is kept of a file.
#[derive(Serialize, Deserialize)]
struct Entry<A> {
    path: PathBuf,
    /// `None` where it may change without another stamp.
    file: Option<Fingerprint>,
    notes: FileNotes,
    answers: Vec<A>,
    growth: Option<Growth>,
}

/// As much of it as says whether the file may still be the same, or have grown.
#[derive(Deserialize)]
struct EntryFile {
    path: PathBuf,
    file: Option<Fingerprint>,
    growth: Option<Growth>,
}

impl EntryFile {
    fn may_be_of_use(&self) -> bool {
        let length = || std::fs::metadata(&self.path).map_or(0, |metadata| metadata.len());
        self.file.as_ref().is_some_and(|file| file.may_be_of(&self.path))
            || self.growth.as_ref().is_some_and(|growth| growth.may_be_of(length()))
    }
}

/// Puts the sessions to `answer` as [`Selection::run`] does, or takes what was answered before.
pub fn run<A: Answers>(
    cache: Option<Cache>,
    selection: &Selection,
    corpus: &Corpus,
    sessions: &mut Sessions,
    judge: &Judge<'_>,
    answer: &(dyn Fn(Session) -> A + Sync),
    take: &mut dyn FnMut(A) -> ControlFlow<()>,
) {
    let Some(Cache { folder, key }) = cache else {
        return selection.run(corpus, sessions, judge, &|_| 0, answer, &A::weight, take);
    };
    sessions.digest();
    let entries = Entries::open(&folder, &key);
    let kept = RefCell::new(Kept { new: Vec::new(), answers: Some(Vec::new()), weight: 0 });
    let mut files = CachedFiles { sessions, entries: &entries, kept: &kept };
    let answer = |read: Read<A>| match read {
        Read::Session(session) => (true, answer(*session)),
        Read::Known { answers, grew } => (grew, answers),
    };
    let mut take = |(is_new, answers): (bool, A)| {
        if is_new {
            kept.borrow_mut().keep(&answers);
        }
        let flow = take(answers);
        if flow.is_break() {
            kept.borrow_mut().answers = None;
        }
        flow
    };
    let _ = corpus.run(&mut files, &answer, &|(_, answers)| answers.weight(), &mut take);
    let new = kept.into_inner().new;
    let still =
        |entry: &[u8]| serde_json::from_slice::<EntryFile>(entry).is_ok_and(|entry| entry.may_be_of_use());
    entries.save(&new, &still);
}

/// What is to be kept.
struct Kept<A> {
    new: Vec<(String, Vec<u8>)>,
    /// Of the file whose answers are being taken; `None` once they are too many, or not all of them are taken.
    answers: Option<Vec<A>>,
    /// Bytes of them, about: those of one session more are counted once they are added.
    weight: usize,
}

impl<A: Answers> Kept<A> {
    fn keep(&mut self, more: &A) {
        let Some(answers) = &mut self.answers else { return };
        self.weight += IDENTITY;
        let last = match answers.last_mut() {
            // What is said of a session is said before its output is written.
            Some(last) if more.diagnostics().is_empty() => {
                self.weight = self.weight.saturating_sub(last.weight());
                last.append(more);
                last.weight()
            }
            _ => {
                let mut first = A::default();
                first.append(more);
                let weight = first.weight();
                answers.push(first);
                weight
            }
        };
        self.weight += last;
        if self.weight > MOST_ANSWERS {
            self.answers = None;
        }
    }

    /// The file has ended.
    fn end(&mut self, file: &mut CachedFile<'_, A>) {
        self.weight = 0;
        let Some(answers) = self.answers.replace(Vec::new()) else { return };
        let (true, Some(path)) = (file.ended, &file.path) else { return };
        let Some(notes) = file.file.notes() else { return };
        let (fingerprint, growth) = (file.fingerprint.take(), file.file.growth());
        if fingerprint.is_none() && growth.is_none() {
            return;
        }
        let entry = Entry { path: path.clone(), file: fingerprint, notes, answers, growth };
        if let Ok(bytes) = serde_json::to_vec(&entry) {
            self.new.push((name(file.file.name(), path), bytes));
        }
    }
}

/// What an entry is called: names that are shown are in answers, and may lead to several files.
fn name(shown: &str, path: &Path) -> String {
    format!("{shown}\0{}", path.display())
}

/// A session, or the answers of a file that is not read.
enum Read<A> {
    Session(Box<Session>),
    Known {
        answers: A,
        /// More of the file is read, so they are kept again with the answers to that.
        grew: bool,
    },
}

impl<A: Answers> Weigh for Read<A> {
    fn weight(&self) -> usize {
        match self {
            Read::Session(session) => session.weight(),
            Read::Known { answers, .. } => answers.weight(),
        }
    }
}

struct CachedFiles<'a, A> {
    sessions: &'a mut Sessions,
    entries: &'a Entries,
    kept: &'a RefCell<Kept<A>>,
}

impl<'a, A: Answers> Recordings for CachedFiles<'a, A> {
    type Recording = CachedFile<'a, A>;

    fn begin(&mut self, no_other: bool) -> Option<CachedFile<'a, A>> {
        let file = self.sessions.begin(no_other)?;
        let path = file.path().map(Path::to_owned);
        Some(CachedFile {
            file,
            path,
            entries: self.entries,
            state: State::Unread,
            known: Vec::new().into_iter(),
            ended: false,
            fingerprint: None,
        })
    }

    fn end(&mut self, mut file: CachedFile<'a, A>) {
        self.kept.borrow_mut().end(&mut file);
        self.sessions.end(file.file);
    }
}

/// A file that is read, unless it was read before.
struct CachedFile<'a, A> {
    file: ReadFile,
    path: Option<PathBuf>,
    entries: &'a Entries,
    state: State,
    known: std::vec::IntoIter<A>,
    /// All of it was read in this run.
    ended: bool,
    /// Once it was, and may be told from another one by it.
    fingerprint: Option<Fingerprint>,
}

enum State {
    Unread,
    Known,
    /// With the stamp that it had before, and when that was.
    Reading(Option<(Stamp, SystemTime)>),
}

impl<A: Answers> CachedFile<'_, A> {
    fn begun(&mut self) -> &mut State {
        if matches!(self.state, State::Unread) {
            self.state = self.begin();
        }
        &mut self.state
    }

    fn begin(&mut self) -> State {
        let Some(path) = &self.path else { return State::Reading(None) };
        let began = SystemTime::now();
        let Ok(metadata) = std::fs::metadata(path) else { return State::Reading(None) };
        let stamp = Stamp::of(&metadata);
        let entry = self.entries.get(&name(self.file.name(), path));
        let entry = entry.and_then(|bytes| serde_json::from_slice::<Entry<A>>(bytes).ok());
        let Some(entry) = entry.filter(|entry| entry.path == *path) else {
            return State::Reading(Some((stamp, began)));
        };
        if entry.file.as_ref().is_some_and(|file| file.is_of(path, &stamp)) {
            self.file.take_notes(entry.notes);
            self.known = entry.answers.into_iter();
            return State::Known;
        }
        let growth = entry.growth.as_ref().filter(|growth| growth.may_be_of(stamp.length()));
        if growth.is_some_and(|growth| self.file.resume(&entry.notes, growth)) {
            self.known = entry.answers.into_iter();
        }
        State::Reading(Some((stamp, began)))
    }
}

impl<A: Answers> Iterator for CachedFile<'_, A> {
    type Item = Read<A>;

    fn next(&mut self) -> Option<Read<A>> {
        if interrupted() {
            return None;
        }
        let grew = matches!(self.begun(), State::Reading(_));
        if let Some(answers) = self.known.next() {
            return Some(Read::Known { answers, grew });
        }
        let State::Reading(before) = &mut self.state else { return None };
        match self.file.next() {
            Some(session) => Some(Read::Session(Box::new(session))),
            None => {
                if let (Some((stamp, began)), Some(path)) = (before.take(), &self.path)
                    && !interrupted()
                {
                    self.ended = true;
                    self.fingerprint = Fingerprint::after(path, stamp, began);
                }
                None
            }
        }
    }
}

impl<A: Answers> Recording for CachedFile<'_, A> {
    type Part = Stretch;

    fn size(&self) -> u64 {
        self.file.size()
    }

    fn cut(&mut self) -> Option<Stretch> {
        let reads = matches!(self.begun(), State::Reading(_)) && self.known.len() == 0;
        if reads { self.file.cut() } else { None }
    }

    fn join(&mut self, part: Stretch) -> Vec<Read<A>> {
        self.file.join(part).into_iter().map(|session| Read::Session(Box::new(session))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts, and lines that take room.
    #[derive(Default, Serialize, Deserialize)]
    struct Lines(u64, Vec<u8>);

    impl Answers for Lines {
        fn diagnostics(&self) -> &[Diagnostic] {
            &[]
        }

        fn append(&mut self, later: &Lines) {
            self.0 += later.0;
            self.1.extend_from_slice(&later.1);
        }

        fn weight(&self) -> usize {
            2048 + self.1.len()
        }
    }

    #[test]
    fn answers_are_kept_until_they_weigh_too_much_together() {
        let kept = |count: usize, bytes: usize| {
            let mut kept = Kept { new: Vec::new(), answers: Some(Vec::new()), weight: 0 };
            let line = Lines(1, vec![0; bytes]);
            (0..count).for_each(|_| kept.keep(&line));
            kept.answers.map(|answers: Vec<Lines>| answers.iter().map(|lines| lines.0).sum())
        };
        assert_eq!(kept(100_000, 0), Some(100_000), "counts of many sessions are no more than those of one");
        assert_eq!(kept(50, 1 << 20), Some(50));
        assert_eq!(kept(70, 1 << 20), None);
    }
}
