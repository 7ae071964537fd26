//! Choices of a response that were not taken, read beside the one that was.

use super::Builder;
use crate::diagnostic::Loss;
use crate::session::{Alternative, Body, Message, MessageKind, ToolCall};

/// All choices of one response.
#[derive(Debug)]
pub struct Choices {
    turn: u32,
    /// The taken one first, with their numbers.
    all: Vec<(u32, Message)>,
}

impl Builder {
    /// The choices of the latest response, if it has several.
    pub fn choices(&self) -> Option<Choices> {
        let (turn, taken, others) = self.latest()?;
        let first = (1..).find(|number| others.iter().all(|other| other.choice != *number))?;
        let others = others.iter().map(|other| (other.choice, other.message.clone()));
        let all: Vec<_> = std::iter::once((first, taken.clone())).chain(others).collect();
        (all.len() > 1).then_some(Choices { turn, all })
    }

    /// Adds the choices of a response that is repeated as the conversation continued, except the one that was taken.
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

    /// An empty session for reading a further choice of the latest response, so that nothing in it is mistaken for a
    /// part of this one. It is passed to [`Builder::beside`].
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
                format!("choice {choice} of the response is not a message of the model; it is left out");
            self.lost(Loss::MayHoldCalls, message);
        }
        for (nth, inner) in read.alternatives.into_iter().enumerate() {
            self.alternative(choice + 1 + nth as u32, inner.message);
        }
    }

    /// A response that was not taken, beside the latest one, with its number among the choices. One response has one time.
    pub fn alternative(&mut self, choice: u32, message: Message) {
        if self.session.turns.is_empty() {
            self.response(None, Body::MISSING, message.at);
        }
        let turn = self.turn_count();
        let messages = self.session.turns.last().map(|turn| turn.messages.clone()).unwrap_or_default();
        let at =
            self.session.messages.get(messages).unwrap_or_default().iter().find_map(|message| message.at);
        let before = self.session.alternatives.last().filter(|last| last.turn == turn);
        let choice = before.map_or(choice.max(1), |last| choice.max(last.choice + 1));
        let message = Message { at, kind: MessageKind::Response(turn), ..message };
        self.session.alternatives.push(Alternative { turn, choice, message });
    }

    /// The latest turn, its last message and its alternatives.
    pub fn latest(&self) -> Option<(u32, &Message, &[Alternative])> {
        let turn = self.session.turns.last()?;
        let message = self.session.messages.get(turn.messages.end.checked_sub(1)?)?;
        Some((turn.number, message, self.session.alternatives_of(turn.number)))
    }
}

/// Whether two messages of the model are the same, for a request that repeats one.
fn says_the_same(one: &Message, other: &Message) -> bool {
    let same = |one: &ToolCall, other: &ToolCall| {
        one.tool == other.tool && (one.id.is_some() && one.id == other.id || one.arguments == other.arguments)
    };
    one.calls.len() == other.calls.len()
        && one.calls.iter().zip(&other.calls).all(|(one, other)| same(one, other))
        && (!one.calls.is_empty() || one.content.shown() == other.content.shown())
}
