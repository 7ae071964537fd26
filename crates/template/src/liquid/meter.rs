//! The budget of one rendering: counted steps and counted memory, never time.
//!
//! Memory is the total that was allocated, not the amount in use: a count that only grows needs no bookkeeping when
//! values are dropped, and templates of guard conditions make little.

use super::unevaluable::Unevaluable;

/// Bytes of values and text that one rendering may make.
const MEMORY: u64 = 128 << 20;

/// The bytes that one entry of a list or an object is counted with.
const ENTRY: u64 = 48;

/// The two counters of a rendering.
#[derive(Debug)]
pub(super) struct Meter {
    steps: u64,
    memory: u64,
}

impl Meter {
    /// A meter that allows `steps` steps.
    pub(super) fn new(steps: u64) -> Self {
        Self { steps, memory: MEMORY }
    }

    /// Counts work that makes nothing.
    pub(super) fn step(&mut self, count: usize) -> Result<(), Unevaluable> {
        self.steps = self.steps.checked_sub(wide(count)).ok_or(Unevaluable::Budget)?;
        Ok(())
    }

    /// Counts text of this many UTF-16 units, before it is made.
    pub(super) fn text(&mut self, units: usize) -> Result<(), Unevaluable> {
        self.step(units)?;
        self.reserve(wide(units).saturating_mul(2))
    }

    /// Counts a list or an object of this many entries, before it is made.
    pub(super) fn entries(&mut self, entries: usize) -> Result<(), Unevaluable> {
        self.step(entries)?;
        self.reserve(wide(entries).saturating_add(1).saturating_mul(ENTRY))
    }

    fn reserve(&mut self, bytes: u64) -> Result<(), Unevaluable> {
        self.memory = self.memory.checked_sub(bytes).ok_or(Unevaluable::Memory)?;
        Ok(())
    }
}

fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
