//! How a program runs another one, as a row defines it.

use serde::{Deserialize, Serialize};

/// How a program runs another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// How the program is named.
    pub inner: Inner,
    /// Number of operands before it.
    pub skip: usize,
    /// Whether it runs on another machine.
    pub elsewhere: bool,
    /// When its success is not that of the program it runs.
    pub apart: Option<Apart>,
    /// Whether more words come from standard input.
    pub more: bool,
    /// Whether `{}` in its words represents a found file, which comes last if there is none.
    pub fills: bool,
    /// Whether other ways hold as well.
    pub besides: bool,
    /// Whether a version may be joined to the program: `eslint@9`.
    pub versioned: bool,
    /// With one of these options nothing is run.
    pub unless: Vec<String>,
    /// If no program is named, a shell reads standard input.
    pub shell: Shell,
}

/// When a shell is run where no program is named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shell {
    /// Never.
    Never,
    /// Always.
    Always,
    /// With one of these options.
    With(Vec<String>),
}

/// How a program names the one it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Inner {
    /// The words that follow are a program and its arguments.
    Words,
    /// The words after one of these options are, `--` among others.
    After(Vec<String>),
    /// The words that follow are arguments of this program.
    As(String),
    /// They are joined and read by a shell.
    Script,
    /// The values of these options are read by a shell; of `-o@Key`, the text after `Key=` in the value.
    Value(Vec<String>),
    /// The value of one of these options is read by a shell; without it the words are a program.
    ValueOrWords(Vec<String>),
    /// The value of one of these options is the beginning of a script, which the following words continue; without it
    /// they are a program.
    ValueAndWords(Vec<String>),
    /// The value of one of these options is a program, and the words that follow are its arguments.
    Entry(Vec<String>),
    /// The operands are each read by a shell.
    First,
    /// A shell reads its standard input.
    Input,
    /// Each word after a bar is read by a shell.
    Piped,
    /// They are typed into a shell, `Enter` and `Space` by name.
    Keys,
}

/// A program that succeeds although the program it runs has not: it does not wait for it, or ignores its status.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Apart {
    /// With one of these options; if none is named, always.
    pub with: Vec<String>,
    /// But not with one of these.
    pub without: Vec<String>,
}
