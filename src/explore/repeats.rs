//! Sessions that were recorded or collected twice: the same calls, times and ids, whatever the files are called.
//!
//! Two runs of one task may look alike. Only what says when or as what a call was made tells them apart; without a time or
//! an id of a call, a session is never taken for another.

use std::collections::HashMap;
use std::sync::Arc;

use super::identity::Identity;
use crate::session::Session;

/// What tells a session from every other one; `None` where nothing does.
pub fn mark(session: &Session) -> Option<Identity> {
    let timed = session.messages.iter().any(|message| message.at.is_some());
    let tells = timed || session.calls.iter().any(|call| call.time.is_some() || call.id.is_some());
    tells.then(|| Identity::of(session))
}

/// The sessions so far, and those that were there before.
#[derive(Debug, Default)]
pub struct Repeats {
    seen: HashMap<Identity, Arc<str>>,
    count: u64,
    first: Option<(Arc<str>, Arc<str>)>,
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

    /// How many sessions are left out.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The files of the first of them: where it was read before, and again.
    pub fn first(&self) -> Option<&(Arc<str>, Arc<str>)> {
        self.first.as_ref()
    }
}
