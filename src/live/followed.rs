//! A session that a process uses repeatedly: records are read and played only once.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::deciding::{self, Decided};
use super::fault::Fault;
use super::journal::Journal;
use super::outline::{Keep, outlines};
use super::outlines::Outlines;
use rulestep_base::session::{Body, Millis, Session};
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::{self, Course};
use rulestep_engine::run::{Mode, Run};
use rulestep_recording::known::Known;

/// The state of a session; empty at first.
#[derive(Default)]
pub struct Followed(Option<Follower>);

struct Follower {
    journal: Journal,
    played: Played,
}

/// The played part of a journal.
pub struct Played {
    known: Known,
    /// Number of the journal's records that are in `known`; `None`: some are, and which is unknown.
    records: Option<usize>,
    /// Number of records in `known` that the journal does not have yet.
    ahead: usize,
    /// A policy's way through the session, with the policy's digest.
    course: Option<(Arc<str>, Course)>,
}

impl fmt::Debug for Followed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} records",
            self.0.as_ref().and_then(|follower| follower.played.records).unwrap_or_default()
        )
    }
}

impl Followed {
    /// Runs work on the session's journal, whose lock it has, and on its played part. `open` opens and locks it.
    ///
    /// # Errors It cannot be opened or read, or the work fails.
    pub fn with<T>(
        &mut self,
        wait: Duration,
        open: impl Fn() -> Result<Journal, Fault>,
        work: impl Fn(&mut Journal, &mut Played) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let known = match self.0.take() {
            Some(mut follower) => follower.journal.again(wait)?.then_some(follower),
            None => None,
        };
        let mut follower = match known {
            Some(follower) => follower,
            None => Follower::new(open()?),
        };
        let mut done = work(&mut follower.journal, &mut follower.played);
        if follower.journal.misread() {
            // A body is not at its place in the index: decisions since then do not count.
            follower.journal.read()?;
            follower = Follower::new(follower.journal);
            done = work(&mut follower.journal, &mut follower.played);
        }
        follower.journal.rest();
        let whole = |played: &Played| played.ahead == 0 && played.records.is_some();
        self.0 = Some(follower).filter(|follower| whole(&follower.played) && !follower.journal.misread());
        done
    }

    /// A policy's run after all that the journal holds. `open` opens and locks it.
    ///
    /// # Errors
    /// It cannot be opened or read.
    pub fn run(
        &mut self,
        policy: &Arc<Policy>,
        wait: Duration,
        open: impl Fn() -> Result<Journal, Fault>,
    ) -> Result<Run, Fault> {
        self.with(wait, open, |journal, played| match played.run(journal, policy) {
            Some(run) => Ok(run),
            // Some line is not in the form of records, or is damaged, which is reported here.
            None => Ok(replay::happened(&journal.session("")?, policy)),
        })
    }
}

impl Follower {
    fn new(mut journal: Journal) -> Follower {
        journal.remember_calls();
        let played = Played { known: Known::new(&journal.name()), records: Some(0), ahead: 0, course: None };
        Follower { journal, played }
    }
}

impl Played {
    /// Takes in what the journal holds by now. `None`: that cannot be done record by record.
    fn go_on(&mut self, journal: &Journal) -> Option<()> {
        if self.ahead > 0 {
            return None;
        }
        // If that fails in the middle, none of them may be played again.
        let from = self.records.take()?;
        self.records = Some(journal.play(from, &mut self.known)?);
        (!self.known.is_damaged()).then_some(())
    }

    fn ask<T>(
        &mut self,
        policy: &Arc<Policy>,
        ask: impl Fn(&mut Course, &Session) -> Option<T>,
    ) -> Option<T> {
        let facts = self.known.facts()?;
        // A change of a turn that was played makes a course begin again.
        for begins in [false, true] {
            let other = self.course.as_ref().is_none_or(|(digest, _)| *digest != *policy.digest());
            if begins || other {
                self.course = Some((Arc::clone(policy.digest()), Course::new(&facts, policy)));
            }
            let (_, course) = self.course.as_mut()?;
            if let Some(made) = ask(course, self.known.so_far()?) {
                return Some(made);
            }
        }
        None
    }

    /// The run after what the journal holds by now.
    fn run(&mut self, journal: &Journal, policy: &Arc<Policy>) -> Option<Run> {
        self.go_on(journal)?;
        self.ask(policy, |course, session| course.after(session))
    }

    /// Decides the last call of these records, which follow the journal. `None`: the session is to be read for that.
    pub fn decide(
        &mut self,
        journal: &Journal,
        policy: &Arc<Policy>,
        mode: Mode,
        added: &str,
    ) -> Option<Decided> {
        self.go_on(journal)?;
        let added = Outlines::of(outlines(added.as_bytes(), self.records == Some(0), Keep::All)?)?;
        self.ahead = added.len();
        journal.play_added(&added, &mut self.known)?;
        if self.known.is_damaged() {
            return None;
        }
        let (decision, run) = self.ask(policy, |course, session| course.decide(session, mode))?;
        let findings = deciding::explain(&decision, policy, self.known.so_far()?);
        drop(run);
        Some(Decided { decision, findings, parts: None, kept: None, seen: None })
    }

    /// The records of the call that was decided last are in the journal. `told`: it was stopped, and the model reads this.
    pub fn settle(&mut self, journal: &Journal, id: &str, at: Option<Millis>, told: Option<&str>) {
        let records = self.records.map(|records| records + self.ahead);
        if self.ahead == 0 || records.is_none() || journal.records() != records {
            return;
        }
        if let Some(told) = told {
            self.known.told(at, id, Body::text(told));
        }
        (self.records, self.ahead) = (records, 0);
    }
}
