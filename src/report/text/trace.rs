//! The calls that ran, around one of them.

use std::io::{self, Write};

use super::row::row;
use crate::report::paint::Paint;
use crate::report::words;
use rulestep_base::session::CallRef;
use rulestep_base::wording::glyph::Glyph;
use rulestep_engine::monitor::Effect;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::{Mode, Verdict};

/// Calls of the trace that are shown ahead of the one at fault, and after it.
const AHEAD: usize = 5;

/// Calls after the one at fault that are shown of a session rule.
const BEHIND: usize = 2;

/// The calls that ran, and the one that is marked among them: it need not have run.
pub struct Trace<'a> {
    ran: &'a [CallRef],
    at: Option<CallRef>,
    mark: &'static str,
    /// Calls after the marked one that are shown.
    behind: usize,
}

/// The calls around one that an order rule objects to.
pub fn of_call<'a>(ran: &'a [CallRef], at: CallRef, effect: Effect, mode: Mode) -> Trace<'a> {
    let mark = match (effect >= Effect::Deny, mode) {
        (true, Mode::Enforce) => "← stopped here",
        _ => "← here",
    };
    Trace { ran, at: Some(at), mark, behind: 0 }
}

/// The calls around the one at which a session rule is violated, or the last of them.
pub fn of_rule<'a>(ran: &'a [CallRef], at: Option<CallRef>) -> Trace<'a> {
    Trace { ran, at, mark: "← here", behind: BEHIND }
}

impl Trace<'_> {
    /// Writes it as rows.
    pub fn write(&self, replay: &Replay, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        let lines = self.lines(replay, paint);
        lines
            .into_iter()
            .enumerate()
            .try_for_each(|(nth, line)| row(out, if nth == 0 { "trace" } else { "" }, line))
    }

    /// A line for each call that is shown, counted from 1.
    pub fn lines(&self, replay: &Replay, paint: Paint) -> Vec<String> {
        let (ran, session) = (self.ran, replay.session());
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
            return vec!["no call ran".to_owned()];
        }
        let mut lines = Vec::new();
        if from > 0 {
            lines.push(paint.dim(&format!("… {} before", words::count(from as u64, "call"))));
        }
        let plain = |calls: std::ops::Range<usize>| {
            let calls = ran.iter().enumerate().take(calls.end).skip(calls.start);
            calls.map(|(number, call)| {
                format!("{} {}  {}", number + 1, shown(*call), paint.dim(&words::at(*call, session)))
            })
        };
        lines.extend(plain(from..place));
        if let Some(at) = self.at {
            // A call that did not run has no place in the trace.
            let number = if marked { (place + 1).to_string() } else { Glyph::None.unicode().to_owned() };
            let (tool, turn) = (paint.bold(&shown(at)), paint.dim(&words::at(at, session)));
            lines.push(format!("{number} {tool}  {turn}  {}", paint.verdict(Verdict::Deny, self.mark)));
        }
        lines.extend(plain(after..to));
        if to < ran.len() && self.behind > 0 {
            lines.push(paint.dim(&format!("… {} after", words::count((ran.len() - to) as u64, "call"))));
        }
        lines
    }
}
