//! Alternatives: the decisions about their calls, and the session as each of them would have had it.

use std::sync::Arc;

use super::tally::Tally;
use super::{DecidedCall, Replay};
use crate::monitor::Depth;
use rulestep_base::session::{Alternative, AlternativeRef, Call, ToolCall};

/// A call of an alternative, decided.
#[derive(Debug, Clone, Copy)]
pub struct NotTaken<'r> {
    /// Place of its alternative in [`Session::alternatives`](rulestep_base::session::Session::alternatives).
    pub place: usize,
    /// The alternative.
    pub alternative: &'r Alternative,
    /// Its number in the alternative, from 1.
    pub nth: u32,
    /// The call.
    pub call: &'r ToolCall,
    /// The policy's decision. It always agrees: the recording did nothing with the call.
    pub judged: &'r DecidedCall,
}

impl NotTaken<'_> {
    /// Its reference.
    pub fn at(&self) -> AlternativeRef {
        self.alternative.at(self.nth)
    }
}

impl Replay {
    /// The decisions about the calls of an alternative, by its place in [`Session::alternatives`](rulestep_base::session::Session::alternatives).
    pub fn alternative(&self, place: usize) -> &[DecidedCall] {
        self.alternatives.get(place).map(Vec::as_slice).unwrap_or_default()
    }

    /// Every call of the alternatives to a turn (from 1) with its decision; with no turn, of all alternatives.
    pub fn alternatives(&self, turn: Option<u32>) -> impl Iterator<Item = NotTaken<'_>> {
        let wanted = move |other: &Alternative| turn.is_none_or(|turn| other.turn == turn);
        let first =
            turn.map_or(0, |turn| self.session.alternatives.partition_point(|other| other.turn < turn));
        let others = self.session.alternatives.iter().zip(&self.alternatives).enumerate().skip(first);
        let others = others.take_while(move |(_, (other, _))| wanted(other));
        others.flat_map(|(place, (alternative, judged))| {
            let calls = alternative.calls().iter().zip(judged).zip(1..);
            calls.map(move |((call, judged), nth)| NotTaken { place, alternative, nth, call, judged })
        })
    }

    /// The call of an alternative, in the session that takes it, with the judgement of that session.
    pub fn not_taken(&self, at: AlternativeRef) -> Option<(Replay, Call)> {
        let is_meant = |other: &Alternative| other.turn == at.turn && other.choice == at.choice;
        let taken = self.taking(self.session.alternatives.iter().position(is_meant)?)?;
        let turn = taken.session.turns.last()?;
        let call = taken.session.calls_of(turn).get((at.call as usize).checked_sub(1)?)?.clone();
        Some((taken, call))
    }

    /// The judgement of the session that takes an alternative (by its place) and ends with it: the result of a replay
    /// of [`Session::taking`](rulestep_base::session::Session::taking) without judging the turns before again.
    pub fn taking(&self, place: usize) -> Option<Replay> {
        let alternative = self.session.alternatives.get(place)?;
        let session = Arc::new(self.session.taking(alternative));
        let last = session.turns.last()?;
        let mut tally = Tally::new(self.mode, &session);
        let known = self.alternatives.iter().take(session.alternatives.len());
        let earlier = self.alternatives(None).take_while(|other| other.alternative.turn < alternative.turn);
        for NotTaken { alternative, judged, .. } in earlier {
            tally.count_alternative(alternative.turn, judged.decision.verdict);
        }
        let decided = self.calls.iter().take(last.calls.start).chain(self.alternative(place));
        let calls = session.calls.iter().zip(decided);
        let calls: Vec<DecidedCall> =
            calls.map(|(call, judged)| tally.judge(call, judged.decision.clone())).collect();
        let forks = self.forks.iter().filter(|(number, _)| *number <= last.number);
        let (number, mut player) = self.resumed(last.number, Depth::Findings);
        player.end(&session, number, &calls);
        let rules = player.rules(&session);
        let (summary, status) = tally.end(&rules);
        Some(Replay {
            policy: Arc::clone(&self.policy),
            mode: self.mode,
            status,
            rules,
            halt: player.run.halt().cloned(),
            frontier: tally.frontier,
            summary,
            reported: tally.reported,
            calls,
            alternatives: known.cloned().collect(),
            forks: forks.map(|(number, run)| (*number, run.fork())).collect(),
            session,
        })
    }
}
