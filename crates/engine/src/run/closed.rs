//! Forbids runs in a scope, so that tests notice a drawing thread that replays. Checked only in debug builds and tests.

use std::cell::Cell;

thread_local! {
    static CLOSED: Cell<u32> = const { Cell::new(0) };
}

/// While this lives, its thread may make no run.
pub struct Closed(());

impl Closed {
    /// From now on.
    pub fn begin() -> Self {
        CLOSED.set(CLOSED.get() + 1);
        Self(())
    }
}

impl Drop for Closed {
    fn drop(&mut self) {
        CLOSED.set(CLOSED.get() - 1);
    }
}

/// A run is made.
pub(super) fn check() {
    assert!(CLOSED.get() == 0, "the engine was entered while the screen was being changed or drawn");
}
