//! An expression that is tried on what is selected.

use crate::tester::{Answer, Language, Subject};
use crate::workbench::list::List;

/// An expression, and what came of it.
pub struct TesterView {
    /// What is typed.
    pub expression: Expression,
    /// What it is tried on.
    pub subject: Subject,
    /// The same in words: `T2.1 issue_refund result`.
    pub of: String,
    /// What was asked last, and in which request.
    pub asked: Option<(u64, Expression)>,
    /// What came of a request.
    pub answer: Option<(u64, Answer)>,
    /// Where in its rows.
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
    /// What came of what is typed now.
    pub fn answer(&self) -> Option<&Answer> {
        let (asked, _) = self.asked.as_ref()?;
        self.answer.as_ref().filter(|(number, _)| number == asked).map(|(_, answer)| answer)
    }
}
