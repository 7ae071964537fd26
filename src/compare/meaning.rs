//! The meaning of a rule, as data: its keys, and those around it that affect it.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use rulestep_base::source::{Node, Parse, Source, Span, parse};
use rulestep_engine::dialect::{self, Dialect};
use rulestep_engine::monitor::Rule;
use rulestep_engine::policy::Policy;

/// The meaning of a rule.
pub struct Meaning {
    /// The file's path within the version, and the document's place in it.
    pub document: (Arc<str>, usize),
    /// The document, of a rule that is found in one.
    pub tree: Option<Arc<Node>>,
    keys: Map<String, Value>,
}

impl Meaning {
    /// Its keys; for a rule that is not a mapping, one key named after its kind.
    pub fn keys(&self) -> &Map<String, Value> {
        &self.keys
    }

    pub(super) fn value(&self) -> Value {
        Value::Object(self.keys.clone())
    }

    /// Its keys without texts for people and models.
    pub(super) fn bare(&self, rule: &Rule) -> Map<String, Value> {
        let dialect = dialect::named(rule.dialect);
        let rows = dialect.map(|dialect| dialect.edits.rows(rule.kind)).unwrap_or_default();
        let is_words = |key: &str| rows.iter().any(|row| row.key == key && row.is_words());
        self.keys
            .iter()
            .filter(|(key, _)| !is_words(key))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }
}

/// The meaning of every rule of a version, in the order of their numbers.
pub fn meanings(policy: &Policy) -> Vec<Meaning> {
    let mut trees: HashMap<String, Vec<Arc<Node>>> = HashMap::new();
    let mut meaning = |rule: &Rule| {
        let document = policy.documents().iter().find(|document| {
            document.source.name() == rule.source.name()
                && document.span.start <= rule.span.start
                && rule.span.end <= document.span.end
        });
        let document = match document {
            Some(document) => (Arc::clone(&document.relative), document.index),
            None => (rule.source.name().into(), 0),
        };
        let trees = trees.entry(rule.source.name().to_owned()).or_insert_with(|| read(&rule.source));
        let tree = trees.get(document.1).cloned();
        let node = tree.as_ref().and_then(|tree| tree.at(&rule.pointer));
        let mut keys = match node.map(Node::to_json) {
            Some(Value::Object(keys)) => keys,
            // A step of a list of names reads like the one beside it; the rule is both.
            _ => Map::from_iter([(rule.kind.to_owned(), rule.source.slice(rule.span).into())]),
        };
        let around = dialect::named(rule.dialect).map(|dialect| dialect.edits.around);
        if let (Some(around), Some(tree)) = (around, &tree) {
            let around = around(tree, &rule.pointer);
            if node.is_some_and(|node| node.as_map().is_none()) && !around.is_empty() {
                keys.clear();
            }
            keys.extend(around);
        }
        Meaning { document, tree, keys }
    };
    policy.rules().iter().map(|(_, rule)| meaning(rule)).collect()
}

fn read(source: &Source) -> Vec<Arc<Node>> {
    let Parse { documents, .. } = parse(source);
    documents.into_iter().map(Arc::new).collect()
}

/// The dialect of a rule, if it is known.
pub fn dialect_of(rule: &Rule) -> Option<&'static Dialect> {
    dialect::named(rule.dialect)
}

/// A place in a text.
#[derive(Debug, Clone)]
pub struct Passage {
    /// The text.
    pub source: Source,
    /// The span in it.
    pub span: Span,
}
