//! Reads policies and recordings on request.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::answer::{fault, tell, tell_later};
use super::background::Precedence;
use super::judging::{JudgesBench, compare, judge};
use crate::compare::Base;
use crate::explore::rows::RowDraft;
use crate::stored::StoredSession;
use crate::workbench::message::{Arrived, Event, Msg};
use crate::workbench::model::{ReadSession, SessionDecisions, sort_problems};
use crate::workspace::Workspace;
use crate::workspace::recordings::Look;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::Session;

/// The results made of each session as soon as it is read.
pub(super) struct Looks {
    pub bench: Arc<JudgesBench>,
    pub keys: Arc<Precedence>,
    pub out: Sender<Arrived>,
}

impl Look for Looks {
    type Seen = ReadSession;

    /// The draft of its row, and its decisions if the policy is known. Of a file that is read again most sessions are
    /// unchanged, and keep their decisions.
    fn look(&self, session: &Arc<StoredSession>, content: &Arc<Session>, known: bool) -> (ReadSession, bool) {
        self.keys.stand_aside();
        let draft = RowDraft::of(session, Some(content));
        let read = ReadSession { session: Arc::clone(session), draft, decisions: None, changes: None };
        let Some(by) = self.bench.now().filter(|_| !known) else { return (read, false) };
        let kept = !session.may_leave();
        let Some(replay) = judge(&by, content, kept, &self.out) else { return (read, false) };
        let changes = by.against.as_ref().and_then(|against| compare(&by, against, &replay, &self.out));
        let done = by.against.is_none() || changes.is_some();
        let decisions = Some(SessionDecisions::of(by.generation, session, replay, false)).filter(|_| done);
        (ReadSession { decisions, changes, ..read }, done)
    }
}

/// A reading of the recordings after which there is a rest, how many times as long that is, and how long at most.
const LONG: Duration = Duration::from_millis(100);
const REST: u32 = 3;
const LONGEST_REST: Duration = Duration::from_secs(1);

/// Reads a version to compare with, by the user's name for it; or why there is none, in one line.
pub(super) fn read_base(workspace: &Workspace, name: &str) -> Result<Base, String> {
    workspace.base(&[name.to_owned()]).map_err(|undecided| {
        let mut told = undecided.into_diagnostics();
        sort_problems(&mut told);
        match told.as_slice() {
            [] => format!("`{name}` does not load"),
            [one] => plain(one),
            [first, rest @ ..] => format!("{}, and {} more", plain(first), rest.len()),
        }
    })
}

/// The place and the message, in a line.
fn plain(told: &Diagnostic) -> String {
    match told.place() {
        Some(place) => match place.line() {
            Some(line) => format!("{}:{line}: {}", place.file(), told.message),
            None => format!("{}: {}", place.file(), told.message),
        },
        None => told.message.clone(),
    }
}

/// Reads the policy as often as it is wanted; wishes that come while it is read are one.
pub(super) fn read_policies(workspace: &Workspace, wanted: &Receiver<()>, out: &Sender<Arrived>) {
    while wanted.recv().is_ok() {
        wanted.try_iter().for_each(drop);
        let at = jiff::Zoned::now().strftime("%H:%M:%S").to_string();
        let loaded = catch_unwind(AssertUnwindSafe(|| Box::new(workspace.policy())));
        tell(out, loaded.map_or_else(|_| fault("reading the policy"), |loaded| Msg::Policy { loaded, at }));
    }
}

/// Reads the recordings on request, and again when one that was being written is complete.
pub(super) fn read_sessions(workspace: &Workspace, wanted: &Receiver<()>, looks: &Looks) {
    let out = &looks.out;
    let mut rests = None;
    loop {
        let wish = match rests {
            None => wanted.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(rests) => wanted.recv_timeout(rests),
        };
        if wish == Err(RecvTimeoutError::Disconnected) {
            return;
        }
        wanted.try_iter().for_each(drop);
        let begun = Instant::now();
        let read = catch_unwind(AssertUnwindSafe(|| {
            workspace.sessions(looks, &mut |event| tell_later(out, Msg::Recordings(event)))
        }));
        rests = read.unwrap_or_else(|_| {
            tell(out, fault("reading the recordings"));
            tell_later(out, Msg::Recordings(Event::End { diagnostics: Vec::new() }));
            None
        });
        // Of very many files, one that is always being written must not delay the rest.
        let took = begun.elapsed();
        if took > LONG {
            thread::sleep((took * REST).min(LONGEST_REST));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::workbench::effect::Judging;
    use crate::workbench::testing::{CONTRACT, loaded, refunds};
    use rulestep_engine::run::Mode;

    #[test]
    fn what_is_read_is_judged_at_once_where_it_is_known_how() {
        let (out, _arriving) = channel();
        let looks = Looks { bench: Arc::default(), keys: Arc::default(), out };
        let content = Arc::new(refunds());
        let session = StoredSession::resident(Arc::clone(&content));
        let look = |known| looks.look(&session, &content, known);
        let (read, done) = look(false);
        assert!(read.decisions.is_none() && !done, "no policy decides yet");
        let by = |generation| {
            let policy = loaded(CONTRACT).policy.expect("a policy");
            let (mode, against) = (Mode::Enforce, None);
            Arc::new(Judging { generation, policy, mode, against, beside: false })
        };
        looks.bench.set(&by(2));
        looks.bench.set(&by(1));
        let (read, done) = look(false);
        let judgement = read.decisions.expect("it was judged").judgement;
        assert_eq!((judgement.generation, judgement.verdict.stopped, done), (2, 1, true));
        assert!(Arc::ptr_eq(&judgement.of, &session));
        let (read, done) = look(true);
        assert!(read.decisions.is_none() && !done, "most sessions of a file that is read again are known");
    }
}
