//! Enter: opens what the cursor is on, in a pane or an overlay.

use super::{cases, compare, go, hits, jump, overlays, suggest, survey, table, tester, texts, way_out};
use crate::compare::ChangePlace;
use crate::workbench::effect::Effect;
use crate::workbench::keys::{Command, Scope};
use crate::workbench::layout::Pane;
use crate::workbench::model::overlay::HelpRow;
use crate::workbench::model::{Model, Overlay};
use crate::workbench::pane::Enter;

/// Opens what the cursor is on; of a list of commands, gives the one to run.
pub fn open(model: &mut Model, effects: &mut Vec<Effect>) -> Option<Command> {
    if model.dialog.overlays.is_empty() && model.place.focus == Pane::Sessions && table::fold(model) {
        return None;
    }
    match model.dialog.overlays.last() {
        Some(Overlay::Findings(found)) => {
            let (entry, at, rule) = found.row().map(|row| (row.entry, row.at, row.rule_id))?;
            model.dialog.overlays.pop();
            // The list of rules that they were asked for from is left as well.
            model.dialog.overlays.retain(|overlay| !matches!(overlay, Overlay::Survey(_)));
            jump::to(model, entry, if at == ChangePlace::End { Err(rule) } else { Ok(at) });
            go::focus(model, Pane::Transcript);
        }
        Some(Overlay::Help(help)) => {
            let shown = help.shown(model);
            let Some(HelpRow::Command(row)) = shown.get(help.list.cursor) else {
                model.say("this row explains what is on the screen; there is nothing to run");
                return None;
            };
            let scope = help.scope.unwrap_or(Scope::Panes);
            let command = row.command;
            if let Some(missing) = row.missing_in(scope, &model.facts()) {
                let missing = model.habits.keymap.worded(missing).into_owned();
                model.say(missing);
                return None;
            }
            model.dialog.overlays.pop();
            return Some(command);
        }
        Some(Overlay::Body(_)) => overlays::fold(model, Command::Fold),
        Some(Overlay::Problems(_)) => overlays::edit(model, effects),
        Some(Overlay::Loads(view)) => {
            let row = view.list.cursor;
            model.dialog.overlays.pop();
            compare::load_before(model, row, effects);
        }
        Some(Overlay::Hits(_)) => hits::enter(model),
        Some(Overlay::Texts(_)) => texts::enter(model),
        Some(Overlay::Survey(_)) => survey::enter(model),
        Some(Overlay::Cases(_)) => cases::enter(model),
        Some(Overlay::WayOut(_)) => way_out::enter(model),
        Some(Overlay::Suggest(_)) => suggest::enter(model),
        Some(Overlay::Tester(_)) => tester::open(model),
        Some(Overlay::Draft(_)) => suggest::write(model, effects),
        // While the palette is open, keys are text, and its own; a reference page has nothing to open.
        Some(Overlay::Palette(_) | Overlay::Reference(_)) => {}
        None => match model.place.focus.enter() {
            Enter::Nothing => {}
            Enter::Transcript => go::focus(model, Pane::Transcript),
            Enter::Body => overlays::body(model),
            Enter::Change => jump::change(model),
            enter => follow(model, enter),
        },
    }
    None
}

/// From a row beside the transcript: of a tool or a precondition to its rule, of others to the call they speak of, with
/// the rule shown.
fn follow(model: &mut Model, enter: Enter) {
    let link = model.settled.link;
    match (enter, link.call, link.rule) {
        (Enter::Rule, _, None) => return model.say("this row has no rule"),
        (Enter::Call, Some(index), _) => jump::to_call(model, index),
        _ => go::focus(model, Pane::Policy),
    }
    model.place.pinned = link.rule;
}
