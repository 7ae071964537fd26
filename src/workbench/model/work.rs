//! Requests to other threads.

use std::sync::Arc;

use super::frame::FrameQuery;
use super::supposed::Looking;
use super::survey::SurveyQuery;
use crate::stored::StoredSession;
use rulestep_base::session::Millis;
use rulestep_engine::monitor::RuleId;
use rulestep_engine::replay::Replay;

/// Requests to other threads, and their progress.
pub struct Work {
    /// The time when the last key was pressed.
    pub now: Millis,
    /// The progress of reading; `None` when everything is read.
    pub reading: Option<(usize, usize)>,
    /// Whether a key requested to read the policy again: it ends with a note, even if nothing changed.
    pub asked: bool,
    /// The number of the newest request to judge.
    pub generation: u64,
    /// Entries judged in that request.
    pub judged: usize,
    /// The open session that is judged again, since what was decided on it has left memory.
    pub again: Option<JudgedAgain>,
    /// A recording is not the same one that was read, so the named inputs are to be read again.
    pub outdated: bool,
    /// The number of the newest request for anything but judging sessions.
    pub requests: u64,
    /// The smallest part of a session that is being looked for.
    pub looking: Option<Looking>,
    /// The newest request for the frames of the selected turn, unless they are known.
    pub frames: Option<FrameQuery>,
    /// The turn that hides a tool, while it is being looked for.
    pub hidden: Option<PendingHidden>,
    /// The requested count of sessions, as far as it is done.
    pub survey: Option<SurveyQuery>,
}

impl Work {
    /// The number of a new request.
    pub fn next_number(&mut self) -> u64 {
        self.requests += 1;
        self.requests
    }
}

/// A session whose replay is made again.
pub struct JudgedAgain {
    /// The session.
    pub of: Arc<StoredSession>,
    /// The request in which it was to be judged.
    pub generation: u64,
}

/// A violated session rule to go to as soon as its decisions arrive.
pub struct PendingRule {
    /// The session.
    pub of: Arc<StoredSession>,
    /// The rule.
    pub rule: RuleId,
}

/// A turn that is being looked for.
pub struct PendingHidden {
    /// The search's number.
    pub number: u64,
    /// The replay where it began.
    pub replay: Arc<Replay>,
    /// The turn in that, from 1.
    pub turn: u32,
    /// The direction.
    pub forward: bool,
}
