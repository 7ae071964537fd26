//! Everything that can happen to the workbench. The list is closed.

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

/// Events of reading recordings.
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
        /// The result.
        loaded: Box<LoadResult>,
        /// When, as people write it.
        at: String,
    },
    /// A version to compare with was read.
    Base {
        /// The name as the user typed it.
        name: String,
        /// The base, or why there is none.
        read: Result<Base, String>,
    },
    /// The watch over policies and recordings has something to say.
    Watch(WatchEvent),
    /// Recordings are read, or were.
    Recordings(Event),
    /// Sessions were judged.
    Judged {
        /// The request that this answers.
        generation: u64,
        /// The decisions about each.
        sessions: Vec<JudgedSession>,
    },
    /// Sessions were compared under two versions.
    Compared {
        /// The request that this answers.
        generation: u64,
        /// The changes of each.
        sessions: Vec<ComparedSession>,
    },
    /// Something supposed was judged, or cannot be.
    Supposed {
        /// The request that this answers.
        number: u64,
        /// The result.
        answer: Result<Box<(Hypothesis, Replay)>, Impossible>,
    },
    /// A witness was looked for.
    Witness {
        /// The request that this answers.
        number: u64,
        /// The result.
        found: Option<Box<Witness>>,
    },
    /// Frames were made.
    Frames {
        /// The request that this answers.
        number: u64,
        /// The frames of each version.
        made: Vec<(Side, Frames)>,
    },
    /// A turn that hides a tool was looked for.
    Hidden {
        /// The search that this answers.
        number: u64,
        /// The turn, from 1, if there is one.
        turn: Option<u32>,
    },
    /// Sessions were counted, all of them or some.
    Survey {
        /// The request that this answers.
        number: u64,
        /// The number of sessions counted.
        counted: usize,
        /// The counts.
        survey: Arc<Survey>,
        /// The findings from them, once all are counted.
        findings: Vec<Diagnostic>,
    },
    /// A popup's job is done.
    Answer(Answer),
    /// A file of the policy was written.
    Written {
        /// The file and its text.
        write: Box<FileWrite>,
        /// Whether it undid an earlier write.
        undo: bool,
    },
    /// The cases beside the policy were judged.
    Cases {
        /// The request that this answers.
        number: u64,
        /// The results.
        cases: Box<CaseList>,
    },
    /// Sessions were searched.
    Found {
        /// The search that this answers.
        number: u64,
        /// The number of sessions searched.
        searched: usize,
        /// Sessions with hits: the index in the search, the index of the entry, the hits.
        hits: Vec<SessionHits>,
    },
    /// A text was written in the editor.
    Composed {
        /// The purpose.
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
        /// The text, in one line.
        text: String,
    },
    /// The terminal is gone, or the loop has to end.
    End,
}

/// A mouse event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mouse {
    /// The place of the screen.
    pub at: Position,
    /// The action.
    pub act: MouseAct,
}

/// An action of the mouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MouseAct {
    /// The left button was pressed.
    Click,
    /// The wheel was turned a notch up.
    Up,
    /// The wheel was turned a notch down.
    Down,
}

/// The decisions about a session.
pub struct JudgedSession {
    /// Its index in the list of sessions at the time of the request.
    pub place: usize,
    /// The decisions.
    pub decisions: SessionDecisions,
}

impl JudgedSession {
    /// With every decision, in answer to a request.
    pub fn of(generation: u64, place: usize, session: &Arc<StoredSession>, replay: Arc<Replay>) -> Self {
        Self { place, decisions: SessionDecisions::of(generation, session, replay, true) }
    }
}

/// The changes of a session.
pub struct ComparedSession {
    /// Its index in the list of sessions at the time of the request.
    pub place: usize,
    /// The session.
    pub session: Arc<StoredSession>,
    /// The changes.
    pub changes: SessionChanges,
}

/// Something that came through the channel.
pub(super) enum Arrived {
    /// The input thread has used its token.
    Input(Vec<Msg>),
    /// A worker has something to say.
    Work(Msg),
    /// One of very many messages about sessions, which have the lowest priority.
    Bulk(Msg),
}
