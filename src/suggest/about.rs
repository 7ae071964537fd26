//! Rules about the tool of a selected call: those that all recorded calls satisfy, and those that some violate, each
//! with the calls that violate it.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::claim::{Candidate, Claim, Need, Suggestion};
use super::observe::{Field, Observations, Prior, Shared};
use super::rank::place;
use super::{Written, is_exercised, written};
use crate::explore::coverage::Coverage;
use crate::stored::StoredSession;
use rulestep_base::session::{Call, CallRef};
use rulestep_engine::monitor::RuleId;
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;

/// The selected call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Subject {
    /// The tool that rules are wanted about.
    pub tool: Arc<str>,
    /// The tool that they are to name: of an earlier call that was marked.
    pub earlier: Option<Arc<str>>,
}

/// A rule about one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The rule, with its counts in the recordings.
    pub suggestion: Suggestion,
    /// The first calls that it would stop: the place of the session among those asked about, and the call.
    pub broken: Vec<(usize, CallRef)>,
}

/// Calls that are kept of those that a rule would stop.
const BROKEN: usize = 200;
/// Rules that are tried, and that are proposed, at most.
const TRIED: usize = 32;
const PROPOSED: usize = 12;
/// Rules of one kind, if the other tool was not selected.
const OF_A_KIND: usize = 3;
/// A rule is shown if at most one call in four breaks it.
const BREAKING: u64 = 4;
/// Number of sessions below which a missing event says little.
const FEW: u64 = 10;

impl Proposal {
    /// The rule alone.
    pub fn candidate(&self) -> Candidate {
        let tool = self.suggestion.tools.first().cloned().unwrap_or_default();
        Candidate { tool, claim: self.suggestion.claim.clone() }
    }
}

/// The rules that these sessions suggest about a tool, the best first: those that no call violates before others.
/// `is_over`: the result is no longer needed; then there are none.
pub fn about(
    sessions: &[Arc<StoredSession>],
    subject: &Subject,
    is_over: &(dyn Fn() -> bool + Sync),
) -> Vec<Proposal> {
    let calls = |session: &Arc<StoredSession>| {
        let of_tool = |calls: &[Call]| calls.iter().filter(|call| call.tool == subject.tool).count();
        session.session().map_or(0, |session| of_tool(&session.calls)) as u64
    };
    let breaking = sessions.iter().map(calls).sum::<u64>() / BREAKING;
    let mut seen = Observations::about(&subject.tool, breaking.max(1));
    for session in sessions {
        if is_over() {
            return Vec::new();
        }
        if let Ok(session) = session.session() {
            seen.add(&session);
        }
    }
    let candidates = candidates(&seen, subject);
    let plain: Vec<&Candidate> = candidates.iter().collect();
    let Written { policy, rules, .. } = written(&plain);
    let all = try_rules(sessions, &policy, &plain, is_over);
    if is_over() {
        return Vec::new();
    }
    let proposal = |candidate: &Candidate| all.proposal(candidate, *rules.get(candidate)?);
    let mut proposals: Vec<Proposal> = candidates.iter().filter_map(proposal).collect();
    proposals.sort_by_key(|Proposal { suggestion, .. }| {
        // With few sessions, that something never happens says little.
        let weak = !matches!(suggestion.claim, Claim::Needs(_)) && suggestion.sessions < FEW;
        (
            suggestion.against > 0,
            weak,
            place(&suggestion.claim),
            suggestion.against,
            std::cmp::Reverse(suggestion.calls),
        )
    });
    proposals.truncate(PROPOSED);
    proposals
}

/// Replays every session under candidates. Nothing takes effect.
pub(super) fn try_rules(
    sessions: &[Arc<StoredSession>],
    policy: &Arc<Policy>,
    candidates: &[&Candidate],
    is_over: &(dyn Fn() -> bool + Sync),
) -> Trial {
    let trial = |(at, session): &(usize, &Arc<StoredSession>)| {
        let Some(session) = session.session().ok().filter(|_| !is_over()) else { return Trial::default() };
        Trial::of(*at, &Replay::with_checks(&session, policy, Mode::Shadow), candidates)
    };
    let sessions: Vec<(usize, &Arc<StoredSession>)> = sessions.iter().enumerate().collect();
    let trials: Vec<Trial> = sessions.par_iter().map(trial).collect();
    let mut all = Trial::default();
    trials.into_iter().for_each(|trial| all.merge(trial));
    all
}

/// The results of tried rules.
#[derive(Default)]
pub(super) struct Trial {
    coverage: Coverage,
    /// Sessions in which something could have violated the rule.
    sessions: BTreeMap<Candidate, u64>,
    broken: BTreeMap<RuleId, Vec<(usize, CallRef)>>,
}

impl Trial {
    fn of(at: usize, replay: &Replay, candidates: &[&Candidate]) -> Trial {
        let coverage = Coverage::of(replay);
        let exercised = candidates.iter().filter(|candidate| is_exercised(candidate, &coverage));
        let sessions = exercised.map(|candidate| ((*candidate).clone(), 1)).collect();
        let mut broken: BTreeMap<RuleId, Vec<_>> = BTreeMap::new();
        for (call, decided) in replay.made() {
            for finding in &decided.decision.findings {
                broken.entry(finding.rule).or_default().push((at, call.at));
            }
        }
        Trial { coverage, sessions, broken }
    }

    fn merge(&mut self, later: Trial) {
        self.coverage.merge(&later.coverage);
        for (candidate, sessions) in later.sessions {
            *self.sessions.entry(candidate).or_default() += sessions;
        }
        for (rule, calls) in later.broken {
            let known = self.broken.entry(rule).or_default();
            let free = BROKEN.saturating_sub(known.len());
            known.extend(calls.into_iter().take(free));
        }
    }

    /// A rule is proposed only if it concerns a recorded call.
    pub(super) fn proposal(&self, candidate: &Candidate, rule: RuleId) -> Option<Proposal> {
        let used = self.coverage.rules.get(&rule).cloned().unwrap_or_default();
        let against = used.stopped + used.objected;
        let calls = match candidate.claim {
            Claim::Needs(_) => used.passed,
            // A rule that forbids says nothing about the calls that it allows.
            Claim::Once | Claim::NeverAfter(_) => {
                let calls = self.coverage.tools.get(&candidate.tool).map_or(0, |tool| tool.calls);
                calls.saturating_sub(against)
            }
        };
        let suggestion = Suggestion {
            claim: candidate.claim.clone(),
            tools: vec![Arc::clone(&candidate.tool)],
            calls,
            sessions: self.sessions.get(candidate).copied().unwrap_or_default(),
            against,
            extent: used.extent,
        };
        let broken = self.broken.get(&rule).cloned().unwrap_or_default();
        (calls + against > 0).then_some(Proposal { suggestion, broken })
    }
}

/// The rules worth trying.
fn candidates(seen: &Observations, subject: &Subject) -> Vec<Candidate> {
    let tool = &subject.tool;
    let of = |claim| Candidate { tool: Arc::clone(tool), claim };
    let named = |other: &Arc<str>| match &subject.earlier {
        Some(earlier) => earlier == other,
        None => other != tool,
    };
    let many = if subject.earlier.is_some() { usize::MAX } else { OF_A_KIND };
    let calls = |tool: &str| seen.tools.get(tool).map_or(0, |facts| facts.calls);
    let mut found: Vec<Candidate> = Vec::new();
    for ((own, path), shared) in &seen.shared {
        if own != tool {
            continue;
        }
        let mut priors: Vec<_> = shared.priors.iter().filter(|(field, _)| named(&field.tool)).collect();
        priors.sort_by_key(|(field, prior)| {
            (
                prior.misses + missing(seen, tool, shared),
                field.side,
                field.path != *path,
                calls(&field.tool),
                *field,
            )
        });
        // Of one tool, the most informative source of the value.
        let mut known: Vec<&Arc<str>> = Vec::new();
        for (field, prior) in priors {
            if known.len() < many.min(OF_A_KIND) && !known.contains(&&field.tool) {
                known.push(&field.tool);
                found.extend(needs(seen, field, path, prior).map(|need| of(Claim::Needs(need))));
            }
        }
    }
    let total = calls(tool);
    let mut before: Vec<(&Arc<str>, u64)> =
        seen.before.iter().map(|(other, count)| (other, *count)).collect();
    before.retain(|(other, count)| {
        named(other) && (subject.earlier.is_some() || total.saturating_sub(*count) * BREAKING <= total)
    });
    before.sort_by_key(|(other, count)| (total.saturating_sub(*count), calls(other)));
    let plain = |(other, _): &(&Arc<str>, u64)| Need { prior: Arc::clone(other), shared: None, result: None };
    found.extend(before.iter().take(many).map(plain).map(|need| of(Claim::Needs(need))));
    let mut never: Vec<(&Arc<str>, u64)> = Vec::new();
    for other in seen.tools.keys().filter(|other| named(other) && *other != tool) {
        let pair = (Arc::clone(other), Arc::clone(tool));
        let after = seen.after.get(&pair).copied().unwrap_or_default();
        let both = seen.both.get(&pair).copied().unwrap_or_default();
        if subject.earlier.is_some() || after == 0 && both > 0 {
            never.push((other, both));
        }
    }
    never.sort_by_key(|(_, both)| std::cmp::Reverse(*both));
    found.extend(never.iter().take(many).map(|(other, _)| of(Claim::NeverAfter(Arc::clone(other)))));
    if let Some(earlier) = subject.earlier.as_ref().filter(|earlier| *earlier != tool) {
        found.push(Candidate { tool: Arc::clone(earlier), claim: Claim::NeverAfter(Arc::clone(tool)) });
    }
    found.push(of(Claim::Once));
    let mut kept: Vec<Candidate> = Vec::new();
    for candidate in found {
        if kept.len() < TRIED && !kept.contains(&candidate) {
            kept.push(candidate);
        }
    }
    kept
}

/// Calls that do not have the argument at all.
fn missing(seen: &Observations, tool: &str, shared: &Shared) -> u64 {
    seen.tools.get(tool).map_or(0, |facts| facts.calls.saturating_sub(shared.calls))
}

/// An earlier call with the value; and with it, a result that was the same each time, though it sometimes differs.
fn needs<'s>(
    seen: &'s Observations,
    field: &'s Field,
    path: &'s Arc<str>,
    prior: &'s Prior,
) -> impl Iterator<Item = Need> + 's {
    let constants = prior.constants.iter().flatten();
    let telling = constants.filter(|(path, value)| seen.says_otherwise(&field.tool, path, value) > 0);
    let with_result = telling.take(OF_A_KIND).map(|(said, value)| Need {
        result: Some((Arc::clone(said), value.to_string().into())),
        ..Need::of(field, path)
    });
    std::iter::once(Need::of(field, path)).chain(with_result)
}
