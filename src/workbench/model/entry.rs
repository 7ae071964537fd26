//! A row of the list of sessions: a session, what was decided on it, what is supposed of it.

use std::borrow::{Borrow, Cow};
use std::sync::Arc;

use super::files::is_damage;
use super::supposed::{Layer, Supposed};
use super::verdict::SessionVerdict;
use crate::compare::{Change, ChangePlace, Comparison};
use crate::diagnostic::Diagnostic;
use crate::explore::names::Names;
use crate::explore::rows::SessionRow;
use crate::replay::Replay;
use crate::session::Session;
use crate::workbench::list::List;

/// A row of the list of sessions.
pub struct Entry {
    /// The session's id, or the file's name where no session could be read.
    pub name: Arc<str>,
    /// The file.
    pub file: Arc<str>,
    /// The session, unless the file is unreadable.
    pub session: Option<Arc<Session>>,
    /// What filters and tables see of it.
    pub row: SessionRow,
    /// What is wrong with the file, told at its first session.
    pub diagnostics: Vec<Diagnostic>,
    /// What was decided, and in which request.
    pub replay: Option<(u64, Arc<Replay>)>,
    /// What was decided under the chosen base.
    pub base: Option<Arc<Replay>>,
    /// What changed in it, once it is compared.
    pub changes: Option<Vec<Change>>,
    /// Where its transcript was left.
    pub left_at: Option<List>,
    /// What is supposed of it.
    pub supposed: Supposed,
}

impl Entry {
    /// What it is called where its row is not: its id; where that is a number that says nothing to anybody, its title and the
    /// number's beginning, which tells it from another one of that title.
    pub fn called(&self, names: &Names) -> Cow<'_, str> {
        let title = self.row.title(names);
        match uuid(&self.name) {
            Some(number) if *title != *self.name => Cow::Owned(format!("{title} {number}")),
            _ => Cow::Borrowed(&self.name),
        }
    }

    /// How many of its calls the base of a comparison says nothing of.
    pub fn unknown_to(&self, comparison: Option<&Comparison>) -> usize {
        let (Some(comparison), Some(session)) = (comparison, &self.session) else { return 0 };
        session.calls.iter().filter(|call| !comparison.base().knows(call)).count()
    }

    /// Whether something is wrong with its recording.
    pub fn damaged(&self) -> usize {
        let own = self.session.iter().flat_map(|session| &session.diagnostics);
        own.chain(&self.diagnostics).filter(|diagnostic| is_damage(diagnostic)).count()
    }

    /// How many of its calls the comparison changes; where it is none, how many outcomes at its end.
    pub fn changed(&self) -> usize {
        let changes = || self.changes.iter().flatten();
        let calls = changes()
            .filter(|change| matches!(change.at, ChangePlace::Call(_) | ChangePlace::Alternative(_)))
            .count();
        // What changes at the end mostly follows from a call.
        if calls > 0 { calls } else { changes().filter(|change| change.at == ChangePlace::End).count() }
    }

    /// What it comes to, once it is judged.
    pub fn verdict(&self) -> Option<SessionVerdict> {
        self.replay.as_ref().map(|(_, replay)| SessionVerdict::of(replay))
    }

    /// Whether its session, as it is, was judged in that request.
    pub fn is_judged(&self, generation: u64) -> bool {
        let judged = self.replay.as_ref().filter(|(judged, _)| *judged == generation);
        self.session.as_ref().zip(judged).is_some_and(|(own, (_, replay))| Arc::ptr_eq(own, replay.session()))
    }

    /// Whether it stands for the same session as another one of the same file, changed or not.
    pub fn is_named_as(&self, other: &Self) -> bool {
        self.name == other.name && self.session.is_some() == other.session.is_some()
    }

    /// Whether everything that `self` says of calls still holds for `session`: it is the same one, or that one goes on.
    pub fn goes_on_as(&self, session: &Session) -> bool {
        self.session.as_ref().is_some_and(|before| {
            let pairs = before.calls.iter().zip(&session.calls);
            before.calls.len() <= session.calls.len()
                && pairs.into_iter().all(|(old, new)| {
                    (old.at, &old.tool, &old.arguments) == (new.at, &new.tool, &new.arguments)
                })
        })
    }

    /// What the topmost layer begins with.
    pub fn supposed_of(&self) -> Option<&Arc<Session>> {
        let top = self.supposed.top();
        let case = top.and_then(Layer::of_case).map(|case| &case.session);
        let part = || Some(top?.part.as_ref()?.witness.session());
        case.or_else(part).or(self.session.as_ref())
    }
}

impl Borrow<SessionRow> for Entry {
    fn borrow(&self) -> &SessionRow {
        &self.row
    }
}

/// The first eight digits of the UUID that a name is or ends with.
fn uuid(name: &str) -> Option<&str> {
    let tail = name.get(name.len().checked_sub(36)?..)?;
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let groups: Vec<&str> = tail.split('-').collect();
    let is_uuid = groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]);
    (is_uuid && groups.iter().all(|group| digits(group))).then(|| groups.first().copied())?
}
