//! The results of sessions without their calls, for summaries.

use std::sync::Arc;

use crate::monitor::Depth;
use crate::monitor::finding::RuleState;
use crate::policy::Policy;
use crate::run::{Decision, Halt, Mode};
use rulestep_base::session::Session;

use super::counted::{CountedRefusals, counted_refusals};
use super::player::{Player, new};
use super::tables::{ByTool, Tables};
use super::tally::{Status, Tally};
use super::{Counts, Replay};

/// A session's outcome without its calls: what `--summary` prints. Nothing is narrowed, and of a
/// stopped call only the deciding finding is built.
#[derive(Debug, Clone)]
pub struct Outcomes {
    /// Counts.
    pub summary: Counts,
    /// Status.
    pub status: Status,
    /// The first halt.
    pub halt: Option<Halt>,
    /// Rules about the session.
    pub rules: Vec<RuleState>,
    /// Counts of what stopped calls.
    pub tables: Tables,
    /// Results that are a rule's message to the model.
    pub counted_refusals: Vec<CountedRefusals>,
}

/// A session's outcome alone, for less than a whole [`Replay`](super::Replay).
pub fn outcomes(session: &Session, policy: &Arc<Policy>, mode: Mode) -> Outcomes {
    let mut player = Player::new(&session.facts, policy, mode, Depth::Deciding);
    let (mut tally, mut tables) = (Tally::new(mode, session), Tables::default());
    let (mut decision, mut by_tool) = (Decision::allow(), ByTool::new());
    for turn in &session.turns {
        player.enter(session, turn);
        player.beside(session, turn, &mut |_, decision| {
            tally.count_alternative(turn.number, decision.verdict);
        });
        player.play_by(session, turn, &mut |run, call| {
            let (tool, place) = by_tool.of(&call.tool, || run.place(&call.tool));
            let ticket = run.judge(place, new(call), &mut decision);
            let (_, counterfactual) = tally.count(call, &decision);
            if !call.copied {
                by_tool.count(tool, decision.verdict);
                tables.stopped(&decision, counterfactual);
            }
            (ticket, decision.verdict, decision.told.take())
        });
    }
    player.leave(session);
    let rules = player.rules(session);
    by_tool.end(&mut tables);
    tables.end(&rules);
    let (summary, status) = tally.end(&rules);
    Outcomes {
        summary,
        status,
        halt: player.run.halt().cloned(),
        rules,
        tables,
        counted_refusals: counted_refusals(session, policy),
    }
}

impl Outcomes {
    /// For a session that was replayed for another reason.
    pub fn of(replay: &Replay) -> Outcomes {
        Outcomes {
            summary: replay.summary(),
            status: replay.status(),
            halt: replay.halt().cloned(),
            rules: replay.rules().to_vec(),
            tables: Tables::of(replay),
            counted_refusals: counted_refusals(replay.session(), replay.policy()),
        }
    }

    /// Whether this makes `replay` exit with 1: a call was stopped, or a rule is violated.
    pub fn objects(&self) -> bool {
        self.summary.objects()
    }
}
