//! Which calls wait for their result.

use std::collections::VecDeque;

/// Calls that wait for their result, in order. Nearly always one or none, and every id of a session has one of these:
/// more take room only when they occur.
#[derive(Debug, Clone, Default)]
pub(super) struct Waiting {
    first: Option<u32>,
    #[expect(
        clippy::box_collection,
        reason = "nearly none has others, and an empty list takes more room than none"
    )]
    others: Option<Box<VecDeque<u32>>>,
}

impl Waiting {
    pub fn push(&mut self, call: u32) {
        match self.first {
            None => self.first = Some(call),
            Some(_) => self.others.get_or_insert_default().push_back(call),
        }
    }

    pub fn pop(&mut self) -> Option<u32> {
        let first = self.first?;
        self.first = self.others.as_mut().and_then(|others| others.pop_front());
        Some(first)
    }

    /// Takes this call, if it waits.
    pub fn take(&mut self, call: u32) -> Option<u32> {
        if self.first == Some(call) {
            return self.pop();
        }
        let others = self.others.as_mut()?;
        let place = others.iter().position(|other| *other == call)?;
        others.remove(place)
    }

    pub fn pop_newest(&mut self) -> Option<u32> {
        let newest = self.others.as_mut().and_then(|others| others.pop_back());
        newest.or_else(|| self.first.take())
    }

    /// The call that has waited longest.
    pub fn first(&self) -> Option<u32> {
        self.first
    }

    pub fn calls(&self) -> impl Iterator<Item = u32> {
        self.first.into_iter().chain(self.others.iter().flat_map(|others| others.iter().copied()))
    }
}
