//! Forks that do not say that they are: they begin with the calls of another session that was read.

use super::Selection;
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
}
