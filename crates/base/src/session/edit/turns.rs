//! Added turns, and turns that are split by them.

use std::collections::HashSet;

use super::results::mark;
use super::{AddedCall, Writing, free};
use crate::session::{Body, Call, Message, Turn};

impl<'a> Writing<'a> {
    /// Ends a turn in front of a call: the results of the calls before it come there, then the added turns.
    pub(super) fn part_turn(&mut self, turn: &'a Turn, call: &Call, response: &'a Message) {
        self.unrecorded(turn, call.at.index, response);
        let before =
            self.session.calls_of(turn).iter().filter(|before| before.at < call.at && before.in_turn);
        for before in before {
            if let Some((place, message)) =
                before.result.and_then(|at| Some((at, self.session.messages.get(at)?)))
                && self.early.insert(place)
            {
                self.result(before, message);
            }
        }
        self.builder.end_response();
        self.add_turns(call.at.index, response);
    }

    /// The turns that were added directly before a call.
    pub(super) fn add_turns(&mut self, before: u32, response: &Message) {
        let plan = self.plan;
        for (place, call) in plan.turns.get(&before).into_iter().flatten() {
            self.builder.response(None, Body::MISSING, response.at);
            let Some(call) = call else { continue };
            let id = self.propose(*place, call, response);
            if let Some(mark) = mark(call.outcome, None) {
                self.builder.result(Some(&id), call.content.clone(), mark, response.at);
            }
        }
    }

    /// Proposes an added call, and returns its id.
    pub(super) fn propose(&mut self, place: usize, call: &AddedCall, response: &Message) -> String {
        let taken: HashSet<&str> = self.session.calls.iter().filter_map(|call| call.id.as_deref()).collect();
        let id = free(&taken, "added", self.added.len() as u32);
        let at = self.builder.call(Some(&id), &call.tool, call.arguments.clone(), response.at);
        self.added.push(at.index);
        self.additions.push(place);
        id
    }
}
