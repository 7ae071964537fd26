//! Rules as people name them: an id, a place in a document, a description.

use std::sync::Arc;

use serde::Serialize;

use crate::source::{Source, Span};

/// A rule of a version, by its number: by relative path, then document, then place in the document. So the smaller of
/// two ids is the one that wins a tie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct RuleId(pub u32);

/// One enforceable statement of a document.
#[derive(Debug, Clone)]
pub struct Rule {
    /// `FILE#/json/pointer`, with the file as it was named; `FILE#1/…` in the second document of a file.
    pub id: Arc<str>,
    /// The dialect's name.
    pub dialect: &'static str,
    /// What kind of rule, in the dialect's own words: `precondition`, `forbids_after`, `limit`, `before`.
    pub kind: &'static str,
    /// The JSON pointer inside the document.
    pub pointer: Arc<str>,
    /// The document's text.
    pub source: Source,
    /// Where the rule stands in it.
    pub span: Span,
    /// The author's own words for it.
    pub description: Option<Arc<str>>,
    /// The tool it governs, where it is one tool's.
    pub tool: Option<Arc<str>>,
    /// The test it belongs to, for rules inside test files.
    pub test: Option<Arc<str>>,
}

/// The rules of a version in the order of their ids.
#[derive(Debug, Default)]
pub struct Rules(Vec<Rule>);

impl Rules {
    /// Adds a rule behind all others.
    pub fn push(&mut self, rule: Rule) -> RuleId {
        self.0.push(rule);
        RuleId(self.0.len() as u32 - 1)
    }

    /// The rule with this id. Ids come from this very version, so there is one.
    pub fn get(&self, id: RuleId) -> Option<&Rule> {
        self.0.get(id.0 as usize)
    }

    /// All rules with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (RuleId, &Rule)> {
        self.0.iter().enumerate().map(|(i, rule)| (RuleId(i as u32), rule))
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
