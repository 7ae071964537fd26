//! Builds the tree of a document from the events of a reader, and keeps it within bounds.
//!
//! Nothing here looks at the text. The stack is our own, so no input can overflow the machine's.

use std::sync::Arc;

use hashbrown::HashMap;

use super::problem::quoted;
use super::{Entry, Node, NodeValue, Parse, Problem, ProblemKind, Span};

/// The deepest nesting of lists and mappings that is read.
pub(super) const MAX_DEPTH: usize = 128;
/// The most nodes of one file; an alias counts as often as it repeats its anchor.
pub(super) const MAX_NODES: usize = 1_000_000;
/// The most bytes of text that aliases of one file may repeat.
const MAX_REPEATED_TEXT: usize = 64 << 20;

/// A bound was reached: the rest of the document is not read.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// This document nests too deep; the next may be fine.
    Document,
    /// The file is too large.
    File,
}

/// A document under construction, and those before it.
#[derive(Default)]
pub(super) struct Builder {
    parsed: Parse,
    stack: Vec<Open>,
    root: Option<Node>,
    nodes: usize,
    repeated_text: usize,
}

/// A list or mapping that has not ended.
pub(super) struct Open {
    span: Span,
    anchor: usize,
    inside: Container,
}

enum Container {
    Seq(Vec<Node>),
    Map { entries: Vec<Entry>, key: Option<(String, Span)> },
}

/// What a reader may put next.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The value of the document.
    Root,
    /// An item of a list.
    Item,
    /// A key of a mapping.
    Key,
    /// The value of the key at this span.
    Value(Span),
}

/// The size of a tree.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub nodes: usize,
    pub text: usize,
    pub depth: usize,
}

impl Builder {
    pub fn place(&self) -> Place {
        match self.stack.last().map(|open| &open.inside) {
            None => Place::Root,
            Some(Container::Seq(_)) => Place::Item,
            Some(Container::Map { key: None, .. }) => Place::Key,
            Some(Container::Map { key: Some((_, span)), .. }) => Place::Value(*span),
        }
    }

    pub fn problem(&mut self, problem: Problem) {
        self.parsed.problems.push(problem);
    }

    /// The span at which the innermost open list or mapping was opened.
    pub fn innermost(&self) -> Option<Span> {
        self.stack.last().map(|open| open.span)
    }

    pub fn open_seq(&mut self, span: Span, anchor: usize) -> Result<(), Stop> {
        self.open(Open { span, anchor, inside: Container::Seq(Vec::new()) })
    }

    pub fn open_map(&mut self, span: Span, anchor: usize) -> Result<(), Stop> {
        self.open(Open { span, anchor, inside: Container::Map { entries: Vec::new(), key: None } })
    }

    fn open(&mut self, open: Open) -> Result<(), Stop> {
        if self.stack.len() >= MAX_DEPTH {
            return Err(self.too_deep(open.span));
        }
        self.count(open.span, 1)?;
        self.stack.push(open);
        Ok(())
    }

    /// Ends the innermost list or mapping at `end`, or where its last part ends. Returns it with its anchor; it is
    /// still to be [put](Builder::put).
    pub fn close(&mut self, end: Option<usize>) -> Option<(Node, usize)> {
        let Open { span, anchor, inside } = self.stack.pop()?;
        let (last, value) = match inside {
            Container::Seq(items) => {
                (items.last().map(|item| item.span.end), NodeValue::Seq(Arc::new(items)))
            }
            Container::Map { entries, key: _ } => {
                self.report_duplicates(&entries);
                (entries.last().map(|entry| entry.value.span.end), NodeValue::Map(Arc::new(entries)))
            }
        };
        let end = end.or(last).unwrap_or(span.end).max(span.start);
        Some((Node { span: Span::new(span.start, end), value }, anchor))
    }

    /// Counts a scalar, before it is put.
    pub fn count_scalar(&mut self, span: Span) -> Result<(), Stop> {
        self.count(span, 1)
    }

    /// Counts the repetition of a tree by an alias at `span`, before it is put.
    pub fn count_alias(&mut self, span: Span, size: Size) -> Result<(), Stop> {
        if self.stack.len() + size.depth > MAX_DEPTH {
            return Err(self.too_deep(span));
        }
        self.repeated_text = self.repeated_text.saturating_add(size.text);
        if self.repeated_text > MAX_REPEATED_TEXT {
            let megabytes = MAX_REPEATED_TEXT >> 20;
            return Err(self.too_large(span, format!("aliases repeat more than {megabytes} MB of text")));
        }
        self.count(span, size.nodes)
    }

    /// Sets the key of the innermost mapping.
    pub fn key(&mut self, text: String, span: Span) {
        if let Some(Open { inside: Container::Map { key, .. }, .. }) = self.stack.last_mut() {
            *key = Some((text, span));
        }
    }

    /// Puts a whole node where the next value belongs. As a key it is dropped: readers make keys text first.
    pub fn put(&mut self, node: Node) {
        match self.stack.last_mut().map(|open| &mut open.inside) {
            None => self.root = Some(node),
            Some(Container::Seq(items)) => items.push(node),
            Some(Container::Map { entries, key }) => {
                if let Some((key, key_span)) = key.take() {
                    entries.push(Entry { key, key_span, value: node });
                }
            }
        }
    }

    /// Ends the document. One that was broken off keeps what was read of it, and its position among the others; a key
    /// without a value is left out.
    pub fn finish_document(&mut self, broken_at: Option<usize>) {
        while let Some((node, _)) = self.close(None) {
            self.put(node);
        }
        if let Some(at) = broken_at {
            self.root.get_or_insert(Node { span: Span::empty(at), value: NodeValue::Null });
        }
        self.parsed.documents.extend(self.root.take());
    }

    pub fn finish(self) -> Parse {
        self.parsed
    }

    pub fn too_deep(&mut self, span: Span) -> Stop {
        let message = format!("nested deeper than {MAX_DEPTH} levels");
        self.problem(Problem::new(ProblemKind::TooDeep, span, message));
        Stop::Document
    }

    fn too_large(&mut self, span: Span, message: String) -> Stop {
        self.problem(Problem::new(ProblemKind::TooLarge, span, message));
        Stop::File
    }

    fn count(&mut self, span: Span, nodes: usize) -> Result<(), Stop> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > MAX_NODES {
            return Err(self.too_large(span, format!("more than {MAX_NODES} values in one file")));
        }
        Ok(())
    }

    fn report_duplicates(&mut self, entries: &[Entry]) {
        let mut first_places: HashMap<&str, Span> = HashMap::with_capacity(entries.len());
        for entry in entries {
            match first_places.get(entry.key.as_str()) {
                None => {
                    first_places.insert(&entry.key, entry.key_span);
                }
                Some(&first) => self.parsed.problems.push(
                    Problem::new(
                        ProblemKind::DuplicateKey,
                        entry.key_span,
                        format!("the key {} is given twice", quoted(&entry.key)),
                    )
                    .related(first, "given here first"),
                ),
            }
        }
    }
}

impl Size {
    pub fn of(node: &Node) -> Size {
        let mut size = Size { nodes: 1, text: 0, depth: 0 };
        match &node.value {
            NodeValue::Null | NodeValue::Bool(_) => {}
            NodeValue::Number(number) => size.text += number.as_str().len(),
            NodeValue::String(text) => size.text += text.len(),
            NodeValue::Seq(items) => {
                size.depth = 1;
                items.iter().for_each(|item| size.hold(Size::of(item)));
            }
            NodeValue::Map(entries) => {
                size.depth = 1;
                for entry in entries.iter() {
                    size.text += entry.key.len();
                    size.hold(Size::of(&entry.value));
                }
            }
        }
        size
    }

    fn hold(&mut self, inner: Size) {
        self.nodes += inner.nodes;
        self.text += inner.text;
        self.depth = self.depth.max(inner.depth + 1);
    }
}
