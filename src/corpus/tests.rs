use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::recording::Part;
use super::*;
use rulestep_base::session::Origin;
use rulestep_base::session::build::Builder;

/// Recordings of this many sessions each, numbered from 0 through all of them.
struct Made {
    counts: VecDeque<usize>,
    cut: (usize, usize),
    next: usize,
    read: Arc<AtomicUsize>,
    ended: Vec<usize>,
}

struct Sessions {
    numbers: Range<usize>,
    read: Arc<AtomicUsize>,
    size: u64,
    /// The number of sessions from its beginning that can be cut off, and the size of the parts.
    cut: (usize, usize),
    /// The sessions of parts that were joined and are not complete before the next one is.
    held: Vec<usize>,
}

/// Numbers of sessions, and whether they were read.
struct Numbers(Range<usize>, bool);

impl Part for Numbers {
    fn read(&mut self) {
        // Those of the first parts are read last.
        std::thread::sleep(std::time::Duration::from_micros(self.0.len() as u64 % 7 * 20));
        self.1 = true;
    }
}

impl Sessions {
    fn session(&self, index: usize) -> Session {
        self.read.fetch_add(1, Ordering::Relaxed);
        let origin = Origin { file: "many.jsonl".into(), index, format: "native", line: 1 };
        Builder::new(index.to_string(), origin).finish()
    }
}

impl Iterator for Sessions {
    type Item = Session;

    fn next(&mut self) -> Option<Session> {
        let held = (!self.held.is_empty()).then(|| self.held.remove(0));
        let index = held.or_else(|| self.numbers.next())?;
        Some(self.session(index))
    }
}

impl Recording for Sessions {
    type Part = Numbers;

    fn size(&self) -> u64 {
        self.size
    }

    fn cut(&mut self) -> Option<Numbers> {
        let (end, most) = self.cut;
        let start = self.numbers.start;
        // Other lengths each time, and none after one that cannot be cut off.
        let part = start..(start + 1 + start * 3 % most.max(1)).min(end).min(self.numbers.end);
        if part.is_empty() || start % 50 == 49 {
            return None;
        }
        self.numbers.start = part.end;
        Some(Numbers(part, false))
    }

    fn join(&mut self, part: Numbers) -> Vec<Session> {
        assert!(part.1, "it was read");
        self.held.extend(part.0);
        // Now and then the last one waits for others.
        let complete = self.held.len() - usize::from(self.held.len().is_multiple_of(3));
        let complete: Vec<_> = self.held.drain(..complete).collect();
        complete.into_iter().map(|index| self.session(index)).collect()
    }
}

impl Recordings for Made {
    type Recording = Sessions;

    fn begin(&mut self, _no_other: bool) -> Option<Sessions> {
        let count = self.counts.pop_front()?;
        let numbers = self.next..self.next + count;
        self.next += count;
        let (read, size) = (Arc::clone(&self.read), count as u64 * 100_000);
        Some(Sessions { numbers, read, size, cut: self.cut, held: Vec::new() })
    }

    fn end(&mut self, recording: Sessions) {
        self.ended.push(recording.numbers.end);
    }
}

fn made(counts: &[usize]) -> Made {
    Made { counts: counts.to_vec().into(), cut: (0, 0), next: 0, read: Arc::default(), ended: Vec::new() }
}

#[test]
fn answers_come_in_the_order_of_the_sessions() {
    let many: Vec<usize> = (0..200).map(|place| place * 7 % 5).collect();
    for counts in [&[1000][..], &[], &[0, 0, 3, 0], &[700, 1, 0, 40, 2, 900, 1, 1], &many] {
        for jobs in [1, 2, 3, 8] {
            // Answers that weigh nothing, and such that every recording but the first one waits.
            for (weight, cut) in
                [(0, (0, 0)), (AHEAD, (0, 0)), (0, (900, 9)), (AHEAD, (usize::MAX, 1)), (1, (usize::MAX, 40))]
            {
                let (mut recordings, mut got) = (Made { cut, ..made(counts) }, Vec::new());
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
    assert!(most <= 100 + 10 * 4 * PER_THREAD, "{most} sessions were read before their answers were taken");
}
