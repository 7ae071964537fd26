//! Further choices of a response: what the model proposed besides the turn that the conversation continued with.
//!
//! They are kept beside [`Session::turns`] and [`Session::calls`] and do not change their numbers: none of their calls
//! ran.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Body, Call, CallRef, Message, Outcome, Results, Session, ToolCall, Turn};

/// A choice of a response that was not taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Alternative {
    /// The turn that it is an alternative to, from 1.
    pub turn: u32,
    /// Its number among the choices of the response, from 1.
    pub choice: u32,
    /// Its message, with the calls it proposes.
    pub message: Message,
}

/// A call of an alternative, as people and reports name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AlternativeRef {
    /// Turn, from 1.
    pub turn: u32,
    /// Choice, from 1.
    pub choice: u32,
    /// Call in the choice, from 1.
    pub call: u32,
}

impl Alternative {
    /// The calls it proposes.
    pub fn calls(&self) -> &[Arc<ToolCall>] {
        &self.message.calls
    }

    /// The reference of one of its calls; `call` counts from 1.
    pub fn at(&self, call: u32) -> AlternativeRef {
        AlternativeRef { turn: self.turn, choice: self.choice, call }
    }
}

impl Session {
    /// The alternatives to a turn (from 1), by their choice.
    pub fn alternatives_of(&self, turn: u32) -> &[Alternative] {
        let start = self.alternatives.partition_point(|alternative| alternative.turn < turn);
        let end = self.alternatives.partition_point(|alternative| alternative.turn <= turn);
        self.alternatives.get(start..end).unwrap_or_default()
    }

    /// The alternative with this turn and choice.
    pub fn alternative(&self, turn: u32, choice: u32) -> Option<&Alternative> {
        self.alternatives_of(turn).iter().find(|alternative| alternative.choice == choice)
    }

    /// The tool of every call, also of choices that were not taken.
    pub fn proposed_tools(&self) -> impl Iterator<Item = &Arc<str>> {
        let others = self.alternatives.iter().flat_map(Alternative::calls);
        self.calls.iter().map(|call| &call.tool).chain(others.map(|call| &call.tool))
    }

    /// The session as it would be if an alternative had been taken: it ends with that turn, and the results of its
    /// calls are unknown. A call there has the index that it would have had.
    pub fn taking(&self, alternative: &Alternative) -> Session {
        let turn = self.turn(alternative.turn);
        let (messages, first) = match turn {
            Some(turn) => (turn.messages.start, turn.calls.start),
            None => (self.messages.len(), self.calls.len()),
        };
        let mut taken = Session {
            id: self.id.clone(),
            origin: self.origin.clone(),
            facts: self.facts.clone(),
            parent: self.parent.clone(),
            began: self.began,
            title: self.title.clone(),
            offered: self.offered.iter().filter(|from| from.turn <= alternative.turn).cloned().collect(),
            messages: self.messages.get(..messages).unwrap_or_default().to_vec(),
            turns: self.turns.iter().take_while(|turn| turn.number < alternative.turn).cloned().collect(),
            calls: self.calls.get(..first).unwrap_or_default().to_vec(),
            alternatives: self
                .alternatives
                .iter()
                .take_while(|other| other.turn < alternative.turn)
                .cloned()
                .collect(),
            elsewhere: self.elsewhere.clone(),
            diagnostics: Vec::new(),
        };
        // A result recorded after this turn was not known to it.
        for call in taken.calls.iter_mut().filter(|call| call.result.is_some_and(|result| result >= messages))
        {
            let was = call.clone();
            *call = Call {
                outcome: if was.outcome == Outcome::Refused { Outcome::Refused } else { Outcome::Unknown },
                output: Body::MISSING,
                result: None,
                in_turn: false,
                ..was
            };
        }
        let proposed = alternative.calls().iter().enumerate().map(|(nth, call)| Call {
            at: CallRef { turn: alternative.turn, call: nth as u32 + 1, index: (first + nth) as u32 },
            proposed: Arc::clone(call),
            outcome: Outcome::Unknown,
            refusal: None,
            output: Body::MISSING,
            result: None,
            in_turn: false,
            time: alternative.message.at,
            folder: None,
            agent: None,
            copied: false,
            live: None,
        });
        taken.calls.extend(proposed);
        taken.messages.push(alternative.message.clone());
        taken.turns.push(Turn {
            number: alternative.turn,
            messages: messages..messages + 1,
            calls: first..taken.calls.len(),
            late: Vec::new(),
        });
        if taken.facts.results == Results::Absent {
            taken.without_results();
        }
        taken
    }
}
