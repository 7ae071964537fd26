//! `rulestep stats`: what recordings hold.

use super::args;
use super::count::{Counting, ended};
use super::exit::{Exit, Failure};
use super::input;
use super::screen::Screen;
use super::selection::Selection;
use crate::explore::inventory::Inventory;
use crate::report::stats::{OUTPUTS, View};
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;
use rulestep_engine::run::Mode;

/// Runs the verb. Without a policy nothing is judged.
pub fn run(asked: &args::Stats, screen: &mut Screen) -> Result<Exit, Failure> {
    let args::Stats { corpus, format, full, caching } = asked;
    let selection = Selection::of(&corpus.selection)?;
    let named = !corpus.policies.policy.is_empty();
    if !named {
        let mode: Mode = corpus.judging.mode.into();
        selection.without_policy(mode)?;
    }
    let policy = match named {
        true => input::policy(&corpus.policies, false, screen)?,
        false => Policy::empty(),
    };
    let mode = corpus.judging.mode.into();
    let counting = Counting::new("stats", &corpus.recordings, &selection, policy, mode, corpus.jobs)?;
    let mut inventory = Inventory::default();
    let mut take = |counted| inventory.merge(&counted);
    let cached = (caching, &corpus.policies, "stats");
    let read = counting.run_cached(cached, Replay::new, &Inventory::of, &mut take, screen)?;
    if let Some(output) = OUTPUTS.iter().find(|output| output.name == format) {
        let policy = named.then_some(&*counting.policy);
        let (inventory, color) = (&inventory, screen.color);
        let view = View { inventory, policy, mode, read: &read, full: *full, color };
        (output.write)(&view, screen.out())?;
    }
    Ok(ended(&read))
}
