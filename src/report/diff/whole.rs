//! What is kept of sessions until all of them are compared.

use std::collections::BTreeMap;

use super::View;
use super::entry::Entry;
use crate::compare::{Effects, Kind, Origin, RuleAt, Totals};
use crate::report::RunCounts;

/// One session, compared and written: small beside the session.
pub struct Part {
    /// What each output writes of it at once.
    pub bytes: Vec<Vec<u8>>,
    pub(super) totals: Totals,
    pub(super) effects: Effects,
    pub(super) groups: Vec<(Key, ChangeGroup)>,
    pub(super) case: Option<Case>,
}

/// All sessions.
#[derive(Default)]
pub struct DiffResult {
    /// Changes, counted.
    pub totals: Totals,
    /// What is wrong with recordings, counted; and whether the work was broken off.
    pub told: RunCounts,
    /// What altered rules match.
    pub(super) effects: Effects,
    pub(super) groups: BTreeMap<Key, ChangeGroup>,
    pub(super) cases: Vec<Case>,
}

pub type Key = (Kind, Option<RuleAt>);

/// Changes of one kind and one rule.
#[derive(Default)]
pub struct ChangeGroup {
    pub(super) count: u64,
    pub(super) sessions: u64,
    /// Some of them, in words: primary ones, then downstream ones.
    pub(super) entries: [Vec<Entry>; 2],
}

/// A session as a test.
pub struct Case {
    pub(super) session: String,
    pub(super) file: String,
    /// Calls that are not compared; and whether the others are any.
    pub(super) uncompared: u64,
    pub(super) is_compared: bool,
    /// Kinds that are a failure, and how often they are there.
    pub(super) failing: Vec<(Kind, u64)>,
    pub(super) lines: Vec<String>,
}

impl DiffResult {
    /// Takes the next session in.
    pub fn take(&mut self, part: Part, most: usize) {
        self.totals.merge(&part.totals);
        self.effects.merge(&part.effects);
        for (key, more) in part.groups {
            let group = self.groups.entry(key).or_default();
            group.count += more.count;
            group.sessions += more.sessions;
            more.entries.into_iter().flatten().for_each(|entry| group.take(entry, most));
        }
        self.cases.extend(part.case);
    }

    /// Changes of a kind: of sessions, or of rules.
    pub fn count(&self, kind: Kind, view: &View<'_>) -> u64 {
        self.totals.of(kind).sum() + view.rules(kind)
    }

    /// Changes that are a failure.
    pub fn failures(&self, view: &View<'_>) -> u64 {
        view.fails.iter().map(|kind| self.count(*kind, view)).sum()
    }

    /// The groups of a kind in the order of their rules, those after the others in which nothing is primary.
    pub(super) fn of(&self, kind: Kind) -> Vec<(Option<RuleAt>, &ChangeGroup)> {
        let groups = self.groups.iter().filter(|((other, _), _)| *other == kind);
        let mut groups: Vec<_> = groups.map(|((_, rule), gathered)| (*rule, gathered)).collect();
        groups.sort_by_key(|(_, gathered)| gathered.entries.first().is_none_or(Vec::is_empty));
        groups
    }
}

impl ChangeGroup {
    pub(super) fn take(&mut self, entry: Entry, most: usize) {
        let [primary, downstream] = &mut self.entries;
        let entries = if entry.origin == Origin::Primary { primary } else { downstream };
        if entries.len() < most {
            entries.push(entry);
        }
    }

    /// What is shown: primary ones first.
    pub(super) fn shown(&self, most: usize) -> impl Iterator<Item = &Entry> {
        self.entries.iter().flatten().take(most)
    }

    /// How many changes are not shown.
    pub(super) fn rest(&self, most: usize) -> u64 {
        self.count.saturating_sub(self.shown(most).map(|entry| entry.changes).sum())
    }
}
