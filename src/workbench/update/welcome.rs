//! The first screen: a stopped call, because that is what users look for, and where most is visible; for the samples
//! also hints where to go from there.

use super::jump;
use crate::compare::ChangePlace;
use crate::workbench::keys::Command;
use crate::workbench::layout::Pane;
use crate::workbench::model::{Model, Welcome};
use rulestep_engine::run::Mode;

/// Columns from which the line is whole.
const WHOLE: u16 = 90;
/// Columns from which it has room for a command.
const MEDIUM: u16 = 80;

/// Number of the user's own sessions that are checked: users begin to read before more are judged.
const LOOKED_AT: usize = 2000;

/// Goes to the first stopped call as soon as it is known.
pub fn begin(model: &mut Model) {
    let welcome = model.preferences.welcome;
    if welcome == Welcome::Over {
        return;
    }
    let reading = model.work.reading.is_some();
    if reading && model.archive.table.sort.is_some() {
        // The first in that order is not known yet.
        return;
    }
    let generation = model.work.generation;
    let mut entries = model.scope().filter_map(|at| Some((at, model.archive.entries.get(at)?)));
    let mut looked = 0;
    let found = entries.by_ref().filter(|(_, entry)| entry.session.is_some()).find_map(|(at, entry)| {
        looked += 1;
        let judged = entry.judgement.as_ref().filter(|_| entry.is_judged(generation));
        // One that is not judged yet may be the first: each start begins at the same call.
        let Some(judgement) = judged else { return Some(None) };
        let mut stops = judgement.marks.iter().filter(|mark| mark.stops).map(|mark| mark.at);
        let call = stops.find(|at| matches!(at, ChangePlace::Call(_))).map(Ok);
        let mut violated = judgement.violations.iter().filter(|violation| violation.enforced);
        let rule = || violated.next().map(|violation| Err(violation.rule));
        Some(Some((at, call.or_else(rule)?)))
    });
    match found {
        Some(Some((entry, place))) => {
            jump::to(model, entry, place);
            model.place.side = Pane::Decision;
            // An earlier failure is not hidden by it.
            let failed = model.dialog.note.as_ref().is_some_and(|note| note.failed);
            if welcome == Welcome::Recordings && !failed {
                tell_first(model, place.is_ok());
            }
        }
        None if !reading && !model.archive.entries.is_empty() => {}
        // A user who reads a session meanwhile is not moved.
        Some(None) | None if welcome == Welcome::Recordings && looked > LOOKED_AT => {}
        Some(None) | None => return,
    }
    model.preferences.welcome = Welcome::Over;
    if welcome == Welcome::Samples {
        tell_samples(model);
    }
}

/// Why it does not begin at the first session.
fn tell_first(model: &mut Model, is_call: bool) {
    let what = match (is_call, model.basis.mode) {
        (true, Mode::Enforce) => "call that is stopped",
        (true, Mode::Shadow) => "call that would be stopped",
        (false, _) => "violated session rule",
    };
    let next = model.key(Command::NextFinding);
    model.say(format!("the first {what}; {next} goes to the next"));
}

fn tell_samples(model: &mut Model) {
    let [next, help] = [Command::NextFinding, Command::Help].map(|command| model.key(command));
    model.say(match model.size.width {
        WHOLE.. => {
            format!(
                "These are samples. {next} next finding · your own: `rulestep SESSIONS -p POLICIES` · {help} help"
            )
        }
        MEDIUM.. => {
            format!("Samples. {next} next finding · your own: `rulestep SESSIONS -p POLICIES` · {help} help")
        }
        _ => format!("Samples. {next} next · {help} help"),
    });
}
