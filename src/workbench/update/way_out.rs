//! The way out of the selected call: asked for, taken in, and tried as a what-if.

use std::sync::Arc;

use super::suppose;
use crate::report::words::name;
use crate::workbench::effect::{Effect, WayOutRequest};
use crate::workbench::keys::Command;
use crate::workbench::list::List;
use crate::workbench::model::supposed::{Land, Target};
use crate::workbench::model::way_out::{WayOutAnswer, WayOutView};
use crate::workbench::model::{Model, Overlay};
use rulestep_base::session::edit::Edit;

/// Asks for it.
pub fn open(model: &mut Model, effects: &mut Vec<Effect>) {
    let stopped = model.judged_call().is_some_and(|judged| judged.decision.verdict.stops());
    let (Some(call), Some(replay)) = (model.call().filter(|_| stopped), model.replay()) else {
        let why = (Command::WayOut.row().missing)(&model.facts());
        return model.say(why.unwrap_or("no rule stops this call, so there is nothing to get out of"));
    };
    let (at, of) = (call.at, format!("T{}.{} {}", call.at.turn, call.at.call, name(&call.tool)));
    let replay = Arc::clone(replay);
    let known = match model.target() {
        Some(Target::Known(known)) => Some(known),
        Some(Target::Added(_)) | None => None,
    };
    let number = model.work.next_number();
    let view = WayOutView { number, of, known, answer: None, list: List::default() };
    model.dialog.overlays.push(Overlay::WayOut(view));
    effects.push(Effect::WayOut(Box::new(WayOutRequest { number, replay, call: at.index })));
}

/// It was looked for. Where it is not waited for any more, nothing happens.
pub fn found(model: &mut Model, number: u64, answer: Option<WayOutAnswer>) {
    for overlay in &mut model.dialog.overlays {
        if let Overlay::WayOut(view) = overlay
            && view.number == number
        {
            view.answer.clone_from(&answer);
        }
    }
}

/// Supposes what it says.
pub fn enter(model: &mut Model) {
    let Some(Overlay::WayOut(view)) = model.dialog.overlays.last() else { return };
    let Some(answer) = &view.answer else { return };
    if answer.edits.is_empty() {
        return model.say("nothing helps, so there is nothing to try");
    }
    let Some(known) = view.known else {
        return model.say("this call was added by a what-if, and nothing can be put before it");
    };
    let edits: Vec<Edit> = answer.edits.iter().cloned().map(|edit| at(edit, known)).collect();
    model.dialog.overlays.pop();
    let said = match edits.first() {
        Some(Edit::Arguments { .. }) => "what if the call had this argument",
        Some(Edit::NextTurn(_)) => "what if the call were made in a turn of its own",
        _ => "what if these calls had been made before",
    };
    suppose::change(model, Land::Stay, |what_if| edits.into_iter().for_each(|edit| what_if.edit(edit)));
    model.say(said);
}

/// The change, about the call as the what-if numbers it.
fn at(edit: Edit, known: u32) -> Edit {
    match edit {
        Edit::AddTurn { call, .. } => Edit::AddTurn { before: known, call },
        Edit::NextTurn(_) => Edit::NextTurn(known),
        Edit::Arguments { arguments, .. } => Edit::Arguments { call: known, arguments },
        other => other,
    }
}
