//! Rules that recordings suggest: what preceded every recorded call of a tool, written as policy documents.
//!
//! Nothing is judged here. Observations only name candidates; each is written as a rule, and the sessions are replayed
//! under all of them, so that the engine alone decides which calls satisfy a rule and which violate it.

pub mod about;
pub mod action;
mod claim;
pub mod document;
pub mod field;
pub mod insert;
mod observe;
mod rank;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::explore::coverage::Coverage;
use rulestep_base::session::Session;
use rulestep_engine::monitor::RuleId;
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;

pub use claim::{Bounds, Candidate, Claim, Side, Suggestion};
use observe::Observations;
use rank::{Ranked, Trials};

/// The suggestions of sessions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Suggestions {
    /// The rules, the best first.
    pub rules: Vec<Suggestion>,
    /// Rules that could not be tried: no document says them, for a name with a star in it, say.
    pub refused: Vec<Candidate>,
}

/// The rules that these sessions suggest.
pub fn suggest(sessions: &[Arc<Session>], bounds: &Bounds) -> Suggestions {
    let mut observations = Observations::new(bounds.against);
    sessions.iter().for_each(|session| observations.add(session));
    let mut candidates = rank::candidates(&observations, bounds);
    let written = written(&candidates.iter().map(|ranked| &ranked.candidate).collect::<Vec<_>>());
    candidates.retain(|ranked| written.rules.contains_key(&ranked.candidate));
    let tried = tried(&candidates, &written, sessions);
    Suggestions { rules: rank::suggestions(tried, bounds), refused: written.refused }
}

/// Replays every session under all candidates at once. Nothing takes effect, so that each rule is asked about the
/// recorded history.
fn tried(candidates: &[Ranked], written: &Written, sessions: &[Arc<Session>]) -> Trials {
    let Written { policy, rules, .. } = written;
    let plain: Vec<&Candidate> = candidates.iter().map(|ranked| &ranked.candidate).collect();
    let rule = |candidate: &Candidate| rules.get(candidate).copied();
    let (mut coverage, mut trials) = (Coverage::default(), Trials::default());
    for session in sessions {
        let of_session = Coverage::of(&Replay::with_checks(session, policy, Mode::Shadow));
        let satisfied: BTreeSet<&Claim> =
            plain.iter().filter(|rule| is_exercised(rule, &of_session)).map(|rule| &rule.claim).collect();
        for claim in satisfied {
            *trials.sessions.entry(claim.clone()).or_default() += 1;
        }
        coverage.merge(&of_session);
    }
    let used = |ranked: &Ranked| {
        let Candidate { tool, claim } = &ranked.candidate;
        let mut used = coverage.rules.get(&rule(&ranked.candidate)?).cloned().unwrap_or_default();
        if !matches!(claim, Claim::Needs(_)) {
            // A rule that forbids says nothing about the calls that it allows.
            let calls = coverage.tools.get(tool).map_or(0, |tool| tool.calls);
            used.passed = calls.saturating_sub(used.fired());
        }
        Some(used)
    };
    trials.rules = candidates.iter().filter_map(|ranked| Some((ranked.clone(), used(ranked)?))).collect();
    trials
}

/// Candidates as a policy that can be tried.
struct Written {
    policy: Arc<Policy>,
    /// The rule of each.
    rules: BTreeMap<Candidate, RuleId>,
    /// Those that no document says.
    refused: Vec<Candidate>,
}

/// Writes candidates. One that does not load must not take the others with it.
fn written(candidates: &[&Candidate]) -> Written {
    let load = |candidates: &[&Candidate]| {
        let documents = document::documents(candidates);
        let files: Vec<_> = documents.iter().map(document::Document::file).collect();
        Policy::load(&files, None).policy.map(|policy| (policy, documents))
    };
    let loaded = load(candidates).or_else(|| {
        let good: Vec<&Candidate> =
            candidates.iter().copied().filter(|candidate| load(&[candidate]).is_some()).collect();
        load(&good)
    });
    // If they do not load together, though each does, none of them is tried.
    let (policy, documents) = loaded.unwrap_or_else(|| (Policy::empty(), Vec::new()));
    let known: BTreeMap<&str, RuleId> = policy.rules().iter().map(|(id, rule)| (&*rule.id, id)).collect();
    let places = document::places(&documents).into_iter();
    let rules: BTreeMap<Candidate, RuleId> =
        places.filter_map(|(candidate, id)| Some((candidate, *known.get(id.as_str())?))).collect();
    let refused = candidates.iter().filter(|candidate| !rules.contains_key(candidate));
    Written {
        refused: refused.map(|candidate| (*candidate).clone()).collect(),
        policy: Arc::clone(&policy),
        rules,
    }
}

/// Whether something in the session could have broken the rule.
fn is_exercised(rule: &Candidate, session: &Coverage) -> bool {
    let called = |tool| session.tools.contains_key(tool);
    match &rule.claim {
        Claim::Needs(_) | Claim::Once => called(&rule.tool),
        Claim::NeverAfter(earlier) => called(&rule.tool) && called(earlier),
    }
}
