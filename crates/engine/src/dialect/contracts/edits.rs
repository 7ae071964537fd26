//! The effect of an edit of a contract, key by key.

use serde_json::{Map, Value};

use crate::dialect::edits::{Absent, CALLS, Edits, OPTIONS, Row, Shape};
use rulestep_base::source::Node;

/// The keys of preconditions and of what may not follow.
pub(super) const EDITS: Edits = Edits {
    kinds: &[
        (
            "precondition",
            &[
                OPTIONS,
                &[
                    Row::allows("requires_prior_tool", Absent::Everything, CALLS),
                    Row::allows("resource", Absent::Everything, Shape::Exact),
                    Row::allows("with_output", Absent::Everything, Shape::All(&OUTPUT)),
                    Row::allows("match", Absent::Unknown, Shape::Rank(&["newest", "any"], "")),
                    Row::stops("requires_step_count", Absent::Nothing, STEPS),
                ],
            ],
        ),
        ("forbids_after", &[OPTIONS, &[Row::exact("tool")]]),
    ],
    around,
    idle: Some(&["dialect", "description", "tool", "preconditions", "forbids_after"]),
};

/// A name alone is short for a mapping.
fn around(document: &Node, pointer: &str) -> Map<String, Value> {
    let name = document.at(pointer).and_then(Node::as_str);
    name.map(|name| Map::from_iter([("tool".to_owned(), name.into())])).unwrap_or_default()
}

const STEPS: Shape = Shape::Keys(&[&[Row::stops("gte", Absent::Unknown, Shape::Number(None))]], "");

const OUTPUT: Shape = Shape::Keys(
    &[&[
        Row::exact("path"),
        Row::stops("exists", Absent::Everything, Shape::Exact),
        Row::stops("equals", Absent::Everything, Shape::Exact),
        Row::allows("gte", Absent::Nothing, Shape::Number(None)),
        Row::stops("lte", Absent::Everything, Shape::Number(None)),
    ]],
    "",
);
