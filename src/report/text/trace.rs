//! The calls that ran, around one of them.

use std::io::{self, Write};

use super::row::row;
use crate::engine::Verdict;
use crate::replay::Replay;
use crate::report::paint::Paint;
use crate::report::words;
use crate::session::CallRef;

/// Calls of the trace that are shown ahead of the one at fault, and after it.
const AHEAD: usize = 5;

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
