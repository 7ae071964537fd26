//! Enter: opens what the cursor of a pane is on.

use super::{go, jump, table};
use crate::workbench::layout::Pane;
use crate::workbench::model::Model;
use crate::workbench::pane::Enter;
use crate::workbench::popup::body;

/// Opens what the cursor is on.
pub fn open(model: &mut Model) {
    if model.place.focus == Pane::Sessions && table::fold(model) {
        return;
    }
    match model.place.focus.enter() {
        Enter::Nothing => {}
        Enter::Transcript => go::focus(model, Pane::Transcript),
        Enter::Body => body::open(model),
        Enter::Change => jump::change(model),
        enter => follow(model, enter),
    }
}

/// From a row beside the transcript: from a tool or a precondition to its rule, from others to their call, with the
/// rule shown.
fn follow(model: &mut Model, enter: Enter) {
    let link = model.derived.link;
    match (enter, link.call, link.rule) {
        (Enter::Rule, _, None) => return model.say("this row has no rule"),
        (Enter::Call, Some(index), _) => jump::to_call(model, index),
        _ => go::focus(model, Pane::Policy),
    }
    model.place.pinned = link.rule;
}
