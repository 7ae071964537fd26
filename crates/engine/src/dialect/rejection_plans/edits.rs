//! The effect of an edit of a rejection plan, key by key.

use serde_json::{Map, Value};

use crate::dialect::edits::{Absent, Edits, OPTIONS, Row, Shape};
use rulestep_base::source::Node;

/// The keys of plans. A configuration holds much that is no rule.
pub(super) const EDITS: Edits = Edits {
    kinds: &[("rejection_plan", &[OPTIONS, &[Row::stops("conditions", Absent::Nothing, Shape::Conditions)]])],
    around,
    idle: None,
};

/// The other keys of a plan are beside conditions that are beside `tool`.
fn around(document: &Node, pointer: &str) -> Map<String, Value> {
    let Some(conditions) = document.at(pointer).filter(|node| node.as_seq().is_some()) else {
        return Map::new();
    };
    let around = pointer.rsplit_once('/').and_then(|(around, _)| document.at(around));
    let around = around.and_then(Node::as_map).unwrap_or_default().iter();
    // Keys that name the document, or the tool: another tool is another rule.
    let own =
        around.filter(|entry| !matches!(&*entry.key, "conditions" | "description" | "dialect" | "tool"));
    let mut keys: Map<String, Value> = own.map(|entry| (entry.key.clone(), entry.value.to_json())).collect();
    keys.insert("conditions".to_owned(), conditions.to_json());
    keys
}
