//! What became of a call is never changed by copying its session: whatever is cut off, supposed, redacted, or written and
//! read again.

use std::io::Cursor;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use rulestep::redact::redact;
use rulestep::witness;
use rulestep_base::session::edit::{Edit, Part, apply, part};
use rulestep_base::session::write::Native;
use rulestep_base::session::{Body, Outcome, Results, Session};
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::{Mode, Verdict};
use rulestep_recording::{self as recording, Options};
use serde_json::{Value, json};

use crate::contracts::config;
use crate::engine::policy;
use crate::generate::{Pair, pairs};

/// A session whose results say how their calls ended in every way that the native form has.
fn sessions() -> impl Strategy<Value = (Pair, Session)> {
    let status =
        select(vec!["", "", "", "running", "running", "odd", "unknown", "success", "failed", "denied"]);
    (pairs(), prop::collection::vec((status, any::<bool>(), any::<bool>()), 32)).prop_map(
        |(mut pair, said)| {
            let messages = pair.session["messages"].as_array_mut().unwrap().iter_mut();
            let results = messages.filter(|message| message["role"] == "tool");
            for (message, (status, late, twice)) in results.zip(said) {
                if !status.is_empty() {
                    message["status"] = json!(status);
                }
                if late {
                    message["after_siblings"] = json!(true);
                }
                if twice {
                    message.as_object_mut().unwrap().remove("is_error");
                }
            }
            let session = read(&pair.session.to_string());
            (pair, session)
        },
    )
}

fn read(text: &str) -> Session {
    let mut reading =
        recording::open("some.json", Box::new(Cursor::new(text.to_owned())), &Options::default()).unwrap();
    reading.next().unwrap()
}

fn again(session: &Session) -> Session {
    read(&serde_json::to_string(&Native(session)).unwrap())
}

fn outcomes(session: &Session) -> Vec<(Outcome, bool)> {
    session.calls.iter().map(|call| (call.outcome, call.in_turn)).collect()
}

fn verdicts(session: &Arc<Session>, policy: &Arc<Policy>) -> Vec<Verdict> {
    let replay = Replay::new(session, policy, Mode::Enforce);
    replay.calls().iter().map(|judged| judged.decision.verdict).collect()
}

proptest! {
    #![proptest_config(config(192))]

    #[test]
    fn a_copy_keeps_every_outcome_and_every_verdict((pair, session) in sessions()) {
        let policy = policy(&pair.contracts);
        let session = Arc::new(session);
        let (recorded, decided) = (outcomes(&session), verdicts(&session, &policy));
        let copied = part(&session, &Part::whole(&session)).session;
        let unchanged = apply(&session, &[]).session;
        let written = Arc::new(again(&session));
        let redacted = Arc::new(redact(&session, &[&policy]).session);
        for (how, copy) in [
            ("copied", &copied),
            ("unchanged", &unchanged),
            ("written", &written),
            ("copied and written", &Arc::new(again(&copied))),
            ("written and copied", &part(&written, &Part::whole(&written)).session),
        ] {
            prop_assert_eq!(&outcomes(copy), &recorded, "{}", how);
            prop_assert_eq!(&verdicts(copy, &policy), &decided, "{}", how);
        }
        prop_assert_eq!(&outcomes(&redacted), &recorded);
        prop_assert_eq!(&outcomes(&again(&redacted)), &recorded);
    }

    /// What is decided about a call does not rest on what comes after its turn, so it stands when that is cut off.
    #[test]
    fn a_session_that_is_cut_keeps_the_outcomes_and_verdicts_before((pair, session) in sessions()) {
        let policy = policy(&pair.contracts);
        let session = Arc::new(session);
        let (recorded, decided) = (outcomes(&session), verdicts(&session, &policy));
        for turn in &session.turns {
            let cut = part(&session, &Part::up_to(&session, turn.number)).session;
            let again = again(&cut);
            for kept in [&cut, &Arc::new(again)] {
                let count = kept.calls.len();
                prop_assert_eq!(count, turn.calls.end);
                let ended: Vec<_> = outcomes(kept).into_iter().map(|(outcome, _)| outcome).collect();
                let before: Vec<_> = recorded[..count].iter().map(|(outcome, _)| *outcome).collect();
                prop_assert_eq!(ended, before);
                prop_assert_eq!(&verdicts(kept, &policy)[..], &decided[..count]);
            }
        }
    }

    #[test]
    fn a_change_of_one_call_leaves_all_others((pair, session) in sessions(), one in any::<Index>(), ended in 0..4_usize) {
        prop_assume!(!session.calls.is_empty() && session.facts.results == Results::Recorded);
        let outcome = [Outcome::Ok, Outcome::Error, Outcome::Refused, Outcome::Unknown][ended];
        let call = one.index(session.calls.len()) as u32;
        let drop = Edit::DropCall(call);
        let arguments = Edit::Arguments { call, arguments: Body::text("{}") };
        let result = Edit::Result { call, outcome, content: Body::text("as if") };
        for (edit, itself) in [(drop, None), (arguments, Some(session.calls[call as usize].outcome)), (result, Some(outcome))] {
            let edited = apply(&session, std::slice::from_ref(&edit));
            for copy in [&*edited.session, &again(&edited.session)] {
                for recorded in &session.calls {
                    let now = edited.call(recorded.at.index).map(|now| copy.calls[now as usize].outcome);
                    let expected = if recorded.at.index == call { itself } else { Some(recorded.outcome) };
                    prop_assert_eq!(now, expected, "{:?} of {:?}", recorded.at, edit);
                }
            }
            // A result of a call that is gone is no result of a call that is missing.
            let lost = |session: &Session| {
                session.diagnostics.iter().filter(|told| told.may_lose_calls()).count()
            };
            if let Edit::DropCall(_) = edit && session.calls[call as usize].result.is_none() {
                prop_assert!(lost(&again(&edited.session)) <= lost(&again(&session)));
            }
        }
        let _: Vec<Value> = pair.contracts;
    }

    /// Whatever is denied has a minimal example, also where it rests on a call of which nothing is known.
    #[test]
    fn every_denial_has_a_minimal_example((pair, session) in sessions()) {
        let policy = policy(&pair.contracts);
        let session = Arc::new(session);
        for (call, verdict) in session.calls.iter().zip(verdicts(&session, &policy)) {
            if verdict.stops() {
                let found = witness::denial(&session, &policy, Mode::Enforce, call.at.index, 8);
                prop_assert!(found.is_some(), "{:?}", call.at);
            }
        }
    }
}
