//! Annotations of GitHub Actions: a workflow command a line.
//!
//! Recorded text must not begin a command of its own, so line ends and the signs that end a part are escaped as the runner
//! reads them back.

use std::io::{self, Write};

use super::{Issue, Level, Run, Spot, warned};
use crate::report::counts::incomplete;
use crate::report::words;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::wording::clean::{Marks, show};

/// Annotations that are written: GitHub shows ten of each level a step.
const MOST: usize = 50;

/// Writes an annotation for each issue, and one that sums up.
pub fn write(run: &Run<'_>, out: &mut dyn Write) -> io::Result<()> {
    let issues = &run.gathered.issues;
    for issue in issues.iter().take(MOST) {
        annotation(issue, out)?;
    }
    for told in run.policy.iter().take(MOST) {
        let level = if warned::is_warning(told) { "warning" } else { "notice" };
        writeln!(out, "{}", of_policy(level, told))?;
    }
    let rest = issues.len().saturating_sub(MOST) as u64 + run.gathered.more;
    let mut summary = vec![run.summary.clone()];
    if rest > 0 {
        summary.push(format!("{} not shown here", words::count(rest, "more finding")));
    }
    let incomplete = incomplete(run.told, "read");
    let level = if incomplete.iter().any(|(fails, _)| *fails) { "warning" } else { "notice" };
    summary.extend(incomplete.into_iter().map(|(_, why)| why));
    summary.push(format!("again with: {}", run.command));
    writeln!(out, "::{level} title=rulestep::{}", data(&summary.join("\n")))
}

/// An annotation at the place in a policy that a diagnostic names.
pub fn of_policy(level: &str, told: &Diagnostic) -> String {
    let mut parts = Vec::new();
    if let Some(spot) = warned::spot(told) {
        parts.push(format!("file={}", property(super::sarif::path(&spot.file))));
        if spot.line > 0 {
            parts.push(format!("line={}", spot.line));
        }
    }
    parts.push(format!("title={}", property(&told.code.to_string())));
    format!("::{level} {}::{}", parts.join(","), data(&warned::said(told)))
}

fn annotation(issue: &Issue, out: &mut dyn Write) -> io::Result<()> {
    let level = match issue.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "notice",
    };
    // A recording is seldom part of the repository; the rule is.
    let mut parts = Vec::new();
    if let Some(spot) = issue.policy.as_ref().or(issue.recording.as_ref()) {
        parts.push(format!("file={}", property(super::sarif::path(&spot.file))));
        let numbers = [("line", spot.line), ("col", spot.column)].into_iter();
        parts.extend(numbers.filter(|(_, at)| *at > 0).map(|(name, at)| format!("{name}={at}")));
    }
    parts.push(format!("title={}", property(&issue.title)));
    let recorded = match &issue.recording {
        None => String::new(),
        Some(Spot { file, line: 0, .. }) => format!(", {file}"),
        Some(Spot { file, line, .. }) => format!(", {file}:{line}"),
    };
    let message = format!("{}\n{}{recorded}", issue.message, issue.place);
    writeln!(out, "::{level} {}::{}", parts.join(","), data(&message))
}

/// Text of an annotation, as the runner reads it back: line ends are encoded, and what else would steer a terminal that shows
/// the log is a mark.
pub fn data(text: &str) -> String {
    let ends = |c: char| c == '\r' || c == '\n';
    let parts = text.split_inclusive(ends).map(|part| {
        let line = part.trim_end_matches(ends);
        let end = part.get(line.len()..).unwrap_or_default();
        let line = show(line, Marks::Unicode).text().replace('%', "%25");
        line + &end.replace('\r', "%0D").replace('\n', "%0A")
    });
    parts.collect()
}

/// Text of a property, which a colon or a comma would end.
pub fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_part_is_escaped() {
        assert_eq!(data("50%\r\n::error::x"), "50%25%0D%0A::error::x");
        assert_eq!(property("a,b: c%\n"), "a%2Cb%3A c%25%0A");
        assert_eq!(data("a\u{1b}[31m\u{1}b"), "a␛[31m␁b");
    }
}
