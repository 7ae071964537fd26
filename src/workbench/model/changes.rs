//! What the last edit of the policy changed, over all sessions.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Model;
use crate::compare::{At, Change, Comparison, Kind, Origin, RuleAt};

/// The changes between the version that decides and the one before it, as far as sessions are compared.
#[derive(Default)]
pub struct Changes {
    /// The two versions; `None` before any edit.
    pub comparison: Option<Arc<Comparison>>,
    /// When the version before was loaded, as people write it.
    pub since: String,
    /// In the order shown.
    rows: BTreeSet<Row>,
    /// Sessions that were compared.
    compared: usize,
    /// Sessions in which something changed.
    changed: usize,
    /// How many decisions changed is still to be told, once it is known.
    pub to_tell: bool,
}

/// A change, in the order shown: by kind, the newly allowed first; primary before downstream; by rule; then in the order
/// of the sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    kind: Kind,
    origin: Origin,
    rule: Option<RuleAt>,
    entry: usize,
    place: usize,
}

impl Changes {
    /// Of a new pair of versions, or of another mode: nothing is compared yet.
    pub fn clear(&mut self) {
        (self.rows, self.compared, self.changed) = (BTreeSet::new(), 0, 0);
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Sessions that were compared, and those in which nothing changed.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        (self.compared, self.compared - self.changed)
    }

    fn add(&mut self, entry: usize, changes: &[Change]) {
        self.compared += 1;
        self.changed += usize::from(!changes.is_empty());
        let row = |(place, change): (usize, &Change)| {
            let (kind, rule) = change.group();
            Row { kind, origin: change.origin, rule, entry, place }
        };
        self.rows.extend(changes.iter().enumerate().map(row));
    }

    fn remove(&mut self, entry: usize, changes: &[Change]) {
        self.compared -= 1;
        self.changed -= usize::from(!changes.is_empty());
        for (place, change) in changes.iter().enumerate() {
            let (kind, rule) = change.group();
            self.rows.remove(&Row { kind, origin: change.origin, rule, entry, place });
        }
    }
}

impl Model {
    /// The changes from the row `from` on: the entry of each, and the change.
    pub fn changes_from(&self, from: usize) -> impl Iterator<Item = (usize, &Change)> {
        self.changes.rows.iter().skip(from).filter_map(|row| {
            let changes = self.entries.get(row.entry)?.changes.as_ref()?;
            Some((row.entry, changes.get(row.place)?))
        })
    }

    /// How many calls are decided otherwise.
    #[must_use]
    pub fn changed_decisions(&self) -> usize {
        self.changes_from(0).filter(|(_, change)| matches!(change.at, At::Call(_))).count()
    }

    /// Takes in what changed in a session.
    pub fn set_changes(&mut self, at: usize, changes: Vec<Change>) {
        let Some(entry) = self.entries.get_mut(at) else { return };
        if let Some(before) = entry.changes.take() {
            self.changes.remove(at, &before);
        }
        self.changes.add(at, &changes);
        entry.changes = Some(changes);
    }

    /// Forgets all changes, of other versions or of another mode.
    pub fn forget_changes(&mut self) {
        self.changes.clear();
        self.entries.iter_mut().for_each(|entry| entry.changes = None);
    }

    /// Collects the changes anew, since entries stand elsewhere.
    pub fn recount_changes(&mut self) {
        self.changes.clear();
        for (at, entry) in self.entries.iter().enumerate() {
            if let Some(changes) = &entry.changes {
                self.changes.add(at, changes);
            }
        }
    }
}
