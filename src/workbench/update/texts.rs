//! In the text of two versions: opening it where the cursor was, going from hunk to hunk, and to what one changes.

use std::sync::Arc;

use super::jump;
use crate::compare::{Comparison, RuleAt};
use crate::workbench::effect::Effect;
use crate::workbench::layout::Pane;
use crate::workbench::model::texts::{Texts, TextsView};
use crate::workbench::model::{ChangeRow, Model, Overlay};

/// Opens the texts, at the hunk that the selected change is about; where they were not compared yet, once they are.
pub fn open(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(comparison) = model.comparison().cloned() else { return };
    match &model.basis.compare.texts {
        Some((known, texts)) if Arc::ptr_eq(known, &comparison) => show(model, Arc::clone(texts)),
        _ => {
            model.basis.compare.opens_texts = true;
            effects.push(Effect::Texts(comparison));
        }
    }
}

/// The texts of two versions are compared; of versions that nobody compares any more, nobody waits for them.
pub fn arrived(model: &mut Model, comparison: Arc<Comparison>, texts: Arc<Texts>) {
    if !model.comparison().is_some_and(|now| Arc::ptr_eq(now, &comparison)) {
        return;
    }
    model.basis.compare.texts = Some((comparison, Arc::clone(&texts)));
    if std::mem::take(&mut model.basis.compare.opens_texts) {
        show(model, texts);
    } else {
        replace(model, texts);
    }
}

fn show(model: &mut Model, texts: Arc<Texts>) {
    if texts.hunks.is_empty() {
        return model.say("the documents of both versions have the same text");
    }
    let mut view = TextsView::new(texts);
    let hunk = rule(model).and_then(|rule| view.texts.hunk_of(rule));
    view.list.cursor = hunk.and_then(|hunk| view.texts.row_of(hunk, model.texts_beside())).unwrap_or(0);
    // What the hunk holds stands below its heading.
    view.list.top = view.list.cursor;
    model.dialog.overlays.push(Overlay::Texts(Box::new(view)));
}

/// The rule of the change under the cursor: in the list of changes, else at the selected call.
fn rule(model: &Model) -> Option<RuleAt> {
    if model.place.focus != Pane::Changes {
        return model.change_here()?.rule;
    }
    match model.change_rows(model.list(Pane::Changes).cursor).next()? {
        ChangeRow::Group(group, _) => group.rule,
        ChangeRow::Change(_, change) => change.rule,
    }
}

/// The texts, if they are open or waited for, are to be those of the versions that are compared now.
pub fn renew(model: &mut Model, effects: &mut Vec<Effect>) {
    model.basis.compare.texts = None;
    let open = place(model).is_some();
    let comparison = model.comparison().filter(|comparison| comparison.base().policy().is_some());
    match comparison.cloned() {
        Some(comparison) if open || model.basis.compare.opens_texts => {
            effects.push(Effect::Texts(comparison))
        }
        Some(_) => {}
        None => {
            model.basis.compare.opens_texts = false;
            replace(model, Arc::default());
        }
    }
}

fn place(model: &Model) -> Option<usize> {
    model.dialog.overlays.iter().position(|overlay| matches!(overlay, Overlay::Texts(_)))
}

/// Puts texts in the place of those that are open; the place in them stays.
fn replace(model: &mut Model, texts: Arc<Texts>) {
    let Some(at) = place(model) else { return };
    if texts.hunks.is_empty() {
        model.dialog.overlays.remove(at);
        if model.dialog.note.is_none() {
            model.say("the documents of both versions have the same text now");
        }
    } else if let Some(Overlay::Texts(view)) = model.dialog.overlays.get_mut(at) {
        view.texts = texts;
    }
}

/// To the next hunk, or to the one before.
pub fn hunk(model: &mut Model, forward: bool) {
    let beside = model.texts_beside();
    let Some(Overlay::Texts(view)) = model.dialog.overlays.last_mut() else { return };
    let here = view.hunk(beside).unwrap_or(0);
    let at_start = view.texts.row_of(here, beside) == Some(view.list.cursor);
    let target = match (forward, at_start) {
        (true, _) => Some(here + 1),
        (false, true) => here.checked_sub(1),
        (false, false) => Some(here),
    };
    match target.and_then(|hunk| view.texts.row_of(hunk, beside)) {
        Some(row) => {
            view.list.cursor = row;
            // The hunk is what is read now: as much of it as fits.
            view.list.top = row;
        }
        None => model.say(if forward { "this is the last edit" } else { "this is the first edit" }),
    }
}

/// To the first change that the hunk under the cursor makes.
pub fn enter(model: &mut Model) {
    let beside = model.texts_beside();
    let Some(Overlay::Texts(view)) = model.dialog.overlays.last() else { return };
    let hunk = view.hunk(beside).and_then(|hunk| view.texts.hunks.get(hunk));
    let Some(row) = hunk.and_then(|hunk| model.first_change_of(hunk)) else {
        return model.say("no change in any session is about a rule at this place");
    };
    model.dialog.overlays.pop();
    model.place.focus = Pane::Changes;
    let (len, height) = Pane::Changes.extent(model);
    model.list_mut(Pane::Changes).set(row, len, height);
    jump::change(model);
}
