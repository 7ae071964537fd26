//! Reports of a run in which nothing was judged, because a version does not load or there is no session: a missing or
//! empty report would look like one without problems.

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde_json::json;

use super::warned::spot;
use super::{github, sarif};
use crate::report::diff::markdown;
use crate::report::{diagnostic, json::line, page, words};
use rulestep_base::diagnostic::{Diagnostic, Severity};

/// Why nothing was judged.
pub struct NoResult<'a> {
    /// The schema of the verb's JSON.
    pub schema: &'static str,
    /// The name of the failed test.
    pub test: &'static str,
    /// The verb.
    pub verb: &'static str,
    /// What happened, in a sentence.
    pub message: &'a str,
    /// The problems of the version, or of the recordings.
    pub diagnostics: &'a [Diagnostic],
    /// The command that does it again.
    pub command: &'a str,
}

/// Writes the report of this format.
pub fn write(format: &str, failed: &NoResult<'_>, out: &mut dyn Write) -> io::Result<()> {
    match format {
        "json" => {
            let diagnostics: Vec<_> = failed.errors().map(diagnostic::json).collect();
            let error = json!({"message": failed.message, "diagnostics": diagnostics});
            line(&json!({"schema": failed.schema, "error": error}), out)
        }
        "junit" => failed.junit(out),
        "sarif" => {
            let whole = sarif::note("error", failed.message, None);
            let notes = failed
                .errors()
                .map(|told| sarif::note("error", &words::line(&told.message), spot(told).as_ref()));
            let notes: Vec<_> = std::iter::once(whole).chain(notes).collect();
            sarif::log(&[], &[], &notes, false, failed.command, out)
        }
        "github" => {
            for told in failed.errors() {
                writeln!(out, "{}", github::of_policy("error", told))?;
            }
            writeln!(out, "::error title=rulestep::{}", github::data(failed.message))
        }
        "html" => page::nothing(failed.message, failed.errors(), failed.command, out),
        "markdown" => {
            writeln!(out, "{}", markdown::MARKER)?;
            writeln!(out, "### rulestep: {}\n", failed.message)?;
            for told in failed.errors() {
                let place =
                    spot(told).map(|spot| format!("{}:{}: ", spot.file, spot.line)).unwrap_or_default();
                writeln!(out, "- {}", markdown::code(&format!("{place}{}", told.message)))?;
            }
            markdown::again(failed.command, out)
        }
        _ => {
            for told in failed.errors() {
                writeln!(out, "{}", diagnostic::text(told, diagnostic::Style::default()))?;
            }
            writeln!(out, "error: {}", words::line(failed.message))
        }
    }
}

impl NoResult<'_> {
    fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|told| told.severity == Severity::Error)
    }

    fn junit(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(self.message);
        let lines = self.errors().map(|told| diagnostic::text(told, diagnostic::Style::default()));
        status.set_description(lines.collect::<Vec<_>>().join("\n"));
        let mut suite = TestSuite::new(self.command);
        suite.add_test_case(TestCase::new(self.test, status));
        let mut report = Report::new(format!("rulestep {}", self.verb));
        report.add_test_suite(suite);
        report.serialize(out).map_err(io::Error::other)
    }
}
