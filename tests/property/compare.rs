//! Comparing a version with itself changes nothing, and looking from the other side turns every change around.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rulestep::compare::{Answer, Base, Change, ChangePlace, Comparison, Kind, Origin, Side, Totals};
use rulestep_base::session::Session;
use rulestep_engine::monitor::RuleId;
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::Replay;
use rulestep_engine::run as engine;
use serde_json::{Value, json};

use crate::contracts::config;
use crate::engine::{engine_mode, read};
use crate::generate::{Pools, pools};
use crate::generate_contracts::contracts;
use crate::generate_rules::document;
use crate::generate_sessions::session;
use crate::naive::MODES;

const MODES_OF_ENGINE: [engine::Mode; 2] = [engine::Mode::Enforce, engine::Mode::Shadow];

/// A version: contracts, perhaps sequence rules, perhaps a sequence policy that halts, perhaps a plan that reads what the
/// model was told.
#[derive(Debug, Clone)]
struct Version {
    contracts: Vec<Value>,
    more: Vec<Value>,
}

fn versions(pools: Pools) -> impl Strategy<Value = Version> {
    let sequence =
        (proptest::sample::select(pools.tools), any::<bool>(), 0..3_u64).prop_map(|(tool, halt, max)| {
            let action = if halt { "halt" } else { "deny" };
            json!({"limits": {tool: {"maxPerSession": max, "action": action, "reason": "often"}}})
        });
    let plan = proptest::sample::select(pools.tools).prop_map(|tool| {
        let condition = json!({"type": "regex", "regex": "missing|unmatched", "target": {"position": -1}});
        json!({"tool": tool, "rejectionPlan": {"conditions": [condition]}})
    });
    let more = (
        proptest::option::weighted(0.4, document(pools)),
        proptest::option::weighted(0.6, sequence),
        proptest::option::weighted(0.3, plan),
    );
    (contracts(pools), more).prop_map(|(contracts, (rules, sequence, plan))| Version {
        contracts,
        more: [rules, sequence, plan].into_iter().flatten().collect(),
    })
}

/// The second version is drawn anew, or is the first one with a document, a precondition or a sequence rule less or more,
/// a halt for a denial, or rules that ask, report or are in shadow mode; or the other way round.
fn pairs() -> impl Strategy<Value = (Version, Version, Value)> {
    pools().prop_flat_map(|pools| {
        let place = any::<proptest::sample::Index>();
        (versions(pools), versions(pools), 0..10_u8, place, session(pools)).prop_map(
            |(base, other, how, place, session)| {
                let options = [("effect", "ask"), ("effect", "report"), ("mode", "shadow")];
                let (asked, shown) =
                    (wanting(&base, options[0]), wanting(&base, options[1 + place.index(1001) % 2]));
                // Something else is different as well, so that histories part.
                let shown = edited(&shown, 1 + (place.index(1003) % 7) as u8, place);
                match (how, place.index(1000) % 6) {
                    (0, _) => (base, other, session),
                    (8, which) => (base.clone(), wanting(&base, options[which % 3]), session),
                    (9, 0..3) => (asked, shown, session),
                    (9, _) => (shown, asked, session),
                    _ => (base.clone(), edited(&base, how, place), session),
                }
            },
        )
    })
}

/// The version, with this option on every precondition and every limit.
fn wanting(base: &Version, (key, word): (&str, &str)) -> Version {
    let mut new = base.clone();
    let contracts = new.contracts.iter_mut();
    let conditions = contracts.filter_map(|contract| contract.get_mut("preconditions")?.as_array_mut());
    let limits = new.more.iter_mut().filter_map(|document| document.get_mut("limits")?.as_object_mut());
    let limits = limits.flat_map(|limits| limits.values_mut());
    conditions.flatten().chain(limits).for_each(|rule| rule[key] = json!(word));
    new
}

fn edited(base: &Version, how: u8, place: proptest::sample::Index) -> Version {
    let mut new = base.clone();
    if how == 1 && !new.more.is_empty() {
        new.more.remove(place.index(new.more.len()));
        return new;
    }
    if how > 5 {
        let rules = new.more.iter_mut().find_map(|document| document.get_mut("rules")?.as_array_mut());
        let deadline = json!({"type": "eventually", "tool": "refund", "within": place.index(4)});
        match rules {
            Some(rules) if how == 6 && rules.len() > 1 => drop(rules.remove(place.index(rules.len()))),
            Some(rules) => rules.push(deadline),
            None => new.more.push(json!({"rules": [deadline]})),
        }
        return new;
    }
    if how > 3 {
        let actions = new.more.iter_mut().filter_map(|document| document.get_mut("limits")?.as_object_mut());
        for limit in actions.flat_map(|limits| limits.values_mut()) {
            limit["action"] = json!(if limit["action"] == "halt" { "deny" } else { "halt" });
        }
        return new;
    }
    if new.contracts.is_empty() {
        return new;
    }
    let at = place.index(new.contracts.len());
    let conditions = new.contracts[at]["preconditions"].as_array_mut();
    match conditions {
        Some(conditions) if how == 2 && conditions.len() > 1 => drop(conditions.remove(0)),
        Some(conditions) if how == 3 => conditions.insert(0, json!({"requires_step_count": {"gte": 2}})),
        _ => drop(new.contracts.remove(at)),
    }
    new
}

fn load(version: &Version) -> Arc<Policy> {
    let documents = version.contracts.iter().enumerate().map(|(at, text)| (format!("{at}.json"), text));
    let more = version.more.iter().enumerate().map(|(at, text)| (format!("more/{at}.json"), text));
    let file = |(name, text): (String, &Value)| {
        let name: Arc<str> = name.into();
        PolicyFile { relative: Arc::clone(&name), name, text: text.to_string().into(), named: true }
    };
    let files: Vec<PolicyFile> = documents.chain(more).map(file).collect();
    let loaded = Policy::load(&files, None);
    loaded.policy.unwrap_or_else(|| panic!("{version:#?}: {:#?}", loaded.diagnostics))
}

fn changes(base: &Arc<Policy>, new: &Arc<Policy>, session: &Arc<Session>, mode: engine::Mode) -> Vec<Change> {
    let comparison = Comparison::new(Base::Version(Arc::clone(base)), Arc::clone(new));
    comparison.session(session, mode).changes().to_vec()
}

/// A change from the other side. Where both versions have a rule it could be named after, the other's is named.
fn turned(change: &Change) -> Change {
    let rule = match change.kind {
        Kind::OtherReason | Kind::OutcomeChanged => {
            let of = |side| change.stand(side).rule.map(|rule| (side, rule));
            of(Side::Base).or_else(|| of(Side::New))
        }
        _ => change.rule.map(|at| (at.side, at.rule)),
    };
    Change {
        base: change.new,
        new: change.base,
        kind: inverse(change.kind),
        rule: rule.map(|(side, rule)| rulestep::compare::RuleAt { side: side.other(), rule }),
        ..change.clone()
    }
}

/// The calls that a version allows, and the rules that report each.
fn reports(
    session: &Arc<Session>,
    policy: &Arc<Policy>,
    mode: engine::Mode,
) -> BTreeMap<u32, BTreeSet<RuleId>> {
    let replay = Replay::new(session, policy, mode);
    let calls = session.calls.iter().zip(replay.calls());
    let allowed = calls.filter(|(_, decided)| decided.decision.verdict == engine::Verdict::Allow);
    let rules = |decision: &engine::Decision| decision.findings.iter().map(|finding| finding.rule).collect();
    allowed.map(|(call, decided)| (call.at.index, rules(&decided.decision))).collect()
}

fn sorted(mut changes: Vec<Change>) -> Vec<String> {
    changes.sort_by_key(|change| (change.at, change.kind));
    let mut lines: Vec<String> = changes.iter().map(|change| format!("{change:?}")).collect();
    lines.sort();
    lines
}

/// What holds of all changes of one session.
fn in_order(changes: &[Change], mode: engine::Mode) -> Result<(), TestCaseError> {
    prop_assert!(changes.is_sorted_by_key(|change| (change.kind, change.origin)));
    for change in changes {
        prop_assert!(
            change.base.answer != change.new.answer || change.kind == Kind::OtherReason,
            "{change:?}"
        );
        prop_assert_eq!(
            matches!(change.at, ChangePlace::Call(_)),
            matches!(change.base.answer, Answer::Call(_) | Answer::Report { .. })
        );
        prop_assert!(mode == engine::Mode::Enforce || change.origin == Origin::Primary, "{change:?}");
    }
    // The first call that is decided otherwise is always the versions' own doing.
    let calls = changes.iter().filter_map(|change| Some((change.at.call()?, change)));
    if let Some((_, first)) = calls.min_by_key(|(at, _)| *at) {
        prop_assert_eq!(first.origin, Origin::Primary, "{:?}", first);
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn a_version_does_not_differ_from_itself((version, _, session) in pairs()) {
        let recorded = Arc::new(read(&session));
        let base = load(&version);
        // Another text that says the same, so that both are truly replayed.
        let files: Vec<PolicyFile> = base.documents().iter().map(|document| PolicyFile {
            name: document.source.name().into(),
            relative: Arc::clone(&document.relative),
            text: format!("{}\n", document.source.text()).into(),
            named: true,
        }).collect();
        let again = Policy::load(&files, None).policy.unwrap();
        for mode in MODES_OF_ENGINE {
            prop_assert!(changes(&base, &base, &recorded, mode).is_empty());
            prop_assert!(base.documents().is_empty() || base.digest() != again.digest());
            prop_assert_eq!(changes(&base, &again, &recorded, mode), Vec::new());
        }
    }

    #[test]
    fn the_other_side_sees_the_same_turned_around((base, new, session) in pairs()) {
        let (recorded, base, new) = (Arc::new(read(&session)), load(&base), load(&new));
        for (mode, _) in MODES {
            let mode = engine_mode(mode);
            let (there, back) = (changes(&base, &new, &recorded, mode), changes(&new, &base, &recorded, mode));
            in_order(&there, mode)?;
            prop_assert_eq!(sorted(there.iter().map(turned).collect()), sorted(back));
        }
    }

    /// What is said of rules holds of calls: where rules are only tightened or added, no call passes that did not.
    #[test]
    fn what_is_tightened_lets_nothing_more_pass((base, new, session) in pairs()) {
        let (recorded, base, new) = (Arc::new(read(&session)), load(&base), load(&new));
        for (base, new) in [(&base, &new), (&new, &base)] {
            let comparison = Comparison::new(Base::Version(Arc::clone(base)), Arc::clone(new));
            let stricter = |kind| matches!(kind, Kind::RuleTightened | Kind::RuleAdded);
            if !comparison.edits().iter().all(|edit| stricter(edit.kind)) {
                continue;
            }
            // Where histories part, a call that is stopped may open another one's way.
            let compared = comparison.session(&recorded, engine::Mode::Shadow);
            for change in compared.changes() {
                prop_assert!(!matches!(change.kind, Kind::NewlyAllowed | Kind::NoLongerAsked), "{:?}", change);
            }
        }
    }

    /// What is reported is read off both replays, rule by rule: no report comes or goes without being listed, and none is
    /// listed that did neither.
    #[test]
    fn reports_differ_exactly_where_changes_say_so((base, new, session) in pairs()) {
        let (recorded, base, new) = (Arc::new(read(&session)), load(&base), load(&new));
        let comparison = Comparison::new(Base::Version(Arc::clone(&base)), Arc::clone(&new));
        for mode in MODES_OF_ENGINE {
            let compared = comparison.session(&recorded, mode);
            let listed = |kind, side| -> BTreeSet<(u32, RuleId)> {
                let changes = compared.changes().iter().filter(|change| change.kind == kind);
                changes.map(|change| (change.at.call().unwrap().index, change.stand(side).rule.unwrap())).collect()
            };
            let (old, young) = (reports(&recorded, &base, mode), reports(&recorded, &new, mode));
            let allowed: BTreeSet<u32> = old.keys().copied().filter(|call| young.contains_key(call)).collect();
            let pairs = |calls: &BTreeMap<u32, BTreeSet<RuleId>>| -> BTreeSet<(u32, RuleId)> {
                let of = |call: &u32| calls[call].iter().map(|rule| (*call, *rule)).collect::<Vec<_>>();
                allowed.iter().flat_map(of).collect()
            };
            let (old, young) = (pairs(&old), pairs(&young));
            let rules = comparison.rules();
            let is_old = |(call, rule): &(u32, RuleId)| rules.in_base(*rule).is_some_and(|rule| old.contains(&(*call, rule)));
            let is_young = |(call, rule): &(u32, RuleId)| rules.in_new(*rule).is_some_and(|rule| young.contains(&(*call, rule)));
            let come: BTreeSet<_> = young.iter().filter(|one| !is_old(one)).copied().collect();
            let gone: BTreeSet<_> = old.iter().filter(|one| !is_young(one)).copied().collect();
            prop_assert_eq!(come, listed(Kind::NewlyReported, Side::New));
            prop_assert_eq!(gone, listed(Kind::NoLongerReported, Side::Base));
        }
    }
}

/// The properties say something only if the drawn pairs reach every kind, and both origins where there are two.
#[test]
fn the_generated_pairs_reach_every_kind() {
    let mut runner = TestRunner::deterministic();
    let mut totals = BTreeMap::from([("enforce", Totals::default()), ("shadow", Totals::default())]);
    for _ in 0..1600 {
        let (base, new, session) = pairs().new_tree(&mut runner).unwrap().current();
        let (recorded, base, new) = (Arc::new(read(&session)), load(&base), load(&new));
        for mode in MODES_OF_ENGINE {
            totals.get_mut(mode.word()).unwrap().add(&changes(&base, &new, &recorded, mode));
        }
    }
    println!("{totals:#?}");
    for kind in Kind::ALL.into_iter().filter(|kind| !kind.is_of_rules()) {
        let (enforce, shadow) = (totals["enforce"].of(kind), totals["shadow"].of(kind));
        assert!(enforce.downstream > 0, "{kind:?} {enforce:?}");
        let reached = matches!(kind, Kind::NowReached | Kind::NowUnreached);
        assert_eq!(reached, enforce.primary <= 5, "{kind:?} {enforce:?}");
        assert_eq!(reached, shadow.primary <= 5, "{kind:?} {shadow:?}");
    }
}

/// The kind of the same change seen from the other version.
fn inverse(kind: Kind) -> Kind {
    match kind {
        Kind::NewlyAllowed => Kind::NewlyBlocked,
        Kind::NewlyBlocked => Kind::NewlyAllowed,
        Kind::NoLongerAsked => Kind::NewlyAsked,
        Kind::NewlyAsked => Kind::NoLongerAsked,
        Kind::Harder => Kind::Softer,
        Kind::Softer => Kind::Harder,
        Kind::NowReached => Kind::NowUnreached,
        Kind::NowUnreached => Kind::NowReached,
        Kind::NewlyVisible => Kind::NewlyHidden,
        Kind::NewlyHidden => Kind::NewlyVisible,
        Kind::NewlyReported => Kind::NoLongerReported,
        Kind::NoLongerReported => Kind::NewlyReported,
        Kind::RuleAdded => Kind::RuleRemoved,
        Kind::RuleRemoved => Kind::RuleAdded,
        Kind::RuleTightened => Kind::RuleWeakened,
        Kind::RuleWeakened => Kind::RuleTightened,
        Kind::OtherReason | Kind::OutcomeChanged | Kind::RuleEdited => kind,
    }
}
