//! Witnesses: they show what the whole shows, nothing can be left out of them, and hardly ever is there a smaller one.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use rulestep::compare::{Base, Comparison};
use rulestep::witness::{self, Witness};
use rulestep_base::session::edit::{Part, part};
use rulestep_base::session::write::Native;
use rulestep_base::session::{MessageKind, Session};
use rulestep_engine::monitor::finding::Finding;
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;

use crate::contracts::config;
use crate::engine::{policy, read};
use crate::generate::pairs;

/// A rule and a code.
type Reason = (u32, String);

/// What stops a call, and everything that rules say of it: a part in which another rule speaks too shows something else.
fn stopped(session: &Arc<Session>, policy: &Arc<Policy>, call: u32) -> Option<(Reason, BTreeSet<Reason>)> {
    let replay = Replay::new(session, policy, Mode::Enforce);
    let decision = &replay.call(call)?.decision;
    Some((reason(decision.deciding()?), decision.findings.iter().map(reason).collect()))
}

fn reason(finding: &Finding) -> Reason {
    (finding.rule.0, finding.code.to_string())
}

/// What the part without something more decides about the call.
fn without(
    session: &Session,
    witness: &Witness,
    policy: &Arc<Policy>,
    call: u32,
    drop: &dyn Fn(&mut Part),
) -> Option<(Reason, BTreeSet<Reason>)> {
    let mut smaller = witness.part.clone();
    drop(&mut smaller);
    let edited = part(session, &smaller);
    stopped(&edited.session, policy, edited.call(call)?)
}

fn assert_minimal(session: &Arc<Session>, policy: &Arc<Policy>, call: u32, found: &Witness) {
    let wanted = stopped(session, policy, call);
    assert!(found.minimal);
    let now = found.call(call).unwrap();
    assert_eq!(stopped(found.session(), policy, now.index), wanted);
    for other in session.calls.iter().filter(|other| found.part.has_call(other)) {
        let lost = without(session, found, policy, call, &|part| part.drop_call(other.at.index));
        assert_ne!(lost, wanted, "call {} can be left out", other.at.index);
    }
    for turn in session.turns.iter().filter(|turn| found.part.has_turn(turn.number)) {
        let lost = without(session, found, policy, call, &|part| part.drop_turn(turn.number));
        assert_ne!(lost, wanted, "turn {} can be left out", turn.number);
    }
    let said = |message: &MessageKind| {
        !matches!(message, MessageKind::Response(_) | MessageKind::Result(Some(_), _))
    };
    for (place, _) in session.messages.iter().enumerate().filter(|(_, message)| said(&message.kind)) {
        assert!(
            !found.part.has_message(place)
                || without(session, found, policy, call, &|part| part.drop_message(place)) != wanted
        );
    }
}

proptest! {
    #![proptest_config(config(96))]

    #[test]
    fn a_witness_shows_its_denial_and_nothing_can_be_left_out(pair in pairs()) {
        let policy = policy(&pair.contracts);
        let session = Arc::new(read(&pair.session));
        let replay = Replay::new(&session, &policy, Mode::Enforce);
        for (call, judged) in session.calls.iter().zip(replay.calls()) {
            let found = witness::denial(&session, &policy, Mode::Enforce, call.at.index, witness::BUDGET);
            prop_assert_eq!(found.is_some(), judged.decision.verdict.stops());
            let Some(found) = found else { continue };
            assert_minimal(&session, &policy, call.at.index, &found);
            // As a file of its own it shows the same.
            let written = serde_json::from_str(&serde_json::to_string(&Native(found.session())).unwrap()).unwrap();
            let now = found.call(call.at.index).unwrap();
            prop_assert_eq!(
                stopped(&Arc::new(read(&written)), &policy, now.index),
                stopped(&session, &policy, call.at.index)
            );
        }
    }

    #[test]
    fn a_witness_of_a_change_shows_it(pair in pairs(), gone in any::<prop::sample::Index>()) {
        prop_assume!(!pair.contracts.is_empty());
        let base = policy(&pair.contracts);
        let mut fewer = pair.contracts.clone();
        fewer.remove(gone.index(fewer.len()));
        let new = policy(&fewer);
        let comparison = Comparison::new(Base::Version(Arc::clone(&base)), Arc::clone(&new));
        let session = Arc::new(read(&pair.session));
        let verdicts = |session: &Arc<Session>, call: u32| {
            [&base, &new].map(|policy| Replay::new(session, policy, Mode::Enforce).call(call).unwrap().decision.verdict)
        };
        for call in &session.calls {
            let [before, after] = verdicts(&session, call.at.index);
            let found = witness::change(&session, &comparison, Mode::Enforce, call.at.index, witness::BUDGET);
            prop_assert!(found.is_some() || before == after);
            let Some(found) = found else { continue };
            prop_assert_eq!(verdicts(found.session(), found.call(call.at.index).unwrap().index), [before, after]);
            for other in session.calls.iter().filter(|other| found.part.has_call(other) && other.at.index != call.at.index) {
                let mut smaller = found.part.clone();
                smaller.drop_call(other.at.index);
                let edited = part(&session, &smaller);
                let now = edited.call(call.at.index).unwrap();
                let decided = |policy: &Arc<Policy>, session: &Arc<Session>, call| {
                    let replay = Replay::new(session, policy, Mode::Enforce);
                    let decision = &replay.call(call).unwrap().decision;
                    (decision.verdict, decision.deciding().map(reason), decision.findings.iter().map(reason).collect::<BTreeSet<_>>())
                };
                let kind = |session: &Arc<Session>, call: u32| {
                    let [base, new] = [&base, &new].map(|policy| Replay::new(session, policy, Mode::Enforce));
                    let base = base.call(call).map(|judged| &judged.decision);
                    comparison.kind(&session.calls[call as usize], base, new.call(call).unwrap())
                };
                let of = |session: &Arc<Session>, call| {
                    (kind(session, call), [&base, &new].map(|policy| decided(policy, session, call)))
                };
                prop_assert_ne!(of(&edited.session, now), of(&session, call.at.index));
            }
        }
    }
}

/// Calls and turns of a part.
fn size(session: &Session, part: &Part) -> usize {
    session.calls.iter().filter(|call| part.has_call(call)).count()
        + session.turns.iter().filter(|turn| part.has_turn(turn.number)).count()
}

/// The size of the smallest part of all that shows it.
fn smallest(session: &Arc<Session>, policy: &Arc<Policy>, call: u32) -> usize {
    let wanted = stopped(session, policy, call);
    let things = session.turns.len() + session.calls.len();
    let mut best = usize::MAX;
    for mask in 0..1u32 << things {
        let mut kept = Part::whole(session);
        for (place, turn) in session.turns.iter().enumerate() {
            if mask >> place & 1 == 1 {
                kept.drop_turn(turn.number);
            }
        }
        for other in &session.calls {
            if mask >> (session.turns.len() + other.at.index as usize) & 1 == 1 {
                kept.drop_call(other.at.index);
            }
        }
        if size(session, &kept) >= best {
            continue;
        }
        let edited = part(session, &kept);
        if edited.call(call).is_some_and(|now| stopped(&edited.session, policy, now) == wanted) {
            best = size(session, &kept);
        }
    }
    best
}

#[test]
fn witnesses_are_as_small_as_exhaustive_search_finds() {
    let mut runner =
        TestRunner::new_with_rng(Config::default(), TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let strategy = pairs();
    let (mut sessions, mut as_small) = (0, 0);
    while sessions < 100 {
        let pair = strategy.new_tree(&mut runner).unwrap().current();
        let policy = policy(&pair.contracts);
        let session = Arc::new(read(&pair.session));
        if session.turns.len() + session.calls.len() > 10 || session.calls.len() < 3 {
            continue;
        }
        let replay = Replay::new(&session, &policy, Mode::Enforce);
        // The last stopped call has most before it.
        let calls = session.calls.iter().zip(replay.calls()).rev();
        let Some((call, _)) = calls.into_iter().find(|(_, judged)| judged.decision.verdict.stops()) else {
            continue;
        };
        let found =
            witness::denial(&session, &policy, Mode::Enforce, call.at.index, witness::BUDGET).unwrap();
        sessions += 1;
        as_small += usize::from(size(&session, &found.part) == smallest(&session, &policy, call.at.index));
    }
    println!("{as_small} of {sessions} witnesses are as small as can be");
    assert!(as_small >= 95, "{as_small} of {sessions}");
}

#[test]
fn a_budget_that_is_spent_is_said_to_be() {
    let contract = serde_json::json!({"tool": "pay", "forbids_after": ["pay"]});
    let calls = |id: usize| {
        let function = serde_json::json!({"name": "pay", "arguments": "{}"});
        let call = serde_json::json!({"id": format!("c{id}"), "type": "function", "function": function});
        [
            serde_json::json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            serde_json::json!({"role": "tool", "tool_call_id": format!("c{id}"), "content": "ok"}),
        ]
    };
    let messages: Vec<_> = (0..12).flat_map(calls).collect();
    let session = Arc::new(read(&serde_json::json!({"id": "pays", "messages": messages})));
    let policy = policy(&[contract]);
    let found = |budget| witness::denial(&session, &policy, Mode::Enforce, 11, budget).unwrap();
    let (little, enough) = (found(3), found(witness::BUDGET));
    assert!(!little.minimal && little.replays == 3);
    assert!(stopped(little.session(), &policy, little.call(11).unwrap().index).is_some());
    assert!(enough.minimal && enough.replays > 3);
    assert_eq!((enough.session().calls.len(), enough.session().turns.len()), (2, 2));
    assert!(witness::denial(&session, &policy, Mode::Enforce, 0, witness::BUDGET).is_none());
    assert!(witness::denial(&session, &policy, Mode::Enforce, 99, witness::BUDGET).is_none());
}
