//! A recorded session under a policy: the decision about every call, and any turn's frame.
//!
//! A replay drives the same [`Run`] as a live agent does. It keeps every decision and, now and then, a fork of the run,
//! so that the frame of any turn is made on demand from the nearest fork.

#[cfg(feature = "cli")]
pub mod corpus;

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use serde::Serialize;

use crate::engine::{Decision, Halt, Mode, Narrowing, NewCall, Run, Ticket, Verdict};
use crate::monitor::finding::{RuleOutcome, RuleState};
use crate::monitor::{Depth, End, StateItem};
use crate::policy::Policy;
use crate::session::part::View;
use crate::session::{Body, Call, CallRef, Facts, Message, MessageKind, Outcome, Part, Session, Turn};

/// A session judged by a policy.
pub struct Replay {
    session: Arc<Session>,
    policy: Arc<Policy>,
    mode: Mode,
    calls: Vec<Judged>,
    rules: Vec<RuleState>,
    state_end: Vec<StateItem>,
    halt: Option<Halt>,
    frontier: Option<CallRef>,
    summary: Summary,
    status: Status,
    /// Runs before the first event of a turn, by turn, the earliest first.
    forks: Vec<(u32, Run)>,
}

/// One call of the recording, decided.
#[derive(Debug, Clone)]
pub struct Judged {
    /// What the policy decides.
    pub decision: Decision,
    /// Whether that is what the recording did.
    pub agrees: bool,
    /// The model had seen something else by then (SEMANTICS 2, frontier).
    pub counterfactual: bool,
}

/// Everything that stands in one turn: what the four panes show.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The turn, from 1.
    pub turn: u32,
    /// The offered tools at its start.
    pub narrowing: Narrowing,
    /// Forbidden tools, preconditions, counters and recorded state at its start.
    pub state: Vec<StateItem>,
    /// The decisions about its calls, with a check for every rule that was asked.
    pub calls: Vec<Decision>,
}

/// What a session comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Summary {
    /// Model responses.
    pub turns: u32,
    /// Proposed calls.
    pub calls: u32,
    /// Calls by decision.
    pub allow: u32,
    /// See `allow`.
    pub deny: u32,
    /// See `allow`.
    pub halt: u32,
    /// See `allow`.
    pub not_reached: u32,
    /// Denied or halted calls beyond the frontier, which the others count as well.
    pub deny_counterfactual: u32,
    /// Calls where the decision is not what the recording did.
    pub disagree: u32,
}

/// Status of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// In `enforce`, a call was denied or halted.
    Stopped,
    /// A rule about the session is violated.
    Fail,
    /// There are such rules, and none had anything to decide.
    NotExercised,
    /// None of these.
    Pass,
}

impl Status {
    /// The word of the JSON output and the screen.
    pub fn word(self) -> &'static str {
        match self {
            Status::Stopped => "stopped",
            Status::Fail => "fail",
            Status::NotExercised => "not_exercised",
            Status::Pass => "pass",
        }
    }
}

/// A session's outcome without its calls: what `--summary` prints. Nothing is narrowed and no finding is built.
#[derive(Debug, Clone)]
pub struct Outcomes {
    /// Counts.
    pub summary: Summary,
    /// Status.
    pub status: Status,
    /// The first halt.
    pub halt: Option<Halt>,
    /// Rules about the session.
    pub rules: Vec<RuleState>,
}

/// Forks that a replay keeps at the most: when there are more, every other one is dropped.
const FORKS: usize = 32;
/// Turns between two forks, to begin with.
const STRIDE: u32 = 64;

impl Replay {
    /// Judges every call.
    pub fn new(session: &Arc<Session>, policy: &Arc<Policy>, mode: Mode) -> Replay {
        let view = View::from(&**session);
        let mut player = Player::new(&session.facts, policy, mode, Depth::Findings);
        let (mut forks, mut stride): (Vec<(u32, Run)>, u32) = (Vec::new(), STRIDE);
        let mut calls = Vec::with_capacity(session.calls.len());
        for turn in &session.turns {
            player.enter(view, turn);
            if (turn.number - 1) % stride == 0 {
                if forks.len() == FORKS {
                    stride *= 2;
                    forks.retain(|(number, _)| (number - 1) % stride == 0);
                }
                if (turn.number - 1) % stride == 0 {
                    forks.push((turn.number, player.run.fork()));
                }
            }
            player.play(view, turn, &mut |decision| calls.push(decision));
        }
        player.leave(view);
        let mut tally = Tally::new(mode);
        tally.summary.turns = session.turns.len() as u32;
        let calls: Vec<Judged> =
            session.calls.iter().zip(calls).map(|(call, decision)| tally.judge(call, decision)).collect();
        let rules = player.run.report(End::Complete);
        Replay {
            session: Arc::clone(session),
            policy: Arc::clone(policy),
            mode,
            status: status(&tally.summary, mode, &rules),
            rules,
            state_end: player.run.state(),
            halt: player.run.halt().cloned(),
            frontier: tally.frontier,
            summary: tally.summary,
            calls,
            forks,
        }
    }

    /// The session.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// The policy that judged it.
    pub fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// The mode it was judged in.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The decisions, by call index.
    pub fn calls(&self) -> &[Judged] {
        &self.calls
    }

    /// The decision about a call.
    pub fn call(&self, index: u32) -> Option<&Judged> {
        self.calls.get(index as usize)
    }

    /// How the rules about the session ended, in document order.
    pub fn rules(&self) -> &[RuleState] {
        &self.rules
    }

    /// What stands after the last turn.
    pub fn state_end(&self) -> &[StateItem] {
        &self.state_end
    }

    /// The first halt.
    pub fn halt(&self) -> Option<&Halt> {
        self.halt.as_ref()
    }

    /// In `enforce`, the first call at which decision and recording part.
    pub fn frontier(&self) -> Option<CallRef> {
        self.frontier
    }

    /// Counts.
    pub fn summary(&self) -> Summary {
        self.summary
    }

    /// Status.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Whether this makes `replay` exit with 1: a call was stopped, or a rule is violated.
    pub fn objects(&self) -> bool {
        objects(&self.summary, &self.rules)
    }

    /// What stands in a turn, from the nearest fork. `None` where there is no such turn.
    pub fn frame(&self, turn: u32) -> Option<Frame> {
        self.frames(turn, turn).pop()
    }

    /// The frames of consecutive turns, for less than asking one by one.
    pub fn frames(&self, first: u32, last: u32) -> Vec<Frame> {
        let mut frames = Vec::new();
        self.each_frame(first, last, &mut |frame| {
            frames.push(frame);
            ControlFlow::Continue(())
        });
        frames
    }

    /// The frames of consecutive turns one by one, until `visit` breaks off: for sessions too long to keep them all.
    pub fn each_frame(&self, first: u32, last: u32, visit: &mut dyn FnMut(Frame) -> ControlFlow<()>) {
        let Some((number, fork)) = self.forks.iter().rev().find(|(number, _)| *number <= first) else {
            return;
        };
        let view = View::from(&*self.session);
        let mut player = Player::resumed(fork.fork(), self.mode);
        player.told = self.told_before(*number);
        player.run.tell(Depth::Verdict);
        for turn in
            self.session.turns.iter().skip(*number as usize - 1).take_while(|turn| turn.number <= last)
        {
            if turn.number != *number {
                player.enter(view, turn);
            }
            if turn.number < first {
                player.play(view, turn, &mut |_| {});
                continue;
            }
            player.run.tell(Depth::Checks);
            let narrowing = player.narrowing(&self.session, turn, &self.policy);
            let state = player.run.state();
            let mut calls = Vec::new();
            player.play(view, turn, &mut |decision| calls.push(decision));
            if visit(Frame { turn: turn.number, narrowing, state, calls }).is_break() {
                break;
            }
        }
    }

    /// The narrowing of every turn, one by one. Where the recording does not say what was offered, `inferred` is asked
    /// about.
    pub fn narrowings(&self, inferred: Arc<[Arc<str>]>) -> Narrowings<'_> {
        let mut player = Player::new(&self.session.facts, &self.policy, self.mode, Depth::Verdict);
        player.inferred = Some(inferred);
        Narrowings { replay: self, player, turns: self.session.turns.iter() }
    }

    /// What the model was told in place of results, before a turn: needed only where rules read history.
    fn told_before(&self, turn: u32) -> Vec<Option<Arc<str>>> {
        let before = self.session.turn(turn).map_or(0, |turn| turn.calls.start);
        let told = |judged: &Judged| judged.decision.told.clone().filter(|_| self.mode == Mode::Enforce);
        self.calls.iter().take(before).map(told).collect()
    }
}

/// See [`Replay::narrowings`].
pub struct Narrowings<'a> {
    replay: &'a Replay,
    player: Player,
    turns: std::slice::Iter<'a, Turn>,
}

impl Iterator for Narrowings<'_> {
    type Item = Narrowing;

    fn next(&mut self) -> Option<Narrowing> {
        let turn = self.turns.next()?;
        let session = &*self.replay.session;
        self.player.enter(session.into(), turn);
        let narrowing = self.player.narrowing(session, turn, &self.replay.policy);
        self.player.play(session.into(), turn, &mut |_| {});
        Some(narrowing)
    }
}

/// A session's outcome alone, for less than a whole [`Replay`].
pub fn outcomes(session: &Session, policy: &Arc<Policy>, mode: Mode) -> Outcomes {
    let mut running = Running::new(&session.facts, policy, mode);
    running.play(session.into());
    running.end()
}

/// A session that is judged part by part, while it is read: what it comes to is what [`outcomes`] says of the whole.
pub struct Running {
    player: Player,
    tally: Tally,
}

impl Running {
    /// Before the first part. `facts` are those of the session.
    pub fn new(facts: &Arc<Facts>, policy: &Arc<Policy>, mode: Mode) -> Running {
        Running { player: Player::new(facts, policy, mode, Depth::Verdict), tally: Tally::new(mode) }
    }

    /// The next part, in the order of the session.
    pub fn add(&mut self, part: &Part) {
        self.play(part.into());
    }

    /// What the session comes to.
    pub fn end(self) -> Outcomes {
        let Running { player, tally } = self;
        let rules = player.run.report(End::Complete);
        Outcomes {
            summary: tally.summary,
            status: status(&tally.summary, tally.mode, &rules),
            halt: player.run.halt().cloned(),
            rules,
        }
    }

    fn play(&mut self, view: View<'_>) {
        let mut calls = view.session.calls.iter();
        for turn in &view.session.turns {
            self.tally.summary.turns += 1;
            self.player.enter(view, turn);
            self.player.play(view, turn, &mut |decision| {
                if let Some(call) = calls.next() {
                    self.tally.count(call, decision.verdict);
                }
            });
        }
        self.player.leave(view);
    }
}

impl Outcomes {
    /// Whether this makes `replay` exit with 1: a call was stopped, or a rule is violated.
    pub fn objects(&self) -> bool {
        objects(&self.summary, &self.rules)
    }
}

fn objects(summary: &Summary, rules: &[RuleState]) -> bool {
    summary.deny + summary.halt > 0 || rules.iter().any(|rule| rule.outcome == RuleOutcome::Violated)
}

fn status(summary: &Summary, mode: Mode, rules: &[RuleState]) -> Status {
    if mode == Mode::Enforce && summary.deny + summary.halt > 0 {
        Status::Stopped
    } else if rules.iter().any(|rule| rule.outcome == RuleOutcome::Violated) {
        Status::Fail
    } else if !rules.is_empty() && rules.iter().all(|rule| rule.outcome == RuleOutcome::NotExercised) {
        Status::NotExercised
    } else {
        Status::Pass
    }
}

/// Plays a recording into a run.
struct Player {
    /// Whether some rule reads what was said.
    reads: bool,
    run: Run,
    mode: Mode,
    /// In `enforce`, what stopped calls were told, by call index.
    told: Vec<Option<Arc<str>>>,
    /// What was offered, where the recording does not say; made when first asked for.
    inferred: Option<Arc<[Arc<str>]>>,
}

impl Player {
    fn new(facts: &Arc<Facts>, policy: &Arc<Policy>, mode: Mode, depth: Depth) -> Player {
        Player::resumed(Run::new(policy, mode, depth, facts), mode)
    }

    fn resumed(run: Run, mode: Mode) -> Player {
        Player { reads: run.reads_history(), run, mode, told: Vec::new(), inferred: None }
    }

    /// What stands between the last turn and this one, and the turn's start.
    fn enter(&mut self, view: View<'_>, turn: &Turn) {
        self.between(view.session, view.before(turn));
        self.run.begin_turn(view.session.time_of(turn));
    }

    /// What stands after the last turn.
    fn leave(&mut self, view: View<'_>) {
        self.between(view.session, view.behind());
    }

    /// The turn's response, its calls one by one, its end, and results of earlier calls that stand in it.
    fn play(&mut self, view: View<'_>, turn: &Turn, decided: &mut dyn FnMut(Decision)) {
        let messages = view.session.messages.get(turn.messages.clone()).unwrap_or_default();
        if self.reads {
            let responses =
                messages.iter().filter(|message| matches!(message.kind, MessageKind::Response(_)));
            responses.for_each(|message| self.run.respond(message));
        }
        for call in view.session.calls_of(turn) {
            let (ticket, decision) =
                self.run.propose(NewCall { tool: &call.tool, arguments: &call.arguments });
            self.told.push(decision.told.clone().filter(|_| self.mode == Mode::Enforce));
            let ran = decision.verdict == Verdict::Allow || self.mode == Mode::Shadow;
            decided(decision);
            if ran && (call.in_turn || call.outcome == Outcome::Refused) {
                self.run.resolve(ticket, call.outcome, &call.output);
            }
        }
        self.run.end_turn();
        // A result that stands after its turn's end counts from the turn after the one it stands in.
        for index in &turn.late {
            if let Some(call) = view.call(*index)
                && call.outcome != Outcome::Refused
                && self.told.get(*index as usize).is_none_or(Option::is_none)
            {
                self.run.resolve(Ticket::of(call.at), call.outcome, &call.output);
            }
        }
        // An operation between two messages of one response is applied once the turn is over.
        for message in messages {
            if let MessageKind::Operation(operation) = &message.kind {
                self.run.operation(operation);
            }
        }
    }

    fn between(&mut self, session: &Session, messages: Range<usize>) {
        for message in session.messages.get(messages).unwrap_or_default() {
            match &message.kind {
                MessageKind::Operation(operation) => self.run.operation(operation),
                _ if !self.reads => {}
                MessageKind::Result(Some(index), _) => match self.told.get(*index as usize) {
                    Some(Some(told)) => {
                        let content = Body::text(&**told);
                        self.run.message(&Message { content, ..message.clone() });
                    }
                    _ => self.run.message(message),
                },
                _ => self.run.message(message),
            }
        }
    }

    fn narrowing(&mut self, session: &Session, turn: &Turn, policy: &Policy) -> Narrowing {
        match session.offered_in(turn.number) {
            Some(tools) => {
                Narrowing { inferred: false, tools: self.run.narrow(tools.iter().map(|tool| &tool.name)) }
            }
            None => {
                let names = self.inferred.get_or_insert_with(|| {
                    let named = policy.names().iter();
                    let called = session.calls.iter().map(|call| &call.tool);
                    let names: BTreeSet<&Arc<str>> = named.chain(called).collect();
                    names.into_iter().cloned().collect()
                });
                Narrowing { inferred: true, tools: self.run.narrow(names.iter()) }
            }
        }
    }
}

/// Counts decisions and finds the frontier.
struct Tally {
    mode: Mode,
    summary: Summary,
    frontier: Option<CallRef>,
    halted: bool,
}

impl Tally {
    fn new(mode: Mode) -> Tally {
        Tally { mode, summary: Summary::default(), frontier: None, halted: false }
    }

    fn judge(&mut self, call: &Call, decision: Decision) -> Judged {
        let (agrees, counterfactual) = self.count(call, decision.verdict);
        Judged { decision, agrees, counterfactual }
    }

    fn count(&mut self, call: &Call, verdict: Verdict) -> (bool, bool) {
        let ran_then = call.outcome != Outcome::Refused;
        let agrees = (verdict == Verdict::Allow) == ran_then;
        // Siblings of the frontier had been proposed already; after a halt everything later is another session.
        let counterfactual =
            self.halted || self.frontier.is_some_and(|frontier| call.at.turn > frontier.turn);
        let summary = &mut self.summary;
        summary.calls += 1;
        match verdict {
            Verdict::Allow => summary.allow += 1,
            Verdict::Deny => summary.deny += 1,
            Verdict::Halt => summary.halt += 1,
            Verdict::NotReached => summary.not_reached += 1,
        }
        summary.disagree += u32::from(!agrees);
        summary.deny_counterfactual += u32::from(verdict.stops() && counterfactual);
        if self.mode == Mode::Enforce {
            if !agrees && self.frontier.is_none() {
                self.frontier = Some(call.at);
            }
            self.halted |= verdict == Verdict::Halt;
        }
        (agrees, counterfactual)
    }
}
