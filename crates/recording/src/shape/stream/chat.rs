//! Chunks of the OpenAI chat completions API.

use std::collections::{BTreeMap, HashMap};

use super::pieces::{Arguments, Object, Pieces, Whole, list};
use crate::input::shallow::{Members, Node};

/// One of the requested answers.
#[derive(Default)]
struct Choice {
    content: Option<String>,
    calls: Vec<Call>,
    /// The latest call with each index.
    by_index: HashMap<String, usize>,
    /// The older `function_call`.
    function: Option<Call>,
    finish: Option<String>,
}

#[derive(Default)]
struct Call {
    id: String,
    name: String,
    /// Key of the object with its name, if it is not a function.
    custom: bool,
    arguments: Arguments,
}

pub(super) fn whole(pieces: &Pieces<'_>) -> Whole {
    let mut choices: BTreeMap<u64, Choice> = BTreeMap::new();
    for piece in pieces.list {
        let Some(piece) = piece else {
            choices.values_mut().for_each(Choice::tear);
            continue;
        };
        for choice in piece.get("choices").and_then(Node::objects).unwrap_or_default() {
            let index = choice.get("index").and_then(Node::number).unwrap_or(0);
            choices.entry(index).or_default().add(&choice);
        }
    }
    let broken = !pieces.done && choices.values().next().is_none_or(|choice| choice.finish.is_none());
    let mut made = Object::new();
    for key in ["id", "created", "model"] {
        // A check before the answer comes with neither.
        let told =
            |piece: &&Members<'_>| piece.get(key).is_some_and(|node| !matches!(node.json(), "0" | "\"\""));
        if let Some(piece) = pieces.list.iter().flatten().find(told) {
            made.copied(key, piece);
        }
    }
    made.raw("choices", &list(choices.into_values().map(Choice::end)));
    Whole { json: made.end(), odd: Vec::new(), broken }
}

impl Choice {
    fn add(&mut self, choice: &Members<'_>) {
        if let Some(finish) = choice.get("finish_reason") {
            self.finish = Some(finish.json().to_owned());
        }
        let Some(delta) = choice.any(&["delta", "message"]).and_then(Node::members) else { return };
        if let Some(text) = delta.get("content").and_then(Node::text) {
            self.content.get_or_insert_default().push_str(&text);
        }
        for call in delta.get("tool_calls").and_then(Node::objects).unwrap_or_default() {
            self.call(&call);
        }
        if let Some(function) = delta.get("function_call").and_then(Node::members) {
            self.function.get_or_insert_default().add(&function);
        }
    }

    /// A piece belongs to the call with its index, or without one to the last. Some services give every call the same
    /// index, or none, and an id of its own.
    fn call(&mut self, piece: &Members<'_>) {
        let id = piece.get("id").and_then(Node::id).unwrap_or_default();
        let index = piece.get("index").map(|index| index.json().to_owned());
        let known = match &index {
            Some(index) => self.by_index.get(index).copied(),
            None => self.calls.len().checked_sub(1),
        };
        let known = known.filter(|place| {
            let before = self.calls.get(*place).map_or("", |call| &call.id);
            id.is_empty() || before.is_empty() || before == id
        });
        let place = known.unwrap_or(self.calls.len());
        if known.is_none() {
            self.calls.push(Call::default());
        }
        if let Some(index) = index {
            self.by_index.insert(index, place);
        }
        let Some(call) = self.calls.get_mut(place) else { return };
        if call.id.is_empty() {
            call.id = id.into_owned();
        }
        call.custom |= piece.get("custom").is_some();
        if let Some(inner) = piece.any(&["function", "custom"]).and_then(Node::members) {
            call.add(&inner);
        }
    }

    /// A piece was lost, of whichever call.
    fn tear(&mut self) {
        let calls = self.calls.iter_mut().chain(&mut self.function);
        calls.for_each(|call| call.arguments.torn = true);
    }

    fn end(self) -> String {
        let mut message = Object::new();
        message.text("role", "assistant");
        if let Some(content) = &self.content {
            message.text("content", content);
        }
        if !self.calls.is_empty() {
            message.raw("tool_calls", &list(self.calls.into_iter().map(Call::end)));
        }
        if let Some(function) = self.function {
            message.raw("function_call", &function.inner("arguments"));
        }
        let mut made = Object::new();
        made.raw("message", &message.end());
        made.raw("finish_reason", self.finish.as_deref().unwrap_or("null"));
        made.end()
    }
}

impl Call {
    fn add(&mut self, inner: &Members<'_>) {
        if let Some(name) = inner.get("name").and_then(Node::text)
            && name != self.name
        {
            self.name.push_str(&name);
        }
        if let Some(arguments) = inner.any(&["arguments", "input"]) {
            // The call began in a piece that was lost.
            self.arguments.torn |= self.name.is_empty();
            self.arguments.add(arguments);
        }
    }

    fn inner(&self, key: &str) -> String {
        let mut inner = Object::new();
        inner.text("name", &self.name);
        self.arguments.write(key, &mut inner);
        inner.end()
    }

    fn end(self) -> String {
        let mut made = Object::new();
        made.text("id", &self.id);
        match self.custom {
            true => made.raw("custom", &self.inner("input")),
            false => made.raw("function", &self.inner("arguments")),
        }
        made.end()
    }
}
