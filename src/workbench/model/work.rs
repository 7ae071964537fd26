//! What was asked of other threads.

use std::sync::Arc;

use super::frame::FrameQuery;
use super::supposed::Looking;
use super::survey::SurveyQuery;
use crate::stored::StoredSession;
use rulestep_base::session::Millis;
use rulestep_engine::monitor::RuleId;
use rulestep_engine::replay::Replay;

/// What was asked of other threads, and how much of it is done.
pub struct Work {
    /// The time when the last key was pressed.
    pub now: Millis,
    /// How much has been read of how much; `None` when everything is read.
    pub reading: Option<(usize, usize)>,
    /// Reading the policy again was asked for by a key: it ends with a note, even if nothing is different.
    pub asked: bool,
    /// The number of the newest request to judge.
    pub generation: u64,
    /// Entries judged in that request.
    pub judged: usize,
    /// The open session that is judged once more, since what was decided on it has left memory.
    pub again: Option<JudgedAgain>,
    /// A recording is another one than was read, so what was named is to be read again.
    pub outdated: bool,
    /// The number of the newest request for anything but judging sessions.
    pub requests: u64,
    /// The smallest part of a session that is being looked for.
    pub looking: Option<Looking>,
    /// The newest request for what is in the selected turn, unless that is known.
    pub frames: Option<FrameQuery>,
    /// The turn that hides a tool, while it is being looked for.
    pub hidden: Option<PendingHidden>,
    /// What the sessions say of the rules and hold, as far as that was asked for and counted.
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
    /// In which request it was to be judged.
    pub generation: u64,
}

/// A violated rule about a session, gone to as soon as its decisions are there again.
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
    /// Where it began.
    pub replay: Arc<Replay>,
    /// The turn in that, from 1.
    pub turn: u32,
    /// Which way it goes.
    pub forward: bool,
}
