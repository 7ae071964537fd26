//! Sessions that occur twice are used once, and that is reported.

use std::sync::{Arc, Mutex, PoisonError};

use super::screen::Screen;
use crate::explore::identity::Identity;
use crate::explore::repeats::{Repeats, SessionPlace};
use crate::report::words;

/// The sessions of a run so far.
#[derive(Default)]
pub struct Repeated(Mutex<Repeats>);

impl Repeated {
    /// Whether a session with this mark was there before.
    pub fn has(&self, mark: Option<Identity>, file: &Arc<str>) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_repeated(mark, file)
    }

    /// The session that one with this beginning is forked from, although it does not say so.
    pub fn fork_of(&self, beginning: Option<Identity>, place: SessionPlace) -> Option<SessionPlace> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).begun(beginning, place)
    }

    /// The number of sessions that are left out.
    pub fn count(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).count()
    }

    /// Says that some are left out: a sum must not look like that of all files.
    pub fn tell(&self, screen: &mut Screen) {
        let repeats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((earlier, again)) = repeats.first() else { return };
        let (count, verb) = match repeats.count() {
            1 => ("1 session".to_owned(), "was read again and counts"),
            many => (words::count(many, "session"), "were read again and count"),
        };
        screen.warn(&format!(
            "{count} {verb} once: the same calls, times and ids, as in {} and {}",
            words::name(earlier),
            words::name(again),
        ));
    }
}
