//! Output of a reader so far: sessions, and problems of the file.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::contract::line::SessionLine;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::Session;
use rulestep_base::session::build::Builder;

/// Output of a reader so far.
#[derive(Default)]
pub struct Out {
    /// Sessions, in their order.
    pub sessions: VecDeque<ReadSession>,
    made: usize,
    /// Problems of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// Diagnostics that are only counted.
    pub more: u64,
    /// Places that were lost.
    pub lost: u64,
}

/// A session as its reader gave it.
pub struct ReadSession {
    /// The session.
    pub session: Session,
    /// Whether the session says itself if results were recorded.
    pub states_results: bool,
    /// Whether its recording marks failures.
    pub marks_errors: bool,
    /// How many results it has.
    pub results: u64,
    /// Calls whose arguments were read in Python notation.
    pub in_python: u32,
    /// The session it is forked from, if only that one says which calls were copied.
    pub fork: Option<Arc<str>>,
    /// Its line, if it was requested.
    pub line: Option<SessionLine>,
}

/// Diagnostics kept of one file; the rest are counted.
const MOST_DIAGNOSTICS: usize = 1000;

impl Out {
    /// After this many sessions and lost places of the same file.
    pub fn after(made: usize, lost: u64) -> Out {
        Out { made, lost, ..Out::default() }
    }

    /// A session is complete.
    pub fn session(&mut self, builder: Builder) {
        self.made += 1;
        self.sessions.push_back(ReadSession {
            states_results: builder.states_results(),
            marks_errors: builder.marks_errors(),
            results: builder.result_count(),
            in_python: builder.python_count(),
            fork: builder.open_fork(),
            session: builder.finish(),
            line: None,
        });
    }

    /// Appends the output of another reader.
    pub fn append(&mut self, other: Out) {
        self.made += other.made;
        self.sessions.extend(other.sessions);
        // What is only counted is lost as well.
        let lost = self.lost + other.lost;
        self.diagnostics(other.diagnostics);
        self.more += other.more;
        self.lost = lost;
    }

    /// Place in the file of the next session, from 0.
    pub fn index(&self) -> usize {
        self.made
    }

    /// Adds problems of a part of the file that belongs to no session.
    pub fn diagnostics(&mut self, told: impl IntoIterator<Item = Diagnostic>) {
        told.into_iter().for_each(|diagnostic| self.diagnostic(diagnostic));
    }

    /// Something about the file.
    pub fn diagnostic(&mut self, diagnostic: Diagnostic) {
        self.lost += u64::from(diagnostic.may_lose_calls());
        if self.diagnostics.len() < MOST_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        } else {
            self.more += 1;
        }
    }
}
