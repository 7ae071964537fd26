//! Messages that have arrived and are not handled yet: input has priority, and bulk messages about sessions come last.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::workbench::message::{Arrived, Msg};

/// Interval at which bulk messages are handled and shown.
pub const TICK: Duration = Duration::from_millis(33);
/// How long bulk messages are handled at a time: a key waits at most that long.
const SLICE: Duration = Duration::from_millis(3);

/// The end of the channel that everything arrives through.
pub struct Arrivals {
    receiver: Receiver<Arrived>,
    input: VecDeque<Vec<Msg>>,
    work: VecDeque<Msg>,
    bulk: VecDeque<Msg>,
    /// When the last of that was taken in.
    taken: Option<Instant>,
    ended: bool,
}

/// The next thing to do.
pub enum Next {
    /// Input.
    Input(Vec<Msg>),
    /// A worker has something to say.
    Work(Msg),
    /// It is time for bulk messages.
    Bulk,
    /// Nothing has happened until the deadline.
    Nothing,
    /// Nothing can happen any more.
    End,
}

impl Arrivals {
    /// Through this channel.
    pub fn new(receiver: Receiver<Arrived>) -> Arrivals {
        let (input, work, bulk) = Default::default();
        Arrivals { receiver, input, work, bulk, taken: None, ended: false }
    }

    /// The next thing, waited for until then; `None`: for as long as it takes.
    pub fn next(&mut self, until: Option<Instant>) -> Next {
        loop {
            self.take_in();
            if let Some(next) = self.urgent() {
                return next;
            }
            let due =
                (!self.bulk.is_empty()).then(|| self.taken.map_or_else(Instant::now, |taken| taken + TICK));
            let now = Instant::now();
            if due.is_some_and(|due| due <= now) {
                return Next::Bulk;
            }
            if until.is_some_and(|until| until <= now) {
                return Next::Nothing;
            }
            if self.ended && self.bulk.is_empty() {
                return Next::End;
            }
            self.wait(until.into_iter().chain(due).min());
        }
    }

    /// The next message other than input and bulk messages, waiting until then.
    pub fn next_work(&mut self, until: Instant) -> Option<Msg> {
        loop {
            self.take_in();
            if let Some(work) = self.work.pop_front() {
                return Some(work);
            }
            if self.ended || until <= Instant::now() {
                return None;
            }
            self.wait(Some(until));
        }
    }

    /// Further messages, without waiting.
    pub fn more(&mut self) -> Option<Next> {
        self.take_in();
        self.urgent()
    }

    /// Bulk messages, for a short while, and until another message arrives.
    pub fn bulk(&mut self) -> impl Iterator<Item = Msg> {
        let until = Instant::now() + SLICE;
        std::iter::from_fn(move || {
            self.take_in();
            let goes_on = self.input.is_empty() && Instant::now() < until;
            let message = if goes_on { self.bulk.pop_front() } else { None };
            // The rest is handled as soon as there is nothing else to do.
            self.taken = if self.bulk.is_empty() { Some(Instant::now()) } else { None };
            message
        })
    }

    /// Whether there are more bulk messages.
    pub fn has_bulk(&self) -> bool {
        !self.bulk.is_empty()
    }

    fn urgent(&mut self) -> Option<Next> {
        self.input.pop_front().map(Next::Input).or_else(|| self.work.pop_front().map(Next::Work))
    }

    fn take_in(&mut self) {
        while let Ok(arrived) = self.receiver.try_recv() {
            self.put(arrived);
        }
    }

    fn wait(&mut self, until: Option<Instant>) {
        let arrived = match until {
            Some(until) => self.receiver.recv_timeout(until.saturating_duration_since(Instant::now())),
            None => self.receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match arrived {
            Ok(arrived) => self.put(arrived),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => self.ended = true,
        }
    }

    fn put(&mut self, arrived: Arrived) {
        match arrived {
            Arrived::Input(messages) => self.input.push_back(messages),
            Arrived::Work(message) => self.work.push_back(message),
            Arrived::Bulk(message) => self.bulk.push_back(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::workbench::keys::Key;
    use crate::workbench::message::Event;

    fn bulk() -> Arrived {
        Arrived::Bulk(Msg::Recordings(Event::End { diagnostics: Vec::new() }))
    }

    fn name(next: &Next) -> &'static str {
        match next {
            Next::Input(_) => "input",
            Next::Work(_) => "work",
            Next::Bulk => "bulk",
            Next::Nothing => "nothing",
            Next::End => "end",
        }
    }

    #[test]
    fn keys_go_before_what_arrived_before_them() {
        let (out, receiver) = channel();
        let mut arrivals = Arrivals::new(receiver);
        out.send(bulk()).unwrap();
        out.send(bulk()).unwrap();
        out.send(Arrived::Work(Msg::ChordWaits)).unwrap();
        out.send(Arrived::Input(vec![Msg::Key(Key::char('j'))])).unwrap();
        let mut said = || name(&arrivals.next(Some(Instant::now()))).to_owned();
        assert_eq!([said(), said(), said()], ["input", "work", "bulk"]);
        assert_eq!(arrivals.bulk().count(), 2);
        out.send(bulk()).unwrap();
        let begun = Instant::now();
        let soon = begun + Duration::from_millis(1);
        assert_eq!(name(&arrivals.next(Some(soon))), "nothing", "the screen was drawn a moment ago");
        assert_eq!(name(&arrivals.next(None)), "bulk");
        assert!(begun.elapsed() >= TICK / 2);
        drop(out);
        assert_eq!(arrivals.bulk().count(), 1);
        assert_eq!(name(&arrivals.next(None)), "end");
    }

    #[test]
    fn a_key_breaks_off_what_is_taken_in() {
        let (out, receiver) = channel();
        let mut arrivals = Arrivals::new(receiver);
        (0..3).for_each(|_| out.send(bulk()).unwrap());
        let mut taken = arrivals.bulk();
        assert!(taken.next().is_some());
        out.send(Arrived::Input(Vec::new())).unwrap();
        assert!(taken.next().is_none());
        drop(taken);
        assert_eq!(name(&arrivals.next(None)), "input");
        assert_eq!(name(&arrivals.next(None)), "bulk", "the rest is not waited with");
    }
}
