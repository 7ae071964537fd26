//! How often something looked at a body.

use std::sync::atomic::{AtomicU8, Ordering};

/// How often something looked at a text in passing, so that nothing was kept of what it found. Most arguments are looked at by a
/// rule or two, and what is made of all of them takes more room than the session.
#[derive(Default)]
pub(super) struct Glances(AtomicU8);

impl Glances {
    /// After this many, what escapes stand for is kept.
    pub const TEXT: u8 = 2;
    /// After this many, the value is, and whoever looks next finds it.
    pub const VALUE: u8 = 8;

    /// How many there were before this one.
    pub fn before(&self) -> u8 {
        let one_more = |glances: u8| glances.checked_add(1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).unwrap_or(u8::MAX)
    }
}
