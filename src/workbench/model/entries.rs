//! The list of sessions: in the order of their files, whatever order they are read in.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::{Entry, Model};
use crate::session::Session;

/// The files of recordings, in their order.
#[derive(Debug, Default)]
pub struct Files {
    order: Vec<Arc<str>>,
    ranks: HashMap<Arc<str>, usize>,
}

impl Files {
    /// These, in this order; each name stands for one file.
    #[must_use]
    pub fn new(order: Vec<Arc<str>>) -> Self {
        let ranks = order.iter().enumerate().map(|(rank, file)| (Arc::clone(file), rank)).collect();
        Self { order, ranks }
    }

    /// Whether it is these, in this order.
    #[must_use]
    pub fn are(&self, order: &[Arc<str>]) -> bool {
        self.order == order
    }

    /// The place of a file; behind all others where it is not among them.
    #[must_use]
    pub fn rank(&self, file: &str) -> usize {
        self.ranks.get(file).copied().unwrap_or(self.order.len())
    }

    /// Whether it is among them.
    #[must_use]
    pub fn has(&self, file: &str) -> bool {
        self.ranks.contains_key(file)
    }

    /// Makes it the last of them, if it is none yet.
    pub fn add(&mut self, file: &Arc<str>) {
        if !self.has(file) {
            self.ranks.insert(Arc::clone(file), self.order.len());
            self.order.push(Arc::clone(file));
        }
    }
}

/// A session that was open when it went, to be opened again when it returns, unless the person goes elsewhere.
#[derive(Debug, Clone)]
pub struct Lost {
    /// Its file.
    pub file: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Where its transcript was left.
    pub left_at: super::List,
}

impl Model {
    /// The entries of a file; where it has none, the place where they belong.
    #[must_use]
    pub fn entries_of(&self, file: &str) -> Range<usize> {
        let rank = self.files.rank(file);
        let first = self.entries.partition_point(|entry| self.files.rank(&entry.file) < rank);
        let rest = self.entries.get(first..).unwrap_or_default();
        first..first + rest.partition_point(|entry| self.files.rank(&entry.file) == rank)
    }

    /// Where a session stands now that stood at `hint` once. The list shifts little, so it is looked for nearby first.
    #[must_use]
    pub fn place_of(&self, session: &Arc<Session>, hint: usize) -> Option<usize> {
        let is = |at: &usize| {
            let entry = self.entries.get(*at).and_then(|entry| entry.session.as_ref());
            entry.is_some_and(|known| Arc::ptr_eq(known, session))
        };
        let farthest = self.entries.len().max(hint);
        (0..=farthest).find_map(|by| [hint.checked_sub(by), Some(hint + by)].into_iter().flatten().find(is))
    }
}

impl Entry {
    /// Whether its session, as it is, was judged in that request.
    #[must_use]
    pub fn is_judged(&self, generation: u64) -> bool {
        let judged = self.replay.as_ref().filter(|(judged, _)| *judged == generation);
        self.session.as_ref().zip(judged).is_some_and(|(own, (_, replay))| Arc::ptr_eq(own, replay.session()))
    }

    /// Whether it stands for the same session as another one of the same file, changed or not.
    #[must_use]
    pub fn is_named_as(&self, other: &Self) -> bool {
        self.name == other.name && self.session.is_some() == other.session.is_some()
    }

    /// Whether everything that `self` says of calls still holds for `session`: it is the same one, or that one goes on.
    #[must_use]
    pub fn goes_on_as(&self, session: &Session) -> bool {
        self.session.as_ref().is_some_and(|before| {
            let pairs = before.calls.iter().zip(&session.calls);
            before.calls.len() <= session.calls.len()
                && pairs.into_iter().all(|(old, new)| {
                    (old.at, &old.tool, &old.arguments) == (new.at, &new.tool, &new.arguments)
                })
        })
    }
}
