//! A command line as a row of small calls.

use std::ops::Range;
use std::sync::Arc;

pub use super::act::Act;
use super::constants::Environment;
pub use super::extent::Extent;
use super::path::Place;
use super::word::Word;

/// A command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// Its calls, in order.
    pub calls: Vec<SmallCall>,
    /// Why it could not be read to its end. There is then a call of which nothing is known.
    pub problem: Option<String>,
}

/// One program with its arguments, or redirections alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SmallCall {
    /// The program, without its folder; empty for redirections alone.
    pub program: Word,
    /// The folder that is written before its name; `None` if the shell searches for it.
    pub from: Option<Word>,
    /// Its arguments.
    pub args: Vec<Word>,
    /// The variables that the line sets for it.
    pub env: Option<Arc<Environment>>,
    /// The folder in which it runs.
    pub folder: Word,
    /// The absolute path of the folder in which the session began.
    pub session: Option<Arc<str>>,
    /// The absolute path of the home folder, if it is known.
    pub home: Option<Arc<str>>,
    /// The folders in which it runs instead if a `cd` before it has failed.
    pub instead: Vec<Word>,
    /// The files it works on.
    pub touches: Vec<Touch>,
    /// Files that it may work on: an unknown tool names them, a `cd` before it may have failed, or the line does not
    /// say what is in a folder.
    pub mentions: Vec<Touch>,
    /// The hosts it connects to.
    pub reaches: Vec<Host>,
    /// A word that could make it do anything.
    pub unclear: Option<String>,
    /// A word that decides whether it runs at all.
    pub doubt: Option<String>,
    /// Whether its effects are defined elsewhere: in a file, in another language.
    pub opaque: bool,
    /// Whether it runs on another machine or in a container.
    pub elsewhere: bool,
    /// Whether the success of the whole line is also its own.
    pub proven: bool,
    /// The outermost list whose success is also its own, as the number of lists around it; 0 is the whole line.
    pub proof: usize,
    /// The calls of the line that are known to have succeeded when this one starts: `a` of `a && b`.
    pub after: Vec<usize>,
    /// Calls of one number run at once.
    pub pipeline: usize,
    /// Whether it runs on in the background while those after it run.
    pub background: bool,
    /// The outermost loop around it, from 1; 0 is none.
    pub looped: usize,
    /// Whether it runs on a system that compares names of programs without case.
    pub folds: bool,
    /// The part of the line it comes from, in characters.
    pub at: Range<usize>,
}

/// A file that a call works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    /// The action.
    pub act: Act,
    /// The file.
    pub place: Place,
    /// How much of it is affected.
    pub extent: Extent,
}

impl Touch {
    /// How much of it a question is about: what is deleted with its content may hold anything.
    pub fn reach(&self) -> Extent {
        match (self.act, self.extent) {
            (Act::Deletes, Extent::Below) => Extent::Whole,
            (_, extent) => extent,
        }
    }

    /// The path, with `*` or `**` for anything in a folder, or below it.
    pub fn shown(&self) -> String {
        let path = self.place.shown();
        match self.extent {
            Extent::Inside => format!("{}/*", path.trim_end_matches('/')),
            Extent::Within | Extent::WithinIfFolder => format!("{}/**", path.trim_end_matches('/')),
            _ => path.to_owned(),
        }
    }
}

/// A host that a call connects to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Host {
    /// Its name, possibly with gaps.
    Named(Word),
    /// One that the line does not name, and that is not this machine.
    Elsewhere(String),
    /// An unknown one, possibly this machine.
    Unknown(String),
}

impl std::fmt::Display for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Host::Named(word) => word.fmt(f),
            Host::Elsewhere(name) | Host::Unknown(name) => f.write_str(name),
        }
    }
}

/// As a line: words with blanks in backquotes.
impl std::fmt::Display for SmallCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.unclear.is_some() {
            return write!(f, "{} (not known)", self.program);
        }
        if self.program.known() == Some("") {
            return f.write_str("(redirection)");
        }
        for (at, word) in std::iter::once(&self.program).chain(&self.args).enumerate() {
            let text = word.to_string();
            let plain = !text.is_empty() && !text.contains([' ', '\n', '\t', '\'', '"', ';', '|', '&']);
            let blank = if at == 0 { "" } else { " " };
            if plain { write!(f, "{blank}{text}") } else { write!(f, "{blank}`{text}`") }?;
        }
        Ok(())
    }
}

impl SmallCall {
    /// The files that it works on, each with whether that is certain.
    pub fn files(&self) -> impl Iterator<Item = (&Touch, bool)> {
        self.touches.iter().map(|touch| (touch, true)).chain(self.mentions.iter().map(|touch| (touch, false)))
    }

    /// Whether both run at once, or again and again: then each may come before the other.
    pub fn is_with(&self, other: &SmallCall) -> bool {
        self.pipeline == other.pipeline
            || self.looped > 0 && self.looped == other.looped
            || self.runs_on(other)
            || other.runs_on(self)
    }

    /// Whether it is in the background, and perhaps still runs when another one does.
    pub fn runs_on(&self, other: &SmallCall) -> bool {
        self.background && self.pipeline < other.pipeline
    }
}
