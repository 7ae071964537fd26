//! `rulestep replay --by KEY`: findings counted by what they have in common.

use crate::cli::args;
use crate::cli::count::{Counting, ended};
use crate::cli::exit::{Exit, Failure};
use crate::cli::input;
use crate::cli::screen::Screen;
use crate::cli::selection::Selection;
use crate::explore::breakdown::{Breakdown, By};
use crate::report::breakdown::{OUTPUTS, View};
use rulestep_engine::replay::Replay;

/// Counts and prints. It exits as a replay does.
pub fn run(asked: &args::Replay, by: &str, screen: &mut Screen) -> Result<Exit, Failure> {
    let Some(by) = By::ALL.into_iter().find(|key| key.word() == by) else {
        return Err(Failure::usage(format!("`--by {by}` is not known")));
    };
    let Some(output) = OUTPUTS.iter().find(|output| output.name == asked.format) else {
        let names: Vec<String> = OUTPUTS.iter().map(|output| format!("`{}`", output.name)).collect();
        let message = format!("`--by` does not write `{}`", asked.format);
        return Err(Failure::usage(message).help(format!("it writes {}", names.join(", "))));
    };
    let selection = Selection::of(&asked.corpus.selection)?;
    let policy = input::policy(&asked.corpus.policies, asked.corpus.recordings.samples, screen)?;
    let mode = asked.corpus.judging.mode.into();
    let counting =
        Counting::new("replay", &asked.corpus.recordings, &selection, policy, mode, asked.corpus.jobs)?;
    let mut breakdown = Breakdown::default();
    let count = |replay: &Replay| Breakdown::of(replay, by);
    let read = counting.run(Replay::new, &count, &mut |counted| breakdown.merge(&counted), screen)?;
    let (policy, mode) = (&counting.policy, counting.mode);
    let view = View { breakdown: &breakdown, by, policy, mode, read: &read, color: screen.color };
    (output.write)(&view, screen.out())?;
    Ok(match ended(&read) {
        Exit::Interrupted => Exit::Interrupted,
        _ if read.objected > 0 => Exit::Found,
        exit => exit,
    })
}
