//! Which calls wait for their result.

use std::collections::VecDeque;

/// Calls that wait for their result, in their order. Nearly always one, for which nothing is allocated.
#[derive(Debug, Clone, Default)]
pub(super) struct Waiting {
    pub first: Option<u32>,
    pub others: VecDeque<u32>,
}

impl Waiting {
    pub fn push(&mut self, call: u32) {
        match self.first {
            None => self.first = Some(call),
            Some(_) => self.others.push_back(call),
        }
    }

    pub fn pop(&mut self) -> Option<u32> {
        let first = self.first?;
        self.first = self.others.pop_front();
        Some(first)
    }

    /// This call, if it waits.
    pub fn take(&mut self, call: u32) -> Option<u32> {
        if self.first == Some(call) {
            return self.pop();
        }
        let place = self.others.iter().position(|other| *other == call)?;
        self.others.remove(place)
    }

    pub fn pop_newest(&mut self) -> Option<u32> {
        self.others.pop_back().or_else(|| self.first.take())
    }
}
