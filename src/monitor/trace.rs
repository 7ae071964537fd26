//! The calls that ran, in order. A copy shares what it can, so that a fork of a long run costs nothing.

use std::cmp::Ordering;

use rpds::VectorSync;

use crate::session::CallRef;

/// The calls that ran so far, in the order in which they started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace(VectorSync<CallRef>);

impl Trace {
    /// Adds the call that starts now.
    pub fn push(&mut self, call: CallRef) {
        self.0.push_back_mut(call);
    }

    /// How many ran.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none did.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The call that started last.
    pub fn last(&self) -> Option<CallRef> {
        self.0.last().copied()
    }

    /// The call at a place, from 1.
    pub fn at(&self, place: u32) -> Option<CallRef> {
        self.0.get((place as usize).checked_sub(1)?).copied()
    }

    /// The place of a call, from 1.
    pub fn place(&self, call: CallRef) -> Option<u32> {
        // Calls start in the order in which they are proposed. Mostly it is the last one that is asked for.
        let (mut low, mut high) = (0, self.0.len());
        if self.last() == Some(call) {
            return Some(high as u32);
        }
        while low < high {
            let middle = low + (high - low) / 2;
            match self.0.get(middle)?.index.cmp(&call.index) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Some(middle as u32 + 1),
                Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = CallRef> {
        self.0.iter().copied()
    }
}

impl Default for Trace {
    fn default() -> Trace {
        Trace(VectorSync::new_sync())
    }
}
