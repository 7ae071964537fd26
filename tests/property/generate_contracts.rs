//! Contracts of every kind and combination, as JSON.

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::generate::{CHECKS, PATHS, Pools, TOOLS, parse, tool, value};

pub fn contracts(pools: Pools) -> impl Strategy<Value = Vec<Value>> {
    let one = |often, preconditions| {
        let forbids = weighted(0.4, vec(select(pools.tools), 1..3));
        weighted(often, (vec(precondition(pools), preconditions), forbids))
    };
    (one(0.3, 0..2), vec(one(0.8, 1..3), pools.tools.len() - 1)).prop_map(|(first, others)| {
        let drawn = std::iter::once(first).chain(others);
        let written = drawn.zip(TOOLS).filter_map(|(contract, tool)| Some((contract?, tool)));
        written.map(|((preconditions, forbids), tool)| contract(tool, preconditions, forbids)).collect()
    })
}

fn contract(tool: &str, preconditions: Vec<Value>, forbids: Option<Vec<&str>>) -> Value {
    let mut contract = json!({"tool": tool});
    if !preconditions.is_empty() {
        contract["preconditions"] = preconditions.into();
    }
    if let Some(mut forbids) = forbids {
        forbids.sort_unstable();
        forbids.dedup();
        contract["forbids_after"] = json!(forbids);
    }
    contract
}

fn precondition(pools: Pools) -> BoxedStrategy<Value> {
    let steps = select(vec!["1", "0", "2", "1.0", "1.5", "3"])
        .prop_map(|bound| json!({"requires_step_count": {"gte": parse(bound)}}));
    prop_oneof![1 => steps.clone(), 8 => prior(pools), 1 => (prior(pools), steps).prop_map(|(mut both, steps)| {
        both["requires_step_count"] = steps["requires_step_count"].clone();
        both
    })]
    .boxed()
}

fn prior(pools: Pools) -> BoxedStrategy<Value> {
    let reading = weighted(0.3, select(vec!["newest", "any"]));
    let described = weighted(0.1, Just("why it must be so"));
    let output = prop_oneof![4 => vec(entry(pools), 1), 1 => vec(entry(pools), 0..3)];
    let wanted = prop_oneof![3 => Just(TOOLS[0]), 2 => tool(pools)];
    let parts = (wanted, weighted(0.55, resource()), weighted(0.5, output), reading, described);
    parts
        .prop_map(|(tool, resource, output, reading, description)| {
            let mut precondition = json!({"requires_prior_tool": tool});
            let optional = [
                ("resource", resource),
                ("with_output", output.map(Value::from)),
                ("match", reading.map(Value::from)),
                ("description", description.map(Value::from)),
            ];
            for (key, value) in optional {
                if let Some(value) = value {
                    precondition[key] = value;
                }
            }
            precondition
        })
        .boxed()
}

fn resource() -> BoxedStrategy<Value> {
    let elsewhere = (select(vec!["arguments", "output"]), path())
        .prop_map(|(from, path)| json!({"bind_from": from, "path": path}));
    (path(), weighted(0.25, elsewhere))
        .prop_map(|(path, prior)| {
            let mut resource = json!({"bind_from": "arguments", "path": path});
            if let Some(prior) = prior {
                resource["prior"] = prior;
            }
            resource
        })
        .boxed()
}

fn path() -> impl Strategy<Value = &'static str> {
    prop_oneof![4 => Just(PATHS[0]), 2 => select(&PATHS[..])]
}

/// One entry of `with_output`: a path alone, or every combination of operators.
fn entry(pools: Pools) -> BoxedStrategy<Value> {
    let number = || select(vec!["0", "0.5", "1", "1.0", "1e0", "9007199254740993"]).prop_map(parse);
    let checks =
        (select(vec![CHECKS, CHECKS, "$.checks"]), select(vec!["true", "true", "[true]", "[true, false]"]));
    prop_oneof![
        7 => Just(json!({"path": "$.eligible", "equals": true})),
        1 => Just(json!({"path": "$.eligible", "equals": "true"})),
        2 => number().prop_map(|low| json!({"path": "$.score", "gte": low})),
        1 => number().prop_map(|high| json!({"path": "$.score", "lte": high})),
        1 => (number(), number()).prop_map(|(low, high)| json!({"path": "$.score", "gte": low, "lte": high})),
        3 => checks.prop_map(|(path, wanted)| json!({"path": path, "equals": parse(wanted)})),
        1 => (path(), value(pools)).prop_map(|(path, wanted)| json!({"path": path, "equals": wanted})),
        1 => select(vec!["$.score", "$.eligible", CHECKS, "$.absent", "$"]).prop_map(|path| json!({"path": path})),
        1 => (select(vec!["$.score", "$.eligible", CHECKS, "$.absent"]), any::<bool>(), weighted(0.3, number()))
            .prop_map(|(path, exists, high)| match high {
                Some(high) => json!({"path": path, "exists": exists, "lte": high}),
                None => json!({"path": path, "exists": exists}),
            }),
        1 => Just(json!({"path": "$", "equals": "plain words"})),
    ].boxed()
}
