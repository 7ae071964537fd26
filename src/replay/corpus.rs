//! Many sessions, read and judged in parallel, and the answers handed on in the order in which the sessions came.
//!
//! Where there are as many recordings as threads, each thread goes on with one of its own, a session at a time. Where there
//! are fewer, a recording has several threads: while a batch of its sessions is judged the next one is read, so at most two
//! batches are in memory. A batch is bounded by what its sessions weigh: a very long session is a batch of its own. Answers of
//! recordings whose turn it is not yet are kept, and such a recording waits when they weigh too much. Nothing here reads files
//! or prints; both are the caller's.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use crate::session::Session;

/// Sessions of a batch for each thread. The threads wait for each other after every batch, and for its answers to be taken.
const BATCH: usize = 64;
/// Recordings that are open at once for each thread, and a quarter of the sessions of a stretch.
const PER_THREAD: usize = 16;
/// Weight of a batch, in bytes of recorded text.
const WEIGHT: usize = 4 << 20;
/// Weight of what a thread reads of a recording before it looks at the others.
const STRETCH: usize = 1 << 20;
/// Weight of the answers of a recording whose turn it is not yet.
const AHEAD: usize = 8 << 20;

/// Something that a recording gives, to be judged.
pub trait Weigh: Send {
    /// Its bytes, about.
    fn weight(&self) -> usize;
}

impl Weigh for Session {
    fn weight(&self) -> usize {
        weight(self)
    }
}

/// The sessions of one recording, in their order.
pub trait Recording: Iterator<Item: Weigh> + Send {
    /// Its bytes, about.
    fn size(&self) -> u64;

    /// Whether other threads have time to read parts of it.
    fn share(&mut self, shared: bool);
}

/// Where recordings come from.
pub trait Recordings {
    /// One of them.
    type Recording: Recording;

    /// The next one. It may be waited for only where `no_other` is being read.
    fn begin(&mut self, no_other: bool) -> Option<Self::Recording>;

    /// Takes back one that was read, or whose reading was broken off.
    fn end(&mut self, recording: Self::Recording);
}

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
            // All of it is done by these threads: this one only waits.
            let shared = going.len() < threads;
            self.pool.install(|| {
                going.par_iter_mut().for_each(|(_, open)| match shared {
                    true => open.read_batch(threads * BATCH, judge, weigh),
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

    /// Does something on these threads.
    pub fn within<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.pool.install(work)
    }

    /// Puts every item to `judge`, on any thread, and has the answers in order.
    pub fn each<T: Send, R: Send>(&self, items: Vec<T>, judge: &(dyn Fn(T) -> R + Sync)) -> Vec<R> {
        self.pool.install(|| items.into_par_iter().map(judge).collect())
    }
}

/// Whether another recording is to be begun: one for each thread, or more of them where they are small.
fn has_room<P: Recording, R>(open: &VecDeque<Open<P, R>>, threads: usize) -> bool {
    let size = || open.iter().map(|open| open.recording.size()).fold(0, u64::saturating_add);
    open.len() < threads || open.len() < threads * PER_THREAD && size() < WEIGHT as u64
}

/// A recording that is being read.
struct Open<P: Recording, R> {
    recording: P,
    /// Sessions that are to be judged.
    batch: Vec<P::Item>,
    /// Answers that were not taken yet, and what they weigh.
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

    /// Judges a batch and reads the next one, on all threads that have time.
    fn read_batch(
        &mut self,
        most: usize,
        judge: &(dyn Fn(P::Item) -> R + Sync),
        weigh: &(dyn Fn(&R) -> usize + Sync),
    ) {
        self.recording.share(true);
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
        self.recording.share(false);
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
    fn size(&self) -> u64 {
        u64::MAX
    }

    fn share(&mut self, _shared: bool) {}
}

impl Recordings for Option<Vec<Session>> {
    type Recording = InMemory;

    fn begin(&mut self, _no_other: bool) -> Option<InMemory> {
        self.take().map(|sessions| InMemory(sessions.into_iter()))
    }

    fn end(&mut self, _recording: InMemory) {}
}

/// Does something for each number below `count`, on the threads of the corpus that this is called on.
pub fn spread(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(work);
}

/// Bytes of recorded text, about.
pub fn weight(session: &Session) -> usize {
    let messages = session.messages.iter().map(|message| message.content.size() + 128);
    let calls = session.calls.iter().map(|call| call.arguments.size() + 256);
    messages.chain(calls).sum()
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::session::Origin;
    use crate::session::build::Builder;

    /// Recordings of this many sessions each, numbered from 0 through all of them.
    struct Made {
        counts: VecDeque<usize>,
        next: usize,
        read: Arc<AtomicUsize>,
        ended: Vec<usize>,
    }

    struct Sessions {
        numbers: Range<usize>,
        read: Arc<AtomicUsize>,
        size: u64,
    }

    impl Iterator for Sessions {
        type Item = Session;

        fn next(&mut self) -> Option<Session> {
            let index = self.numbers.next()?;
            self.read.fetch_add(1, Ordering::Relaxed);
            let origin = Origin { file: "many.jsonl".into(), index, format: "native", line: 1 };
            Some(Builder::new(index.to_string(), origin).finish())
        }
    }

    impl Recording for Sessions {
        fn size(&self) -> u64 {
            self.size
        }

        fn share(&mut self, _shared: bool) {}
    }

    impl Recordings for Made {
        type Recording = Sessions;

        fn begin(&mut self, _no_other: bool) -> Option<Sessions> {
            let count = self.counts.pop_front()?;
            let numbers = self.next..self.next + count;
            self.next += count;
            Some(Sessions { numbers, read: Arc::clone(&self.read), size: count as u64 * 100_000 })
        }

        fn end(&mut self, recording: Sessions) {
            self.ended.push(recording.numbers.end);
        }
    }

    fn made(counts: &[usize]) -> Made {
        Made { counts: counts.to_vec().into(), next: 0, read: Arc::default(), ended: Vec::new() }
    }

    #[test]
    fn answers_come_in_the_order_of_the_sessions() {
        let many: Vec<usize> = (0..200).map(|place| place * 7 % 5).collect();
        for counts in [&[1000][..], &[], &[0, 0, 3, 0], &[700, 1, 0, 40, 2, 900, 1, 1], &many] {
            for jobs in [1, 2, 3, 8] {
                // Answers that weigh nothing, and such that every recording but the first one waits.
                for weight in [0, AHEAD] {
                    let (mut recordings, mut got) = (made(counts), Vec::new());
                    let judge = |session: Session| session.origin.index;
                    let flow =
                        Corpus::new(jobs).unwrap().run(&mut recordings, &judge, &|_| weight, &mut |index| {
                            got.push(index);
                            ControlFlow::Continue(())
                        });
                    assert!(flow.is_continue());
                    assert_eq!(got, (0..counts.iter().sum()).collect::<Vec<_>>());
                    assert_eq!(recordings.ended.len(), counts.len());
                    assert!(recordings.ended.is_sorted());
                }
            }
        }
    }

    #[test]
    fn what_is_broken_off_reads_at_most_a_stretch_more() {
        for (jobs, counts, most) in
            [(1, &[1000][..], 4 * PER_THREAD), (2, &[1000], 4 * BATCH), (2, &[1000; 9], 8 * PER_THREAD)]
        {
            let mut recordings = made(counts);
            let corpus = Corpus::new(jobs).unwrap();
            let flow = corpus.run(&mut recordings, &|_| (), &|()| 0, &mut |()| ControlFlow::Break(()));
            assert!(flow.is_break());
            let read = recordings.read.load(Ordering::Relaxed);
            assert!(read <= most, "{read} with {jobs} jobs");
            assert_eq!(recordings.ended.len(), 1, "the others are as if they had not been begun");
        }
    }

    #[test]
    fn a_recording_whose_turn_it_is_not_yet_waits_with_its_answers() {
        let mut recordings = made(&[100_000, 100_000]);
        let judge = |session: Session| session.origin.index;
        let (mut most, read) = (0, Arc::clone(&recordings.read));
        let mut taken = 0;
        let _ = Corpus::new(2).unwrap().run(&mut recordings, &judge, &|_| AHEAD / 100, &mut |_| {
            taken += 1;
            most = most.max(read.load(Ordering::Relaxed) - taken);
            ControlFlow::Continue(())
        });
        assert_eq!(taken, 200_000);
        assert!(
            most <= 100 + 10 * 4 * PER_THREAD,
            "{most} sessions were read before their answers were taken"
        );
    }
}
