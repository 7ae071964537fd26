//! The list of sessions where there is room for more than their titles: a column for each thing known of them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::label::{name, sign};
use crate::engine::Mode;
use crate::explore::table::Column;
use crate::workbench::model::table::TableLine;
use crate::workbench::model::verdict::stopped_word;
use crate::workbench::model::{Entry, Model};
use crate::workbench::paint::{Row, tail};
use crate::workbench::rows::Space;
use crate::workbench::theme::{Glyph, Role};

/// Columns of the screen from which there are columns of the table.
pub const TABLE: usize = 76;
/// Columns of the screen that a title has at least, and from which a time has its hours.
const TITLE: usize = 28;
const HOURS: usize = 116;

/// What is worth most comes first.
const WORTH: [Column; 11] = [
    Column::Calls,
    Column::Stopped,
    Column::Problems,
    Column::When,
    Column::Project,
    Column::Format,
    Column::Violated,
    Column::Rules,
    Column::Turns,
    Column::Branch,
    Column::Agent,
];

/// The columns that there is room for, in their order, each with its width; the title has the rest.
fn columns(model: &Model, width: usize) -> Vec<(Column, usize)> {
    let formats = model.archive.files.formats();
    let wide = |column| match column {
        Column::When if width >= HOURS => 16,
        Column::When => 10,
        Column::Project | Column::Branch => 14,
        Column::Agent => 12,
        Column::Format => formats.keys().map(|format| format.len()).max().unwrap_or(0),
        Column::Turns | Column::Rules => 5,
        Column::Calls => 6,
        Column::Stopped if model.basis.mode == Mode::Shadow => 10,
        Column::Stopped | Column::Violated | Column::Problems => 8,
        Column::Title => 0,
    };
    let shows = |column: &Column| match column {
        Column::When | Column::Project | Column::Branch | Column::Agent | Column::Problems => {
            model.archive.table.fills(*column)
        }
        Column::Format => formats.len() > 1,
        _ => true,
    };
    let mut left = width.saturating_sub(3 + TITLE);
    let mut chosen: Vec<(Column, usize)> = Vec::new();
    for column in WORTH.into_iter().filter(shows) {
        let needed = wide(column) + 1;
        if needed <= left {
            left -= needed;
            chosen.push((column, wide(column)));
        }
    }
    chosen.sort_by_key(|(column, _)| Column::ALL.iter().position(|known| known == column));
    chosen
}

/// Columns of numbers, which end where their headings do.
const fn is_number(column: Column) -> bool {
    matches!(
        column,
        Column::Turns | Column::Calls | Column::Stopped | Column::Violated | Column::Rules | Column::Problems
    )
}

/// The headings, with the sorted one marked.
pub fn heading<'m>(model: &'m Model, width: usize) -> Row<'m> {
    let mut row = Row::new(&model.theme, width);
    let columns = columns(model, width);
    let title = width.saturating_sub(3 + columns.iter().map(|(_, width)| width + 1).sum::<usize>());
    let put = |row: &mut Row<'m>, column: Column, width: usize| {
        let sorted = model.archive.table.sort.filter(|(sorted, _)| *sorted == column);
        let mark = sorted.map_or("", |(_, reverse)| if reverse { "-" } else { "+" });
        let word = match column {
            Column::Stopped => stopped_word(model.basis.mode),
            column => column.word(),
        };
        let word = format!("{mark}{word}");
        let role = if sorted.is_some() { Role::TextStrong } else { Role::TextDim };
        let word = if is_number(column) { format!("{word:>width$}") } else { word };
        row.column(role, &word, width);
    };
    row.gap(3);
    put(&mut row, Column::Title, title);
    for (column, width) in columns {
        row.gap(1);
        put(&mut row, column, width);
    }
    row
}

/// One session.
pub fn one<'m>(model: &'m Model, entry: &'m Entry, at: usize, space: &Space<'_>) -> Row<'m> {
    let theme = &model.theme;
    let open = model.table_line(at) == Some(TableLine::Entry(model.place.open));
    let columns = columns(model, space.width);
    let others = columns.iter().map(|(_, width)| width + 1).sum::<usize>();
    let mut row = space.row(model);
    let (role, glyph) = sign(model, entry);
    row.put(Role::Text, if open { theme.glyph(Glyph::Cursor) } else { " " });
    row.put(role, glyph).gap(1).hold();
    let start = row.used();
    let title = space.width.saturating_sub(start + others);
    let strong = if open { Role::TextStrong } else { Role::Text };
    let mut cell = Row::new(theme, title);
    cell.put_found(strong, &name(model, entry, at, title), space.query, false);
    row.append(cell).to(start + title);
    for (column, width) in columns {
        row.gap(1);
        let (role, text) = cell_of(model, entry, column, width);
        let text = if is_number(column) { format!("{text:>width$}") } else { text };
        row.column(role, &text, width);
    }
    row
}

fn cell_of(model: &Model, entry: &Entry, column: Column, width: usize) -> (Role, String) {
    let (row, names, theme) = (&entry.row, &model.archive.names, &model.theme);
    let word = |name: Option<_>| name.map_or(String::new(), |name| names.word(name).to_owned());
    let count = |role: Role, count: u32, glyph: Glyph| match count {
        0 => (Role::TextDim, String::new()),
        count => (role, format!("{count}{}", theme.glyph(glyph))),
    };
    if entry.session.is_none() && column == Column::Calls {
        return (Role::StatusProblem, "unread".to_owned());
    }
    match (column, entry.verdict()) {
        (Column::When, _) => (Role::TextDim, row.began.map_or(String::new(), |began| when(began, width))),
        (Column::Project, _) => (Role::TextDim, tail(&word(row.project), width, theme.marks())),
        (Column::Branch, _) => (Role::TextDim, word(row.branch)),
        (Column::Agent, _) => (Role::TextDim, word(row.agent)),
        (Column::Format, _) => (Role::TextDim, word(row.format)),
        (Column::Turns, _) => (Role::TextDim, row.turns().to_string()),
        (Column::Calls, _) => (Role::Text, row.calls().to_string()),
        (Column::Problems, _) => {
            count(Role::StatusProblem, u32::try_from(row.problems).unwrap_or(u32::MAX), Glyph::Problem)
        }
        (Column::Stopped, Some(verdict)) => {
            let stopped = verdict.stopped.saturating_add(verdict.not_taken);
            match (stopped, verdict.after) {
                (0, after) => count(Role::VerdictAfter, after, Glyph::After),
                (stopped, 0) => count(Role::VerdictDeny, stopped, Glyph::Deny),
                (stopped, after) => {
                    let (deny, later) = (theme.glyph(Glyph::Deny), theme.glyph(Glyph::After));
                    (Role::VerdictDeny, format!("{stopped}{deny} {after}{later}"))
                }
            }
        }
        (Column::Violated, Some(verdict)) => count(Role::VerdictDeny, verdict.violated, Glyph::Deny),
        (Column::Rules, Some(_)) if !row.rules.is_empty() => (Role::Text, row.rules.len().to_string()),
        _ => (Role::TextDim, String::new()),
    }
}

/// A time in UTC, as filters read it.
fn when(at: i64, width: usize) -> String {
    let format = if width >= 16 { "%Y-%m-%d %H:%M" } else { "%Y-%m-%d" };
    let at = Timestamp::from_millisecond(at).ok().map(|at| at.to_zoned(TimeZone::UTC));
    at.map_or(String::new(), |at| at.strftime(format).to_string())
}
