//! Documents of sequence rules: policy documents, and suites of tests whose expectations hold rules.
//!
//! [`holders`] alone decides which parts are about sequences, so that reading, migrating and the search for named files
//! agree.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::reading::{Aliases, Reading};
use super::{lint, policy_file};
use crate::dialect::sequence_rules::codes;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::source::nearest::nearest;
use rulestep_base::source::{Field, Fields, Node, Problem, ProblemKind, quoted};

/// The metric, and the type of expectation, of tests that hold sequence rules.
const METRIC: &str = "sequence_valid";
/// Keys of tests that say nothing about sequences.
const OF_TESTS: &[&str] =
    &["description", "input", "tags", "metadata", "on_error", "thresholding", "settings"];
/// Keys of expectations that say nothing about sequences.
const OF_EXPECTATIONS: &[&str] = &["type", "description", "on_error"];
/// Keys with which an assertion has calls of its own: it is then not about the recording.
const OWN_CALLS: &[&str] = &["test_trace", "test_trace_raw", "test_tool_calls"];
/// Kinds that forbid tools, each with the keys of which one holds them.
const FORBID: &[(&str, &[&str])] =
    &[("tool_blocklist", &["blocked", "blocklist", "policy"]), ("trace_must_not_call_tool", &["tool"])];
/// Kinds that require or bound calls, and what says nearly the same. Left out in silence, they would pass for rules in force.
const UNREAD: &[(&str, &str)] = &[
    (
        "trace_must_call_tool",
        "write `{type: require, tool: NAME}` in a test of `metric: sequence_valid`; it wants a success",
    ),
    ("trace_tool_sequence", "write `{type: sequence, tools: […]}` in a test of `metric: sequence_valid`"),
    (
        "trace_max_steps",
        "write `{type: max_calls, tool: NAME, max: N}` for each tool, in a test of `metric: sequence_valid`",
    ),
];
/// Keys of a document that hold anchors for its other parts, and nothing else.
const ANCHORS: &str = "definitions";

/// Mappings that may hold rules: the document, its tests about sequences, and what those expect.
pub(super) fn holders(document: &Node) -> Vec<&Node> {
    let mut holders = vec![document];
    for test in document.get("tests").and_then(Node::as_seq).unwrap_or_default() {
        holders.extend(holders_of_test(test));
    }
    holders
}

/// The key of a file with rules.
pub(super) const POLICY: &str = "policy";

/// The files with rules that a document names.
pub(super) fn references(document: &Node) -> Vec<Arc<str>> {
    let named = holders(document).into_iter().skip(1).filter_map(|holder| holder.get(POLICY)?.as_str());
    named.map(Arc::from).collect()
}

fn holders_of_test(test: &Node) -> Vec<&Node> {
    let by_metric = test.get("metric").and_then(Node::as_str) == Some(METRIC);
    let expected = expectations(test).filter(|expected| is_ours(expected, by_metric));
    let assertions = test.get("assertions").and_then(Node::as_seq).unwrap_or_default();
    let within: Vec<&Node> =
        expected.chain(assertions.iter().filter(|assertion| is_our_assertion(assertion))).collect();
    if !by_metric && within.is_empty() {
        return Vec::new();
    }
    std::iter::once(test).chain(within).collect()
}

/// The expectation of a test: one mapping, or a list of one.
fn expectations(test: &Node) -> impl Iterator<Item = &Node> {
    let expected = test.get("expected");
    let listed = expected.and_then(Node::as_seq);
    let alone = expected.filter(|expected| expected.as_map().is_some());
    listed.unwrap_or_default().iter().chain(alone)
}

/// Whether an expectation is about sequences. `by_metric`: its test says so.
fn is_ours(expected: &Node, by_metric: bool) -> bool {
    let said = expected.get("type");
    match said.map(|said| said.as_str()) {
        Some(Some(METRIC)) => true,
        // The forms of before there were types.
        Some(Some("sequence")) => expected.get("sequence").is_some(),
        Some(_) => false,
        None => by_metric || expected.get("sequence").is_some(),
    }
}

fn is_our_assertion(assertion: &Node) -> bool {
    is_ours(assertion, false) && OWN_CALLS.iter().all(|key| assertion.get(key).is_none())
}

/// The skipped parts, for the notice.
#[derive(Default)]
struct Omissions<'a> {
    tests: u64,
    all: u64,
    expectations: u64,
    metrics: BTreeSet<&'a str>,
}

/// Reads a document.
pub(super) fn document<'a>(reading: &mut Reading<'a, '_>, out: &mut Vec<Problem>) -> Option<()> {
    let field = Field::document(reading.text.node);
    if reading.text.node.as_seq().is_some() {
        reading.rules(&field, &Aliases::default(), out);
        return Some(());
    }
    let mut fields = field.fields(out)?;
    let aliases = policy_file::policy(reading, &mut fields, out);
    if let Some(tests) = fields.optional("tests") {
        let mut skipped = Omissions::default();
        for test in tests.items(out)? {
            skipped.all += 1;
            one_test(reading, &test, &aliases, &mut skipped, out);
        }
        if let Some(notice) = skipped.notice() {
            reading.warn(notice, tests.key_span.unwrap_or(tests.span()));
        }
    }
    reading.lint_aliases(&aliases);
    reading.lint_facts();
    for entry in reading.text.node.as_map().unwrap_or_default() {
        if entry.key.starts_with("x-") || entry.key == ANCHORS {
            fields.take(&entry.key);
        }
    }
    fields.finish(out);
    Some(())
}

fn one_test<'a>(
    reading: &mut Reading<'a, '_>,
    test: &Field<'a>,
    outer: &Aliases<'a>,
    skipped: &mut Omissions<'a>,
    out: &mut Vec<Problem>,
) -> Option<()> {
    let mut fields = test.fields(out)?;
    let ours = holders_of_test(test.node);
    let metric = fields.optional("metric");
    let assertions = fields.optional("assertions");
    // As one mapping they would be skipped.
    let _ = assertions.as_ref().and_then(|assertions| assertions.items(out));
    let kinds = fields.optional("expected").into_iter().chain(assertions);
    let kinds: Vec<Field<'a>> = kinds.collect();
    if ours.is_empty() {
        reading.test = test.node.get("id").and_then(Node::as_str).map(Arc::from);
        let word = metric.as_ref().and_then(|metric| metric.node.as_str());
        let mut forbids = forbidden(reading, word, &mut fields, out);
        check_kind(metric.as_ref(), out);
        let said = metric.is_some() || !kinds.is_empty();
        for expected in kinds.iter().flat_map(parts) {
            forbids |= other_expectation(reading, &expected, skipped, out);
        }
        reading.test = None;
        if !forbids {
            skipped.tests += 1;
            skipped.metrics.extend(word);
        }
        if !said {
            says_nothing(&mut fields, out);
        }
        return Some(());
    }
    for key in OF_TESTS {
        fields.take(key);
    }
    let id = fields.optional("id");
    let name = id.as_ref().and_then(|id| id.name(out));
    if let Some(warning) = lint::test_id(name) {
        reading.warn(warning, id.as_ref().map_or(fields.head(), Field::span));
    }
    reading.test = name.map(Arc::from);
    let aliases = reading.aliases(&mut fields, outer, out);
    let mut found = expectation(reading, &mut fields, &aliases, out);
    let by_metric = metric.as_ref().is_some_and(|metric| metric.node.as_str() == Some(METRIC));
    if !by_metric {
        check_kind(metric.as_ref(), out);
    }
    for expected in kinds.iter().flat_map(parts) {
        if !ours.iter().any(|ours| std::ptr::eq(*ours, expected.node)) {
            skipped.expectations += u64::from(!other_expectation(reading, &expected, skipped, out));
            continue;
        }
        let Some(mut inner) = expected.fields(out) else { continue };
        for key in OF_EXPECTATIONS {
            inner.take(key);
        }
        let aliases = reading.aliases(&mut inner, &aliases, out);
        found |= expectation(reading, &mut inner, &aliases, out);
        reading.lint_aliases(&aliases);
        inner.finish(out);
    }
    if !found {
        let message = "the test is about sequences but names no rule";
        let problem = Problem::new(ProblemKind::MissingKey, fields.head(), message);
        out.push(problem.help("write `rules`, `sequence` or `policy`"));
    }
    reading.lint_aliases(&aliases);
    fields.finish(out);
    reading.test = None;
    Some(())
}

/// The parts of `expected` or `assertions`: the items of a list, or the one mapping.
fn parts<'a>(field: &Field<'a>) -> Vec<Field<'a>> {
    match field.node.as_seq() {
        // Its items are read below, where an item that is not a mapping is rejected.
        Some(_) => field.items(&mut Vec::new()).into_iter().flatten().collect(),
        None => vec![field.clone()],
    }
}

/// The tools that a test or an expectation of this kind forbids, as a rule. Whether it forbids any.
fn forbidden<'a>(
    reading: &mut Reading<'a, '_>,
    kind: Option<&str>,
    fields: &mut Fields<'a>,
    out: &mut Vec<Problem>,
) -> bool {
    let Some((_, keys)) = FORBID.iter().find(|(word, _)| kind == Some(word)) else { return false };
    if OWN_CALLS.iter().any(|key| fields.has(key)) {
        return false;
    }
    let list = keys.iter().find_map(|key| fields.optional(key));
    // The list may be in a policy.
    let inner = |list: &Field<'a>, out: &mut Vec<Problem>| {
        list.node.as_map()?;
        list.fields(out)?.required("blocked", out)
    };
    match list {
        Some(list) if list.node.as_map().is_some() => {
            inner(&list, out).and_then(|list| reading.blocked(&list, out));
        }
        Some(list) => {
            reading.blocked(&list, out);
        }
        None => out.push(fields.missing(keys.first().copied().unwrap_or_default())),
    }
    true
}

/// An expectation of another kind; one that only looks like it is an error, for its rules would be lost. Whether it forbids
/// tools, which is read.
fn other_expectation<'a>(
    reading: &mut Reading<'a, '_>,
    expected: &Field<'a>,
    skipped: &mut Omissions<'a>,
    out: &mut Vec<Problem>,
) -> bool {
    let Some(mut fields) = expected.fields(out) else { return false };
    let kind = fields.optional("type");
    if forbidden(reading, kind.as_ref().and_then(|kind| kind.node.as_str()), &mut fields, out) {
        return true;
    }
    skipped.metrics.extend(kind.as_ref().and_then(|kind| kind.node.as_str()));
    check_kind(kind.as_ref(), out);
    if let Some(reference) = fields.take("$ref").filter(|_| kind.is_none()) {
        let message = "`$ref` is not followed, so what it expects would not be enforced";
        let problem = Problem::new(ProblemKind::UnknownKey, reference.key_span, message);
        out.push(problem.help(format!("write `type: {METRIC}` and `policy: FILE`")));
    } else if kind.is_none() && ["rules", "sequences", "policy"].iter().any(|key| fields.has(key)) {
        unsaid(&fields, "type", out);
    }
    false
}

/// A metric, or the type of an expectation, that is not about sequences: it may be meant as such.
fn check_kind(kind: Option<&Field<'_>>, out: &mut Vec<Problem>) {
    let Some(kind) = kind else { return };
    let Some(word) = kind.text(out).filter(|word| *word != METRIC) else { return };
    if let Some((_, help)) = UNREAD.iter().find(|(unread, _)| *unread == word) {
        let message =
            format!("{} is not read, so what it asks of the calls would not be enforced", quoted(word));
        out.push(Problem::new(ProblemKind::BadValue, kind.span(), message).help(*help));
        return;
    }
    if nearest(word, [METRIC]).is_some() {
        let message =
            format!("{} is not a metric that holds rules, so the test would not be enforced", quoted(word));
        let problem = Problem::new(ProblemKind::BadValue, kind.span(), message);
        out.push(problem.help(format!("did you mean `{METRIC}`?")));
    }
}

/// A test without a metric, an expectation or an assertion.
fn says_nothing(fields: &mut Fields<'_>, out: &mut Vec<Problem>) {
    if ["rules", "sequences", "sequence", "policy"].iter().any(|key| fields.has(key)) {
        unsaid(fields, "metric", out);
        return;
    }
    for key in OF_TESTS.iter().chain(&["id"]) {
        fields.take(key);
    }
    out.extend(fields.unknown());
}

fn unsaid(fields: &Fields<'_>, key: &str, out: &mut Vec<Problem>) {
    let message = "the test has rules, but not the key that puts them in force";
    let problem = Problem::new(ProblemKind::MissingKey, fields.head(), message);
    out.push(problem.help(format!("add `{key}: {METRIC}`")));
}

/// The rules of a test or of what it expects, in all their forms, which hold together. Whether there are any.
fn expectation<'a>(
    reading: &mut Reading<'a, '_>,
    fields: &mut Fields<'a>,
    aliases: &Aliases<'a>,
    out: &mut Vec<Problem>,
) -> bool {
    let (rules, sequences) = (fields.optional("rules"), fields.optional("sequences"));
    let (exact, file) = (fields.optional("sequence"), fields.optional("policy"));
    let found = rules.is_some() || sequences.is_some() || exact.is_some() || file.is_some();
    reading.listed(rules.as_ref(), sequences.as_ref(), aliases, out);
    if let Some(exact) = exact {
        reading.exact(&exact, aliases, out);
    }
    if let Some(file) = file {
        policy_file::read(reading, &file, out);
    }
    found
}

impl Omissions<'_> {
    fn notice(&self) -> Option<Diagnostic> {
        let mut what = Vec::new();
        if self.tests > 0 {
            what.push(format!("{} of {} tests", self.tests, self.all));
        }
        if self.expectations > 0 {
            let plural = if self.expectations == 1 { "" } else { "s" };
            what.push(format!("{} more expectation{plural}", self.expectations));
        }
        if what.is_empty() {
            return None;
        }
        let verb = if self.tests + self.expectations == 1 { "is" } else { "are" };
        let metrics: Vec<String> = self.metrics.iter().map(|metric| quoted(metric)).collect();
        let metrics = if metrics.is_empty() { String::new() } else { format!(" ({})", metrics.join(", ")) };
        let message = format!("{} {verb} not about sequences: skipped{metrics}", what.join(" and "));
        Some(Diagnostic::notice(codes::TESTS_SKIPPED, message))
    }
}
