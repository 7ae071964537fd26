//! The sessions, with their counts. Draws only the rows on screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::paint::Row;
use crate::workbench::layout::Pane;
use crate::workbench::model::{Entry, Model};
use crate::workbench::text;
use crate::workbench::theme::{Glyph, Role};

/// Draws the pane's rows into `inner`.
pub fn draw(model: &Model, buf: &mut Buffer, inner: Rect, focus: bool) {
    let list = model.list(Pane::Sessions);
    let width = usize::from(inner.width);
    if model.entries.is_empty() {
        let mut row = Row::new(&model.theme, width);
        row.put(Role::TextDim, if model.reading.is_some() { "reading" } else { "no sessions here" });
        row.draw(buf, inner.x, inner.y);
    }
    for (at, entry) in model.entries.iter().enumerate().skip(list.top).take(usize::from(inner.height)) {
        let y = inner.y + u16::try_from(at - list.top).unwrap_or(0);
        let open = at == model.open;
        let mut row = Row::new(&model.theme, width);
        let (role, glyph) = sign(model, entry);
        row.put(Role::Text, if open { model.theme.glyph(Glyph::Cursor) } else { " " });
        row.put(role, glyph).gap(1);
        let counts = counts(model, entry);
        let room = row.left().saturating_sub(counts.used() + 1);
        let name_role = if open { Role::TextStrong } else { Role::Text };
        let query = model.query.as_deref().filter(|_| focus);
        let name = text::fit(&entry.name, room, model.theme.marks());
        let mut named = Row::new(&model.theme, room);
        named.put_found(name_role, &name.text(), query, false);
        let start = row.used();
        row.to(start + room + 1);
        let cursor = if open { Some(if focus { Role::Cursor } else { Role::CursorIdle }) } else { None };
        row.draw(buf, inner.x, y);
        named.draw(buf, inner.x + u16::try_from(start).unwrap_or(0), y);
        counts.draw(buf, inner.x + u16::try_from(row.used()).unwrap_or(0), y);
        if let Some(cursor) = cursor {
            super::paint::lay_under(buf, Rect::new(inner.x, y, inner.width, 1), model.theme.style(cursor));
        }
    }
}

/// What stands beside the title: which session of how many.
#[must_use]
pub fn note(model: &Model) -> String {
    if model.entries.is_empty() {
        String::new()
    } else {
        format!("{}/{}", model.open + 1, model.entries.len())
    }
}

/// How a session is marked: by the worst that was decided in it.
#[must_use]
pub fn sign<'m>(model: &'m Model, entry: &Entry) -> (Role, &'m str) {
    let glyph = |role, glyph| (role, model.theme.glyph(glyph));
    let Some(summary) = entry.summary() else {
        return if entry.session.is_none() || entry.damaged() > 0 {
            glyph(Role::StatusProblem, Glyph::Problem)
        } else {
            glyph(Role::TextDim, Glyph::Dot)
        };
    };
    let stopped = summary.deny + summary.halt - summary.deny_counterfactual;
    if summary.halt > 0 {
        glyph(Role::VerdictHalt, Glyph::Halt)
    } else if stopped > 0 {
        glyph(Role::VerdictDeny, Glyph::Deny)
    } else if summary.deny_counterfactual > 0 {
        glyph(Role::VerdictAfter, Glyph::After)
    } else if entry.damaged() > 0 {
        glyph(Role::StatusProblem, Glyph::Problem)
    } else {
        glyph(Role::VerdictAllow, Glyph::Allow)
    }
}

/// Stops and calls, or how many parts of the file are damaged: `1✗ 9`.
fn counts<'t>(model: &'t Model, entry: &Entry) -> Row<'t> {
    let mut row = Row::new(&model.theme, 16);
    let Some(session) = &entry.session else {
        row.put(Role::StatusProblem, "unread");
        return row;
    };
    if let Some(summary) = entry.summary() {
        let stopped = summary.deny + summary.halt - summary.deny_counterfactual;
        if stopped > 0 {
            row.put(Role::VerdictDeny, &format!("{stopped}{} ", model.theme.glyph(Glyph::Deny)));
        }
        if summary.deny_counterfactual > 0 {
            let after = format!("{}{} ", summary.deny_counterfactual, model.theme.glyph(Glyph::After));
            row.put(Role::VerdictAfter, &after);
        }
        if entry.damaged() > 0 && summary.deny + summary.halt > 0 {
            row.put(Role::StatusProblem, model.theme.glyph(Glyph::Problem)).gap(1);
        }
    }
    row.put(Role::TextDim, &format!("{:>2}", session.calls.len()));
    row
}
