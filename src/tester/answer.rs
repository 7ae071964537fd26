//! The input of a try, and its result.

use std::ops::Range;
use std::sync::Arc;

use rulestep_base::session::{Body, Session};
use rulestep_base::source::floor_boundary;

/// The language of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// `path` of a contract.
    JsonPath,
    /// `regex` of a rejection plan.
    JavaScript,
    /// `args_match` of a sequence rule.
    Rust,
    /// `liquid` of a rejection plan.
    Liquid,
    /// A question about a call: `runs: {program: git, args: [push]}`.
    Call,
}

/// The input of a try.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The session.
    pub session: Arc<Session>,
    /// The selected text or value.
    pub body: Body,
    /// The value that paths look into: the same, or for a result what rules read.
    pub value: Body,
    /// Whether that is the arguments of a call.
    pub is_arguments: bool,
    /// The selected call; on a message the one that is decided next.
    pub call: Option<u32>,
}

/// The result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Whether it was found.
    pub state: State,
    /// The same in a sentence.
    pub sentence: String,
    /// The position of a mistake in the expression, in bytes.
    pub fault: Option<usize>,
    /// The matches.
    pub parts: Vec<Part>,
}

/// Whether something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It was.
    Match,
    /// It was not.
    NoMatch,
    /// Not all could be looked at, or a word is not known.
    Unsure,
    /// The expression does not load, or there is nothing that it could be tried on.
    Refused,
}

/// Something that was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    /// Its label: a path, an argument and a line, the answer about a call.
    pub label: String,
    /// The text.
    pub text: String,
    /// The bytes of it that match.
    pub found: Vec<Range<usize>>,
}

/// Parts that are listed, matches that are counted.
pub const MOST: usize = 500;
/// Bytes of a part that are shown.
pub(super) const LONGEST: usize = 2_000;
impl Language {
    /// All languages, in the order in which they are cycled.
    pub const ALL: [Language; 5] =
        [Language::JsonPath, Language::JavaScript, Language::Rust, Language::Liquid, Language::Call];

    /// The common name.
    pub fn name(self) -> &'static str {
        match self {
            Language::JsonPath => "JSONPath",
            Language::JavaScript => "JavaScript regex",
            Language::Rust => "Rust regex",
            Language::Liquid => "Liquid",
            Language::Call => "call matcher",
        }
    }

    /// The noun for an expression.
    pub fn noun(self) -> &'static str {
        if self == Language::Liquid { "Liquid template" } else { self.name() }
    }

    /// Where policies have it.
    pub fn place(self) -> &'static str {
        match self {
            Language::JsonPath => "`path` of contracts",
            Language::JavaScript => "`regex` of rejection plans",
            Language::Rust => "`args_match` of sequence rules",
            Language::Liquid => "`liquid` of rejection plans",
            Language::Call => "what a call does, as sequence rules ask",
        }
    }

    /// The one that a dialect's rules are mostly written with.
    pub fn of_dialect(dialect: &str) -> Option<Language> {
        match dialect {
            "contract" => Some(Language::JsonPath),
            "rejection_plan" => Some(Language::JavaScript),
            "sequence_rule" => Some(Language::Rust),
            _ => None,
        }
    }

    /// The next one, or the one before.
    pub fn step(self, forward: bool) -> Language {
        let all = Language::ALL;
        let at = all.iter().position(|one| *one == self).unwrap_or(0);
        let by = if forward { 1 } else { all.len() - 1 };
        all.get((at + by) % all.len()).copied().unwrap_or(self)
    }
}

impl Answer {
    pub(super) fn new(state: State, sentence: impl Into<String>, parts: Vec<Part>) -> Answer {
        Answer { state, sentence: sentence.into(), fault: None, parts }
    }

    pub(super) fn refused(sentence: String, fault: Option<usize>) -> Answer {
        Answer { state: State::Refused, sentence, fault, parts: Vec::new() }
    }
}

impl Part {
    pub(super) fn new(label: impl Into<String>, text: &str) -> Part {
        Part { label: label.into(), text: beginning(text).to_owned(), found: Vec::new() }
    }
}

/// As much of a text as is shown.
pub(super) fn beginning(text: &str) -> &str {
    text.get(..floor_boundary(text, LONGEST)).unwrap_or(text)
}
