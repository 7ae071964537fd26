//! Comparisons for a build server: a test case for each session, failed if there are changes that count as failures,
//! and one for each recording that was not read completely.

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::edits;
use super::entry::{self, Entry};
use super::whole::{Case, ChangeGroup, Key};
use super::{DiffResult, View};
use crate::compare::{Kind, Origin, RuleAt};
use crate::report::{ci, words};

/// Writes everything.
pub fn end(whole: &DiffResult, view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let name = format!("{} → {}, {}", words::line(view.base), words::line(view.new), view.mode.word());
    let mut suite = TestSuite::new(name);
    suite.add_test_cases(rules(whole, view));
    suite.add_test_cases(whole.cases.iter().map(test));
    suite.add_test_cases(ci::unread::tests(&whole.told));
    suite.add_test_cases(ci::warned::tests(&view.of_policy()));
    let mut report = Report::new("rulestep diff");
    report.add_test_suite(suite);
    report.serialize(out).map_err(io::Error::other)
}

/// The changes of a kind and a rule, as lines of a test's output.
pub fn lines((kind, rule): Key, gathered: &ChangeGroup, view: &View<'_>) -> Vec<String> {
    let rule = rule.and_then(|rule: RuleAt| entry::about(rule, view.comparison));
    let named =
        |about: entry::About<'_>| format!(": {}  {}", words::rule_name(about.rule.1), about.rule.1.place());
    let mut lines = vec![format!("{}{}", entry::title(kind), rule.map(named).unwrap_or_default())];
    let most = view.most();
    lines.extend(gathered.shown(most).map(line));
    match gathered.rest(most) {
        0 => {}
        rest => lines.push(format!("  and {} more", words::thousands(rest))),
    }
    lines
}

/// A test case for the rules, if some of them changed.
fn rules(whole: &DiffResult, view: &View<'_>) -> Option<TestCase> {
    let summary = edits::summary(view.comparison)?;
    let edits = edits::all(whole, view);
    let mut lines = Vec::new();
    for edit in &edits {
        lines.push(format!("{}: {}  {}", entry::title(edit.kind), edit.name, edit.place));
        let more = edit.keys.iter().chain(&edit.idle).cloned().chain(edit.signed());
        lines.extend(more.map(|line| format!("    {line}")));
    }
    let failing = edits.iter().find(|edit| view.fails.contains(&edit.kind));
    let status = match failing {
        None => TestCaseStatus::success(),
        Some(edit) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_type(edit.kind.word());
            status.set_message(summary);
            status.set_description(lines.join("\n"));
            status
        }
    };
    let mut test = TestCase::new("the rules of both versions", status);
    test.set_classname("policy");
    if failing.is_none() {
        test.set_system_out(lines.join("\n"));
    }
    Some(test)
}

fn line(entry: &Entry) -> String {
    let mut line = format!("  {}", entry.at);
    for part in [entry.subject().unwrap_or_default(), &format!("{} → {}", entry.base.word, entry.new.word)]
    {
        if !part.is_empty() {
            line.push_str("  ");
            line.push_str(part);
        }
    }
    if entry.origin == Origin::Downstream {
        line.push_str("  downstream");
    }
    if entry.counterfactual {
        line.push_str("  counterfactual");
    }
    if entry.inferred {
        line.push_str("  inferred");
    }
    for (label, said) in [("base", &entry.base), ("new", &entry.new)] {
        if let Some(why) = &said.why {
            let code = said.code.map(|code| format!("{code}: ")).unwrap_or_default();
            line.push_str(&format!("\n    {label}: {code}{why}"));
        }
    }
    line
}

fn test(case: &Case) -> TestCase {
    let counted =
        |(kind, count): &(Kind, u64)| format!("{}: {}", entry::title(*kind), words::thousands(*count));
    let status = match case.failing.first() {
        None if !case.is_compared => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(entry::UNDECIDED);
            status
        }
        None => TestCaseStatus::success(),
        Some((kind, _)) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_type(kind.word());
            status.set_message(case.failing.iter().map(counted).collect::<Vec<_>>().join(", "));
            status.set_description(case.lines.join("\n"));
            status
        }
    };
    let mut test = TestCase::new(case.session.as_str(), status);
    test.set_classname(case.file.as_str());
    let mut lines = if case.failing.is_empty() { case.lines.clone() } else { Vec::new() };
    lines.extend(entry::uncompared(case.uncompared).filter(|_| case.is_compared));
    if !lines.is_empty() {
        test.set_system_out(lines.join("\n"));
    }
    test
}
