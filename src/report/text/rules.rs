//! Rules about a session that are violated: the rule, what it expects, what happened, where, and what would mend it.

use std::io::{self, Write};

use super::calls::{named, row};
use crate::engine::Verdict;
use crate::monitor::Rule;
use crate::monitor::finding::{RuleOutcome, RuleState};
use crate::replay::Replay;
use crate::report::Judged;
use crate::report::paint::Paint;
use crate::report::words::{self, order};

/// Calls of the trace that are shown ahead of the one at fault, and behind it.
const AHEAD: usize = 5;
const BEHIND: usize = 2;

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
        let (name, place) = (words::rule_name(rule), paint.dim(&words::place(rule)));
        row(out, words::ended(state.outcome), format!("{name}{code}  {place}"))?;
    }
    Ok(())
}

fn one(replay: &Replay, state: &RuleState, rule: &Rule, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let code = state.code.map(|code| format!("  {code}")).unwrap_or_default();
    let test = rule.test.as_deref().map(|test| paint.dim(&format!("  {}", words::name(test))));
    let glyph = paint.verdict(Verdict::Deny, "✗");
    writeln!(
        out,
        "  {glyph} {} {}{code}{}",
        rule.kind,
        words::ended(state.outcome),
        test.unwrap_or_default()
    )?;
    row(out, "rule", named(rule, paint))?;
    let Some(violation) = order::violation(state, replay) else { return Ok(()) };
    row(out, "expected", violation.expected)?;
    row(out, "actual", paint.bold(&violation.actual))?;
    trace(replay, state, paint, out)?;
    match violation.suggestion {
        Some(suggestion) => row(out, "suggest", suggestion),
        None => Ok(()),
    }
}

/// The calls that ran around the one at fault, or the last of them, counted from 1.
fn trace(replay: &Replay, state: &RuleState, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let (trace, session) = (order::trace(replay), replay.session());
    let fault = state.position.and_then(|index| trace.iter().position(|call| call.index == index));
    let from = fault.unwrap_or(trace.len()).saturating_sub(AHEAD);
    let to = fault.map_or(trace.len(), |fault| (fault + 1 + BEHIND).min(trace.len()));
    let mut label = "trace";
    let mut line = |text: String| row(out, std::mem::take(&mut label), text);
    if trace.is_empty() {
        return line("no call ran".to_owned());
    }
    if from > 0 {
        line(paint.dim(&format!("… {} before", words::count(from as u64, "call"))))?;
    }
    for (place, call) in trace.iter().enumerate().take(to).skip(from) {
        let tool =
            session.calls.get(call.index as usize).map(|call| words::name(&call.tool)).unwrap_or_default();
        let at = paint.dim(&words::at(*call, session));
        if fault == Some(place) {
            line(format!(
                "{} {}  {at}  {}",
                place + 1,
                paint.bold(&tool),
                paint.verdict(Verdict::Deny, "← here")
            ))?;
        } else {
            line(format!("{} {tool}  {at}", place + 1))?;
        }
    }
    if to < trace.len() {
        line(paint.dim(&format!("… {} after", words::count((trace.len() - to) as u64, "call"))))?;
    }
    Ok(())
}
