//! The attributes of a span: names and values.

use std::borrow::Cow;

use hashbrown::HashMap;
use serde_json::Value;

use crate::input::shallow::{Kind, Node};
use rulestep_base::session::body;

/// Names and values; a value as the JSON text that it is.
#[derive(Default)]
pub struct Attributes(Vec<(Box<str>, Box<str>)>);

/// Beginnings of the names of attributes that are looked at.
const KEPT: [&str; 15] = [
    "langfuse.observation.",
    "gen_ai.",
    "gcp.vertex.agent.",
    "llm.",
    "mcp.",
    "mlflow.",
    "jsonrpc.",
    "tool",
    "openinference.",
    "traceloop.",
    "input.",
    "output.",
    "ai.",
    "exception.",
    "error.type",
];

/// Other attributes that are looked at: of events, of sessions.
const KEPT_WHOLE: [&str; 11] = [
    "model_request_parameters",
    "session.id",
    "langfuse.session.id",
    "content",
    "role",
    "id",
    "message",
    "body",
    "finish_reason",
    "index",
    "name",
];

/// The text of no value.
const NONE: &str = "null";

/// The operation of a span.
pub const OPERATION: &str = "gen_ai.operation.name";
/// The number of choices that were requested from the model.
pub const CHOICES: &str = "gen_ai.request.choice.count";

impl Attributes {
    /// Adds one, if it is looked at. `json` is the value's JSON text.
    pub fn add(&mut self, name: &str, json: impl Into<Box<str>>) {
        if KEPT.iter().any(|prefix| name.starts_with(prefix)) || KEPT_WHOLE.contains(&name) {
            self.0.push((name.into(), json.into()));
        }
    }

    /// Takes over the values of names that have none.
    pub fn fill(&mut self, others: Attributes) {
        let mut filled = HashMap::with_capacity(self.0.len());
        for (name, json) in self.iter() {
            filled.entry(Box::from(name)).or_insert(json != NONE);
        }
        // They replace those that have no value, in the order in which these have one.
        let mut places = HashMap::new();
        let mut added: Vec<Option<(Box<str>, Box<str>)>> = Vec::new();
        for (name, json) in others.0 {
            if filled.get(&name) == Some(&true) {
                continue;
            }
            filled.insert(name.clone(), &*json != NONE);
            let before = places.insert(name.clone(), added.len());
            if let Some(before) = before.and_then(|place| added.get_mut(place)) {
                *before = None;
            }
            added.push(Some((name, json)));
        }
        self.0.retain(|(name, _)| !places.contains_key(name));
        self.0.extend(added.into_iter().flatten());
    }

    /// Every name and value, in recorded order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, json)| (&**name, &**json))
    }

    /// JSON text of the value of this name; `null` counts as absent.
    pub fn get(&self, name: &str) -> Option<&str> {
        let value = self.iter().find(|(given, _)| *given == name).map(|(_, json)| json);
        value.filter(|json| *json != NONE)
    }

    /// The first of these names that has a value.
    pub fn any(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.get(name))
    }

    /// The first that says what a span is and is no text, or that has two values.
    pub fn wrong(&self) -> Option<String> {
        let says = |name: &str| {
            name == OPERATION
                || name == "tool.name"
                || name == "session.id"
                || name.ends_with(".tool.name")
                || name.ends_with(".function.name")
                || name.ends_with(".span.kind")
                || name.ends_with(".observation.type")
                || name.ends_with(".tool_call_id")
                || name.ends_with(".tool_call.id")
                || name.ends_with(".tool.call.id")
                || name.ends_with(".message.role")
        };
        let is_text = |json: &str| json == "null" || Kind::of(json) == Kind::Text;
        let odd = self.iter().find(|(name, json)| says(name) && !is_text(json));
        let odd = odd
            .map(|(name, json)| format!("the attribute `{name}` is {}, not a text", Kind::of(json).word()));
        odd.or_else(|| {
            Some(format!("the attribute `{}` is given twice; the first one is read", self.twice()?))
        })
    }

    /// One that has two values.
    fn twice(&self) -> Option<&str> {
        let mut known = HashMap::with_capacity(self.0.len());
        let mut all = self.iter();
        all.find(|(name, json)| known.insert(*name, *json).is_some_and(|before| before != *json))
            .map(|(name, _)| name)
    }

    /// A value as text; a number as its digits.
    pub fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        Node::parse(self.get(name)?).ok()?.id().filter(|text| !text.is_empty())
    }

    /// The first of these names that has such a value.
    pub fn any_text(&self, names: &[&str]) -> Option<Cow<'_, str>> {
        names.iter().find_map(|name| self.text(name))
    }

    /// A value that is a list or an object, be it as JSON text.
    pub fn tree(&self, name: &str) -> Option<Value> {
        structure(self.get(name)?)
    }

    /// Bytes that they hold.
    pub fn size(&self) -> usize {
        self.0.iter().map(|(name, json)| name.len() + json.len() + 32).sum()
    }
}

/// The list or object that a JSON text is, or that the text in it is.
pub fn structure(json: &str) -> Option<Value> {
    let node = Node::parse(json).ok()?;
    match node.kind() {
        Kind::List | Kind::Object => node.value(),
        Kind::Text => {
            let text = node.text()?;
            // Whether it is JSON is found out once.
            let inner = Some(text.trim()).filter(|inner| inner.starts_with(['[', '{']))?;
            body::parse(inner)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_without_a_value_are_filled() {
        let attributes = |given: &[(&str, &str)]| {
            let mut attributes = Attributes::default();
            given.iter().for_each(|(name, json)| attributes.add(name, *json));
            attributes
        };
        let begun =
            [("id", "1"), ("role", "2"), ("body", "null"), ("body", "3"), ("name", "null"), ("name", "4")];
        for (ended, expected) in [
            (vec![], vec![("id", "1"), ("role", "2"), ("body", "3"), ("name", "4")]),
            (
                vec![("role", "9"), ("id", "null")],
                vec![("role", "9"), ("id", "1"), ("body", "3"), ("name", "4")],
            ),
            (
                vec![("name", "null"), ("name", "8"), ("id", "9")],
                vec![("id", "9"), ("role", "2"), ("body", "3"), ("name", "4")],
            ),
        ] {
            let mut filled = attributes(&ended);
            filled.fill(attributes(&begun));
            assert_eq!(filled.iter().collect::<Vec<_>>(), expected, "{ended:?}");
        }
    }
}
