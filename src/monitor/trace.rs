//! The calls that ran, in order. A copy shares what it can, so that a fork of a long run costs nothing.

use super::collections::Blocks;
use crate::session::CallRef;

/// The calls that ran so far, in the order in which they started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace(Blocks<CallRef>);

impl Trace {
    /// Adds the call that starts now.
    pub fn push(&mut self, call: CallRef) {
        self.0.push(call);
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
        if self.last() == Some(call) {
            return Some(self.len() as u32);
        }
        let before = self.0.partition_point(|ran| ran.index < call.index);
        let found = self.0.get(before).is_some_and(|ran| ran.index == call.index);
        found.then_some(before as u32 + 1)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = CallRef> {
        self.0.iter().copied()
    }
}
