//! What all comparisons come to.

use super::{Change, Kind, Origin};

/// Changes of many sessions, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Sessions compared.
    pub sessions: u64,
    /// Sessions in which something changed.
    pub changed: u64,
    /// By kind, in the order of [`Kind::ALL`].
    counts: [Count; Kind::ALL.len()],
}

/// Changes of one kind, or of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// While the histories were the same.
    pub primary: u64,
    /// After they had parted.
    pub downstream: u64,
    /// Of both, those that rest on what the recording is no evidence for.
    pub counterfactual: u64,
    /// Sessions that have any.
    pub sessions: u64,
    /// Besides all these, those about tools that were neither offered nor called.
    pub inferred: u64,
}

impl Totals {
    /// Counts the changes of a session.
    pub fn add(&mut self, changes: &[Change]) {
        self.sessions += 1;
        self.changed += u64::from(changes.iter().any(|change| !change.inferred));
        for (kind, count) in Kind::ALL.into_iter().zip(&mut self.counts) {
            let before = count.sum();
            for change in changes.iter().filter(|change| change.kind == kind) {
                if change.inferred {
                    count.inferred += 1;
                    continue;
                }
                match change.origin {
                    Origin::Primary => count.primary += 1,
                    Origin::Downstream => count.downstream += 1,
                }
                count.counterfactual += u64::from(change.counterfactual);
            }
            count.sessions += u64::from(count.sum() > before);
        }
    }

    /// Counts what others counted.
    pub fn merge(&mut self, other: &Totals) {
        self.sessions += other.sessions;
        self.changed += other.changed;
        for (count, other) in self.counts.iter_mut().zip(other.counts) {
            count.add(other);
        }
    }

    /// Changes of one kind.
    pub fn of(&self, kind: Kind) -> Count {
        self.counts.get(kind as usize).copied().unwrap_or_default()
    }

    /// Changes of every kind.
    pub fn all(&self) -> Count {
        let mut all = Count::default();
        self.counts.iter().for_each(|count| all.add(*count));
        all.sessions = self.changed;
        all
    }
}

impl Count {
    /// Primary and downstream.
    pub fn sum(self) -> u64 {
        self.primary + self.downstream
    }

    /// Those that are shown, the inferred ones included.
    pub fn shown(self) -> u64 {
        self.sum() + self.inferred
    }

    fn add(&mut self, other: Count) {
        self.primary += other.primary;
        self.downstream += other.downstream;
        self.counterfactual += other.counterfactual;
        self.sessions += other.sessions;
        self.inferred += other.inferred;
    }
}
