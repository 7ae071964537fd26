//! Equal findings of one rule in one session: one block, with a count and the places of the others.

use std::collections::HashMap;
use std::io::{self, Write};

use super::row::row;
use crate::compare::Kind;
use crate::report::words;
use crate::report::words::live::LiveWords;
use rulestep_base::diagnostic::Code;
use rulestep_base::session::{Call, Outcome};
use rulestep_engine::monitor::RuleId;
use rulestep_engine::replay::{DecidedCall, Replay};
use rulestep_engine::run::Verdict;

/// Calls of a block that are listed below it.
const LISTED: usize = 4;

/// Calls that would read alike: the first is shown in full.
pub struct Block<'r> {
    pub first: (&'r Call, &'r DecidedCall),
    pub others: Vec<&'r Call>,
}

/// What two calls of one block have in common.
#[derive(PartialEq, Eq, Hash)]
struct Likeness<'r> {
    tool: &'r str,
    verdict: Verdict,
    counterfactual: bool,
    outcome: Outcome,
    rule: RuleId,
    code: Code,
    sentence: String,
    live: Option<(String, String, Option<Kind>)>,
}

/// The blocks of these calls, in the order of their first ones.
pub fn blocks<'r>(
    replay: &'r Replay,
    calls: impl Iterator<Item = (&'r Call, &'r DecidedCall)>,
) -> Vec<Block<'r>> {
    let mut blocks: Vec<Block<'r>> = Vec::new();
    let mut known: HashMap<Likeness<'r>, usize> = HashMap::new();
    for (call, decided) in calls {
        let place = blocks.len();
        let seen = alike(replay, call, decided).map(|alike| *known.entry(alike).or_insert(place));
        match seen.and_then(|at| blocks.get_mut(at)) {
            Some(block) => block.others.push(call),
            None => blocks.push(Block { first: (call, decided), others: Vec::new() }),
        }
    }
    blocks
}

/// A call that nothing stopped is alone.
fn alike<'r>(replay: &'r Replay, call: &'r Call, decided: &'r DecidedCall) -> Option<Likeness<'r>> {
    let finding = decided.decision.deciding()?;
    let explanation = finding.explain(replay.policy().rules(), replay.session())?;
    Some(Likeness {
        tool: &call.tool,
        verdict: decided.decision.verdict,
        counterfactual: decided.counterfactual,
        outcome: call.outcome,
        rule: finding.rule,
        code: finding.code,
        sentence: explanation.headline.whole(),
        live: LiveWords::of(call, decided, replay.policy()).map(|live| (live.verdict, live.by, live.change)),
    })
}

impl Block<'_> {
    /// The number of calls that it represents, if it is more than one.
    pub fn count(&self) -> Option<String> {
        let count = self.others.len() as u64 + 1;
        (count > 1).then(|| words::count(count, "call"))
    }

    /// Writes the places of the others, and their errors.
    pub fn others(&self, replay: &Replay, out: &mut dyn Write) -> io::Result<()> {
        for (nth, call) in self.others.iter().take(LISTED).enumerate() {
            let label = if nth == 0 { "also at" } else { "" };
            row(
                out,
                label,
                format!("{}  {}", words::at(call.at, replay.session()), words::call::call(call)),
            )?;
        }
        match self.others.len().saturating_sub(LISTED) {
            0 => Ok(()),
            rest => row(out, "", format!("and {} more (--full shows all)", words::thousands(rest as u64))),
        }
    }
}
