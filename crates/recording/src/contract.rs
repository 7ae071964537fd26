//! What a format is: a row of the table, and a reader that gets the values of a file one after the other and makes sessions
//! of them. At most one value of the file, and the sessions it makes, are in memory at once.

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
    /// What its files are, as a noun phrase.
    pub title: &'static str,
    /// Where its files are, or how they are made.
    pub source: &'static str,
    /// Whether a file of it that has calls and no result is one that does not record results.
    pub(crate) absent_without_results: bool,
    /// Whether results say how their calls ended, or may. Where they do not, this is said of a single one, and not only of many.
    pub(crate) marks_failures: bool,
    /// Whether the beginning of a file is one.
    pub(crate) recognise: fn(&Sample<'_>) -> bool,
    /// A new reader for one file.
    pub(crate) reader: fn(&Setting) -> Box<dyn Reader>,
}

/// Opens the same input once more, from its beginning.
pub type Again = Arc<dyn Fn() -> io::Result<Box<dyn BufRead + Send>> + Send + Sync>;

/// Gives [`digests`](crate::call_digest) of the calls of the session with this id, if there is one.
pub type Others = Arc<dyn Fn(&str) -> Option<Arc<HashSet<u64>>> + Send + Sync>;

/// How to read.
#[derive(Clone, Default)]
pub struct Options {
    /// The format, where it is not to be recognised.
    pub format: Option<&'static Format>,
    /// For results that bear no mark of their own.
    pub error: Option<ErrorTest>,
    /// For refusals that are neither marked nor published, whatever else their results are marked as.
    pub refused: Option<refusal::Test>,
    /// Only marks say that calls were refused, and never a text, which any tool may have printed: calls are decided by what is read, and
    /// those who decide know better what they stopped.
    pub marks_alone: bool,
    /// It is a part that somebody chose of a session, as in a case: a result whose call is not in it is no loss.
    pub excerpt: bool,
    /// The file is still being written: its end proves nothing, and an unfinished last value is no damage.
    pub following: bool,
    /// Whether each session is to come with its place in the input, where it can be read there again by itself.
    pub places: bool,
    /// How to look ahead in the input, where that is possible: whether a file that begins with many calls and no result
    /// has one later is then known at once. Without it, such calls are `unknown`.
    pub again: Option<Again>,
    /// The files that the input consists of, if it is more than one.
    pub parts: Option<Arc<Parts>>,
    /// How to look up what other sessions did, where that is possible: of a fork, which calls it copied.
    pub others: Option<Others>,
}

/// A format's own part: makes sessions of one file's values.
pub trait Reader: Send {
    /// The next value.
    fn unit(&mut self, unit: &Unit<'_>, out: &mut Out);

    /// Which objects are sessions by themselves, whatever is before and after them, where some are. Each may be given to a
    /// reader of its own, which then makes of it what this one would.
    fn apart(&self) -> Option<fn(&Members<'_>) -> bool> {
        None
    }

    /// Such an object follows, and another reader reads it.
    fn before_apart(&mut self, _out: &mut Out) {}

    /// Something stood here that is no value.
    fn damaged(&mut self, diagnostic: Diagnostic, out: &mut Out) {
        out.diagnostic(diagnostic);
    }

    /// The file's end.
    fn end(&mut self, _out: &mut Out) {}
}
