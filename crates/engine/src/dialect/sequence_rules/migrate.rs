//! Migrates a document from the old form to the current one: `sequences` become `rules`.
//!
//! The text is changed only where necessary, so comments, quotes and the order of everything else stay. The result is
//! read again and compared with the intended document; if they differ, the text is refused, not damaged.

use serde_json::{Value, json};

use super::recognises;
use super::suite::holders;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::source::edit::Edits;
use rulestep_base::source::{Entry, Node, NodeValue, Source, Span, parse};

/// A document in the current form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migration {
    /// The whole text.
    pub text: String,
    /// The changes, in the order of the text. None: the document was in the current form.
    pub changes: Vec<Change>,
}

/// Something that was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// `sequences` became `rules`.
    Sequences {
        /// Line of the key, from 1.
        line: u32,
        /// Lists that were there.
        lists: usize,
        /// Number of rules that were made of them.
        rules: usize,
        /// Number of lists of fewer than two names, which require nothing and were removed.
        empty: usize,
    },
    /// A version of 0 became 1.
    Version {
        /// Line of the key, from 1.
        line: u32,
    },
}

/// Why a text is not rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It cannot be read.
    Broken(Vec<Diagnostic>),
    /// It holds no sequence rules of either form.
    Foreign,
    /// The old form is at this line (from 1) in a shape that cannot be rewritten in place.
    Tangled(u32),
}

/// Rewrites a text.
///
/// # Errors
/// The text is broken, is no document of sequence rules, or cannot be rewritten with certainty.
pub fn migrate(source: &Source) -> Result<Migration, Refusal> {
    let parsed = parse(source);
    if !parsed.problems.is_empty() {
        let told = parsed.problems.into_iter().map(|problem| Diagnostic::from_problem(problem, source));
        return Err(Refusal::Broken(told.collect()));
    }
    if !parsed.documents.iter().any(recognises) {
        return Err(Refusal::Foreign);
    }
    let mut writing = Writing { edits: Edits::new(source, &parsed.documents), changes: Vec::new() };
    for document in parsed.documents.iter().filter(|document| recognises(document)) {
        writing.document(document, source)?;
    }
    let Writing { edits, changes } = writing;
    let line = changes.first().map_or(1, Change::line);
    let text = edits.finish().map_err(|_| Refusal::Tangled(line))?;
    Ok(Migration { text, changes })
}

impl Change {
    fn line(&self) -> u32 {
        match self {
            Change::Sequences { line, .. } | Change::Version { line } => *line,
        }
    }
}

/// The lists of an old entry, if all of them are lists of names.
fn lists(entry: &Entry) -> Option<Vec<(&Node, Vec<&str>)>> {
    let lists = entry.value.as_seq()?.iter();
    lists.map(|list| Some((list, list.as_seq()?.iter().map(Node::as_str).collect::<Option<_>>()?))).collect()
}

/// Whether an entry is in the old form: not a list of rules alone, which is the current form of a policy document.
fn is_old(sequences: &Node) -> bool {
    let rules = sequences.as_seq().filter(|items| !items.is_empty());
    rules.is_none_or(|items| items.iter().any(|item| item.as_map().is_none()))
}

/// The rules for a list of names: each name before the next.
fn rules(names: &[&str]) -> Vec<Value> {
    let pairs = names.iter().zip(names.iter().skip(1));
    pairs.map(|(first, then)| json!({"type": "before", "first": first, "then": then})).collect()
}

/// Keys of a document's version.
const VERSIONS: &[&str] = &["version", "configVersion"];

struct Writing<'a> {
    edits: Edits<'a>,
    changes: Vec<Change>,
}

impl<'a> Writing<'a> {
    fn document(&mut self, document: &'a Node, source: &Source) -> Result<(), Refusal> {
        let line = |entry: &Entry| source.position(entry.key_span.start).line;
        let before = self.changes.len();
        for entry in document.as_map().unwrap_or_default().iter().filter(|e| VERSIONS.contains(&&*e.key)) {
            let current = match &entry.value.value {
                NodeValue::String(version) if version == "0" => json!("1"),
                NodeValue::Number(version) if version.as_str() == "0" => json!(1),
                _ => continue,
            };
            let line = line(entry);
            self.edits.set(entry, current).map_err(|_| Refusal::Tangled(line))?;
            self.changes.push(Change::Version { line });
        }
        for holder in holders(document) {
            if let Some(old) = holder.entry("sequences").filter(|old| is_old(&old.value)) {
                let line = line(old);
                let change = self.holder(holder, old, line).ok_or(Refusal::Tangled(line))?;
                self.changes.push(change);
            }
        }
        if let Some(changes) = self.changes.get_mut(before..) {
            changes.sort_by_key(Change::line);
        }
        Ok(())
    }

    /// `None`: the entry has another shape.
    fn holder(&mut self, holder: &'a Node, old: &'a Entry, line: u32) -> Option<Change> {
        let lists = lists(old)?;
        match holder.entry("rules").map(|rules| &rules.value) {
            None => {
                self.edits.rename(old, "rules");
                for (place, (_, names)) in lists.iter().enumerate() {
                    self.edits.replace(&old.value, place, rules(names));
                }
            }
            Some(known) => {
                let end = known.as_seq()?.len();
                let mut from = old.key_span.end;
                for (list, names) in &lists {
                    // The comments above a list, within it and on its last line move with it.
                    let to = self.edits.after_line(list.span.end);
                    let mut comments = self.edits.comments(list, Span::new(from, to));
                    for rule in rules(names) {
                        self.edits.insert(known, end, std::mem::take(&mut comments), rule);
                    }
                    from = to;
                }
                self.edits.remove_key(holder, &old.key);
            }
        }
        let rules = lists.iter().map(|(_, names)| names.len().saturating_sub(1)).sum();
        let empty = lists.iter().filter(|(_, names)| names.len() < 2).count();
        Some(Change::Sequences { line, lists: lists.len(), rules, empty })
    }
}
