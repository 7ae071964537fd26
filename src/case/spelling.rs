//! Keys of a session that is written in a case. A recording may have more keys than are read; in a hand-written
//! session, a misspelt key is a fact that is lost: a call without its arguments, an error that counts as a success.

use rulestep_base::source::nearest::nearest;
use rulestep_base::source::{Field, Fields, NodeValue, Problem};

/// The keys of a mapping: those that are read, and those that programs write and that do not concern a call.
struct Shape {
    keys: &'static [&'static str],
    /// The shapes of some values, directly or in a list.
    within: &'static [(&'static str, &'static Shape)],
}

static MESSAGE: Shape = Shape {
    keys: &[
        "role",
        "content",
        "tool_calls",
        "function_call",
        "tool_call_id",
        "id",
        "name",
        "is_error",
        "isError",
        "success",
        "ok",
        "refused",
        "error",
        "status",
        "after_siblings",
        "of_call",
        "alternatives",
        "op",
        "at",
        "timestamp",
        "created_at",
        "createdAt",
        "created",
        "time",
        "finish_reason",
        "stop_reason",
        "type",
        "index",
        "model",
        "usage",
        "refusal",
        "annotations",
        "reasoning",
        "reasoning_content",
    ],
    within: &[("tool_calls", &CALL), ("function_call", &CALL), ("alternatives", &ALTERNATIVE)],
};
static CALL: Shape = Shape {
    keys: &[
        "id",
        "cwd",
        "copied",
        "type",
        "index",
        "function",
        "custom",
        "name",
        "arguments",
        "args",
        "input",
        "parameters",
        "at",
        "live",
    ],
    within: &[("function", &CALL), ("custom", &CALL)],
};
/// A choice that was not taken.
static ALTERNATIVE: Shape =
    Shape { keys: &["choice", "content", "tool_calls", "role", "id"], within: &[("tool_calls", &CALL)] };

/// Keys that are not read: those that look misspelt, which are errors, and the others.
#[derive(Default)]
pub struct Unread {
    pub misspelt: Vec<Problem>,
    pub others: Vec<Problem>,
}

impl Unread {
    /// Checks a mapping of which all known keys were taken.
    pub fn of(&mut self, fields: &Fields<'_>) {
        for (key, problem) in fields.unknown_keys() {
            match nearest(key, fields.known()) {
                Some(_) => self.misspelt.push(problem),
                None => self.others.push(problem),
            }
        }
    }

    /// Checks a list of messages, their calls, and the choices that were not taken.
    pub fn messages(&mut self, list: &Field<'_>) {
        self.look(list, &MESSAGE);
    }

    /// A value of a wrong type is reported by the reader of sessions.
    fn look(&mut self, field: &Field<'_>, shape: &'static Shape) {
        let mut ignored = Vec::new();
        match field.node.value {
            NodeValue::Seq(_) => {
                let items = field.items(&mut ignored).into_iter().flatten();
                items.for_each(|item| self.look(&item, shape));
            }
            NodeValue::Map(_) => {
                let Some(mut fields) = field.fields(&mut ignored) else { return };
                for key in shape.keys {
                    fields.take(key);
                }
                self.of(&fields);
                for (key, inner) in field.entries(&mut ignored).into_iter().flatten() {
                    if let Some((_, shape)) = shape.within.iter().find(|(within, _)| *within == key) {
                        self.look(&inner, shape);
                    }
                }
            }
            _ => {}
        }
    }
}
