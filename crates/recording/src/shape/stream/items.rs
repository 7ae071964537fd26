//! Events of the OpenAI Responses API.

use std::collections::BTreeMap;

use super::pieces::{Arguments, Object, Pieces, STRAY, Whole, list};
use crate::input::shallow::{Kind, Members, Node};
use rulestep_base::session::Damage;

/// An item of the output.
#[derive(Default)]
struct Item<'a> {
    /// Its beginning.
    begun: Option<Members<'a>>,
    /// Its complete form.
    done: Option<Node<'a>>,
    /// Its text.
    text: String,
    arguments: Arguments,
}

/// Events that end a stream, and hold the whole response.
const ENDS: [&str; 4] = ["response.completed", "response.done", "response.incomplete", "response.failed"];

pub(super) fn whole(pieces: &Pieces<'_>) -> Whole {
    let (mut response, mut ended) = (Members::default(), false);
    let mut items: BTreeMap<u64, Item<'_>> = BTreeMap::new();
    for piece in pieces.list {
        let Some(piece) = piece else {
            items.values_mut().for_each(|item| item.arguments.torn = true);
            continue;
        };
        let kind = piece.get("type").and_then(Node::text).unwrap_or_default();
        if let Some(whole) = piece.get("response").and_then(Node::members) {
            ended |= ENDS.contains(&&*kind);
            response = whole;
        }
        let Some(index) = piece.get("output_index").and_then(Node::number) else {
            continue;
        };
        let item = items.entry(index).or_default();
        match &*kind {
            "response.output_item.added" => item.begun = piece.get("item").and_then(Node::members),
            "response.output_item.done" => item.done = piece.get("item"),
            "response.output_text.delta" => {
                item.text.push_str(&piece.get("delta").and_then(Node::text).unwrap_or_default());
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                if let Some(delta) = piece.get("delta") {
                    item.arguments.add(delta);
                }
            }
            "response.function_call_arguments.done" | "response.custom_tool_call_input.done" => {
                if let Some(sent) = piece.any(&["arguments", "input"]) {
                    item.arguments = Arguments::default();
                    item.arguments.add(sent);
                }
            }
            _ => {}
        }
    }
    let mut made = Object::new();
    made.text("object", "response");
    for (key, node) in response.iter().filter(|(key, _)| !matches!(*key, "object" | "output")) {
        made.raw(key, node.json());
    }
    let mut odd = Vec::new();
    // Some services leave the output of the whole empty.
    let output = response.get("output").filter(|output| output.kind() == Kind::List);
    match output.filter(|output| output.first_item().is_some()) {
        Some(output) => made.raw("output", output.json()),
        None => {
            if items.values().any(Item::is_stray) {
                odd.push(Damage::calls(STRAY));
            }
            made.raw("output", &list(items.into_values().filter_map(Item::end)));
        }
    }
    Whole { json: made.end(), odd, broken: !ended && !pieces.done }
}

impl Item<'_> {
    fn is_stray(&self) -> bool {
        let has_pieces = !self.text.is_empty() || !self.arguments.text.is_empty();
        has_pieces && self.begun.is_none() && self.done.is_none()
    }

    fn end(self) -> Option<String> {
        if let Some(done) = self.done {
            return Some(done.json().to_owned());
        }
        let begun = self.begun?;
        let mut made = Object::new();
        for (key, node) in begun.iter().filter(|(key, _)| !matches!(*key, "arguments" | "input" | "content"))
        {
            made.raw(key, node.json());
        }
        match begun.get("type").and_then(Node::text).as_deref() {
            Some("message") => made.text("content", &self.text),
            Some("custom_tool_call") => self.arguments.write("input", &mut made),
            _ => self.arguments.write("arguments", &mut made),
        }
        Some(made.end())
    }
}
