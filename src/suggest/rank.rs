//! Which observations are worth a rule, and the order of suggestions.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::claim::{Bounds, Candidate, Claim, Need, SharedValue, Side, Suggestion};
use super::observe::{Field, Observations, Prior, Shared};
use crate::explore::coverage::RuleUse;

/// A candidate, and the number of independent observations of it.
#[derive(Debug, Clone)]
pub struct Ranked {
    /// The candidate.
    pub candidate: Candidate,
    /// Sessions, or different values that calls share.
    pub support: u64,
}

/// The engine's results for candidates.
#[derive(Default)]
pub struct Trials {
    /// Each candidate with the use of its rule in the sessions.
    pub rules: Vec<(Ranked, RuleUse)>,
    /// Sessions with calls that satisfy a claim, about whichever tool.
    pub sessions: BTreeMap<Claim, u64>,
}

/// Factor for the number of sessions needed to believe that something never happens: an event that happens in every
/// tenth session is missing in thirty sessions in one case of twenty.
const NEVER: u64 = 3;

/// Results that must say something else for a condition on a result to mean anything.
const OTHER_RESULTS: u64 = 3;

/// The rules worth trying.
pub fn candidates(seen: &Observations, bounds: &Bounds) -> Vec<Ranked> {
    let mut found = Vec::new();
    for ((tool, path), shared) in &seen.shared {
        let Some((field, prior)) = best(seen, tool, path, shared) else { continue };
        let need = Need::of(field, path);
        let support = shared.sessions.max(shared.values());
        let mut push = |need| {
            let candidate = Candidate { tool: Arc::clone(tool), claim: Claim::Needs(need) };
            found.push(Ranked { candidate, support });
        };
        for (path, constant) in prior.constants.iter().flatten() {
            if seen.says_otherwise(&field.tool, path, constant) >= OTHER_RESULTS {
                push(Need { result: Some((Arc::clone(path), constant.to_string().into())), ..need.clone() });
            }
        }
        push(need);
    }
    // A call that is bound to an earlier one changes something; looking at it twice does no harm.
    let bound: BTreeMap<Arc<str>, Vec<Arc<str>>> = found.iter().fold(BTreeMap::new(), |mut tools, ranked| {
        if let Claim::Needs(need) = &ranked.candidate.claim {
            tools
                .entry(Arc::clone(&ranked.candidate.tool))
                .or_insert_with(Vec::new)
                .push(Arc::clone(&need.prior));
        }
        tools
    });
    for (tool, priors) in &bound {
        let facts = seen.tools.get(tool);
        if let Some(facts) =
            facts.filter(|facts| facts.repeated <= bounds.against && facts.sessions >= NEVER * bounds.support)
        {
            let candidate = Candidate { tool: Arc::clone(tool), claim: Claim::Once };
            found.push(Ranked { candidate, support: facts.sessions });
        }
        for earlier in seen.tools.keys().filter(|earlier| *earlier != tool && !priors.contains(earlier)) {
            let pair = (Arc::clone(earlier), Arc::clone(tool));
            let both = seen.both.get(&pair).copied().unwrap_or_default();
            let after = seen.after.get(&pair).copied().unwrap_or_default();
            // A call that needs `tool` comes after it anyway.
            let needed = bound.get(earlier).is_some_and(|needs| needs.contains(tool));
            if both >= NEVER * bounds.support && after <= bounds.against && !needed {
                let candidate =
                    Candidate { tool: Arc::clone(tool), claim: Claim::NeverAfter(Arc::clone(earlier)) };
                found.push(Ranked { candidate, support: both });
            }
        }
    }
    found
}

/// The most likely origin of a value: an argument of the same name before a result, and among tools the one that is
/// called least.
fn best<'s>(
    seen: &Observations,
    tool: &str,
    path: &str,
    shared: &'s Shared,
) -> Option<(&'s Field, &'s Prior)> {
    let calls = |tool: &str| seen.tools.get(tool).map_or(0, |facts| facts.calls);
    // A value that hardly changes would be shared by chance.
    let varies = shared.values() * 3 >= shared.sessions;
    let others = shared.priors.iter().filter(|(field, _)| *field.tool != *tool);
    others.filter(|_| varies).min_by_key(|(field, prior)| {
        (prior.misses, field.side, &*field.path != path, calls(&field.tool), *field)
    })
}

/// The candidates that hold, those that say the same of several tools together, the best first.
pub fn suggestions(tried: Trials, bounds: &Bounds) -> Vec<Suggestion> {
    let mut groups: BTreeMap<Claim, (u64, Suggestion)> = BTreeMap::new();
    for (Ranked { candidate, support }, used) in tried.rules {
        let against = used.stopped + used.objected;
        if against > bounds.against || used.passed == 0 {
            continue;
        }
        let (all, group) = groups.entry(candidate.claim.clone()).or_insert_with(|| {
            let claim = candidate.claim.clone();
            let (tools, extent) = (Vec::new(), Default::default());
            (0, Suggestion { claim, tools, calls: 0, sessions: 0, against: 0, extent })
        });
        *all += support;
        group.tools.push(candidate.tool);
        group.calls += used.passed;
        group.against += against;
        group.extent.merge(&used.extent);
    }
    let kept = groups.into_values().filter(|(support, _)| *support >= bounds.support);
    let mut kept: Vec<Suggestion> = kept.map(|(_, group)| group).collect();
    for group in &mut kept {
        group.sessions = tried.sessions.get(&group.claim).copied().unwrap_or_default();
    }
    kept.sort_by_key(|group| (place(&group.claim), Reverse(group.calls), group.claim.clone()));
    kept.truncate(bounds.most);
    kept
}

/// Values that calls share say most; what only never happened says least.
pub(super) fn place(claim: &Claim) -> u8 {
    match claim {
        Claim::Needs(need) => match (&need.shared, &need.result) {
            (Some(SharedValue { side: Side::Arguments, .. }), None) => 0,
            (Some(_), None) => 1,
            (Some(_), Some(_)) => 2,
            (None, _) => 3,
        },
        Claim::NeverAfter(_) => 4,
        Claim::Once => 5,
    }
}

impl Need {
    /// For an earlier call that has this call's value at `path`.
    pub(super) fn of(field: &Field, path: &Arc<str>) -> Need {
        let shared =
            SharedValue { path: Arc::clone(path), side: field.side, prior_path: Arc::clone(&field.path) };
        Need { prior: Arc::clone(&field.tool), shared: Some(shared), result: None }
    }
}
