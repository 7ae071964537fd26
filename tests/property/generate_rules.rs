//! Documents of sequence rules, as JSON.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::generate::{Pools, tool};

/// A document of a few rules over the tools of a session.
pub fn document(pools: Pools) -> BoxedStrategy<Value> {
    vec(rule(pools), 1..5)
        .prop_map(|rules| {
            let aliases = json!({"Any": ["check", "refund"], "Nothing": [], "lookup": ["void"]});
            json!({"aliases": aliases, "rules": rules})
        })
        .boxed()
}

fn rule(pools: Pools) -> BoxedStrategy<Value> {
    let one = || operand(pools);
    let then = || prop_oneof![3 => one(), 1 => vec(one(), 1..3).prop_map(Value::from)];
    let steps = || vec(one(), 0..4);
    let within = || 0..5_u64;
    let globs = || vec(select(vec!["*e*", "c*", "?oid", "refund", "lookup", "*", "not*"]), 1..3);
    prop_oneof![
        2 => one().prop_map(|tool| json!({"type": "require", "tool": tool})),
        5 => (one(), then()).prop_map(|(first, then)| json!({"type": "before", "first": first, "then": then})),
        5 => (one(), then())
            .prop_map(|(first, then)| json!({"type": "immediately_before", "first": first, "then": then})),
        1 => select(vec!["e", "ook", "x*"]).prop_map(|text| json!({"type": "blocklist", "pattern": text})),
        1 => globs().prop_map(|tools| json!({"type": "blocklist", "tools": tools})),
        1 => globs().prop_map(|tools| json!({"type": "allowlist", "tools": tools})),
        3 => (one(), 0..4_u64, any::<bool>()).prop_map(|(tool, max, old)| {
            json!({"type": if old { "count" } else { "max_calls" }, "tool": tool, "max": max})
        }),
        4 => (one(), within()).prop_map(|(tool, within)| json!({"type": "eventually", "tool": tool, "within": within})),
        3 => (one(), one())
            .prop_map(|(trigger, forbidden)| json!({"type": "never_after", "trigger": trigger, "forbidden": forbidden})),
        6 => (one(), one(), within()).prop_map(|(trigger, then, within)| {
            json!({"type": "after", "trigger": trigger, "then": then, "within": within})
        }),
        8 => (steps(), any::<bool>()).prop_map(|(tools, strict)| json!({"type": "sequence", "tools": tools, "strict": strict})),
    ]
    .boxed()
}

fn operand(pools: Pools) -> BoxedStrategy<Value> {
    let pattern = select(vec!["^A$", "A|1", "[", "^\\d+$", "k", ""]);
    let args = (tool(pools), select(vec!["order_id", "weird key"]), pattern)
        .prop_map(|(tool, argument, pattern)| json!({"tool": tool, "args_match": {argument: pattern}}));
    prop_oneof![
        12 => tool(pools).prop_map(Value::from),
        1 => select(vec!["Any", "Nothing"]).prop_map(Value::from),
        2 => args,
    ]
    .boxed()
}
