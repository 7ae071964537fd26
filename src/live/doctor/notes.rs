//! The results of `doctor`, with their levels.

use super::super::settings::Flaw;

/// The level of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// It is as it should be.
    Fine,
    /// The user should know it.
    Warning,
    /// Whether the hook works is not proved.
    Unproved,
    /// The hook does not work.
    Error,
}

/// A checked item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its level.
    pub level: Level,
    /// The state, and what to do about it.
    pub text: String,
}

/// The results, in order.
#[derive(Default)]
pub(super) struct Notes(pub Vec<Item>);

impl Notes {
    pub fn add(&mut self, level: Level, text: String) {
        self.0.push(Item { level, text });
    }

    pub fn fine(&mut self, text: String) {
        self.add(Level::Fine, text);
    }

    pub fn unproved(&mut self, text: String) {
        self.add(Level::Unproved, text);
    }

    pub fn warn(&mut self, text: String) {
        self.add(Level::Warning, text);
    }

    pub fn error(&mut self, text: String) {
        self.add(Level::Error, text);
    }

    pub fn flaw(&mut self, flaw: Flaw) {
        self.add(if flaw.fatal { Level::Error } else { Level::Warning }, flaw.text);
    }
}
