//! Rules as people name them: an id, a place in a document, a description.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::options::RuleOptions;
use rulestep_base::source::{Position, Source, Span};
use rulestep_base::wording::clean::{self, Marks};
use rulestep_base::wording::{all, line};

/// A rule of a version, by its number: by relative path, then document, then place in the document. So the smaller of
/// two ids is the one that wins a tie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RuleId(pub u32);

/// One enforceable statement of a document.
#[derive(Debug, Clone)]
pub struct Rule {
    /// `FILE#/json/pointer`, with the file as it was named; `FILE#1/…` in the second document of a file.
    pub id: Arc<str>,
    /// The dialect's name.
    pub dialect: &'static str,
    /// The kind of rule, in the dialect's own words: `precondition`, `forbids_after`, `limit`, `before`.
    pub kind: &'static str,
    /// The JSON pointer inside the document.
    pub pointer: Arc<str>,
    /// The document's text.
    pub source: Source,
    /// The rule's span in it.
    pub span: Span,
    /// The author's own words for it.
    pub description: Option<Arc<str>>,
    /// The id that the author gave it, if the document has one: people call the rule by it.
    pub name: Option<Arc<str>>,
    /// The tool it governs, if it governs one tool.
    pub tool: Option<Arc<str>>,
    /// The tools it names, in the order in which its kind uses them; one that means several ends in `…`.
    pub tools: Arc<[Arc<str>]>,
    /// The test it belongs to, for rules inside test files.
    pub test: Option<Arc<str>>,
    /// The options for calls that it objects to.
    pub options: RuleOptions,
    /// The dialect's name for such a rule if the author gave it none.
    pub phrase: fn(&Rule) -> Option<String>,
}

/// Columns that a rule's own name may take.
const WIDTH: usize = 120;

/// The name of a rule, on one line: its description, else its id, else a phrase made from its kind and its tools.
/// Patterns and places are detail, and are never the headline.
#[must_use]
pub fn rule_name(rule: &Rule) -> String {
    let own = [&rule.description, &rule.name].into_iter().flatten().map(|text| text.trim());
    if let Some(text) = own.into_iter().find(|text| !text.is_empty()) {
        return clean::fit(text, WIDTH, Marks::Unicode).text();
    }
    (rule.phrase)(rule).unwrap_or_else(|| match &*rule.tools {
        [] => rule.kind.replace('_', " "),
        tools => format!("{} of {}", rule.kind.replace('_', " "), all(tools)),
    })
}

/// A rule as data.
#[derive(Debug, Serialize)]
pub struct RuleName<'a> {
    dialect: &'static str,
    rule: &'a str,
    /// Its name for people.
    rule_name: String,
    test: Option<&'a str>,
}

impl<'a> RuleName<'a> {
    /// Of this rule.
    pub fn of(rule: &'a Rule) -> RuleName<'a> {
        let (dialect, test) = (rule.dialect, rule.test.as_deref());
        RuleName { dialect, rule: &rule.id, rule_name: rule_name(rule), test }
    }
}

/// The beginning of a rule, as data.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RulePlace {
    /// The file, as shown.
    pub file: String,
    /// The position in it.
    #[serde(flatten)]
    pub position: Position,
}

impl RulePlace {
    /// Of this rule.
    pub fn of(rule: &Rule) -> RulePlace {
        RulePlace { file: rule.source.name().to_owned(), position: rule.source.position(rule.span.start) }
    }
}

impl Rule {
    /// File and line: `contracts/issue_refund.yaml:3`.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}:{}", line(self.source.name()), self.source.position(self.span.start).line)
    }
}

/// The rules of a version in the order of their ids.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    rules: Vec<Rule>,
    off: BTreeSet<RuleId>,
}

impl Rules {
    /// No rules yet, and the ids of those that are switched off: they are pushed like all others, but their reader
    /// makes no units of them.
    pub fn without(off: BTreeSet<RuleId>) -> Rules {
        Rules { rules: Vec::new(), off }
    }

    /// Adds a rule after all others.
    pub fn push(&mut self, rule: Rule) -> RuleId {
        self.rules.push(rule);
        RuleId(self.rules.len() as u32 - 1)
    }

    /// Whether a rule is switched off. Such a rule is part of no unit, since rules share state and precedence.
    pub fn is_off(&self, id: RuleId) -> bool {
        self.off.contains(&id)
    }

    /// The rules that are switched off.
    pub fn off(&self) -> &BTreeSet<RuleId> {
        &self.off
    }

    /// The rule with this id. Ids come from this very version, so there is one.
    pub fn get(&self, id: RuleId) -> Option<&Rule> {
        self.rules.get(id.0 as usize)
    }

    /// All rules with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (RuleId, &Rule)> {
        self.rules.iter().enumerate().map(|(i, rule)| (RuleId(i as u32), rule))
    }

    /// The number of rules.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}
