//! Files that were read and judged before are not read again: what their sessions gave is kept.
//!
//! What is kept is of one question, and all that the answer depends on is in its key: the program, the policy, every option,
//! and where the names of the files lead from. A file is the same where it still has the stamp that it was read with
//! ([`Stamp::after_reading`]). The stamp of the search is enough for that: the answers are then those of a run that read all files
//! at that instant. One that has grown is read from where it ended, where a digest of all that was read before says that it
//! begins as it was ([`Growth`](super::sessions::Growth)). In doubt it is read.
//!
//! Answers are kept twice: of each file, and of each group of files ([`group`]), appended to each other. A second run asks only for
//! groups. Files of a group that has changed are asked for one by one, and make a new group.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use hmac_sha256::Hash;

pub use self::answers::Answers;
use self::answers::{Marked, Read};
use self::file::CachedFile;
use self::group::{GroupName, KnownGroup};
use self::results::Results;
use super::{SessionSource, Sessions, interrupted};
use crate::cli::args;
use crate::cli::selection::Selection;
use crate::corpus::{Corpus, Recording, Recordings};
use crate::explore::repeats;
use crate::files::cache::Entries;
use crate::files::stamp::Stamp;
use rulestep_base::session::Session;
use rulestep_engine::policy::Policy;
use rulestep_recording::Stretch;

mod answers;
mod file;
mod group;
mod results;

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
        wanted: &SessionSource<'_>,
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
        let question = format!(
            "{:?}",
            (version, program, here, rights(), folders_of(named), reading, policies, options)
        );
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

/// Effective user, groups and capabilities, part of the key: a user never sees results that another one cached. `None` if
/// the system does not give them in a file.
fn rights() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let is_right = |line: &&str| ["Uid:", "Gid:", "Groups:", "CapEff:"].iter().any(|of| line.starts_with(of));
    Some(status.lines().filter(is_right).collect())
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

/// Puts the sessions to `answer` as [`Selection::run`] does, or takes what was answered before.
pub fn run<A: Answers>(
    cache: Option<Cache>,
    selection: &Selection,
    corpus: &Corpus,
    sessions: &mut Sessions,
    answer: &(dyn Fn(Session) -> A + Sync),
    take: &mut dyn FnMut(A) -> ControlFlow<()>,
) {
    let again = sessions.copy();
    if let (Some(cache), Some(again)) = (cache, again) {
        if let Some(answers) = once(cache, corpus, sessions, answer) {
            let _ = take(answers);
            return;
        }
        // What is kept of several sessions cannot be counted without one of them.
        *sessions = again;
    }
    selection.run(corpus, sessions, answer, &A::weight, take);
}

/// All answers together, cached or computed; `None` if a session occurs twice, or two begin alike.
fn once<A: Answers>(
    Cache { folder, key }: Cache,
    corpus: &Corpus,
    sessions: &mut Sessions,
    answer: &(dyn Fn(Session) -> A + Sync),
) -> Option<A> {
    let (mut all, mut twice) = (Marked::<A>::default(), false);
    let (mut seen, mut begun) = (HashSet::new(), HashSet::new());
    let answer = |session: Session| Marked {
        marks: repeats::mark(&session).into_iter().collect(),
        beginnings: repeats::beginning(&session).into_iter().collect(),
        answers: answer(session),
    };
    let mut take = |answers: Marked<A>| {
        twice |= answers.marks.iter().any(|mark| !seen.insert(*mark));
        twice |= answers.beginnings.iter().any(|beginning| !begun.insert(*beginning));
        all.answers.append(&answers.answers);
        if twice || interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    keep(&folder, &key, corpus, sessions, &answer, &mut take);
    (!twice).then_some(all.answers)
}

/// Puts the sessions to `answer`, or takes what was answered before.
fn keep<A: Answers>(
    folder: &Path,
    key: &str,
    corpus: &Corpus,
    sessions: &mut Sessions,
    answer: &(dyn Fn(Session) -> A + Sync),
    take: &mut dyn FnMut(A) -> ControlFlow<()>,
) {
    sessions.digest();
    let files = Entries::open(folder, key);
    let groups = Entries::open(folder, &format!("{key} groups"));
    let results = RefCell::new(Results::default());
    let mut cached = CachedFiles {
        sessions,
        files: &files,
        groups: &groups,
        results: &results,
        known: HashSet::new(),
        ungrouped: 0,
    };
    let answer = |read: Read<A>| match read {
        Read::Session(session) => (false, answer(*session)),
        Read::Answers(answers) => (false, answers),
        Read::GroupAnswers(answers) => (true, answers),
    };
    let mut take = |(is_group, answers): (bool, A)| {
        if !is_group {
            results.borrow_mut().take(&answers);
        }
        let flow = take(answers);
        if flow.is_break() {
            results.borrow_mut().break_off();
        }
        flow
    };
    let _ = corpus.run(&mut cached, &answer, &|(_, answers)| answers.weight(), &mut take);
    let known = cached.known;
    results.into_inner().save(&files, &groups, &known);
}

struct CachedFiles<'a, A> {
    sessions: &'a mut Sessions,
    files: &'a Entries,
    groups: &'a Entries,
    results: &'a RefCell<Results<A>>,
    /// The groups that are kept and as they were, by a digest of their names.
    known: HashSet<u64>,
    /// Files that are still to be read of the group that is not known.
    ungrouped: usize,
}

impl<'a, A: Answers> Recordings for CachedFiles<'a, A> {
    type Recording = CachedRecording<'a, A>;

    fn begin(&mut self, no_other: bool) -> Option<CachedRecording<'a, A>> {
        if self.ungrouped == 0 {
            let (name, files) = GroupName::of(self.sessions.ahead());
            if let Some(group) = KnownGroup::of(&name, files, self.groups) {
                self.sessions.pass(files, &group.notes);
                self.known.insert(name.digest());
                return Some(CachedRecording::Group(group));
            }
            self.ungrouped = files;
        }
        let file = self.sessions.begin(no_other)?;
        let after = self.ungrouped.checked_sub(1);
        self.ungrouped = after.unwrap_or(0);
        Some(CachedRecording::File(Box::new(CachedFile::new(file, self.files, after))))
    }

    fn end(&mut self, recording: CachedRecording<'a, A>) {
        match recording {
            CachedRecording::Group(group) => self.sessions.take_notes(group.files, group.notes),
            CachedRecording::File(mut file) => {
                self.results.borrow_mut().end(&mut file);
                self.sessions.end(file.file);
            }
        }
    }
}

/// What is begun and ended: a file, or the files of a group, of which nothing is read.
enum CachedRecording<'a, A> {
    File(Box<CachedFile<'a, A>>),
    Group(KnownGroup<A>),
}

impl<A: Answers> Iterator for CachedRecording<'_, A> {
    type Item = Read<A>;

    fn next(&mut self) -> Option<Read<A>> {
        match self {
            CachedRecording::File(file) => file.next(),
            CachedRecording::Group(group) => group.next(),
        }
    }
}

impl<A: Answers> Recording for CachedRecording<'_, A> {
    type Part = Stretch;

    fn size(&self) -> u64 {
        match self {
            CachedRecording::File(file) => file.file.size(),
            CachedRecording::Group(group) => group.size,
        }
    }

    fn cut(&mut self) -> Option<Stretch> {
        match self {
            CachedRecording::File(file) => file.cut(),
            CachedRecording::Group(_) => None,
        }
    }

    fn join(&mut self, part: Stretch) -> Vec<Read<A>> {
        match self {
            CachedRecording::File(file) => file.join(part),
            CachedRecording::Group(_) => Vec::new(),
        }
    }
}
