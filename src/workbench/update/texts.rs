//! In the text of two versions: opening it where the cursor was, going from hunk to hunk, and to what one changes.

use super::{jump, overlays, say};
use crate::compare::RuleAt;
use crate::workbench::layout::Pane;
use crate::workbench::model::texts::TextsView;
use crate::workbench::model::{ChangeRow, Model, Overlay};
use crate::workbench::view::texts::splits;

/// Opens the texts, at the hunk that the selected change is about.
pub fn open(model: &mut Model) {
    let mut view = TextsView::of(model);
    if view.hunks.is_empty() {
        return say(model, "the documents of both versions have the same text");
    }
    let hunk = rule(model).and_then(|rule| view.hunk_of(rule));
    view.list.cursor = hunk.and_then(|hunk| view.row_of(hunk, splits(model))).unwrap_or(0);
    // What the hunk holds stands below its heading.
    view.list.top = view.list.cursor;
    model.overlays.push(Overlay::Texts(Box::new(view)));
    overlays::keep(model);
}

/// The rule of the change under the cursor: in the list of changes, else at the selected call.
fn rule(model: &Model) -> Option<RuleAt> {
    if model.focus != Pane::Changes {
        return model.change_here()?.rule;
    }
    match model.change_rows(model.list(Pane::Changes).cursor).next()? {
        ChangeRow::Group(group, _) => group.rule,
        ChangeRow::Change(_, change) => change.rule,
    }
}

/// The texts, if they are open, are those of the versions that are compared now.
pub fn renew(model: &mut Model) {
    let Some(at) = model.overlays.iter().position(|overlay| matches!(overlay, Overlay::Texts(_))) else {
        return;
    };
    let mut view = TextsView::of(model);
    let before = model.overlays.remove(at);
    if view.hunks.is_empty() {
        return say(model, "the documents of both versions have the same text now");
    }
    if let Overlay::Texts(before) = before {
        view.list = before.list;
    }
    model.overlays.insert(at, Overlay::Texts(Box::new(view)));
    overlays::keep(model);
}

/// To the next hunk, or to the one before.
pub fn hunk(model: &mut Model, forward: bool) {
    let beside = splits(model);
    let Some(Overlay::Texts(view)) = model.overlays.last_mut() else { return };
    let here = view.hunk(beside).unwrap_or(0);
    let at_start = view.row_of(here, beside) == Some(view.list.cursor);
    let target = match (forward, at_start) {
        (true, _) => Some(here + 1),
        (false, true) => here.checked_sub(1),
        (false, false) => Some(here),
    };
    match target.and_then(|hunk| view.row_of(hunk, beside)) {
        Some(row) => {
            view.list.cursor = row;
            // The hunk is what is read now: as much of it as fits.
            view.list.top = row;
        }
        None => say(model, if forward { "this is the last hunk" } else { "this is the first hunk" }),
    }
    overlays::keep(model);
}

/// To the first change that the hunk under the cursor makes.
pub fn enter(model: &mut Model) {
    let beside = splits(model);
    let Some(Overlay::Texts(view)) = model.overlays.last() else { return };
    let hunk = view.hunk(beside).and_then(|hunk| view.hunks.get(hunk));
    let Some(row) = hunk.and_then(|hunk| model.first_change_of(hunk)) else {
        return say(model, "no change in any session is about a rule that stands here");
    };
    model.overlays.pop();
    model.focus = Pane::Changes;
    let (len, height) = super::go::extent(model, Pane::Changes);
    model.list_mut(Pane::Changes).set(row, len, height);
    jump::change(model);
}
