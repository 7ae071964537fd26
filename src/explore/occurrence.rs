//! Occurrences in the recordings: the first and the last one.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use rulestep_base::merge::Merge;
use rulestep_base::session::{AlternativeRef, Call, CallRef, Session};
use rulestep_engine::monitor::finding::{RuleOutcome, RuleState};
use rulestep_engine::replay::Replay;

/// A call of a session, or the session itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occurrence {
    /// The session's id.
    pub session: Arc<str>,
    /// The file it was read from.
    pub file: Arc<str>,
    /// Its index in the file, from 0.
    pub index: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call: Option<CallRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    choice: Option<AlternativeRef>,
}

/// A place in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The whole session.
    Session,
    /// A call.
    Call(CallRef),
    /// A call of a choice that was not taken.
    Choice(AlternativeRef),
}

impl Occurrence {
    /// In this session.
    pub fn of(session: &Session, place: Place) -> Occurrence {
        let (call, choice) = match place {
            Place::Session => (None, None),
            Place::Call(at) => (Some(at), None),
            Place::Choice(at) => (None, Some(at)),
        };
        let (file, index) = (Arc::clone(&session.origin.file), session.origin.index);
        Occurrence { session: Arc::clone(&session.id), file, index, call, choice }
    }

    /// Where in the session.
    pub fn place(&self) -> Place {
        match (self.call, self.choice) {
            (Some(at), _) => Place::Call(at),
            (None, Some(at)) => Place::Choice(at),
            (None, None) => Place::Session,
        }
    }

    /// Sessions by the names of their files and their places in them.
    fn order(&self) -> (&str, usize) {
        (&self.file, self.index)
    }
}

/// The violated rules about the session, unenforced ones included, each with the call at fault and its occurrence;
/// without violations in a fork's past.
pub fn violations(replay: &Replay) -> impl Iterator<Item = (&RuleState, Option<&Call>, Occurrence)> {
    let session = replay.session();
    let violated =
        replay.rules().iter().filter(|state| state.outcome == RuleOutcome::Violated && !state.copied);
    violated.map(move |state| {
        let call = state.position.and_then(|index| session.calls.get(index as usize));
        let place = call.map_or(Place::Session, |call| Place::Call(call.at));
        (state, call, Occurrence::of(session, place))
    })
}

/// The first and the last time, in the order of the files' names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// The first time, if there is one.
    pub first: Option<Occurrence>,
    /// The last time.
    pub last: Option<Occurrence>,
}

impl Extent {
    /// Adds an occurrence.
    pub fn add(&mut self, occurrence: Occurrence) {
        self.first.get_or_insert_with(|| occurrence.clone());
        self.last = Some(occurrence);
    }
}

impl Extent {
    /// Adds what happened elsewhere.
    pub fn merge(&mut self, other: &Extent) {
        self.first.merge(&other.first);
        if let Some(last) = &other.last
            && self.last.as_ref().is_none_or(|known| known.order() <= last.order())
        {
            self.last = Some(last.clone());
        }
    }
}

/// The first of the two, whichever was found first: it does not depend on the order in which sessions were counted.
impl Merge for Occurrence {
    fn merge(&mut self, other: &Occurrence) {
        if other.order() < self.order() {
            *self = other.clone();
        }
    }
}

impl Merge for Extent {
    fn merge(&mut self, other: &Extent) {
        self.merge(other);
    }
}
