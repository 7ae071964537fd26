//! Many sessions, judged in parallel and handed on in the order in which they came.
//!
//! While a batch is judged the next one is read, so at most two batches are in memory. A batch is bounded by what its
//! sessions weigh: a very long session is a batch of its own. One that was judged while it was read, as it is too long
//! to be held, weighs nothing. Nothing here reads or prints; both are the caller's.

use std::ops::ControlFlow;
use std::sync::Arc;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use super::{Outcomes, Running};
use crate::engine::Mode;
use crate::policy::Policy;
use crate::recording::{Piece, Reading};
use crate::session::Session;

/// Sessions of a batch for each thread.
const PER_THREAD: usize = 16;
/// Weight of a batch, in bytes of recorded text.
const WEIGHT: usize = 4 << 20;

/// A session as it comes from its reading.
#[derive(Debug)]
pub enum Read {
    /// All of it, to be judged.
    Whole(Box<Session>),
    /// One that was judged while it was read, and what it comes to. Of its turns only the last ones are left.
    Judged(Box<Session>, Box<Outcomes>),
}

/// Reads sessions, and judges those that come in parts while they are read.
pub struct Judge {
    policy: Arc<Policy>,
    mode: Mode,
    /// The session that is coming in parts.
    running: Option<Running>,
}

/// Knows roughly the bytes that it holds.
pub trait Weigh: Send {
    /// Bytes of recorded text, about.
    fn weigh(&self) -> usize;
}

/// Threads that judge.
pub struct Corpus {
    pool: ThreadPool,
}

impl Corpus {
    /// With so many threads; 0 takes as many as there are processors.
    ///
    /// # Errors
    /// The system gives no threads.
    pub fn new(jobs: usize) -> Result<Corpus, ThreadPoolBuildError> {
        Ok(Corpus { pool: ThreadPoolBuilder::new().num_threads(jobs).build()? })
    }

    /// Puts every session to `judge`, on any thread, and every answer to `take`, on this one and in order. Ends when the
    /// sessions do, or when `take` breaks off.
    pub fn run<S: Weigh, R: Send>(
        &self,
        sessions: &mut dyn Iterator<Item = S>,
        judge: &(dyn Fn(S) -> R + Sync),
        take: &mut dyn FnMut(R) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut batch = self.next_batch(sessions);
        while !batch.is_empty() {
            let mut judged = Vec::new();
            // The sessions are read on this thread, as a reader need not be fit for others.
            batch = self.pool.in_place_scope(|scope| {
                let results = &mut judged;
                scope.spawn(move |_| batch.into_par_iter().map(judge).collect_into_vec(results));
                self.next_batch(sessions)
            });
            for answer in judged {
                take(answer)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn next_batch<S: Weigh>(&self, sessions: &mut dyn Iterator<Item = S>) -> Vec<S> {
        let most = self.pool.current_num_threads() * PER_THREAD;
        let (mut batch, mut weight) = (Vec::new(), 0);
        while batch.len() < most && weight < WEIGHT {
            let Some(session) = sessions.next() else { break };
            weight += session.weigh();
            batch.push(session);
        }
        batch
    }
}

impl Weigh for Session {
    fn weigh(&self) -> usize {
        let messages = self.messages.iter().map(|message| message.content.raw().len() + 128);
        let calls = self.calls.iter().map(|call| call.arguments.raw().len() + 256);
        messages.chain(calls).sum()
    }
}

impl Weigh for Read {
    fn weigh(&self) -> usize {
        match self {
            Read::Whole(session) => session.weigh(),
            Read::Judged(..) => 0,
        }
    }
}

impl Judge {
    /// A judge by this policy.
    pub fn new(policy: &Arc<Policy>, mode: Mode) -> Judge {
        Judge { policy: Arc::clone(policy), mode, running: None }
    }

    /// The next session of a reading, with what it comes to where it is too long to be held.
    pub fn next(&mut self, reading: &mut Reading) -> Option<Read> {
        loop {
            match reading.piece()? {
                Piece::Whole(session) => return Some(Read::Whole(Box::new(session))),
                Piece::Part(part) => {
                    let new = || Running::new(&part.session.facts, &self.policy, self.mode);
                    self.running.get_or_insert_with(new).add(&part);
                }
                Piece::Last(part) => {
                    let new = || Running::new(&part.session.facts, &self.policy, self.mode);
                    let mut running = self.running.take().unwrap_or_else(new);
                    running.add(&part);
                    return Some(Read::Judged(Box::new(part.session), Box::new(running.end())));
                }
                Piece::Again => self.running = None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Origin;
    use crate::session::build::Builder;

    fn sessions(count: usize) -> impl Iterator<Item = Session> {
        (0..count).map(|index| {
            let origin = Origin { file: "many.jsonl".into(), index, format: "native", line: 1 };
            Builder::new(index.to_string(), origin).finish()
        })
    }

    #[test]
    fn answers_come_in_the_order_of_the_sessions() {
        let corpus = Corpus::new(3).unwrap();
        let mut got = Vec::new();
        let judge = |session: Session| session.origin.index;
        let flow = corpus.run(&mut sessions(1000), &judge, &mut |index| {
            got.push(index);
            ControlFlow::Continue(())
        });
        assert!(flow.is_continue());
        assert_eq!(got, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_broken_off_reads_at_most_a_batch_more() {
        let corpus = Corpus::new(1).unwrap();
        let mut read = 0;
        let mut counted = sessions(1000).inspect(|_| read += 1);
        let flow = corpus.run(&mut counted, &|_| (), &mut |()| ControlFlow::Break(()));
        assert!(flow.is_break());
        assert!(read <= 2 * PER_THREAD, "{read}");
    }
}
