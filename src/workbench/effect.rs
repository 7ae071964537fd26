//! What `update` asks to be done: data, so that tests see it without doing it.

use std::sync::Arc;

use crate::compare::Comparison;
use crate::engine::Mode;
use crate::policy::Policy;
use crate::session::Session;

/// Something to be done outside the model.
pub enum Effect {
    /// Leave.
    Quit,
    /// Forget what is on the screen and draw everything.
    Redraw,
    /// Go to the background of the shell.
    Suspend,
    /// Read the policy again.
    LoadPolicy,
    /// Read a version to compare with, called so.
    LoadBase(String),
    /// Read the recordings again, as far as they have changed.
    LoadSessions,
    /// Judge these sessions, in this order; requests made before are void.
    Judge(Judge),
    /// Let the person edit a file, then read policy and recordings again.
    Edit {
        /// The file.
        file: String,
        /// The line to start at, from 1.
        line: u32,
    },
    /// Put text on the clipboard.
    Copy {
        /// The text.
        text: String,
        /// What it is, for the note afterwards.
        what: &'static str,
    },
}

/// A request to judge sessions.
pub struct Judge {
    /// Its number; answers bear it.
    pub generation: u64,
    /// By which policy.
    pub policy: Arc<Policy>,
    /// Whether decisions take effect.
    pub mode: Mode,
    /// The comparison to be made as well.
    pub against: Option<Arc<Comparison>>,
    /// What its base decides is to be shown.
    pub beside: bool,
    /// The first of the sessions is on screen: it goes before everything else.
    pub open: bool,
    /// Places in the list of sessions, and the sessions.
    pub sessions: Vec<(usize, Arc<Session>)>,
}

impl std::fmt::Debug for Effect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Quit => f.write_str("Quit"),
            Self::Redraw => f.write_str("Redraw"),
            Self::Suspend => f.write_str("Suspend"),
            Self::LoadPolicy => f.write_str("LoadPolicy"),
            Self::LoadBase(name) => write!(f, "LoadBase({name})"),
            Self::LoadSessions => f.write_str("LoadSessions"),
            Self::Judge(judge) => {
                let places: Vec<usize> = judge.sessions.iter().map(|(place, _)| *place).collect();
                write!(f, "Judge({} {} {places:?})", judge.generation, judge.mode.word())
            }
            Self::Edit { file, line } => write!(f, "Edit({file}:{line})"),
            Self::Copy { text, what } => write!(f, "Copy({what}: {text:?})"),
        }
    }
}
