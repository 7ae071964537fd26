//! A session that a process looks at again and again: what was read and played once is not read and played again.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::fault::Fault;
use super::journal::Journal;
use crate::engine::Run;
use crate::policy::Policy;
use crate::recording::known::Known;
use crate::replay::{self, Course};

/// What is known of a session; nothing at first.
#[derive(Default)]
pub struct Followed(Option<Follower>);

struct Follower {
    journal: Journal,
    /// Digest of the policy that the course is of.
    policy: Arc<str>,
    known: Known,
    /// Records of the journal that are in `known`.
    records: usize,
    course: Option<Course>,
}

impl fmt::Debug for Followed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} records", self.0.as_ref().map_or(0, |follower| follower.records))
    }
}

impl Followed {
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
        if let Some(mut follower) = self.0.take().filter(|follower| follower.policy == *policy.digest())
            && follower.journal.again(wait)?
            && let Some(run) = follower.go_on(policy)
        {
            follower.journal.rest();
            self.0 = Some(follower);
            return Ok(run);
        }
        let mut follower = Follower::new(open()?, policy);
        let mut run = follower.go_on(policy);
        if follower.journal.misread() {
            follower.journal.read()?;
            follower = Follower::new(follower.journal, policy);
            run = follower.go_on(policy);
        }
        let Some(run) = run else {
            // Some line is not as records are written, or is damaged, which is said here.
            return Ok(replay::happened(&follower.journal.session("")?, policy));
        };
        follower.journal.rest();
        self.0 = Some(follower);
        Ok(run)
    }
}

impl Follower {
    fn new(journal: Journal, policy: &Policy) -> Follower {
        let known = Known::new(&journal.name());
        Follower { journal, policy: Arc::clone(policy.digest()), known, records: 0, course: None }
    }

    /// The run after what the journal holds by now. `None`: that has to be found out from its beginning, or otherwise.
    fn go_on(&mut self, policy: &Arc<Policy>) -> Option<Run> {
        self.records = self.journal.play(self.records, &mut self.known)?;
        if self.known.is_damaged() {
            return None;
        }
        let facts = self.known.facts()?;
        let course = self.course.get_or_insert_with(|| Course::new(&facts, policy));
        let run = course.after(self.known.so_far()?)?;
        // A body that is not where the index has it is found out when a rule looks at it.
        (!self.journal.misread()).then_some(run)
    }
}
