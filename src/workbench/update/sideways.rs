//! Scrolling a pane sideways whose text is wider than it.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use super::{go, say};
use crate::workbench::layout::Pane;
use crate::workbench::model::{Model, Sideways};
use crate::workbench::view;

/// Half a pane to the right, as long as something is cut there, or back.
pub fn step(model: &mut Model, right: bool) {
    let pane = model.focus;
    if right && !view::is_cut(model, pane) {
        let text = match model.out(pane) {
            0 => "nothing is cut in this pane",
            _ => "this is where the longest row ends",
        };
        return say(model, text);
    }
    let step = (view::width(&model.layout(), pane) / 2).max(1);
    let out = model.out(pane);
    set(model, pane, if right { out + step } else { out.saturating_sub(step) });
}

/// Brings columns of a row into view.
pub fn show(model: &mut Model, pane: Pane, columns: Range<usize>) {
    let (width, out) = (view::width(&model.layout(), pane), model.out(pane));
    // The outermost columns may bear the marks of what is cut.
    if columns.end < width {
        set(model, pane, 0);
    } else if columns.start <= out || columns.end >= out + width {
        set(model, pane, columns.start.saturating_sub(width / 4));
    }
}

/// Panes that show something else than when they were scrolled begin at the left edge again.
pub fn keep(model: &mut Model) {
    for pane in Pane::ALL {
        let scrolled = model.sideways.get(pane as usize).copied().unwrap_or_default();
        if scrolled.out > 0 && scrolled.of != content(model, pane) {
            set(model, pane, 0);
        }
    }
}

fn set(model: &mut Model, pane: Pane, out: usize) {
    let of = if out > 0 { content(model, pane) } else { 0 };
    if let Some(sideways) = model.sideways.get_mut(pane as usize) {
        *sideways = Sideways { out, of };
    }
}

/// What a pane shows, in a number. Where its cursor is makes no difference.
fn content(model: &Model, pane: Pane) -> u64 {
    let mut hasher = DefaultHasher::new();
    let width = view::width(&model.layout(), pane);
    width.hash(&mut hasher);
    match pane {
        Pane::Sessions => {}
        Pane::Transcript => {
            (model.open, model.session().map(|session| Arc::as_ptr(session).addr())).hash(&mut hasher);
        }
        Pane::Policy if !model.splits() => {
            if let Some(shown) = view::policy::shown(model) {
                (shown.source.name(), shown.rule, shown.source.text()).hash(&mut hasher);
            }
        }
        Pane::Changes => {
            let (len, _) = go::extent(model, pane);
            (len, &model.changes.since).hash(&mut hasher);
        }
        _ => {
            let lines = view::lines(model, pane, width);
            lines.iter().for_each(|line| line.plain().hash(&mut hasher));
        }
    }
    hasher.finish()
}
