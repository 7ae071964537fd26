//! The running calls without a result, by their place in the session.

use std::collections::VecDeque;
use std::sync::Arc;

use rulestep_base::session::{Body, CallRef};

/// A call that was allowed.
#[derive(Clone)]
pub(super) struct InFlight {
    pub at: CallRef,
    /// Place of its tool's route.
    pub route: u32,
    pub arguments: Body,
    /// The working directory of the call, if it is not the session's.
    pub folder: Option<Arc<str>>,
}

/// Calls in flight. They start in the order of their places, and mostly end so.
#[derive(Clone, Default)]
pub(super) struct Flights {
    /// Place of the first entry.
    pub first: u32,
    /// An entry for each place from `first` on; none for a call that has ended or did not run.
    pub calls: VecDeque<Option<InFlight>>,
}

impl Flights {
    /// A call starts, later in the session than all that are here.
    pub fn start(&mut self, call: InFlight) {
        if self.calls.is_empty() {
            self.first = call.at.index;
        }
        let place = call.at.index.saturating_sub(self.first) as usize;
        self.calls.resize_with(place.max(self.calls.len()), || None);
        self.calls.push_back(Some(call));
    }

    /// A call ends; `None` if it is not in flight.
    pub fn end(&mut self, at: CallRef) -> Option<InFlight> {
        let place = at.index.checked_sub(self.first)? as usize;
        let call = self.calls.get_mut(place)?.take_if(|call| call.at == at);
        while self.calls.front().is_some_and(Option::is_none) {
            self.calls.pop_front();
            self.first += 1;
        }
        call
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(index: u32) -> CallRef {
        CallRef { turn: index + 1, call: 1, index }
    }

    #[test]
    fn calls_end_once_and_in_any_order() {
        let mut flights = Flights::default();
        for index in [2, 5, 6, 9] {
            flights.start(InFlight { at: at(index), route: index, arguments: Body::MISSING, folder: None });
        }
        let copy = flights.clone();
        for (index, ends) in
            [(0, false), (3, false), (6, true), (2, true), (2, false), (9, true), (5, true), (9, false)]
        {
            assert_eq!(flights.end(at(index)).map(|call| call.route), ends.then_some(index), "{index}");
        }
        assert!(flights.calls.is_empty());
        assert_eq!(copy.calls.iter().flatten().count(), 4);
        flights.start(InFlight { at: at(12), route: 0, arguments: Body::MISSING, folder: None });
        assert!(
            flights.end(CallRef { turn: 1, call: 1, index: 12 }).is_none(),
            "another call with this place"
        );
        assert!(flights.end(at(12)).is_some());
    }
}
