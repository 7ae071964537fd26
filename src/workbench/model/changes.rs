//! The changes between two versions, over all sessions: groups of one kind, origin and rule each.

use rulestep_base::session::{Body, Session};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::compare::{Change, ChangePlace, Comparison, Kind, Origin, RuleAt, Side};
use rulestep_engine::monitor::RuleId;

/// The changes between the version that decides and the base, in the sessions compared so far.
#[derive(Default)]
pub struct Changes {
    /// The two versions; `None` before any edit, unless a base was chosen.
    pub comparison: Option<Arc<Comparison>>,
    /// When the version before was loaded, as people write it; or the name of the base that was chosen.
    pub since: String,
    /// In the order shown; in each the entries and the indices of an entry's changes.
    pub(super) groups: BTreeMap<Group, BTreeSet<(usize, usize)>>,
    /// The number of changes in all of them.
    count: usize,
    /// Sessions that were compared.
    compared: usize,
    /// Sessions with changes.
    changed: usize,
    /// The number of an entry's calls without a decision in the base, if there are any.
    uncompared: BTreeMap<usize, usize>,
    /// Whether the number of changed decisions is still to be reported, once it is known.
    pub to_tell: bool,
}

/// A group in the list of changes, in the order shown: those of inferred tools last; by kind, the newly allowed first;
/// primary before downstream; by rule.
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
    pub fn of(change: &Change) -> Self {
        Self { inferred: change.inferred, kind: change.kind, origin: change.origin, rule: change.rule }
    }
}

impl Changes {
    /// For a new pair of versions, or another mode: nothing is compared yet.
    pub fn clear(&mut self) {
        (self.groups, self.count, self.compared, self.changed) = (BTreeMap::new(), 0, 0, 0);
        self.uncompared.clear();
    }

    /// Notes how many calls of an entry the base says nothing of.
    pub(super) fn note(&mut self, entry: usize, calls: usize) {
        match calls {
            0 => self.uncompared.remove(&entry),
            _ => self.uncompared.insert(entry, calls),
        };
    }

    /// Calls of compared sessions that the base says nothing of.
    pub fn uncompared(&self) -> usize {
        self.uncompared.values().sum()
    }

    /// The number of groups.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no changes.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Rows of the list: the changes and a heading a group.
    pub fn rows(&self) -> usize {
        self.count + self.groups.len()
    }

    /// The groups in the order shown, and how many changes each holds.
    pub fn groups(&self) -> impl Iterator<Item = (Group, usize)> {
        self.groups.iter().map(|(group, places)| (*group, places.len()))
    }

    /// Compared sessions, and those in which nothing changed except inferred tools.
    pub fn counts(&self) -> (usize, usize) {
        (self.compared, self.compared - self.changed)
    }

    /// The row of a group's heading.
    pub fn row_of(&self, wanted: Group) -> Option<usize> {
        self.groups
            .contains_key(&wanted)
            .then(|| self.groups.range(..wanted).map(|(_, places)| places.len() + 1).sum())
    }

    /// Adds what changed in an entry; of one that the list of sessions does not keep, only that it was compared.
    pub(super) fn add(&mut self, entry: usize, changes: &[Change], listed: bool) {
        self.compared += 1;
        self.changed += usize::from(counts(changes));
        if !listed {
            return;
        }
        self.count += changes.len();
        for (place, change) in changes.iter().enumerate() {
            self.groups.entry(Group::of(change)).or_default().insert((entry, place));
        }
    }

    pub(super) fn remove(&mut self, entry: usize, changes: &[Change]) {
        self.compared -= 1;
        self.changed -= usize::from(counts(changes));
        for (place, change) in changes.iter().enumerate() {
            let group = Group::of(change);
            if let Some(places) = self.groups.get_mut(&group) {
                self.count -= usize::from(places.remove(&(entry, place)));
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

/// A rule in both versions, as far as they have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pair {
    /// Its number in the base.
    pub base: Option<RuleId>,
    /// Its number in the new version.
    pub new: Option<RuleId>,
}

impl Pair {
    /// For a rule of one of two versions.
    pub fn of(comparison: &Comparison, rule: RuleAt) -> Self {
        let pairs = comparison.rules();
        // The rules of one version are at the same places on both sides.
        let same = comparison.is_same().then_some(rule.rule);
        match rule.side {
            Side::Base => Pair { base: Some(rule.rule), new: same.or_else(|| pairs.in_new(rule.rule)) },
            Side::New => Pair { base: same.or_else(|| pairs.in_base(rule.rule)), new: Some(rule.rule) },
        }
    }
}

/// The tool and the arguments of a call, of a choice that was not taken as well.
pub fn called(session: &Session, at: ChangePlace) -> Option<(Arc<str>, Body)> {
    match at {
        ChangePlace::Call(call) => {
            let call = session.calls.get(call.index as usize)?;
            Some((Arc::clone(&call.tool), call.arguments.clone()))
        }
        ChangePlace::Alternative(at) => {
            let calls = session.alternative(at.turn, at.choice)?.calls();
            let call = calls.get((at.call as usize).checked_sub(1)?)?;
            Some((Arc::clone(&call.tool), call.arguments.clone()))
        }
        ChangePlace::Turn(_) | ChangePlace::End => None,
    }
}
