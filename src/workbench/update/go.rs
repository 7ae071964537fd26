//! Moving: between rows, calls, turns, sessions and panes; and what must follow when the cursor has moved.

use std::rc::Rc;

use super::{overlays, say};
use crate::replay::{Frame, Replay};
use crate::session::AlternativeRef;
use crate::workbench::layout::{Pane, Shape};
use crate::workbench::list::{Go, List};
use crate::workbench::model::{Framed, Model, Taking, verdict};
use crate::workbench::transcript::{RowKind, Rows};
use crate::workbench::view;

/// Turns before and after the selected one whose frames are made together with its own.
const NEAR: u32 = 8;

/// The next or previous call; in lists the next or previous row.
pub fn next(model: &mut Model, by: isize) {
    if !model.overlays.is_empty() || model.focus != Pane::Transcript {
        return rows(model, Go::By(by));
    }
    let at = model.list(Pane::Transcript).cursor;
    match model.rows.seek(at, by > 0, |row| {
        matches!(row.kind, RowKind::Call(_) | RowKind::Choice(_, Some(_)) | RowKind::Rule(_))
    }) {
        Some(row) => to_row(model, row),
        None if by > 0 => say(model, "no call after this one; the arrows go row by row"),
        None => say(model, "no call before this one; the arrows go row by row"),
    }
}

/// Moves in whatever list has the keys.
pub fn rows(model: &mut Model, go: Go) {
    if !model.overlays.is_empty() {
        return overlays::rows(model, go);
    }
    let pane = model.focus;
    if pane != Pane::Policy {
        model.pinned = None;
    }
    let (len, height) = extent(model, pane);
    if pane == Pane::Sessions {
        let mut list = model.list(pane);
        list.go(go, len, height);
        return open(model, list.cursor);
    }
    model.list_mut(pane).go(go, len, height);
}

/// The first row of the next turn, or of this one, else of the previous one.
pub fn turn(model: &mut Model, forward: bool) {
    let Some(turn) = model.row().map(|row| row.turn) else { return };
    let at = model.list(Pane::Transcript).cursor;
    let start = model.rows.of_turn(turn).unwrap_or(0);
    let target = if forward {
        model.rows.seek(at, true, |row| row.turn > turn)
    } else if at > start {
        Some(start)
    } else {
        turn.checked_sub(1).and_then(|turn| model.rows.of_turn(turn))
    };
    match target {
        Some(row) => to_row(model, row),
        None => say(model, if forward { "this is the last turn" } else { "this is the first turn" }),
    }
}

/// The next or previous session.
pub fn session(model: &mut Model, by: isize) {
    let last = model.entries.len().saturating_sub(1);
    let target = model.open.saturating_add_signed(by).min(last);
    if target == model.open {
        return say(model, if by > 0 { "this is the last session" } else { "this is the first session" });
    }
    open(model, target);
}

/// Gives a pane the keys.
pub fn focus(model: &mut Model, pane: Pane) {
    model.focus = pane;
    if pane != Pane::Policy {
        model.pinned = None;
    }
    if pane != Pane::Transcript {
        model.side = pane;
    }
    keep_all(model);
}

/// Puts the cursor of the transcript on a row.
pub fn to_row(model: &mut Model, row: usize) {
    model.pinned = None;
    let (len, height) = extent(model, Pane::Transcript);
    model.list_mut(Pane::Transcript).set(row, len, height);
    // What stands beside begins anew for another call.
    for pane in [Pane::Tools, Pane::Forbidden, Pane::Preconditions, Pane::Decision] {
        *model.list_mut(pane) = List::default();
    }
}

/// Opens an entry where it was left, else at its first call.
pub fn open(model: &mut Model, entry: usize) {
    model.lost = None;
    if entry != model.open {
        let left = model.list(Pane::Transcript);
        if let Some(entry) = model.entries.get_mut(model.open) {
            entry.left_at = Some(left);
        }
        model.open = entry;
        show_open(model);
    }
    let (len, height) = extent(model, Pane::Sessions);
    model.list_mut(Pane::Sessions).set(entry, len, height);
}

/// Makes the rows of the open session.
pub fn lay_out(model: &mut Model) {
    model.frame = None;
    let calls = model.session().map(|session| session.calls.as_slice()).unwrap_or_default();
    model.called = calls.iter().map(|call| std::sync::Arc::clone(&call.tool)).collect();
    model.rows = model.session().map(|session| Rows::of(session)).unwrap_or_default();
    end_rows(model);
}

/// The rows of the open session end with the rules that it violates.
fn end_rows(model: &mut Model) {
    let rules: Vec<_> = match model.replay() {
        Some(replay) => verdict::violations(replay).map(|state| state.rule).collect(),
        None => Vec::new(),
    };
    let Some(session) = model.session().cloned() else { return };
    model.rows.end_with(rules, &session);
    let last = model.rows.len().saturating_sub(1);
    let list = model.list_mut(Pane::Transcript);
    list.cursor = list.cursor.min(last);
}

/// Makes the rows of the open session, and goes where it was left.
pub fn show_open(model: &mut Model) {
    lay_out(model);
    let left = model.entry().and_then(|entry| entry.left_at);
    let row = left.map(|list| list.cursor).or_else(|| model.rows.of_call(0)).unwrap_or(0);
    *model.list_mut(Pane::Transcript) = left.unwrap_or_default();
    to_row(model, row);
}

/// How many rows a pane has, and how many of them are on screen. A pane that is not on screen is as high as the screen.
pub fn extent(model: &Model, pane: Pane) -> (usize, usize) {
    let layout = model.layout();
    let width = view::width(&layout, pane);
    let rows = view::rows(&layout, pane).map(|rows| rows.height);
    let height = usize::from(rows.unwrap_or(model.size.height));
    (view::len(model, pane, width), height)
}

/// Keeps every cursor in sight after the size or the panes have changed.
pub fn keep_all(model: &mut Model) {
    for pane in Pane::ALL {
        let (len, height) = extent(model, pane);
        model.list_mut(pane).keep(len, height);
    }
    overlays::keep(model);
}

/// After anything: the frame of the selected turn, the shown rule in sight, cursors inside their lists.
pub fn refresh(model: &mut Model) {
    end_rows(model);
    frame(model);
    if model.layout().shape == Shape::TooSmall {
        return;
    }
    for pane in [Pane::Tools, Pane::Forbidden, Pane::Preconditions, Pane::Decision] {
        let (len, height) = extent(model, pane);
        model.list_mut(pane).keep(len, height);
    }
    if model.splits() {
        // Both rules stand one below the other, from the first line on.
        if model.focus != Pane::Policy {
            *model.list_mut(Pane::Policy) = List::default();
        }
    } else if model.focus != Pane::Policy {
        let Some(shown) = view::policy::shown(model) else { return };
        let Some((_, first, last)) = shown.rule else { return };
        let (first, last) = (first as usize - 1, last as usize - 1);
        let (len, height) = extent(model, Pane::Policy);
        let list = model.list_mut(Pane::Policy);
        // The whole rule, with a line or two before it; where it is longer, its beginning.
        list.cursor = first;
        if first < list.top || last >= list.top + height {
            list.top = first.saturating_sub(2).min(len.saturating_sub(height));
        }
    }
}

fn frame(model: &mut Model) {
    let turn = model.turn().map(|turn| turn.number);
    model.frame = framed(model.frame.take(), model.replay().cloned(), turn);
    let base = model.entry().and_then(|entry| entry.base.clone()).filter(|_| model.splits());
    let not_taken = model.not_taken();
    model.taking = taking(model.taking.take(), model.replay().cloned(), not_taken);
    model.compare.taking = taking(model.compare.taking.take(), base.clone(), not_taken);
    model.compare.frame = framed(model.compare.frame.take(), base, turn);
}

/// A call of a choice that was not taken in the session that takes it, unless it is known already.
fn taking(known: Option<Taking>, of: Option<Rc<Replay>>, at: Option<AlternativeRef>) -> Option<Taking> {
    let (of, at) = of.zip(at)?;
    if let Some(known) = known.filter(|known| Rc::ptr_eq(&known.of, &of) && known.at == at) {
        return Some(known);
    }
    let (replay, call) = of.not_taken(at)?;
    Some(Taking { of, at, replay, call })
}

/// What stands in a turn of a replay; what is known already is not made again.
fn framed(known: Option<Framed>, replay: Option<Rc<Replay>>, turn: Option<u32>) -> Option<Framed> {
    let (replay, turn) = replay.zip(turn)?;
    let near = match known {
        Some(framed) if Rc::ptr_eq(&framed.replay, &replay) => {
            if framed.turn == turn {
                return Some(framed);
            }
            framed.near
        }
        _ => Vec::new(),
    };
    let of_turn = |near: &[Frame]| near.iter().find(|frame| frame.turn == turn).cloned();
    // The turn before is looked at too: what has become visible or hidden since then is marked.
    let before = turn == 1 || near.iter().any(|frame| frame.turn + 1 == turn);
    if let Some(frame) = of_turn(&near).filter(|_| before) {
        return Some(Framed { replay, turn, frame, near });
    }
    // Around the turn, so that going to and fro stays inside.
    let near = replay.frames(turn.saturating_sub(NEAR).max(1), turn + NEAR);
    of_turn(&near).map(|frame| Framed { replay, turn, frame, near })
}
