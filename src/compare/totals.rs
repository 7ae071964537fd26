//! Totals of all comparisons.

use super::{Base, Change, Kind, Origin, SessionDiff};
use rulestep_base::merged;
use rulestep_engine::run::Mode;

merged! {
    /// Changes of many sessions, counted.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub struct Totals {
        /// Sessions compared.
        pub sessions: u64,
        /// Sessions with changes.
        pub changed: u64,
        /// Calls without a decision in the base, so that they are not compared; always 0 for a version, which decides every
        /// call.
        pub uncompared: u64,
        /// Sessions that have calls, and only such calls.
        pub uncompared_sessions: u64,
        /// Calls that a gate decided, where that is the base.
        pub decided: u64,
        /// Those of them that it decided in shadow mode, where the comparison enforces.
        pub shadow: u64,
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
        /// Of both, the counterfactual ones.
        pub counterfactual: u64,
        /// Sessions that have any.
        pub sessions: u64,
        /// Besides all these, those about tools that were neither offered nor called.
        pub inferred: u64,
    }
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

    /// Counts the calls of a session without a decision in the base.
    pub fn note(&mut self, compared: &SessionDiff, base: &Base) {
        let calls = || compared.session().made();
        let unknown = calls().filter(|call| !base.knows(call)).count();
        self.uncompared += unknown as u64;
        self.uncompared_sessions += u64::from(unknown > 0 && unknown == calls().count());
        let decided = calls().filter_map(|call| call.live.as_deref().filter(|_| matches!(base, Base::Live)));
        for live in decided {
            self.decided += 1;
            self.shadow += u64::from(live.shadow && compared.mode() == Mode::Enforce);
        }
    }

    /// Of the compared sessions, those without changes.
    pub fn unchanged(&self) -> u64 {
        self.compared() - self.changed
    }

    /// Whether there are calls, and the base says something of none.
    pub fn nothing_compared(&self) -> bool {
        self.uncompared > 0 && self.decided == 0
    }

    /// Sessions with decisions in the base.
    pub fn compared(&self) -> u64 {
        self.sessions - self.uncompared_sessions
    }

    /// Changes of one kind.
    pub fn of(&self, kind: Kind) -> Count {
        self.counts.get(kind as usize).copied().unwrap_or_default()
    }

    /// Changes of every kind.
    pub fn all(&self) -> Count {
        let mut all = Count::default();
        self.counts.iter().for_each(|count| all.merge(count));
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
}
