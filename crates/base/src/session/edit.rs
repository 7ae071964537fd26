//! Edits of a session: parts left out, results and arguments replaced, calls added.
//!
//! What remains goes through a [`Builder`] as a reader would report it, so turns, numbers, pairs and late results come
//! out as if the changed session had been recorded. Numbers in an edit always refer to the session it is applied to.

mod part;
mod results;
mod turns;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

pub use part::Part;

use super::build::{Builder, Unsettled};
use super::{Body, Call, Message, MessageKind, OfferedFrom, Outcome, Results, Session, Turn};

/// One change of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Removes the call (by index) and its result.
    DropCall(u32),
    /// Replaces the arguments of the call (by index).
    Arguments {
        /// The call.
        call: u32,
        /// The new arguments.
        arguments: Body,
    },
    /// Replaces the result of the call (by index). A result that was not recorded comes directly after the response, or
    /// replaces one that did not say how the call ended; with [`Outcome::Unknown`] there is none.
    Result {
        /// The call.
        call: u32,
        /// The outcome. A text that is a published refusal makes it a refusal.
        outcome: Outcome,
        /// The content of the result.
        content: Body,
    },
    /// Adds a call to the turn (from 1).
    AddCall {
        /// The turn.
        turn: u32,
        /// The call of the turn (by index) after which it is added, later than calls added there before; with `None`,
        /// or one that is not of the turn, it is the turn's last.
        behind: Option<u32>,
        /// The call.
        call: AddedCall,
    },
    /// Adds a turn directly before the call (by index). Calls of its turn before it stay in front.
    AddTurn {
        /// The call.
        before: u32,
        /// The one call of the turn; with `None` it proposes none.
        call: Option<AddedCall>,
    },
    /// Moves the call (by index) and those after it in its turn to a turn of their own.
    NextTurn(u32),
}

/// An added call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedCall {
    /// The tool's name.
    pub tool: Arc<str>,
    /// Its arguments.
    pub arguments: Body,
    /// Its outcome.
    pub outcome: Outcome,
    /// The content of its result; there is none with [`Outcome::Unknown`].
    pub content: Body,
}

/// A changed session, with the mapping of calls and turns from the original.
#[derive(Debug, Clone)]
pub struct EditResult {
    /// The session.
    pub session: Arc<Session>,
    /// Calls that were added, by their index in the changed session.
    pub added: Vec<u32>,
    /// The positions of their edits.
    additions: Vec<usize>,
    calls: Vec<Option<u32>>,
    turns: Vec<Option<u32>>,
    alternatives: Vec<Option<usize>>,
}

/// The session reduced to a part.
pub fn part(session: &Session, part: &Part) -> EditResult {
    Plan { part: part.clone(), ..Plan::of(session) }.carry_out(session)
}

/// The session with these changes. Of contradicting changes the last one counts; changes of missing calls or turns have
/// no effect.
pub fn apply(session: &Session, edits: &[Edit]) -> EditResult {
    let mut plan = Plan::of(session);
    for (place, edit) in edits.iter().enumerate() {
        match edit {
            Edit::DropCall(call) => plan.part.drop_call(*call),
            Edit::Arguments { call, arguments } => {
                plan.arguments.insert(*call, arguments);
            }
            Edit::Result { call, outcome, content } => {
                plan.results.insert(*call, (*outcome, content));
            }
            Edit::AddCall { turn, behind, call } => {
                let own = session.turn(*turn).map(|turn| turn.calls.clone()).unwrap_or_default();
                let behind = behind.filter(|call| own.contains(&(*call as usize)));
                plan.added.entry(*turn).or_default().push(Addition { place, behind, call });
            }
            Edit::AddTurn { before, call } => {
                plan.turns.entry(*before).or_default().push((place, call.as_ref()));
            }
            Edit::NextTurn(call) => drop(plan.turns.entry(*call).or_default()),
        }
    }
    plan.carry_out(session)
}

impl EditResult {
    /// The new index of a call; `None`: it is removed.
    pub fn call(&self, before: u32) -> Option<u32> {
        *self.calls.get(before as usize)?
    }

    /// The original index of a call of the changed session; `None`: it was added.
    pub fn before(&self, now: u32) -> Option<u32> {
        self.calls.iter().position(|call| *call == Some(now)).map(|index| index as u32)
    }

    /// The position of the edit that added a call (by its new index).
    pub fn addition(&self, now: u32) -> Option<usize> {
        let nth = self.added.iter().position(|added| *added == now)?;
        self.additions.get(nth).copied()
    }

    /// The index of the call that the edit at this position added.
    pub fn added_by(&self, place: usize) -> Option<u32> {
        let nth = self.additions.iter().position(|addition| *addition == place)?;
        self.added.get(nth).copied()
    }

    /// The new position of an alternative; `None`: it is removed.
    pub fn alternative(&self, before: usize) -> Option<usize> {
        *self.alternatives.get(before)?
    }

    /// The new number of a turn; `None`: it is removed.
    pub fn turn(&self, before: u32) -> Option<u32> {
        *self.turns.get((before as usize).checked_sub(1)?)?
    }
}

/// All changes.
struct Plan<'e> {
    part: Part,
    arguments: HashMap<u32, &'e Body>,
    results: HashMap<u32, (Outcome, &'e Body)>,
    added: BTreeMap<u32, Vec<Addition<'e>>>,
    /// Turns directly before calls (by index), each with the position of its edit. If the list is empty, the call's own
    /// turn is split before it.
    turns: BTreeMap<u32, Vec<(usize, Option<&'e AddedCall>)>>,
}

/// A call to be added.
struct Addition<'e> {
    /// The position of its edit.
    place: usize,
    /// The call of the turn that it comes after; `None`: after all.
    behind: Option<u32>,
    call: &'e AddedCall,
}

impl<'e> Plan<'e> {
    fn of(session: &Session) -> Plan<'e> {
        Plan {
            part: Part::whole(session),
            arguments: HashMap::new(),
            results: HashMap::new(),
            added: BTreeMap::new(),
            turns: BTreeMap::new(),
        }
    }

    fn carry_out(&self, session: &Session) -> EditResult {
        let unsettled = session.unsettled();
        let mut builder = Builder::new(Arc::clone(&session.id), session.origin.clone());
        builder.marks_refusals(true);
        let mut writing = Writing {
            session,
            plan: self,
            builder,
            own_ids: self.own_ids(session, &unsettled),
            unsettled,
            settled: HashSet::new(),
            calls: vec![None; session.calls.len()],
            turns: vec![None; session.turns.len()],
            alternatives: vec![None; session.alternatives.len()],
            kept: 0,
            added: Vec::new(),
            additions: Vec::new(),
            results: Vec::new(),
            answered: 0,
            early: HashSet::new(),
        };
        for (place, message) in session.messages.iter().enumerate() {
            writing.message(place, message);
        }
        let Writing { builder, calls, turns, alternatives, added, additions, .. } = writing;
        let mut changed = builder.finish();
        changed.parent.clone_from(&session.parent);
        changed.diagnostics.clone_from(&session.diagnostics);
        changed.facts = Arc::clone(&session.facts);
        changed.offered = offered(session, &self.part);
        if changed.facts.results == Results::Absent {
            changed.without_results();
        }
        if let Some(elsewhere) = &session.elsewhere {
            changed.look_around(elsewhere.sessions());
        }
        EditResult { session: Arc::new(changed), added, additions, calls, turns, alternatives }
    }

    /// New ids for the calls whose result is added, removed or moved to the front. A result belongs to the oldest
    /// waiting call with its id, so a shared id would give it to another call.
    fn own_ids(&self, session: &Session, unsettled: &Unsettled) -> HashMap<u32, String> {
        let mut named: HashMap<Option<&str>, usize> = HashMap::new();
        let messages = session.messages.iter().enumerate();
        let orphans = messages.filter_map(|(place, message)| match &message.kind {
            MessageKind::Result(None, id) if !unsettled.of.contains_key(&place) => Some(id.as_deref()),
            _ => None,
        });
        for id in session.calls.iter().map(|call| call.id.as_deref()).chain(orphans) {
            *named.entry(id).or_default() += 1;
        }
        let taken: HashSet<&str> = named.keys().copied().flatten().collect();
        let comes_or_goes = self.results.iter().filter_map(|(index, (outcome, _))| {
            let call = session.calls.get(*index as usize)?;
            (call.result.is_some() == (*outcome == Outcome::Unknown)).then_some(call)
        });
        // The results of the calls before an added turn come in front of that turn.
        let moves =
            self.turns.keys().filter_map(|before| session.calls.get(*before as usize)).flat_map(|call| {
                let own = session.turn(call.at.turn).map(|turn| session.calls_of(turn)).unwrap_or_default();
                own.iter().filter(|before| before.at < call.at && before.in_turn)
            });
        let shared = comes_or_goes.chain(moves).filter(|call| {
            let id = call.id.as_deref();
            id.is_none() || named.get(&id) != Some(&1)
        });
        shared.map(|call| (call.at.index, free(&taken, "changed", call.at.index))).collect()
    }
}

/// Feeds a builder with what remains.
struct Writing<'a> {
    session: &'a Session,
    plan: &'a Plan<'a>,
    builder: Builder,
    own_ids: HashMap<u32, String>,
    unsettled: Unsettled,
    /// Calls (by index) with a new result in place of one that did not say how they ended.
    settled: HashSet<u32>,
    calls: Vec<Option<u32>>,
    turns: Vec<Option<u32>>,
    alternatives: Vec<Option<usize>>,
    /// Alternatives kept so far.
    kept: usize,
    added: Vec<u32>,
    additions: Vec<usize>,
    /// Added results of this turn.
    results: Vec<(Option<String>, Outcome, &'a Body)>,
    /// The call (by index) from which on added results are still to come.
    answered: u32,
    /// Results, by the positions of their messages, that come before an added turn.
    early: HashSet<usize>,
}

impl<'a> Writing<'a> {
    fn message(&mut self, place: usize, message: &'a Message) {
        self.builder.at_line(message.line);
        match &message.kind {
            MessageKind::Response(number) => {
                if let Some(turn) = self.session.turn(*number).filter(|_| self.plan.part.has_turn(*number)) {
                    self.response(turn, place, message);
                }
            }
            MessageKind::Result(Some(index), _) => {
                if self.early.contains(&place) {
                    return;
                }
                if let Some(call) = self.session.calls.get(*index as usize) {
                    self.result(call, message);
                }
            }
            MessageKind::Result(None, id) => match self.unsettled.of.get(&place) {
                Some(call) => self.unsettled(*call, place, message),
                None if !self.plan.part.has_message(place) => {}
                None => self.builder.unpaired(id.as_deref(), message.content.clone(), message.at),
            },
            _ if !self.plan.part.has_message(place) => {}
            MessageKind::Operation(operation) => self.builder.operation(operation.clone()),
            MessageKind::Said => self.builder.said(&message.role, message.content.clone(), message.at),
        }
    }

    fn response(&mut self, turn: &'a Turn, place: usize, message: &'a Message) {
        let first = turn.calls.start as u32;
        let opens = place == turn.messages.start;
        if opens && !turn.calls.is_empty() {
            self.add_turns(first, message);
        }
        if opens && let Some(now) = self.turns.get_mut(turn.number as usize - 1) {
            *now = Some(self.builder.next_turn());
        }
        // One key for all messages of a turn, and none that a neighbour has.
        let key = (turn.messages.len() > 1).then(|| format!("turn-{}", turn.number));
        self.builder.response(key.as_deref(), message.content.clone(), message.at);
        let is_last = place + 1 == turn.messages.end;
        let calls = self.session.calls.get(self.proposed(turn, place, is_last)).unwrap_or_default();
        for call in calls {
            if call.at.index > first && self.plan.turns.contains_key(&call.at.index) {
                self.part_turn(turn, call, message);
                self.builder.response(key.as_deref(), Body::MISSING, message.at);
            }
            if self.plan.part.has_call(call) {
                let arguments = self.plan.arguments.get(&call.at.index).copied().unwrap_or(&call.arguments);
                let id = id_of(&self.own_ids, call);
                self.builder.in_folder(call.folder.as_deref());
                let agent = call.agent.as_deref().cloned().unwrap_or_default();
                self.builder.by_agent(agent.permission_mode.as_deref(), agent.version.as_deref());
                self.builder.copied(call.copied);
                let at = self.builder.call(id, &call.tool, arguments.clone(), call.time);
                self.builder.in_folder(None);
                self.builder.by_agent(None, None);
                self.builder.copied(false);
                // A decision about other arguments does not hold.
                if let Some(live) = &call.live
                    && *arguments == call.arguments
                {
                    self.builder.decided(Arc::clone(live));
                }
                if let Some(now) = self.calls.get_mut(call.at.index as usize) {
                    *now = Some(at.index);
                }
            }
            self.add(turn, Some(call.at.index), message);
        }
        if is_last {
            self.add(turn, None, message);
            self.alternatives(turn);
            self.unrecorded(turn, turn.calls.end as u32, message);
        }
    }

    /// The alternatives of a turn that stays.
    fn alternatives(&mut self, turn: &Turn) {
        let first = self.session.alternatives.partition_point(|other| other.turn < turn.number);
        for (place, other) in self.session.alternatives_of(turn.number).iter().enumerate() {
            if self.plan.part.has_alternative(first + place) {
                self.builder.alternative(other.choice, other.message.clone());
                if let Some(now) = self.alternatives.get_mut(first + place) {
                    *now = Some(self.kept);
                    self.kept += 1;
                }
            }
        }
    }

    /// The calls added after this one of the turn, or after all of them.
    fn add(&mut self, turn: &Turn, behind: Option<u32>, response: &Message) {
        let plan = self.plan;
        let added = plan.added.get(&turn.number).into_iter().flatten();
        for Addition { place, call, .. } in added.filter(|added| added.behind == behind) {
            let id = self.propose(*place, call, response);
            self.results.push((Some(id), call.outcome, &call.content));
        }
    }

    /// The calls that a message of a turn proposes; the last message has what the others leave.
    fn proposed(&self, turn: &Turn, place: usize, is_last: bool) -> Range<usize> {
        let before = self.session.messages.get(turn.messages.start..place).unwrap_or_default();
        let start = turn.calls.start + before.iter().map(|message| message.calls.len()).sum::<usize>();
        let own = self.session.messages.get(place).map_or(0, |message| message.calls.len());
        let end = if is_last { turn.calls.end } else { start + own };
        start.min(turn.calls.end)..end.min(turn.calls.end)
    }
}

/// The offered tools, with turn numbers moved past removed turns.
fn offered(session: &Session, part: &Part) -> Vec<OfferedFrom> {
    let mut offered: Vec<OfferedFrom> = Vec::new();
    for from in &session.offered {
        let gone =
            (1..from.turn).filter(|turn| session.turn(*turn).is_some() && !part.has_turn(*turn)).count();
        let turn = from.turn - gone as u32;
        if offered.last().is_some_and(|last| last.turn == turn) {
            offered.pop();
        }
        if offered.last().is_none_or(|last| last.tools != from.tools) {
            offered.push(OfferedFrom { turn, tools: from.tools.clone() });
        }
    }
    offered
}

/// The new id of a call.
fn id_of<'a>(own: &'a HashMap<u32, String>, call: &'a Call) -> Option<&'a str> {
    own.get(&call.at.index).map(String::as_str).or(call.id.as_deref())
}

/// An id that is not taken.
fn free(taken: &HashSet<&str>, word: &str, number: u32) -> String {
    let mut id = format!("{word}-{number}");
    while taken.contains(id.as_str()) {
        id.push('\'');
    }
    id
}
