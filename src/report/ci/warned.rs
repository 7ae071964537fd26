//! Warnings about a policy that decides all the same: a report without them would look like one without problems.

use quick_junit::{TestCase, TestCaseStatus};

use super::Spot;
use crate::report::diff::markdown::code;
use crate::report::words;
use rulestep_base::diagnostic::{Diagnostic, Severity};

/// The place of a diagnostic, if it has one.
pub fn spot(told: &Diagnostic) -> Option<Spot> {
    let place = told.place()?;
    Some(Spot { file: place.file().to_owned(), line: place.line().unwrap_or_default(), column: 0 })
}

/// A test for each warning. It does not fail the run.
pub fn tests(policy: &[Diagnostic]) -> impl Iterator<Item = TestCase> {
    policy.iter().filter(|told| is_warning(told)).map(|told| {
        let mut status = TestCaseStatus::skipped();
        status.set_type(told.code.to_string());
        status.set_message(said(told));
        let mut test = TestCase::new("the policy has no warning", status);
        let place = spot(told).map(|spot| format!("{}:{}", spot.file, spot.line));
        test.set_classname(place.map_or_else(|| "policy".into(), |place| words::name(&place).into_owned()));
        test
    })
}

/// A line of Markdown for each.
pub fn lines(policy: &[Diagnostic]) -> impl Iterator<Item = String> {
    policy.iter().map(|told| {
        let word = if is_warning(told) { "**warning**" } else { "notice" };
        let place = spot(told).map(|spot| format!(" ({})", code(&format!("{}:{}", spot.file, spot.line))));
        let text = code(&format!("{}: {}", told.code, said(told)));
        format!("- {word} {text}{}", place.unwrap_or_default())
    })
}

/// Whether it is more than a notice.
pub fn is_warning(told: &Diagnostic) -> bool {
    told.severity > Severity::Notice
}

/// Its text, in a line.
pub fn said(told: &Diagnostic) -> String {
    let help = told.help.as_ref().map(|help| format!(": {help}")).unwrap_or_default();
    words::line(&format!("{}{help}", told.message))
}
