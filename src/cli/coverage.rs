//! `rulestep coverage`: what recordings say of every rule.

use super::args;
use super::corpus_run::CorpusRun;
use super::count::Counting;
use super::exit::{Exit, Failure};
use super::input;
use super::screen::Screen;
use crate::explore::coverage::Coverage;
use crate::report::coverage::{OUTPUTS, View};
use rulestep_engine::replay::Replay;

/// Runs the verb.
pub fn run(asked: &args::Coverage, screen: &mut Screen) -> Result<Exit, Failure> {
    let args::Coverage { corpus, format, caching } = asked;
    let mut run = CorpusRun::of("rulestep coverage SESSIONS", corpus, screen)?;
    let policy = input::policy(&corpus.policies, corpus.recordings.samples, screen)?;
    let mut coverage = Coverage::default();
    let counting = Counting { policy: &policy, judge: Replay::with_checks, count: &Coverage::of };
    let cached = (caching, &corpus.policies, "coverage");
    counting.run_cached(&mut run, cached, &mut |counted| coverage.merge(&counted), screen)?;
    if let Some(output) = OUTPUTS.iter().find(|output| output.name == format) {
        let (coverage, policy, color) = (&coverage, &policy, screen.color);
        let view = View { coverage, policy, mode: run.mode, read: &run.read, color };
        (output.write)(&view, screen.out())?;
    }
    Ok(run.exit(false))
}
