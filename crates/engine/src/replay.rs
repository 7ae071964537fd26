//! A recorded session under a policy: the decision about every call, and any turn's frame.
//!
//! A replay drives the same [`Run`] as a live agent does. It keeps every decision and, now and then, a fork of the run,
//! so that the frame of any turn is made on demand from the nearest fork.

mod alternatives;
mod counted;
pub mod counts;
mod course;
mod outcomes;
mod player;
mod tables;
mod tally;

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::monitor::finding::RuleState;
use crate::monitor::{Depth, StateItem};
use crate::policy::Policy;
use crate::run::{Decision, Halt, Mode, Narrowing, Run, Verdict};
use rulestep_base::diagnostic::code;
use rulestep_base::session::{Call, CallRef, Outcome, Session, Turn};

pub use alternatives::NotTaken;
pub use counted::{CountedRefusals, counted_refusals};
pub use counts::Counts;
pub use course::Course;
pub use outcomes::{Outcomes, outcomes};
use player::Player;
pub use tables::{RuleCount, Tables, ToolCount, beyond_most, category};
use tally::Tally;
pub use tally::{DecidedCall, Status};

/// A session judged by a policy.
pub struct Replay {
    session: Arc<Session>,
    policy: Arc<Policy>,
    mode: Mode,
    calls: Vec<DecidedCall>,
    /// The calls of every alternative, in the order of [`Session::alternatives`].
    alternatives: Vec<Vec<DecidedCall>>,
    rules: Vec<RuleState>,
    halt: Option<Halt>,
    frontier: Option<CallRef>,
    summary: Counts,
    reported: u64,
    status: Status,
    /// Runs before the first event of a turn, by turn, the earliest first; never of the first turn, which costs nothing to reach.
    forks: Vec<(u32, Run)>,
}

/// Everything that is in one turn: what the four panes show.
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
    /// The same for the calls of its alternatives.
    pub alternatives: Vec<Vec<Decision>>,
}

/// Forks that a replay keeps at the most: when there are more, every other one is dropped.
const FORKS: usize = 32;
/// Turns between two forks, to begin with.
const STRIDE: u32 = 64;

/// A run after a session as it was recorded: every call that ran there ran, even if the policy would have stopped it.
/// It enforces from now on.
pub fn happened(session: &Session, policy: &Arc<Policy>) -> Run {
    let mut player = Player::new(&session.facts, policy, Mode::Shadow, Depth::Findings);
    for turn in &session.turns {
        player.enter(session, turn);
        player.play(session, turn, &mut |_| ());
    }
    player.leave(session);
    player.run.set_mode(Mode::Enforce);
    player.run
}

/// The decision about a session's last call, and the run that made it. Every call before it happened as recorded, even
/// if the policy would have stopped it. `run` is past what came before the first turn of `session`, if that is only the
/// rest of a longer one; `before` gets it as it is between the last call's turn and the one before.
pub fn decide_last(
    run: Run,
    session: &Session,
    mode: Mode,
    mut before: impl FnMut(&Run),
) -> Option<(Decision, Run)> {
    let mut player = Player::continued(run, Mode::Shadow);
    let (last, mut decided) = (session.calls.last()?.at, None);
    for turn in &session.turns {
        if turn.number == last.turn {
            before(&player.run);
        }
        player.enter(session, turn);
        if turn.number == last.turn {
            player
                .last(session, turn, &mut |run| run.set_mode(mode), &mut |decision| decided = Some(decision));
            break;
        }
        player.play(session, turn, &mut |_| ());
    }
    Some((decided?, player.run))
}

/// The decision about one call (by index), with a check for every rule that was asked. No rule is asked about the calls
/// before it: they happened as recorded.
pub fn decide_one(session: &Session, policy: &Arc<Policy>, index: u32) -> Option<Decision> {
    let mut player = Player::new(&session.facts, policy, Mode::Shadow, Depth::Checks);
    let (wanted, mut decided) = (session.calls.get(index as usize)?.at, None);
    for turn in session.turns.iter().take_while(|turn| turn.number <= wanted.turn) {
        player.enter(session, turn);
        player.play_by(session, turn, &mut |run, call| {
            if call.at == wanted {
                let (ticket, decision) = run.propose(player::new(call));
                decided = Some(decision);
                return (ticket, Verdict::Allow, None);
            }
            (run.follow(player::new(call), &Decision::allow()), Verdict::Allow, None)
        });
    }
    decided
}

impl Replay {
    /// Judges every call.
    pub fn new(session: &Arc<Session>, policy: &Arc<Policy>, mode: Mode) -> Replay {
        Replay::to(Depth::Findings, session, policy, mode)
    }

    /// The same, without the evidence of findings.
    pub fn named(session: &Arc<Session>, policy: &Arc<Policy>, mode: Mode) -> Replay {
        Replay::to(Depth::Named, session, policy, mode)
    }

    /// The same, with a check for every rule that was asked, in all decisions.
    pub fn with_checks(session: &Arc<Session>, policy: &Arc<Policy>, mode: Mode) -> Replay {
        Replay::to(Depth::Checks, session, policy, mode)
    }

    fn to(depth: Depth, session: &Arc<Session>, policy: &Arc<Policy>, mode: Mode) -> Replay {
        let mut player = Player::new(&session.facts, policy, mode, depth);
        let (mut forks, mut stride): (Vec<(u32, Run)>, u32) = (Vec::new(), STRIDE);
        let mut tally = Tally::new(mode, session);
        let (mut calls, mut recorded) = (Vec::with_capacity(session.calls.len()), session.calls.iter());
        let mut alternatives: Vec<Vec<DecidedCall>> = Vec::with_capacity(session.alternatives.len());
        for turn in &session.turns {
            player.enter(session, turn);
            if turn.number > 1 && (turn.number - 1) % stride == 0 {
                if forks.len() == FORKS {
                    stride *= 2;
                    forks.retain(|(number, _)| (number - 1) % stride == 0);
                }
                if (turn.number - 1) % stride == 0 {
                    forks.push((turn.number, player.run.fork()));
                }
            }
            let mut judged = by_alternative(session, turn);
            player.beside(session, turn, &mut |place, decision| {
                let decided = tally.judge_alternative(turn.number, decision);
                if let Some(calls) = judged.get_mut(place) {
                    calls.push(decided);
                }
            });
            alternatives.extend(judged);
            player.play(session, turn, &mut |decision| {
                calls.extend(recorded.next().map(|call| tally.judge(call, decision)));
            });
        }
        player.leave(session);
        let rules = player.rules(session);
        let (summary, status) = tally.end(&rules);
        Replay {
            session: Arc::clone(session),
            policy: Arc::clone(policy),
            mode,
            status,
            rules,
            halt: player.run.halt().cloned(),
            frontier: tally.frontier,
            summary,
            reported: tally.reported,
            calls,
            alternatives,
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
    pub fn calls(&self) -> &[DecidedCall] {
        &self.calls
    }

    /// The calls made in this session, with their decisions: those that are counted.
    pub fn made(&self) -> impl Iterator<Item = (&Call, &DecidedCall)> {
        self.session.calls.iter().zip(&self.calls).filter(|(call, _)| !call.copied)
    }

    /// The decision about a call.
    pub fn call(&self, index: u32) -> Option<&DecidedCall> {
        self.calls.get(index as usize)
    }

    /// The calls that ran, in order: what rules about the session look at.
    pub fn ran(&self) -> Vec<CallRef> {
        let ran = self.session.calls.iter().zip(&self.calls).filter(|(call, judged)| {
            let allowed = self.mode == Mode::Shadow || judged.decision.verdict.may_run();
            allowed && call.outcome != Outcome::Refused
        });
        ran.map(|(call, _)| call.at).collect()
    }

    /// The outcomes of the session rules, in document order.
    pub fn rules(&self) -> &[RuleState] {
        &self.rules
    }

    /// The state after the last turn, from the nearest fork.
    pub fn state_end(&self) -> Vec<StateItem> {
        let (number, mut player) = self.resumed(u32::MAX, Depth::Findings);
        player.end(&self.session, number, &self.calls);
        player.run.state()
    }

    /// The first halt.
    pub fn halt(&self) -> Option<&Halt> {
        self.halt.as_ref()
    }

    /// The divergence in `enforce`: the first call at which decision and recording differ.
    pub fn frontier(&self) -> Option<CallRef> {
        self.frontier
    }

    /// Counts.
    pub fn summary(&self) -> Counts {
        self.summary
    }

    /// Allowed calls that a rule reports.
    pub fn reported(&self) -> u64 {
        self.reported
    }

    /// Status.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Whether this makes `replay` exit with 1: a call was stopped, or a rule is violated.
    pub fn objects(&self) -> bool {
        self.summary.objects()
    }

    /// The frame of a turn, from the nearest fork. `None` if there is no such turn.
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
        let (number, mut player) = self.resumed(first, Depth::Checks);
        for turn in self.session.turns_from(number).iter().take_while(|turn| turn.number <= last) {
            if turn.number != number {
                player.enter(&self.session, turn);
            }
            if turn.number < first {
                player.follow(&self.session, turn, &self.calls);
                continue;
            }
            let narrowing = player.narrowing(&self.session, turn, &self.policy);
            let state = player.run.state();
            let mut alternatives = by_alternative(&self.session, turn);
            let others = self.session.alternatives.partition_point(|other| other.turn < turn.number);
            player.beside(&self.session, turn, &mut |place, decision| {
                if let Some(calls) = alternatives.get_mut(place) {
                    let known = self.alternative(others + place).get(calls.len());
                    calls.push(with_checks(known, decision));
                }
            });
            let mut calls = Vec::new();
            let mut known = self.calls.iter().skip(turn.calls.start);
            player.play(&self.session, turn, &mut |decision| calls.push(with_checks(known.next(), decision)));
            if visit(Frame { turn: turn.number, narrowing, state, calls, alternatives }).is_break() {
                break;
            }
        }
    }

    /// The run directly before a call (by index), between turns: what the call's turn proposes before it has run, and that
    /// turn has ended. `None` if there is no such call.
    pub fn run_before(&self, index: u32) -> Option<Run> {
        let at = self.session.calls.get(index as usize)?.at;
        let (number, mut player) = self.resumed(at.turn.saturating_sub(1), Depth::Findings);
        for turn in self.session.turns_from(number) {
            if turn.number == at.turn {
                player.part(&self.session, turn, at.call, &self.calls);
                break;
            }
            if turn.number != number {
                player.enter(&self.session, turn);
            }
            player.follow(&self.session, turn, &self.calls);
        }
        Some(player.run)
    }

    /// The narrowing of every turn, one by one. If the recording does not list the offered tools, `inferred` is used.
    pub fn narrowings(&self, inferred: Arc<[Arc<str>]>) -> Narrowings<'_> {
        let mut player = Player::new(&self.session.facts, &self.policy, self.mode, Depth::Verdict);
        player.inferred = Some(inferred);
        Narrowings { replay: self, player, turns: self.session.turns.iter() }
    }

    /// A run that has entered this turn or an earlier one, and which; 0 if it has entered none.
    fn resumed(&self, latest: u32, depth: Depth) -> (u32, Player) {
        let fork = self.forks.iter().rev().find(|(number, _)| *number <= latest);
        let (number, mut player) = match fork {
            Some((number, run)) => (*number, Player::resumed(run.fork(), self.mode)),
            None => (0, Player::new(&self.session.facts, &self.policy, self.mode, depth)),
        };
        player.told = self.told_before(number);
        player.run.tell(depth);
        (number, player)
    }

    /// The messages to the model in place of results, before a turn: needed only if rules read history.
    fn told_before(&self, turn: u32) -> Vec<(u32, Arc<str>)> {
        let before = self.session.turn(turn).map_or(0, |turn| turn.calls.start);
        if self.mode == Mode::Shadow {
            return Vec::new();
        }
        let stopped = (0..).zip(self.calls.iter().take(before));
        stopped.filter_map(|(index, judged)| Some((index, judged.decision.told.clone()?))).collect()
    }
}

/// A decision that was made already, with the checks of asking again: what is shown of a call was decided once.
fn with_checks(known: Option<&DecidedCall>, asked: Decision) -> Decision {
    let Some(DecidedCall { decision, .. }) = known else { return asked };
    // A rule may fail when it is asked again: then it has no checks, and says so.
    let failed =
        |decision: &Decision| decision.findings.iter().any(|finding| finding.code == code::RULE_FAULT);
    if failed(&asked) {
        return asked;
    }
    debug_assert!(
        failed(decision) || (decision.verdict, &decision.findings) == (asked.verdict, &asked.findings),
        "the same rules say the same of the same call"
    );
    Decision { checks: asked.checks, ..decision.clone() }
}

/// An empty list for every alternative to a turn.
fn by_alternative<T>(session: &Session, turn: &Turn) -> Vec<Vec<T>> {
    session.alternatives_of(turn.number).iter().map(|_| Vec::new()).collect()
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
        self.player.enter(session, turn);
        let narrowing = self.player.narrowing(session, turn, &self.replay.policy);
        self.player.play(session, turn, &mut |_| {});
        Some(narrowing)
    }
}
