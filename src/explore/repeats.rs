//! Sessions that were recorded or collected twice: the same calls, times and ids, whatever the names of the files.
//!
//! A session that begins with the calls of another one and then continues is a fork of it: those calls are copies.
//!
//! Two runs of one task may look alike. Only times and ids of calls distinguish them; a session without any is never
//! taken for another.

use std::collections::HashMap;
use std::sync::Arc;

use super::identity::Identity;
use rulestep_base::session::{Call, Session};

/// The identity of a session; `None` if nothing distinguishes it.
pub fn mark(session: &Session) -> Option<Identity> {
    let timed = session.messages.iter().any(|message| message.at.is_some());
    let tells = timed || session.calls.iter().any(|call| call.time.is_some() || call.id.is_some());
    tells.then(|| Identity::as_recorded(session))
}

/// The identity of a session's beginning: the time, the id and all else of its first call. `None` if nothing
/// distinguishes it, if it is known to be a copy, and after the first session of a file: agents write a fork to a file
/// of its own, and to read one of many sessions of a file again takes as long as to read those before it.
pub fn beginning(session: &Session) -> Option<Identity> {
    if session.origin.index > 0 {
        return None;
    }
    let first = session.calls.first().filter(|first| !first.copied)?;
    let (id, time) = first.id.as_deref().zip(first.time)?;
    Some(Identity::of_text(&[id, &time.to_string(), &first.tool, first.arguments.raw()].join("\0")))
}

/// Marks the calls of a session with which another one begins as well; not those of one that is there twice.
pub fn mark_copies(session: &mut Session, earlier: &Session) {
    if Identity::as_recorded(session) == Identity::as_recorded(earlier) {
        return;
    }
    let same = |(own, other): &(&mut Call, &Call)| {
        (&own.id, own.time, &own.tool, own.arguments.raw())
            == (&other.id, other.time, &other.tool, other.arguments.raw())
    };
    let calls = session.calls.iter_mut().zip(&earlier.calls);
    calls.take_while(same).for_each(|(own, _)| own.copied = true);
}

/// The place of a session: its file, and its index there.
pub type SessionPlace = (Arc<str>, usize);

/// The sessions so far, and those that were there before.
#[derive(Debug, Default)]
pub struct Repeats {
    seen: HashMap<Identity, Arc<str>>,
    count: u64,
    first: Option<(Arc<str>, Arc<str>)>,
    /// The first session that begins so.
    beginnings: HashMap<Identity, SessionPlace>,
}

impl Repeats {
    /// Whether a session of this file is one that is there already.
    pub fn is_repeated(&mut self, mark: Option<Identity>, file: &Arc<str>) -> bool {
        let Some(mark) = mark else { return false };
        match self.seen.get(&mark) {
            None => {
                self.seen.insert(mark, Arc::clone(file));
                false
            }
            Some(earlier) => {
                self.count += 1;
                self.first.get_or_insert_with(|| (Arc::clone(earlier), Arc::clone(file)));
                true
            }
        }
    }

    /// The session that began so before, if it is another one.
    pub fn begun(&mut self, beginning: Option<Identity>, place: SessionPlace) -> Option<SessionPlace> {
        let first = self.beginnings.entry(beginning?).or_insert_with(|| place.clone());
        (*first != place).then(|| first.clone())
    }

    /// The number of sessions that are left out.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The files of the first of them: of the first reading, and of the repeat.
    pub fn first(&self) -> Option<&(Arc<str>, Arc<str>)> {
        self.first.as_ref()
    }
}
