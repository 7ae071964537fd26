//! Scrolling a pane or a popup sideways whose text is wider than it.

use std::ops::Range;

use super::derive::scroll_sideways;
use crate::workbench::layout::Pane;
use crate::workbench::model::Model;
use crate::workbench::rows::are_cut;

/// Half its width to the right, as long as something is cut there, or back.
pub fn step(model: &mut Model, right: bool) {
    let pane = model.place.focus;
    let (window, out) = (model.dialog.popup(), model.scrolled());
    let (cut, stride) = match window {
        Some(window) => (are_cut(window, model, &model.overlay_space(window.list())), window.stride(model)),
        None => (pane.is_cut(model), model.layout().width(pane) / 2),
    };
    if right && !cut {
        return model.say(match out {
            0 => "nothing is cut here",
            _ => "this is where the longest row ends",
        });
    }
    let stride = stride.max(1);
    let out = if right { out + stride } else { out.saturating_sub(stride) };
    match model.dialog.overlays.len() {
        0 => scroll_sideways(model, pane, out),
        overlays => model.dialog.sideways = (overlays, out),
    }
}

/// Brings columns of a row into view.
pub fn show(model: &mut Model, pane: Pane, columns: Range<usize>) {
    let (width, out) = (model.layout().width(pane), model.out(pane));
    // The outermost columns may have the marks of cut text.
    if columns.end < width {
        scroll_sideways(model, pane, 0);
    } else if columns.start <= out || columns.end >= out + width {
        scroll_sideways(model, pane, columns.start.saturating_sub(width / 4));
    }
}
