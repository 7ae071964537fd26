//! `rulestep replay --by KEY`: findings counted by what they have in common.

use clap::builder::{PossibleValue, PossibleValuesParser};

use crate::cli::args::Corpus;
use crate::cli::corpus_run::CorpusRun;
use crate::cli::count::Counting;
use crate::cli::exit::{Exit, Failure};
use crate::cli::input;
use crate::cli::screen::Screen;
use crate::explore::breakdown::{Breakdown, By};
use crate::report::breakdown::View;
use crate::report::formats::{formats, write};
use rulestep_engine::replay::Replay;

/// What findings are counted by.
pub fn keys() -> PossibleValuesParser {
    PossibleValuesParser::new(By::ALL.map(|by| PossibleValue::new(by.word()).help(by.meaning())))
}

/// Counts and prints. It exits as a replay does.
pub fn run(corpus: &Corpus, by: &str, format: &str, screen: &mut Screen) -> Result<Exit, Failure> {
    let Some(by) = By::ALL.into_iter().find(|key| key.word() == by) else {
        return Err(Failure::usage(format!("`--by {by}` is not known")));
    };
    let names: Vec<&str> = formats::<View<'_>>().map(|(name, _)| name).collect();
    if !names.contains(&format) {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let message = format!("`--by` does not write `{}`", format);
        return Err(Failure::usage(message).help(format!("it writes {}", names.join(", "))));
    }
    let mut run = CorpusRun::of("rulestep replay SESSIONS", corpus, screen)?;
    let policy = input::policy(&corpus.policies, corpus.recordings.samples, screen)?;
    let mut breakdown = Breakdown::default();
    let counting =
        Counting { policy: &policy, judge: Replay::new, count: &|replay| Breakdown::of(replay, by) };
    counting.run(&mut run, &mut |counted| breakdown.merge(&counted), screen)?;
    let (breakdown, policy, color) = (&breakdown, &policy, screen.color);
    let view = View { breakdown, by, policy, mode: run.mode, read: &run.read, color };
    write(&view, format, screen.out())?;
    Ok(run.exit(run.read.counts.objected > 0))
}
