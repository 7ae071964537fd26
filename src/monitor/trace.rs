//! The calls that ran, in order. A copy shares what it can, so that a fork of a long run costs nothing.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::session::CallRef;

/// Calls in a block that forks share.
const BLOCK: usize = 1024;

/// The calls that ran so far, in the order in which they started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// Blocks of [`BLOCK`] calls each.
    full: Vec<Arc<[CallRef]>>,
    /// The calls after them.
    tail: Vec<CallRef>,
}

impl Trace {
    /// Adds the call that starts now.
    pub fn push(&mut self, call: CallRef) {
        self.tail.push(call);
        if self.tail.len() == BLOCK {
            self.full.push(self.tail.as_slice().into());
            self.tail.clear();
        }
    }

    /// How many ran.
    pub fn len(&self) -> usize {
        self.full.len() * BLOCK + self.tail.len()
    }

    /// Whether none did.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The call that started last.
    pub fn last(&self) -> Option<CallRef> {
        self.tail.last().or_else(|| self.full.last()?.last()).copied()
    }

    /// The call at a place, from 1.
    pub fn at(&self, place: u32) -> Option<CallRef> {
        self.get((place as usize).checked_sub(1)?)
    }

    /// The place of a call, from 1.
    pub fn place(&self, call: CallRef) -> Option<u32> {
        // Calls start in the order in which they are proposed. Mostly it is the last one that is asked for.
        let (mut low, mut high) = (0, self.len());
        if self.last() == Some(call) {
            return Some(high as u32);
        }
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle)?.index.cmp(&call.index) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Some(middle as u32 + 1),
                Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = CallRef> {
        self.full.iter().flat_map(|block| block.iter()).chain(&self.tail).copied()
    }

    fn get(&self, index: usize) -> Option<CallRef> {
        let block = self.full.get(index / BLOCK).map_or(self.tail.as_slice(), |block| block);
        block.get(index % BLOCK).copied()
    }
}
