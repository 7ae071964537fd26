//! The list of sessions with more than their titles: columns of details.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::label::{name, sign};
use crate::explore::table::Column;
use crate::workbench::model::table::TableLine;
use crate::workbench::model::verdict::stopped_word;
use crate::workbench::model::{Entry, Model};
use crate::workbench::paint::{Row, tail};
use crate::workbench::rows::Space;
use crate::workbench::text;
use crate::workbench::theme::{Glyph, Role};

/// Columns of the screen from which there are columns of the table.
pub const TABLE: usize = 76;
/// Columns of the screen that a title has at least, and the part of all that it keeps where others would take more.
const TITLE: usize = 28;
const SHARE: usize = 40;
/// A column that fewer than one session in this many has something in comes after all others.
const SPARSE: usize = 5;

/// The most important comes first.
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

/// The most columns of the screen that names take, and a time with its hours.
const LONGEST: usize = 24;
const TIME: usize = 16;
const DATE: usize = 10;

/// The columns that there is room for, in their order, each with its width; the title has the rest.
fn columns(model: &Model, width: usize) -> Vec<(Column, usize)> {
    let table = &model.archive.table;
    let chosen = !table.columns.is_empty();
    let worth: &[Column] = if chosen { &table.columns } else { &WORTH };
    let wide = |column: Column| {
        let head = head(model, column).chars().count() + usize::from(is_sorted(model, column));
        table.measure(column).width.max(head)
    };
    let shows = |column: &Column| {
        let filled = table.measure(*column).filled;
        match column {
            Column::Title => false,
            Column::Format => model.archive.files.formats().len() > 1 || chosen,
            // Unread files say so there.
            Column::Calls => true,
            _ => filled > 0,
        }
    };
    let is_sparse = |column: &Column| {
        !chosen
            && table.measure(*column).filled * SPARSE < model.scope_len()
            && matches!(column, Column::When | Column::Project | Column::Branch | Column::Agent)
    };
    let mut left = width.saturating_sub(3 + TITLE.max(width * SHARE / 100));
    let mut taken: Vec<(Column, usize)> = Vec::new();
    let (sparse, full): (Vec<Column>, Vec<Column>) = worth.iter().copied().filter(shows).partition(is_sparse);
    for column in full.into_iter().chain(sparse) {
        let whole = wide(column);
        let fits = |needed: &usize| *needed < left;
        let short = (column == Column::When).then_some(DATE);
        if let Some(needed) = [Some(whole), short].into_iter().flatten().find(fits) {
            left -= needed + 1;
            taken.push((column, needed));
        }
    }
    let order: &[Column] = if chosen { worth } else { &Column::ALL };
    taken.sort_by_key(|(column, _)| order.iter().position(|known| known == column));
    taken
}

/// Columns of the screen that a session needs in a column; 0 if its cell is empty.
pub fn needed(model: &Model, entry: &Entry, column: Column) -> usize {
    let most = match column {
        // The title has what the others leave.
        Column::Title => return 0,
        Column::When => TIME,
        _ => LONGEST,
    };
    let (_, text) = cell_of(model, entry, column, most);
    text::width(&text, model.theme.marks(), most)
}

fn is_sorted(model: &Model, column: Column) -> bool {
    model.archive.table.sort.is_some_and(|(sorted, _)| sorted == column)
}

/// The heading of a column.
fn head(model: &Model, column: Column) -> &'static str {
    match column {
        Column::Stopped => stopped_word(model.basis.mode),
        column => column.word(),
    }
}

/// The column whose heading is at a column of the screen, and where each begins.
pub fn heading_at(model: &Model, width: usize, x: usize) -> Option<Column> {
    if width < TABLE {
        return None;
    }
    let columns = columns(model, width);
    let mut end = width.saturating_sub(columns.iter().map(|(_, width)| width + 1).sum::<usize>());
    if x < end {
        return Some(Column::Title);
    }
    columns.into_iter().find_map(|(column, width)| {
        end += width + 1;
        (x < end).then_some(column)
    })
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
        let word = format!("{mark}{}", head(model, column));
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
    let count = |role: Role, count: u64, glyph: Glyph| match count {
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
        (Column::Problems, _) => count(Role::StatusProblem, row.problems as u64, Glyph::Problem),
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
    let format = if width >= TIME { "%Y-%m-%d %H:%M" } else { "%Y-%m-%d" };
    let at = Timestamp::from_millisecond(at).ok().map(|at| at.to_zoned(TimeZone::UTC));
    at.map_or(String::new(), |at| at.strftime(format).to_string())
}
