//! The contract of a format: a row of the table, and a reader that gets the values of a file one by one and makes
//! sessions of them. At most one value of the file, and the sessions it makes, are in memory at once.

use std::collections::HashSet;
use std::io::{self, BufRead};
use std::sync::Arc;

use out::Out;
use parts::Parts;
pub use setting::ErrorTest;
use setting::Setting;
pub use unit::{Sample, Unit};

use crate::input::shallow::Members;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::refusal;

pub mod line;
pub mod out;
pub mod parts;
pub mod setting;
pub mod unit;

/// A kind of recording.
pub struct Format {
    /// Name for `--from` and for the output.
    pub name: &'static str,
    /// Title of its files, as a noun phrase.
    pub title: &'static str,
    /// Where its files are stored, or how they are made.
    pub source: &'static str,
    /// Whether a file with calls and no result does not record results at all.
    pub(crate) absent_without_results: bool,
    /// Whether results usually say how their calls ended. If not, even a single unmarked result is reported, not only
    /// many.
    pub(crate) marks_failures: bool,
    /// Whether the beginning of a file is one.
    pub(crate) recognise: fn(&Sample<'_>) -> bool,
    /// A new reader for one file.
    pub(crate) reader: fn(&Setting) -> Box<dyn Reader>,
}

/// Opens the same input again, from its beginning.
pub type Again = Arc<dyn Fn() -> io::Result<Box<dyn BufRead + Send>> + Send + Sync>;

/// The [`digests`](crate::call_digest) of the calls of the session with this id, if it is found.
pub type Others = Arc<dyn Fn(&str) -> Option<Arc<HashSet<u64>>> + Send + Sync>;

/// Options for reading.
#[derive(Clone, Default)]
pub struct Options {
    /// The format, if it is given instead of recognised.
    pub format: Option<&'static Format>,
    /// For results that bear no mark of their own.
    pub error: Option<ErrorTest>,
    /// For refusals that are neither marked nor published, whatever else their results are marked as.
    pub refused: Option<refusal::Test>,
    /// Whether calls are refused only by marks, never by a text, which any tool may have printed: the gate decides by
    /// what is read here, and knows itself what it stopped.
    pub marks_alone: bool,
    /// Whether this is an excerpt of a session, as in a case: a result whose call is not in it is no loss.
    pub excerpt: bool,
    /// The file is still being written: its end proves nothing, and an unfinished last value is no damage.
    pub following: bool,
    /// Whether each session comes with its place in the input, if it can be read again from there.
    pub places: bool,
    /// Opens the input again to look ahead, if that is possible: whether a file that begins with many calls and no
    /// result has one later is then known at once. Without it, such calls are `unknown`.
    pub again: Option<Again>,
    /// The files that the input consists of, if it is more than one.
    pub parts: Option<Arc<Parts>>,
    /// Looks up the calls of other sessions, if that is possible: it shows which calls a fork copied.
    pub others: Option<Others>,
}

/// A format's own part: makes sessions of one file's values.
pub trait Reader: Send {
    /// The next value.
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out);

    /// Which objects are sessions of their own, whatever precedes and follows them. Each may be given to a separate
    /// reader with the same result.
    fn apart(&self) -> Option<fn(&Members<'_>) -> bool> {
        None
    }

    /// Such an object follows, and another reader reads it.
    fn before_apart(&mut self, _out: &mut Out) {}

    /// A part of the file that is not a value.
    fn damaged(&mut self, diagnostic: Diagnostic, out: &mut Out) {
        out.diagnostic(diagnostic);
    }

    /// The file's end.
    fn end(&mut self, _out: &mut Out) {}
}
