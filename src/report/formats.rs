//! What a report of counts is written as: data, or a document.

use std::io::{self, Write};

use super::doc::{Doc, html, markdown, text};
use super::paint::Paint;

/// What is counted of recordings.
pub trait Report {
    /// What its JSON is, in a line.
    const JSON: &'static str = "One JSON object";

    /// Everything that people read.
    fn doc(&self) -> Doc;

    /// Writes the JSON and a line feed.
    ///
    /// # Errors
    /// What `out` has.
    fn json(&self, out: &mut dyn Write) -> io::Result<()>;

    /// Whether text may be coloured.
    fn color(&self) -> bool;
}

/// Writes a report.
type Writer<R> = fn(&R, &mut dyn Write) -> io::Result<()>;

/// The formats: name, what it is in a line, and how it is written.
fn table<R: Report>() -> [(&'static str, &'static str, Writer<R>); 4] {
    [
        ("text", "Text for people", |report, out| {
            text::write(&report.doc(), Paint { color: report.color() }, out)
        }),
        ("json", R::JSON, R::json),
        ("markdown", "Markdown for a pull request", |report, out| markdown::write(&report.doc(), out)),
        ("html", "HTML page", |report, out| html::write(&report.doc(), out)),
    ]
}

/// What `--format` takes, each with what it is in a line; the first is the default.
pub fn formats<R: Report>() -> impl Iterator<Item = (&'static str, &'static str)> {
    table::<R>().into_iter().map(|(name, title, _)| (name, title))
}

/// Writes a report in one of the formats.
///
/// # Errors
/// There is no such format, and what `out` has.
pub fn write<R: Report>(report: &R, format: &str, out: &mut dyn Write) -> io::Result<()> {
    let known = table::<R>().into_iter().find(|(name, ..)| *name == format);
    let (.., write) = known.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no such format"))?;
    write(report, out)
}
