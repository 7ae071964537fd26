//! What sessions come to, without their calls: for summaries, and for sessions that are too long to be held.

use std::sync::Arc;

use crate::engine::{Halt, Mode};
use crate::monitor::finding::RuleState;
use crate::monitor::{Depth, End};
use crate::policy::Policy;
use crate::session::part::View;
use crate::session::{Facts, Part, Session};

use super::counted::{CountedRefusals, Counting};
use super::player::Player;
use super::tables::Tables;
use super::tally::{self, Status, Summary, Tally};

/// A session's outcome without its calls: what `--summary` prints. Nothing is narrowed, and of a
/// stopped call only the deciding finding is built.
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
    /// What stopped calls, counted.
    pub tables: Tables,
    /// Results that are what a rule tells the model.
    pub counted_refusals: Vec<CountedRefusals>,
}

/// A session that is judged part by part, while it is read: what it comes to is what [`outcomes`] says of the whole.
pub struct Running {
    player: Player,
    tally: Tally,
    tables: Tables,
    policy: Arc<Policy>,
    counting: Counting,
}

/// A session's outcome alone, for less than a whole [`Replay`](super::Replay).
pub fn outcomes(session: &Session, policy: &Arc<Policy>, mode: Mode) -> Outcomes {
    let mut running = Running::new(&session.facts, policy, mode);
    running.play(session.into());
    running.end()
}

impl Outcomes {
    /// Whether this makes `replay` exit with 1: a call was stopped, or a rule is violated.
    pub fn objects(&self) -> bool {
        tally::objects(&self.summary, &self.rules)
    }
}

impl Running {
    /// Before the first part. `facts` are those of the session.
    pub fn new(facts: &Arc<Facts>, policy: &Arc<Policy>, mode: Mode) -> Running {
        Running {
            player: Player::new(facts, policy, mode, Depth::Deciding),
            tally: Tally::new(mode),
            tables: Tables::default(),
            policy: Arc::clone(policy),
            counting: Counting::default(),
        }
    }

    /// The next part, in the order of the session.
    pub fn add(&mut self, part: &Part) {
        self.play(part.into());
    }

    /// What the session comes to.
    pub fn end(self) -> Outcomes {
        let Running { player, tally, mut tables, counting, .. } = self;
        let rules = player.run.report(End::Complete);
        tables.end(&rules);
        Outcomes {
            summary: tally.summary,
            status: tally::status(&tally.summary, tally.mode, &rules),
            halt: player.run.halt().cloned(),
            rules,
            tables,
            counted_refusals: counting.end(),
        }
    }

    fn play(&mut self, view: View<'_>) {
        let mut calls = view.session.calls.iter();
        for turn in &view.session.turns {
            self.tally.summary.turns += 1;
            self.player.enter(view, turn);
            let tally = &mut self.tally;
            self.player.beside(view, turn, &mut |_, decision| {
                tally.count_alternative(turn.number, decision.verdict);
            });
            self.player.play(view, turn, &mut |decision| {
                if let Some(call) = calls.next() {
                    let (_, counterfactual) = self.tally.count(call, decision.verdict);
                    self.tables.call(&call.tool, &decision, counterfactual);
                }
            });
        }
        self.player.leave(view);
        self.counting.add(view, &self.policy);
    }
}
