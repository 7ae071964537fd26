//! `rulestep coverage`: what recordings say of every rule.

use super::args;
use super::count::Counting;
use super::exit::{Exit, Failure};
use super::input;
use super::screen::Screen;
use super::selection::Selection;
use crate::explore::coverage::Coverage;
use crate::report::coverage::OUTPUTS;

/// Runs the verb.
pub fn run(asked: &args::Coverage, screen: &mut Screen) -> Result<Exit, Failure> {
    let selection = Selection::of(&asked.selection)?;
    let policy = input::policy(&asked.policies, asked.recordings.samples, screen)?;
    let mode = asked.judging.mode.into();
    let counting = Counting {
        recordings: &asked.recordings,
        selection: &selection,
        policy: &policy,
        mode,
        jobs: asked.jobs,
    };
    let mut coverage = Coverage::default();
    let count = |session| Coverage::of(&session, &policy, mode);
    let exit = counting.run(&count, &mut |counted| coverage.merge(&counted), screen)?;
    if let Some(output) = OUTPUTS.iter().find(|output| output.name == asked.format) {
        let color = screen.color;
        (output.write)(&coverage, &policy, color, screen.out())?;
    }
    Ok(exit)
}
