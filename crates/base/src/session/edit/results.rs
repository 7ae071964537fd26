//! Results of the calls of a changed session.

use super::{Writing, id_of};
use crate::session::build::Mark;
use crate::session::{Body, Call, Message, Outcome, Turn};

impl Writing<'_> {
    /// Added results, after a turn's response.
    pub(super) fn unrecorded(&mut self, turn: &Turn, until: u32, response: &Message) {
        let mut results = std::mem::take(&mut self.results);
        let open = std::mem::replace(&mut self.answered, until)..until;
        let own = self.session.calls_of(turn).iter().filter(|call| call.result.is_none());
        let own = own.filter(|call| open.contains(&call.at.index));
        for call in own.filter(|call| self.plan.part.has_call(call)) {
            if let Some((outcome, content)) = self.plan.results.get(&call.at.index)
                && !self.unsettled.of.values().any(|unsettled| *unsettled == call.at.index)
            {
                let id = id_of(&self.own_ids, call);
                results.push((id.map(str::to_owned), *outcome, content));
            }
        }
        for (id, outcome, content) in results {
            if let Some(mark) = mark(outcome, None) {
                self.builder.result(id.as_deref(), content.clone(), mark, response.at);
            }
        }
    }

    pub(super) fn result(&mut self, call: &Call, message: &Message) {
        if !self.plan.part.has_call(call) {
            return;
        }
        let (outcome, content, refusal) = match self.plan.results.get(&call.at.index) {
            Some((outcome, content)) => (*outcome, *content, None),
            None => (call.outcome, &message.content, call.refusal),
        };
        self.answer(call, outcome, content, refusal, message);
    }

    /// A result that does not say how its call ended. It stays so, unless an edit gives the call a result.
    pub(super) fn unsettled(&mut self, index: u32, place: usize, message: &Message) {
        let session = self.session;
        let Some(call) = session.calls.get(index as usize).filter(|call| self.plan.part.has_call(call))
        else {
            return;
        };
        match self.plan.results.get(&index).filter(|_| call.result.is_none()) {
            Some((outcome, content)) if self.settled.insert(index) => {
                self.answer(call, *outcome, content, None, message);
            }
            Some(_) => {}
            None if !self.plan.part.has_message(place) => {}
            None => {
                let id = id_of(&self.own_ids, call);
                self.builder.unpaired(id, message.content.clone(), message.at);
            }
        }
    }

    /// The result of a call, at the position of `message`.
    fn answer(
        &mut self,
        call: &Call,
        outcome: Outcome,
        content: &Body,
        refusal: Option<&'static str>,
        message: &Message,
    ) {
        let Some(mark) = mark(outcome, refusal) else { return };
        let now = self.calls.get(call.at.index as usize).copied().flatten();
        let id = id_of(&self.own_ids, call);
        let answered = self.builder.result_of(now, id, content.clone(), mark, message.at);
        // It came after its own turn had proposed another call.
        let late = |turn: &Turn| turn.late.contains(&call.at.index);
        if let Some(at) = answered.filter(|_| self.session.turn(call.at.turn).is_some_and(late)) {
            self.builder.late_within_turn(at);
        }
    }
}

/// The mark of a result; `None` if there is no result.
pub(super) fn mark(outcome: Outcome, refusal: Option<&'static str>) -> Option<Mark> {
    let refused = refusal.or(Some("the result is marked as refused"));
    match outcome {
        Outcome::Ok => Some(Mark::default()),
        Outcome::Error => Some(Mark { error: true, refused: None }),
        Outcome::Refused => Some(Mark { error: false, refused }),
        Outcome::Unknown => None,
    }
}
