//! The rules of a file that an expectation names: `policy: FILE`, relative to the document that names it.
//!
//! The file holds a list of names (the exact calls), a list of rules, or a policy document. However many tests name it,
//! its rules apply once, under the first of them. Suites of tests may also hold a whole policy document.

use std::collections::HashMap;

use super::reading::{Aliases, Reading};
use crate::dialect::Text;
use crate::dialect::beside::clean;
use crate::dialect::question::{RunsRead, Table, facts};
use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_base::source::{Field, Fields, Node, Problem, ProblemKind, quoted};

/// Keys of policy documents and suites that say nothing about sequences.
const OF_DOCUMENTS: &[&str] = &[
    "dialect",
    "version",
    "configVersion",
    "suite",
    "name",
    "description",
    "model",
    "settings",
    "thresholds",
    "thresholding",
    "otel",
    "metadata",
    "on_error",
    "tags",
];

pub(super) fn read<'a>(
    reading: &mut Reading<'a, '_>,
    file: &Field<'a>,
    out: &mut Vec<Problem>,
) -> Option<()> {
    let written = file.name(out)?;
    let (name, found) = reading.text.beside.find(reading.text.source.name(), written);
    let Some(found) = found else {
        reading.warn(not_there(reading.text.source.name(), &name), file.span());
        return None;
    };
    let [(node, prefix)] = found.documents.as_slice() else {
        // A file that cannot be read to its end has been reported as such.
        let problem = file.problem(
            ProblemKind::BadValue,
            format!("{} holds {} documents, expected one", quoted(&name), found.documents.len()),
        );
        out.push(problem);
        return None;
    };
    if !reading.files.insert(name) {
        return Some(());
    }
    let mut told = Vec::new();
    let mut inner = Reading {
        text: Text { source: &found.source, node, prefix, ..reading.text },
        rules: &mut *reading.rules,
        units: &mut *reading.units,
        files: &mut *reading.files,
        test: reading.test.clone(),
        warnings: Vec::new(),
        seen: HashMap::new(),
        bounds: HashMap::new(),
        facts: Table::default(),
        asks: false,
        patterns: HashMap::new(),
        runs: RunsRead::default(),
    };
    contents(&mut inner, &mut told);
    let warnings = inner.warnings;
    let told = told.into_iter().map(|problem| Diagnostic::from_problem(problem, &found.source));
    reading.warnings.extend(told.chain(warnings));
    Some(())
}

/// The part of a document that is a policy itself. Its aliases hold for its tests as well.
pub(super) fn policy<'a>(
    reading: &mut Reading<'a, '_>,
    fields: &mut Fields<'a>,
    out: &mut Vec<Problem>,
) -> Aliases<'a> {
    for key in OF_DOCUMENTS {
        fields.take(key);
    }
    let says_something = |node: &Node| match node.as_map() {
        Some(entries) => entries.iter().any(|entry| !entry.value.is_null()),
        None => !node.is_null(),
    };
    // This key should not be suggested, so it is looked up only if it is present.
    if fields.has("tools")
        && let Some(tools) = fields.take("tools").filter(|tools| says_something(&tools.value))
    {
        let message = "`tools` of a policy document is not supported yet: it would not be enforced";
        let problem = Problem::new(ProblemKind::UnknownKey, tools.key_span, message);
        out.push(
            problem
                .help("write `{type: allowlist, tools: […]}` or `{type: blocklist, tools: […]}` as a rule"),
        );
    }
    reading.facts = facts(fields, out);
    let aliases = reading.aliases(fields, &Aliases::default(), out);
    let (rules, sequences) = (fields.optional("rules"), fields.optional("sequences"));
    reading.listed(rules.as_ref(), sequences.as_ref(), &aliases, out);
    aliases
}

fn contents<'a>(reading: &mut Reading<'a, '_>, out: &mut Vec<Problem>) -> Option<()> {
    let document = Field::document(reading.text.node);
    match reading.text.node.as_seq() {
        Some(items) if items.iter().all(|item| item.as_map().is_none()) => {
            reading.exact(&document, &Aliases::default(), out)
        }
        Some(_) => reading.rules(&document, &Aliases::default(), out),
        None => {
            let mut fields = document.fields(out)?;
            if !["rules", "sequences"].iter().any(|key| fields.has(key)) {
                let message = "the file holds no sequence rules";
                let problem = Problem::new(ProblemKind::MissingKey, fields.head(), message);
                out.push(problem.help("write `sequences`, or a list of rules, or a list of names"));
            }
            let aliases = policy(reading, &mut fields, out);
            reading.lint_aliases(&aliases);
            reading.lint_facts();
            fields.finish(out);
            Some(())
        }
    }
}

/// The problem of a file that is not among the texts of the version, or that is read separately.
fn not_there(from: &str, name: &str) -> Diagnostic {
    if name == clean(from) {
        return Diagnostic::error(code::MISSING_FILE, "the document names its own file as its policy");
    }
    let message = format!("there is no policy file {}, so the test's rules are missing", quoted(name));
    Diagnostic::error(code::MISSING_FILE, message)
        .help("the path is relative to this document; a file of tests is not a policy file")
}
