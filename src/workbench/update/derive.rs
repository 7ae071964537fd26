//! Derives state after a change: the frame of the selected turn, the lines of the panes, cursors inside their lists,
//! the visible rule.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use crate::compare::Side;
use crate::workbench::layout::{Layout, Pane, shrink};
use crate::workbench::line::Link;
use crate::workbench::list::{List, Tall};
use crate::workbench::model::overlay::BodyView;
use crate::workbench::model::{Frames, Model, Sideways, verdict};
use crate::workbench::pane::sessions;
use rulestep_base::session::Session;

/// After anything.
pub fn derive(model: &mut Model) {
    end_rows(model);
    follow(model);
    let layout = model.layout();
    sessions::measure(model, layout.width(Pane::Sessions));
    // The pane with the keys comes first: the policy pane may show the rule of its row.
    model.derived.link = Link::default();
    let focus = model.place.focus;
    settle_pane(model, &layout, focus);
    model.derived.link = focus.link(model);
    Pane::ALL.into_iter().filter(|pane| *pane != focus).for_each(|pane| settle_pane(model, &layout, pane));
    if focus != Pane::Policy {
        follow_rule(model);
    }
    body(model, &layout);
    fit_bodies(model, &layout);
    model.derived.facts = model.facts();
    keep_overlay(model);
    Pane::ALL.into_iter().for_each(|pane| keep_sideways(model, pane));
    if model.dialog.overlays.len() < model.dialog.sideways.0 {
        model.dialog.sideways = (0, 0);
    }
}

/// The rows of the open session end with the rules that it violates.
pub fn end_rows(model: &mut Model) {
    let rules: Vec<_> = match model.replay() {
        Some(replay) => verdict::violations(replay).map(|state| state.rule).collect(),
        None => Vec::new(),
    };
    let Some(session) = model.session().cloned() else { return };
    model.derived.rows.end_with(rules, &session);
    let last = model.derived.rows.len().saturating_sub(1);
    let list = model.list_mut(Pane::Transcript);
    list.cursor = list.cursor.min(last);
}

/// Goes to the frame of the selected turn if it is available.
fn follow(model: &mut Model) {
    for side in [Side::New, Side::Base] {
        let wish = model.frame_wish(side);
        let frames = model.frames_mut(side);
        match (wish, &mut frames.framed) {
            (None, _) => *frames = Frames::default(),
            (Some(wish), Some(framed)) if Arc::ptr_eq(&framed.replay, &wish.replay) => framed.go(wish.turn),
            _ => {}
        }
    }
}

/// Builds the lines of a pane on screen, and keeps the cursor among them.
fn settle_pane(model: &mut Model, layout: &Layout, pane: Pane) {
    let lines = layout.pane(pane).and_then(|_| pane.lines(model, layout.width(pane)));
    if let Some(derived) = model.derived.lines.get_mut(pane as usize) {
        *derived = lines;
    }
    let (len, height) = pane.extent(model);
    seek(model, pane);
    // The length of an invisible list is unknown.
    if len > 0 && (pane != Pane::Policy || pane == model.place.focus) {
        model.list_mut(pane).keep(len, height);
    }
}

/// Lays out the body of the selected row if it is on screen, unless that was done already.
fn body(model: &mut Model, layout: &Layout) {
    let row = model.list(Pane::Transcript).cursor;
    let session = model.session().filter(|_| layout.body.is_some()).cloned();
    let is_shown = |(of, view): &(Arc<Session>, BodyView)| {
        session.as_ref().is_some_and(|session| Arc::ptr_eq(of, session)) && view.row == row
    };
    if !model.derived.body.as_ref().is_some_and(is_shown) {
        model.derived.body = session.and_then(|session| Some((session, BodyView::beside(model, row)?)));
    }
}

/// Breaks the long lines of bodies on screen for the room that they have, unless they are already.
fn fit_bodies(model: &mut Model, layout: &Layout) {
    let (marks, width) = (model.theme.marks(), |area| usize::from(shrink(area).width));
    for view in model.dialog.views_mut::<BodyView>() {
        view.fit(width(layout.overlay), marks);
    }
    if let (Some((_, view)), Some(area)) = (&mut model.derived.body, layout.body) {
        view.fit(width(area), marks);
    }
}

/// Moves the cursor to the row sought in a pane, once that shows the selected turn.
fn seek(model: &mut Model, pane: Pane) {
    let Some((_, key)) = model.place.sought.take_if(|(wanted, _)| *wanted == pane) else { return };
    if model.frame_wish(Side::New).is_none_or(|wish| !wish.is_met(model.frames(Side::New))) {
        model.place.sought = Some((pane, key));
        return;
    }
    let (len, height) = pane.extent(model);
    let lines = model.built(pane).into_iter().flatten();
    if let Some(line) = lines.map(|line| &line.key).position(|known| known.as_ref() == Some(&key)) {
        model.list_mut(pane).set(line, len, height);
    }
}

/// Brings the shown rule into sight.
fn follow_rule(model: &mut Model) {
    if model.splits() {
        // Both rules are one below the other, from the first line on.
        *model.list_mut(Pane::Policy) = List::default();
        return;
    }
    let Some((_, first, last)) = model.document().and_then(|shown| shown.rule) else { return };
    let (first, last) = (first as usize - 1, last as usize - 1);
    let (len, height) = Pane::Policy.extent(model);
    let list = model.list_mut(Pane::Policy);
    // The whole rule, with a line or two before it; if it is longer, its beginning.
    list.cursor = first;
    if first < list.top || last >= list.top + height {
        list.top = first.saturating_sub(2).min(len.saturating_sub(height));
    }
}

/// Keeps the cursor of the topmost overlay in sight, and the row under it whole.
pub fn keep_overlay(model: &mut Model) {
    in_overlay(model, |tall, list| tall.kept(list));
}

/// Changes the list of the topmost overlay, whose rows may be tall.
pub fn in_overlay(model: &mut Model, change: impl FnOnce(&Tall<'_>, List) -> List) {
    let Some(window) = model.dialog.popup() else { return };
    let space = model.overlay_space(window.list());
    let of = |at| window.height(model, at, &space);
    let tall = Tall { len: window.len(model), lines: space.window.len(), of: &of };
    let list = change(&tall, window.list());
    if let Some(popup) = model.dialog.popup_mut() {
        *popup.list_mut() = list;
    }
}

/// A pane that shows something else than when it was scrolled sideways begins at the left edge again.
fn keep_sideways(model: &mut Model, pane: Pane) {
    let scrolled = model.place.sideways.get(pane as usize).copied().unwrap_or_default();
    if scrolled.out > 0 && scrolled.of != subject(model, pane) {
        scroll_sideways(model, pane, 0);
    }
}

/// Scrolls a pane sideways, as long as it shows the same.
pub fn scroll_sideways(model: &mut Model, pane: Pane, out: usize) {
    let of = if out > 0 { subject(model, pane) } else { 0 };
    if let Some(sideways) = model.place.sideways.get_mut(pane as usize) {
        *sideways = Sideways { out, of };
    }
}

fn subject(model: &Model, pane: Pane) -> u64 {
    let mut hasher = DefaultHasher::new();
    model.layout().width(pane).hash(&mut hasher);
    pane.rows(model).subject(model, &mut hasher);
    hasher.finish()
}
