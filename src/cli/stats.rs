//! `rulestep stats`: what recordings hold.

use super::args;
use super::corpus_run::CorpusRun;
use super::count::Counting;
use super::exit::{Exit, Failure};
use super::input;
use super::screen::Screen;
use crate::explore::inventory::Inventory;
use crate::report::stats::{OUTPUTS, View};
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;

/// Runs the verb. Without a policy nothing is judged.
pub fn run(asked: &args::Stats, screen: &mut Screen) -> Result<Exit, Failure> {
    let args::Stats { corpus, format, full, caching } = asked;
    let mut run = CorpusRun::of("rulestep stats SESSIONS", corpus, screen)?;
    let named = input::named_policy(&corpus.policies, screen)?;
    if named.is_none() {
        run.selection.without_policy(run.mode)?;
    }
    let policy = named.clone().unwrap_or_else(Policy::empty);
    let mut inventory = Inventory::default();
    let counting = Counting { policy: &policy, judge: Replay::new, count: &Inventory::of };
    let cached = (caching, &corpus.policies, "stats");
    counting.run_cached(&mut run, cached, &mut |counted| inventory.merge(&counted), screen)?;
    if let Some(output) = OUTPUTS.iter().find(|output| output.name == format) {
        let (inventory, policy, color) = (&inventory, named.as_deref(), screen.color);
        let view = View { inventory, policy, mode: run.mode, read: &run.read, full: *full, color };
        (output.write)(&view, screen.out())?;
    }
    Ok(run.exit(false))
}
