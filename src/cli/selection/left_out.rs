//! How many sessions are left out, and why.

use std::sync::atomic::{AtomicU64, Ordering};

/// How many sessions each option leaves out. Counted on all threads.
#[derive(Default)]
pub struct LeftOut {
    /// Another shard has them.
    pub shard: AtomicU64,
    /// They began before `--since`.
    pub early: AtomicU64,
    /// They began at `--until` or later.
    pub late: AtomicU64,
    /// Their beginning is unknown.
    pub untimed: AtomicU64,
    /// They do not match `--where`.
    pub filter: AtomicU64,
}

impl LeftOut {
    fn all(&self) -> [&AtomicU64; 5] {
        let LeftOut { shard, early, late, untimed, filter } = self;
        [shard, early, late, untimed, filter]
    }

    /// All counts.
    pub fn counts(&self) -> [u64; 5] {
        self.all().map(|count| count.load(Ordering::Relaxed))
    }

    /// Takes back counts since then, and as often before.
    pub fn take_back(&self, before: [u64; 5], times: u64) {
        for (count, before) in self.all().into_iter().zip(before) {
            let since = count.load(Ordering::Relaxed).saturating_sub(before);
            count.fetch_sub(since * times, Ordering::Relaxed);
        }
    }
}
