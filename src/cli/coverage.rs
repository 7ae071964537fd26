//! `rulestep coverage`: what recordings say of every rule.

use super::args;
use super::count::{Counting, ended};
use super::exit::{Exit, Failure};
use super::input;
use super::screen::Screen;
use super::selection::Selection;
use crate::explore::coverage::Coverage;
use crate::report::coverage::{OUTPUTS, View};
use rulestep_engine::replay::Replay;

/// Runs the verb.
pub fn run(asked: &args::Coverage, screen: &mut Screen) -> Result<Exit, Failure> {
    let args::Coverage { corpus, format, caching } = asked;
    let selection = Selection::of(&corpus.selection)?;
    let policy = input::policy(&corpus.policies, corpus.recordings.samples, screen)?;
    let mode = corpus.judging.mode.into();
    let counting = Counting::new("coverage", &corpus.recordings, &selection, policy, mode, corpus.jobs)?;
    let mut coverage = Coverage::default();
    let mut take = |counted| coverage.merge(&counted);
    let cached = (caching, &corpus.policies, "coverage");
    let read = counting.run_cached(cached, Replay::with_checks, &Coverage::of, &mut take, screen)?;
    if let Some(output) = OUTPUTS.iter().find(|output| output.name == format) {
        let policy = &counting.policy;
        let view = View { coverage: &coverage, policy, mode, read: &read, color: screen.color };
        (output.write)(&view, screen.out())?;
    }
    Ok(ended(&read))
}
