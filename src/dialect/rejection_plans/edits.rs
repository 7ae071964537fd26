//! What an edit of a rejection plan does, key by key.

use serde_json::{Map, Value};

use crate::dialect::edits::{Absent, Edits, OPTIONS, Row, Shape};
use crate::source::Node;

/// The keys of plans. A configuration holds much that is no rule.
pub(super) const EDITS: Edits = Edits {
    kinds: &[("rejection_plan", &[OPTIONS, &[Row::stops("conditions", Absent::Nothing, Shape::Conditions)]])],
    around,
    idle: None,
};

/// Conditions beside `tool` have the options beside them.
fn around(document: &Node, pointer: &str) -> Map<String, Value> {
    let Some(conditions) = document.at(pointer).filter(|node| node.as_seq().is_some()) else {
        return Map::new();
    };
    let around = pointer.rsplit_once('/').and_then(|(around, _)| document.at(around));
    let options = ["effect", "mode", "tell"].into_iter();
    let mut keys: Map<String, Value> =
        options.filter_map(|key| Some((key.to_owned(), around?.get(key)?.to_json()))).collect();
    keys.insert("conditions".to_owned(), conditions.to_json());
    keys
}
