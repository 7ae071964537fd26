//! The effect of an edit of a tool policy, key by key.

use serde_json::{Map, Value};

use crate::dialect::edits::{Absent, Edits, OPTIONS, Row, Shape};
use rulestep_base::source::Node;

/// The keys of policies.
pub(super) const EDITS: Edits = Edits {
    kinds: &[
        (
            "sequential_dependency",
            &[OPTIONS, POLICY, &[Row::stops("dependencies", Absent::Unknown, Shape::Each)]],
        ),
        (
            "read_before_write",
            &[
                OPTIONS,
                POLICY,
                &[
                    Row::allows("read_tools", Absent::Names(&["read_file"]), Shape::Names),
                    Row::stops("write_tools", Absent::Names(&["write_file", "edit_file"]), Shape::Names),
                    Row::exact("mount_point"),
                    Row::exact("path_argument"),
                ],
            ],
        ),
    ],
    around,
    idle: Some(&["dialect", "policies", "sections"]),
};

const POLICY: &[Row] = &[
    Row::words("type"),
    // Those of its section; a policy of none governs every tool.
    Row::stops("tools", Absent::Everything, Shape::Names),
];

/// The tools of the section that a policy is in.
fn around(document: &Node, pointer: &str) -> Map<String, Value> {
    let section = pointer.strip_prefix("/sections/").and_then(|rest| rest.split_once('/'));
    let Some((place, _)) = section else { return Map::new() };
    let section = document.at(&format!("/sections/{place}"));
    let tools = section.and_then(|section| section.get("tools"));
    Map::from_iter([("tools".to_owned(), tools.map_or_else(|| Value::Array(Vec::new()), Node::to_json))])
}
