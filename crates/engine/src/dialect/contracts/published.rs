//! Keys of Vesanor's contracts that say nothing about which call may happen when, or that are not supported.
//!
//! Its test runner reads some that concern recorded examples: they are accepted. Others stop calls at run time: leaving
//! one of these out would allow what it stops.

use crate::dialect::contracts::codes;
use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_base::source::{Field, Fields, Node, NodeValue, Problem, Source, Span, quoted};

/// Keys by which a contract is recognised even if it has none of ours.
pub(super) const TELLING: &[&str] = &["side_effect", "evidence_class", "commit_requirement", "golden_cases"];

/// Keys that only the test runner reads.
const RUNNER: &[&str] = &[
    "schema_version",
    "contract_version",
    "side_effect",
    "evidence_class",
    "commit_requirement",
    "timeouts",
    "retries",
    "rate_limits",
    "golden_cases",
    "allowed_errors",
    "pass_threshold",
];

/// Keys that stop calls at run time, and how to write them here.
const ENFORCED: &[(&str, &str)] = &[
    ("gate", "take it out; a contract's own `preconditions` decide about its tool"),
    ("transitions", "take it out, or say with `preconditions` what must have happened before"),
    ("policy", "take it out, or say it with `preconditions`"),
    ("execution_constraints", "take it out, or say it with `preconditions`"),
    (
        "argument_value_invariants",
        "take it out; arguments are compared only with those of a prior call, see `resource`",
    ),
    ("expect_tools", "take it out; sequence rules say it: `rules: [{type: require, tool: NAME}]`"),
    ("tool_order", "take it out; sequence rules say it: `rules: [{type: sequence, tools: […]}]`"),
    ("expected_tool_calls", "take it out; sequence rules say it: `rules: [{type: require, tool: NAME}]`"),
];

/// The keys for the test runner: their number, the number of their contracts, and the first place.
#[derive(Default)]
pub(super) struct RunnerKeys {
    first: Option<(String, Source, Span)>,
    keys: u64,
    contracts: u64,
}

impl RunnerKeys {
    /// One notice about all of them: a folder of published contracts has some ten in each.
    pub fn notice(&self) -> Option<Diagnostic> {
        let (key, source, span) = self.first.as_ref()?;
        let count = |count: u64, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
        let what = match self.keys - 1 {
            0 => format!("only Vesanor's test runner reads {}", quoted(key)),
            more => format!(
                "only Vesanor's test runner reads {} and {} in {}",
                quoted(key),
                count(more, "other key"),
                count(self.contracts, "contract")
            ),
        };
        Some(Diagnostic::notice(codes::RUNNER_KEYS, format!("{what}: skipped")).at(source, *span))
    }
}

/// Takes the publisher's keys: counts those of the test runner, and reports an error for each that would have to be
/// enforced. An empty one requires nothing.
pub(super) fn keys<'a>(
    fields: &mut Fields<'a>,
    source: &Source,
    runner: &mut RunnerKeys,
    out: &mut Vec<Problem>,
) -> Vec<Diagnostic> {
    let (before, mut told) = (runner.keys, Vec::new());
    let mut skip = |key: &str, span: Span| {
        runner.first.get_or_insert_with(|| (key.to_owned(), source.clone(), span));
        runner.keys += 1;
    };
    // They are known here, but should not be suggested in a list of known keys.
    for key in RUNNER.iter().copied().filter(|key| fields.has(key)).collect::<Vec<_>>() {
        if let Some(entry) = fields.take(key) {
            skip(key, entry.key_span);
        }
    }
    for (key, help) in ENFORCED {
        if !fields.has(key) {
            continue;
        }
        told.extend(fields.optional(key).and_then(|field| not_enforced(&field, key, source, help)));
    }
    if fields.has("assertions")
        && let Some(mut assertions) = fields.mapping("assertions", out)
    {
        if let Some(entry) = assertions.take("output_invariants") {
            skip("output_invariants", entry.key_span);
        }
        let help = "take it out; arguments are compared only with those of a prior call, see `resource`";
        let inputs = assertions.optional("input_invariants");
        told.extend(inputs.and_then(|field| not_enforced(&field, "input_invariants", source, help)));
        assertions.finish(out);
    }
    runner.contracts += u64::from(runner.keys > before);
    told
}

fn not_enforced(field: &Field<'_>, key: &str, source: &Source, help: &str) -> Option<Diagnostic> {
    if asks_nothing(field.node) {
        return None;
    }
    let message = format!("{} is not supported yet: it would not be enforced", quoted(key));
    let span = field.key_span.unwrap_or(field.span());
    Some(Diagnostic::error(code::NOT_ENFORCED, message).at(source, span).help(help))
}

fn asks_nothing(value: &Node) -> bool {
    match &value.value {
        NodeValue::Null => true,
        NodeValue::Seq(items) => items.is_empty(),
        NodeValue::Map(entries) => entries.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_key_is_on_the_page() {
        let page = crate::dialect::contracts::DIALECT.reference;
        let keys = RUNNER.iter().copied().chain(ENFORCED.iter().map(|(key, _)| *key));
        let missing: Vec<&str> = keys.filter(|key| !page.contains(&format!("`{key}`"))).collect();
        assert!(missing.is_empty(), "{missing:?}");
        assert!(TELLING.iter().all(|key| RUNNER.contains(key)), "a key that tells is one that is read");
    }
}
