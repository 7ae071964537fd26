//! `rulestep stats`: what recordings hold.

use clap::Args;

use super::args::{Caching, Corpus, asks_policy, formats, merged, only_sessions, policies_help};
use super::corpus_run::CorpusRun;
use super::count::Counting;
use super::input;
use super::verb::{COUNTED_IN_PART, Exit, Exits, FAULT, Failure, INTERRUPTED, NOT_JUDGED, Screen, Verb};
use crate::explore::inventory::Inventory;
use crate::report::formats::{formats as report_formats, write};
use crate::report::stats::View;
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::Replay;

/// List what the sessions contain: tools, programs run, files read and written, hosts contacted, projects, days
#[derive(Debug, Args)]
#[command(
    mut_arg("samples", only_sessions),
    mut_arg("mode", |mode| mode.help("With -p: what a replay assumes after a call that the policy stops")),
    mut_arg("shard", merged),
    mut_arg("filter", asks_policy),
    mut_arg("policy", |policy| policy.help(policies_help(". The calls that they stop are counted too. Their key `facts` adds to the page `rulestep explain facts` [default: no policy]")))
)]
pub struct Stats {
    #[command(flatten)]
    pub corpus: Corpus,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = formats(report_formats::<View<'_>>()))]
    pub format: String,
    /// Show every row, not only the first few of each list. JSON always has every row
    #[arg(long)]
    pub full: bool,
    #[command(flatten)]
    pub caching: Caching,
}

impl Verb for Stats {
    const NAME: &'static str = "stats";
    const EXITS: Exits = &[(0, "everything was counted"), COUNTED_IN_PART, NOT_JUDGED, FAULT, INTERRUPTED];

    /// Without a policy nothing is judged.
    fn run(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        let Stats { corpus, format, full, caching } = self;
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
        let (inventory, policy, color) = (&inventory, named.as_deref(), screen.color);
        let view = View { inventory, policy, mode: run.mode, read: &run.read, full: *full, color };
        write(&view, format, screen.out())?;
        Ok(run.exit(false))
    }
}
