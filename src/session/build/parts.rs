//! A session that is handed on in parts while it is collected: what is complete goes, and what must be known of it stays.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use super::Builder;
use crate::session::{Body, Call, Facts, Part, Results, Session, Turn};

/// What was handed on in parts while the session is still being read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sent {
    pub turns: u32,
    pub calls: u32,
    /// How the session was called when the first part was handed on.
    id: Arc<str>,
    /// What was known of the surroundings when the first part was handed on; `None` before that.
    facts: Option<Arc<Facts>>,
    /// Calls without a result so far, with the line of their turn.
    pub unanswered: BTreeMap<u32, (Call, u32)>,
    /// Those that got one since the last part.
    pub answered: Vec<Call>,
    /// Something came that should have been known before.
    pub spoiled: bool,
}

/// What tells the sessions of a file apart from their first part on: the line where one begins, and its id.
pub(crate) type Begun = (u32, Arc<str>);

/// What is known of the surroundings of sessions, from an earlier look at the file.
pub(crate) type Known = HashMap<Begun, Arc<Facts>>;

/// The end of a session that was handed on in parts.
#[derive(Debug)]
pub(crate) struct Tail {
    /// Calls in the parts before.
    pub first: u32,
    /// Calls of parts before that have got their result in this one.
    pub answered: Vec<Call>,
    /// Calls of parts before without a result: how many, and the line of the first one's turn.
    pub unanswered: Option<(usize, u32)>,
    /// Something is not as it was known to be when the parts were handed on, so they prove nothing.
    pub spoiled: bool,
    /// Which session it is.
    pub begun: Begun,
    /// What is known of the surroundings is not what was known of them when the first part was handed on.
    pub otherwise: bool,
}

impl Builder {
    /// Bytes of messages and calls that are held, about.
    pub(crate) fn held(&self) -> usize {
        self.held
    }

    /// Something came that should have been known when a part was handed on.
    pub(crate) fn spoil(&mut self) {
        self.sent.spoiled = true;
    }

    /// Whether what was handed on proves nothing.
    pub(crate) fn is_spoiled(&self) -> bool {
        self.sent.spoiled
    }

    /// Whether a part was handed on.
    pub(crate) fn is_in_parts(&self) -> bool {
        self.sent.facts.is_some()
    }

    /// Hands on every turn but the latest, and holds them no longer. `None` where none is complete, or where it is not
    /// yet known what became of its calls. `known` is what the surroundings will be at the session's end.
    pub(crate) fn take_part(&mut self, known: Option<&Known>) -> Option<Part> {
        if self.states_results || self.facts.results == Results::Absent {
            return None;
        }
        let open = self.session.turns.pop()?;
        if self.session.turns.is_empty() {
            self.session.turns.push(open);
            return None;
        }
        let (messages, calls) = (open.messages.start, open.calls.start);
        let beside = self.session.alternatives.partition_point(|other| other.turn < open.number);
        let sent = &mut self.sent;
        let facts = Arc::clone(sent.facts.get_or_insert_with(|| {
            sent.id = Arc::clone(&self.session.id);
            let known = known.and_then(|known| known.get(&(self.session.origin.line, Arc::clone(&sent.id))));
            known.map_or_else(|| Arc::new(self.facts.clone()), Arc::clone)
        }));
        let part = Part {
            first: sent.calls,
            answered: in_order(std::mem::take(&mut sent.answered)),
            session: Session {
                id: Arc::clone(&self.session.id),
                origin: self.session.origin.clone(),
                title: None,
                began: None,
                facts,
                parent: None,
                offered: Vec::new(),
                messages: self.session.messages.drain(..messages).collect(),
                turns: std::mem::take(&mut self.session.turns),
                calls: self.session.calls.drain(..calls).collect(),
                alternatives: self.session.alternatives.drain(..beside).collect(),
                diagnostics: Vec::new(),
            },
        };
        sent.turns += part.session.turns.len() as u32;
        sent.calls += calls as u32;
        for call in part.session.calls.iter().filter(|call| call.result.is_none()) {
            let message =
                part.turn(call.at.turn).and_then(|turn| part.session.messages.get(turn.messages.start));
            let line = message.map_or(part.session.origin.line, |message| message.line);
            // Its arguments were looked at when it was decided.
            let kept = Call { arguments: Body::MISSING, ..call.clone() };
            sent.unanswered.insert(call.at.index, (kept, line));
        }
        // What came within the turn that is open is told with it.
        sent.answered = open.late.iter().filter_map(|index| part.call(*index).cloned()).collect();
        let moved = |range: &Range<usize>, by: usize| range.start - by..range.end - by;
        self.session.turns.push(Turn {
            messages: moved(&open.messages, messages),
            calls: moved(&open.calls, calls),
            ..open
        });
        for call in &mut self.session.calls {
            call.result = call.result.and_then(|place| place.checked_sub(messages));
        }
        self.held = 0;
        self.names.clear();
        Some(part)
    }

    /// What the end of the session needs beside it, where parts of it were handed on.
    pub(crate) fn tail(&mut self) -> Option<Tail> {
        let sent = std::mem::take(&mut self.sent);
        if sent.facts.is_none() && !sent.spoiled {
            return None;
        }
        let first = sent.unanswered.values().next().map(|(_, line)| (sent.unanswered.len(), *line));
        Some(Tail {
            first: sent.calls,
            answered: in_order(sent.answered),
            unanswered: first,
            spoiled: sent.spoiled,
            begun: (self.session.origin.line, sent.id),
            otherwise: sent.facts.is_some_and(|facts| *facts != self.facts),
        })
    }
}

fn in_order(mut calls: Vec<Call>) -> Vec<Call> {
    calls.sort_unstable_by_key(|call| call.at.index);
    calls
}
