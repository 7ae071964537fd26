//! A session as it arrives, with everything that the reading threads could compute.

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
    /// The draft of its row.
    pub draft: RowDraft,
    /// Its decisions, if the policy was known by then.
    pub decisions: Option<SessionDecisions>,
    /// Its changes, if it was compared.
    pub changes: Option<SessionChanges>,
}

/// The changes of a session.
pub struct SessionChanges {
    /// The decisions under the base, if they were requested.
    pub base: Option<Arc<Replay>>,
    /// The changes.
    pub changes: Vec<Change>,
}

impl From<Arc<StoredSession>> for ReadSession {
    fn from(session: Arc<StoredSession>) -> Self {
        let draft = RowDraft::of(&session, session.session().ok().as_deref());
        Self { session, draft, decisions: None, changes: None }
    }
}
