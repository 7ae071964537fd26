//! The mark and the name of a session in the list.

use crate::workbench::model::table::TableLine;
use crate::workbench::model::{Entry, Model};
use crate::workbench::text;
use crate::workbench::theme::{Glyph, Role};

/// The mark of a session: the worst decision in it.
pub fn sign<'m>(model: &'m Model, entry: &Entry) -> (Role, &'m str) {
    let glyph = |role, glyph| (role, model.theme.glyph(glyph));
    let Some(verdict) = entry.verdict() else {
        return if entry.session.is_none() || entry.damaged() > 0 {
            glyph(Role::StatusProblem, Glyph::Problem)
        } else {
            glyph(Role::TextDim, Glyph::Dot)
        };
    };
    if entry.damaged() > 0 && !verdict.objects() {
        return glyph(Role::StatusProblem, Glyph::Problem);
    }
    let (role, sign) = verdict.look();
    glyph(role, sign)
}

/// The name of the session on a line, in this many columns; with the end of its id if a session beside it has the same
/// name.
pub fn name(model: &Model, entry: &Entry, at: usize, room: usize) -> String {
    let (marks, names) = (model.theme.marks(), &model.archive.names);
    let title = entry.row.title(names);
    if entry.session.is_none() {
        // Files differ at their ends.
        return text::ends(title, room, marks).text();
    }
    let called_so = |line| match model.table_line(line) {
        Some(TableLine::Entry(other)) => {
            model.archive.entries.get(other).is_some_and(|other| other.row.title(names) == title)
        }
        _ => false,
    };
    // A few letters, as `/clear`, are the title of many.
    let is_short = text::width(title, marks, SHORT + 1) <= SHORT && *title != *entry.name;
    if *entry.name == *title || !(is_short || at.checked_sub(1).is_some_and(called_so) || called_so(at + 1)) {
        return text::fit(title, room, marks).text();
    }
    let id = text::ends(&entry.name, room / 2, marks);
    format!("{} {}", text::fit(title, room.saturating_sub(id.width + 1), marks).text(), id.text())
}

/// Columns of a title that says too little to be the only one.
const SHORT: usize = 8;
