//! The parts of a recording that several threads read: each cuts one off, reads it, and judges the sessions that are
//! complete with it.
//!
//! Only cutting off and joining is done by one thread at a time. Parts are joined in the order of the recording: one
//! that was read too early waits, and the thread that joins the part before it gets its sessions as well.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::recording::{Part, Recording};

/// The parts that threads cut off a recording, each its own, and their answers.
pub struct Parts<'p, P: Recording, R> {
    recording: &'p mut P,
    /// One that was cut off already.
    first: Option<P::Part>,
    /// How many more parts are allowed, and how much their answers may weigh.
    left: usize,
    most: usize,
    cut: usize,
    joined: usize,
    /// Those that were read before one that comes before them.
    waiting: BTreeMap<usize, P::Part>,
    /// Sessions that were complete so far.
    sessions: usize,
    /// Answers, by the number of the first session of each group.
    answers: BTreeMap<usize, Vec<R>>,
    weight: usize,
}

impl<'p, P: Recording, R> Parts<'p, P, R> {
    /// For a recording: the first part, and the number of parts allowed in all, until their answers weigh this much.
    pub fn new(recording: &'p mut P, first: P::Part, (left, most): (usize, usize)) -> Self {
        let (waiting, answers) = (BTreeMap::new(), BTreeMap::new());
        let first = Some(first);
        Parts { recording, first, left, most, cut: 0, joined: 0, waiting, sessions: 0, answers, weight: 0 }
    }

    /// The answers in the order of their sessions, and their weight.
    pub fn answers(self) -> (impl Iterator<Item = R>, usize) {
        (self.answers.into_values().flatten(), self.weight)
    }

    /// The next part, with its number.
    fn next(&mut self) -> Option<(usize, P::Part)> {
        if self.left == 0 || self.weight >= self.most {
            return None;
        }
        let part = self.first.take().or_else(|| self.recording.cut())?;
        self.left -= 1;
        self.cut += 1;
        Some((self.cut - 1, part))
    }

    /// Joins a part; returns the sessions that are complete with it, and the number of the first one.
    fn join(&mut self, number: usize, part: P::Part) -> (usize, Vec<P::Item>) {
        self.waiting.insert(number, part);
        let mut sessions = Vec::new();
        while let Some(part) = self.waiting.remove(&self.joined) {
            self.joined += 1;
            sessions.extend(self.recording.join(part));
        }
        let first = self.sessions;
        self.sessions += sessions.len();
        (first, sessions)
    }
}

/// Cuts off parts, reads them and judges their sessions, as one of several threads that do.
pub fn work<P: Recording, R: Send>(
    parts: &Mutex<Parts<'_, P, R>>,
    judge: &(dyn Fn(P::Item) -> R + Sync),
    weigh: &(dyn Fn(&R) -> usize + Sync),
) {
    fn locked<'l, 'p, P: Recording, R>(parts: &'l Mutex<Parts<'p, P, R>>) -> MutexGuard<'l, Parts<'p, P, R>> {
        parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
    let mut next = locked(parts).next();
    while let Some((number, mut part)) = next {
        part.read();
        let (first, sessions) = locked(parts).join(number, part);
        let answers: Vec<R> = sessions.into_iter().map(judge).collect();
        let weight = answers.iter().map(weigh).sum::<usize>();
        let mut parts = locked(parts);
        parts.weight += weight;
        // Without sessions, the number is that of others.
        if !answers.is_empty() {
            parts.answers.insert(first, answers);
        }
        next = parts.next();
    }
}
