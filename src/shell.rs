//! What a shell command does: a command line as a row of small calls, and what each of them reads, writes, deletes and reaches.
//!
//! A maintained parser reads the line; nothing here follows the shell's grammar by itself. Where the shell alone knows a word,
//! an answer that depends on it is *perhaps*, with the word. Pure functions of their input; every cost is bounded by its length.

mod above;
mod act;
pub mod action;
mod addresses;
mod assignments;
mod bail;
mod builtin;
pub mod call;
mod choose;
pub mod conditions;
mod constants;
mod effects;
mod expand;
mod extent;
pub mod facts;
pub mod given;
pub mod glob;
mod guard;
mod host;
mod idle;
pub mod matcher;
mod named;
pub mod options;
mod patch;
pub mod path;
mod prompt;
pub mod question;
pub mod reading;
mod scene;
mod search;
mod settings;
mod simple;
mod special;
pub mod spelling;
pub mod tool;
mod unlisted;
mod unwrap;
mod url_glob;
mod variables;
mod walk;
mod walker;
pub mod word;
mod wrap;

pub use call::{Act, Extent, Host, Line, SmallCall, Touch};
pub use constants::{Environment, Variable};
pub use matcher::Matcher;
pub use path::{Patterns, Place, Root};
pub use question::Question;
pub use walk::{read, read_in, read_words};
pub use word::{Piece, Word};

/// An answer about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It certainly does.
    Yes,
    /// It certainly does not.
    No,
    /// It depends on this word, which is not known.
    Perhaps(String),
}

impl Answer {
    /// Both must hold.
    pub fn and(self, other: impl FnOnce() -> Answer) -> Answer {
        match self {
            Answer::No => Answer::No,
            Answer::Yes => other(),
            Answer::Perhaps(word) => match other() {
                Answer::No => Answer::No,
                _ => Answer::Perhaps(word),
            },
        }
    }

    /// One of them must hold.
    pub fn or(self, other: impl FnOnce() -> Answer) -> Answer {
        match self {
            Answer::Yes => Answer::Yes,
            Answer::No => other(),
            Answer::Perhaps(word) => match other() {
                Answer::Yes => Answer::Yes,
                _ => Answer::Perhaps(word),
            },
        }
    }

    /// One of many must hold.
    pub fn any(answers: impl IntoIterator<Item = Answer>) -> Answer {
        let mut found = Answer::No;
        for answer in answers {
            if answer == Answer::Yes {
                return answer;
            }
            found = found.or(|| answer);
        }
        found
    }
}
