//! Decides a call that is not in its journal yet.

use std::sync::Arc;

use super::fault::Fault;
use super::journal::Journal;
use super::journal::going_on::Continuation;
use super::tree::{Others, Tree};
use rulestep_base::session::{Session, TreeSeen};
use rulestep_engine::monitor::{Depth, Explanation};
use rulestep_engine::policy::Policy;
use rulestep_engine::replay;
use rulestep_engine::run::{Decision, Mode, Run};

/// A decision, with the findings of the rules, its run and its session.
pub struct Decided {
    pub decision: Decision,
    /// The findings against the call.
    pub findings: Vec<Explanation>,
    /// Its session and run, so that the caller can dispose of them.
    pub parts: Option<(Session, Run)>,
    /// The run to be kept, after this many records: once the decision is recorded.
    pub kept: Option<(usize, String)>,
    /// The other sessions of the tree, if the policy looks at whole trees.
    pub seen: Option<TreeSeen>,
}

/// Turns that are played again before a run is kept again: it costs about as much as they do.
const TURNS: usize = 8;

/// Decides the last call of these records, which follow a journal. If a run over the records before was kept, only the
/// added ones are played.
///
/// # Errors The journal cannot be read, or the call is not at its end.
pub fn decide(journal: &Journal, policy: &Arc<Policy>, mode: Mode, added: &str) -> Result<Decided, Fault> {
    if let Some(Continuation { run, session }) = journal.continuation(policy, added) {
        let mut state = None;
        let worth = session.turns.len() > TURNS;
        let decided = replay::decide_last(run, &session, mode, |run| {
            state = if worth { run.save() } else { None };
        });
        if let Some((decision, run)) = decided {
            let explained = if decision.findings.is_empty() { None } else { Some(journal.session(added)?) };
            let findings = explain(&decision, policy, explained.as_ref().unwrap_or(&session));
            let kept = state.and_then(|state| Some((journal.last_turn_of(added)?, state)));
            return Ok(Decided {
                decision,
                findings,
                parts: Some((explained.unwrap_or(session), run)),
                kept,
                seen: None,
            });
        }
    }
    let session = journal.session(added)?;
    let mut state = None;
    let fresh = Run::new(policy, Mode::Shadow, Depth::Findings, &session.facts);
    // A later process takes the surroundings from the first record.
    let worth = session.turns.len() > TURNS && journal.facts().is_some_and(|facts| facts == session.facts);
    let decided = replay::decide_last(fresh, &session, mode, |run| {
        state = if worth { run.save() } else { None };
    });
    let (decision, run) = decided.ok_or_else(not_at_end)?;
    let findings = explain(&decision, policy, &session);
    let kept = state.and_then(|state| Some((journal.last_turn(&session, added)?, state)));
    Ok(Decided { decision, findings, parts: Some((session, run)), kept, seen: None })
}

/// Decides the last call of these records, which follow a journal, by a policy that looks at whole trees. Without a
/// `tree`, the session has no others. `tells`: the agent's events name their subagent.
///
/// The sessions are joined as in a replay, from all of their records.
///
/// # Errors A journal of the tree cannot be read, or the call is not at the end of its own.
pub fn decide_in_tree(
    journal: &Journal,
    tree: Option<&Tree<'_>>,
    tells: bool,
    policy: &Arc<Policy>,
    mode: Mode,
    added: &str,
) -> Result<Decided, Fault> {
    let mut others = tree.map_or_else(|| Ok(Others::none()), Tree::others)?;
    loop {
        let mut session = journal.session(added)?;
        let seen = session.look_around_now(&others.sessions, |guess| match tree.filter(|_| tells) {
            // A subagent that has no journal has asked for nothing yet.
            Some(tree) => others.seen(tree.missing()),
            None => others.seen(guess.map(Arc::from)),
        });
        let run = Run::new(policy, Mode::Shadow, Depth::Findings, &session.facts);
        let decided = replay::decide_last(run, &session, mode, |_| ());
        if others.correct()? {
            continue;
        }
        let (decision, run) = decided.ok_or_else(not_at_end)?;
        let findings = explain(&decision, policy, &session);
        let (parts, seen) = (Some((session, run)), Some(seen));
        return Ok(Decided { decision, findings, parts, kept: None, seen });
    }
}

fn not_at_end() -> Fault {
    Fault::new("the call is not at the end of its journal", "report this defect of Rulestep")
}

/// The findings against a call.
pub fn explain(decision: &Decision, policy: &Policy, session: &Session) -> Vec<Explanation> {
    let rules = policy.rules();
    decision.findings.iter().filter_map(|finding| finding.explain(rules, session)).collect()
}
