//! Probable mistakes in a version as a whole: rules that contradict each other across documents and languages, or that
//! recordings refute. Mistakes within one document are found in its dialect's folder.
//!
//! `check`, the workbench and the language server all use it through [`crate::workspace`], so that they report the
//! same.

mod allow;
mod circle;
mod conflict;
mod contexts;
mod levels;
mod linter;
mod names;
mod needs;
mod place;
mod recorded;
mod world;

use std::collections::BTreeSet;

use allow::Report;
pub use contexts::{contexts, off_everywhere};
pub use levels::{Level, Levels};
use linter::Linter;
use place::Places;
pub use recorded::{recorded, unseen, unseen_names};
use rulestep_base::diagnostic::{Diagnostic, Place};
use rulestep_engine::policy::{LoadResult, Policy};

/// The version's findings at the levels that are asked for, with those about several documents.
///
/// `whole`: all documents of the version are in it, so that a comment which allows nothing can be reported.
pub fn lint(loaded: &mut LoadResult, levels: &Levels, whole: bool) {
    if let Some(policy) = &loaded.policy {
        loaded.diagnostics.extend(between(policy));
    }
    let texts = loaded.documents.iter().map(|document| document.source.clone());
    let report = if whole && loaded.policy.is_some() { Report::Unused } else { Report::Broken };
    loaded.diagnostics = allow::apply(std::mem::take(&mut loaded.diagnostics), texts, levels, report);
}

/// Findings of recordings at the levels that are asked for.
pub fn settle(found: Vec<Diagnostic>, policy: &Policy, levels: &Levels) -> Vec<Diagnostic> {
    let texts = policy.documents().iter().map(|document| document.source.clone());
    allow::apply(found, texts, levels, Report::Nothing)
}

/// Contradictions between the rules of a version.
fn between(policy: &Policy) -> Vec<Diagnostic> {
    let mut statements = Vec::new();
    policy.units().iter().for_each(|unit| unit.statements(&mut statements));
    let mut linter = Linter { policy, statements: &statements, places: Places::default() };
    let mut out = Vec::new();
    conflict::lint(&mut linter, &mut out);
    names::lint(&mut linter, &mut out);
    // Rules that hold for several kinds of sessions are compared once for each.
    let mut seen = BTreeSet::new();
    out.retain(|found| {
        let span = match found.place() {
            Some(Place::Text { source, span }) => Some((source.name().to_owned(), span.start)),
            _ => None,
        };
        seen.insert((found.code.as_str(), span, found.message.clone()))
    });
    out
}
