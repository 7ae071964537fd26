//! Rewrites expectations to the actual decisions, in place: everything else of the text stays byte for byte.
//!
//! The result is read again and must be the same cases with the new expectations; otherwise the text is left unchanged,
//! and that is reported.

use super::judge::{Actual, CaseResult};
use super::read::{self, Cases};
use super::{Case, Want};
use rulestep_base::diagnostic::{Diagnostic, code};
use rulestep_base::source::edit::Edits;
use rulestep_base::source::{Source, parse, quoted};

/// The text with the expectations of these cases as they were answered. All are of one text, in its order.
///
/// # Errors
/// Expectations that cannot be rewritten in place; nothing is changed then.
pub fn update(source: &Source, judged: &[(&Case, &CaseResult)]) -> Result<String, Vec<Diagnostic>> {
    let parsed = parse(source);
    let mut edits = Edits::new(source, &parsed.documents);
    let unmet = || judged.iter().flat_map(|(case, judged)| unmet(case, judged));
    let refused: Vec<Diagnostic> = unmet()
        .filter(|(want, got)| edit(&mut edits, want, got).is_none())
        .map(|(want, _)| refusal(source, want))
        .collect();
    if !refused.is_empty() {
        return Err(refused);
    }
    match edits.finish() {
        Ok(text) if is_meant(source, &text, judged) => Ok(text),
        _ => Err(unmet().map(|(want, _)| refusal(source, want)).collect()),
    }
}

fn unmet<'c>(case: &'c Case, judged: &'c CaseResult) -> impl Iterator<Item = (&'c Want, &'c Actual)> {
    let unmet = judged.answers.iter().filter(|answer| !answer.met);
    unmet.filter_map(|answer| {
        let want = case.expect.get(answer.expectation)?.wants.get(answer.want)?;
        Some((want, &answer.got))
    })
}

fn refusal(source: &Source, want: &Want) -> Diagnostic {
    let message = format!("{} cannot be rewritten in place", quoted(want.aspect.key()));
    Diagnostic::error(code::CASE_NOT_REWRITTEN, message).at(source, want.key_span)
}

/// Writes the actual value. `None`: there is none to write, or something would be lost.
fn edit(edits: &mut Edits<'_>, want: &Want, got: &Actual) -> Option<()> {
    let Actual::Fact(fact) = got else { return None };
    edits.set(edits.entry(want.key_span)?, fact.to_json()).ok()
}

/// Whether a text holds the same cases, with every expectation met by the results.
fn is_meant(source: &Source, text: &str, judged: &[(&Case, &CaseResult)]) -> bool {
    let Cases { cases, .. } = read::read(&Source::new(source.name(), text), false);
    cases.len() == judged.len()
        && cases.iter().zip(judged).all(|(case, (old, judged))| is_met(case, old, judged))
}

fn is_met(case: &Case, old: &Case, judged: &CaseResult) -> bool {
    let asks = |case: &Case| -> Vec<_> {
        let of = case.expect.iter().map(|expected| {
            let wants = expected.wants.iter().map(|want| want.aspect.clone());
            (expected.subject.clone(), wants.collect::<Vec<_>>())
        });
        of.collect()
    };
    let met = judged.answers.iter().all(|answer| {
        let want = case.expect.get(answer.expectation).and_then(|expected| expected.wants.get(answer.want));
        want.is_some_and(|want| matches!(&answer.got, Actual::Fact(got) if *got == want.expected))
    });
    met && asks(case) == asks(old)
}
