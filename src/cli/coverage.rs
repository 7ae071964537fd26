//! `rulestep coverage`: what recordings say of every rule.

use clap::Args;

use super::args::{Caching, Corpus, formats, merged};
use super::corpus_run::CorpusRun;
use super::count::Counting;
use super::input;
use super::verb::{COUNTED_IN_PART, Exit, Exits, FAULT, Failure, INTERRUPTED, NOT_JUDGED, Screen, Verb};
use crate::explore::coverage;
use crate::report::coverage::View;
use crate::report::formats::{formats as report_formats, write};
use rulestep_engine::replay::Replay;

/// Show for each rule how often it was checked and how often it stopped a call, and list the rules that were never checked
#[derive(Debug, Args)]
#[command(mut_arg("shard", merged))]
pub struct Coverage {
    #[command(flatten)]
    pub corpus: Corpus,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = formats(report_formats::<View<'_>>()))]
    pub format: String,
    #[command(flatten)]
    pub caching: Caching,
}

impl Verb for Coverage {
    const NAME: &'static str = "coverage";
    const EXITS: Exits = &[
        (0, "everything was counted, whatever the rules found"),
        COUNTED_IN_PART,
        NOT_JUDGED,
        FAULT,
        INTERRUPTED,
    ];

    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        let Coverage { corpus, format, caching } = self;
        let mut run = CorpusRun::of("rulestep coverage SESSIONS", corpus, screen)?;
        let policy = input::policy(&corpus.policies, corpus.recordings.samples, screen)?;
        let mut coverage = coverage::Coverage::default();
        let counting =
            Counting { policy: &policy, judge: Replay::with_checks, count: &coverage::Coverage::of };
        let cached = (caching, &corpus.policies, "coverage");
        counting.run_cached(&mut run, cached, &mut |counted| coverage.merge(&counted), screen)?;
        let (coverage, policy, color) = (&coverage, &policy, screen.color);
        let view = View { coverage, policy, mode: run.mode, read: &run.read, color };
        write(&view, format, screen.out())?;
        Ok(run.exit(false))
    }
}
