//! Problems of a text, before it is known what kind of document it is.

use super::{Node, Span};

/// The result of reading a source. Both halves may be filled: a text with problems is read as far as possible.
#[derive(Clone, Debug, Default)]
pub struct Parse {
    /// The documents, in the order of the text. None in an empty file.
    pub documents: Vec<Node>,
    /// The problems, in the order in which they were found.
    pub problems: Vec<Problem>,
}

/// A problem at a span of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its kind.
    pub kind: ProblemKind,
    /// Its span.
    pub span: Span,
    /// The problem, in one line of lower case.
    pub message: String,
    /// A related place, and how it is related.
    pub related: Option<(Span, String)>,
    /// How to fix it.
    pub help: Option<String>,
}

/// The kinds of problems that documents of every dialect can have.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// The text is not YAML, or not JSON.
    Syntax,
    /// A mapping has a key twice.
    DuplicateKey,
    /// A key of a mapping is a number, a boolean, a list or the like.
    KeyNotText,
    /// A YAML tag that is unknown, or that does not fit its value.
    BadTag,
    /// A number that JSON does not have: infinite, not a number, or beyond 128 bits in base 8 or 16.
    BadNumber,
    /// An alias without an anchor, or within its own anchor.
    BadAlias,
    /// Nested too deep.
    TooDeep,
    /// Too many nodes, aliases counted with their content.
    TooLarge,
    /// A key that is not known here.
    UnknownKey,
    /// A required key that is missing.
    MissingKey,
    /// A value of another type than expected.
    WrongType,
    /// A value of the right type that is not allowed here.
    BadValue,
    /// A JSONPath that cannot be read, or is not of the kind expected here.
    BadPath,
    /// A wildcard in a name that is compared letter by letter.
    StarInName,
    /// A text that no call can match.
    MatchesNothing,
}

impl Problem {
    /// A problem without a related place and without help.
    pub fn new(kind: ProblemKind, span: Span, message: impl Into<String>) -> Problem {
        Problem { kind, span, message: message.into(), related: None, help: None }
    }

    /// Adds a related place.
    pub fn related(mut self, span: Span, message: impl Into<String>) -> Problem {
        self.related = Some((span, message.into()));
        self
    }

    /// Adds how to fix it.
    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }
}

/// User text for a message: in backticks, cut if it is long.
pub fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("`{}…`", text.get(..cut).unwrap_or_default()),
        None => format!("`{text}`"),
    }
}
