//! The first screen of the samples: a stopped call, since there is most to see at one, and where to go from there.

use super::jump;
use crate::compare::ChangePlace;
use crate::workbench::keys::Command;
use crate::workbench::layout::Pane;
use crate::workbench::model::Model;

/// Columns from which the line is whole.
const WHOLE: u16 = 90;
/// Columns from which it has room for a command.
const MEDIUM: u16 = 80;

/// Goes to the first stopped call as soon as it is known which one that is.
pub fn begin(model: &mut Model) {
    if !model.habits.welcome {
        return;
    }
    let generation = model.work.generation;
    let mut entries = model.archive.entries.iter().enumerate().filter(|(_, entry)| entry.session.is_some());
    let found = entries.find_map(|(at, entry)| {
        let judged = entry.judgement.as_ref().filter(|_| entry.is_judged(generation));
        // One that is not judged yet may be the first: each start begins at the same call.
        let Some(judgement) = judged else { return Some(None) };
        let mut stops = judgement.marks.iter().filter(|mark| mark.stops).map(|mark| mark.at);
        let call = stops.find(|at| matches!(at, ChangePlace::Call(_)))?;
        Some(Some((at, call)))
    });
    match found {
        Some(Some((entry, call))) => {
            jump::to(model, entry, Ok(call));
            model.place.side = Pane::Decision;
        }
        None if model.work.reading.is_none() && !model.archive.entries.is_empty() => {}
        Some(None) | None => return,
    }
    model.habits.welcome = false;
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
