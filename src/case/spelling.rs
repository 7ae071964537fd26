//! Keys of a session that is written in a case. A recording may say more than is read of it; in what is written by hand, a
//! misspelt key is a fact that nobody knows of: a call without its arguments, an error that counts as a success.

use crate::source::nearest::nearest;
use crate::source::{Field, Fields, NodeValue, Problem};

/// Keys of a message: those that are read, and those that programs write and that say nothing of a call.
const MESSAGE: &[&str] = &[
    "role",
    "content",
    "tool_calls",
    "function_call",
    "tool_call_id",
    "id",
    "name",
    "is_error",
    "refused",
    "error",
    "status",
    "after_siblings",
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
];
/// Keys of a call.
const CALL: &[&str] = &[
    "id",
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
];
/// Keys of a choice that was not taken.
const ALTERNATIVE: &[&str] = &["choice", "content", "tool_calls", "role", "id"];

/// Keys that are not read: those that look misspelt, which are errors, and the others.
#[derive(Default)]
pub struct Unread {
    pub misspelt: Vec<Problem>,
    pub others: Vec<Problem>,
}

impl Unread {
    /// Of a mapping of which all keys that are read were taken.
    pub fn of(&mut self, fields: &Fields<'_>) {
        for (key, problem) in fields.unknown_keys() {
            match nearest(key, fields.known()) {
                Some(_) => self.misspelt.push(problem),
                None => self.others.push(problem),
            }
        }
    }

    /// Of a list of messages, their calls, and the choices that were not taken.
    pub fn messages(&mut self, list: &Field<'_>) {
        self.each(list, MESSAGE, &mut |unread, message| {
            unread.calls(message);
            message.iter().filter(|(key, _)| *key == "alternatives").for_each(|(_, list)| {
                unread.each(list, ALTERNATIVE, &mut |unread, alternative| unread.calls(alternative));
            });
        });
    }

    fn calls(&mut self, message: &[(&str, Field<'_>)]) {
        for (key, list) in message {
            match *key {
                "tool_calls" => self.each(list, CALL, &mut |unread, call| unread.function(call)),
                "function_call" => self.keys(list, CALL, &mut |unread, call| unread.function(call)),
                _ => {}
            }
        }
    }

    fn function(&mut self, call: &[(&str, Field<'_>)]) {
        for (key, inner) in call {
            if matches!(*key, "function" | "custom") {
                self.keys(inner, CALL, &mut |_, _| ());
            }
        }
    }

    fn each(
        &mut self,
        list: &Field<'_>,
        known: &[&'static str],
        look: &mut dyn FnMut(&mut Self, &[(&str, Field<'_>)]),
    ) {
        // What has another type than it should is said by the reader of sessions.
        if list.node.as_seq().is_some() {
            let items = list.items(&mut Vec::new());
            items.into_iter().flatten().for_each(|item| self.keys(&item, known, look));
        }
    }

    fn keys(
        &mut self,
        item: &Field<'_>,
        known: &[&'static str],
        look: &mut dyn FnMut(&mut Self, &[(&str, Field<'_>)]),
    ) {
        let (Some(mut fields), Some(entries)) = (fields(item), item.entries(&mut Vec::new())) else { return };
        for key in known {
            fields.take(key);
        }
        self.of(&fields);
        look(self, &entries.collect::<Vec<_>>());
    }
}

fn fields<'a>(item: &Field<'a>) -> Option<Fields<'a>> {
    matches!(item.node.value, NodeValue::Map(_)).then(|| item.fields(&mut Vec::new())).flatten()
}
