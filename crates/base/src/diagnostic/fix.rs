//! Edits of a text that remove the cause of a diagnostic about it.

use std::cell::RefCell;
use std::rc::Rc;

use crate::source::edit::{Edits, Refused, put};
use crate::source::inline::scalar;
use crate::source::{Entry, Node, NodeValue, Parse, Source, Span, parse};

/// The longest text for which fixes are made, because each fix parses the text again. In a text with very many
/// warnings, only the first have fixes.
const LONGEST: usize = 1 << 20;

/// Edits of one text that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The action, as an imperative: `remove the alias`.
    pub title: String,
    /// Whether every call is decided as before, and every session keeps its status. Only such a fix is applied unasked.
    pub is_safe: bool,
    /// The text.
    pub source: Source,
    /// Parts of it, in its order, each with its replacement.
    pub edits: Vec<(Span, String)>,
}

impl Fix {
    /// The text with the edits.
    pub fn apply(&self) -> Option<String> {
        put(self.source.text(), &self.edits)
    }

    /// Removes the item of a list, or the entry of a mapping, whose key is here.
    pub fn remove(source: &Source, span: Span, title: &str) -> Option<Fix> {
        Fix::of(source, title, true, |documents, edits| {
            let (parent, child) =
                documents.iter().find_map(|document| find(document, span)).ok_or(Refused)?;
            match child {
                Child::Item(index) => edits.replace(parent, index, Vec::new()),
                Child::Entry(entry) => edits.remove_key(parent, &entry.key),
            }
            Ok(())
        })
    }

    /// Changes entries of a mapping that is an item of a list: each of these keys is renamed and gets a value, or is
    /// removed.
    pub fn entries(
        source: &Source,
        span: Span,
        changes: Vec<(&str, Option<(&str, serde_json::Value)>)>,
        title: &str,
    ) -> Option<Fix> {
        Fix::of(source, title, true, |documents, edits| {
            let found = documents.iter().find_map(|document| find(document, span));
            let Some((list, Child::Item(index))) = found else { return Err(Refused) };
            let item = list.as_seq().and_then(|items| items.get(index)).ok_or(Refused)?;
            for (key, change) in changes {
                let entry = item.entry(key).ok_or(Refused)?;
                match change {
                    None => edits.remove_key(item, key),
                    Some((name, value)) => {
                        edits.set(entry, value)?;
                        if name != key {
                            edits.rename(entry, name);
                        }
                    }
                }
            }
            Ok(())
        })
    }

    /// Writes another entry of a mapping in place of the one with this key. Calls are decided differently with it.
    pub fn instead(
        source: &Source,
        key_span: Span,
        key: &str,
        value: serde_json::Value,
        title: &str,
    ) -> Option<Fix> {
        Fix::of(source, title, false, |documents, edits| {
            let found = documents.iter().find_map(|document| find(document, key_span));
            let Some((_, Child::Entry(entry))) = found else { return Err(Refused) };
            edits.set(entry, value)?;
            edits.rename(entry, key);
            Ok(())
        })
    }

    /// Writes another text in place of a scalar or a key. Text stays quoted as it was; a value of another type is
    /// written plain.
    pub fn rewrite(source: &Source, span: Span, value: &serde_json::Value, title: String) -> Option<Fix> {
        let old = source.slice(span);
        let is_quoted = old.starts_with(['"', '\'']);
        let text = match value {
            serde_json::Value::String(text) if !is_quoted && is_plain(text) => text.clone(),
            serde_json::Value::String(text) => scalar(text, is_quoted),
            other => other.to_string(),
        };
        let fix = Fix { title, is_safe: false, source: source.clone(), edits: vec![(span, text)] };
        if source.text().len() > LONGEST || !source.affords_fix() {
            return None;
        }
        // Inside a block of text, for example, the words would be read as something else.
        let (before, after) = (parsed(source), parse(&Source::new(source.name(), fix.apply()?)));
        let count = |documents: &[Node]| documents.iter().map(scalars).sum::<usize>();
        let same = after.problems.len() <= before.problems.len()
            && count(&after.documents) == count(&before.documents);
        same.then_some(fix)
    }

    /// Edits of a text as it is.
    pub fn raw(source: &Source, edits: Vec<(Span, String)>, title: &str) -> Fix {
        Fix { title: title.to_owned(), is_safe: true, source: source.clone(), edits }
    }

    /// Marks it as a suggestion: calls are decided differently with it, or sessions have another status.
    pub fn changes_decisions(mut self) -> Fix {
        self.is_safe = false;
        self
    }

    fn of(
        source: &Source,
        title: &str,
        is_safe: bool,
        change: impl for<'d> FnOnce(&'d [Node], &mut Edits<'d>) -> Result<(), Refused>,
    ) -> Option<Fix> {
        if source.text().len() > LONGEST || !source.affords_fix() {
            return None;
        }
        let parsed = parsed(source);
        // What cannot be read might be changed as well.
        if !parsed.problems.is_empty() {
            return None;
        }
        let mut edits = Edits::new(source, &parsed.documents);
        change(&parsed.documents, &mut edits).ok()?;
        let edits = edits.parts().ok()?;
        Some(Fix { title: title.to_owned(), is_safe, source: source.clone(), edits })
    }
}

/// The parse of a text. The last one is kept, as one text may have very many fixes.
fn parsed(source: &Source) -> Rc<Parse> {
    thread_local! {
        static LAST: RefCell<Option<(Source, Rc<Parse>)>> = const { RefCell::new(None) };
    }
    LAST.with_borrow_mut(|last| match last {
        Some((known, parsed)) if known.is(source) => Rc::clone(parsed),
        _ => {
            let parsed = Rc::new(parse(source));
            *last = Some((source.clone(), Rc::clone(&parsed)));
            parsed
        }
    })
}

/// Whether a text is read as itself without quotes, wherever a value may be.
fn is_plain(text: &str) -> bool {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-');
    let documents = parse(&Source::new("plain.yaml", text)).documents;
    let read = documents.first().and_then(Node::as_str);
    text.chars().all(safe) && text.starts_with(|c: char| c != '-') && read == Some(text)
}

enum Child<'d> {
    Item(usize),
    Entry(&'d Entry),
}

/// The list or the mapping that has a child here.
fn find(node: &Node, span: Span) -> Option<(&Node, Child<'_>)> {
    match &node.value {
        NodeValue::Seq(items) => {
            let own = items.iter().position(|item| item.span == span);
            own.map(|index| (node, Child::Item(index)))
                .or_else(|| items.iter().find_map(|item| find(item, span)))
        }
        NodeValue::Map(entries) => {
            let own = entries.iter().find(|entry| entry.key_span == span);
            own.map(|entry| (node, Child::Entry(entry)))
                .or_else(|| entries.iter().find_map(|entry| find(&entry.value, span)))
        }
        _ => None,
    }
}

fn scalars(node: &Node) -> usize {
    match &node.value {
        NodeValue::Seq(items) => items.iter().map(scalars).sum(),
        NodeValue::Map(entries) => entries.iter().map(|entry| 1 + scalars(&entry.value)).sum(),
        _ => 1,
    }
}
