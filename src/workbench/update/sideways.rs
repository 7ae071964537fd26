//! Scrolling a pane sideways whose text is wider than it.

use std::ops::Range;

use super::settle::scroll_sideways;
use crate::workbench::layout::Pane;
use crate::workbench::model::Model;

/// Half a pane to the right, as long as something is cut there, or back.
pub fn step(model: &mut Model, right: bool) {
    let pane = model.place.focus;
    if right && !pane.is_cut(model) {
        let text = match model.out(pane) {
            0 => "nothing is cut in this pane",
            _ => "this is where the longest row ends",
        };
        return model.say(text);
    }
    let step = (model.layout().width(pane) / 2).max(1);
    let out = model.out(pane);
    scroll_sideways(model, pane, if right { out + step } else { out.saturating_sub(step) });
}

/// Brings columns of a row into view.
pub fn show(model: &mut Model, pane: Pane, columns: Range<usize>) {
    let (width, out) = (model.layout().width(pane), model.out(pane));
    // The outermost columns may bear the marks of what is cut.
    if columns.end < width {
        scroll_sideways(model, pane, 0);
    } else if columns.start <= out || columns.end >= out + width {
        scroll_sideways(model, pane, columns.start.saturating_sub(width / 4));
    }
}
