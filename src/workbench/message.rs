//! Everything that can happen to the workbench. The list is closed: what is not here does not happen.

use std::sync::Arc;

use ratatui::layout::{Position, Size};

use super::effect::Answer;
use super::keys::Key;
use crate::compare::{Base, Side};
use crate::explore::survey::Survey;
use crate::files::watch::WatchEvent;
use crate::stored::{NotRestored, StoredSession};
use crate::what_if::{Hypothesis, Impossible};
use crate::witness::Witness;
use crate::workbench::model::hits::SessionHits;
use crate::workbench::model::suggest::FileWrite;
use crate::workbench::model::supposed::Ask;
use crate::workbench::model::{CaseList, Frames, ReadSession, SessionChanges, SessionDecisions};
use crate::workspace::recordings;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_engine::policy::LoadResult;
use rulestep_engine::replay::Replay;

/// What comes of reading recordings.
pub type Event = recordings::Event<ReadSession>;

/// Something that happened.
pub enum Msg {
    /// A key was pressed.
    Key(Key),
    /// Text was pasted: as the terminal marks it, or as more keys at once than anyone types.
    Paste(String),
    /// These characters were typed, a key each, before anything could be drawn.
    Typed(String),
    /// Something was done with the mouse.
    Mouse(Mouse),
    /// The terminal has another size.
    Resize(Size),
    /// A chord has been waiting for its next key for a while.
    ChordWaits,
    /// A policy was read.
    Policy {
        /// What became of it.
        loaded: Box<LoadResult>,
        /// When, as people write it.
        at: String,
    },
    /// A version to compare with was read.
    Base {
        /// As it was asked for.
        name: String,
        /// What it is, or why there is none.
        read: Result<Base, String>,
    },
    /// The watch over policies and recordings has something to say.
    Watch(WatchEvent),
    /// Recordings are read, or were.
    Recordings(Event),
    /// Sessions were judged.
    Judged {
        /// Which request this answers.
        generation: u64,
        /// What was decided on each.
        sessions: Vec<JudgedSession>,
    },
    /// Sessions were compared under two versions.
    Compared {
        /// Which request this answers.
        generation: u64,
        /// What changed in each.
        sessions: Vec<ComparedSession>,
    },
    /// Something supposed was judged, or cannot be.
    Supposed {
        /// Which request this answers.
        number: u64,
        /// What came of it.
        answer: Result<Box<(Hypothesis, Replay)>, Impossible>,
    },
    /// A witness was looked for.
    Witness {
        /// Which request this answers.
        number: u64,
        /// What was found.
        found: Option<Box<Witness>>,
    },
    /// What is in a turn.
    Frames {
        /// Which request this answers.
        number: u64,
        /// What each version makes of it.
        made: Vec<(Side, Frames)>,
    },
    /// A turn that hides a tool was looked for.
    Hidden {
        /// Which search this answers.
        number: u64,
        /// The turn, from 1, if there is one.
        turn: Option<u32>,
    },
    /// Sessions were counted, all of them or some.
    Survey {
        /// Which request this answers.
        number: u64,
        /// How many were counted.
        counted: usize,
        /// What they say and hold.
        survey: Arc<Survey>,
        /// What that says against the policy, once all are counted.
        findings: Vec<Diagnostic>,
    },
    /// What a popup asked for is done.
    Answer(Answer),
    /// A file of the policy was written.
    Written {
        /// What.
        write: Box<FileWrite>,
        /// It took back what had been written before.
        undo: bool,
    },
    /// The cases beside the policy were judged.
    Cases {
        /// Which request this answers.
        number: u64,
        /// What came of them.
        cases: Box<CaseList>,
    },
    /// Sessions were searched.
    Found {
        /// Which search this answers.
        number: u64,
        /// How many sessions.
        searched: usize,
        /// Those in which something was found: the place in the search, the place of the entry, where.
        hits: Vec<SessionHits>,
    },
    /// A text was written in the editor.
    Composed {
        /// What it is for.
        ask: Ask,
        /// The text.
        text: String,
    },
    /// A case was not saved, since there is a file of that name already.
    Taken {
        /// The file.
        file: String,
    },
    /// The content of a session cannot be had back.
    Unrestored {
        /// Its id.
        id: Arc<str>,
        /// Why.
        error: NotRestored,
    },
    /// An effect has something to say: it worked, or why it did not.
    Note {
        /// Whether it did not work.
        failed: bool,
        /// In one line.
        text: String,
    },
    /// The terminal is gone, or the loop was asked to end.
    End,
}

/// What was done with the mouse, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mouse {
    /// The place of the screen.
    pub at: Position,
    /// What.
    pub act: MouseAct,
}

/// What the mouse does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MouseAct {
    /// The left button was pressed.
    Click,
    /// The wheel was turned a notch up.
    Up,
    /// The wheel was turned a notch down.
    Down,
}

/// What was decided on a session.
pub struct JudgedSession {
    /// The place it had in the list of sessions when this was asked.
    pub place: usize,
    /// What.
    pub decisions: SessionDecisions,
}

impl JudgedSession {
    /// With every decision, in answer to a request.
    pub fn of(generation: u64, place: usize, session: &Arc<StoredSession>, replay: Arc<Replay>) -> Self {
        Self { place, decisions: SessionDecisions::of(generation, session, replay, true) }
    }
}

/// What changed in a session.
pub struct ComparedSession {
    /// The place it had in the list of sessions when this was asked.
    pub place: usize,
    /// The session.
    pub session: Arc<StoredSession>,
    /// What.
    pub changes: SessionChanges,
}

/// Something that came through the channel.
pub(super) enum Arrived {
    /// The input thread has used its token.
    Input(Vec<Msg>),
    /// A worker has something to say.
    Work(Msg),
    /// One of very many messages about sessions, which nobody waits for: everything else goes before them.
    Bulk(Msg),
}
