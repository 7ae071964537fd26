//! Sessions of a corpus larger than memory: the data for lists stays, the content leaves when it was not used for a
//! while, and is restored on demand.
//!
//! A restored session is the one that was read, or nothing. One that is a line of a file is read there again: noticing
//! that the line changed is much less work than writing all lines again. The content of every other one is kept in
//! a private file of the program, so it makes no difference whether it was read from a file, a pipe, an archive or a
//! revision.

mod address;
mod pack;
mod weight;

use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use rulestep_base::checksum::Checksum;

use self::pack::{Parts, Refusals, pack, unpack};
use self::weight::{HANDLE, weight};
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::{Elsewhere, Millis, Origin, Session, TreeSight};

/// Keeps bytes outside memory, as long as the program runs.
pub trait ByteStore: Send + Sync {
    /// Stores bytes; returns their position.
    ///
    /// # Errors They cannot be written.
    fn put(&self, bytes: &[u8]) -> io::Result<u64>;

    /// This many bytes of that place.
    ///
    /// # Errors
    /// They cannot be read.
    fn get(&self, place: u64, length: usize) -> io::Result<Vec<u8>>;
}

/// The place of a session in its recording, from which it can be read again by itself.
pub trait RecordedAt: Send + Sync {
    /// Its content, without what only its handle knows.
    ///
    /// # Errors Something else is there now, or it cannot be read.
    fn read(&self) -> Result<Session, NotRestored>;

    /// Identifies the place and its content: equal values have equal content.
    fn mark(&self) -> u64;
}

/// A session that was read: its data for lists, and access to its content.
pub struct StoredSession {
    /// The recording's own id, see [`Session::id`].
    pub id: Arc<str>,
    /// The file and place that it was read from.
    pub origin: Origin,
    /// Title for people.
    pub title: Option<Arc<str>>,
    /// The first instant that was recorded.
    pub began: Option<Millis>,
    /// Problems of the recording.
    pub diagnostics: Box<[Diagnostic]>,
    /// Number of its turns.
    pub turns: usize,
    /// Number of its calls.
    pub calls: usize,
    /// Number of its calls without a gate's decision.
    pub undecided: usize,
    parent: Option<Arc<str>>,
    tree: TreeSight,
    elsewhere: Option<Arc<Elsewhere>>,
    /// Bytes of memory, about, of the session and its decisions.
    weight: usize,
    /// Something has looked at it since its turn to leave came.
    used: AtomicBool,
    /// Whether it is queued to leave memory.
    queued: AtomicBool,
    content: Mutex<Content>,
    digest: OnceLock<u64>,
    recorded: Option<Box<dyn RecordedAt>>,
    store: Option<Arc<SessionStore>>,
}

thread_local! {
    /// A thread's buffer for packing sessions.
    static ROOM: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}
/// Most bytes of it that a thread keeps.
const MOST_ROOM: usize = 1 << 20;

/// The fraction of memory that is used if all of it would be too little.
const FEW: usize = 8;

/// Where the content of a session is: in memory, outside, or both.
#[derive(Default)]
struct Content {
    session: Option<Arc<Session>>,
    outside: Option<Outside>,
}

/// Where the content is stored outside memory.
#[derive(Clone)]
struct Outside {
    place: u64,
    length: usize,
    digest: u64,
    refusals: Arc<Refusals>,
}

/// The content of a session cannot be had back.
#[derive(Debug, thiserror::Error)]
pub enum NotRestored {
    /// It cannot be read.
    #[error("the session cannot be read back: {0}")]
    System(#[from] io::Error),
    /// Something else is there.
    #[error("the session cannot be read back: its bytes were changed")]
    Changed,
    /// Its recording is another file by now.
    #[error("its recording was changed after it was read")]
    Recording,
}

/// The sessions with content in memory, bounded in size.
pub struct SessionStore {
    outside: Box<dyn ByteStore>,
    /// Bytes that they may take.
    most: usize,
    /// Whether there are too many for all of them to stay.
    overflows: AtomicBool,
    /// In order of arrival.
    queue: Mutex<VecDeque<Weak<StoredSession>>>,
    weight: AtomicUsize,
    outgrown: AtomicBool,
    fault: OnceLock<String>,
}

impl StoredSession {
    /// One that stays in memory.
    pub fn resident(session: Arc<Session>) -> Arc<StoredSession> {
        Arc::new(StoredSession::new(session, None, None))
    }

    fn new(
        session: Arc<Session>,
        recorded: Option<Box<dyn RecordedAt>>,
        store: Option<Arc<SessionStore>>,
    ) -> StoredSession {
        StoredSession {
            id: Arc::clone(&session.id),
            origin: session.origin.clone(),
            title: session.title.clone(),
            began: session.began,
            diagnostics: session.diagnostics.clone().into(),
            turns: session.turns.len(),
            calls: session.calls.len(),
            undecided: session.calls.iter().filter(|call| call.live.is_none()).count(),
            parent: session.parent.clone(),
            tree: session.facts.tree.clone(),
            elsewhere: session.elsewhere.clone(),
            weight: weight(&session),
            used: AtomicBool::new(false),
            queued: AtomicBool::new(false),
            content: Mutex::new(Content { session: Some(session), outside: None }),
            digest: OnceLock::new(),
            recorded,
            store,
        }
    }

    /// Its content. If that has left memory it is restored, which takes some microseconds for each 10 KB.
    ///
    /// # Errors It cannot be restored.
    pub fn session(self: &Arc<Self>) -> Result<Arc<Session>, NotRestored> {
        let mut content = self.content();
        if let Some(session) = &content.session {
            self.used.store(true, Ordering::Relaxed);
            return Ok(Arc::clone(session));
        }
        let Some(store) = &self.store else { return Err(NotRestored::Changed) };
        let parts = match (&self.recorded, &content.outside) {
            (Some(recorded), _) => parts(recorded.read()?),
            (None, Some(outside)) => outside.parts(store)?,
            (None, None) => return Err(NotRestored::Changed),
        };
        let session = Arc::new(self.whole(parts));
        content.session = Some(Arc::clone(&session));
        drop(content);
        store.admit(self);
        Ok(session)
    }

    fn whole(&self, parts: Parts) -> Session {
        let Parts { mut facts, offered, messages, turns, calls, alternatives } = parts;
        facts.tree = self.tree.clone();
        Session {
            id: Arc::clone(&self.id),
            origin: self.origin.clone(),
            title: self.title.clone(),
            began: self.began,
            facts: Arc::new(facts),
            parent: self.parent.clone(),
            offered,
            messages,
            turns,
            calls,
            alternatives,
            elsewhere: self.elsewhere.clone(),
            diagnostics: self.diagnostics.to_vec(),
        }
    }

    /// Whether its content may leave memory: there have been more sessions than fit into it.
    pub fn may_leave(&self) -> bool {
        self.store.as_ref().is_some_and(|store| store.is_outgrown())
    }

    /// Releases a session after all of it was used, as by a screen. By then it takes several times its weight, with
    /// texts and trees of what was shown, so if sessions leave memory it does so at once.
    pub fn put_down(&self) {
        let Some(store) = self.store.as_ref().filter(|store| store.is_outgrown() && store.fault().is_none())
        else {
            return;
        };
        if let Err(error) = self.leave(store) {
            let _ = store.fault.set(error.to_string());
        }
    }

    /// Bytes of memory that it takes now, about.
    pub fn weight_in_memory(&self) -> usize {
        if self.content().session.is_some() { self.weight } else { HANDLE }
    }

    /// Whether its content is in memory now.
    #[cfg(test)]
    pub fn is_in_memory(&self) -> bool {
        self.content().session.is_some()
    }

    /// Whether its content was written anywhere when it left memory.
    #[cfg(test)]
    pub fn was_written(&self) -> bool {
        self.content().outside.is_some()
    }

    /// Whether it is equal to another one, content and all. What cannot be read back is equal to nothing.
    pub fn is_equal(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        let facts = |of: &Self| (of.turns, of.calls, of.weight, of.began);
        if facts(self) != facts(other) || self.id != other.id {
            return false;
        }
        let alone = self.elsewhere.is_none() && other.elsewhere.is_none();
        let same = |same: bool| {
            let facts = |of: &Self| (of.origin.clone(), of.title.clone(), of.parent.clone());
            same && facts(self) == facts(other)
                && (&self.tree, &self.diagnostics) == (&other.tree, &other.diagnostics)
        };
        // One that has moved within its file is another one: at its old place it cannot be read any more.
        match (&self.recorded, &other.recorded) {
            (Some(own), Some(other)) if alone || own.mark() != other.mark() => {
                return same(own.mark() == other.mark());
            }
            (Some(_), None) | (None, Some(_)) => return false,
            _ => {}
        }
        if let (Some(own), Some(digest)) = (self.digest.get(), other.digest.get())
            && alone
        {
            return same(own == digest);
        }
        self.session().ok().zip(other.session().ok()).is_some_and(|(own, other)| own == other)
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves memory. Content that is in use stays until it is released.
    fn leave(&self, store: &SessionStore) -> io::Result<()> {
        let mut content = self.content();
        let Some(session) = &content.session else { return Ok(()) };
        if content.outside.is_none() && self.recorded.is_none() {
            let (bytes, refusals) = pack(session, ROOM.take());
            let digest = digest(&bytes);
            let place = store.outside.put(&bytes)?;
            let _ = self.digest.set(digest);
            let (length, refusals) = (bytes.len(), Arc::new(refusals));
            content.outside = Some(Outside { place, length, digest, refusals });
            if bytes.capacity() <= MOST_ROOM {
                let mut room = bytes;
                room.clear();
                ROOM.set(room);
            }
        }
        let session = content.session.take();
        drop(content);
        drop(session);
        store.weight.fetch_sub(self.weight, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for StoredSession {
    fn drop(&mut self) {
        let content = self.content.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let (Some(_), Some(store)) = (&content.session, &self.store) {
            store.weight.fetch_sub(self.weight, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for StoredSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredSession").field("id", &self.id).field("origin", &self.origin).finish()
    }
}

impl SessionStore {
    /// One that keeps sessions of about this many bytes in memory, and others in `outside`.
    pub fn new(outside: Box<dyn ByteStore>, most: usize) -> Arc<SessionStore> {
        Arc::new(SessionStore {
            outside,
            most,
            overflows: AtomicBool::new(false),
            queue: Mutex::default(),
            weight: AtomicUsize::new(0),
            outgrown: AtomicBool::new(false),
            fault: OnceLock::new(),
        })
    }

    /// Sets the approximate size of the recordings. If they do not fit into memory, only recently used ones stay:
    /// others would be in memory by chance, and cost a third of the time that reading takes.
    pub fn expect(&self, bytes: u64) {
        self.overflows.store(bytes > self.most as u64, Ordering::Relaxed);
    }

    fn most(&self) -> usize {
        if self.overflows.load(Ordering::Relaxed) { self.most / FEW } else { self.most }
    }

    /// Takes in a session that was read.
    #[cfg(test)]
    pub fn put(self: &Arc<Self>, session: Session) -> Arc<StoredSession> {
        let stored = self.hold(Arc::new(session), None);
        self.keep(&stored);
        stored
    }

    /// Adds a session that was read, which stays in memory until it is [released](Self::release), because it is used at
    /// once. It is read again from its recording, if that is possible.
    pub fn hold(
        self: &Arc<Self>,
        session: Arc<Session>,
        recorded: Option<Box<dyn RecordedAt>>,
    ) -> Arc<StoredSession> {
        let stored = StoredSession::new(session, recorded, Some(Arc::clone(self)));
        self.weight.fetch_add(stored.weight, Ordering::Relaxed);
        Arc::new(stored)
    }

    /// Allows a held session to leave memory. One that is not needed `soon` does so at once if memory is full: it is
    /// still in the processor's cache, and those that came first stay.
    pub fn release(self: &Arc<Self>, stored: &Arc<StoredSession>, soon: bool) {
        if soon || self.weight.load(Ordering::Relaxed) <= self.most() || self.fault.get().is_some() {
            return self.keep(stored);
        }
        self.outgrown.store(true, Ordering::Relaxed);
        if let Err(error) = stored.leave(self) {
            let _ = self.fault.set(error.to_string());
            self.keep(stored);
        }
    }

    /// Whether there have been more sessions than fit into memory.
    pub fn is_outgrown(&self) -> bool {
        self.outgrown.load(Ordering::Relaxed)
    }

    /// The reason, if sessions cannot leave memory.
    pub fn fault(&self) -> Option<&str> {
        self.fault.get().map(String::as_str)
    }

    /// The content of a session is in memory again.
    fn admit(&self, stored: &Arc<StoredSession>) {
        self.weight.fetch_add(stored.weight, Ordering::Relaxed);
        self.keep(stored);
    }

    /// The content of a session stays in memory; that of others may have to leave.
    fn keep(&self, stored: &Arc<StoredSession>) {
        if !stored.queued.swap(true, Ordering::Relaxed) {
            self.queue().push_back(Arc::downgrade(stored));
        }
        while self.weight.load(Ordering::Relaxed) > self.most() && self.fault.get().is_none() {
            self.outgrown.store(true, Ordering::Relaxed);
            let Some(first) = self.next_to_leave() else { return };
            if let Err(error) = first.leave(self) {
                // Said once. Memory grows from here on, but nothing is lost.
                let _ = self.fault.set(error.to_string());
                first.queued.store(true, Ordering::Relaxed);
                self.queue().push_front(Arc::downgrade(&first));
            }
        }
    }

    /// The one that came first of those that nothing has looked at since; at the second time in any case.
    fn next_to_leave(&self) -> Option<Arc<StoredSession>> {
        let mut queue = self.queue();
        loop {
            let Some(first) = queue.pop_front()?.upgrade() else { continue };
            if !first.used.swap(false, Ordering::Relaxed) {
                first.queued.store(false, Ordering::Relaxed);
                return Some(first);
            }
            queue.push_back(Arc::downgrade(&first));
        }
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<Weak<StoredSession>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outside {
    fn parts(&self, store: &SessionStore) -> Result<Parts, NotRestored> {
        let bytes = store.outside.get(self.place, self.length)?;
        let known = Some(bytes).filter(|bytes| digest(bytes) == self.digest);
        known.and_then(|bytes| unpack(&bytes, &self.refusals)).ok_or(NotRestored::Changed)
    }
}

/// The parts of a session that its handle does not keep.
fn parts(session: Session) -> Parts {
    let Session { facts, offered, messages, turns, calls, alternatives, .. } = session;
    Parts { facts: Arc::unwrap_or_clone(facts), offered, messages, turns, calls, alternatives }
}

fn digest(bytes: &[u8]) -> u64 {
    Checksum::oneshot(bytes)
}

#[cfg(test)]
mod tests;
