#![doc = include_str!("sequence_rules/reference.md")]

mod after;
mod allow;
mod asks;
pub mod codes;
mod commands;
mod edits;
mod exact;
pub mod explain;
pub mod facts;
mod lint;
pub mod migrate;
mod monitor;
mod names;
mod never_after;
mod never_until;
mod operand;
mod order;
mod policy_file;
mod presence;
mod read;
mod reading;
mod same;
mod sequence;
mod suite;
mod unit;
mod when;

/// Which calls a rule matches: for the other dialects with questions about what a call does.
pub(in crate::dialect) mod calls {
    pub(in crate::dialect) use super::asks::{Copies, Part, Role};
    pub(in crate::dialect) use super::explain::{operand_orders, operand_title, operand_words};
    pub(in crate::dialect) use super::facts::ToolName;
    pub(in crate::dialect) use super::operand::{Argument, Look, Match, Operand, read_arguments};
}

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::dialect::{Dialect, Reader, References, Text};
use crate::monitor::{Rules, Unit};
use reading::Reading;
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::source::Node;

/// The row of the table of dialects.
pub const DIALECT: Dialect = Dialect {
    name: "sequence_rule",
    title: "sequence rules: the order of calls over a whole session",
    reference: include_str!("sequence_rules/reference.md"),
    places: &[
        ("sequences", "rules"),
        ("assertions", "expected"),
        ("count", "max_calls"),
        ("tool", "CALL"),
        ("tools", "CALL"),
        ("first", "CALL"),
        ("then", "CALL"),
        ("trigger", "CALL"),
        ("forbidden", "CALL"),
        ("until", "CALL"),
        ("call", "CALL"),
    ],
    kinds: &[
        ("require", "rules: [{type: require, tool: a}]"),
        ("before", "rules: [{type: before, first: a, then: b}]"),
        ("immediately_before", "rules: [{type: immediately_before, first: a, then: b}]"),
        ("blocklist", "rules: [{type: blocklist, tools: [\"c*\"]}]"),
        ("allowlist", "rules: [{type: allowlist, tools: [\"*\"]}]"),
        ("max_calls", "rules: [{type: max_calls, tool: a, max: 100000000}]"),
        ("count", "rules: [{type: count, tool: a, max: 100000000}]"),
        ("eventually", "rules: [{type: eventually, tool: b, within: 9}]"),
        ("never_after", "rules: [{type: never_after, trigger: c, forbidden: b}]"),
        ("never", "rules: [{type: never, call: c}]"),
        ("after", "rules: [{type: after, trigger: a, then: b, within: 3}]"),
        ("sequence", "rules: [{type: sequence, tools: [a, b, c]}]"),
        ("exact_sequence", "tests: [{id: t, expected: {type: sequence_valid, sequence: [a, b]}}]"),
    ],
    schema: include_str!("../../../../schemas/sequence_rule.schema.json"),
    edits: edits::EDITS,
    example: include_str!("sequence_rules/example.yaml"),
    codes: codes::PAGES,
    recognises,
    keys: &["rules", "sequences", "tests", "aliases"],
    rules_only: true,
    reader: || Box::new(SequenceReader::default()),
    phrase: explain::phrase,
    references: Some(References { key: suite::POLICY, of: suite::references }),
};

/// Whether there are rules, or tests that expect something. A list of rules alone is a document as well.
fn recognises(node: &Node) -> bool {
    if let Some(items) = node.as_seq() {
        return items.iter().any(read::is_rule);
    }
    let listed = |key| node.get(key).is_some_and(|list| list.is_null() || list.as_seq().is_some());
    let is_test =
        |test: &Node| ["metric", "expected", "assertions"].iter().any(|key| test.get(key).is_some());
    listed("rules")
        || listed("sequences")
        || node.get("tests").and_then(Node::as_seq).is_some_and(|tests| tests.iter().any(is_test))
}

/// The words for types of rules.
pub(in crate::dialect) fn types() -> impl Iterator<Item = &'static str> {
    read::TYPES.iter().map(|(word, _)| *word)
}

#[derive(Default)]
struct SequenceReader {
    units: Vec<Arc<dyn Unit>>,
    /// Files that were read because a test names them.
    files: BTreeSet<String>,
}

impl Reader for SequenceReader {
    fn read(&mut self, text: Text<'_>, rules: &mut Rules, problems: &mut Vec<Diagnostic>) {
        let mut out = Vec::new();
        let mut reading = Reading::new(text, rules, &mut self.units, &mut self.files);
        suite::document(&mut reading, &mut out);
        let warnings = reading.warnings;
        problems.extend(out.into_iter().map(|problem| Diagnostic::from_problem(problem, text.source)));
        problems.extend(warnings);
    }

    fn finish(self: Box<Self>, _problems: &mut Vec<Diagnostic>) -> Vec<Arc<dyn Unit>> {
        self.units
    }
}
