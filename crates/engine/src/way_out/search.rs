//! A search over forks of a run, shortest ways first.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use super::answer::Step;
use super::moves::Moves;
use crate::monitor::{Depth, RuleId};
use crate::run::{NewCall, Run, Verdict};
use rulestep_base::session::edit::AddedCall;
use rulestep_base::session::{Body, Call, Message, MessageKind, Millis, Session, ToolCall};

/// Most moves before the search gives up.
const BUDGET: u32 = 4000;
/// Most turns of all ways together: a rule that reads messages reads all of a way for each of its moves.
const EFFORT: u32 = 40_000;

/// The result of a search.
pub(super) enum SearchEnd {
    /// The shortest way, as indices of moves.
    Path(Vec<Move>),
    /// Every reachable state was visited.
    Exhausted,
    /// The budget is used up; all ways up to this length were tried.
    Budget(u32),
}

/// One step of a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    /// The call at this place.
    Call(usize),
    /// A turn without calls.
    Turn,
}

pub(super) struct Search<'a> {
    run: &'a Run,
    goal: &'a Call,
    moves: &'a Moves,
    now: Option<Millis>,
    /// Whether some rule reads messages.
    reads: bool,
    depth: u32,
}

/// A visited state, with its predecessor and move.
struct State {
    run: Run,
    from: Option<(usize, Move)>,
    depth: u32,
}

impl<'a> Search<'a> {
    pub fn new(run: &'a Run, session: &Session, goal: &'a Call, moves: &'a Moves) -> Search<'a> {
        let now = session.turn(goal.at.turn).and_then(|turn| session.time_of(turn));
        Search { run, goal, moves, now, reads: run.reads_history(), depth: 0 }
    }

    /// The length of the longest ways that were tried.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Searches for the shortest way.
    pub fn run(&mut self) -> SearchEnd {
        if self.allows(self.run) {
            return SearchEnd::Path(Vec::new());
        }
        let mut states = vec![State { run: self.run.fork(), from: None, depth: 0 }];
        let (mut seen, mut queue, mut made, mut effort) = (HashSet::new(), VecDeque::from([0]), 0, 0);
        if let Some(state) = states.first_mut() {
            seen.extend(self.digest(&mut state.run));
        }
        // A turn without calls first: of ways of one length, those with fewer calls.
        let turn = self.moves.turns.then_some(Move::Turn);
        let all: Vec<Move> = turn.into_iter().chain((0..self.moves.calls().len()).map(Move::Call)).collect();
        while let Some(place) = queue.pop_front() {
            for step in &all {
                let Some(State { run, depth, .. }) = states.get(place) else { break };
                let depth = depth + 1;
                if made == BUDGET || effort > EFFORT {
                    return SearchEnd::Budget(depth - 1);
                }
                made += 1;
                effort += if self.reads { depth } else { 1 };
                let Some(mut next) = self.make(run, *step) else { continue };
                let digest = self.digest(&mut next);
                if digest.is_some_and(|digest| !seen.insert(digest)) {
                    continue;
                }
                self.depth = depth;
                let allowed = self.allows(&next);
                states.push(State { run: next, from: Some((place, *step)), depth });
                if allowed {
                    return SearchEnd::Path(path(&states));
                }
                queue.push_back(states.len() - 1);
            }
        }
        SearchEnd::Exhausted
    }

    /// The steps of a way, each with the rules that require it.
    pub fn steps(&self, path: &[Move]) -> Vec<Step> {
        let step = |(place, made): (usize, &Move)| {
            let others = path.iter().enumerate().filter(|(other, _)| *other != place);
            let others: Vec<Move> = others.map(|(_, step)| *step).collect();
            let any = matches!(made, Move::Call(place) if self.moves.is_any(*place));
            Step { call: self.call(*made).cloned(), any, rules: self.against(&others) }
        };
        path.iter().enumerate().map(step).collect()
    }

    /// The rules that stop the first call that is stopped on a way, or the goal after it.
    fn against(&self, path: &[Move]) -> Vec<RuleId> {
        let mut run = self.run.fork();
        run.tell(Depth::Findings);
        for step in path {
            let Some(next) = self.make(&run, *step) else {
                let stopped = self.call(*step);
                return stopped.map(|call| self.rules(&run, &call.tool, &call.arguments)).unwrap_or_default();
            };
            run = next;
        }
        self.rules(&run, &self.goal.tool, &self.goal.arguments)
    }

    fn rules(&self, run: &Run, tool: &str, arguments: &Body) -> Vec<RuleId> {
        let mut run = run.fork();
        run.begin_turn(self.now);
        let (_, decision) = run.propose(NewCall { tool, arguments });
        let mut rules: Vec<RuleId> = Vec::new();
        for finding in decision.findings {
            if decision.verdict.stops() && !rules.contains(&finding.rule) {
                rules.push(finding.rule);
            }
        }
        rules
    }

    fn call(&self, step: Move) -> Option<&'a AddedCall> {
        match step {
            Move::Call(place) => self.moves.calls().get(place),
            Move::Turn => None,
        }
    }

    /// Whether the goal is allowed now.
    fn allows(&self, run: &Run) -> bool {
        let mut run = run.fork();
        run.begin_turn(self.now);
        let call = NewCall { tool: &self.goal.tool, arguments: &self.goal.arguments };
        run.propose(call).1.verdict == Verdict::Allow
    }

    /// The run after a move; `None`: its call is stopped itself.
    fn make(&self, run: &Run, step: Move) -> Option<Run> {
        let mut next = run.fork();
        next.begin_turn(self.now);
        let call = self.call(step);
        if self.reads {
            next.respond(&response(call));
        }
        if let Some(call) = call {
            let (ticket, decision) = next.propose(NewCall { tool: &call.tool, arguments: &call.arguments });
            if decision.verdict != Verdict::Allow {
                return None;
            }
            next.resolve(ticket, call.outcome, &call.content);
        }
        next.end_turn();
        if let Some(call) = call.filter(|_| self.reads) {
            next.message(&message("tool", call.content.clone(), MessageKind::Result(None, None)));
        }
        Some(next)
    }

    fn digest(&self, run: &mut Run) -> Option<Vec<u8>> {
        let made = self.moves.calls().iter().map(|call| (&call.tool, &call.arguments));
        let calls = made.chain([(&self.goal.tool, &self.goal.arguments)]);
        let calls: Vec<NewCall<'_>> = calls.map(|(tool, arguments)| NewCall { tool, arguments }).collect();
        run.digest(&calls)
    }
}

/// The moves that lead to the last state.
fn path(states: &[State]) -> Vec<Move> {
    let mut path = Vec::new();
    let mut state = states.last();
    while let Some((from, step)) = state.and_then(|state| state.from) {
        path.push(step);
        state = states.get(from);
    }
    path.reverse();
    path
}

/// The model's message of a hypothetical turn.
fn response(call: Option<&AddedCall>) -> Message {
    let own = call.map(|call| {
        let (tool, arguments) = (Arc::clone(&call.tool), call.arguments.clone());
        Arc::new(ToolCall { id: None, tool, arguments })
    });
    let response = message("assistant", Body::MISSING, MessageKind::Response(0));
    Message { calls: own.into_iter().collect(), ..response }
}

fn message(role: &str, content: Body, kind: MessageKind) -> Message {
    Message { role: role.into(), content, at: None, kind, calls: Vec::new(), line: 0 }
}
