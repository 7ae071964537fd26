//! The effect of an edit of a sequence rule, key by key.

use serde_json::{Map, Value};

use crate::dialect::edits::{Absent, CALL, CALLS, Edits, OPTIONS, Row, Shape};
use rulestep_base::source::Node;

/// The keys of every kind of rule, and those of each.
pub(super) const EDITS: Edits = Edits {
    kinds: &[
        ("require", &[OPTIONS, RULE, &[Row::allows("tool", Absent::Unknown, CALLS)]]),
        ("before", &[OPTIONS, RULE, ORDER, &[Row::exact("scope")]]),
        ("immediately_before", &[OPTIONS, RULE, ORDER]),
        (
            "blocklist",
            &[
                OPTIONS,
                RULE,
                &[
                    Row::stops("tools", Absent::Nothing, Shape::Names),
                    Row::stops("pattern", Absent::Nothing, Shape::Contained),
                ],
            ],
        ),
        ("allowlist", &[OPTIONS, RULE, &[Row::allows("tools", Absent::Unknown, CALLS)]]),
        (
            "max_calls",
            &[
                OPTIONS,
                RULE,
                &[
                    Row::stops("tool", Absent::Unknown, CALLS),
                    Row::allows("max", Absent::Unknown, Shape::Number(None)),
                ],
            ],
        ),
        (
            "eventually",
            &[
                OPTIONS,
                RULE,
                &[
                    Row::allows("tool", Absent::Unknown, CALLS),
                    Row::allows("within", Absent::Unknown, Shape::Number(None)),
                ],
            ],
        ),
        ("never", &[OPTIONS, RULE, &[Row::stops("call", Absent::Unknown, CALLS)]]),
        (
            "never_after",
            &[
                OPTIONS,
                RULE,
                &[
                    Row::stops("trigger", Absent::Unknown, CALLS),
                    Row::stops("forbidden", Absent::Unknown, CALLS),
                    Row::allows("until", Absent::Nothing, CALLS),
                    Row { unless: "until", ..SCOPE },
                ],
            ],
        ),
        (
            "after",
            &[
                OPTIONS,
                RULE,
                &[
                    Row::stops("trigger", Absent::Unknown, CALLS),
                    Row::allows("then", Absent::Unknown, CALLS),
                    Row::allows("within", Absent::Unknown, Shape::Number(Some(1.0))),
                ],
            ],
        ),
        (
            "sequence",
            &[
                OPTIONS,
                RULE,
                &[
                    Row::exact("tools"),
                    Row::stops("strict", Absent::Unknown, Shape::Rank(&["false", "true"], "false")),
                ],
            ],
        ),
    ],
    around,
    idle: Some(IDLE),
};

const RULE: &[Row] = &[
    // Two words for one kind.
    Row::words("type"),
    Row::stops("when", Absent::Everything, Shape::Entries),
    Row::stops("unsure", Absent::Unknown, Shape::Rank(&["allow", "ask", "deny"], "deny")),
    Row::stops("opaque", Absent::Unknown, DOUBT),
    Row::stops("sweeps", Absent::Unknown, DOUBT),
];

const DOUBT: Shape = Shape::Rank(&["allow", "report", "ask", "deny"], "report");

const ORDER: &[Row] = &[
    Row::allows("first", Absent::Unknown, CALLS),
    Row::stops("then", Absent::Unknown, Shape::Any(&CALL)),
    Row::allows("same", Absent::Everything, Shape::All(&Shape::Exact)),
];

/// With a tree, more calls can be the trigger; but then also more of them lift the ban again.
const SCOPE: Row = Row::stops("scope", Absent::Unknown, Shape::Rank(&["session", "tree"], "session"));

/// Keys of documents and tests without effect on rules.
const IDLE: &[&str] = &[
    "aliases",
    "configVersion",
    "description",
    "dialect",
    "metadata",
    "model",
    "name",
    "on_error",
    "otel",
    "settings",
    "suite",
    "tags",
    "tests",
    "thresholding",
    "thresholds",
    "version",
];

/// Names of aliases are replaced by their members, so that a rule differs if those do.
fn around(document: &Node, pointer: &str) -> Map<String, Value> {
    let mut aliases = Map::new();
    let places = pointer.char_indices().filter(|(_, letter)| *letter == '/').map(|(at, _)| at);
    for place in places {
        let around = pointer.get(..place).and_then(|pointer| document.at(pointer));
        let Some(known) = around.and_then(|around| around.get("aliases")) else { continue };
        if let Value::Object(known) = known.to_json() {
            aliases.extend(known);
        }
    }
    let rule = document.at(pointer).map(Node::to_json);
    let Some(Value::Object(mut rule)) = rule else { return Map::new() };
    // Lists of tools do not resolve aliases.
    let is_list = rule.get("type").is_some_and(|kind| kind == "blocklist" || kind == "allowlist");
    rule.retain(|key, value| {
        let before = value.clone();
        if !is_list && !matches!(&**key, "id" | "description" | "tell" | "type" | "when") {
            resolve(value, &aliases);
        }
        *value != before
    });
    rule
}

fn resolve(value: &mut Value, aliases: &Map<String, Value>) {
    match value {
        Value::String(name) => {
            if let Some(members) = aliases.get(name) {
                *value = members.clone();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| resolve(item, aliases)),
        Value::Object(map) => {
            map.iter_mut().filter(|(key, _)| *key == "tool").for_each(|(_, value)| resolve(value, aliases))
        }
        _ => {}
    }
}
