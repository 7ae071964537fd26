//! What the commands share that count: every chosen session is replayed and counted, and the counts are merged in order.

use std::sync::Arc;

use super::args;
use super::corpus_run::{Answer, COUNTED, CorpusRun, Job, Sum, Take};
use super::exit::Failure;
use super::screen::Screen;
use crate::explore::coverage::Coverage;
use crate::explore::inventory::Inventory;
use crate::report::RunCounts;
use rulestep_base::session::Session;
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;

impl Sum for Coverage {
    fn add(&mut self, later: &Coverage) {
        self.merge(later);
    }
}

impl Sum for Inventory {
    fn add(&mut self, later: &Inventory) {
        self.merge(later);
    }
}

/// How sessions are counted.
pub struct Counting<'c, T> {
    /// The policy that decides.
    pub policy: &'c Arc<Policy>,
    /// Replays a session.
    pub judge: fn(&Arc<Session>, &Arc<Policy>, Mode) -> Replay,
    /// What is counted of it.
    pub count: &'c (dyn Fn(&Replay) -> T + Sync),
}

impl<T: Send> Counting<'_, T> {
    /// Counts every chosen session, and puts the counts to `take` in the order of the recordings.
    pub fn run(
        &self,
        run: &mut CorpusRun<'_>,
        take: &mut dyn FnMut(T),
        screen: &mut Screen,
    ) -> Result<(), Failure> {
        self.drive(run, take, screen, |run, job, take, screen| run.run(job, &|_| COUNTED, take, screen))
    }

    fn drive(
        &self,
        run: &mut CorpusRun<'_>,
        take: &mut dyn FnMut(T),
        screen: &mut Screen,
        drive: impl FnOnce(&mut CorpusRun<'_>, &Job<'_, T>, &mut Take<'_, T>, &mut Screen) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mode = run.mode;
        run.policies = vec![Arc::clone(self.policy)];
        let judge = |session: &Arc<Session>| (self.judge)(session, self.policy, mode);
        let make = |session: Arc<Session>, replay: Option<Replay>, total: &mut RunCounts, _: &mut Vec<_>| {
            let replay = replay.unwrap_or_else(|| judge(&session));
            (total.counts.sessions, total.counts.objected) = (1, replay.objects().into());
            (self.count)(&replay)
        };
        let job = Job { judge: &judge, changes: &|_| 0, make: &make };
        let mut take = |answer: Answer<T>, _: &RunCounts, _: &mut Screen| {
            answer.made.into_iter().for_each(&mut *take);
            Ok(())
        };
        drive(run, &job, &mut take, screen)?;
        run.close(screen);
        Ok(())
    }
}

impl<T: Sum> Counting<'_, T> {
    /// The same, with what an earlier run counted; `options` are what the counts depend on beside the policy, the recordings and
    /// how they are read.
    pub fn run_cached(
        &self,
        run: &mut CorpusRun<'_>,
        (caching, policies, options): (&args::Caching, &args::Policies, &str),
        take: &mut dyn FnMut(T),
        screen: &mut Screen,
    ) -> Result<(), Failure> {
        run.policies = vec![Arc::clone(self.policy)];
        let cache = run.cache(caching, policies, &format!("{options} {}", run.mode.word()));
        self.drive(run, take, screen, |run, job, take, screen| run.run_cached(cache, job, take, screen))
    }
}
