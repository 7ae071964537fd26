//! The mouse: the element under the pointer is found in the layout, then handled as if keys had gone there.

use ratatui::layout::{Position, Rect};

use super::{go, table};
use crate::workbench::effect::Effect;
use crate::workbench::keys::Command;
use crate::workbench::layout::{Pane, Shape, shrink};
use crate::workbench::list::{Go, List};
use crate::workbench::message::{Mouse, MouseAct};
use crate::workbench::model::Model;
use crate::workbench::model::preferences::{Click, Target, Welcome};
use crate::workbench::model::table::TableLine;
use crate::workbench::pane::{sessions, tabs};
use crate::workbench::rows::{Rows, Space};

/// Rows that a notch of the wheel scrolls.
const NOTCH: isize = 3;
/// Two clicks within this many milliseconds on one row open it.
const DOUBLE: i64 = 400;

/// The element at a position of the screen; `None` if there is no pane and no overlay.
pub fn target(model: &Model, at: Position) -> Option<Target> {
    let layout = model.layout();
    if layout.shape == Shape::TooSmall {
        return None;
    }
    if let Some(window) = model.dialog.popup() {
        let inner = shrink(layout.overlay);
        let row = row_at(window, model, &model.overlay_space(window.list()), inner, at);
        let inside = layout.overlay.contains(at).then_some(Target::Overlay);
        return row.map(Target::OverlayRow).or(inside);
    }
    if let Some(area) = layout.tabs.filter(|area| area.contains(at)) {
        let mut end = area.x;
        return tabs(area.width, model, &layout).into_iter().find_map(|(pane, text)| {
            end += u16::try_from(text.len() + 1).unwrap_or(u16::MAX);
            (at.x < end).then_some(Target::Pane(pane))
        });
    }
    let (pane, _) = *layout.panes.iter().find(|(_, area)| area.contains(at))?;
    let areas = pane.areas(model, &layout)?;
    if pane == Pane::Sessions && areas.above.contains(at) && at.y + 1 == areas.above.bottom() {
        let (width, x) = (usize::from(areas.above.width), usize::from(at.x - areas.above.x));
        if let Some(column) = sessions::heading_at(model, width, x) {
            return Some(Target::Heading(column));
        }
    }
    let row = row_at(pane.rows(model), model, &pane.space(model, areas.rows), areas.rows, at);
    Some(row.map_or(Target::Pane(pane), |row| Target::Row(pane, row)))
}

/// The row at a place: rows take as many rows of the screen as they are drawn in.
fn row_at(rows: &dyn Rows, model: &Model, space: &Space<'_>, area: Rect, at: Position) -> Option<usize> {
    let mut below = usize::from(at.y.checked_sub(area.y).filter(|_| area.contains(at))?);
    for row in space.window.start..rows.len(model) {
        let tall = rows.rows(model, row, space).len();
        if below < tall {
            return Some(row);
        }
        below -= tall;
    }
    None
}

/// Handles the mouse; a double click on a row returns the command to run.
pub fn moved(model: &mut Model, mouse: Mouse) -> Option<Command> {
    // A prompt has to be completed first.
    let target = target(model, mouse.at).filter(|_| model.dialog.prompt.is_none())?;
    model.dialog.note = None;
    model.dialog.leaving = false;
    model.dialog.pending.clear();
    (model.dialog.which_key, model.dialog.count) = (false, None);
    (model.preferences.restore, model.preferences.welcome) = (None, Welcome::Over);
    match mouse.act {
        MouseAct::Up => scroll(model, target, -NOTCH),
        MouseAct::Down => scroll(model, target, NOTCH),
        MouseAct::Click => {
            let now = Click { target, at: model.work.now };
            let before = model.preferences.click.replace(now);
            let again = before.is_some_and(|before| {
                before.target == target && (0..=DOUBLE).contains(&(now.at - before.at))
            });
            let is_row = matches!(target, Target::Row(..) | Target::OverlayRow(_));
            if again && is_row {
                model.preferences.click = None;
                return Some(Command::Open);
            }
            click(model, target);
        }
    }
    None
}

fn click(model: &mut Model, target: Target) {
    match target {
        Target::OverlayRow(row) => {
            if let Some(popup) = model.dialog.popup_mut() {
                popup.list_mut().cursor = row;
            }
        }
        Target::Row(pane, row) => {
            go::focus(model, pane);
            select(model, pane, row);
        }
        Target::Heading(column) => {
            if let Err(why) = table::sort(model, column.word()) {
                model.fail(why);
            }
        }
        Target::Pane(pane) => go::focus(model, pane),
        Target::Overlay => {}
    }
}

/// Puts the cursor of a pane on a row.
fn select(model: &mut Model, pane: Pane, row: usize) {
    match (pane, model.table_line(row)) {
        (Pane::Sessions, Some(TableLine::Entry(entry))) => go::open(model, entry),
        (Pane::Transcript, _) => go::to_row(model, row),
        _ => {
            let (len, height) = pane.extent(model);
            model.list_mut(pane).set(row, len, height);
        }
    }
}

/// Scrolls the element under the pointer. Its cursor moves only if it would become invisible.
fn scroll(model: &mut Model, target: Target, by: isize) {
    let pane = match target {
        Target::OverlayRow(_) | Target::Overlay => return go::rows(model, Go::By(by)),
        Target::Row(pane, _) | Target::Pane(pane) => pane,
        Target::Heading(_) => Pane::Sessions,
    };
    if pane == Pane::Policy {
        // Elsewhere it follows the rule that is shown.
        go::focus(model, pane);
    }
    let (len, height) = pane.extent(model);
    let list = model.list(pane);
    let scrolled = list.scrolled(by, len, height);
    match pane {
        Pane::Sessions | Pane::Transcript if scrolled.cursor != list.cursor => {
            select(model, pane, scrolled.cursor);
            if pane == Pane::Sessions {
                *model.list_mut(pane) = scrolled;
            }
        }
        _ => {}
    }
    let list: &mut List = model.list_mut(pane);
    list.top = scrolled.top;
    list.cursor = scrolled.cursor;
}

/// Turns it on or off.
pub fn toggle(model: &mut Model, effects: &mut Vec<Effect>) {
    model.preferences.mouse = !model.preferences.mouse;
    effects.push(Effect::Mouse(model.preferences.mouse));
    let key = model.key(Command::Mouse);
    model.say(match model.preferences.mouse {
        true => format!("the mouse is on; {key} turns it off, Shift selects text meanwhile"),
        false => format!("the mouse is off: the terminal selects text; {key} turns it on"),
    });
}
