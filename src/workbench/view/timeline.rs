//! The strip with a place for every call of the open session: where it was stopped, and where the cursor is.

use std::collections::BTreeSet;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::decision::look;
use super::paint::{Row, lay_under};
use crate::compare::At;
use crate::report::words;
use crate::workbench::model::{Model, SessionVerdict};
use crate::workbench::theme::{Glyph, Role};

/// Columns a call takes at most.
const WIDEST: usize = 4;

/// Draws the strip.
pub fn draw(model: &Model, buf: &mut Buffer, area: Rect) {
    let Some(session) = model.session() else { return };
    let calls = session.calls.len();
    let at = model.call().map(|call| call.at.index as usize);
    let note = match at {
        Some(at) => format!(" call {}/{calls}", at + 1),
        None => format!(" {}", words::count(calls as u64, "call")),
    };
    // What the session violates as a whole stands after its last call.
    let violated = model.replay().map(|replay| SessionVerdict::of(replay).violated).unwrap_or_default();
    let end = usize::from(violated > 0);
    let room = usize::from(area.width).saturating_sub(note.len() + 3 + end * 2);
    let mut row = Row::new(&model.theme, usize::from(area.width));
    row.gap(1);
    if calls == 0 && end == 0 || room == 0 {
        row.put(Role::TextDim, "no calls");
        return row.draw(buf, area.x, area.y);
    }
    let each = room.checked_div(calls).unwrap_or(1).clamp(1, WIDEST);
    let cells = calls.min(room);
    let mut cursor = None;
    let changes = model.entry().filter(|_| !model.supposes()).and_then(|entry| entry.changes.as_ref());
    let changed: BTreeSet<usize> = changes
        .into_iter()
        .flatten()
        .filter_map(|change| match change.at {
            At::Call(at) => Some(at.index as usize),
            At::Alternative(_) | At::Turn(_) | At::End => None,
        })
        .collect();
    for cell in 0..cells {
        // Where there are more calls than columns, a column stands for several and shows the worst of them.
        let (first, end) = (cell * calls / cells, (cell + 1) * calls / cells);
        let (role, glyph) = worst(model, first..end);
        if at.is_some_and(|at| (first..end).contains(&at)) {
            cursor = Some(row.used());
        }
        let differs = changed.range(first..end).next().is_some();
        if differs && each == 1 && !matches!(glyph, Glyph::Halt | Glyph::Deny) {
            row.glyph(Role::ChangeNew, Glyph::Changed);
        } else {
            row.glyph(role, glyph);
        }
        for at in 1..each {
            if differs && at == 1 {
                row.glyph(Role::ChangeNew, Glyph::Changed);
            } else {
                row.glyph(Role::TextDim, Glyph::Track);
            }
        }
    }
    if end > 0 {
        if model.violation().is_some() {
            cursor = Some(row.used());
        }
        row.glyph(Role::VerdictDeny, Glyph::Deny).glyph(Role::TextDim, Glyph::End);
    }
    row.put(Role::TextDim, &note);
    row.draw(buf, area.x, area.y);
    if let Some(column) = cursor {
        let x = area.x + u16::try_from(column).unwrap_or(0);
        lay_under(buf, Rect::new(x, area.y, 1, 1), model.theme.style(Role::Cursor));
    }
}

fn worst(model: &Model, calls: std::ops::Range<usize>) -> (Role, Glyph) {
    let judged = model.replay().and_then(|replay| replay.calls().get(calls)).unwrap_or_default();
    let rank = |glyph| match glyph {
        Glyph::Halt => 5,
        Glyph::Deny => 4,
        Glyph::After => 3,
        Glyph::Problem => 2,
        Glyph::None => 1,
        _ => 0,
    };
    match judged.iter().map(look).max_by_key(|(_, glyph)| rank(*glyph)) {
        Some((role, glyph)) => (role, glyph),
        None => (Role::TextDim, Glyph::Dot),
    }
}
