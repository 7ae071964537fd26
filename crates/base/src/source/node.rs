//! The tree of a document: JSON's values, each with its span in the text.
//!
//! Trees are made by the readers, which bound their depth, so walking one by recursion is safe.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Number, Value};

use super::Span;

/// A value and its span.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// A scalar's text with its quotes, or its lines below `|` and `>`; a flow collection with its brackets; the lines
    /// of a block collection from its first key or dash to the end of its last value; empty, at its position, for a
    /// value left out.
    pub span: Span,
    /// The value.
    pub value: NodeValue,
}

/// JSON's values.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeValue {
    /// `null`, `~`, or nothing at all.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number with its digits as written, otherwise spelled as `serde_json` does (`1E5` is `1e+5`, and YAML's `+1`,
    /// `.5`, `007` and `0x1F` become the same numbers in JSON).
    Number(Number),
    /// Text.
    String(String),
    /// A list. An alias shares it with its anchor.
    Seq(Arc<Vec<Node>>),
    /// A mapping, in the order of the text; a key given twice is in it twice. An alias shares it with its anchor.
    Map(Arc<Vec<Entry>>),
}

/// A key of a mapping with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// The key's span, with its quotes.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

impl Node {
    /// The value of a key of a mapping: the first, if the key occurs twice.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The entry of a key of a mapping: the first, if the key occurs twice.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.as_map()?.iter().find(|entry| entry.key == key)
    }

    /// The node at a JSON Pointer (RFC 6901); the empty pointer is the node itself.
    pub fn at(&self, pointer: &str) -> Option<&Node> {
        self.find(pointer).map(|(_, node)| node)
    }

    /// The spans of the key (if the last step is a key) and of the value at a JSON Pointer.
    pub fn span_of(&self, pointer: &str) -> Option<(Option<Span>, Span)> {
        self.find(pointer).map(|(key, node)| (key, node.span))
    }

    /// The same value without spans. Of a key given twice, the first counts.
    pub fn to_json(&self) -> Value {
        match &self.value {
            NodeValue::Null => Value::Null,
            NodeValue::Bool(value) => Value::Bool(*value),
            NodeValue::Number(number) => Value::Number(number.clone()),
            NodeValue::String(text) => Value::String(text.clone()),
            NodeValue::Seq(items) => Value::Array(items.iter().map(Node::to_json).collect()),
            NodeValue::Map(entries) => {
                let mut map = Map::with_capacity(entries.len());
                for entry in entries.iter() {
                    if !map.contains_key(&entry.key) {
                        map.insert(entry.key.clone(), entry.value.to_json());
                    }
                }
                Value::Object(map)
            }
        }
    }

    /// The type's name, for people.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            NodeValue::Null => "nothing",
            NodeValue::Bool(_) => "a boolean",
            NodeValue::Number(_) => "a number",
            NodeValue::String(_) => "text",
            NodeValue::Seq(_) => "a list",
            NodeValue::Map(_) => "a mapping",
        }
    }

    /// Whether it is null, or left out.
    pub fn is_null(&self) -> bool {
        matches!(self.value, NodeValue::Null)
    }

    /// The text, if it is text.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            NodeValue::String(text) => Some(text),
            _ => None,
        }
    }

    /// The boolean, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match &self.value {
            NodeValue::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The number, if it is one.
    pub fn as_number(&self) -> Option<&Number> {
        match &self.value {
            NodeValue::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The items, if it is a list.
    pub fn as_seq(&self) -> Option<&[Node]> {
        match &self.value {
            NodeValue::Seq(items) => Some(items),
            _ => None,
        }
    }

    /// The entries, if it is a mapping.
    pub fn as_map(&self) -> Option<&[Entry]> {
        match &self.value {
            NodeValue::Map(entries) => Some(entries),
            _ => None,
        }
    }

    fn find(&self, pointer: &str) -> Option<(Option<Span>, &Node)> {
        let mut found = (None, self);
        for segment in pointer_segments(pointer)? {
            found = match &found.1.value {
                NodeValue::Map(_) => {
                    let entry = found.1.entry(&segment)?;
                    (Some(entry.key_span), &entry.value)
                }
                NodeValue::Seq(items) => (None, items.get(list_index(&segment)?)?),
                _ => return None,
            };
        }
        Some(found)
    }
}

/// Adds a step to a JSON Pointer, escaped as RFC 6901 says.
pub fn pointer_push(pointer: &mut String, segment: &str) {
    pointer.push('/');
    for character in segment.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// The steps of a JSON Pointer, unescaped. `None` if it is neither empty nor begins with `/`.
pub fn pointer_segments(pointer: &str) -> Option<impl Iterator<Item = Cow<'_, str>>> {
    let steps = match pointer.strip_prefix('/') {
        Some(steps) => Some(steps),
        None if pointer.is_empty() => None,
        None => return None,
    };
    Some(steps.into_iter().flat_map(|steps| steps.split('/')).map(unescape))
}

fn unescape(segment: &str) -> Cow<'_, str> {
    if segment.contains('~') {
        // In this order, so that `~01` is `~1` and not `/`.
        Cow::Owned(segment.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(segment)
    }
}

/// RFC 6901 allows neither `01` nor `+1`.
fn list_index(segment: &str) -> Option<usize> {
    let plain = segment == "0" || !segment.starts_with(['0', '+']);
    if plain { segment.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::super::{Source, parse};
    use super::*;

    #[test]
    fn pointers_find_keys_items_and_their_places() {
        let source = Source::new("a.yaml", "a/b:\n  - x\n  - {\"m~n\": [7]}\n");
        let document = parse(&source).documents.remove(0);
        let mut pointer = String::new();
        for step in ["a/b", "1", "m~n", "0"] {
            pointer_push(&mut pointer, step);
        }
        assert_eq!(pointer, "/a~1b/1/m~0n/0");
        assert_eq!(document.at(&pointer).map(Node::to_json), Some(serde_json::json!(7)));
        let (key, value) = document.span_of("/a~1b/1/m~0n").unwrap();
        assert_eq!((source.slice(key.unwrap()), source.slice(value)), ("\"m~n\"", "[7]"));
        assert_eq!(document.span_of("/a~1b/0").unwrap().0, None);
        assert_eq!(document.at(""), Some(&document));
        for nowhere in ["/a", "/a~1b/01", "/a~1b/2", "/a~1b/0/x", "a~1b", "/a~1b/"] {
            assert_eq!(document.at(nowhere), None, "{nowhere}");
        }
    }

    #[test]
    fn an_escaped_tilde_before_a_one_is_no_slash() {
        let mut pointer = String::new();
        pointer_push(&mut pointer, "~1");
        assert_eq!(pointer, "/~01");
        assert_eq!(pointer_segments(&pointer).unwrap().collect::<Vec<_>>(), ["~1"]);
        assert_eq!(pointer_segments("").unwrap().count(), 0);
        assert_eq!(pointer_segments("/").unwrap().collect::<Vec<_>>(), [""]);
    }
}
