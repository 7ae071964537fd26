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

/// What `--format` takes, each with what it is in a line; the first is the default.
pub fn formats<R: Report>() -> impl Iterator<Item = (&'static str, &'static str)> {
    [
        ("text", "Text for people"),
        ("json", R::JSON),
        ("markdown", "Markdown for a pull request"),
        ("html", "HTML page"),
    ]
    .into_iter()
}

/// Writes a report in one of the formats.
///
/// # Errors
/// What `out` has.
pub fn write(report: &impl Report, format: &str, out: &mut dyn Write) -> io::Result<()> {
    match format {
        "json" => report.json(out),
        "markdown" => markdown::write(&report.doc(), out),
        "html" => html::write(&report.doc(), out),
        _ => text::write(&report.doc(), Paint { color: report.color() }, out),
    }
}
