//! Sequence policies evaluated the naive way, and the engine held against that.
//!
//! The oracle scans the whole recording for every question, and shares nothing with the engine.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rulestep_engine::dialect::limit::Limit;
use rulestep_engine::monitor::StateItem;
use rulestep_engine::replay::{Replay, outcomes};
use rulestep_engine::run as engine;
use serde_json::{Value, json};

use crate::contracts::config;
use crate::naive::{MODES, Mode, list};
use crate::policy_sessions::{
    Ending, Model, TOOLS, forks_agree, model, named_runs_agree, policy, saved_runs_agree,
};

// ---- The oracle -------------------------------------------------------------------------------------------------

/// What is decided of every call so far, in call order.
struct Oracle<'a> {
    policy: &'a Value,
    model: &'a Model,
    mode: Mode,
    decisions: Vec<Value>,
}

impl Oracle<'_> {
    fn judge(policy: &Value, model: &Model, mode: Mode) -> Vec<Value> {
        let mut oracle = Oracle { policy, model, mode, decisions: Vec::new() };
        for (index, (turn, call)) in model.calls().into_iter().enumerate() {
            let decision = oracle.decide(turn, index, call.tool);
            oracle.decisions.push(decision);
        }
        oracle.decisions
    }

    fn decide(&self, turn: usize, index: usize, tool: &str) -> Value {
        let halted = self.decisions.iter().any(|decision| decision["decision"] == "halt");
        if halted && self.mode == Mode::Enforce {
            return json!({"decision": "not_reached"});
        }
        let dispatched = self.dispatched(turn, index);
        let against = self.against(&dispatched, tool);
        let Some((pointer, rule)) = against.first() else { return json!({"decision": "allow"}) };
        let told = match (rule["tellLLM"].as_str(), rule["action"] == "halt") {
            (Some(text), _) => text.to_owned(),
            (None, true) => format!("Tool '{tool}' is not available in this context."),
            (None, false) => "[permission denied: policy]".to_owned(),
        };
        let mut decision = json!({
            "decision": rule["action"],
            "rule": pointer,
            "also": against.iter().skip(1).map(|(pointer, _)| pointer).collect::<Vec<_>>(),
            "reason": rule["reason"],
            "told": told,
        });
        if rule["action"] == "halt" {
            decision["dispatched"] = json!(dispatched);
        }
        decision
    }

    /// "A call is matched when dispatched plus the call *ends* in a pattern"; "the first matching `forbidden`, whatever
    /// its action; then the limit under the exact name, `count >= maxPerSession`".
    fn against(&self, dispatched: &[&str], tool: &str) -> Vec<(String, &Value)> {
        let mut sequence = dispatched.to_vec();
        sequence.push(tool);
        let mut against = Vec::new();
        for (number, rule) in self.policy["forbidden"].as_array().into_iter().flatten().enumerate() {
            let pattern = list(&rule["sequence"]);
            let fits = |(pattern, name): (&Value, &&str)| match pattern["namePrefix"].as_str() {
                Some(prefix) => name.starts_with(prefix),
                None => pattern == name,
            };
            let long_enough = pattern.len() <= sequence.len();
            if long_enough && pattern.iter().zip(&sequence[sequence.len() - pattern.len()..]).all(fits) {
                against.push((format!("/forbidden/{number}"), rule));
            }
        }
        if let Some(limit) = self.policy["limits"].get(tool) {
            let used = dispatched.iter().filter(|name| **name == tool).count() as u64;
            if used >= limit["maxPerSession"].as_u64().unwrap() {
                against.push((format!("/limits/{tool}"), limit));
            }
        }
        against
    }

    /// "calls that ran and have a result (`ok` or `error`), earlier siblings included": before the call `index`.
    fn dispatched(&self, turn: usize, index: usize) -> Vec<&str> {
        let calls = self.model.calls();
        let earlier = calls.iter().take(index).enumerate().filter(|(number, (of, call))| {
            let ran = self.mode == Mode::Shadow || self.decisions[*number]["decision"] == "allow";
            ran && match self.model.ending(call) {
                Ending::Result { late: 0, .. } => true,
                // "counts from the turn after it"
                Ending::Result { late, .. } => turn > of + late,
                Ending::Refused | Ending::Unknown => false,
            }
        });
        earlier.map(|(_, (_, call))| call.tool).collect()
    }
}

/// The rules that hide a tool at the start of each turn: "what the *first* call of the turn would get".
fn hidden(policy: &Value, model: &Model, mode: Mode) -> Vec<Vec<(String, Vec<String>)>> {
    let oracle = Oracle { policy, model, mode, decisions: Oracle::judge(policy, model, mode) };
    let turns = (1..=model.turns.len()).map(|turn| {
        let first = model.calls().iter().take_while(|(of, _)| *of < turn).count();
        let dispatched = oracle.dispatched(turn, first);
        let tools = TOOLS.iter().map(|tool| {
            let against = oracle.against(&dispatched, tool);
            ((*tool).to_owned(), against.into_iter().map(|(pointer, _)| pointer).collect())
        });
        tools.filter(|(_, reasons): &(String, Vec<String>)| !reasons.is_empty()).collect()
    });
    turns.collect()
}

// ---- The engine in the same shape -------------------------------------------------------------------------------

fn written(replay: &Replay) -> Vec<Value> {
    let pointer = |rule| replay.policy().rules().get(rule).unwrap().pointer.to_string();
    let decisions = replay.calls().iter().map(|judged| {
        let mut decision = json!({"decision": judged.decision.verdict.word()});
        if let Some(deciding) = judged.decision.deciding() {
            let also = judged.decision.findings.iter().skip(1).map(|finding| pointer(finding.rule));
            decision["rule"] = pointer(deciding.rule).into();
            decision["also"] = also.collect();
            decision["reason"] = json!(deciding.reason);
            decision["told"] = json!(judged.decision.told);
            if let Some(cause) = deciding.facts.as_deref().and_then(|facts| facts.halt()) {
                decision["dispatched"] = cause.dispatched.iter().map(|(_, tool)| json!(tool)).collect();
            }
        }
        decision
    });
    decisions.collect()
}

fn narrowed(replay: &Replay, turn: usize) -> Vec<(String, Vec<String>)> {
    let frame = replay.frame(turn as u32).unwrap();
    let pointer = |rule| replay.policy().rules().get(rule).unwrap().pointer.to_string();
    let hidden = frame.narrowing.tools.iter().filter(|tool| !tool.visible());
    hidden
        .map(|tool| (tool.tool.to_string(), tool.reasons.iter().map(|r| pointer(r.rule)).collect()))
        .collect()
}

// ---- Policies ---------------------------------------------------------------------------------------------------

fn policies() -> impl Strategy<Value = Value> {
    // After an empty sequence there is nothing more to see.
    let sequence = prop_oneof![1 => Just(Vec::new()), 30 => vec(pattern(), 1..4)];
    let forbidden = vec((sequence, said()), 0..4).prop_map(|rules| -> Vec<Value> {
        let rule = |(sequence, mut rule): (Vec<Value>, Value)| {
            rule["sequence"] = sequence.into();
            rule
        };
        rules.into_iter().map(rule).collect()
    });
    let limits = btree_map(select(&TOOLS[..]), (0..3_u64, said()), 0..4).prop_map(|limits| {
        let limit = |(tool, (most, mut rule)): (&str, (u64, Value))| {
            rule["maxPerSession"] = most.into();
            (tool.to_owned(), rule)
        };
        limits.into_iter().map(limit).collect::<serde_json::Map<_, _>>()
    });
    (forbidden, limits).prop_map(|(forbidden, limits)| json!({"forbidden": forbidden, "limits": limits}))
}

fn pattern() -> BoxedStrategy<Value> {
    let prefix = select(vec!["db", "db.", "d", "mail.", "", "x"]);
    prop_oneof![3 => select(&TOOLS[..]).prop_map(Value::from), 2 => prefix.prop_map(|p| json!({"namePrefix": p}))]
        .boxed()
}

fn said() -> BoxedStrategy<Value> {
    let action = prop_oneof![4 => Just("deny"), 1 => Just("halt")];
    (action, select(vec!["a:1", "b:2"]), weighted(0.3, select(vec!["no", ""])))
        .prop_map(|(action, reason, told)| {
            let mut rule = json!({"action": action, "reason": reason});
            if let Some(told) = told {
                rule["tellLLM"] = told.into();
            }
            rule
        })
        .boxed()
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn the_engine_answers_as_the_oracle(document in policies(), model in model()) {
        let (session, policy) = (model.record(), policy("sequence_policy", &document));
        for (mode, name) in MODES {
            let engine_mode = crate::engine::engine_mode(mode);
            let replay = Replay::new(&session, &policy, engine_mode);
            let expected = Oracle::judge(&document, &model, mode);
            prop_assert_eq!(written(&replay), expected, "{}", name);
            prop_assert_eq!(outcomes(&session, &policy, engine_mode).summary, replay.summary());
            for (turn, mut expected) in hidden(&document, &model, mode).into_iter().enumerate() {
                let actual = narrowed(&replay, turn + 1);
                expected.retain(|(tool, _)| actual.iter().any(|(known, _)| known == tool) || offered(&replay, tool));
                expected.sort();
                prop_assert_eq!(actual, expected, "{} turn {}", name, turn + 1);
            }
            forks_agree(&session, &policy, engine_mode)?;
            saved_runs_agree(&session, &policy, engine_mode)?;
            named_runs_agree(&session, &policy, engine_mode)?;
        }
    }

    #[test]
    fn limits_show_how_far_they_are_used_up(document in policies(), model in model()) {
        let (session, policy) = (model.record(), policy("sequence_policy", &document));
        let replay = Replay::new(&session, &policy, engine::Mode::Shadow);
        let oracle = Oracle { policy: &document, model: &model, mode: Mode::Shadow, decisions: Vec::new() };
        let all = oracle.dispatched(model.turns.len() + 1, usize::MAX);
        for item in replay.state_end() {
            let StateItem::Kept { facts, .. } = item else { panic!("{item:?}") };
            let Limit { tool, used, allowed } = facts.downcast_ref().unwrap();
            prop_assert_eq!(*used, all.iter().filter(|name| **name == &**tool).count() as u64);
            prop_assert_eq!(json!(*allowed), document["limits"][&**tool]["maxPerSession"].clone());
        }
    }
}

/// The property says something only if the drawn pairs reach every answer often.
#[test]
fn the_generated_pairs_reach_every_answer() {
    let mut runner = TestRunner::deterministic();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut calls = 0;
    for _ in 0..1000 {
        let document = policies().new_tree(&mut runner).unwrap().current();
        let model = model().new_tree(&mut runner).unwrap().current();
        for decision in Oracle::judge(&document, &model, Mode::Enforce) {
            calls += 1;
            let rule = decision["rule"].as_str().map_or("", |rule| &rule[..4]);
            *counts.entry(format!("{} {rule}", decision["decision"].as_str().unwrap())).or_default() += 1;
        }
    }
    println!("{calls} calls: {counts:?}");
    for answer in ["allow ", "deny /for", "deny /lim", "halt /for", "halt /lim", "not_reached "] {
        let times = counts.get(answer).copied().unwrap_or_default();
        assert!(times * 150 > calls, "{answer}: {times} of {calls}");
    }
}

/// Whether a tool is offered: none of these sessions says so, and then it is one that a rule or a call names.
fn offered(replay: &Replay, tool: &str) -> bool {
    let frame = replay.frame(1).unwrap();
    frame.narrowing.tools.iter().any(|narrowed| &*narrowed.tool == tool)
}
