//! Faults of a text that should be JSON.

use std::sync::atomic::{AtomicBool, Ordering};

use serde::de::IgnoredAny;

use super::json::{is_plain, parse, reserved_key};

/// Why recorded text is not a usable JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It is not JSON.
    NotJson,
    /// It nests deeper than 127 levels.
    TooDeep,
    /// It has a key that serde_json reserves.
    ReservedKey,
}

impl Fault {
    /// Why no path can look into this text. Builds no tree if the text alone can tell.
    pub(super) fn of(text: &str) -> Option<Fault> {
        if is_plain(text) {
            return None;
        }
        if reserved_key(text) {
            return Some(Fault::ReservedKey);
        }
        let valid = serde_json::from_str::<IgnoredAny>(text);
        if valid.is_err() {
            return Some(Fault::NotJson);
        }
        // Skipping over the value does not check depth and halves of surrogate pairs.
        let brackets = text.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count();
        let deep = brackets > 100;
        if (deep || text.contains("\\u")) && parse(text).is_none() {
            return Some(if deep { Fault::TooDeep } else { Fault::NotJson });
        }
        None
    }
}

/// Whether a body is known to have no flaw that keeps rules from deciding. A call is decided more than once, but its
/// arguments are checked once.
#[derive(Default)]
pub(super) struct Cleared(AtomicBool);

impl Cleared {
    pub fn is_known(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub fn now(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
