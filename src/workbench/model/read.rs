//! A session as it arrives: with all that the threads that read it could find out by themselves.

use std::sync::Arc;

use super::judgement::SessionDecisions;
use crate::compare::Change;
use crate::explore::rows::RowDraft;
use crate::stored::StoredSession;
use rulestep_engine::replay::Replay;

/// A session that was read.
pub struct ReadSession {
    /// The session.
    pub session: Arc<StoredSession>,
    /// What its row is made from.
    pub draft: RowDraft,
    /// What was decided on it, where it was known by then what decides.
    pub decisions: Option<SessionDecisions>,
    /// What changed in it, where it was compared.
    pub changes: Option<SessionChanges>,
}

/// What changed in a session.
pub struct SessionChanges {
    /// What was decided under the base, where that was asked for.
    pub base: Option<Arc<Replay>>,
    /// What changed.
    pub changes: Vec<Change>,
}

impl From<Arc<StoredSession>> for ReadSession {
    fn from(session: Arc<StoredSession>) -> Self {
        let draft = RowDraft::of(&session, session.session().ok().as_deref());
        Self { session, draft, decisions: None, changes: None }
    }
}
