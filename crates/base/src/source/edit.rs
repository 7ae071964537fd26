//! Edits of YAML or JSON text in place. Every byte outside a change is kept: comments, quotes, indentation, line ends,
//! block and flow style.
//!
//! The changed text is parsed again and compared with the intended values. If they differ (for example because an alias
//! repeats a changed value), the changes are refused and the text stays as it is.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use super::inline::{inline, scalar};
use super::{Entry, Node, NodeValue, Source, Span, is_json, parse};

mod text;

/// Changes to one text. All of them refer to it as it was.
#[derive(Debug)]
pub struct Edits<'d> {
    source: &'d Source,
    documents: &'d [Node],
    is_json: bool,
    line_end: &'static str,
    texts: Vec<(Span, String)>,
    /// New values and new keys, by the original value node.
    values: HashMap<*const Node, Value>,
    keys: HashMap<*const Node, String>,
    collections: Vec<Members<'d>>,
}

/// The form of the text does not allow this change without losing something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the text cannot be changed in place")]
pub struct Refused;

/// Changes to the items of a list, or to the entries of a mapping.
#[derive(Debug)]
struct Members<'d> {
    node: &'d Node,
    /// The replacements of an item; none: the item or entry is removed.
    instead: BTreeMap<usize, Vec<Value>>,
    /// The additions before this position.
    added: BTreeMap<usize, Vec<New>>,
}

/// A new item, or a new entry.
#[derive(Debug)]
struct New {
    comments: Vec<String>,
    key: Option<String>,
    value: Value,
}

impl<'d> Edits<'d> {
    /// No changes yet. `documents` are those of the source.
    pub fn new(source: &'d Source, documents: &'d [Node]) -> Edits<'d> {
        let line_end = if source.text().contains("\r\n") { "\r\n" } else { "\n" };
        Edits {
            source,
            documents,
            is_json: is_json(source) || source.text().trim_start().starts_with(['{', '[']),
            line_end,
            texts: Vec::new(),
            values: HashMap::new(),
            keys: HashMap::new(),
            collections: Vec::new(),
        }
    }

    /// The entry whose key is at this place.
    pub fn entry(&self, key_span: Span) -> Option<&'d Entry> {
        fn find(node: &Node, key_span: Span) -> Option<&Entry> {
            match &node.value {
                NodeValue::Seq(items) => items.iter().find_map(|item| find(item, key_span)),
                NodeValue::Map(entries) => {
                    entries.iter().find_map(|entry| match entry.key_span == key_span {
                        true => Some(entry),
                        false => find(&entry.value, key_span),
                    })
                }
                _ => None,
            }
        }
        self.documents.iter().find_map(|document| find(document, key_span))
    }

    /// Gives a key another value, on the key's own line.
    ///
    /// # Errors A comment within the old value would be lost, or the value does not come directly after its key.
    pub fn set(&mut self, entry: &'d Entry, value: Value) -> Result<(), Refused> {
        let text = inline(&value, self.is_json);
        let change = self.in_place_of(entry, &text).ok_or(Refused)?;
        self.texts.push(change);
        self.values.insert(&raw const entry.value, value);
        Ok(())
    }

    /// Gives an entry another key.
    pub fn rename(&mut self, entry: &'d Entry, key: &str) {
        let is_quoted = self.source.slice(entry.key_span).starts_with(['"', '\'']);
        self.texts.push((entry.key_span, scalar(key, self.is_json || is_quoted)));
        self.keys.insert(&raw const entry.value, key.to_owned());
    }

    /// Replaces an item of a list by others, or removes it if there are none. Comments within it are kept above them.
    pub fn replace(&mut self, list: &'d Node, index: usize, items: Vec<Value>) {
        self.members(list).instead.insert(index, items);
    }

    /// Adds an item before the one at this index, or after all, below comments that begin with `#`.
    pub fn insert(&mut self, list: &'d Node, index: usize, comments: Vec<String>, value: Value) {
        let new = New { comments, key: None, value };
        self.members(list).added.entry(index).or_default().push(new);
    }

    /// Adds an entry after all others of a mapping.
    pub fn insert_key(&mut self, map: &'d Node, key: &str, value: Value) {
        let new = New { comments: Vec::new(), key: Some(key.to_owned()), value };
        let end = map.as_map().map_or(0, <[Entry]>::len);
        self.members(map).added.entry(end).or_default().push(new);
    }

    /// Removes an entry of a mapping.
    pub fn remove_key(&mut self, map: &'d Node, key: &str) {
        let index = map.as_map().and_then(|entries| entries.iter().position(|entry| entry.key == key));
        if let Some(index) = index {
            self.members(map).instead.insert(index, Vec::new());
        }
    }

    /// The comments of this node within a part of the text.
    pub fn comments(&self, node: &Node, within: Span) -> Vec<String> {
        let mut values = Vec::new();
        leaves(node, &mut values);
        let starts = std::iter::once(within.start).chain(values.iter().map(|value| value.end));
        let ends = values.iter().map(|value| value.start).chain([within.end]);
        let mut comments = Vec::new();
        for (start, end) in starts.zip(ends) {
            let between = self.source.slice(Span::new(start.max(within.start), end.min(within.end)));
            let comment = |line: &str| Some(line.get(line.find('#')?..)?.trim_end().to_owned());
            comments.extend(between.lines().filter_map(comment));
        }
        comments
    }

    /// The text with all changes.
    ///
    /// # Errors Two changes overlap, a comment would be lost, or the text would not be read as intended.
    pub fn finish(self) -> Result<String, Refused> {
        self.both().map(|(text, _)| text)
    }

    /// The same as the parts of the text that change, in its order, each with its replacement.
    ///
    /// # Errors As [`Edits::finish`].
    pub fn parts(self) -> Result<Vec<(Span, String)>, Refused> {
        self.both().map(|(_, parts)| parts)
    }

    fn both(mut self) -> Result<(String, Vec<(Span, String)>), Refused> {
        for members in &self.collections {
            self.texts.extend(self.rewritten(members).ok_or(Refused)?);
        }
        self.texts.sort_by_key(|(span, _)| *span);
        let text = put(self.source.text(), &self.texts).ok_or(Refused)?;
        let again = parse(&Source::new(self.source.name(), text.as_str()));
        let meant = self.documents.iter().map(|document| self.meant(document));
        let is_meant = again.problems.is_empty() && again.documents.iter().map(Node::to_json).eq(meant);
        if is_meant { Ok((text, self.texts)) } else { Err(Refused) }
    }

    fn members(&mut self, node: &'d Node) -> &mut Members<'d> {
        let known = self.collections.iter().position(|members| std::ptr::eq(members.node, node));
        let place = known.unwrap_or_else(|| {
            self.collections.push(Members { node, instead: BTreeMap::new(), added: BTreeMap::new() });
            self.collections.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "found, or just pushed")]
        &mut self.collections[place]
    }

    /// A value with all changes.
    fn meant(&self, node: &Node) -> Value {
        if let Some(value) = self.values.get(&std::ptr::from_ref(node)) {
            return value.clone();
        }
        let members = self.collections.iter().find(|members| std::ptr::eq(members.node, node));
        let added = |place| members.and_then(|members| members.added.get(&place)).into_iter().flatten();
        let instead = |place| members.and_then(|members| members.instead.get(&place));
        match &node.value {
            NodeValue::Seq(items) => {
                let mut made = Vec::new();
                for (place, item) in items.iter().enumerate() {
                    made.extend(added(place).map(|new| new.value.clone()));
                    match instead(place) {
                        Some(others) => made.extend(others.iter().cloned()),
                        None => made.push(self.meant(item)),
                    }
                }
                made.extend(added(items.len()).map(|new| new.value.clone()));
                Value::Array(made)
            }
            NodeValue::Map(entries) => {
                let stay = entries.iter().enumerate().filter(|(place, _)| instead(*place).is_none());
                let entry = |(_, entry): (usize, &Entry)| {
                    let key = self.keys.get(&std::ptr::from_ref(&entry.value)).unwrap_or(&entry.key);
                    (key.clone(), self.meant(&entry.value))
                };
                let mut made: Map<String, Value> = stay.map(entry).collect();
                let added = added(entries.len());
                made.extend(added.filter_map(|new| Some((new.key.clone()?, new.value.clone()))));
                Value::Object(made)
            }
            _ => node.to_json(),
        }
    }

    /// The beginning of the line after this place.
    pub fn after_line(&self, offset: usize) -> usize {
        let rest = self.source.text().get(offset..);
        rest.and_then(|rest| rest.find('\n')).map_or(self.source.text().len(), |end| offset + end + 1)
    }
}

/// A text with parts of it replaced; the parts are in its order. `None` if two parts overlap, or one is not in it.
pub fn put(text: &str, parts: &[(Span, String)]) -> Option<String> {
    let (mut made, mut from) = (String::with_capacity(text.len()), 0);
    for (span, new) in parts {
        made.push_str(text.get(from..span.start)?);
        made.push_str(new);
        from = span.end;
    }
    made.push_str(text.get(from..)?);
    Some(made)
}

/// The keys and scalars of a value, in the order of the text.
pub fn leaves(node: &Node, out: &mut Vec<Span>) {
    let before = out.len();
    match &node.value {
        NodeValue::Seq(items) => items.iter().for_each(|item| leaves(item, out)),
        NodeValue::Map(entries) => entries.iter().for_each(|entry| {
            out.push(entry.key_span);
            leaves(&entry.value, out);
        }),
        _ => {}
    }
    // Nothing below an alias is where the alias is.
    let is_within = |leaf: &Span| node.span.start <= leaf.start && leaf.end <= node.span.end;
    if out.len() == before || !out.iter().skip(before).all(is_within) {
        out.truncate(before);
        out.push(node.span);
    }
}
