//! The files of recordings, in order, and what each holds.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::stored::StoredSession;
use crate::workbench::list::List;
use rulestep_base::diagnostic::{Diagnostic, Severity, code};

/// The files of recordings, in their order, and what each holds.
#[derive(Debug, Default)]
pub struct Files {
    order: Vec<Arc<str>>,
    ranks: HashMap<Arc<str>, usize>,
    held: HashMap<Arc<str>, Held>,
    /// The formats that there are, and how many files have each.
    formats: BTreeMap<&'static str, usize>,
}

/// The content of a file of recordings. Counted as it is read, so that drawing a line need not count many sessions
/// again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    /// The name of its format; none where no session could be read.
    pub format: Option<&'static str>,
    /// Sessions.
    pub sessions: usize,
    /// Calls of all of them.
    pub calls: usize,
    /// Lines that were dropped, as they cannot be read.
    pub lines: usize,
    /// All that is wrong with the file and its sessions, those lines included.
    pub problems: usize,
}

impl Held {
    /// For sessions, and further problems of their file.
    pub fn of<'s>(
        sessions: impl ExactSizeIterator<Item = &'s StoredSession> + Clone,
        diagnostics: &'s [Diagnostic],
    ) -> Self {
        let own = sessions.clone().flat_map(|session| session.diagnostics.iter()).chain(diagnostics);
        let mut held = Self {
            format: sessions.clone().next().map(|session| session.origin.format),
            sessions: sessions.len(),
            calls: sessions.map(|session| session.calls).sum(),
            ..Self::default()
        };
        for diagnostic in own.filter(|diagnostic| diagnostic.severity > Severity::Notice) {
            held.problems += 1;
            held.lines += usize::from(diagnostic.code == code::DAMAGED_LINE);
        }
        held
    }

    /// Adds a part of the same file that was read after it.
    pub fn and(self, part: Self) -> Self {
        Self {
            format: self.format.or(part.format),
            sessions: self.sessions + part.sessions,
            calls: self.calls + part.calls,
            lines: self.lines + part.lines,
            problems: self.problems + part.problems,
        }
    }
}

/// Whether it says that a part of a recording is lost or was not read as it was written. Other warnings are about something
/// that is all there, as arguments that are not JSON: they are listed among the problems, and the session is whole.
pub fn is_damage(diagnostic: &Diagnostic) -> bool {
    let spoilt = matches!(diagnostic.code, code::DAMAGED_LINE | code::DAMAGED_RECORD);
    let warned = diagnostic.severity > Severity::Notice;
    diagnostic.severity == Severity::Error || diagnostic.may_lose_calls() || warned && spoilt
}

impl Files {
    /// Sets the files and their order. The counts of others are dropped.
    pub fn list(&mut self, order: Vec<Arc<str>>) {
        self.ranks = order.iter().enumerate().map(|(rank, file)| (Arc::clone(file), rank)).collect();
        self.order = order;
        let ranks = &self.ranks;
        self.held.retain(|file, _| ranks.contains_key(file));
        self.formats.clear();
        for format in self.held.values().filter_map(|held| held.format) {
            *self.formats.entry(format).or_default() += 1;
        }
    }

    /// The content of a file; empty until it is read.
    pub fn held(&self, file: &str) -> Held {
        self.held.get(file).copied().unwrap_or_default()
    }

    /// Takes in what a file holds now.
    pub fn hold(&mut self, file: &Arc<str>, held: Held) {
        let before = self.held.insert(Arc::clone(file), held).and_then(|before| before.format);
        if before == held.format {
            return;
        }
        if let Some(format) = held.format {
            *self.formats.entry(format).or_default() += 1;
        }
        if let Some(count) = before.and_then(|format| self.formats.get_mut(format)) {
            *count -= 1;
        }
        self.formats.retain(|_, count| *count > 0);
    }

    /// The formats that there are, and how many files have each.
    pub fn formats(&self) -> &BTreeMap<&'static str, usize> {
        &self.formats
    }

    /// Whether it is these, in this order.
    pub fn are(&self, order: &[Arc<str>]) -> bool {
        self.order == order
    }

    /// The index of a file; after all others if it is unknown.
    pub fn rank(&self, file: &str) -> usize {
        self.ranks.get(file).copied().unwrap_or(self.order.len())
    }

    /// Whether it is among them.
    pub fn has(&self, file: &str) -> bool {
        self.ranks.contains_key(file)
    }

    /// Adds it as the last one, unless it is known.
    pub fn add(&mut self, file: &Arc<str>) {
        if !self.has(file) {
            self.ranks.insert(Arc::clone(file), self.order.len());
            self.order.push(Arc::clone(file));
        }
    }
}

/// The open session when it disappeared, to be opened again when it returns, unless the user goes elsewhere.
#[derive(Debug, Clone)]
pub struct Lost {
    /// Its file.
    pub file: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// The scroll position of its transcript.
    pub left_at: List,
}
