//! Occurrences in the recordings: the first and the last one.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use rulestep_base::session::{AlternativeRef, Call, CallRef, Session};
use rulestep_engine::monitor::finding::{RuleOutcome, RuleState};
use rulestep_engine::replay::Replay;

/// A call of a session, or the session itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occurrence {
    /// The file it was read from.
    pub file: Arc<str>,
    /// The session's id.
    pub session: Arc<str>,
    /// Its index in the file, from 0.
    pub index: usize,
    /// The place in it.
    pub place: Place,
}

/// A place in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
        let (file, index) = (Arc::clone(&session.origin.file), session.origin.index);
        Occurrence { file, session: Arc::clone(&session.id), index, place }
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

    /// Adds what happened in other sessions.
    pub fn merge(&mut self, other: &Extent) {
        first(&mut self.first, other.first.as_ref());
        if let Some(last) = &other.last
            && self.last.as_ref().is_none_or(|known| known.order() <= last.order())
        {
            self.last = Some(last.clone());
        }
    }
}

/// The first of the two, whichever was found first: it does not depend on the order in which sessions were counted.
pub fn first(known: &mut Option<Occurrence>, other: Option<&Occurrence>) {
    if let Some(other) = other
        && known.as_ref().is_none_or(|known| other.order() < known.order())
    {
        *known = Some(other.clone());
    }
}
