//! `rulestep replay --by KEY`: findings counted by what they have in common.

use std::sync::Arc;

use crate::cli::args;
use crate::cli::count::Counting;
use crate::cli::exit::{Exit, Failure};
use crate::cli::input;
use crate::cli::screen::Screen;
use crate::cli::selection::Selection;
use crate::engine::{Mode, Verdict};
use crate::explore::breakdown::{Breakdown, By};
use crate::replay::Replay;
use crate::report::breakdown::{OUTPUTS, View};
use crate::report::words;
use crate::session::Session;

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
    let selection = Selection::of(&asked.selection)?;
    let policy = input::policy(&asked.policies, asked.recordings.samples, screen)?;
    let mode: Mode = asked.judging.mode.into();
    let counting = Counting {
        recordings: &asked.recordings,
        selection: &selection,
        policy: &policy,
        mode,
        jobs: asked.jobs,
    };
    let (mut breakdown, mut objected, mut apart) = (Breakdown::default(), false, 0);
    let count = |session: Session| {
        let replay = Replay::new(&Arc::new(session), &policy, mode);
        (Breakdown::of(&replay, by), replay.objects(), u64::from(replay.summary().alternatives_stopped))
    };
    let take = &mut |(counted, objects, others): (Breakdown, bool, u64)| {
        breakdown.merge(&counted);
        objected |= objects;
        apart += others;
    };
    let exit = counting.run(&count, take, screen)?;
    let color = screen.color;
    (output.write)(&View { breakdown: &breakdown, by, policy: &policy, color }, screen.out())?;
    if apart > 0 {
        let calls = words::count(apart, "call");
        let did = words::decided(Verdict::Deny, mode);
        screen.say(&format!(
            "not counted: {calls} {did} in choices that were not taken; `replay` without `--by` lists them"
        ));
    }
    Ok(match exit {
        Exit::Interrupted => exit,
        _ if objected => Exit::Found,
        _ => exit,
    })
}
