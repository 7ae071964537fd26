//! Forks that do not say that they are: they begin with the calls of another session that was read.

use std::sync::Arc;

use super::Selection;
use crate::cli::input::{Again, Sessions};
use crate::explore::repeats;
use rulestep_base::session::Session;

impl Selection {
    /// The answer to a session that turned out to be a fork of another one, after it was answered as one that is none.
    pub(super) fn answer_fork<R>(
        &self,
        of: &Session,
        mut session: Session,
        answer: &dyn Fn(Session) -> R,
    ) -> R {
        // What left it out then is found out by asking once more, and is not counted.
        let before = self.left_out.counts();
        drop(answer(session.clone()));
        self.left_out.take_back(before, 2);
        repeats::mark_copies(&mut session, of);
        answer(session)
    }

    /// The next session; one that is a fork of another one, though it does not say so, with its copies marked.
    pub(super) fn next(&self, sessions: &mut Sessions, again: &Again) -> Option<Session> {
        let mut session = sessions.next()?;
        let place = (Arc::clone(&session.origin.file), session.origin.index);
        let fork = self.repeated.fork_of(repeats::beginning(&session), place);
        if let Some(of) = fork.and_then(|of| again.read(&of)) {
            repeats::mark_copies(&mut session, &of);
        }
        Some(session)
    }
}
