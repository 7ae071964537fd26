//! The strip with a mark for every call of the open session: where it was stopped, and where the cursor is.

use std::collections::HashSet;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::compare::ChangePlace;
use crate::report::words;
use crate::workbench::model::{Model, SessionVerdict};
use crate::workbench::paint::{Row, lay_under};
use crate::workbench::pane::look;
use crate::workbench::theme::{Glyph, Role};
use rulestep_base::session::{CallRef, Session};
use rulestep_engine::replay::DecidedCall;

/// Columns a call takes at most.
const WIDEST: usize = 4;

/// Draws the strip.
pub fn draw(model: &Model, buf: &mut Buffer, area: Rect) {
    let Some(session) = model.session() else { return };
    let calls = session.calls.len();
    let note = match (model.call(), model.not_taken()) {
        (Some(call), _) => format!(" call {}/{calls}", call.at.index + 1),
        (None, Some(at)) => format!(" choice {} not chosen", at.choice),
        (None, None) => format!(" {}", words::count(calls as u64, "call")),
    };
    // Violations of the session as a whole come after its last call.
    let verdict = model.replay().map(|replay| SessionVerdict::of(replay)).unwrap_or_default();
    let end = usize::from(verdict.violated + verdict.unenforced > 0);
    // The widest note keeps its room, so that the strip stays as it is while the cursor moves.
    let widest = format!(" call {calls}/{calls}").len().max(note.len());
    let room = usize::from(area.width).saturating_sub(widest + 3 + end * 2);
    let mut row = Row::new(&model.theme, usize::from(area.width));
    row.gap(1);
    let places = places(model, session);
    if places.is_empty() && end == 0 || room == 0 {
        row.put(Role::TextDim, "no calls");
        return row.draw(buf, area.x, area.y);
    }
    let each = room.checked_div(places.len()).unwrap_or(1).clamp(1, WIDEST);
    let cells = places.len().min(room);
    let here = model
        .not_taken()
        .map(ChangePlace::Alternative)
        .or(model.call().map(|call| ChangePlace::Call(call.at)));
    let mut cursor = None;
    let changes = model.entry().filter(|_| !model.supposes()).and_then(|entry| entry.changes.as_ref());
    let changed: HashSet<ChangePlace> = changes.into_iter().flatten().map(|change| change.at).collect();
    for cell in 0..cells {
        // With more calls than columns, a column shows the worst of several.
        let (first, end) = (cell * places.len() / cells, (cell + 1) * places.len() / cells);
        let together = places.get(first..end).unwrap_or_default();
        let (role, glyph) = worst(together);
        if together.iter().any(|(at, _)| Some(*at) == here) {
            cursor = Some(row.used());
        }
        let differs = together.iter().any(|(at, _)| changed.contains(at));
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
        // The worst of them; one that is not enforced fails nothing.
        let (role, glyph) = match verdict.violated > 0 {
            true => (Role::VerdictDeny, Glyph::Deny),
            false => (Role::VerdictReport, Glyph::Report),
        };
        row.glyph(role, glyph).glyph(Role::TextDim, Glyph::End);
    }
    row.put(Role::TextDim, &note);
    row.draw(buf, area.x, area.y);
    if let Some(column) = cursor {
        let x = area.x + u16::try_from(column).unwrap_or(0);
        lay_under(buf, Rect::new(x, area.y, 1, 1), model.theme.style(Role::Cursor));
    }
}

/// Every call in the order of the transcript, those of choices that were not taken after the calls of their turn, and
/// the decisions.
fn places<'m>(model: &'m Model, session: &'m Session) -> Vec<(ChangePlace, Option<&'m DecidedCall>)> {
    let replay = model.replay();
    let judged = |call: CallRef| replay.and_then(|replay| replay.call(call.index));
    let mut places: Vec<_> =
        session.calls.iter().map(|call| (ChangePlace::Call(call.at), judged(call.at))).collect();
    let others = replay.into_iter().flat_map(|replay| replay.alternatives(None));
    places.extend(others.map(|other| (ChangePlace::Alternative(other.at()), Some(other.judged))));
    if !session.alternatives.is_empty() {
        places.sort_by_key(|(at, _)| at.turn());
    }
    places
}

fn worst(places: &[(ChangePlace, Option<&DecidedCall>)]) -> (Role, Glyph) {
    let rank = |glyph| match glyph {
        Glyph::Halt => 6,
        Glyph::Deny => 5,
        Glyph::After => 4,
        Glyph::Ask => 3,
        Glyph::Report => 2,
        Glyph::None => 1,
        _ => 0,
    };
    let judged = places.iter().filter_map(|(_, judged)| *judged);
    match judged.map(look).max_by_key(|(_, glyph)| rank(*glyph)) {
        Some((role, glyph)) => (role, glyph),
        None => (Role::TextDim, Glyph::Dot),
    }
}
