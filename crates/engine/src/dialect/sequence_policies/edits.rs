//! The effect of an edit of a sequence policy, key by key.

use serde_json::Map;

use crate::dialect::edits::{Absent, Edits, OPTIONS, Row, Shape};

/// The keys of forbidden sequences and of limits.
pub(super) const EDITS: Edits = Edits {
    kinds: &[
        ("forbidden", &[OPTIONS, ACTION, &[Row::exact("sequence")]]),
        ("limit", &[OPTIONS, ACTION, &[Row::allows("maxPerSession", Absent::Unknown, Shape::Number(None))]]),
    ],
    around: |_, _| Map::new(),
    idle: Some(&["dialect", "forbidden", "id", "limits"]),
};

const ACTION: &[Row] = &[
    Row::stops("action", Absent::Unknown, Shape::Rank(&["deny", "halt"], "")),
    Row::words("reason"),
    Row::words("tellLLM"),
];
