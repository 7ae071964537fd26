//! Rejection plans: the engine against the naive evaluator, on sessions and plans drawn at random.

use std::fmt;
use std::io::Cursor;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use rulestep_base::session::Session;
use rulestep_engine::dialect::rejection_plans::facts::Plan;
use rulestep_engine::policy::{Policy, PolicyFile};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Verdict;
use rulestep_recording::{self as recording, Options};
use serde_json::{Value, json};

use crate::contracts::config;
use crate::engine::engine_mode;
use crate::naive::{MODES, Mode};
use crate::naive_plans;
use crate::policy_sessions::named_runs_agree;

const TEXTS: [&str; 8] = ["yes", "no", "stop\nnow", "say yes", "", "NO", "a b a", "42"];

const PATTERNS: [&str; 9] =
    ["yes", "^no$", "(?i)no", "^$", ".", "(?m)^now", "rejected", r"(\w) \w \1", "(oops"];

const TEMPLATES: [&str; 11] = [
    "{% if messages.size > 3 %}true{% else %}false{% endif %}",
    "{% if messages.last.content contains 'yes' %} true {% else %} false {% endif %}",
    "{% assign said = messages | where: 'role', 'user' | last %}{% if said.content == 'no' %}true{% else %}false{% endif %}",
    "{% assign calls = messages | map: 'tool_calls' | compact %}{% if calls.size > 1 %}true{% else %}false{% endif %}",
    "{% if messages.last.tool_call_id %}true{% else %}false{% endif %}",
    "{% if tier == 'gold' %}true{% else %}false{% endif %}",
    "{% if tier %}{{ tier == 'tin' }}{% endif %}true",
    "{% assign year = 'now' | date: '%Y' %}{% if year == '2026' %}true{% else %}false{% endif %}",
    "{% if now > 1600000000000 %}true{% else %}false{% endif %}",
    "{{ messages.size }}",
    "{{ 1 | oops }}",
];

#[derive(Clone)]
struct Drawn {
    plan: Value,
    session: Value,
}

/// As the JSON that a person would open.
impl fmt::Debug for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{:#}\n{:#}", self.plan, self.session)
    }
}

fn content() -> impl Strategy<Value = Value> {
    let part = (any::<bool>(), select(&TEXTS[..])).prop_map(|(text, said)| {
        if text {
            json!({"type": "text", "text": said})
        } else {
            json!({"type": "image_url", "image_url": {"url": said}})
        }
    });
    prop_oneof![
        12 => select(&TEXTS[..]).prop_map(Value::from),
        2 => Just(Value::Null),
        2 => vec(part, 0..3).prop_map(Value::from),
        1 => select(vec![json!(42), json!({"a": 1}), json!(true)]),
    ]
}

/// Messages without ids of calls; those are given afterwards.
fn step() -> impl Strategy<Value = Value> {
    let tools = vec(prop_oneof![3 => Just("act"), 1 => Just("look")], 0..3);
    let at = weighted(0.2, select(vec!["2026-05-04T10:00:00Z", "2020-01-01T00:00:00Z"]));
    let roles = prop_oneof![3 => Just("user"), 5 => Just("assistant"), 1 => Just("system")];
    (roles, content(), tools, at, weighted(0.8, content())).prop_map(|(role, content, tools, at, result)| {
        json!({"role": role, "content": content, "tools": tools, "at": at, "result": result})
    })
}

fn session(steps: std::ops::Range<usize>) -> impl Strategy<Value = Value> {
    let now = weighted(0.4, Just("2026-05-04T10:00:00Z"));
    let named = select(vec![
        json!(null),
        json!({}),
        json!({"tier": "gold"}),
        json!({"tier": "tin", "now": 1, "messages": []}),
    ]);
    (vec(step(), steps), now, named.clone(), named).prop_map(|(steps, now, variables, context)| {
        let (mut messages, mut number) = (Vec::new(), 0);
        for step in steps {
            let mut message = json!({"role": step["role"], "content": step["content"], "at": step["at"]});
            let mut results = Vec::new();
            if step["role"] == "assistant" && step["tools"] != json!([]) {
                let mut calls = Vec::new();
                for tool in step["tools"].as_array().unwrap() {
                    number += 1;
                    let id = format!("c{number}");
                    calls.push(json!({"id": id, "type": "function", "function": {"name": tool, "arguments": "{\"a\": 1}"}}));
                    if !step["result"].is_null() {
                        results.push(json!({"role": "tool", "content": step["result"], "tool_call_id": id}));
                    }
                }
                message["tool_calls"] = json!(calls);
            }
            messages.push(message);
            messages.extend(results);
        }
        json!({"tools": [{"name": "act"}], "messages": messages, "now": now, "variables": variables, "context": context, "results": "recorded"})
    })
}

fn condition() -> impl Strategy<Value = Value> {
    let role = prop_oneof![4 => Just(json!("user")), 4 => Just(json!("assistant")), 3 => Just(json!(null)), 1 => Just(json!("tool"))];
    let position =
        prop_oneof![6 => (-4..5i64).prop_map(Value::from), 3 => Just(json!(null)), 1 => Just(json!("1"))];
    let negate = prop_oneof![4 => Just(json!(null)), 4 => Just(json!(true)), 1 => Just(json!("true"))];
    let regex = (select(&PATTERNS[..]), weighted(0.8, (role, position)), negate).prop_map(
        |(regex, target, negate)| {
            let target = target.map(|(role, position)| json!({"role": role, "position": position}));
            json!({"type": "regex", "regex": regex, "target": target, "negate": negate})
        },
    );
    let liquid = select(&TEMPLATES[..]).prop_map(|liquid| json!({"type": "liquid", "liquid": liquid}));
    let odd = select(vec![
        json!(null),
        json!({"type": "regexp"}),
        json!({"type": "liquid"}),
        json!({"type": "group"}),
    ]);
    let leaf = prop_oneof![8 => regex, 4 => liquid, 1 => odd];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let operator = prop_oneof![6 => Just("AND"), 6 => Just("OR"), 1 => Just("NOT")];
        (operator, vec(inner, 0..4)).prop_map(
            |(operator, conditions)| json!({"type": "group", "operator": operator, "conditions": conditions}),
        )
    })
}

fn drawn(steps: std::ops::Range<usize>) -> impl Strategy<Value = Drawn> {
    let odd = select(vec![json!(null), json!({}), json!({"conditions": null}), json!({"conditions": "no"})]);
    let plan = prop_oneof![
        30 => vec(condition(), 0..4).prop_map(|conditions| json!({"conditions": conditions})),
        1 => odd,
    ];
    (plan, session(steps)).prop_map(|(plan, session)| Drawn { plan, session })
}

fn policy(plan: &Value) -> Arc<Policy> {
    let text = json!({"tool": "act", "rejectionPlan": plan}).to_string();
    let file =
        PolicyFile { name: "a.json".into(), relative: "a.json".into(), text: text.into(), named: true };
    Policy::load(&[file], None).policy.unwrap()
}

fn read(session: &Value) -> Arc<Session> {
    let text = Cursor::new(session.to_string().into_bytes());
    let mut reading = recording::open("a.json", Box::new(text), &Options::default()).unwrap();
    Arc::new(reading.next().unwrap())
}

/// The engine in the shape of the naive evaluator: decisions from the replay, conditions from the frames, which come
/// from forks of the run.
fn evaluate(drawn: &Drawn, mode: Mode) -> Vec<Value> {
    let session = read(&drawn.session);
    let policy = policy(&drawn.plan);
    let replay = Replay::new(&session, &policy, engine_mode(mode));
    named_runs_agree(&session, &policy, engine_mode(mode)).unwrap();
    let turns = session.turns.iter().map(|turn| {
        let frame = replay.frame(turn.number).unwrap();
        let calls = session.calls_of(turn).iter().zip(&frame.calls).map(|(call, decision)| {
            let rejected = replay.call(call.at.index).unwrap().decision.verdict == Verdict::Deny;
            let matched = decision
                .checks
                .first()
                .map(|check| check.facts.as_deref().unwrap().downcast_ref::<Plan>().unwrap().matched.clone());
            json!({"rejected": rejected, "matched": matched.unwrap_or_default()})
        });
        json!({"hidden": !frame.narrowing.tools[0].visible(), "calls": calls.collect::<Vec<_>>()})
    });
    turns.collect()
}

fn agree(drawn: &Drawn) -> Result<(), TestCaseError> {
    for (mode, name) in MODES {
        let (expected, actual) =
            (naive_plans::evaluate(&drawn.plan, &drawn.session, mode), evaluate(drawn, mode));
        prop_assert_eq!(expected, actual, "{}", name);
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(384))]

    #[test]
    fn the_engine_judges_plans_as_the_oracle(drawn in drawn(1..9)) {
        agree(&drawn)?;
    }
}

proptest! {
    #![proptest_config(config(6))]

    /// Long enough for several forks, and for several blocks of the history.
    #[test]
    fn in_long_sessions_too(drawn in drawn(250..420)) {
        agree(&drawn)?;
    }
}

/// What is drawn reaches every answer often enough to say something.
#[test]
fn the_drawn_plans_reach_every_answer() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut calls, mut rejected, mut hidden, mut turns) = (0, 0, 0, 0);
    for _ in 0..300 {
        let drawn = drawn(1..9).new_tree(&mut runner).unwrap().current();
        for turn in naive_plans::evaluate(&drawn.plan, &drawn.session, Mode::Enforce) {
            turns += 1;
            hidden += u32::from(turn["hidden"] == true);
            for call in turn["calls"].as_array().unwrap() {
                calls += 1;
                rejected += u32::from(call["rejected"] == true);
            }
        }
    }
    println!("{rejected} of {calls} calls rejected, hidden in {hidden} of {turns} turns");
    assert!(rejected * 10 > calls && rejected * 10 < calls * 9 && hidden * 50 > turns);
}
