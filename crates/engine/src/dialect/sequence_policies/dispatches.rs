//! The dispatched calls, shared between a run, its forks and its findings: copying them costs nothing.

use std::sync::Arc;

use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Serialize};

use crate::monitor::collections::Blocks;
use crate::monitor::saved;
use rulestep_base::session::CallRef;

/// The calls that ran and have a result, by their place in the session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Dispatches {
    /// Those whose results came in the order of the calls: nearly all.
    in_order: Blocks<(CallRef, Arc<str>)>,
    /// The others, kept separately so that inserting one moves nothing.
    #[serde(with = "saved::sorted")]
    late: RedBlackTreeMapSync<CallRef, Arc<str>>,
}

impl Dispatches {
    /// Adds a call; a result that comes late puts it between those that are there.
    pub fn add(&mut self, call: CallRef, tool: Arc<str>) {
        match self.in_order.last() {
            Some((last, _)) if last.index > call.index => self.late.insert_mut(call, tool),
            _ => self.in_order.push((call, tool)),
        }
    }

    /// Their places and tools, in call order.
    pub fn calls(&self) -> impl Iterator<Item = (CallRef, &Arc<str>)> {
        let mut in_order = self.in_order.iter().map(|(call, tool)| (*call, tool)).peekable();
        let mut late = self.late.iter().map(|(call, tool)| (*call, tool)).peekable();
        std::iter::from_fn(move || match (in_order.peek(), late.peek()) {
            (Some((first, _)), Some((second, _))) if first.index > second.index => late.next(),
            (None, _) => late.next(),
            _ => in_order.next(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_result_stands_where_its_call_does() {
        let mut dispatched = Dispatches::default();
        let call = |index| CallRef { turn: 1, call: index + 1, index };
        for (index, tool) in [(0, "a"), (2, "c"), (1, "b")] {
            dispatched.add(call(index), tool.into());
        }
        let copy = dispatched.clone();
        dispatched.add(call(3), "d".into());
        assert!(dispatched.calls().map(|(call, _)| call.index).eq(0..4));
        let names = |of: &Dispatches| of.calls().map(|(_, tool)| tool.to_string()).collect::<Vec<_>>();
        assert_eq!(
            (names(&dispatched), names(&copy)),
            (vec!["a".into(), "b".into(), "c".into(), "d".into()], vec!["a".into(), "b".into(), "c".into()])
        );
    }
}
