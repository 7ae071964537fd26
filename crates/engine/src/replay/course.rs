//! A growing session, played as it happened: each turn once, as soon as it can no longer change.

use std::sync::Arc;

use super::player::Player;
use crate::monitor::Depth;
use crate::policy::Policy;
use crate::run::{Decision, Mode, Run};
use rulestep_base::session::{Facts, MessageKind, Outcome, Session, Turn};

/// A policy's run over a session that grows.
pub struct Course {
    player: Player,
    /// Turns that were played.
    turns: usize,
    /// Messages that were looked at.
    messages: usize,
}

impl Course {
    /// Before the first turn.
    pub fn new(facts: &Arc<Facts>, policy: &Arc<Policy>) -> Course {
        let player = Player::new(facts, policy, Mode::Shadow, Depth::Findings);
        Course { player, turns: 0, messages: 0 }
    }

    /// The run after this session: the last run with what was added since; as of [`happened`](super::happened). `None`:
    /// something changed in a turn that was played, so it has to begin again.
    pub fn after(&mut self, session: &Session) -> Option<Run> {
        let last = self.close(session)?;
        let mut open = Player::resumed(self.player.run.fork(), Mode::Shadow);
        if let Some(turn) = last {
            open.enter(session, turn);
            open.play(session, turn, &mut |_| ());
        }
        open.leave(session);
        open.run.set_mode(Mode::Enforce);
        Some(open.run)
    }

    /// The decision about the last call of this session, as in [`decide_last`](super::decide_last). `None`: as above,
    /// or there is no call at its end.
    pub fn decide(&mut self, session: &Session, mode: Mode) -> Option<(Decision, Run)> {
        let turn = self.close(session)?.filter(|turn| !turn.calls.is_empty())?;
        let (mut open, mut decided) = (Player::resumed(self.player.run.fork(), Mode::Shadow), None);
        open.enter(session, turn);
        open.last(session, turn, &mut |run| run.set_mode(mode), &mut |decision| decided = Some(decision));
        Some((decided?, open.run))
    }

    /// Plays the turns that are complete; returns the last one, which is still open.
    fn close<'s>(&mut self, session: &'s Session) -> Option<Option<&'s Turn>> {
        let added = session.messages.get(self.messages..)?;
        self.messages = session.messages.len();
        // A call that was refused never ran, whenever that is known. Any other late result counts from where it is.
        let rewrites = added.iter().any(|message| {
            let MessageKind::Result(Some(index), _) = message.kind else { return false };
            session
                .calls
                .get(index as usize)
                .is_some_and(|call| call.outcome == Outcome::Refused && (call.at.turn as usize) <= self.turns)
        });
        if rewrites {
            return None;
        }
        // The last turn is still open: more calls, results and words may be added to it.
        let (last, before) = match session.turns.split_last() {
            Some((last, before)) => (Some(last), before),
            None => (None, &[][..]),
        };
        for turn in before.get(self.turns..)? {
            self.player.enter(session, turn);
            self.player.play(session, turn, &mut |_| ());
        }
        self.turns = before.len();
        Some(last)
    }
}
