//! Rules as people name them: an id, a place in a document, a description.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use crate::source::{Source, Span};
use crate::wording::line;

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
    /// The id that the author gave it, where the document has one: people call the rule by it.
    pub name: Option<Arc<str>>,
    /// The tool it governs, where it is one tool's.
    pub tool: Option<Arc<str>>,
    /// The tools it speaks of, in the order in which its kind asks about them; one that stands for several ends in `…`.
    pub tools: Arc<[Arc<str>]>,
    /// The test it belongs to, for rules inside test files.
    pub test: Option<Arc<str>>,
}

impl Rule {
    /// Where it stands: `contracts/issue_refund.yaml:3`.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}:{}", line(self.source.name()), self.source.position(self.span.start).line)
    }
}

/// The rules of a version in the order of their ids.
#[derive(Debug, Default)]
pub struct Rules {
    rules: Vec<Rule>,
    again: Option<Again>,
}

/// The rules of a version that is read again with some of them left out.
#[derive(Debug, Default)]
struct Again {
    off: BTreeSet<RuleId>,
    next: u32,
    differs: bool,
}

impl Rules {
    /// The rules of a version whose documents are read again, without some of them. All keep their ids: what is pushed
    /// takes the id that it had.
    pub fn again(rules: &Rules, off: &BTreeSet<RuleId>) -> Rules {
        let again = Again { off: off.clone(), ..Again::default() };
        Rules { rules: rules.rules.clone(), again: Some(again) }
    }

    /// Adds a rule behind all others.
    pub fn push(&mut self, rule: Rule) -> RuleId {
        let Some(again) = &mut self.again else {
            self.rules.push(rule);
            return RuleId(self.rules.len() as u32 - 1);
        };
        while again.off.contains(&RuleId(again.next)) {
            again.next += 1;
        }
        let id = RuleId(again.next);
        again.next += 1;
        let known = self.rules.get(id.0 as usize);
        let same =
            |known: &Rule| (known.kind, known.span, &known.source) == (rule.kind, rule.span, &rule.source);
        again.differs |= !known.is_some_and(same);
        id
    }

    /// Whether no rule is switched off.
    pub fn is_first_reading(&self) -> bool {
        self.again.is_none()
    }

    /// Whether, for rules that were read again, each was pushed that is not off, and no other.
    pub fn is_whole(&self) -> bool {
        let Some(again) = &self.again else { return true };
        let rest = (again.next..self.rules.len() as u32).map(RuleId);
        !again.differs && rest.into_iter().all(|rule| again.off.contains(&rule))
    }

    /// The rule with this id. Ids come from this very version, so there is one.
    pub fn get(&self, id: RuleId) -> Option<&Rule> {
        self.rules.get(id.0 as usize)
    }

    /// All rules with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (RuleId, &Rule)> {
        self.rules.iter().enumerate().map(|(i, rule)| (RuleId(i as u32), rule))
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}
