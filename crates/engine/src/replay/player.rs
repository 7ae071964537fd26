//! Plays a recording into a run: the order of events, and the messages to the model for stopped calls.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::DecidedCall;
use crate::monitor::finding::RuleState;
use crate::monitor::{Depth, End};
use crate::policy::Policy;
use crate::run::{Decision, Mode, Narrowing, NewCall, Run, Ticket, Verdict};
use rulestep_base::session::{
    Body, Call, CallRef, Facts, Message, MessageKind, Outcome, Results, Session, Turn,
};

/// The decision about a call: its ticket, the verdict, the message to the model.
pub(super) type Answer = (Ticket, Verdict, Option<Arc<str>>);

/// Plays a recording into a run.
pub(super) struct Player {
    /// Whether some rule reads messages.
    reads: bool,
    /// Whether what is between calls matters at all: some rule reads it, or operations.
    looks: bool,
    pub run: Run,
    mode: Mode,
    /// Turns and calls that the run has been through before the session's first.
    base: (u32, u32),
    /// In `enforce`, the messages for stopped calls, each with its index, in order.
    pub told: Vec<(u32, Arc<str>)>,
    /// The offered tools, if the recording does not list them; made on first use.
    pub inferred: Option<Arc<[Arc<str>]>>,
}

/// A recorded call, to be decided.
pub(super) fn new(call: &Call) -> NewCall<'_> {
    NewCall { tool: &call.tool, arguments: &call.arguments }
}

impl Player {
    pub fn new(facts: &Arc<Facts>, policy: &Arc<Policy>, mode: Mode, depth: Depth) -> Player {
        Player::resumed(Run::new(policy, mode, depth, facts), mode)
    }

    pub fn resumed(run: Run, mode: Mode) -> Player {
        let (reads, base) = (run.reads_history(), (0, 0));
        let looks = reads || run.reads_operations();
        Player { reads, looks, run, mode, base, told: Vec::new(), inferred: None }
    }

    /// Plays the end of a session into a run that has been through all before that.
    pub fn continued(run: Run, mode: Mode) -> Player {
        Player { base: run.been_through(), ..Player::resumed(run, mode) }
    }

    /// The outcomes of the session rules after the whole session was played.
    pub fn rules(&self, session: &Session) -> Vec<RuleState> {
        let mut rules = self.run.report(End::Complete);
        for state in &mut rules {
            let at_fault = state.position.and_then(|index| session.calls.get(index as usize));
            state.copied = at_fault.is_some_and(|call| call.copied);
        }
        rules
    }

    /// The message for a call, if it was stopped.
    fn told(&self, index: u32) -> Option<&Arc<str>> {
        let place = self.told.binary_search_by_key(&index, |(index, _)| *index).ok()?;
        self.told.get(place).map(|(_, told)| told)
    }

    /// The events between the last turn and this one, and the turn's start.
    pub fn enter(&mut self, session: &Session, turn: &Turn) {
        self.between(session, session.before(turn));
        let time = if self.run.reads_time() { session.time_of(turn) } else { None };
        self.run.begin_turn(time);
        self.run.hear(session, turn.calls.start as u32);
    }

    /// The events after the last turn.
    pub fn leave(&mut self, session: &Session) {
        let from = session.turns.last().map_or(0, |turn| turn.messages.end);
        self.between(session, from..session.messages.len());
        self.run.hear(session, u32::MAX);
    }

    /// The decisions about the calls of the turn's alternatives, each with the index of its alternative. Each
    /// alternative is judged from the state at the turn's start; none of them ran, so the run itself does not receive
    /// them.
    pub fn beside(&self, session: &Session, turn: &Turn, decided: &mut dyn FnMut(usize, Decision)) {
        if session.alternatives.is_empty() {
            return;
        }
        for (place, alternative) in session.alternatives_of(turn.number).iter().enumerate() {
            let mut run = self.run.fork();
            if self.reads {
                run.respond(&alternative.message);
            }
            // Where the response that was not taken would have been.
            run.enter(session.calls_of(turn).first().and_then(|call| call.folder.as_ref()));
            for call in alternative.calls() {
                let (ticket, decision) =
                    run.propose(NewCall { tool: &call.tool, arguments: &call.arguments });
                let ran = decision.verdict.may_run() || self.mode == Mode::Shadow;
                decided(place, decision);
                // Siblings are in flight, unless every call of the recording counts as ok.
                if ran && session.facts.results == Results::Absent {
                    run.resolve(ticket, Outcome::Ok, &Body::MISSING);
                }
            }
        }
    }

    /// The turn's response, its calls one by one, its end, and results of earlier calls that are in it.
    pub fn play(&mut self, session: &Session, turn: &Turn, decided: &mut dyn FnMut(Decision)) {
        self.last(session, turn, &mut |_| (), decided);
    }

    /// The same, with something to do before the turn's last call is decided.
    pub fn last(
        &mut self,
        session: &Session,
        turn: &Turn,
        before: &mut dyn FnMut(&mut Run),
        decided: &mut dyn FnMut(Decision),
    ) {
        let last = turn.calls.end;
        self.play_by(session, turn, &mut |run, call| {
            if call.at.index as usize + 1 == last {
                before(run);
            }
            let (ticket, decision) = run.propose(new(call));
            let (verdict, told) = (decision.verdict, decision.told.clone());
            decided(decision);
            (ticket, verdict, told)
        });
    }

    /// The same, with known decisions about the session's calls.
    pub fn follow(&mut self, session: &Session, turn: &Turn, known: &[DecidedCall]) {
        self.play_by(session, turn, &mut |run, call| {
            let Some(DecidedCall { decision, .. }) = known.get(call.at.index as usize) else {
                let (ticket, decision) = run.propose(new(call));
                return (ticket, decision.verdict, decision.told);
            };
            (run.follow(new(call), decision), decision.verdict, decision.told.clone())
        });
    }

    /// Plays the rest of a session whose decisions are known; the run has entered this turn, 0 for none.
    pub fn end(&mut self, session: &Session, entered: u32, known: &[DecidedCall]) {
        for turn in session.turns_from(entered) {
            if turn.number != entered {
                self.enter(session, turn);
            }
            self.follow(session, turn, known);
        }
        self.leave(session);
    }

    /// Plays the events between the last turn and this one, and those of the turn before its call with this number,
    /// unless it is the first.
    pub fn part(&mut self, session: &Session, turn: &Turn, before: u32, known: &[DecidedCall]) {
        if before == 1 {
            self.between(session, session.before(turn));
            self.run.hear(session, turn.calls.start as u32);
            return;
        }
        self.enter(session, turn);
        let front = turn.calls.start + before as usize - 1;
        let part = Turn { calls: turn.calls.start..front, late: Vec::new(), ..turn.clone() };
        self.follow(session, &part, known);
        self.run.hear(session, front as u32);
    }

    /// The same, with `decide` for each call.
    pub fn play_by<'s>(
        &mut self,
        session: &'s Session,
        turn: &Turn,
        decide: &mut impl FnMut(&mut Run, &'s Call) -> Answer,
    ) {
        let messages = session.messages.get(turn.messages.clone()).unwrap_or_default();
        if self.reads {
            let responses =
                messages.iter().filter(|message| matches!(message.kind, MessageKind::Response(_)));
            responses.for_each(|message| self.run.respond(message));
        }
        for call in session.calls_of(turn) {
            self.run.hear(session, call.at.index);
            self.run.enter(call.folder.as_ref());
            let (ticket, verdict, told) = decide(&mut self.run, call);
            if self.mode == Mode::Enforce {
                self.told.extend(told.map(|told| (call.at.index, told)));
            }
            let ran = verdict.may_run() || self.mode == Mode::Shadow;
            if ran && (call.in_turn || call.outcome == Outcome::Refused) {
                self.run.resolve(ticket, call.outcome, &call.output);
            }
        }
        self.run.end_turn();
        // A result that is after its turn's end counts from the turn after the one it is in.
        for index in &turn.late {
            if let Some(call) = session.calls.get(*index as usize)
                && call.outcome != Outcome::Refused
                && self.told(*index).is_none()
            {
                let (turns, calls) = self.base;
                let at =
                    CallRef { turn: call.at.turn + turns, index: call.at.index + calls, call: call.at.call };
                self.run.resolve(Ticket::of(at), call.outcome, &call.output);
            }
        }
        // An operation between two messages of one response is applied once the turn is over.
        for message in messages.iter().filter(|_| self.looks) {
            if let MessageKind::Operation(operation) = &message.kind {
                self.run.operation(operation);
            }
        }
    }

    fn between(&mut self, session: &Session, messages: Range<usize>) {
        if !self.looks {
            return;
        }
        for message in session.messages.get(messages).unwrap_or_default() {
            match &message.kind {
                MessageKind::Operation(operation) => self.run.operation(operation),
                _ if !self.reads => {}
                MessageKind::Result(Some(index), _) => match self.told(*index) {
                    Some(told) => {
                        let content = Body::text(&**told);
                        self.run.message(&Message { content, ..message.clone() });
                    }
                    None => self.run.message(message),
                },
                _ => self.run.message(message),
            }
        }
    }

    pub fn narrowing(&mut self, session: &Session, turn: &Turn, policy: &Policy) -> Narrowing {
        match session.offered_in(turn.number) {
            Some(tools) => {
                Narrowing { inferred: false, tools: self.run.narrow(tools.iter().map(|tool| &tool.name)) }
            }
            None => {
                let names = self.inferred.get_or_insert_with(|| {
                    let named = policy.names().iter();
                    let names: BTreeSet<&Arc<str>> = named.chain(session.proposed_tools()).collect();
                    names.into_iter().cloned().collect()
                });
                Narrowing { inferred: true, tools: self.run.narrow(names.iter()) }
            }
        }
    }
}
