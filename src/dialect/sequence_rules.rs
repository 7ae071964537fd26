//! Sequence rules: which calls must, may and must not come in which order, rule by rule.
//!
//! ```yaml
//! aliases: {Write: [write_file, append_file]}
//! rules:
//!   - {type: before, first: VerifyIdentity, then: DeleteCustomer}
//!   - {type: after, trigger: Write, then: CloseFile, within: 10}
//! ```
//!
//! Every rule is a unit of its own. Files of tests (`tests[].rules`) and the old form (`sequences`) are read as well.
//! What each kind means is SEMANTICS 7.

mod after;
mod lint;
pub mod migrate;
mod names;
mod operand;
mod order;
mod presence;
mod read;
mod sequence;
mod unit;

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Severity, code};
use crate::dialect::{Dialect, Reader, Text};
use crate::monitor::{Rules, Unit};
use crate::source::nearest::nearest;
use crate::source::{Field, Fields, Node, NodeValue, Problem, ProblemKind, quoted};
use read::{Aliases, Reading};

/// The row of the table of dialects.
pub const DIALECT: Dialect = Dialect {
    name: "sequence_rule",
    title: "sequence rules: the order of calls over a whole session",
    recognises,
    reader: || Box::new(Sequenced::default()),
};

/// The metric, and the type of expectation, of tests that hold sequence rules.
const METRIC: &str = "sequence_valid";

/// Keys of suites and tests that say nothing about sequences.
const OF_SUITES: &[&str] =
    &["dialect", "version", "configVersion", "suite", "name", "description", "model", "settings", "metadata"];
const OF_TESTS: &[&str] = &["description", "input", "tags", "metadata", "assertions", "on_error"];

/// Whether there are rules, or tests of some metric.
fn recognises(node: &Node) -> bool {
    let listed = |key| node.get(key).is_some_and(|list| list.is_null() || list.as_seq().is_some());
    let is_test = |test: &Node| test.get("metric").is_some() || test.get("expected").is_some();
    listed("rules")
        || listed("sequences")
        || node.get("tests").and_then(Node::as_seq).is_some_and(|tests| tests.iter().any(is_test))
}

#[derive(Default)]
struct Sequenced {
    units: Vec<Arc<dyn Unit>>,
}

impl Reader for Sequenced {
    fn read(&mut self, text: Text<'_>, rules: &mut Rules, problems: &mut Vec<Diagnostic>) {
        let mut out = Vec::new();
        let mut reading = Reading::new(text, rules, &mut self.units);
        document(&mut reading, &mut out);
        let warnings = reading.warnings;
        problems.extend(out.into_iter().map(|problem| Diagnostic::from_problem(problem, text.source)));
        problems.extend(warnings);
    }

    fn finish(self: Box<Self>, _problems: &mut Vec<Diagnostic>) -> Vec<Arc<dyn Unit>> {
        self.units
    }
}

fn document<'a>(reading: &mut Reading<'a, '_>, out: &mut Vec<Problem>) -> Option<()> {
    let mut fields = Field::document(reading.text.node).fields(out)?;
    for key in OF_SUITES {
        fields.take(key);
    }
    let aliases = reading.aliases(&mut fields, &Aliases::default(), out);
    rules(reading, &mut fields, &aliases, out);
    if let Some(tests) = fields.optional("tests") {
        let (mut all, mut skipped) = (0, 0);
        for test in tests.items(out)? {
            all += 1;
            skipped += u64::from(!one_test(reading, &test, &aliases, out).unwrap_or(true));
        }
        if skipped > 0 {
            let message = format!("{skipped} of {all} tests are not about sequences, left out");
            let notice = Diagnostic::notice(code::TESTS_SKIPPED, message);
            reading.warn(notice, tests.key_span.unwrap_or(tests.span()));
        }
    }
    reading.lint_aliases(&aliases);
    reading.unknown_keys(&fields);
    Some(())
}

/// Whether a test holds sequence rules.
fn is_about_sequences(test: &Node) -> bool {
    let kinds = [test.get("metric"), test.get("expected").and_then(|expected| expected.get("type"))];
    kinds.into_iter().flatten().any(|kind| kind.as_str() == Some(METRIC))
}

/// Reads a test; `Some(false)` if it is not about sequences.
fn one_test<'a>(
    reading: &mut Reading<'a, '_>,
    test: &Field<'a>,
    outer: &Aliases<'a>,
    out: &mut Vec<Problem>,
) -> Option<bool> {
    let mut fields = test.fields(out)?;
    let (metric, expected) = (fields.optional("metric"), fields.optional("expected"));
    let kind = expected.as_ref().and_then(|expected| Some((expected, expected.node.entry("type")?)));
    let by_type = kind.is_some_and(|(_, kind)| kind.value.as_str() == Some(METRIC));
    if !is_about_sequences(test.node) {
        let misspelt = [metric.as_ref().map(|metric| metric.node), kind.map(|(_, kind)| &kind.value)];
        for node in misspelt.into_iter().flatten() {
            if node.as_str().and_then(|word| nearest(word, [METRIC])).is_some() {
                let message = format!(
                    "the test's {} is no metric that holds rules",
                    quoted(node.as_str().unwrap_or_default())
                );
                let warning = Diagnostic::warning(code::TESTS_SKIPPED, message);
                reading.warn(warning.help(format!("did you mean `{METRIC}`?")), node.span);
            }
        }
        if metric.is_none() && kind.is_none() && (fields.has("rules") || fields.has("sequences")) {
            let message = "the test has rules but does not say that they are to be judged";
            let problem = Problem::new(ProblemKind::MissingKey, fields.head(), message);
            out.push(problem.help(format!("add `metric: {METRIC}`")));
        }
        return Some(false);
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
    let mut found = rules(reading, &mut fields, &aliases, out);
    if let Some(expected) = expected.filter(|_| by_type)
        && let Some(mut inner) = expected.fields(out)
    {
        inner.take("type");
        let aliases = reading.aliases(&mut inner, &aliases, out);
        found |= rules(reading, &mut inner, &aliases, out);
        reading.lint_aliases(&aliases);
        reading.unknown_keys(&inner);
    }
    if !found {
        out.push(fields.missing("rules"));
    }
    reading.lint_aliases(&aliases);
    reading.unknown_keys(&fields);
    reading.test = None;
    Some(true)
}

/// The rules of a mapping, in either form. Whether there are any.
fn rules<'a>(
    reading: &mut Reading<'a, '_>,
    fields: &mut Fields<'a>,
    aliases: &Aliases<'a>,
    out: &mut Vec<Problem>,
) -> bool {
    let (rules, old) = (fields.optional("rules"), fields.optional("sequences"));
    for rule in rules.iter().filter_map(|rules| rules.items(out)).flatten().collect::<Vec<_>>() {
        reading.rule(&rule, aliases, out);
    }
    if let Some(old) = &old {
        let span = old.key_span.unwrap_or(old.span());
        reading.warn(lint::old_sequences(), span);
        for sequence in old.items(out).into_iter().flatten().collect::<Vec<_>>() {
            reading.old_sequence(&sequence, aliases, out);
        }
    }
    rules.is_some() || old.is_some()
}

/// What people call a value that is no operand.
fn kind_of(node: &Node) -> &'static str {
    match node.value {
        NodeValue::Map(_) => "a mapping without `tool`",
        _ => node.kind(),
    }
}

/// The severity of keys that are ignored.
const IGNORED: Severity = Severity::Warning;
