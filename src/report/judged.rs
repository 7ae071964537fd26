//! A session that was judged, for as much as is shown of it.

use std::sync::Arc;

use super::{Scope, words};
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::Session;
use rulestep_engine::monitor::finding::RuleState;
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::{Counts, Outcomes, Replay, Status, counted_refusals, outcomes};
use rulestep_engine::run::{Halt, Mode};

/// A session that was judged, as a whole or for its outcome alone.
pub enum Judged {
    /// Every decision with its findings.
    Whole(Box<Replay>),
    /// Counts and status.
    Outcome {
        /// The session.
        session: Arc<Session>,
        /// The policy that judged it.
        policy: Arc<Policy>,
        /// The mode it was judged in.
        mode: Mode,
        /// Its outcomes.
        outcomes: Box<Outcomes>,
    },
}

impl Judged {
    /// Judges a session, for as much as will be shown of it.
    pub fn new(session: Arc<Session>, policy: &Arc<Policy>, mode: Mode, scope: Scope) -> Judged {
        if scope == Scope::Summary {
            let outcomes = outcomes(&session, policy, mode);
            Judged::Outcome { session, policy: Arc::clone(policy), mode, outcomes: Box::new(outcomes) }
        } else {
            Judged::Whole(Box::new(Replay::new(&session, policy, mode)))
        }
    }

    /// A session that was replayed already, for as much as will be shown of it.
    pub fn of(replay: Replay, scope: Scope) -> Judged {
        if scope == Scope::Summary {
            let (session, policy) = (Arc::clone(replay.session()), Arc::clone(replay.policy()));
            let outcomes = Box::new(Outcomes::of(&replay));
            Judged::Outcome { session, policy, mode: replay.mode(), outcomes }
        } else {
            Judged::Whole(Box::new(replay))
        }
    }

    /// The session.
    pub fn session(&self) -> &Session {
        match self {
            Judged::Whole(replay) => replay.session(),
            Judged::Outcome { session, .. } => session,
        }
    }

    /// The policy that judged it.
    pub fn policy(&self) -> &Policy {
        match self {
            Judged::Whole(replay) => replay.policy(),
            Judged::Outcome { policy, .. } => policy,
        }
    }

    /// The mode it was judged in.
    pub fn mode(&self) -> Mode {
        match self {
            Judged::Whole(replay) => replay.mode(),
            Judged::Outcome { mode, .. } => *mode,
        }
    }

    /// The first halt.
    pub fn halt(&self) -> Option<&Halt> {
        match self {
            Judged::Whole(replay) => replay.halt(),
            Judged::Outcome { outcomes, .. } => outcomes.halt.as_ref(),
        }
    }

    /// Status.
    pub fn status(&self) -> Status {
        match self {
            Judged::Whole(replay) => replay.status(),
            Judged::Outcome { outcomes, .. } => outcomes.status,
        }
    }

    /// Counts.
    pub fn summary(&self) -> Counts {
        match self {
            Judged::Whole(replay) => replay.summary(),
            Judged::Outcome { outcomes, .. } => outcomes.summary,
        }
    }

    /// The rules about the session that are violated.
    pub fn violated(&self) -> impl Iterator<Item = &RuleState> {
        let rules = match self {
            Judged::Whole(replay) => replay.rules(),
            Judged::Outcome { outcomes, .. } => &outcomes.rules,
        };
        rules.iter().filter(|state| state.is_violated())
    }

    /// What the policy makes worth knowing about the recording: results that may have been refusals.
    pub fn notices(&self) -> Vec<Diagnostic> {
        match self {
            Judged::Whole(replay) => notices(replay.session(), replay.policy()),
            Judged::Outcome { session, policy, outcomes, .. } => {
                let counted = outcomes.counted_refusals.iter();
                counted.map(|counted| words::counted_refusal(counted, policy, session)).collect()
            }
        }
    }

    /// Whether a call was stopped or a rule is violated.
    pub fn objects(&self) -> bool {
        match self {
            Judged::Whole(replay) => replay.objects(),
            Judged::Outcome { outcomes, .. } => outcomes.objects(),
        }
    }
}

/// What a policy makes worth knowing about a recording.
pub fn notices(session: &Session, policy: &Policy) -> Vec<Diagnostic> {
    let counted = counted_refusals(session, policy).into_iter();
    counted.map(|counted| words::counted_refusal(&counted, policy, session)).collect()
}
