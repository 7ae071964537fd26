//! A journal from some turn on, if the state of a run before that is known.

use std::sync::Arc;

use super::{Journal, Records};
use crate::live::index::Bodies;
use crate::live::outline::{Keep, Kind, outlines};
use crate::live::outlines::Outlines;
use crate::live::state;
use rulestep_base::session::body::{Store, with_store};
use rulestep_base::session::{Facts, Session};
use rulestep_engine::policy::Policy;
use rulestep_engine::run::Run;
use rulestep_recording::known::Known;

/// The end of a session that is not read from its beginning.
pub struct Continuation {
    /// The run up to the session.
    pub run: Run,
    /// The journal's last turns and the added records; calls and turns are numbered as in the journal.
    pub session: Session,
}

impl Journal {
    /// The records of the session's end and these, and the run that was saved before them. `None`: no usable run was
    /// saved, so the session is to be read from its beginning.
    ///
    /// The saved run is of this journal: all that a rule can see of the records before is the same. The records after
    /// it begin with a turn and concern no call of an earlier one, so nothing in them changes the run.
    pub fn continuation(&self, policy: &Arc<Policy>, added: &str) -> Option<Continuation> {
        let Records::Outlines(own, bodies) = &self.records else { return None };
        if self.distrusted {
            return None;
        }
        let saved = state::open(&self.state_path(), policy, |records| own.before(records))?;
        let added = Outlines::of(outlines(added.as_bytes(), own.is_empty(), Keep::All)?)?;
        let begins = if saved.records == own.len() { added.kind(0) } else { own.kind(saved.records) };
        if begins != Some(Kind::Turn) || !own.parts_at(saved.records, &added) {
            return None;
        }
        let store: Arc<dyn Store> = Arc::<Bodies>::clone(bodies);
        let mut known = Known::new(&self.name());
        own.play_first(&mut known)?;
        own.play(saved.records, Some(&store), &mut known)?;
        added.play(0, Some(&store), &mut known)?;
        let session = self.read_as(known.session()).ok()?;
        let turns = own.count_from(saved.records, Kind::Turn) + added.count(Kind::Turn);
        if session.turns.len() != turns || self.facts()? != session.facts {
            return None;
        }
        let before = |kind| u32::try_from(own.count(kind) - own.count_from(saved.records, kind)).ok();
        let been = (before(Kind::Turn)?, before(Kind::Proposed)?);
        let run = with_store(store, || Run::resumed(policy, &session.facts, been, &saved.run))?;
        Some(Continuation { run, session })
    }

    /// The number of the record with which the last turn of the session begins; the session is this journal with the
    /// added records. `None`: that is uncertain.
    pub fn last_turn(&self, session: &Session, added: &str) -> Option<usize> {
        let Records::Outlines(own, _) = &self.records else { return None };
        let added = Outlines::of(outlines(added.as_bytes(), own.is_empty(), Keep::All)?)?;
        // Each turn is a record, and each such record a turn.
        if session.turns.len() != own.count(Kind::Turn) + added.count(Kind::Turn) {
            return None;
        }
        self.turn_before(own, &added)
    }

    /// The same for the end of a session.
    pub fn last_turn_of(&self, added: &str) -> Option<usize> {
        let Records::Outlines(own, _) = &self.records else { return None };
        self.turn_before(own, &Outlines::of(outlines(added.as_bytes(), own.is_empty(), Keep::All)?)?)
    }

    /// The run must know the records before: those that follow are about none of their calls.
    fn turn_before(&self, own: &Outlines, added: &Outlines) -> Option<usize> {
        let records = match (added.count(Kind::Turn), added.kind(0)) {
            (0, _) => own.last(Kind::Turn),
            (1, Some(Kind::Turn)) => Some(own.len()),
            _ => None,
        };
        records.filter(|records| own.parts_at(*records, added))
    }

    /// The surroundings as the journal's first record has them.
    pub fn facts(&self) -> Option<Arc<Facts>> {
        let Records::Outlines(own, _) = &self.records else { return None };
        let mut known = Known::new(&self.name());
        own.play_first(&mut known)?;
        known.facts()
    }

    /// Keeps a run after the records before this one. Where that fails, the session is read from its beginning.
    pub fn keep(&self, policy: &Policy, records: usize, run: &str) {
        if let Records::Outlines(own, _) = &self.records
            && let Some(before) = own.before(records)
        {
            let _ = state::write(&self.state_path(), policy, records, before, run);
        }
    }

    fn state_path(&self) -> std::path::PathBuf {
        self.path.with_extension("state")
    }
}
