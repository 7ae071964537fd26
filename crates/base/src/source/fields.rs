//! Reading a mapping key by key: every wrong type, missing key and unknown key is noted, none ends the reading.
//!
//! ```
//! use rulestep_base::source::{Field, Fields, Problem, Source, parse};
//!
//! struct Limit { tool: String, max: u64, reasons: Vec<String> }
//!
//! fn limit(field: Field<'_>, out: &mut Vec<Problem>) -> Option<Limit> {
//!     let mut fields = field.fields(out)?;
//!     let tool = fields.required("tool", out).and_then(|tool| tool.text(out));
//!     let max = fields.required("max", out).and_then(|max| max.count(out));
//!     let reasons = fields.list("reasons", out, |reason, out| reason.text(out));
//!     fields.finish(out);
//!     Some(Limit { tool: tool?.to_owned(), max: max?, reasons: reasons.unwrap_or_default().into_iter().map(str::to_owned).collect() })
//! }
//!
//! let source = Source::new("limits.yaml", "{tool: 7, mx: 3}");
//! let mut problems = Vec::new();
//! let document = &parse(&source).documents[0];
//! assert!(limit(Field::document(document), &mut problems).is_none());
//! let messages: Vec<_> = problems.iter().map(|problem| problem.message.as_str()).collect();
//! assert_eq!(messages, ["expected text for `tool`, found a number", "the key `max` is missing",
//!                   "unknown key `mx`, did you mean `max`?"]);
//! ```

use serde_json::Number;

use super::nearest::nearest;
use super::node::pointer_push;
use super::problem::quoted;
use super::{Entry, Node, Problem, ProblemKind, Span};

/// A value to be read, with its pointer.
#[derive(Clone, Debug)]
pub struct Field<'a> {
    /// The value.
    pub node: &'a Node,
    /// Its JSON Pointer in the document.
    pub pointer: String,
    /// The span of its key, if it is in a mapping.
    pub key_span: Option<Span>,
}

/// A mapping whose keys are taken one by one.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    node: &'a Node,
    entries: &'a [Entry],
    pointer: String,
    key_span: Option<Span>,
    taken: Vec<bool>,
    /// The keys that were taken, present or not: these are the known ones.
    asked: Vec<&'a str>,
    null_is_absent: bool,
}

impl<'a> Field<'a> {
    /// The span of the value.
    pub fn span(&self) -> Span {
        self.node.span
    }

    /// The value of a whole document.
    pub fn document(node: &'a Node) -> Field<'a> {
        Field { node, pointer: String::new(), key_span: None }
    }

    /// The text. `1`, `true` and null are not text.
    pub fn text(&self, out: &mut Vec<Problem>) -> Option<&'a str> {
        self.expect(self.node.as_str(), "text", out)
    }

    /// The text, which may not be empty: a name.
    pub fn name(&self, out: &mut Vec<Problem>) -> Option<&'a str> {
        let text = self.text(out)?;
        if text.is_empty() {
            self.refuse(format!("{}expected text that is not empty", self.label()), out);
            return None;
        }
        Some(text)
    }

    /// The boolean.
    pub fn boolean(&self, out: &mut Vec<Problem>) -> Option<bool> {
        self.expect(self.node.as_bool(), "`true` or `false`", out)
    }

    /// The number, with its digits.
    pub fn number(&self, out: &mut Vec<Problem>) -> Option<&'a Number> {
        self.expect(self.node.as_number(), "a number", out)
    }

    /// The whole number from 0.
    pub fn count(&self, out: &mut Vec<Problem>) -> Option<u64> {
        let number = self.number(out)?;
        let read = number.as_u64();
        if read.is_none() {
            let found = quoted(number.as_str());
            self.refuse(format!("expected a whole number from 0{}, found {found}", self.of_key()), out);
        }
        read
    }

    /// The value of one of these words.
    pub fn one_of<T: Copy>(&self, words: &[(&str, T)], out: &mut Vec<Problem>) -> Option<T> {
        let text = self.text(out)?;
        if let Some((_, meant)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*meant);
        }
        let all: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        let message = format!("{}expected {}, found {}", self.label(), either(&all), quoted(text));
        let mut problem = Problem::new(ProblemKind::BadValue, self.shown_span(), message);
        problem.help =
            nearest(text, words.iter().map(|(word, _)| *word)).map(|word| format!("did you mean `{word}`?"));
        out.push(problem);
        None
    }

    /// The items of a list.
    pub fn items(&self, out: &mut Vec<Problem>) -> Option<impl Iterator<Item = Field<'a>> + use<'a>> {
        let items = self.expect(self.node.as_seq(), "a list", out)?;
        let pointer = self.pointer.clone();
        Some(items.iter().enumerate().map(move |(index, node)| Field {
            node,
            pointer: format!("{pointer}/{index}"),
            key_span: None,
        }))
    }

    /// The items of a list, each read by `read`; those that it cannot read are left out.
    pub fn list<T>(
        &self,
        out: &mut Vec<Problem>,
        mut read: impl FnMut(Field<'a>, &mut Vec<Problem>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let items = self.items(out)?;
        Some(items.filter_map(|item| read(item, out)).collect())
    }

    /// The entries of a mapping whose keys are not fixed: each key with its value.
    pub fn entries(
        &self,
        out: &mut Vec<Problem>,
    ) -> Option<impl Iterator<Item = (&'a str, Field<'a>)> + use<'a>> {
        let entries = self.expect(self.node.as_map(), "a mapping", out)?;
        let pointer = self.pointer.clone();
        Some(entries.iter().map(move |entry| (entry.key.as_str(), field(&pointer, entry))))
    }

    /// The mapping, to be read key by key.
    pub fn fields(&self, out: &mut Vec<Problem>) -> Option<Fields<'a>> {
        let entries = self.expect(self.node.as_map(), "a mapping", out)?;
        Some(Fields {
            node: self.node,
            entries,
            pointer: self.pointer.clone(),
            key_span: self.key_span,
            taken: vec![false; entries.len()],
            asked: Vec::new(),
            null_is_absent: false,
        })
    }

    /// Reports a value of the right type that is not allowed here.
    pub fn refuse(&self, message: impl Into<String>, out: &mut Vec<Problem>) {
        out.push(self.problem(ProblemKind::BadValue, message));
    }

    /// A problem with this value.
    pub fn problem(&self, kind: ProblemKind, message: impl Into<String>) -> Problem {
        Problem::new(kind, self.shown_span(), message)
    }

    /// The key of this value, for messages: the last step of the pointer, unless that is a list's index.
    fn key(&self) -> Option<String> {
        self.key_span?;
        let (_, last) = self.pointer.rsplit_once('/')?;
        Some(quoted(&last.replace("~1", "/").replace("~0", "~")))
    }

    fn of_key(&self) -> String {
        self.key().map(|key| format!(" for {key}")).unwrap_or_default()
    }

    fn label(&self) -> String {
        self.key().map(|key| format!("{key}: ")).unwrap_or_default()
    }

    /// A value left out has no text to point at, so its key is shown.
    fn shown_span(&self) -> Span {
        match self.key_span {
            Some(key) if self.node.span.is_empty() => key,
            _ => self.node.span,
        }
    }

    fn expect<T>(&self, read: Option<T>, wanted: &str, out: &mut Vec<Problem>) -> Option<T> {
        if read.is_none() {
            let message = format!("expected {wanted}{}, found {}", self.of_key(), self.node.kind());
            let problem = self.problem(ProblemKind::WrongType, message);
            let scalar = self.node.as_number().is_some() || self.node.as_bool().is_some();
            out.push(if wanted == "text" && scalar {
                problem.help("write it in quotes if it is meant as text")
            } else {
                problem
            });
        }
        read
    }
}

impl<'a> Fields<'a> {
    /// From here on a key whose value is null counts as absent.
    pub fn null_is_absent(mut self) -> Fields<'a> {
        self.null_is_absent = true;
        self
    }

    /// Whether the key is present. Does not make it a known one.
    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| self.is(entry, key))
    }

    /// Takes the entry of a key, if it is present. The key is known from then on.
    pub fn take(&mut self, key: &'a str) -> Option<&'a Entry> {
        self.asked.push(key);
        let mut found = None;
        for (entry, taken) in self.entries.iter().zip(&mut self.taken) {
            // A key given twice has been reported already; it is known all the same.
            if entry.key == key {
                *taken = true;
                found = found.or(Some(entry));
            }
        }
        found.filter(|entry| !(self.null_is_absent && entry.value.is_null()))
    }

    /// Takes a value that may be absent.
    pub fn optional(&mut self, key: &'a str) -> Option<Field<'a>> {
        let entry = self.take(key)?;
        Some(field(&self.pointer, entry))
    }

    /// Takes a value that must be there.
    pub fn required(&mut self, key: &'a str, out: &mut Vec<Problem>) -> Option<Field<'a>> {
        let found = self.optional(key);
        if found.is_none() {
            out.push(self.missing(key));
        }
        found
    }

    /// Takes an optional text.
    pub fn text(&mut self, key: &'a str, out: &mut Vec<Problem>) -> Option<&'a str> {
        self.optional(key)?.text(out)
    }

    /// Takes an optional boolean.
    pub fn boolean(&mut self, key: &'a str, out: &mut Vec<Problem>) -> Option<bool> {
        self.optional(key)?.boolean(out)
    }

    /// Takes an optional number.
    pub fn number(&mut self, key: &'a str, out: &mut Vec<Problem>) -> Option<&'a Number> {
        self.optional(key)?.number(out)
    }

    /// Takes an optional list, each item read by `read`; those that it cannot read are left out.
    pub fn list<T>(
        &mut self,
        key: &'a str,
        out: &mut Vec<Problem>,
        read: impl FnMut(Field<'a>, &mut Vec<Problem>) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.optional(key)?.list(out, read)
    }

    /// Takes an optional mapping.
    pub fn mapping(&mut self, key: &'a str, out: &mut Vec<Problem>) -> Option<Fields<'a>> {
        self.optional(key)?.fields(out)
    }

    /// The problem that a key is missing, at the key of the mapping or at its first line.
    pub fn missing(&self, key: &str) -> Problem {
        Problem::new(ProblemKind::MissingKey, self.head(), format!("the key {} is missing", quoted(key)))
    }

    /// The span for a problem of the whole mapping: its key, else its own first key.
    pub fn head(&self) -> Span {
        let first = self.entries.first().map(|entry| entry.key_span);
        self.key_span.or(first).unwrap_or(self.node.span)
    }

    /// Reports every key that was not taken.
    pub fn finish(self, out: &mut Vec<Problem>) {
        out.extend(self.unknown());
    }

    /// The keys that were taken, present or not.
    pub fn known(&self) -> impl Iterator<Item = &'a str> {
        self.asked.iter().copied()
    }

    /// A problem for every key that was not taken, for a dialect that only warns of them.
    pub fn unknown(&self) -> impl Iterator<Item = Problem> {
        self.unknown_keys().map(|(_, problem)| problem)
    }

    /// The same, each problem with its key.
    pub fn unknown_keys(&self) -> impl Iterator<Item = (&'a str, Problem)> {
        let untaken = self.entries.iter().zip(&self.taken).filter(|(_, taken)| !**taken);
        untaken.map(|(entry, _)| {
            let problem = unknown_key(&entry.key, entry.key_span, &self.asked);
            (entry.key.as_str(), problem)
        })
    }

    fn is(&self, entry: &Entry, key: &str) -> bool {
        entry.key == key && !(self.null_is_absent && entry.value.is_null())
    }
}

/// The problem of a key that is not one of the known ones. A known key may occur more than once.
pub fn unknown_key(key: &str, span: Span, known: &[&str]) -> Problem {
    let mut message = format!("unknown key {}", quoted(key));
    if let Some(near) = nearest(key, known.iter().copied()) {
        message.push_str(&format!(", did you mean `{near}`?"));
    }
    let problem = Problem::new(ProblemKind::UnknownKey, span, message);
    let once = known.iter().enumerate().filter(|(at, key)| !known.iter().take(*at).any(|it| it == *key));
    let keys: Vec<String> = once.map(|(_, key)| format!("`{key}`")).collect();
    if keys.is_empty() { problem } else { problem.help(format!("known here: {}", keys.join(", "))) }
}

fn field<'a>(pointer: &str, entry: &'a Entry) -> Field<'a> {
    let mut pointer = pointer.to_owned();
    pointer_push(&mut pointer, &entry.key);
    Field { node: &entry.value, pointer, key_span: Some(entry.key_span) }
}

/// `a`, `a or b`, `a, b or c`.
fn either(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
