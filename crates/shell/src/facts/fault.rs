//! Faults of a row, and reading its texts.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::words::{is_option, is_plain, owned};

/// A fault of a row, and its place: a JSON pointer from the row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Its kind.
    pub kind: FaultKind,
    /// The place.
    pub pointer: String,
    /// The problem.
    pub message: String,
    /// The unknown word, and what it may have been meant as.
    pub known: Option<(String, Vec<&'static str>)>,
    /// What to write instead.
    pub help: Option<String>,
}

/// Kinds of problems in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// A key that a row does not have.
    UnknownKey,
    /// A key that a row needs.
    MissingKey,
    /// A value that says nothing that can be understood.
    BadValue,
    /// A value that is understood, and that nothing is ever called.
    MatchesNothing,
}

impl Fault {
    /// Something wrong at a place.
    pub fn new(kind: FaultKind, pointer: &str, message: impl Into<String>) -> Fault {
        Fault { kind, pointer: pointer.to_owned(), message: message.into(), known: None, help: None }
    }
}

/// A key as a segment of a JSON pointer.
pub fn escaped(key: &str) -> Cow<'_, str> {
    match key.contains(['~', '/']) {
        true => Cow::Owned(key.replace('~', "~0").replace('/', "~1")),
        false => Cow::Borrowed(key),
    }
}

/// Collects problems.
pub struct Reader {
    /// The faults so far.
    pub faults: Vec<Fault>,
}

impl Reader {
    /// Reports a problem at a place.
    pub fn fault(&mut self, pointer: &str, message: impl Into<String>) {
        self.faults.push(Fault::new(FaultKind::BadValue, pointer, message));
    }

    /// Says that there is no such key.
    pub fn unknown_key(&mut self, key: &str, pointer: &str, known: Vec<&'static str>) {
        let fault = Fault::new(
            FaultKind::UnknownKey,
            &format!("{pointer}/{}", escaped(key)),
            format!("unknown key `{key}`"),
        );
        self.faults.push(Fault { known: Some((key.to_owned(), known)), ..fault });
    }

    /// Says that words do not name anything.
    pub fn unknown(
        &mut self,
        pointer: &str,
        written: &str,
        what: &str,
        known: &'static [&'static str],
        others: &str,
    ) {
        let listed: Vec<String> = known.iter().map(|word| format!("`{word}`")).collect();
        self.faults.push(Fault {
            known: Some((written.to_owned(), known.to_vec())),
            help: Some(format!("write {}, {others}", listed.join(", "))),
            ..Fault::new(FaultKind::BadValue, pointer, format!("`{written}` does not name {what}"))
        });
    }

    /// A text or a list of them, each with its place.
    pub fn texts<'v>(&mut self, value: &'v Value, pointer: &str) -> Vec<(String, &'v str)> {
        let items: Vec<(String, &Value)> = match value {
            Value::Array(items) if items.is_empty() => {
                self.fault(pointer, "an empty list says nothing");
                Vec::new()
            }
            Value::Array(items) => {
                items.iter().enumerate().map(|(at, item)| (format!("{pointer}/{at}"), item)).collect()
            }
            one => vec![(pointer.to_owned(), one)],
        };
        let mut texts = Vec::new();
        for (pointer, item) in items {
            match item.as_str() {
                Some(text) if text.starts_with(' ') || text.ends_with(' ') || text.contains("  ") => {
                    self.fault(&pointer, format!("`{text}` has blanks too many"))
                }
                Some(text) => texts.push((pointer, text)),
                None => self.fault(&pointer, "expected text"),
            }
        }
        texts
    }

    /// The names of programs or tools, which are compared letter by letter.
    pub fn names(&mut self, row: &Map<String, Value>, key: &str, what: &str) -> Vec<String> {
        let Some(value) = row.get(key) else {
            self.faults.push(Fault::new(FaultKind::MissingKey, "", format!("a row needs `{key}`")));
            return Vec::new();
        };
        let mut names = Vec::new();
        for (pointer, name) in self.texts(value, &format!("/{key}")) {
            if name.is_empty() || name.contains('/') || !is_plain(name) {
                self.fault(&pointer, format!("`{name}` is not {what}"));
            } else if name.len() > 1 && name.contains(['*', '?']) {
                let message = format!("`{name}` is compared letter by letter, its `*` too");
                self.faults.push(Fault {
                    help: Some("name each of them: a row is for the names that it lists".to_owned()),
                    ..Fault::new(FaultKind::BadValue, &pointer, message)
                });
            } else {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// The words of each subcommand of a key.
    pub fn paths(&mut self, key: &str, pointer: &str) -> Vec<Vec<String>> {
        let mut paths = Vec::new();
        for sub in key.split('|').map(str::trim) {
            let words: Vec<&str> = sub.split(' ').collect();
            match words.iter().all(|word| !word.is_empty() && !word.starts_with('-') && is_plain(word)) {
                true => paths.push(owned(&words)),
                false => self.fault(pointer, format!("`{sub}` is not a subcommand")),
            }
        }
        paths
    }

    /// Words with blanks between them, or a list of such texts.
    pub fn words(&mut self, value: &Value, pointer: &str, fits: fn(&str) -> bool, what: &str) -> Vec<String> {
        let mut words = Vec::new();
        for (at, text) in self.texts(value, pointer) {
            for word in text.split(' ') {
                match !word.is_empty() && fits(word) {
                    true => words.push(word.to_owned()),
                    false => self.fault(&at, format!("`{word}` is not {what}")),
                }
            }
        }
        words
    }

    /// Variables with the options that do no harm in them.
    pub fn env_options(&mut self, row: &Map<String, Value>) -> Vec<(String, Vec<String>)> {
        match row.get("env_options") {
            Some(Value::Object(members)) => {
                let one = |(name, value): (&String, &Value)| {
                    let at = format!("/env_options/{}", escaped(name));
                    (name.clone(), self.words(value, &at, is_option, "an option"))
                };
                members.iter().map(one).collect()
            }
            Some(_) => {
                self.fault(
                    "/env_options",
                    "expected a mapping from a variable to the options that do no harm",
                );
                Vec::new()
            }
            None => Vec::new(),
        }
    }
}
