//! The sessions, with their counts; below them details of the open one and its file.

mod columns;
mod label;

pub use self::columns::heading_at;

use self::label::{name, sign};
use super::spec::{Enter, OF_LINES, PaneSpec};
use crate::explore::table::{Group, GroupKind};
use crate::report::words;
use crate::workbench::keys::Command;
use crate::workbench::model::table::TableLine;
use crate::workbench::model::verdict::stopped_word;
use crate::workbench::model::{Entry, Held, Model};
use crate::workbench::paint::{Row, tail};
use crate::workbench::rows::{Rows, Space, hints};
use crate::workbench::text;
use crate::workbench::theme::{Glyph, Role};
use rulestep_engine::run::Mode;

/// Columns from which a list of several formats names the one of each session.
const ROOMY: usize = 40;
/// Rows below the list: a line with the format, the file, its content, the meaning of the counts; with enough room two
/// are on one.
const FOOT: u16 = 4;
/// Columns from which there is that room.
const BESIDE: u16 = 50;
/// Least rows of the list if there is a foot.
const LEAST: u16 = 6;

/// The pane.
pub(super) const SPEC: PaneSpec = PaneSpec {
    title: "Sessions",
    short: "Sess",
    note,
    rows: &Sessions,
    enter: Enter::Transcript,
    about_call: false,
    keeps_cursor: true,
    hints: |model| match model.basis.mode {
        Mode::Enforce => hints![
            NextCall PreviousCall "session", NextStop "stopped", Open "open", FilterSessions "filter",
            SortSessions "sort", GroupSessions "group", Findings "findings", NextPane "pane", Zoom "zoom",
            Edit "edit", Mode "mode", Help "help", Quit "quit"
        ],
        Mode::Shadow => hints![
            NextCall PreviousCall "session", NextStop "would stop", Open "open", FilterSessions "filter",
            SortSessions "sort", GroupSessions "group", Findings "findings", NextPane "pane", Zoom "zoom",
            Edit "edit", Mode "mode", Help "help", Quit "quit"
        ],
    },
    ..OF_LINES
};

/// Measures the columns of the table if it is on screen.
pub fn measure(model: &mut Model, width: usize) {
    if width >= columns::TABLE {
        model.measure_columns(columns::needed);
    }
}

struct Sessions;

impl Rows for Sessions {
    fn len(&self, model: &Model) -> usize {
        model.table_len()
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let row = match model.table_line(at) {
            Some(TableLine::Group(group)) => {
                model.archive.table.group_at(group).map(|of| group_row(model, of, space))
            }
            Some(TableLine::Entry(place)) => {
                model.archive.entries.get(place).map(|entry| match space.width {
                    columns::TABLE.. => columns::one(model, entry, at, space),
                    _ => one(model, entry, at, space),
                })
            }
            None => None,
        };
        row.into_iter().collect()
    }

    fn text(&self, model: &Model, at: usize) -> Option<String> {
        match model.table_line(at)? {
            TableLine::Group(group) => Some(group_word(model, model.archive.table.group_at(group)?)),
            TableLine::Entry(place) => {
                let entry = model.archive.entries.get(place)?;
                let (title, format) =
                    (entry.row.title(&model.archive.names), format(entry).unwrap_or_default());
                Some(format!("{title} {} {} {format}", entry.name, entry.file))
            }
        }
    }

    fn copied(&self, model: &Model, at: usize) -> Option<String> {
        match model.table_line(at)? {
            TableLine::Group(_) => self.text(model, at),
            TableLine::Entry(place) => model.archive.entries.get(place).map(|entry| entry.name.to_string()),
        }
    }

    fn instead(&self, model: &Model) -> Vec<(Role, String)> {
        let why = match (model.work.reading.is_some(), model.archive.entries.len()) {
            (true, _) => "reading".to_owned(),
            (false, 0) => "no sessions here".to_owned(),
            (false, all) => {
                let key = model.key(Command::FilterSessions);
                format!("none of {} passes the filter; {key} changes it", words::count(all as u64, "session"))
            }
        };
        vec![(Role::TextDim, why)]
    }

    fn head(&self, model: &Model, width: u16) -> u16 {
        let asked = model.archive.table.words().is_some();
        u16::from(asked) + u16::from(usize::from(width) >= columns::TABLE)
    }

    fn above<'m>(&self, model: &'m Model, width: u16) -> Vec<Row<'m>> {
        let width = usize::from(width);
        let asked = model.archive.table.words().map(|words| {
            let mut row = Row::new(&model.theme, width);
            row.put(Role::StatusNote, &words);
            row
        });
        let heading = (width >= columns::TABLE).then(|| columns::heading(model, width));
        asked.into_iter().chain(heading).collect()
    }

    fn foot(&self, width: u16, height: u16) -> u16 {
        let foot = if width < BESIDE { FOOT } else { FOOT / 2 };
        if height < LEAST + foot { 0 } else { foot }
    }

    fn below<'m>(&self, model: &'m Model, width: u16, height: u16) -> Vec<Row<'m>> {
        model.entry().map(|entry| below(model, entry, width, height)).unwrap_or_default()
    }
}

/// The note beside the title: which session of how many, and of how many those are the ones that pass the filter.
fn note(model: &Model) -> String {
    if model.archive.entries.is_empty() {
        return String::new();
    }
    let place =
        model.place_in_scope(model.place.open).map_or("-".to_owned(), |place| (place + 1).to_string());
    match model.archive.table.filter.is_empty() {
        true => format!("{place}/{}", model.scope_len()),
        false => format!("{place}/{} of {}", model.scope_len(), model.archive.entries.len()),
    }
}

/// The name of a group, and the number of its sessions.
fn group_word(model: &Model, group: &Group) -> String {
    let kind = model.archive.table.group.unwrap_or(GroupKind::File);
    format!(
        "{} {}",
        words::count(group.places.len() as u64, "session"),
        group.key.word(kind, &model.archive.names)
    )
}

/// The heading of a group: whether it is folded, its common property, the number of its sessions, and of those with
/// objections.
fn group_row<'m>(model: &'m Model, group: &Group, space: &Space<'_>) -> Row<'m> {
    let theme = &model.theme;
    let kind = model.archive.table.group.unwrap_or(GroupKind::File);
    let mut row = space.row(model);
    let folded = model.archive.table.folded.contains(&group.key);
    let mut counts = Row::new(theme, 24);
    let entries = group.places.iter().filter_map(|place| model.archive.entries.get(*place as usize));
    let against =
        entries.filter(|entry| entry.row.verdict.is_some_and(|verdict| verdict.against() > 0)).count();
    if against > 0 {
        counts.put(Role::VerdictDeny, &format!("{against}{} ", theme.glyph(Glyph::Deny)));
    }
    counts.put(Role::TextDim, &group.places.len().to_string());
    let glyph = if folded { Glyph::Folded } else { Glyph::Open };
    row.put(Role::TextDim, theme.glyph(glyph)).gap(1).hold();
    let (start, room) = (row.used(), row.left().saturating_sub(counts.used() + 1));
    let word = group.key.word(kind, &model.archive.names);
    let word = if kind == GroupKind::File || kind == GroupKind::Project {
        tail(&word, room, theme.marks())
    } else {
        word
    };
    let mut cell = Row::new(theme, room);
    cell.put_found(Role::TextStrong, &word, space.query, false);
    row.append(cell).to(start + room + 1).append(counts);
    row
}

fn one<'m>(model: &'m Model, entry: &Entry, at: usize, space: &Space<'_>) -> Row<'m> {
    let mut row = space.row(model);
    let open = model.table_line(at) == Some(TableLine::Entry(model.place.open));
    let column = column(model, space.width);
    let (role, glyph) = sign(model, entry);
    row.put(Role::Text, if open { model.theme.glyph(Glyph::Cursor) } else { " " });
    row.put(role, glyph).gap(1).hold();
    let counts = counts(model, entry);
    let columns = if column > 0 { column + 2 } else { 0 };
    let room = row.left().saturating_sub(counts.used() + 1);
    // The formats are aligned, whatever the counts.
    let named = if columns > 0 { row.left().saturating_sub(columns + COUNTS) } else { room };
    let start = row.used();
    if text::width(entry.row.title(&model.archive.names), model.theme.marks(), named + 1) > named {
        row.cut();
    }
    let name = name(model, entry, at, named);
    let name_role = if open { Role::TextStrong } else { Role::Text };
    row.put_found(name_role, &name, space.query, false);
    if columns > 0 {
        row.to(start + named + 2).put_at_most(Role::TextDim, format(entry).unwrap_or_default(), column);
    }
    row.to(start + room + 1).append(counts);
    row
}

/// Columns of counts that follow a format.
const COUNTS: usize = 10;

/// Columns for formats: as many as the longest one has, if there are several and there is room.
fn column(model: &Model, width: usize) -> usize {
    let formats = model.archive.files.formats();
    if width < ROOMY || formats.len() < 2 {
        return 0;
    }
    formats.keys().map(|format| format.len()).max().unwrap_or(0)
}

fn format(entry: &Entry) -> Option<&'static str> {
    entry.session.as_ref().map(|session| session.origin.format)
}

/// Stops and calls, or how many parts of the file are damaged: `1✗ 9`.
fn counts<'t>(model: &'t Model, entry: &Entry) -> Row<'t> {
    let mut row = Row::new(&model.theme, 16);
    let Some(session) = &entry.session else {
        row.put(Role::StatusProblem, "unread");
        return row;
    };
    if let Some(verdict) = entry.verdict() {
        if verdict.against() > 0 {
            row.put(Role::VerdictDeny, &format!("{}{} ", verdict.against(), model.theme.glyph(Glyph::Deny)));
        }
        if verdict.after > 0 {
            let after = format!("{}{} ", verdict.after, model.theme.glyph(Glyph::After));
            row.put(Role::VerdictAfter, &after);
        }
        if entry.damaged() > 0 && verdict.objects() {
            row.put(Role::StatusProblem, model.theme.glyph(Glyph::Problem)).gap(1);
        }
    }
    if entry.changed() > 0 {
        row.put(Role::ChangeNew, &format!("{}{} ", entry.changed(), model.theme.glyph(Glyph::Changed)));
    }
    row.put(Role::TextDim, &format!("{:>2}", session.calls));
    row
}

/// Details of the open session and its file.
fn below<'m>(model: &'m Model, entry: &Entry, width: u16, height: u16) -> Vec<Row<'m>> {
    let theme = &model.theme;
    let width = usize::from(width);
    let held = model.archive.files.held(&entry.file);
    let track = theme.glyph(Glyph::Track);
    let format = format(entry).unwrap_or("not a recording");
    let mut first = Row::new(theme, width);
    first.put(Role::Border, &track.repeat(2)).gap(1).put(Role::Text, format).gap(1);
    let mut holds = holds(model, held, width);
    let meaning = meaning(model, entry, width);
    let file = tail(&entry.file, width.saturating_sub(first.used() + 2), theme.marks());
    let mut rows = if height < FOOT {
        first.put(Role::Border, track).gap(1).put(Role::TextDim, &file).gap(1);
        holds.gap(3).append(meaning);
        vec![first, holds]
    } else {
        let mut second = Row::new(theme, width);
        second.put(Role::TextDim, &tail(&entry.file, width, theme.marks()));
        vec![first, second, holds, meaning]
    };
    if let Some(first) = rows.first_mut() {
        first.put(Role::Border, &track.repeat(first.left()));
    }
    rows
}

/// The content of a file: `4 sessions 31 calls ! 2 lines dropped`.
fn holds(model: &Model, held: Held, width: usize) -> Row<'_> {
    let mut row = Row::new(&model.theme, width);
    let calls = words::count(held.calls as u64, "call");
    let holds = match held.sessions {
        0 => "no session".to_owned(),
        1 => calls,
        several => format!("{} {calls}", words::count(several as u64, "session")),
    };
    row.put(Role::TextDim, &holds);
    if held.problems > 0 {
        let problems = words::count(held.problems as u64, "problem");
        let lines = words::count(held.lines as u64, "line");
        let whole = match held.lines {
            0 => problems.clone(),
            all if all == held.problems => format!("{lines} dropped"),
            _ => format!("{problems}, {lines} dropped"),
        };
        let sign = model.theme.glyph(Glyph::Problem);
        let told =
            [format!("{sign} {whole}"), format!("{sign} {problems}"), format!("{sign}{}", held.problems)];
        row.gap(1);
        let fitting = told.iter().find(|told| told.chars().count() <= row.left());
        row.put(Role::StatusProblem, fitting.map_or("", String::as_str));
    }
    row
}

/// Columns of `10✗ stopped  10~ counterfactual`.
const WITH_BOTH: usize = 31;

/// The decisions in the open session: the glyphs of the list in words.
fn meaning<'m>(model: &'m Model, entry: &Entry, width: usize) -> Row<'m> {
    let theme = &model.theme;
    let mut row = Row::new(theme, width);
    let Some(judgement) = &entry.judgement else {
        row.put(Role::TextDim, if entry.session.is_some() { "not judged" } else { "" });
        return row;
    };
    let verdict = judgement.verdict;
    // A call that is stopped now and ran then is marked as stopped.
    let refused = if verdict.objects() { 0 } else { verdict.disagree };
    // Without room for both words, the rarer sign needs its own.
    let stopped = match verdict.after > 0 && width < WITH_BOTH {
        true => "",
        false => stopped_word(judgement.mode),
    };
    let counted = [
        (verdict.stopped, Role::VerdictDeny, Glyph::Deny, stopped),
        (verdict.after, Role::VerdictAfter, Glyph::After, "counterfactual"),
        (verdict.violated, Role::VerdictDeny, Glyph::Deny, "violated"),
        (verdict.asked, Role::VerdictReport, Glyph::Ask, "asked"),
        (verdict.reported, Role::VerdictReport, Glyph::Report, "reported"),
        (verdict.unenforced, Role::VerdictReport, Glyph::Report, "violated (not enforced)"),
        (verdict.not_taken, Role::VerdictDeny, Glyph::Deny, "not chosen"),
        (refused, Role::Disagree, Glyph::Disagree, "refused then"),
    ];
    for (count, role, glyph, word) in counted.into_iter().filter(|counted| counted.0 > 0) {
        let between = if row.used() > 0 { 2 } else { 0 };
        row.gap(between).put(role, &format!("{count}{}", theme.glyph(glyph)));
        if !word.is_empty() && row.left() > word.len() {
            row.put(Role::TextDim, &format!(" {word}"));
        }
    }
    if !verdict.objects() {
        let word = match (verdict.not_exercised, judgement.mode) {
            (true, _) => " no rule had to decide",
            (false, Mode::Enforce) => " nothing stopped",
            (false, Mode::Shadow) => " nothing would stop",
        };
        if verdict.reports() + verdict.asked + refused == 0 {
            // Decisions about unreadable parts are unknown.
            let (role, glyph) = match entry.damaged() {
                0 => verdict.look(),
                _ => (Role::StatusProblem, Glyph::Problem),
            };
            row.put(role, theme.glyph(glyph));
        } else if word.len() < row.left() {
            row.put(Role::TextDim, ",");
        } else {
            // That nothing was stopped matters more than the word for the sign.
            row = Row::new(theme, width);
            let (role, glyph) = verdict.look();
            let count = match glyph {
                Glyph::Ask => verdict.asked,
                Glyph::Report => verdict.reports(),
                _ => refused,
            };
            row.put(role, &format!("{count}{}", theme.glyph(glyph)));
        }
        row.put(Role::TextDim, word);
    }
    row
}
