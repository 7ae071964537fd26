//! Rules about a session that are violated: the rule, what it expects, what happened, where, and what would fix it.

use std::io::{self, Write};

use super::calls::{named, row, said};
use crate::engine::Verdict;
use crate::monitor::Rule;
use crate::monitor::finding::{RuleOutcome, RuleState};
use crate::replay::Replay;
use crate::report::Judged;
use crate::report::paint::Paint;
use crate::report::words;
use crate::session::CallRef;

/// Calls of the trace that are shown ahead of the one at fault, and after it.
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
        let (name, place) = (words::rule_name(rule), paint.dim(&rule.place()));
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
    let Some(violation) = words::violation(state, replay) else { return Ok(()) };
    said(out, "expected", violation.expected)?;
    row(out, "actual", paint.bold(&violation.headline.to_string()))?;
    trace(replay, state, paint, out)?;
    said(out, "suggest", violation.way_out)
}

/// The calls that ran around the one at fault, or the last of them, counted from 1.
fn trace(replay: &Replay, state: &RuleState, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let trace = replay.ran();
    let fault = state.position.and_then(|index| replay.session().calls.get(index as usize));
    Trace { ran: &trace, at: fault.map(|call| call.at), mark: "← here", behind: BEHIND }
        .write(replay, paint, out)
}

/// The calls that ran, and the one that is marked among them: it need not have run.
pub(super) struct Trace<'a> {
    pub ran: &'a [CallRef],
    pub at: Option<CallRef>,
    pub mark: &'static str,
    /// Calls after the marked one that are shown.
    pub behind: usize,
}

impl Trace<'_> {
    pub fn write(&self, replay: &Replay, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        let (ran, session) = (self.ran, replay.session());
        let mut label = "trace";
        let mut line = |text: String| row(out, std::mem::take(&mut label), text);
        let shown = |call: CallRef| {
            let call = session.calls.get(call.index as usize);
            call.map(|call| words::name(&call.tool)).unwrap_or_default()
        };
        let place = self.at.map(|at| ran.partition_point(|call| call.index < at.index)).unwrap_or(ran.len());
        let marked = self.at.is_some_and(|at| ran.get(place) == Some(&at));
        let from = place.saturating_sub(AHEAD);
        let after = place + usize::from(marked);
        let to = if self.at.is_some() { (after + self.behind).min(ran.len()) } else { ran.len() };
        if ran.is_empty() && self.at.is_none() {
            return line("no call ran".to_owned());
        }
        if from > 0 {
            line(paint.dim(&format!("… {} before", words::count(from as u64, "call"))))?;
        }
        let plain = |calls: std::ops::Range<usize>, line: &mut dyn FnMut(String) -> io::Result<()>| {
            for (number, call) in ran.iter().enumerate().take(calls.end).skip(calls.start) {
                line(format!("{} {}  {}", number + 1, shown(*call), paint.dim(&words::at(*call, session))))?;
            }
            Ok::<(), io::Error>(())
        };
        plain(from..place, &mut line)?;
        if let Some(at) = self.at {
            // What did not run has no place in the trace.
            let number = if marked { (place + 1).to_string() } else { "–".to_owned() };
            let (tool, turn) = (paint.bold(&shown(at)), paint.dim(&words::at(at, session)));
            line(format!("{number} {tool}  {turn}  {}", paint.verdict(Verdict::Deny, self.mark)))?;
        }
        plain(after..to, &mut line)?;
        if to < ran.len() && self.behind > 0 {
            line(paint.dim(&format!("… {} after", words::count((ran.len() - to) as u64, "call"))))?;
        }
        Ok(())
    }
}
