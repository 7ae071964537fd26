//! A replay for a build server and for a pull request.

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{Case, Issue, Run, unread, warned};
use crate::report::counts::incomplete_markdown;
use crate::report::diff::markdown::{LIMIT, MARKER, again, code};
use crate::report::words;
use rulestep_base::diagnostic::Diagnostic;

/// Issues in the table that are not folded.
const OPEN: usize = 10;

/// Writes a test case a session, failed where a rule was broken, and one for each recording that was not read whole.
pub fn junit(run: &Run<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut suite = TestSuite::new(run.command);
    suite.add_test_cases(run.gathered.cases.iter().map(test));
    suite.add_test_cases(unread::tests(run.told));
    suite.add_test_cases(warned::tests(run.policy));
    let mut report = Report::new("rulestep replay");
    report.add_test_suite(suite);
    report.serialize(out).map_err(io::Error::other)
}

fn test(case: &Case) -> TestCase {
    let status = match case.lines.first() {
        None => TestCaseStatus::success(),
        Some(_) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_type("finding");
            status.set_message(words::count(case.count, "finding"));
            status.set_description(case.lines.join("\n"));
            status
        }
    };
    let mut test = TestCase::new(case.session.as_str(), status);
    test.set_classname(case.file.as_str());
    test
}

/// Writes the sums, then the findings, as many as a comment takes.
pub fn markdown(run: &Run<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{MARKER}")?;
    writeln!(out, "### rulestep: {}\n", run.summary)?;
    for line in incomplete_markdown(run.told, "judged") {
        writeln!(out, "{line}\n")?;
    }
    policy(run.policy, out)?;
    let rows: Vec<String> = run.gathered.issues.iter().map(row).collect();
    let mut room = LIMIT.saturating_sub(4096);
    let fitting = rows.iter().take_while(|row| match room.checked_sub(row.len()) {
        Some(rest) => {
            room = rest;
            true
        }
        None => false,
    });
    let fitting = fitting.count();
    let head = "| finding | rule | where |\n|---|---|---|";
    let (open, folded) = rows.get(..fitting).unwrap_or_default().split_at(OPEN.min(fitting));
    if !open.is_empty() {
        writeln!(out, "{head}\n{}", open.concat())?;
    }
    if !folded.is_empty() {
        let counted = words::count(folded.len() as u64, "more finding");
        writeln!(out, "<details><summary>{counted}</summary>\n\n{head}\n{}\n</details>\n", folded.concat())?;
    }
    let rest = (rows.len() - fitting) as u64 + run.gathered.more;
    if rest > 0 {
        writeln!(out, "{} not shown here\n", words::count(rest, "more finding"))?;
    }
    again(run.command, out)
}

/// Writes what there is to say against the policy.
pub fn policy(told: &[Diagnostic], out: &mut dyn Write) -> io::Result<()> {
    for (place, line) in warned::lines(told).enumerate() {
        if place == 0 {
            writeln!(out, "The policy decides, but:\n")?;
        }
        writeln!(out, "{line}")?;
    }
    if told.is_empty() { Ok(()) } else { writeln!(out) }
}

fn row(issue: &Issue) -> String {
    let place = issue.policy.as_ref().map(|spot| format!("{}:{}", spot.file, spot.line)).unwrap_or_default();
    // Some calls are stopped although no rule can be asked about them.
    let rule = issue.rule.as_ref().map(|(_, name)| format!("{}<br>{}", code(name), code(&place)));
    format!(
        "| {}<br>{} {} | {} | {}<br>{} |\n",
        code(&issue.title),
        code(&issue.code),
        code(&issue.message),
        rule.unwrap_or_default(),
        code(&issue.place),
        code(issue.recording.as_ref().map_or("", |spot| &spot.file)),
    )
}
