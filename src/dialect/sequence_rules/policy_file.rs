//! The rules of a file that an expectation names: `policy: FILE`, relative to the document that names it.
//!
//! The file holds a list of names (the exact calls), a list of rules, or a policy document. However many tests name it,
//! its rules apply once, under the first of them.

use super::read::{Aliases, Reading};
use super::suite;
use crate::diagnostic::{Diagnostic, code};
use crate::dialect::Text;
use crate::dialect::beside::clean;
use crate::source::{Field, Problem, ProblemKind, quoted};

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
    };
    contents(&mut inner, &mut told);
    let warnings = inner.warnings;
    let told = told.into_iter().map(|problem| Diagnostic::from_problem(problem, &found.source));
    reading.warnings.extend(told.chain(warnings));
    Some(())
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
            let aliases = suite::policy(reading, &mut fields, out);
            reading.lint_aliases(&aliases);
            fields.finish(out);
            Some(())
        }
    }
}

/// A file that is not among the texts of the version, or that is read by itself.
fn not_there(from: &str, name: &str) -> Diagnostic {
    if name == clean(from) {
        return Diagnostic::error(code::MISSING_FILE, "the document names its own file as its policy");
    }
    let message = format!("there is no policy file {}, so the test's rules are missing", quoted(name));
    Diagnostic::error(code::MISSING_FILE, message)
        .help("the path is relative to this document; a file of tests is not a policy file")
}
