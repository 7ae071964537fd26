//! What a format is: a row of the table, and a reader that gets the values of a file one after the other and makes sessions
//! of them. At most one value of the file, and the sessions it makes, are in memory at once.

use std::io::{self, BufRead};
use std::sync::Arc;

use out::Out;
use setting::Setting;

use crate::diagnostic::Diagnostic;
use crate::recording::input::shallow::{self, Members, Node};
use crate::session::refusal;

pub mod out;
pub mod setting;

/// A kind of recording.
pub struct Format {
    /// Name for `--from` and for the output.
    pub name: &'static str,
    /// Whether a file of it that has calls and no result is one that does not record results.
    pub(crate) absent_without_results: bool,
    /// Whether the beginning of a file is one.
    pub(crate) recognise: fn(&Sample<'_>) -> bool,
    /// A new reader for one file.
    pub(crate) reader: fn(&Setting) -> Box<dyn Reader>,
}

/// Tells by its text whether a result is a failure.
pub type ErrorTest = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Opens the same input once more, from its beginning.
pub type Again = Arc<dyn Fn() -> io::Result<Box<dyn BufRead + Send>> + Send + Sync>;

/// How to read.
#[derive(Clone, Default)]
pub struct Options {
    /// The format, where it is not to be recognised.
    pub format: Option<&'static Format>,
    /// For results that bear no mark of their own.
    pub error: Option<ErrorTest>,
    /// For refusals that are neither marked nor published, whatever else their results are marked as.
    pub refused: Option<refusal::Test>,
    /// It is a part that somebody chose of a session, as in a case: a result whose call is not in it is no loss.
    pub excerpt: bool,
    /// The file is still being written: its end proves nothing, and an unfinished last value is no damage.
    pub following: bool,
    /// How to look ahead in the input, where that is possible: whether a file that begins with many calls and no result
    /// has one later is then known at once. Without it, such calls are `unknown`.
    pub again: Option<Again>,
}

/// A format's own part: makes sessions of one file's values.
pub trait Reader: Send {
    /// The next value.
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out);

    /// Something stood here that is no value.
    fn damaged(&mut self, diagnostic: Diagnostic, out: &mut Out) {
        out.diagnostic(diagnostic);
    }

    /// The file's end.
    fn end(&mut self, _out: &mut Out) {}
}

/// One value of a file.
pub struct Unit<'a> {
    /// The value.
    pub node: Node<'a>,
    /// The members, where it is an object; else none.
    pub members: Members<'a>,
    /// Line where it begins, from 1.
    pub line: u32,
    /// The list at the top of the file that holds it, from 0.
    pub list: Option<u32>,
    /// What is already known to be wrong with it.
    pub diagnostics: Vec<Diagnostic>,
}

/// The beginning of a file, for recognition.
pub struct Sample<'a> {
    /// What was read, with its members where it is an object.
    pub values: Vec<(Node<'a>, Members<'a>)>,
}

impl<'a> Sample<'a> {
    /// The objects among the first values.
    pub fn objects(&self) -> impl Iterator<Item = &Members<'a>> {
        self.values
            .iter()
            .filter(|(value, _)| value.kind() == shallow::Kind::Object)
            .map(|(_, members)| members)
    }

    /// The lists among the first values.
    pub fn lists(&self) -> impl Iterator<Item = Node<'a>> {
        self.values.iter().map(|(value, _)| *value).filter(|value| value.kind() == shallow::Kind::List)
    }
}
