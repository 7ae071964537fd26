//! What a shell command does: a command line as a row of small calls, and what each of them reads, writes, deletes and
//! reaches.
//!
//! What a program does is a row of `facts/NAME.yaml`, read when the crate is built; `walk` goes through a line, `unwrap` and `wrap`
//! through programs that run others, and `effects` collects what is read, written, deleted and reached.
//!
//! A maintained parser reads the line; nothing here parses the shell's grammar. If only the shell knows a word, an
//! answer that depends on it is *perhaps*, with the word. Pure functions of their input; every cost is bounded by its
//! length.

mod above;
mod act;
pub mod action;
mod arguments;
mod assignments;
mod bail;
mod builtin;
pub mod call;
mod choice;
mod choose;
pub mod code;
pub mod conditions;
mod constants;
mod effects;
mod expand;
mod extent;
pub mod facts;
mod find;
mod forms;
pub mod given;
pub mod glob;
mod guard;
mod host;
mod idle;
pub mod matcher;
pub mod options;
mod patch;
pub mod path;
mod prints;
mod prompt;
pub mod question;
pub mod reading;
mod readings;
mod scene;
mod settings;
mod shells;
mod simple;
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
pub use walk::{read, read_in};
pub use word::{Piece, Word};

/// An answer about a call. From "no" to "yes", each is stronger than the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It certainly does.
    Yes,
    /// It certainly does not.
    No,
    /// It searches this folder, and a wanted file may be anywhere in it.
    Sweep(String),
    /// It depends on this word, which is unknown.
    Perhaps(String),
}

impl Answer {
    fn strength(&self) -> u8 {
        match self {
            Answer::No => 0,
            Answer::Sweep(_) => 1,
            Answer::Perhaps(_) => 2,
            Answer::Yes => 3,
        }
    }

    /// The answer to the opposite question.
    pub fn inverse(self) -> Answer {
        match self {
            Answer::Yes => Answer::No,
            Answer::No => Answer::Yes,
            perhaps => perhaps,
        }
    }

    /// Both must hold: the weaker answer.
    pub fn and(self, other: impl FnOnce() -> Answer) -> Answer {
        if self == Answer::No {
            return self;
        }
        let other = other();
        if other.strength() < self.strength() { other } else { self }
    }

    /// One of them must hold: the stronger answer.
    pub fn or(self, other: impl FnOnce() -> Answer) -> Answer {
        if self == Answer::Yes {
            return self;
        }
        let other = other();
        if other.strength() > self.strength() { other } else { self }
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

    /// At most a doubt about this word, if so.
    pub fn at_most_if(self, doubted: bool, word: impl FnOnce() -> String) -> Answer {
        if doubted && self == Answer::Yes { Answer::Perhaps(word()) } else { self }
    }
}

impl From<bool> for Answer {
    fn from(holds: bool) -> Answer {
        if holds { Answer::Yes } else { Answer::No }
    }
}
