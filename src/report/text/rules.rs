//! Rules about a session that are violated: the rule, what it expects, what happened, where, and what would fix it.

use std::io::{self, Write};

use super::calls::said;
use super::row::row;
use super::trace;
use crate::report::Judged;
use crate::report::paint::Paint;
use crate::report::words;
use rulestep_base::wording::glyph::Glyph;
use rulestep_engine::monitor::Rule;
use rulestep_engine::monitor::finding::{RuleOutcome, RuleState};
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Verdict;

/// Writes every violated rule.
pub(super) fn violated(replay: &Replay, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    for state in replay.rules().iter().filter(|state| state.outcome == RuleOutcome::Violated) {
        let Some(rule) = replay.policy().rules().get(state.rule) else { continue };
        one(replay, state, rule, paint, out)?;
    }
    Ok(())
}

/// Writes the names of violated rules alone.
pub(super) fn names(judged: &Judged, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    for state in judged.violated() {
        let Some(rule) = judged.policy().rules().get(state.rule) else { continue };
        let code = state.code.map(|code| format!("  {code}")).unwrap_or_default();
        let (name, place) = (words::rule_name(rule), paint.dim(&rule.place()));
        row(out, words::ended(state.outcome), format!("{name}{code}  {place}"))?;
    }
    Ok(())
}

fn one(replay: &Replay, state: &RuleState, rule: &Rule, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let code = state.code.map(|code| format!("  {code}")).unwrap_or_default();
    let test = rule.test.as_deref().map(|test| paint.dim(&format!("  test {}", words::name(test))));
    let how = match state {
        RuleState { copied: true, .. } => " (in a copied call)",
        RuleState { asked: true, .. } => " (asked about)",
        RuleState { enforced: true, .. } => "",
        _ if rule.options.shadow => " (shadow mode)",
        _ => " (only reported)",
    };
    let glyph = match state.enforced {
        true => paint.verdict(Verdict::Deny, Glyph::Deny.unicode()),
        false => paint.verdict(Verdict::Ask, Glyph::Report.unicode()),
    };
    // The name comes after the word: `never violated` would be read as the opposite.
    let (ended, name) = (words::ended(state.outcome), words::rule_name(rule));
    writeln!(out, "  {glyph} {ended}{how}: {}{code}", paint.bold(&name))?;
    row(out, "rule", format!("{}  {}{}", rule.kind, paint.dim(&rule.place()), test.unwrap_or_default()))?;
    let Some(violation) = words::violation(state, replay) else { return Ok(()) };
    said(out, "expected", violation.expected)?;
    row(out, "actual", paint.bold(&violation.headline.to_string()))?;
    let fault = state.position.and_then(|index| replay.session().calls.get(index as usize));
    trace::of_rule(&replay.ran(), fault.map(|call| call.at)).write(replay, paint, out)?;
    said(out, "suggest", violation.way_out)
}
