//! Draws the model; changes nothing.
//!
//! Each pane and overlay has its own file; here is their position on the screen.

mod footer;
mod status;
pub mod timeline;

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::keys::{Command, Meaning};
use super::layout::{Layout, Pane, Shape, shrink};
use super::model::Model;
use super::paint::{Row, frame, scroll_mark};
use super::pane::Areas;
use super::popup::{Popup, Preview};
use super::rows::{Rows, Space};
use super::text;
use super::theme::{Role, Theme};
use crate::report::words;

/// Draws everything; returns the position of the text cursor, while text is typed.
pub fn draw(model: &Model, buf: &mut Buffer) -> Option<Position> {
    #[cfg(debug_assertions)]
    let _closed = rulestep_engine::run::closed::Closed::begin();
    clear(buf, buf.area, &model.theme, Role::Text);
    if buf.area.as_size() != model.size {
        // The terminal has changed its size and the message about it has not arrived yet.
        return None;
    }
    let layout = model.layout();
    if layout.shape == Shape::TooSmall {
        status::too_small(model, buf, &layout);
        return None;
    }
    status::header(model, buf, layout.header);
    if let Some(area) = layout.tabs {
        status::tabs(model, buf, area, &layout);
    }
    for (place, area) in &layout.panes {
        pane(model, buf, *place, *area, &layout);
    }
    if let Some(area) = layout.body {
        body(model, buf, area);
    }
    if let Some(area) = layout.timeline {
        timeline::draw(model, buf, area);
    }
    if let Some(top) = model.dialog.popup() {
        overlay(model, buf, top, layout.overlay);
        if let (Some(view), Some(area)) = (top.preview(), layout.preview) {
            preview(model, buf, view, area);
        }
    }
    if model.dialog.which_key {
        which_key(model, buf, layout.overlay);
    }
    if let Some(area) = layout.problem {
        status::problem(model, buf, area);
    }
    layout.footer.and_then(|area| footer::draw(model, buf, area))
}

/// Empties an area, in the look of a role.
fn clear(buf: &mut Buffer, area: Rect, theme: &Theme, role: Role) {
    let area = area.intersection(buf.area);
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            if let Some(cell) = buf.cell_mut((x, y)) {
                cell.reset();
                cell.set_style(theme.ground(role));
            }
        }
    }
}

fn pane(model: &Model, buf: &mut Buffer, pane: Pane, area: Rect, layout: &Layout) {
    let Some(Areas { above, rows: list, below: foot }) = pane.areas(model, layout) else { return };
    let focus = pane == model.place.focus && model.dialog.overlays.is_empty();
    let shown = pane.rows(model);
    if layout.framed() {
        frame(buf, area, &model.theme, focus, &pane.title(model), &pane.note(model));
        let beside =
            Rect { y: area.y + above.height, height: area.height - foot.height - above.height, ..area };
        scroll_mark(buf, beside, &model.theme, model.list(pane).top, shown.len(model));
    }
    let cursor = if focus { Some(Role::Cursor) } else { pane.keeps_cursor().then_some(Role::CursorIdle) };
    rows(model, shown, &pane.space(model, list), (cursor, 0), buf, list);
    for (row, y) in shown.above(model, above.width).into_iter().zip(above.top()..above.bottom()) {
        row.draw(buf, above.x, y);
    }
    for (row, y) in shown.below(model, foot.width, foot.height).into_iter().zip(foot.top()..foot.bottom()) {
        row.draw(buf, foot.x, y);
    }
}

/// The body of the selected row. It has no selection: it is opened for reading.
fn body(model: &Model, buf: &mut Buffer, area: Rect) {
    let inner = shrink(area);
    let Some((_, view)) = &model.derived.body else {
        return frame(buf, area, &model.theme, false, "no body", "");
    };
    let lines = view.document.rows();
    let (title, note) = (
        format!("{}  {}", model.preferences.keymap.key(Command::Body), view.title),
        words::count(lines as u64, "line"),
    );
    frame(buf, area, &model.theme, false, &title, &note);
    let space = Space::new(
        view.list,
        usize::from(inner.width),
        usize::from(inner.height),
        0,
        model.dialog.query.as_deref(),
    );
    let tall: usize = (0..lines.min(space.window.len())).map(|at| view.height(model, at, &space)).sum();
    scroll_mark(buf, area, &model.theme, 0, tall.max(lines));
    rows(model, view, &space, (None, 0), buf, inner);
}

fn overlay(model: &Model, buf: &mut Buffer, popup: &dyn Popup, area: Rect) {
    let (list, theme) = (popup.list(), &model.theme);
    clear(buf, area, theme, Role::Overlay);
    frame(buf, area, theme, true, &popup.title(model, usize::from(area.width)), &popup.note(model));
    scroll_mark(buf, area, theme, list.top, popup.len(model));
    rows(model, popup, &model.overlay_space(list), (Some(Role::Cursor), 1), buf, shrink(area));
}

/// A preview of the row under the cursor, in place of the pane of changes.
fn preview(model: &Model, buf: &mut Buffer, shown: &dyn Preview, area: Rect) {
    clear(buf, area, &model.theme, Role::Overlay);
    let inner = shrink(area);
    let title = format!("{} {}", Pane::Changes.number(), shown.title());
    frame(buf, area, &model.theme, false, &title, &shown.note());
    let rows = shown.rows(model, usize::from(inner.width), usize::from(inner.height));
    for (row, y) in rows.into_iter().zip(inner.top()..inner.bottom()) {
        row.draw(buf, inner.x, y);
    }
}

/// Rows from the first one on screen on; in place of none, why, after this many columns.
fn rows(
    model: &Model,
    rows: &dyn Rows,
    space: &Space<'_>,
    (cursor, gap): (Option<Role>, usize),
    buf: &mut Buffer,
    area: Rect,
) {
    let mut ys = area.top()..area.bottom();
    let len = rows.len(model);
    if len == 0 {
        for (role, line) in rows.instead(model) {
            let width = space.width.saturating_sub(gap);
            for line in text::wrap(&line, width, space.window.len(), model.theme.marks()) {
                let Some(y) = ys.next() else { return };
                let mut row = Row::new(&model.theme, space.width);
                row.gap(gap).shown(role, line);
                row.draw(buf, area.x, y);
            }
        }
    }
    for at in space.window.start..len {
        if ys.is_empty() {
            return;
        }
        for (row, y) in rows.rows(model, at, space).into_iter().zip(&mut ys) {
            row.draw_under(buf, area.x, y, cursor.filter(|_| at == space.cursor));
        }
    }
}

/// Draws the possible continuations of the pending chord, at the lower edge of `area`.
fn which_key(model: &Model, buf: &mut Buffer, area: Rect) {
    let scope = model.scope_of_keys();
    let Meaning::Prefix(rest) = model.preferences.keymap.meaning(&model.dialog.pending, scope) else {
        return;
    };
    let mut rest: Vec<(String, Cow<'_, str>)> = rest
        .into_iter()
        .map(|(keys, command)| (keys, model.preferences.keymap.worded(command.row().doc)))
        .collect();
    if model.preferences.keymap.meaning(&model.dialog.pending, scope)
        == Meaning::Prefix(vec![("a-z".to_owned(), Command::GoMark)])
    {
        let marks = model.place.marks.keys().map(|letter| (letter.to_string(), model.marked(*letter).into()));
        rest = marks.collect();
    }
    let rows = u16::try_from(rest.len()).unwrap_or(u16::MAX);
    let height = rows.saturating_add(2).min(area.height);
    let longest = rest.iter().map(|(_, doc)| doc.chars().count()).max().unwrap_or(0);
    let width = u16::try_from(longest + 9).unwrap_or(u16::MAX).min(area.width);
    let place = Rect::new(area.right() - width, area.bottom() - height, width, height);
    clear(buf, place, &model.theme, Role::Overlay);
    frame(buf, place, &model.theme, false, &super::keys::chord::spell(&model.dialog.pending), "");
    let inner = shrink(place);
    for (y, (keys, doc)) in (inner.top()..inner.bottom()).zip(rest) {
        let mut row = Row::new(&model.theme, usize::from(inner.width));
        row.gap(1).column(Role::Key, &keys, 4).put(Role::KeyDoc, &doc);
        row.draw(buf, inner.x, y);
    }
}

#[cfg(test)]
mod tests;
