//! Further choices of a response: what the model proposed beside the turn that the conversation continued with.
//!
//! They stand beside [`Session::turns`] and [`Session::calls`], whose numbers they do not change: none of their calls ran.

use std::sync::Arc;

use super::build::Builder;
use super::{Body, Call, CallRef, Message, MessageKind, Outcome, Results, Session, ToolCall, Turn};
use crate::diagnostic::Loss;

/// One response that was not taken, beside the turn that was.
#[derive(Debug, Clone, PartialEq)]
pub struct Alternative {
    /// The turn that it is an alternative to, from 1.
    pub turn: u32,
    /// Its number among the choices of the response, from 1.
    pub choice: u32,
    /// What it says, with the calls it proposes.
    pub message: Message,
}

/// A call of an alternative, as people and reports name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    pub fn calls(&self) -> &[ToolCall] {
        &self.message.calls
    }

    /// How a call of it is named; `call` counts from 1.
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

    /// The tool of every call, of choices that were not taken as well.
    pub fn proposed_tools(&self) -> impl Iterator<Item = &Arc<str>> {
        let others = self.alternatives.iter().flat_map(Alternative::calls);
        self.calls.iter().map(|call| &call.tool).chain(others.map(|call| &call.tool))
    }

    /// The session as it would be if an alternative had been taken: it ends with that turn, and nothing is known of what
    /// its calls gave. A call there has the index that it would have had.
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
            diagnostics: Vec::new(),
        };
        // A result that is recorded later than this turn was not known to it.
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
            id: call.id.clone(),
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
            outcome: Outcome::Unknown,
            refusal: None,
            output: Body::MISSING,
            result: None,
            in_turn: false,
            time: alternative.message.at,
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

/// All choices of one response.
#[derive(Debug)]
pub struct Choices {
    turn: u32,
    /// The one that was taken first, with their numbers.
    all: Vec<(u32, Message)>,
}

impl Builder {
    /// The choices of the latest response, where it has several.
    pub fn choices(&self) -> Option<Choices> {
        let (turn, taken, others) = self.latest()?;
        let first = (1..).find(|number| others.iter().all(|other| other.choice != *number))?;
        let others = others.iter().map(|other| (other.choice, other.message.clone()));
        let all: Vec<_> = std::iter::once((first, taken.clone())).chain(others).collect();
        (all.len() > 1).then_some(Choices { turn, all })
    }

    /// Adds the choices of a response that stands here once more, as the conversation continued: those that it is not.
    pub fn beside_again(&mut self, choices: &Choices) {
        let Some((turn, taken, [])) = self.latest() else { return };
        if turn != choices.turn {
            return;
        }
        let place = choices.all.iter().position(|(_, message)| says_the_same(message, taken)).unwrap_or(0);
        let mut others: Vec<_> = choices.all.clone();
        others.remove(place);
        others.sort_by_key(|(choice, _)| *choice);
        others.into_iter().for_each(|(choice, message)| self.alternative(choice, message));
    }
    /// An empty session in which a further choice of the latest response is read, so that nothing it says is mistaken for
    /// a part of this one. It is given back to [`Builder::beside`].
    pub fn aside(&self) -> Builder {
        let origin = self.origin().clone();
        let mut aside = Builder::new("", origin);
        aside.at_line(self.line());
        aside
    }

    /// Adds a further choice of the latest response, as it was read into a session of its own. `choice` is its number
    /// among all of them, from 1.
    pub fn beside(&mut self, choice: u32, read: Builder) {
        let read = read.finish();
        read.diagnostics.into_iter().for_each(|diagnostic| self.diagnostic(diagnostic));
        let said = read.messages.iter().filter(|message| matches!(message.kind, MessageKind::Response(_)));
        let content =
            said.clone().map(|message| &message.content).find(|content| !content.shown().is_empty());
        let first = said.clone().next();
        if let Some(first) = first {
            let content = content.unwrap_or(&first.content).clone();
            let calls = said.flat_map(|message| message.calls.iter().cloned()).collect();
            self.alternative(choice, Message { content, calls, ..first.clone() });
        }
        if first.is_none() {
            let message =
                format!("choice {choice} of the response is no message of the model; it is left out");
            self.lost(Loss::MayHoldCalls, message);
        }
        for (nth, inner) in read.alternatives.into_iter().enumerate() {
            self.alternative(choice + 1 + nth as u32, inner.message);
        }
    }
}

/// Whether two messages of the model are one, as far as a request that repeats it goes.
fn says_the_same(one: &Message, other: &Message) -> bool {
    let same = |one: &ToolCall, other: &ToolCall| {
        one.tool == other.tool && (one.id.is_some() && one.id == other.id || one.arguments == other.arguments)
    };
    one.calls.len() == other.calls.len()
        && one.calls.iter().zip(&other.calls).all(|(one, other)| same(one, other))
        && (!one.calls.is_empty() || one.content.shown() == other.content.shown())
}
