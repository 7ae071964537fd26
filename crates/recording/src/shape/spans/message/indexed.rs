//! Lists and objects that are spelt in the names of attributes.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::input::shallow::Node;
use crate::shape::spans::attributes::Attributes;

/// Attributes named `PREFIX.0.role`, `PREFIX.0.tool_calls.1.name` and so on, as the list that they spell.
pub fn indexed(attributes: &Attributes, prefix: &str) -> Option<Value> {
    let mut list = Tree::default();
    for (name, json) in attributes.iter() {
        let Some(path) = name.strip_prefix(prefix) else { continue };
        if path.starts_with(|first: char| first.is_ascii_digit()) {
            let value = Node::parse(json).ok().and_then(Node::value);
            list.insert(path, value.unwrap_or_else(|| Value::String(json.to_owned())));
        }
    }
    if list.0.is_empty() { None } else { Some(list.value()) }
}

/// A tree spelt by dotted names.
#[derive(Default)]
struct Tree(BTreeMap<Step, Branch>);

/// Numbers come in their order, before names.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Place(u32),
    Name(Box<str>),
}

enum Branch {
    Leaf(Value),
    Tree(Tree),
}

impl Tree {
    /// The most levels of a name; deeper levels are one name.
    const DEEPEST: usize = 8;

    fn insert(&mut self, path: &str, value: Value) {
        let mut steps = path.splitn(Self::DEEPEST, '.').map(|step| match step.parse() {
            Ok(place) => Step::Place(place),
            Err(_) => Step::Name(step.into()),
        });
        let Some(mut step) = steps.next() else { return };
        let mut tree = self;
        for next in steps {
            let branch = tree.0.entry(step).or_insert_with(|| Branch::Tree(Tree::default()));
            match branch {
                Branch::Tree(inner) => tree = inner,
                Branch::Leaf(_) => return,
            }
            step = next;
        }
        tree.0.entry(step).or_insert(Branch::Leaf(value));
    }

    fn value(self) -> Value {
        let is_list = self.0.keys().all(|step| matches!(step, Step::Place(_)));
        let members = self.0.into_iter().map(|(step, branch)| {
            let value = match branch {
                Branch::Leaf(value) => value,
                Branch::Tree(tree) => tree.value(),
            };
            (step, value)
        });
        if is_list {
            return Value::Array(members.map(|(_, value)| value).collect());
        }
        let named = members.map(|(step, value)| match step {
            Step::Place(place) => (place.to_string(), value),
            Step::Name(name) => (name.into(), value),
        });
        Value::Object(named.collect())
    }
}
