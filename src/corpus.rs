//! Many sessions, read and judged in parallel, with the answers returned in the order of the sessions.
//!
//! If there are as many recordings as threads, each thread works on one of its own, a session at a time. If there are
//! fewer, a recording has several threads. If it can be cut into parts, each thread cuts one off, reads it, and judges
//! its sessions, which so stay in its cache. If it cannot, a batch of its sessions is judged while the next one is
//! read, so at most two batches are in memory. A batch is bounded by the weight of its sessions: a very long session is
//! a batch of its own. Answers of recordings that are ahead of their turn are kept, and such a recording waits when
//! they weigh too much. Nothing here reads files or prints; both are up to the caller.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use self::parts::{Parts, work};
pub use self::recording::{Recording, Recordings, Weigh, weight};
use rulestep_base::session::Session;

mod parts;
mod recording;

/// Sessions of a batch for each thread. The threads wait for each other after every batch, and for its answers to be taken.
const BATCH: usize = 64;
/// Recordings that are open at once for each thread, and a quarter of the sessions of a stretch.
const PER_THREAD: usize = 16;
/// Weight of a batch, in bytes of recorded text.
const WEIGHT: usize = 4 << 20;
/// Weight of what a thread reads of a recording before it looks at the others.
const STRETCH: usize = 1 << 20;
/// Parts that each thread reads of a recording before their answers are taken.
const PARTS: usize = 64;
/// Most weight of the answers of a recording that is ahead of its turn.
const AHEAD: usize = 8 << 20;

/// Threads that judge.
pub struct Corpus {
    pool: ThreadPool,
}

impl Corpus {
    /// With this many threads; 0: as many as there are processors.
    ///
    /// # Errors The system provides no threads.
    pub fn new(jobs: usize) -> Result<Corpus, ThreadPoolBuildError> {
        Ok(Corpus { pool: ThreadPoolBuilder::new().num_threads(jobs).build()? })
    }

    /// Puts every session to `judge`, on any thread, and every answer to `take`, on this one and in order. Ends when the
    /// recordings do, or when `take` breaks off. `weigh` says how many bytes an answer keeps, about.
    pub fn run<P: Recording, R: Send>(
        &self,
        recordings: &mut dyn Recordings<Recording = P>,
        judge: &(dyn Fn(P::Item) -> R + Sync),
        weigh: &(dyn Fn(&R) -> usize + Sync),
        take: &mut dyn FnMut(R) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let threads = self.pool.current_num_threads();
        let mut open: VecDeque<Open<P, R>> = VecDeque::new();
        loop {
            while has_room(&open, threads)
                && let Some(recording) = recordings.begin(open.is_empty())
            {
                open.push_back(Open::new(recording));
            }
            let places = 0..;
            let goes_on = |place: usize, open: &Open<P, R>| place == 0 || !open.ended && open.weight < AHEAD;
            let mut going: Vec<_> =
                places.zip(&mut open).filter(|(place, open)| goes_on(*place, open)).collect();
            if going.is_empty() {
                return ControlFlow::Continue(());
            }
            // All work is done by these threads: this one only waits.
            let shared = going.len() < threads;
            self.pool.install(|| {
                going.par_iter_mut().for_each(|(_, open)| match shared {
                    true => open.read_shared(threads, judge, weigh),
                    false => open.read_stretch(judge, weigh),
                });
            });
            drop(going);
            while let Some(mut first) = open.pop_front() {
                let mut answers = std::mem::take(&mut first.answers).into_iter();
                first.weight = 0;
                if answers.try_for_each(&mut *take).is_break() {
                    recordings.end(first.recording);
                    return ControlFlow::Break(());
                }
                if !first.ended {
                    open.push_front(first);
                    break;
                }
                recordings.end(first.recording);
            }
        }
    }

    /// Puts every item to `judge`, on any thread, and has the answers in order.
    pub fn each<T: Send, R: Send>(&self, items: Vec<T>, judge: &(dyn Fn(T) -> R + Sync)) -> Vec<R> {
        self.pool.install(|| items.into_par_iter().map(judge).collect())
    }
}

/// Whether to begin another recording: one for each thread, or more if they are small.
fn has_room<P: Recording, R>(open: &VecDeque<Open<P, R>>, threads: usize) -> bool {
    let size = || open.iter().map(|open| open.recording.size()).fold(0, u64::saturating_add);
    open.len() < threads || open.len() < threads * PER_THREAD && size() < WEIGHT as u64
}

/// A recording that is being read.
struct Open<P: Recording, R> {
    recording: P,
    /// Sessions that are to be judged.
    batch: Vec<P::Item>,
    /// Answers that were not taken yet, and their weight.
    answers: Vec<R>,
    weight: usize,
    ended: bool,
}

impl<P: Recording, R: Send> Open<P, R> {
    fn new(recording: P) -> Open<P, R> {
        Open { recording, batch: Vec::new(), answers: Vec::new(), weight: 0, ended: false }
    }

    fn keep(&mut self, answer: R, weigh: &(dyn Fn(&R) -> usize + Sync)) {
        self.weight += weigh(&answer);
        self.answers.push(answer);
    }

    /// Reads and judges with all threads that have time.
    fn read_shared(
        &mut self,
        threads: usize,
        judge: &(dyn Fn(P::Item) -> R + Sync),
        weigh: &(dyn Fn(&R) -> usize + Sync),
    ) {
        let Some(part) = self.recording.cut() else {
            return self.read_batch(threads * BATCH, judge, weigh);
        };
        let before: Vec<R> = std::mem::take(&mut self.batch).into_par_iter().map(judge).collect();
        before.into_iter().for_each(|answer| self.keep(answer, weigh));
        let parts = Mutex::new(Parts::new(&mut self.recording, part, (threads * PARTS, AHEAD)));
        rayon::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|_| work(&parts, judge, weigh));
            }
        });
        let (answers, weight) = parts.into_inner().unwrap_or_else(PoisonError::into_inner).answers();
        self.answers.extend(answers);
        self.weight += weight;
    }

    /// Judges a batch and reads the next one, on all threads that have time.
    fn read_batch(
        &mut self,
        most: usize,
        judge: &(dyn Fn(P::Item) -> R + Sync),
        weigh: &(dyn Fn(&R) -> usize + Sync),
    ) {
        let batch = std::mem::take(&mut self.batch);
        let recording = &mut self.recording;
        let judge = || batch.into_par_iter().map(judge).collect::<Vec<_>>();
        let (judged, next) = rayon::join(judge, || next_batch(recording, most));
        judged.into_iter().for_each(|answer| self.keep(answer, weigh));
        self.ended = next.is_empty();
        self.batch = next;
    }

    /// Reads and judges on this thread, a session at a time.
    fn read_stretch(&mut self, judge: &(dyn Fn(P::Item) -> R + Sync), weigh: &(dyn Fn(&R) -> usize + Sync)) {
        for session in std::mem::take(&mut self.batch) {
            self.keep(judge(session), weigh);
        }
        let (mut read, mut count) = (0, 0);
        while read < STRETCH && count < 4 * PER_THREAD {
            let Some(session) = self.recording.next() else {
                self.ended = true;
                return;
            };
            read += session.weight();
            count += 1;
            self.keep(judge(session), weigh);
        }
    }
}

fn next_batch<P: Recording>(recording: &mut P, most: usize) -> Vec<P::Item> {
    let (mut batch, mut weight) = (Vec::new(), 0);
    while batch.len() < most && weight < WEIGHT {
        let Some(session) = recording.next() else { break };
        weight += session.weight();
        batch.push(session);
    }
    batch
}

/// Sessions that are in memory already.
pub struct InMemory(std::vec::IntoIter<Session>);

impl Iterator for InMemory {
    type Item = Session;

    fn next(&mut self) -> Option<Session> {
        self.0.next()
    }
}

impl Recording for InMemory {
    type Part = Infallible;

    fn size(&self) -> u64 {
        u64::MAX
    }

    fn cut(&mut self) -> Option<Infallible> {
        None
    }

    fn join(&mut self, part: Infallible) -> Vec<Session> {
        match part {}
    }
}

impl Recordings for Option<Vec<Session>> {
    type Recording = InMemory;

    fn begin(&mut self, _no_other: bool) -> Option<InMemory> {
        self.take().map(|sessions| InMemory(sessions.into_iter()))
    }

    fn end(&mut self, _recording: InMemory) {}
}

#[cfg(test)]
mod tests;
