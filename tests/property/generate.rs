//! Pairs of contracts and a session, drawn from pools so small that tools, values and paths meet all the time.
//!
//! A strategy here is a plain structure first (few fields, the simplest alternative first), written as JSON last, so
//! that what proptest shrinks is the number of turns and calls and not the text. The bigger parts are boxed: their
//! trees would otherwise lie on the stack of a test thread, inside each other.

use std::fmt;

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use crate::generate_contracts::contracts;
use crate::generate_sessions::session;

pub const TOOLS: [&str; 6] = ["check", "lookup", "refund", "void", "notify", "escalate"];

/// Singular paths into what [`record`] writes.
pub const PATHS: [&str; 5] = ["$.order_id", "$.ref.id", "$.items[0].id", "$['weird key']", "$.items[-1].id"];

pub const CHECKS: &str = "$.checks[*]";

/// Values that collide: within a family some are equal in other spellings, some only look equal.
const FAMILIES: [&[&str]; 5] = [
    &[r#""A""#, r#""B""#, r#""a""#],
    &["1", "1.0", "1e0", r#""1""#, "10e-1", "true"],
    &["9007199254740993", "9007199254740992", "9007199254740993.0", "9.007199254740993e15"],
    &[
        r#"{"k": 1, "l": [2]}"#,
        r#"{"l": [2.0], "k": 1}"#,
        r#"{"k": 1}"#,
        "[1, null]",
        "[1.0, null]",
        "[null, 1]",
    ],
    &["null", "0", "-0.0", "false", r#""""#, "0.1", "1e-1"],
];

/// What one pair draws from.
#[derive(Debug, Clone, Copy)]
pub struct Pools {
    pub tools: &'static [&'static str],
    values: &'static [&'static str],
}

/// The pools of arguments that no pair suggested.
pub const ANY_POOLS: Pools = Pools { tools: &TOOLS, values: FAMILIES[0] };

#[derive(Clone)]
pub struct Pair {
    pub contracts: Vec<Value>,
    pub session: Value,
}

/// As the JSON that a person would open.
impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for contract in &self.contracts {
            writeln!(f, "\n{contract}")?;
        }
        write!(f, "{:#}", self.session)
    }
}

pub fn pairs() -> impl Strategy<Value = Pair> {
    pools()
        .prop_flat_map(|pools| (contracts(pools), session(pools)))
        .prop_map(|(contracts, session)| Pair { contracts, session })
}

pub fn pools() -> impl Strategy<Value = Pools> {
    let used = prop_oneof![8 => 2..=4_usize, 3 => 5..=6_usize, 1 => Just(1)];
    let family = prop_oneof![4 => Just(FAMILIES[0]), 5 => select(&FAMILIES[..])];
    (used, family).prop_map(|(used, values)| Pools { tools: &TOOLS[..used], values })
}

/// Arguments with this value at one of the paths and nothing at the others; for the narrowing properties.
pub fn arguments_with(path: &str, value: &Value) -> Value {
    match path {
        "$.order_id" => json!({"order_id": value}),
        "$.ref.id" => json!({"ref": {"id": value}}),
        "$['weird key']" => json!({"weird key": value}),
        "$.items[0].id" | "$.items[-1].id" => json!({"items": [{"id": value}]}),
        other => panic!("`{other}` is not a path of this generator"),
    }
}

/// The arguments or the output of a call, as a JSON object.
pub fn record(pools: Pools) -> BoxedStrategy<Value> {
    let fields = (
        weighted(0.9, value(pools)),
        weighted(0.5, value(pools)),
        vec(value(pools), 0..3),
        weighted(0.3, value(pools)),
    );
    fields
        .prop_map(|(order, reference, items, weird)| {
            let mut record = Map::new();
            record.extend(order.map(|id| ("order_id".to_owned(), id)));
            record.extend(reference.map(|id| ("ref".to_owned(), json!({"id": id}))));
            if !items.is_empty() {
                let items: Vec<Value> = items.iter().map(|id| json!({"id": id})).collect();
                record.insert("items".to_owned(), items.into());
            }
            record.extend(weird.map(|id| ("weird key".to_owned(), id)));
            Value::Object(record)
        })
        .boxed()
}

pub fn value(pools: Pools) -> BoxedStrategy<Value> {
    let foreign = select(FAMILIES.concat());
    prop_oneof![6 => Just(pools.values[0]), 6 => select(pools.values), 1 => foreign].prop_map(parse).boxed()
}

pub fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The first tool is what others mostly ask for: without such a favourite nearly every call lacks its prior tool.
pub fn tool(pools: Pools) -> impl Strategy<Value = &'static str> {
    prop_oneof![9 => Just(TOOLS[0]), 12 => select(pools.tools), 1 => select(&TOOLS[..])]
}
