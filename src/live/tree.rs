//! The sessions of one tree, an agent's and those of its subagents, for a policy that looks at all of them.
//!
//! `SESSION.tree` beside the journals is the lock of the tree, and exists as soon as such a policy decided one of its
//! calls. From then on every event of the tree, under whatever policy, takes this lock first, then that of its own
//! journal, and those of the other journals one after the other, so that there is no deadlock. Each record gets a
//! unique time, later than every other of the tree, so that a replay finds the order in which they were decided.

use std::cell::RefCell;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::fault::Fault;
use super::journal::{Journal, file_name, private_folder};
use super::lock;
use rulestep_base::session::tree::join;
use rulestep_base::session::{Millis, Session, TreeSeen};

/// The form of the file; changes with it.
const FORM: &str = "rulestep.tree/1";

/// Bytes of the file that are read.
const LARGEST: u64 = 1 << 24;

/// A session of a tree: a subagent by its id, or the agent itself.
pub type Member = Option<String>;

/// Where the sessions of a tree are.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The folder of their journals.
    pub folder: &'a Path,
    /// The id of the agent's own session.
    pub root: &'a str,
    /// How long to wait for each lock.
    pub wait: Duration,
}

/// A tree whose lock is held.
#[derive(Debug)]
pub struct Tree<'a> {
    place: Place<'a>,
    own: Member,
    path: PathBuf,
    file: File,
    state: RefCell<State>,
}

/// The content of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct State {
    form: String,
    /// The latest instant of any record.
    last: Millis,
    /// The call that was proposed last, and its session.
    latest: Option<(Member, String)>,
    /// Every session that has a journal. A removed one counts as missing.
    sessions: Vec<Member>,
    /// What is missing from before the file was made.
    missing: Option<String>,
}

/// The other sessions of a tree.
pub struct Others {
    /// Kept open for the bodies that a rule looks at.
    journals: Vec<Journal>,
    /// They.
    pub sessions: Arc<[Arc<Session>]>,
    ids: Vec<Arc<str>>,
}

impl<'a> Place<'a> {
    fn path(self) -> PathBuf {
        self.folder.join(format!("{}.tree", file_name(self.root)))
    }

    /// Whether a policy that looks at the whole tree has decided one of its calls.
    pub fn is_watched(self) -> bool {
        self.path().exists()
    }

    /// The name of a member's journal.
    pub fn name(self, member: Option<&str>) -> String {
        member.map_or_else(|| self.root.to_owned(), |subagent| format!("{}.{subagent}", self.root))
    }

    fn journal(self, member: &Member) -> PathBuf {
        self.folder.join(format!("{}.jsonl", file_name(&self.name(member.as_deref()))))
    }

    /// Waits for the lock of a tree, for an event of this member. `begins`: a tree that is not watched yet is watched
    /// from now on. `None`: it is not watched.
    ///
    /// # Errors The file or a journal of the tree cannot be read, made or locked in time.
    pub fn lock(self, own: Option<&str>, begins: bool) -> Result<Option<Tree<'a>>, Fault> {
        let path = self.path();
        if begins {
            private_folder(self.folder).map_err(|error| Fault::file(self.folder, "made", &error))?;
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(begins);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = lock::open(&path, self.wait, || match options.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !begins => Ok(None),
            file => file.map(Some).map_err(|error| Fault::file(&path, "opened", &error)),
        })?;
        let Some(mut file) = file else { return Ok(None) };
        let mut text = Vec::new();
        let unreadable = |error| Fault::file(&path, "read", &error);
        (&mut file).take(LARGEST).read_to_end(&mut text).map_err(unreadable)?;
        let known = serde_json::from_slice::<State>(&text).ok().filter(|state| state.form == FORM);
        let mut state = known.map_or_else(|| self.found(), Ok)?;
        let own = own.map(str::to_owned);
        if !state.sessions.contains(&own) {
            state.sessions.push(own.clone());
        }
        Ok(Some(Tree { place: self, own, path, file, state: RefCell::new(state) }))
    }

    /// The state from the journals, if there is no file.
    fn found(self) -> Result<State, Fault> {
        let mut state = State { form: FORM.to_owned(), ..State::default() };
        let entries = fs::read_dir(self.folder).map_err(|error| Fault::file(self.folder, "read", &error))?;
        let (root, below) = (file_name(self.root), file_name(&format!("{}.", self.root)));
        let below = below.get(..NAMED).unwrap_or(&below);
        let mut sessions = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| Fault::file(self.folder, "read", &error))?.path();
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let is_journal = path.extension().is_some_and(|end| end == "jsonl");
            if !is_journal || !(stem == root || stem.starts_with(below)) {
                continue;
            }
            let Some(mut journal) = Journal::open_existing(&path, self.wait)? else { continue };
            let Some(session) = whole(&mut journal)? else { continue };
            let member = session.parent.as_ref().map(|_| session.id.to_string());
            let belongs = session.parent.as_deref().unwrap_or(&session.id) == self.root;
            if !belongs || self.journal(&member) != path {
                continue;
            }
            let times = session.messages.iter().map(|message| message.at);
            let times = times.chain(session.calls.iter().map(|call| call.time)).flatten();
            state.last = times.fold(state.last, Millis::max);
            state.sessions.push(member);
            sessions.push(session);
        }
        let joined = join(sessions);
        let missing = joined.iter().find_map(|session| session.facts.tree.missing());
        state.missing = missing.map(str::to_owned);
        Ok(state)
    }
}

/// Bytes of a long name that are kept as they are.
const NAMED: usize = 160;

/// The session of a journal, whose index may not match; `None` before its first record.
fn whole(journal: &mut Journal) -> Result<Option<Session>, Fault> {
    if journal.is_new() {
        return Ok(None);
    }
    let session = journal.session("");
    if !journal.misread() {
        return session.map(Some);
    }
    journal.read()?;
    journal.session("").map(Some)
}

impl Tree<'_> {
    /// The other sessions, with all their events.
    ///
    /// # Errors One cannot be read.
    pub fn others(&self) -> Result<Others, Fault> {
        let mut others = Others::none();
        let mut sessions = Vec::new();
        for member in self.state.borrow().sessions.iter().filter(|member| **member != self.own) {
            let id = member.as_deref().unwrap_or(self.place.root);
            match Journal::open_existing(&self.place.journal(member), self.place.wait)? {
                // It was removed: its events are unknown.
                None => others.ids.push(id.into()),
                Some(mut journal) => {
                    // Its writer was killed before anything was in it.
                    let Some(session) = whole(&mut journal)? else { continue };
                    others.ids.push(id.into());
                    sessions.push(Arc::new(session));
                    others.journals.push(journal);
                }
            }
        }
        others.sessions = sessions.into();
        Ok(others)
    }

    /// What was missing before the tree was watched.
    pub fn missing(&self) -> Option<Arc<str>> {
        self.state.borrow().missing.as_deref().map(Arc::from)
    }

    fn instant(&self, wanted: Option<Millis>) -> Option<Millis> {
        let mut state = self.state.borrow_mut();
        state.last = wanted?.max(state.last.saturating_add(1));
        Some(state.last)
    }

    fn save(&self) -> Result<(), Fault> {
        let text = serde_json::to_string(&*self.state.borrow()).unwrap_or_default();
        let mut file = &self.file;
        let written = file
            .seek(SeekFrom::Start(0))
            .and_then(|_| file.write_all(text.as_bytes()))
            .and_then(|()| file.set_len(text.len() as u64));
        written.map_err(|error| Fault::file(&self.path, "written", &error))
    }
}

impl Others {
    /// No other sessions.
    pub fn none() -> Others {
        Others { journals: Vec::new(), sessions: Arc::new([]), ids: Vec::new() }
    }

    /// Reads bodies again that are not where the index has them; returns whether there were any: later decisions do not
    /// count then.
    ///
    /// # Errors It cannot be read.
    pub fn correct(&mut self) -> Result<bool, Fault> {
        if !self.journals.iter().any(Journal::misread) {
            return Ok(false);
        }
        let mut sessions = Vec::new();
        for journal in &mut self.journals {
            journal.read()?;
            sessions.push(Arc::new(journal.session("")?));
        }
        self.sessions = sessions.into();
        Ok(true)
    }

    /// What a decision after these sessions sees.
    pub fn seen(&self, missing: Option<Arc<str>>) -> TreeSeen {
        TreeSeen { sessions: self.ids.clone(), missing }
    }
}

/// The clock for the records of an event: the time of day, and in a watched tree a time after all others.
#[derive(Clone, Copy)]
pub struct Clock<'t>(pub Option<&'t Tree<'t>>);

impl Clock<'_> {
    /// Now.
    pub fn now(self) -> Option<Millis> {
        self.0.map_or_else(now, |tree| tree.instant(now().or(Some(0))))
    }

    /// When something counts that the agent's log says was then. What others have decided without it is not decided again.
    pub fn at(self, then: Option<Millis>) -> Option<Millis> {
        match (self.0, then) {
            (None, then) => then,
            (Some(tree), Some(then)) => tree.instant(Some(then)),
            (Some(_), None) => self.now(),
        }
    }

    /// Whether no call was proposed after the one with this id; in the whole tree, if it is watched.
    pub fn is_last(self, journal: &Journal, id: &str) -> bool {
        let is_latest = |tree: &Tree<'_>| {
            let state = tree.state.borrow();
            state.latest.as_ref().is_some_and(|(member, latest)| *member == tree.own && latest == id)
        };
        journal.is_last(id) && self.0.is_none_or(is_latest)
    }

    /// A call is proposed.
    pub fn proposed(self, id: &str) {
        if let Some(tree) = self.0 {
            tree.state.borrow_mut().latest = Some((tree.own.clone(), id.to_owned()));
        }
    }

    /// A subagent was started without a hook, so its events are unknown.
    pub fn unasked(self, tool: &str) {
        if let Some(tree) = self.0 {
            let why = format!("a subagent was started with {tool} while the gate was not asked");
            tree.state.borrow_mut().missing.get_or_insert(why);
        }
    }

    /// Saves the given values before any record has them.
    ///
    /// # Errors They cannot be written.
    pub fn save(self) -> Result<(), Fault> {
        self.0.map_or(Ok(()), Tree::save)
    }
}

/// Now, in milliseconds since 1970.
pub fn now() -> Option<Millis> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Millis::try_from(since.as_millis()).ok()
}
