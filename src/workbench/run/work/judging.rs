//! Judges sessions: requested ones, and each that is read.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

use super::answer::{fault, tell, tell_later};
use super::background::Precedence;
use crate::compare::Comparison;
use crate::stored::StoredSession;
use crate::workbench::effect::Judging;
use crate::workbench::message::{Arrived, ComparedSession, JudgedSession, Msg};
use crate::workbench::model::{SessionChanges, SessionDecisions};
use rulestep_base::session::Session;
use rulestep_engine::replay::Replay;

/// How sessions are judged, by the newest request.
#[derive(Default)]
pub struct JudgesBench(Mutex<Option<Arc<Judging>>>);

impl JudgesBench {
    /// Sets how sessions are judged, unless a newer request exists.
    pub fn set(&self, by: &Arc<Judging>) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if now.as_ref().is_none_or(|now| now.generation <= by.generation) {
            *now = Some(Arc::clone(by));
        }
    }

    /// The settings; `None` as long as no policy decides.
    pub fn now(&self) -> Option<Arc<Judging>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Sessions that one thread judges.
pub struct Task {
    pub by: Arc<Judging>,
    /// They are on screen.
    pub open: bool,
    pub sessions: Vec<(usize, Arc<StoredSession>)>,
    pub bench: Arc<JudgesBench>,
    pub keys: Arc<Precedence>,
    pub out: Sender<Arrived>,
}

impl Task {
    /// Judges them, unless a newer request arrives meanwhile.
    pub fn run(self) {
        let generation = self.by.generation;
        let mut judged_here = Vec::with_capacity(self.sessions.len());
        let mut compared = Vec::new();
        for (place, session) in &self.sessions {
            if !self.open {
                self.keys.stand_aside();
            }
            if self.bench.now().is_some_and(|now| now.generation > generation) {
                return;
            }
            let content = match session.session() {
                Ok(content) => content,
                Err(error) => {
                    // It stays without a verdict, and the list says that it was not judged.
                    tell(&self.out, Msg::Unrestored { id: Arc::clone(&session.id), error });
                    continue;
                }
            };
            let kept = self.open || !session.may_leave();
            let Some(replay) = judge(&self.by, &content, kept, &self.out) else { continue };
            if let Some(against) = self.by.against.as_ref().filter(|_| !self.open) {
                compared.extend(self.compare(against, *place, session, &replay));
            }
            let decisions = SessionDecisions::of(generation, session, replay, self.open);
            judged_here.push(JudgedSession { place: *place, decisions });
        }
        self.tell(Msg::Judged { generation, sessions: judged_here });
        if let (Some(against), true) = (&self.by.against, self.open) {
            // The session on screen shows its decisions first, and is judged again for its changes.
            let judged = self.sessions.iter().filter_map(|(place, session)| {
                let new = judge(&self.by, &session.session().ok()?, true, &self.out)?;
                self.compare(against, *place, session, &new)
            });
            compared = judged.collect();
        }
        if self.by.against.is_some() {
            self.tell(Msg::Compared { generation, sessions: compared });
        }
    }

    fn tell(&self, message: Msg) {
        if self.open { tell(&self.out, message) } else { tell_later(&self.out, message) }
    }

    fn compare(
        &self,
        against: &Comparison,
        place: usize,
        session: &Arc<StoredSession>,
        new: &Replay,
    ) -> Option<ComparedSession> {
        let changes = compare(&self.by, against, new, &self.out)?;
        Some(ComparedSession { place, session: Arc::clone(session), changes })
    }
}

/// Judges a session. Evidence is only shown on screen, so it is not computed if the replay is not kept.
pub fn judge(by: &Judging, session: &Arc<Session>, kept: bool, out: &Sender<Arrived>) -> Option<Arc<Replay>> {
    let replay = if kept || by.against.is_some() { Replay::new } else { Replay::named };
    let judged = catch_unwind(AssertUnwindSafe(|| Arc::new(replay(session, &by.policy, by.mode))));
    if judged.is_err() {
        tell(out, fault("judging a session"));
    }
    judged.ok()
}

/// Says what changed in a session that was judged.
pub fn compare(
    by: &Judging,
    against: &Comparison,
    new: &Replay,
    out: &Sender<Arrived>,
) -> Option<SessionChanges> {
    let changes = catch_unwind(AssertUnwindSafe(|| {
        let base = against.base().policy().filter(|_| !against.is_same());
        let base = base.map(|policy| Replay::new(new.session(), policy, by.mode));
        let changes = against.changes(base.as_ref(), new);
        SessionChanges { base: base.filter(|_| by.beside).map(Arc::new), changes }
    }));
    if changes.is_err() {
        tell(out, fault("comparing a session"));
    }
    changes.ok()
}
