//! How often a body was read.

use std::sync::atomic::{AtomicU8, Ordering};

/// How often a text was read without keeping anything. Most arguments are read by a rule or two, and keeping the parsed
/// values of all would take more room than the session.
#[derive(Default)]
pub(super) struct Glances(AtomicU8);

impl Glances {
    /// From this many on, the text without escapes is kept.
    pub const TEXT: u8 = 2;
    /// From this many on, the value is kept.
    pub const VALUE: u8 = 8;

    /// The count before this one.
    pub fn before(&self) -> u8 {
        let one_more = |glances: u8| glances.checked_add(1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).unwrap_or(u8::MAX)
    }
}
