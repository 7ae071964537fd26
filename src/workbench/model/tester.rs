//! An expression that is tried on what is selected.

use crate::tester::{Answer, Language, Subject};
use crate::workbench::list::List;

/// An expression, and its result.
pub struct TesterView {
    /// The typed expression.
    pub expression: Expression,
    /// The input.
    pub subject: Subject,
    /// The same in words: `T2.1 issue_refund result`.
    pub of: String,
    /// The latest request, with its expression.
    pub asked: Option<(u64, Expression)>,
    /// The result of a request.
    pub answer: Option<(u64, Answer)>,
    /// The cursor.
    pub list: List,
}

/// Text in a language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    /// The language.
    pub language: Language,
    /// The text.
    pub text: String,
}

impl TesterView {
    /// The result of the current text.
    pub fn answer(&self) -> Option<&Answer> {
        let (asked, _) = self.asked.as_ref()?;
        self.answer.as_ref().filter(|(number, _)| number == asked).map(|(_, answer)| answer)
    }
}
