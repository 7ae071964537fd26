//! Suggested rules about what calls do: which commands come before others, what never happens, where files are written
//! and deleted. For agents that do nearly everything through one tool, rules about tools find nothing.
//!
//! As for tools, observations only name candidates. Each is written as a sequence rule, and the sessions are replayed
//! under it: calls that the engine would stop count against it, and a stop that rests on an unknown is counted
//! separately. Only calls that the rule certainly concerns count for it.

mod claim;
mod observe;
mod rank;
mod trial;
mod verbs;
mod written;

use std::cmp::Reverse;
use std::sync::Arc;

use super::claim::{Bounds, Suggestion};
use super::rank::place;
use rulestep_base::session::Session;

pub use claim::{Action, ActionRule, ActionSuggestion};
pub use written::{document, rule};

/// A suggestion of either sort.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Suggested {
    /// About tools.
    Tools(Suggestion),
    /// About what calls do.
    Action(ActionSuggestion),
}

/// The rules about what calls do that these sessions suggest, the best first. `tools`: the suggestions about tools so
/// far.
pub fn suggest_actions(
    sessions: &[Arc<Session>],
    bounds: &Bounds,
    tools: &[Suggestion],
) -> Vec<ActionSuggestion> {
    let mut seen = observe::Observations::default();
    sessions.iter().for_each(|session| seen.add(session));
    let candidates = rank::candidates(&seen, bounds);
    rank::suggestions(&candidates, sessions, bounds, tools)
}

/// All suggestions, ranked together.
pub fn together(tools: Vec<Suggestion>, actions: Vec<ActionSuggestion>, most: usize) -> Vec<Suggested> {
    let mut all: Vec<Suggested> = tools.into_iter().map(Suggested::Tools).collect();
    all.extend(actions.into_iter().map(Suggested::Action));
    // Stable: each sort has its own order already.
    all.sort_by_key(|one| match one {
        Suggested::Tools(of) => (place(&of.claim), Reverse(of.calls)),
        Suggested::Action(of) => (rank::place(&of.rule), Reverse(of.calls)),
    });
    all.truncate(most);
    all
}
