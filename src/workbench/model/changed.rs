//! Changes over all sessions, as lists and counts.

use std::collections::BTreeMap;

use super::Model;
use super::changes::ChangeRow;
use super::texts::Hunk;
use crate::compare::{Answer, Change, Kind, Origin};

/// Columns of the screen from which both versions are side by side.
const BESIDE: u16 = 100;

/// The number of changes of an edit or a base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Changed {
    /// Decisions about calls.
    pub decisions: usize,
    /// Those of them that only follow from an earlier change.
    pub downstream: usize,
    /// Reports of calls that both versions allow.
    pub reports: usize,
    /// Outcomes of rules about sessions.
    pub rules: usize,
    /// Tools that are visible in a turn under one version only.
    pub tools: usize,
}

impl Model {
    /// The rows of the list of changes from `from` on.
    pub fn change_rows(&self, from: usize) -> impl Iterator<Item = ChangeRow<'_>> {
        let mut skip = from;
        self.basis.changes.groups.iter().flat_map(move |(group, places)| {
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
        let places = self.basis.changes.groups.values().flatten();
        places.filter_map(|at| Some((at.0, self.change(*at)?)))
    }

    /// The number of changes of each sort.
    pub fn changed(&self) -> Changed {
        let mut counts = Changed::default();
        for (_, change) in self.all_changes() {
            match change.new.answer {
                Answer::Call(_) => {
                    counts.decisions += 1;
                    counts.downstream += usize::from(change.origin == Origin::Downstream);
                }
                Answer::Report { .. } => counts.reports += 1,
                Answer::Tool { .. } => counts.tools += 1,
                Answer::Rule(_) | Answer::RuleReported => counts.rules += 1,
                // Follows from a decision about a call or from the outcome of a rule.
                Answer::Session(_) => {}
            }
        }
        counts
    }

    /// Takes in what changed in a session.
    pub fn set_changes(&mut self, at: usize, changes: Vec<Change>) {
        let base = self.basis.changes.comparison.clone();
        let Some(entry) = self.archive.entries.get_mut(at) else { return };
        if let Some(before) = entry.changes.take() {
            self.basis.changes.remove(at, &before);
        }
        self.basis.changes.note(at, entry.unknown_to(base.as_deref()));
        entry.row.changed = Some(changes.len());
        self.archive.table.note_change();
        self.basis.changes.add(at, &changes, self.archive.table.keeps(at));
        entry.changes = Some(changes);
    }

    /// Forgets all changes, of other versions or of another mode.
    pub fn forget_changes(&mut self) {
        self.basis.changes.clear();
        for entry in &mut self.archive.entries {
            (entry.changes, entry.row.changed) = (None, None);
            self.archive.table.note_change();
        }
    }

    /// Collects the changes again, since entries have other places, or others are listed.
    pub fn recount_changes(&mut self) {
        self.basis.changes.clear();
        let base = self.basis.changes.comparison.clone();
        for (at, entry) in self.archive.entries.iter().enumerate() {
            if let Some(changes) = &entry.changes {
                self.basis.changes.note(at, entry.unknown_to(base.as_deref()));
                self.basis.changes.add(at, changes, self.archive.table.keeps(at));
            }
        }
    }

    fn change(&self, (entry, place): (usize, usize)) -> Option<&Change> {
        self.archive.entries.get(entry)?.changes.as_ref()?.get(place)
    }

    /// Whether the texts of two versions are side by side.
    pub fn texts_beside(&self) -> bool {
        self.size.width >= BESIDE
    }

    /// The number of changes of each origin and kind about rules that a hunk touches, in the sessions compared so far.
    pub fn counts_of(&self, hunk: &Hunk) -> BTreeMap<(Origin, Kind), usize> {
        let mut counts = BTreeMap::new();
        for (group, count) in self.basis.changes.groups() {
            if !group.inferred && group.rule.is_some_and(|rule| hunk.rules.contains(&rule)) {
                *counts.entry((group.origin, group.kind)).or_default() += count;
            }
        }
        counts
    }

    /// The row of the first of them in the list of changes; those that follow from others come last.
    pub fn first_change_of(&self, hunk: &Hunk) -> Option<usize> {
        let groups = self.basis.changes.groups().map(|(group, _)| group);
        let own = groups.filter(|group| group.rule.is_some_and(|rule| hunk.rules.contains(&rule)));
        // After the heading.
        Some(self.basis.changes.row_of(own.min_by_key(|group| (group.inferred, group.origin))?)? + 1)
    }
}
