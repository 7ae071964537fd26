//! Many sessions, judged in parallel and handed on in the order in which they came.
//!
//! While a batch is judged the next one is read, so at most two batches are in memory. A batch is bounded by what its
//! sessions weigh: a very long session is a batch of its own. Nothing here reads or prints; both are the caller's, and may use
//! the same threads.

use std::ops::ControlFlow;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use crate::session::Session;

/// Sessions of a batch for each thread.
const PER_THREAD: usize = 16;
/// Weight of a batch, in bytes of recorded text.
const WEIGHT: usize = 4 << 20;

/// Threads that judge.
pub struct Corpus {
    pool: ThreadPool,
}

impl Corpus {
    /// With this many threads; 0 takes as many as there are processors.
    ///
    /// # Errors
    /// The system gives no threads.
    pub fn new(jobs: usize) -> Result<Corpus, ThreadPoolBuildError> {
        Ok(Corpus { pool: ThreadPoolBuilder::new().num_threads(jobs).build()? })
    }

    /// Puts every session to `judge`, on any thread, and every answer to `take`, on this one and in order. Ends when the
    /// sessions do, or when `take` breaks off.
    pub fn run<R: Send>(
        &self,
        sessions: &mut (dyn Iterator<Item = Session> + Send),
        judge: &(dyn Fn(Session) -> R + Sync),
        take: &mut dyn FnMut(R) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut batch = self.pool.install(|| self.next_batch(sessions));
        while !batch.is_empty() {
            // All of it is done by these threads: this one only waits.
            let (judged, next) = self.pool.install(|| {
                let judge = || batch.into_par_iter().map(judge).collect::<Vec<_>>();
                rayon::join(judge, || self.next_batch(sessions))
            });
            for answer in judged {
                take(answer)?;
            }
            batch = next;
        }
        ControlFlow::Continue(())
    }

    /// Puts every item to `judge`, on any thread, and has the answers in order.
    pub fn each<T: Send, R: Send>(&self, items: Vec<T>, judge: &(dyn Fn(T) -> R + Sync)) -> Vec<R> {
        self.pool.install(|| items.into_par_iter().map(judge).collect())
    }

    fn next_batch(&self, sessions: &mut dyn Iterator<Item = Session>) -> Vec<Session> {
        let most = self.pool.current_num_threads() * PER_THREAD;
        let (mut batch, mut weight) = (Vec::new(), 0);
        while batch.len() < most && weight < WEIGHT {
            let Some(session) = sessions.next() else { break };
            weight += self::weight(&session);
            batch.push(session);
        }
        batch
    }
}

/// Does something for each number below `count`, on the threads of the corpus that this is called on.
pub fn spread(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(work);
}

/// Bytes of recorded text, about.
fn weight(session: &Session) -> usize {
    let messages = session.messages.iter().map(|message| message.content.size() + 128);
    let calls = session.calls.iter().map(|call| call.arguments.size() + 256);
    messages.chain(calls).sum()
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
