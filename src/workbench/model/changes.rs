//! What is otherwise between two versions, over all sessions: groups of one kind, origin and rule each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Model;
use crate::compare::{At, Change, Comparison, Kind, Origin, RuleAt};

/// The changes between the version that decides and what it is compared with, as far as sessions are compared.
#[derive(Default)]
pub struct Changes {
    /// The two versions; `None` before any edit, unless a base was chosen.
    pub comparison: Option<Arc<Comparison>>,
    /// When the version before was loaded, as people write it; or the name of the base that was chosen.
    pub since: String,
    /// In the order shown; in each the entries and the places among an entry's changes.
    groups: BTreeMap<Group, BTreeSet<(usize, usize)>>,
    /// How many changes there are in all of them.
    count: usize,
    /// Sessions that were compared.
    compared: usize,
    /// Sessions in which something changed.
    changed: usize,
    /// How many decisions changed is still to be told, once it is known.
    pub to_tell: bool,
}

/// What changes are listed under, in the order shown: those of inferred tools last; by kind, the newly allowed first; primary
/// before downstream; by rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group {
    /// Whether they are about tools that the recording neither lists nor calls.
    pub inferred: bool,
    /// Their kind.
    pub kind: Kind,
    /// Whether they follow from others.
    pub origin: Origin,
    /// The rule that they are about.
    pub rule: Option<RuleAt>,
}

/// A row of the list of changes.
#[derive(Debug, Clone, Copy)]
pub enum ChangeRow<'m> {
    /// The heading of a group, and how many changes it holds.
    Group(Group, usize),
    /// A change, and the entry it is in.
    Change(usize, &'m Change),
}

impl Group {
    /// Of a change.
    #[must_use]
    pub fn of(change: &Change) -> Self {
        Self { inferred: change.inferred, kind: change.kind, origin: change.origin, rule: change.rule }
    }
}

impl Changes {
    /// Of a new pair of versions, or of another mode: nothing is compared yet.
    pub fn clear(&mut self) {
        (self.groups, self.count, self.compared, self.changed) = (BTreeMap::new(), 0, 0, 0);
    }

    /// How many.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Rows of the list: the changes and a heading a group.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.count + self.groups.len()
    }

    /// The groups in the order shown, and how many changes each holds.
    pub fn groups(&self) -> impl Iterator<Item = (Group, usize)> {
        self.groups.iter().map(|(group, places)| (*group, places.len()))
    }

    /// Sessions that were compared, and those in which nothing changed but inferred tools.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        (self.compared, self.compared - self.changed)
    }

    /// The row of a group's heading.
    #[must_use]
    pub fn row_of(&self, wanted: Group) -> Option<usize> {
        self.groups
            .contains_key(&wanted)
            .then(|| self.groups.range(..wanted).map(|(_, places)| places.len() + 1).sum())
    }

    fn add(&mut self, entry: usize, changes: &[Change]) {
        self.compared += 1;
        self.changed += usize::from(counts(changes));
        self.count += changes.len();
        for (place, change) in changes.iter().enumerate() {
            self.groups.entry(Group::of(change)).or_default().insert((entry, place));
        }
    }

    fn remove(&mut self, entry: usize, changes: &[Change]) {
        self.compared -= 1;
        self.changed -= usize::from(counts(changes));
        self.count -= changes.len();
        for (place, change) in changes.iter().enumerate() {
            let group = Group::of(change);
            if let Some(places) = self.groups.get_mut(&group) {
                places.remove(&(entry, place));
                if places.is_empty() {
                    self.groups.remove(&group);
                }
            }
        }
    }
}

/// Whether any is more than about a tool that may be none.
fn counts(changes: &[Change]) -> bool {
    changes.iter().any(|change| !change.inferred)
}

impl Model {
    /// The rows of the list of changes from `from` on.
    pub fn change_rows(&self, from: usize) -> impl Iterator<Item = ChangeRow<'_>> {
        let mut skip = from;
        self.changes.groups.iter().flat_map(move |(group, places)| {
            let skipped = skip.min(places.len() + 1);
            skip -= skipped;
            let heading = (skipped == 0).then_some(ChangeRow::Group(*group, places.len()));
            let changes = places.iter().skip(skipped.saturating_sub(1));
            let changes = changes.filter_map(|at| Some(ChangeRow::Change(at.0, self.change(*at)?)));
            heading.into_iter().chain(changes)
        })
    }

    /// All changes in the order shown: the entry of each, and the change.
    pub fn all_changes(&self) -> impl Iterator<Item = (usize, &Change)> {
        let places = self.changes.groups.values().flatten();
        places.filter_map(|at| Some((at.0, self.change(*at)?)))
    }

    /// How many calls are decided otherwise.
    #[must_use]
    pub fn changed_decisions(&self) -> usize {
        self.all_changes().filter(|(_, change)| matches!(change.at, At::Call(_) | At::Alternative(_))).count()
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

    fn change(&self, (entry, place): (usize, usize)) -> Option<&Change> {
        self.entries.get(entry)?.changes.as_ref()?.get(place)
    }
}
