//! Problems of a policy or a recording: one type, many renderers.
//!
//! A diagnostic has a code of the one table ([`code`]), a severity, a message and labelled places. How it looks is up
//! to each renderer.

use std::sync::Arc;

use crate::source::{Position, Problem, ProblemKind, Source, Span};

pub mod code;
mod fix;

pub use code::{Code, Page, PageKind};
pub use fix::Fix;

/// One problem, warning or notice for a person to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code, for `rulestep explain` and for scripts.
    pub code: Code,
    /// Severity.
    pub severity: Severity,
    /// The problem: one line of lower case, user text in backticks.
    pub message: String,
    /// The places; the primary one comes first, if there is any place at all.
    pub labels: Vec<Label>,
    /// How to fix it.
    pub help: Option<String>,
    /// The same as edits of the text, if they can be made without asking.
    pub fix: Option<Box<Fix>>,
    /// Whether a part of a recording was dropped, and whether it may have held calls.
    pub loss: Option<Loss>,
}

/// A dropped part of a recording. A value, not a phrase in a message, because exit codes depend on it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// No call can have been in it.
    Harmless,
    /// A call may have been in it, or may have been different: the decisions about the rest are not the whole answer.
    MayHoldCalls,
}

/// Severity of a diagnostic.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Notice,
    /// Probably a mistake.
    Warning,
    /// Cannot be used as it is.
    Error,
}

/// A place that a diagnostic refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub place: Place,
    /// A note on the place.
    pub message: Option<String>,
    /// Whether this is the subject of the diagnostic, not only a related place.
    pub primary: bool,
}

/// A part of a text in memory, or a place in a file whose text is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A part of a text.
    Text {
        /// The text.
        source: Source,
        /// The part.
        span: Span,
    },
    /// A file as a whole.
    File {
        /// Its name, as shown.
        file: Arc<str>,
    },
    /// A line of a file whose text is not kept, and the byte in the line (from 1) if it is known.
    Line {
        /// The file's name, as shown.
        file: Arc<str>,
        /// The line, from 1.
        line: u64,
        /// The byte within the line, from 1.
        byte: Option<u64>,
    },
}

impl Diagnostic {
    /// Without a place.
    pub fn new(code: Code, severity: Severity, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity,
            message: message.into(),
            labels: Vec::new(),
            help: None,
            fix: None,
            loss: None,
        }
    }

    /// An error, without a place.
    pub fn error(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Severity::Error, message)
    }

    /// A warning, without a place.
    pub fn warning(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Severity::Warning, message)
    }

    /// A notice, without a place.
    pub fn notice(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Severity::Notice, message)
    }

    /// A dropped part of a recording: a warning if it may have held calls, else a notice.
    pub fn lost(code: Code, loss: Loss, message: impl Into<String>) -> Diagnostic {
        let severity = match loss {
            Loss::Harmless => Severity::Notice,
            Loss::MayHoldCalls => Severity::Warning,
        };
        Diagnostic { loss: Some(loss), ..Diagnostic::new(code, severity, message) }
    }

    /// A problem of a document, as an error.
    pub fn from_problem(problem: Problem, source: &Source) -> Diagnostic {
        let mut diagnostic =
            Diagnostic::error(Code::of(problem.kind), problem.message).at(source, problem.span);
        if let Some((span, message)) = problem.related {
            diagnostic = diagnostic.related(source, span, message);
        }
        diagnostic.help = problem.help;
        diagnostic
    }

    /// With another severity.
    pub fn severity(mut self, severity: Severity) -> Diagnostic {
        self.severity = severity;
        self
    }

    /// About a part of a text.
    pub fn at(self, source: &Source, span: Span) -> Diagnostic {
        self.primary(Place::Text { source: source.clone(), span })
    }

    /// About a file.
    pub fn in_file(self, file: impl Into<Arc<str>>) -> Diagnostic {
        self.primary(Place::File { file: file.into() })
    }

    /// About a line of a file, from 1.
    pub fn on_line(self, file: impl Into<Arc<str>>, line: u64) -> Diagnostic {
        self.primary(Place::Line { file: file.into(), line, byte: None })
    }

    /// Adds a place as the primary one.
    pub fn primary(mut self, place: Place) -> Diagnostic {
        self.labels.push(Label { place, message: None, primary: true });
        self
    }

    /// Adds a note to the primary place.
    pub fn label(mut self, message: impl Into<String>) -> Diagnostic {
        if let Some(label) = self.labels.iter_mut().rfind(|label| label.primary) {
            label.message = Some(message.into());
        }
        self
    }

    /// Adds a related place.
    pub fn related(mut self, source: &Source, span: Span, message: impl Into<String>) -> Diagnostic {
        let place = Place::Text { source: source.clone(), span };
        self.labels.push(Label { place, message: Some(message.into()), primary: false });
        self
    }

    /// Adds how to fix it.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Adds edits that fix it, if there are any.
    pub fn fix(mut self, fix: Option<Fix>) -> Diagnostic {
        self.fix = fix.map(Box::new);
        self
    }

    /// Whether calls of the recording may be missing or different because of it.
    pub fn may_lose_calls(&self) -> bool {
        self.loss == Some(Loss::MayHoldCalls)
    }

    /// The primary place.
    pub fn place(&self) -> Option<&Place> {
        self.labels.iter().find(|label| label.primary).map(|label| &label.place)
    }
}

impl Place {
    /// The file's name, as shown.
    pub fn file(&self) -> &str {
        match self {
            Place::Text { source, .. } => source.name(),
            Place::File { file } | Place::Line { file, .. } => file,
        }
    }

    /// Line and column, if the text is in memory.
    pub fn position(&self) -> Option<Position> {
        match self {
            Place::Text { source, span } => Some(source.position(span.start)),
            Place::File { .. } | Place::Line { .. } => None,
        }
    }

    /// The line, from 1.
    pub fn line(&self) -> Option<u64> {
        match self {
            Place::Line { line, .. } => Some(*line),
            other => other.position().map(|position| u64::from(position.line)),
        }
    }
}

impl Code {
    /// The code of a problem that documents of every dialect can have.
    pub fn of(kind: ProblemKind) -> Code {
        match kind {
            ProblemKind::Syntax => code::SYNTAX,
            ProblemKind::DuplicateKey => code::DUPLICATE_KEY,
            ProblemKind::KeyNotText => code::KEY_NOT_TEXT,
            ProblemKind::BadTag => code::BAD_TAG,
            ProblemKind::BadNumber => code::BAD_NUMBER,
            ProblemKind::BadAlias => code::BAD_ALIAS,
            ProblemKind::TooDeep => code::TOO_DEEP,
            ProblemKind::TooLarge => code::TOO_LARGE,
            ProblemKind::UnknownKey => code::UNKNOWN_KEY,
            ProblemKind::MissingKey => code::MISSING_KEY,
            ProblemKind::WrongType => code::WRONG_TYPE,
            ProblemKind::BadValue => code::BAD_VALUE,
            ProblemKind::BadPath => code::BAD_PATH,
            ProblemKind::StarInName => code::STAR_IN_NAME,
            ProblemKind::MatchesNothing => code::MATCHES_NOTHING,
        }
    }
}

impl Severity {
    /// The name in output.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Notice => "notice",
        }
    }
}

impl std::fmt::Display for Diagnostic {
    /// One line: `FILE:LINE:COLUMN: error[CODE]: MESSAGE`, for logs of an embedding program.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(place) = self.place() {
            f.write_str(place.file())?;
            match (place.position(), place.line()) {
                (Some(position), _) => write!(f, ":{position}")?,
                (None, Some(line)) => write!(f, ":{line}")?,
                (None, None) => {}
            }
            f.write_str(": ")?;
        }
        write!(f, "{}[{}]: {}", self.severity.name(), self.code, self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_becomes_an_error_at_both_places() {
        let source = Source::new("a.yaml", "a: 1\na: 2\n");
        let problem = crate::source::parse(&source).problems.remove(0);
        let diagnostic = Diagnostic::from_problem(problem, &source);
        assert_eq!(diagnostic.to_string(), "a.yaml:2:1: error[duplicate_key]: the key `a` is given twice");
        let related = diagnostic.labels.last().unwrap();
        assert_eq!((related.primary, related.place.line()), (false, Some(1)));
    }

    #[test]
    fn places_without_a_text_are_told_by_file_and_line() {
        let damaged = Diagnostic::warning(code::DAMAGED_LINE, "not JSON").on_line("log.jsonl", 3);
        assert_eq!(damaged.to_string(), "log.jsonl:3: warning[damaged_line]: not JSON");
        let missing = Diagnostic::error(code::MISSING_FILE, "no such file").in_file("x");
        assert_eq!(missing.to_string(), "x: error[missing_file]: no such file");
        assert_eq!(Diagnostic::notice(code::SYNTAX, "m").to_string(), "notice[syntax]: m");
    }
}
