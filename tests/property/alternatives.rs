//! Choices that were not taken, in random sessions: each gets the decisions of the session that takes it, and the session
//! is judged as if they were not there.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::Index;
use rulestep_base::session::{Alternative, Message, MessageKind, Session};
use rulestep_engine::replay::{Replay, outcomes};
use serde_json::json;

use crate::contracts::config;
use crate::engine;
use crate::generate::{self, TOOLS};
use crate::naive::MODES;

/// The session, with the responses of some turns standing beside others.
fn with_alternatives(session: &Session, places: &[(Index, Index)]) -> Session {
    let mut session = session.clone();
    let turns = session.turns.clone();
    let mut beside: Vec<_> =
        places.iter().map(|(to, from)| (to.index(turns.len()), from.index(turns.len()))).collect();
    beside.sort_unstable();
    for (to, from) in beside {
        let turn = turns[to].number;
        let choice = session.alternatives_of(turn).len() as u32 + 2;
        let own = &session.messages[turns[from].messages.end - 1];
        let at = session.messages[turns[to].messages.clone()].iter().find_map(|message| message.at);
        let message = Message { at, kind: MessageKind::Response(turn), ..own.clone() };
        session.alternatives.push(Alternative { turn, choice, message });
    }
    session
}

proptest! {
    #![proptest_config(config(128))]

    #[test]
    fn alternatives_are_judged_as_the_session_that_takes_them(
        pair in generate::pairs(),
        places in proptest::collection::vec(any::<(Index, Index)>(), 1..5),
    ) {
        let plain = Arc::new(engine::read(&pair.session));
        prop_assume!(!plain.turns.is_empty());
        let session = Arc::new(with_alternatives(&plain, &places));
        let mut documents = pair.contracts.clone();
        documents.push(json!({"tool": TOOLS[0], "rejectionPlan": {"conditions": [
            {"type": "regex", "target": {"role": "assistant", "position": -1}, "regex": "a"}]}}));
        documents.push(json!({"forbidden": [{"sequence": [TOOLS[1], TOOLS[2]], "action": "halt", "reason": "r"}]}));
        let policy = engine::policy(&documents);
        for (mode, name) in MODES {
            let mode = engine::engine_mode(mode);
            let replay = Replay::new(&session, &policy, mode);
            for (place, other) in session.alternatives.iter().enumerate() {
                let taken = Replay::new(&Arc::new(session.taking(other)), &policy, mode);
                let first = taken.session().turns.last().unwrap().calls.start;
                let expected: Vec<_> = taken.calls()[first..].iter().map(|judged| &judged.decision).collect();
                let decided: Vec<_> = replay.alternative(place).iter().map(|judged| &judged.decision).collect();
                prop_assert_eq!(&decided, &expected, "{}: {}.{}", name, other.turn, other.choice);
                let quick = replay.taking(place).unwrap();
                prop_assert_eq!(quick.session(), taken.session());
                prop_assert_eq!((quick.summary(), quick.status()), (taken.summary(), taken.status()));
                prop_assert_eq!((quick.rules(), quick.halt()), (taken.rules(), taken.halt()));
                prop_assert_eq!(quick.state_end(), taken.state_end());
                prop_assert_eq!(quick.frame(other.turn).unwrap().calls, taken.frame(other.turn).unwrap().calls);
            }
            let without = Replay::new(&plain, &policy, mode);
            let decisions = |replay: &Replay| -> Vec<_> {
                replay.calls().iter().map(|judged| (judged.decision.clone(), judged.counterfactual)).collect()
            };
            prop_assert_eq!(decisions(&replay), decisions(&without));
            let stopped = |place| replay.alternative(place).iter().filter(|judged| judged.decision.verdict.stops()).count();
            let stopped: usize = (0..session.alternatives.len()).map(stopped).sum();
            prop_assert_eq!(replay.summary().alternatives_stopped as usize, stopped);
            prop_assert_eq!(replay.objects(), without.objects() || stopped > 0);
            prop_assert_eq!(outcomes(&session, &policy, mode).summary, replay.summary());
        }
    }
}
