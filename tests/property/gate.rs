//! The front door against replays: a gate decides as a replay does, what it keeps replays to the same decisions, and one
//! that is resumed goes on as the one that was never interrupted.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::Index;
use rulestep_base::session::write::Native;
use rulestep_base::session::{Call, MessageKind, Outcome, Session, Turn};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;
use rulestep_engine::{Decision, Gate, GatedCall, Policy};
use serde_json::json;

use crate::contracts::config;
use crate::engine;
use crate::generate::{self, TOOLS};

/// An agent that does what a session says.
struct Agent<'s> {
    session: &'s Session,
    /// Calls that have no result yet, by index.
    open: BTreeMap<u32, GatedCall>,
    decisions: Vec<Decision>,
}

impl Agent<'_> {
    fn plays(&mut self, gate: &mut Gate, turn: &Turn) {
        let session = self.session;
        let from = session.turn(turn.number - 1).map_or(0, |before| before.messages.end);
        for message in &session.messages[from..turn.messages.start] {
            match &message.kind {
                MessageKind::Operation(operation) => gate.operation(operation.clone()),
                MessageKind::Said => gate.message(&message.role, message.content.clone()),
                _ => {}
            }
        }
        let mut live = gate.turn_at(i64::from(turn.number));
        for message in &session.messages[turn.messages.clone()] {
            if !message.content.is_missing() {
                live.respond(message.content.clone());
            }
        }
        for call in session.calls_of(turn) {
            let gated = live.propose(&call.tool, call.arguments.clone());
            self.decisions.push(gated.decision().clone());
            match call.in_turn || call.outcome == Outcome::Refused {
                true => ends(gated, call),
                false => drop(self.open.insert(call.at.index, gated)),
            }
        }
        drop(live);
        for index in &turn.late {
            if let Some(gated) = self.open.remove(index) {
                ends(gated, &session.calls[*index as usize]);
            }
        }
    }
}

fn ends(gated: GatedCall, call: &Call) {
    match call.outcome {
        Outcome::Ok => gated.succeeded(call.output.clone()),
        Outcome::Error => gated.failed(call.output.clone()),
        Outcome::Refused => gated.refused(call.output.clone()),
        Outcome::Unknown => {}
    }
}

fn policies(contracts: &[serde_json::Value]) -> Arc<Policy> {
    let mut documents = contracts.to_vec();
    documents.push(
        json!({"forbidden": [{"sequence": [TOOLS[1], TOOLS[2], TOOLS[3]], "action": "halt", "reason": "r"}]}),
    );
    engine::policy(&documents)
}

fn verdicts<'a>(decisions: impl IntoIterator<Item = &'a Decision>) -> Vec<Decision> {
    decisions.into_iter().cloned().collect()
}

proptest! {
    #![proptest_config(config(128))]

    #[test]
    fn a_gate_decides_as_a_replay_and_can_be_resumed(
        pair in generate::pairs(), cut in any::<Index>(), shadow in any::<bool>(),
    ) {
        let session = engine::read(&pair.session);
        prop_assume!(!session.turns.is_empty());
        let policy = policies(&pair.contracts);
        let mode = if shadow { Mode::Shadow } else { Mode::Enforce };
        let open = |gate: Gate| if shadow { gate.shadow() } else { gate };
        let mut gate = open(Gate::new(&policy));
        let mut agent = Agent { session: &session, open: BTreeMap::new(), decisions: Vec::new() };
        let cut = cut.index(session.turns.len());
        let mut resumed = None;
        for (place, turn) in session.turns.iter().enumerate() {
            if place == cut {
                let halted = gate.halt().is_some();
                // Calls that are running stay with the gate that began them.
                if agent.open.is_empty() && !(halted && shadow) {
                    let other = open(Gate::resume(&policy, gate.session()));
                    let decisions = agent.decisions.clone();
                    resumed = Some((other, Agent { session: &session, open: BTreeMap::new(), decisions }));
                }
            }
            agent.plays(&mut gate, turn);
            if let Some((gate, agent)) = &mut resumed {
                agent.plays(gate, turn);
            }
        }
        let kept = Arc::new(gate.into_session());
        let replay = Replay::new(&kept, &policy, mode);
        let replayed = verdicts(replay.calls().iter().map(|judged| &judged.decision));
        prop_assert_eq!(&agent.decisions, &replayed);

        // Saved and read again, it replays to the same.
        let text = serde_json::to_string(&Native(&kept)).unwrap();
        let reading = rulestep_recording::open("live.json", Box::new(std::io::Cursor::new(text.into_bytes())), &Default::default());
        let again: Vec<Session> = reading.unwrap().collect();
        prop_assert_eq!(again.len(), 1);
        let again = Replay::new(&Arc::new(again[0].clone()), &policy, mode);
        prop_assert_eq!(&replayed, &verdicts(again.calls().iter().map(|judged| &judged.decision)));

        if let Some((gate, resumed)) = resumed {
            prop_assert_eq!(&resumed.decisions, &agent.decisions);
            prop_assert_eq!(gate.into_session(), Session::clone(&kept));
        }
    }
}
