//! The recordings that were not read completely, by name, for outputs that list them.

use std::collections::BTreeMap;

use super::diagnostic::{self, Style};
use rulestep_base::diagnostic::{Diagnostic, Severity};

/// Problems of a file that are kept: what else is wrong with it is on standard error.
const PROBLEMS: usize = 20;

/// Recordings that were not read whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unread {
    files: BTreeMap<String, UnreadFile>,
}

/// The problems of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnreadFile {
    /// Its errors: the sentence alone, and the whole diagnostic.
    pub problems: Vec<(String, String)>,
    /// Whether it had no session.
    pub skipped: bool,
}

impl Unread {
    /// Keeps the errors among these, which make results incomplete.
    pub fn note(&mut self, diagnostics: &[Diagnostic]) {
        for told in diagnostics.iter().filter(|told| told.severity == Severity::Error) {
            let name = told.place().map_or("", |place| place.file());
            let problems = &mut self.files.entry(name.to_owned()).or_default().problems;
            if problems.len() < PROBLEMS {
                problems.push((told.message.clone(), diagnostic::text(told, Style::default())));
            }
        }
    }

    /// These files gave no session.
    pub fn skip<'n>(&mut self, names: impl Iterator<Item = &'n String>) {
        names.for_each(|name| self.files.entry(name.clone()).or_default().skipped = true);
    }

    /// Adds what others found.
    pub fn merge(&mut self, other: &Unread) {
        for (name, more) in &other.files {
            let file = self.files.entry(name.clone()).or_default();
            file.skipped |= more.skipped;
            let room = PROBLEMS.saturating_sub(file.problems.len());
            file.problems.extend(more.problems.iter().take(room).cloned());
        }
    }

    /// The files by name; what is wrong with no file in particular is under an empty one.
    pub fn files(&self) -> impl Iterator<Item = (&str, &UnreadFile)> {
        self.files.iter().map(|(name, file)| (name.as_str(), file))
    }
}
