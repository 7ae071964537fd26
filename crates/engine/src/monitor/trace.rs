//! The calls that ran, in order. A copy shares what it can, so that a fork of a long run costs nothing.
//!
//! Nearly all calls follow the one before in one of two ways: as the only call of the next turn, or as the next call of
//! the same turn. So a trace is a list of stretches, and one with a call per turn, as models usually write it, is a
//! single stretch: it needs no more memory however long it is.

use serde::{Deserialize, Serialize};

use super::collections::Blocks;
use rulestep_base::session::CallRef;

/// The calls that ran so far, in the order in which they started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// All but the newest stretch.
    before: Blocks<Stretch>,
    newest: Option<Stretch>,
    len: u32,
}

/// Calls that follow each other in one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Stretch {
    first: CallRef,
    /// The place of the first, from 0.
    place: u32,
    /// Whether each call is one turn later than the one before; `None` for a stretch of one call.
    by_turn: Option<bool>,
}

impl Stretch {
    /// The call that is this many after the first.
    fn at(&self, after: u32) -> CallRef {
        let CallRef { turn, call, index } = self.first;
        let (turns, calls) = if self.by_turn == Some(true) { (after, 0) } else { (0, after) };
        CallRef { turn: turn + turns, call: call + calls, index: index + after }
    }
}

impl Trace {
    /// Adds the call that starts now.
    pub fn push(&mut self, call: CallRef) {
        let place = self.len;
        self.len += 1;
        if let Some(newest) = &mut self.newest {
            let after = place - newest.place;
            let ways: &[bool] = match newest.by_turn {
                Some(true) => &[true],
                Some(false) => &[false],
                None => &[true, false],
            };
            for by_turn in ways {
                let going_on = Stretch { by_turn: Some(*by_turn), ..*newest };
                if going_on.at(after) == call {
                    *newest = going_on;
                    return;
                }
            }
            self.before.push(*newest);
        }
        self.newest = Some(Stretch { first: call, place, by_turn: None });
    }

    /// The number of calls.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether none did.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The call that started last.
    pub fn last(&self) -> Option<CallRef> {
        let newest = self.newest?;
        Some(newest.at(self.len - 1 - newest.place))
    }

    /// The call at a place, from 1.
    pub fn at(&self, place: u32) -> Option<CallRef> {
        let place = place.checked_sub(1).filter(|place| *place < self.len)?;
        let stretch = self.stretch(|stretch| stretch.place <= place)?;
        Some(stretch.at(place - stretch.place))
    }

    /// The place of a call, from 1.
    pub fn place(&self, call: CallRef) -> Option<u32> {
        // Calls start in the order in which they are proposed.
        let stretch = self.stretch(|stretch| stretch.first.index <= call.index)?;
        let place = stretch.place + (call.index - stretch.first.index);
        (place < self.len && self.at(place + 1)?.index == call.index).then_some(place + 1)
    }

    /// The last stretch that `begins` in time.
    fn stretch(&self, begins: impl Fn(&Stretch) -> bool) -> Option<Stretch> {
        // Mostly it is the newest.
        if let Some(newest) = self.newest.filter(|newest| begins(newest)) {
            return Some(newest);
        }
        let behind = self.before.partition_point(begins);
        self.before.get(behind.checked_sub(1)?).copied()
    }

    /// The calls, in order.
    pub fn iter(&self) -> impl Iterator<Item = CallRef> {
        let stretches = self.before.iter().chain(&self.newest);
        let ends =
            self.before.iter().chain(&self.newest).skip(1).map(|stretch| stretch.place).chain([self.len]);
        stretches.zip(ends).flat_map(|(stretch, end)| (0..end - stretch.place).map(|after| stretch.at(after)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sessions of every mixture of calls a turn, text alone, and calls that did not run.
    #[test]
    fn a_trace_is_the_list_of_its_calls() {
        for seed in 0..200_u32 {
            let (mut trace, mut list, mut index) = (Trace::default(), Vec::new(), 0);
            let mut random = seed.wrapping_mul(2_654_435_761);
            let mut dice = |sides: u32| {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (random >> 16) % sides
            };
            for turn in 1..300 {
                for call in 1..=dice(1 + seed % 4) + u32::from(seed % 3 > 0) {
                    let at = CallRef { turn, call, index };
                    index += 1;
                    if dice(10) < 1 + seed % 10 {
                        trace.push(at);
                        list.push(at);
                    }
                    assert_eq!((trace.len(), trace.last()), (list.len(), list.last().copied()));
                }
            }
            assert!(trace.iter().eq(list.iter().copied()), "{seed}");
            for index in 0..index + 2 {
                let place = list.iter().position(|call| call.index == index).map(|place| place as u32 + 1);
                assert_eq!(trace.place(CallRef { turn: 0, call: 0, index }), place, "{seed}: {index}");
            }
            for place in 0..list.len() as u32 + 2 {
                let call = place.checked_sub(1).and_then(|place| list.get(place as usize)).copied();
                assert_eq!(trace.at(place), call, "{seed}: {place}");
            }
        }
    }

    #[test]
    fn a_call_a_turn_is_one_stretch() {
        let mut trace = Trace::default();
        (0..100_000).for_each(|index| trace.push(CallRef { turn: index + 1, call: 1, index }));
        assert!(trace.before.is_empty());
    }
}
