//! A row of the list of sessions: a session, its decisions, its what-ifs.

use std::borrow::{Borrow, Cow};
use std::sync::Arc;

use super::files::is_damage;
use super::judgement::Judgement;
use super::supposed::{Layer, Supposed};
use super::verdict::SessionVerdict;
use crate::compare::{Base, Change, ChangePlace, Comparison};
use crate::explore::names::Names;
use crate::explore::rows::SessionRow;
use crate::stored::StoredSession;
use crate::workbench::list::List;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::Session;
use rulestep_engine::replay::Replay;

/// A row of the list of sessions.
pub struct Entry {
    /// The session's id, or the file's name where no session could be read.
    pub name: Arc<str>,
    /// The file.
    pub file: Arc<str>,
    /// The session, unless the file is unreadable.
    pub session: Option<Arc<StoredSession>>,
    /// Its data for filters and tables.
    pub row: SessionRow,
    /// Problems of the file, at its first session.
    pub diagnostics: Vec<Diagnostic>,
    /// Its decisions.
    pub judgement: Option<Judgement>,
    /// Every decision, if in memory: in the open entry, and as long as all sessions fit into it.
    pub replay: Option<Arc<Replay>>,
    /// The same under the chosen base.
    pub base: Option<Arc<Replay>>,
    /// Its changes, once it is compared.
    pub changes: Option<Vec<Change>>,
    /// The scroll position of its transcript.
    pub left_at: Option<List>,
    /// Its what-ifs.
    pub supposed: Supposed,
}

impl Entry {
    /// Its name outside the list: its id; if that is a meaningless number, its title and the number's beginning, which
    /// distinguishes sessions with the same title.
    pub fn called(&self, names: &Names) -> Cow<'_, str> {
        let title = self.row.title(names);
        match uuid(&self.name) {
            Some(number) if *title != *self.name => Cow::Owned(format!("{title} {number}")),
            _ => Cow::Borrowed(&self.name),
        }
    }

    /// The number of its calls without a decision in the base.
    pub fn unknown_to(&self, comparison: Option<&Comparison>) -> usize {
        let (Some(comparison), Some(session)) = (comparison, &self.session) else { return 0 };
        match comparison.base() {
            Base::Live => session.undecided,
            Base::Version(_) | Base::Recorded => 0,
        }
    }

    /// The number of lost or repaired parts of its recording.
    pub fn damaged(&self) -> usize {
        let own = self.session.iter().flat_map(|session| session.diagnostics.iter());
        own.chain(&self.diagnostics).filter(|diagnostic| is_damage(diagnostic)).count()
    }

    /// The number of its calls that the comparison changes; if there are none, of outcomes at its end.
    pub fn changed(&self) -> usize {
        let changes = || self.changes.iter().flatten();
        let calls = changes()
            .filter(|change| matches!(change.at, ChangePlace::Call(_) | ChangePlace::Alternative(_)))
            .count();
        // Changes at the end mostly follow from a call.
        if calls > 0 { calls } else { changes().filter(|change| change.at == ChangePlace::End).count() }
    }

    /// Its verdict, once it is judged.
    pub fn verdict(&self) -> Option<SessionVerdict> {
        self.judgement.as_ref().map(|judgement| judgement.verdict)
    }

    /// Whether its session, as it is, was judged in that request.
    pub fn is_judged(&self, generation: u64) -> bool {
        let judged = self.judgement.as_ref().filter(|judgement| judgement.generation == generation);
        self.session.as_ref().zip(judged).is_some_and(|(own, judgement)| Arc::ptr_eq(own, &judgement.of))
    }

    /// Whether it is the same session as another one of the same file, changed or not.
    pub fn is_named_as(&self, other: &Self) -> bool {
        self.name == other.name && self.session.is_some() == other.session.is_some()
    }

    /// Whether everything in `self` about calls still holds for `session`: it is the same one, or its continuation.
    pub fn goes_on_as(&self, session: &Session) -> bool {
        let before = self.session.as_ref().filter(|before| before.calls <= session.calls.len());
        before.and_then(|before| before.session().ok()).is_some_and(|before| {
            before
                .calls
                .iter()
                .zip(&session.calls)
                .all(|(old, new)| (old.at, &old.tool, &old.arguments) == (new.at, &new.tool, &new.arguments))
        })
    }

    /// Takes the decisions on it.
    pub fn judge(&mut self, judgement: Judgement, replay: Option<Arc<Replay>>) {
        self.judgement = Some(judgement);
        self.replay = replay;
    }

    /// Every decision leaves memory, if the session may.
    pub fn shed(&mut self) {
        if self.session.as_ref().is_some_and(|session| session.may_leave()) {
            (self.replay, self.base) = (None, None);
        }
    }

    /// It is no longer on screen.
    pub fn put_down(&mut self) {
        self.shed();
        if let Some(session) = &self.session {
            session.put_down();
        }
    }

    /// The session at the bottom of the topmost layer; `content` is the session itself.
    pub fn supposed_of<'a>(&'a self, content: Option<&'a Arc<Session>>) -> Option<&'a Arc<Session>> {
        let top = self.supposed.top();
        let case = top.and_then(Layer::of_case).map(|case| &case.session);
        let part = || Some(top?.part.as_ref()?.witness.session());
        case.or_else(part).or(content)
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
