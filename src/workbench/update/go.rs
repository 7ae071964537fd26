//! Moving: between rows, calls, turns, sessions and panes.

use super::derive;
use crate::workbench::keys::Command;
use crate::workbench::layout::Pane;
use crate::workbench::list::{Go, List};
use crate::workbench::model::Model;
use crate::workbench::model::table::TableLine;
use crate::workbench::transcript::{Row, RowKind, Rows};

/// Moves this many calls forward, or back if negative, or as far as there are any; in lists the rows.
pub fn next(model: &mut Model, by: isize) {
    if !model.dialog.overlays.is_empty() || model.place.focus != Pane::Transcript {
        return rows(model, Go::By(by));
    }
    let here = model.list(Pane::Transcript).cursor;
    let is_call =
        |row: Row| matches!(row.kind, RowKind::Call(_) | RowKind::Choice(_, Some(_)) | RowKind::Rule(_));
    let mut found = None;
    for _ in 0..by.unsigned_abs() {
        let Some(next) = model.derived.rows.seek(found.unwrap_or(here), by > 0, is_call) else { break };
        found = Some(next);
    }
    match found {
        Some(row) => to_row(model, row),
        None => {
            let (down, up) = (model.key(Command::Down), model.key(Command::Up));
            let place = if by > 0 { "after" } else { "before" };
            model.say(format!("no call {place} this one; {down} and {up} go row by row"));
        }
    }
}

/// Moves in whatever list has the keys.
pub fn rows(model: &mut Model, go: Go) {
    if !model.dialog.overlays.is_empty() {
        return in_overlay(model, go);
    }
    let pane = model.place.focus;
    if pane != Pane::Policy {
        model.place.pinned = None;
    }
    let (len, height) = pane.extent(model);
    if pane == Pane::Sessions {
        let mut list = model.list(pane);
        list.go(go, len, height);
        match model.table_line(list.cursor) {
            Some(TableLine::Entry(entry)) => open(model, entry),
            Some(TableLine::Group(_)) | None => *model.list_mut(pane) = list,
        }
        return;
    }
    model.list_mut(pane).go(go, len, height);
}

/// The first row of the next turn, or of this one, else of the previous one.
pub fn turn(model: &mut Model, forward: bool) {
    let Some(turn) = model.row().map(|row| row.turn) else { return };
    let at = model.list(Pane::Transcript).cursor;
    let start = model.derived.rows.of_turn(turn).unwrap_or(0);
    let target = if forward {
        model.derived.rows.seek(at, true, |row| row.turn > turn)
    } else if at > start {
        Some(start)
    } else {
        turn.checked_sub(1).and_then(|turn| model.derived.rows.of_turn(turn))
    };
    match target {
        Some(row) => to_row(model, row),
        None => model.say(if forward { "this is the last turn" } else { "this is the first turn" }),
    }
}

/// The next or previous session.
pub fn session(model: &mut Model, by: isize) {
    let mut scope = model.scope();
    let target = match model.place_in_scope(model.place.open) {
        Some(place) => place.checked_add_signed(by).and_then(|place| scope.nth(place)),
        None if by > 0 => scope.next(),
        None => scope.next_back(),
    };
    match target {
        Some(entry) => open(model, entry),
        None => model.say(if by > 0 { "this is the last session" } else { "this is the first session" }),
    }
}

/// Gives a pane the keys.
pub fn focus(model: &mut Model, pane: Pane) {
    model.place.focus = pane;
    if pane != Pane::Policy {
        model.place.pinned = None;
    }
    if pane != Pane::Transcript {
        model.place.side = pane;
    }
}

/// Puts the cursor of the transcript on a row.
pub fn to_row(model: &mut Model, row: usize) {
    (model.place.pinned, model.place.sought) = (None, None);
    let (len, height) = Pane::Transcript.extent(model);
    model.list_mut(Pane::Transcript).set(row, len, height);
    // The side panes begin again for another call.
    let beside = Pane::ALL.into_iter().chain([model.place.focus]).filter(|pane| pane.is_about_call());
    beside.for_each(|pane| *model.list_mut(pane) = List::default());
}

/// Opens an entry at the last cursor, else at its first call.
pub fn open(model: &mut Model, entry: usize) {
    model.archive.lost = None;
    if entry != model.place.open {
        let left = model.list(Pane::Transcript);
        if let Some(entry) = model.archive.entries.get_mut(model.place.open) {
            entry.left_at = Some(left);
            entry.put_down();
        }
        model.place.open = entry;
        show_open(model);
    }
    let (len, height) = Pane::Sessions.extent(model);
    let line = model.table_line_of(entry).unwrap_or(model.list(Pane::Sessions).cursor);
    model.list_mut(Pane::Sessions).set(line, len, height);
}

/// Makes the rows of the open session.
pub fn lay_out(model: &mut Model) {
    model.fetch();
    let calls = model.session().map(|session| session.calls.as_slice()).unwrap_or_default();
    model.derived.called = calls.iter().map(|call| std::sync::Arc::clone(&call.tool)).collect();
    model.derived.rows = model.session().map(|session| Rows::of(session)).unwrap_or_default();
    derive::end_rows(model);
}

/// Makes the rows of the open session, and restores its scroll position.
pub fn show_open(model: &mut Model) {
    lay_out(model);
    let left = model.entry().and_then(|entry| entry.left_at);
    let row = left.map(|list| list.cursor).or_else(|| model.derived.rows.of_call(0)).unwrap_or(0);
    *model.list_mut(Pane::Transcript) = left.unwrap_or_default();
    to_row(model, row);
}

/// Moves in the topmost overlay.
fn in_overlay(model: &mut Model, go: Go) {
    derive::in_overlay(model, |tall, list| tall.gone(list, go));
}
