//! Where something happened in the recordings: the first and the last time.

use std::sync::Arc;

use crate::session::{CallRef, Session};

/// A call of a session, or the session itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// The file it was read from.
    pub file: Arc<str>,
    /// The session's id.
    pub session: Arc<str>,
    /// The call; `None` for what is about the whole session.
    pub call: Option<CallRef>,
}

impl Occurrence {
    /// In this session.
    pub fn of(session: &Session, call: Option<CallRef>) -> Occurrence {
        Occurrence { file: Arc::clone(&session.origin.file), session: Arc::clone(&session.id), call }
    }
}

/// The first and the last time, in the order of the recordings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extent {
    /// The first time, if there is one.
    pub first: Option<Occurrence>,
    /// The last time.
    pub last: Option<Occurrence>,
}

impl Extent {
    /// It happened once more.
    pub fn add(&mut self, occurrence: Occurrence) {
        self.first.get_or_insert_with(|| occurrence.clone());
        self.last = Some(occurrence);
    }

    /// Adds what happened in later sessions.
    pub fn merge(&mut self, later: &Extent) {
        if self.first.is_none() {
            self.first.clone_from(&later.first);
        }
        if later.last.is_some() {
            self.last.clone_from(&later.last);
        }
    }
}
