//! The old form of a document rewritten as the current one: `sequences` become `rules`.
//!
//! The text is changed only where it must be, so comments, quotes and the order of everything else stay. What comes out
//! is read again and compared with what was meant; a text for which that does not hold is refused, not damaged.

use serde_json::{Map, Value, json};

use super::recognises;
use super::suite::holders;
use crate::diagnostic::Diagnostic;
use crate::source::{Entry, Node, NodeValue, Source, Span, parse};

/// A document in the current form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migrated {
    /// The whole text.
    pub text: String,
    /// What was changed, in the order of the text. Nothing: the document was in the current form.
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
        /// Rules that were made of them.
        rules: usize,
        /// Lists of fewer than two names, which ask nothing and are gone.
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
    /// The old form stands at this line (from 1) in a shape that cannot be rewritten in place.
    Tangled(u32),
}

/// Rewrites a text.
///
/// # Errors
/// The text is broken, is no document of sequence rules, or cannot be rewritten with certainty.
pub fn migrate(source: &Source) -> Result<Migrated, Refusal> {
    let parsed = parse(source);
    if !parsed.problems.is_empty() {
        let told = parsed.problems.into_iter().map(|problem| Diagnostic::from_problem(problem, source));
        return Err(Refusal::Broken(told.collect()));
    }
    if !parsed.documents.iter().any(recognises) {
        return Err(Refusal::Foreign);
    }
    let is_json = source.text().trim_start().starts_with(['{', '[']);
    let mut writing = Writing { source, edits: Vec::new(), changes: Vec::new(), is_json, tangled: None };
    for document in parsed.documents.iter().filter(|document| recognises(document)) {
        writing.document(document);
    }
    if let Some(line) = writing.tangled {
        return Err(Refusal::Tangled(line));
    }
    let line = writing.changes.first().map_or(1, |change| match change {
        Change::Sequences { line, .. } | Change::Version { line } => *line,
    });
    let changes = std::mem::take(&mut writing.changes);
    let text = writing.text().ok_or(Refusal::Tangled(line))?;
    let again = parse(&Source::new(source.name(), text.as_str()));
    let meant = parsed.documents.iter().map(current);
    let is_meant = again.problems.is_empty() && again.documents.iter().map(Node::to_json).eq(meant);
    if is_meant { Ok(Migrated { text, changes }) } else { Err(Refusal::Tangled(line)) }
}

/// The lists of an old entry, if all of them are lists of names.
fn lists(entry: &Entry) -> Option<Vec<(&Node, &[Node])>> {
    let lists = entry.value.as_seq()?.iter().map(|list| {
        let names = list.as_seq()?;
        names.iter().all(|name| name.as_str().is_some()).then_some((list, names))
    });
    lists.collect()
}

/// Whether an entry is in the old form: not a list of rules alone, which is the current form of a policy document.
fn is_old(sequences: &Node) -> bool {
    let rules = sequences.as_seq().filter(|items| !items.is_empty());
    rules.is_none_or(|items| items.iter().any(|item| item.as_map().is_none()))
}

/// What a document is to be, as a value.
fn current(document: &Node) -> Value {
    if !recognises(document) {
        return document.to_json();
    }
    let mut value = current_value(document, &holders(document));
    if let Value::Object(map) = &mut value {
        current_version(map);
    }
    value
}

fn current_value(node: &Node, holders: &[&Node]) -> Value {
    match &node.value {
        NodeValue::Seq(items) => items.iter().map(|item| current_value(item, holders)).collect(),
        NodeValue::Map(entries) => {
            let entries =
                entries.iter().map(|entry| (entry.key.clone(), current_value(&entry.value, holders)));
            let mut map: Map<String, Value> = entries.collect();
            let old = node.get("sequences").filter(|old| is_old(old));
            if old.is_some() && holders.iter().any(|holder| std::ptr::eq(*holder, node)) {
                current_holder(&mut map);
            }
            Value::Object(map)
        }
        _ => node.to_json(),
    }
}

fn current_holder(holder: &mut Map<String, Value>) {
    let Some(old) = holder.remove("sequences") else { return };
    let mut rules = match holder.remove("rules") {
        Some(Value::Array(rules)) => rules,
        _ => Vec::new(),
    };
    for names in old.as_array().into_iter().flatten().filter_map(Value::as_array) {
        let pairs = names.iter().zip(names.iter().skip(1));
        rules.extend(pairs.map(|(first, then)| json!({"type": "before", "first": first, "then": then})));
    }
    holder.insert("rules".to_owned(), rules.into());
}

fn current_version(document: &mut Map<String, Value>) {
    for key in VERSIONS {
        match document.get_mut(*key) {
            Some(Value::String(version)) if version == "0" => *version = "1".to_owned(),
            Some(Value::Number(version)) if version.as_str() == "0" => *version = 1.into(),
            _ => {}
        }
    }
}

/// Keys of a document's version.
const VERSIONS: &[&str] = &["version", "configVersion"];

struct Writing<'a> {
    source: &'a Source,
    edits: Vec<(Span, String)>,
    changes: Vec<Change>,
    is_json: bool,
    /// A line that cannot be rewritten.
    tangled: Option<u32>,
}

impl<'a> Writing<'a> {
    fn document(&mut self, document: &'a Node) {
        for entry in document.as_map().unwrap_or_default().iter().filter(|e| VERSIONS.contains(&&*e.key)) {
            let text = self.source.slice(entry.value.span);
            let is_zero = match &entry.value.value {
                NodeValue::String(version) => version == "0",
                NodeValue::Number(version) => version.as_str() == "0",
                _ => false,
            };
            if is_zero {
                self.edits.push((entry.value.span, text.replacen('0', "1", 1)));
                self.changes.push(Change::Version { line: self.line(entry.key_span.start) });
            }
        }
        for holder in holders(document) {
            if let Some(old) = holder.entry("sequences").filter(|old| is_old(&old.value)) {
                self.holder(holder, old);
            }
        }
        self.changes.sort_by_key(|change| match change {
            Change::Sequences { line, .. } | Change::Version { line } => *line,
        });
    }

    fn holder(&mut self, holder: &'a Node, old: &'a Entry) {
        let line = self.line(old.key_span.start);
        let Some(lists) = lists(old) else {
            self.tangled = self.tangled.or(Some(line));
            return;
        };
        let rules = lists.iter().map(|(_, names)| names.len().saturating_sub(1)).sum();
        let empty = lists.iter().filter(|(_, names)| names.len() < 2).count();
        self.changes.push(Change::Sequences { line, lists: lists.len(), rules, empty });
        match holder.entry("rules") {
            None => {
                let quoted = self.source.slice(old.key_span).starts_with(['"', '\'']);
                self.edits.push((old.key_span, if quoted { "\"rules\"" } else { "rules" }.to_owned()));
                self.in_place(&old.value, &lists);
            }
            Some(rules) if rules.value.as_seq().is_some() => {
                self.append(&rules.value, &lists);
                self.remove(holder, old);
            }
            Some(_) => self.tangled = self.tangled.or(Some(line)),
        }
    }

    /// The lists become rules where they stand.
    fn in_place(&mut self, value: &'a Node, lists: &[(&'a Node, &'a [Node])]) {
        let rules = self.rules(lists);
        if self.is_flow(value) {
            let lines = self.source.slice(value.span).contains('\n');
            self.edits.push((value.span, self.flow(&rules, lines.then(|| self.indent_of(value.span.start)))));
        } else if rules.iter().all(|list| list.rules.is_empty()) {
            self.edits.push((Span::new(self.dash(value), value.span.end), "  []".to_owned()));
        } else {
            let indent = self.indent_of(self.dash(value));
            for ((list, _), made) in lists.iter().zip(&rules) {
                let start = self.line_start(list.span.start);
                if made.rules.is_empty() {
                    self.edits.push((
                        Span::new(self.dash_line(list.span.start), self.line_end(list.span.end)),
                        String::new(),
                    ));
                    continue;
                }
                if !made.comments.is_empty() {
                    let at = Span::empty(self.dash_line(list.span.start));
                    let comments: String =
                        made.comments.iter().map(|text| format!("{indent}{text}\n")).collect();
                    self.edits.push((at, comments));
                }
                let column =
                    self.source.text().get(start..list.span.start).map_or(0, |before| before.chars().count());
                let text = self.block(&made.rules, &" ".repeat(column), &indent);
                // A block list's span may reach beyond its last name to the line's end.
                self.edits.push((list.span, text));
            }
        }
    }

    /// Further rules behind those that are there.
    fn append(&mut self, rules: &'a Node, lists: &[(&'a Node, &'a [Node])]) {
        let made = self.rules(lists);
        let any = made.iter().any(|list| !list.rules.is_empty());
        if !any {
            return;
        }
        if self.is_flow(rules) {
            let items = rules.as_seq().unwrap_or_default();
            let separator = if items.is_empty() { "" } else { ", " };
            let all: Vec<String> =
                made.iter().flat_map(|list| &list.rules).map(|rule| self.one_line(rule)).collect();
            let at = items.last().map_or(rules.span.start + 1, |last| last.span.end);
            self.edits.push((Span::empty(at), format!("{separator}{}", all.join(", "))));
            return;
        }
        let indent = self.indent_of(self.dash(rules));
        let mut text = String::new();
        for list in made.iter().filter(|list| !list.rules.is_empty()) {
            text.extend(list.comments.iter().map(|comment| format!("{indent}{comment}\n")));
            let rules = self.block(&list.rules, &format!("{indent}  "), &indent);
            text.push_str(&format!("{indent}- {rules}\n"));
        }
        let end = self.line_end(rules.span.end);
        if end == self.source.text().len() && !self.source.text().ends_with('\n') {
            text = format!("\n{}", text.trim_end_matches('\n'));
        }
        self.edits.push((Span::empty(end), text));
    }

    /// An entry goes.
    fn remove(&mut self, holder: &'a Node, old: &'a Entry) {
        let entries = holder.as_map().unwrap_or_default();
        let place = entries.iter().position(|entry| entry.key_span == old.key_span).unwrap_or_default();
        let span = if self.is_flow(holder) {
            match (entries.get(place + 1), place.checked_sub(1).and_then(|before| entries.get(before))) {
                (Some(next), _) => Span::new(old.key_span.start, next.key_span.start),
                (None, Some(before)) => Span::new(before.value.span.end, old.value.span.end),
                (None, None) => old.key_span.to(old.value.span),
            }
        } else {
            let first = self.line_start(old.key_span.start);
            let leads = self.source.slice(Span::new(first, old.key_span.start)).trim().is_empty();
            match entries.get(place + 1) {
                // The entry shares its line with the dash of a list, so the next one takes its place.
                Some(next) if !leads => Span::new(old.key_span.start, next.key_span.start),
                _ => Span::new(first, self.line_end(old.value.span.end)),
            }
        };
        self.edits.push((span, String::new()));
    }

    fn rules(&self, lists: &[(&'a Node, &'a [Node])]) -> Vec<Made<'a>> {
        let made = lists.iter().map(|(list, names)| {
            let pairs = names.iter().zip(names.iter().skip(1));
            Made { rules: pairs.collect(), comments: self.comments(list.span, names) }
        });
        made.collect()
    }

    /// Comments between the names of a list.
    fn comments(&self, list: Span, names: &[Node]) -> Vec<String> {
        let mut comments = Vec::new();
        let starts = std::iter::once(list.start).chain(names.iter().map(|name| name.span.end));
        let ends = names.iter().map(|name| name.span.start).chain([list.end]);
        for (start, end) in starts.zip(ends) {
            for line in self.source.slice(Span::new(start, end)).lines() {
                if let Some(at) = line.find('#').filter(|_| !self.is_json) {
                    comments.extend(line.get(at..).map(|comment| comment.trim_end().to_owned()));
                }
            }
        }
        comments
    }

    /// Rules as items of a block list, the first without its dash. `inner` leads the keys of the first one.
    fn block(&self, rules: &[(&Node, &Node)], inner: &str, indent: &str) -> String {
        let mut text = String::new();
        for (nth, (first, then)) in rules.iter().enumerate() {
            let (dash, inner) = match nth {
                0 => (String::new(), inner.to_owned()),
                _ => (format!("\n{indent}- "), format!("{indent}  ")),
            };
            let (first, then) = (self.name(first), self.name(then));
            text.push_str(&format!("{dash}type: before\n{inner}first: {first}\n{inner}then: {then}"));
        }
        text
    }

    /// Rules as a flow list, on one line or (`indent`) a line each.
    fn flow(&self, lists: &[Made<'_>], indent: Option<String>) -> String {
        let rules: Vec<String> =
            lists.iter().flat_map(|list| &list.rules).map(|rule| self.one_line(rule)).collect();
        let Some(indent) = indent.filter(|_| !rules.is_empty()) else {
            return format!("[{}]", rules.join(", "));
        };
        let mut text = "[".to_owned();
        let mut left = rules.len();
        for list in lists {
            text.extend(list.comments.iter().map(|comment| format!("\n{indent}  {comment}")));
            for rule in &list.rules {
                left -= 1;
                text.push_str(&format!(
                    "\n{indent}  {}{}",
                    self.one_line(rule),
                    if left > 0 { "," } else { "" }
                ));
            }
        }
        text.push_str(&format!("\n{indent}]"));
        text
    }

    fn one_line(&self, (first, then): &(&Node, &Node)) -> String {
        let (first, then) = (self.name(first), self.name(then));
        match self.is_json {
            true => format!("{{\"type\": \"before\", \"first\": {first}, \"then\": {then}}}"),
            false => format!("{{type: before, first: {first}, then: {then}}}"),
        }
    }

    /// A name as it is written, where that fits on a line.
    fn name(&self, node: &Node) -> String {
        let written = self.source.slice(node.span);
        let block = written.contains('\n') || written.is_empty() || written.starts_with(['|', '>']);
        if block { json!(node.as_str()).to_string() } else { written.to_owned() }
    }

    fn is_flow(&self, node: &Node) -> bool {
        // The span of a block list may begin behind its first dash, with what may itself be in brackets.
        let first = node.as_seq().and_then(<[Node]>::first).map(|first| first.span.start);
        first != Some(node.span.start) && self.source.slice(node.span).starts_with(['[', '{'])
    }

    /// The place of the first dash of a block list.
    fn dash(&self, list: &Node) -> usize {
        let item = list.as_seq().and_then(<[Node]>::first).map_or(list.span.start, |first| first.span.start);
        let before = self.source.text().get(..item).unwrap_or_default();
        before.rfind('-').unwrap_or(list.span.start)
    }

    fn line(&self, offset: usize) -> u32 {
        self.source.position(offset).line
    }

    fn line_start(&self, offset: usize) -> usize {
        self.source.text().get(..offset).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1)
    }

    /// Behind the line end.
    fn line_end(&self, offset: usize) -> usize {
        let text = self.source.text();
        // The span of a block value may end at the beginning of the next line already.
        if offset > 0 && text.get(..offset).is_some_and(|before| before.ends_with('\n')) {
            return offset;
        }
        text.get(offset..).and_then(|rest| rest.find('\n')).map_or(text.len(), |end| offset + end + 1)
    }

    /// The start of the line of the dash that an item belongs to.
    fn dash_line(&self, item: usize) -> usize {
        let before = self.source.text().get(..item).unwrap_or_default();
        self.line_start(before.rfind('-').unwrap_or(item))
    }

    /// Blanks as far as a place stands in its line.
    fn indent_of(&self, offset: usize) -> String {
        let line = self.source.text().get(self.line_start(offset)..offset).unwrap_or_default();
        let own = line.len() - line.trim_start().len();
        // A flow list stands behind its key: what matters is where that begins.
        let width = if line.trim_start().starts_with('-') || line.trim().is_empty() {
            line.chars().count()
        } else {
            own
        };
        " ".repeat(width)
    }

    /// The text with all edits; `None` where two of them meet.
    fn text(mut self) -> Option<String> {
        self.edits.sort_by_key(|(span, _)| (span.start, span.end));
        let (mut text, mut from) = (String::new(), 0);
        for (span, new) in &self.edits {
            text.push_str(self.source.text().get(from..span.start)?);
            text.push_str(new);
            from = span.end;
        }
        text.push_str(self.source.text().get(from..)?);
        Some(text)
    }
}

/// What one list becomes.
struct Made<'a> {
    rules: Vec<(&'a Node, &'a Node)>,
    comments: Vec<String>,
}
