//! The sessions, with their counts; below them what is known of the open one and its file.

use super::spec::{Enter, OF_LINES, PaneSpec};
use crate::engine::Mode;
use crate::report::words;
use crate::workbench::model::verdict::stopped_word;
use crate::workbench::model::{Entry, Held, Model, SessionVerdict};
use crate::workbench::paint::{Row, tail};
use crate::workbench::rows::{Rows, Space, hints};
use crate::workbench::text;
use crate::workbench::theme::{Glyph, Role};

/// Columns from which a list of several formats names the one of each session.
const ROOMY: usize = 40;
/// Rows below the list: a line with the format, the file, what it holds, what the counts mean; where there is room for it
/// two stand on one.
const FOOT: u16 = 4;
/// Columns from which there is that room.
const BESIDE: u16 = 50;
/// Rows that the list has at least where there is a foot.
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
            NextCall PreviousCall "session", NextStop "stopped", Open "open", Findings "findings",
            NextPane "pane", Edit "edit", Mode "mode", Help "help", Quit "quit"
        ],
        Mode::Shadow => hints![
            NextCall PreviousCall "session", NextStop "would stop", Open "open", Findings "findings",
            NextPane "pane", Edit "edit", Mode "mode", Help "help", Quit "quit"
        ],
    },
    ..OF_LINES
};

struct Sessions;

impl Rows for Sessions {
    fn len(&self, model: &Model) -> usize {
        model.archive.entries.len()
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        model
            .archive
            .entries
            .get(at)
            .map(|entry| one(model, entry, at == model.place.open, space))
            .into_iter()
            .collect()
    }

    fn text(&self, model: &Model, at: usize) -> Option<String> {
        let entry = model.archive.entries.get(at)?;
        Some(format!("{} {} {}", entry.name, entry.file, format(entry).unwrap_or_default()))
    }

    fn copied(&self, model: &Model, at: usize) -> Option<String> {
        model.archive.entries.get(at).map(|entry| entry.name.to_string())
    }

    fn instead(&self, model: &Model) -> Vec<(Role, String)> {
        let why = if model.work.reading.is_some() { "reading" } else { "no sessions here" };
        vec![(Role::TextDim, why.to_owned())]
    }

    fn foot(&self, width: u16, height: u16) -> u16 {
        let foot = if width < BESIDE { FOOT } else { FOOT / 2 };
        if height < LEAST + foot { 0 } else { foot }
    }

    fn below<'m>(&self, model: &'m Model, width: u16, height: u16) -> Vec<Row<'m>> {
        model.entry().map(|entry| below(model, entry, width, height)).unwrap_or_default()
    }
}

/// What stands beside the title: which session of how many.
fn note(model: &Model) -> String {
    if model.archive.entries.is_empty() {
        String::new()
    } else {
        format!("{}/{}", model.place.open + 1, model.archive.entries.len())
    }
}

/// How a session is marked: by the worst that was decided in it.
fn sign<'m>(model: &'m Model, entry: &Entry) -> (Role, &'m str) {
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

fn one<'m>(model: &'m Model, entry: &Entry, open: bool, space: &Space<'_>) -> Row<'m> {
    let mut row = space.row(model);
    let column = column(model, space.width);
    let (role, glyph) = sign(model, entry);
    row.put(Role::Text, if open { model.theme.glyph(Glyph::Cursor) } else { " " });
    row.put(role, glyph).gap(1).hold();
    let counts = counts(model, entry);
    let columns = if column > 0 { column + 2 } else { 0 };
    let room = row.left().saturating_sub(counts.used() + 1);
    // The formats stand below each other, whatever is counted.
    let named = if columns > 0 { row.left().saturating_sub(columns + COUNTS) } else { room };
    let start = row.used();
    if text::width(&entry.name, model.theme.marks(), named + 1) > named {
        row.cut();
    }
    let name = text::ends(&entry.name, named, model.theme.marks());
    let name_role = if open { Role::TextStrong } else { Role::Text };
    row.put_found(name_role, &name.text(), space.query, false);
    if columns > 0 {
        row.to(start + named + 2).put_at_most(Role::TextDim, format(entry).unwrap_or_default(), column);
    }
    row.to(start + room + 1).append(counts);
    row
}

/// Columns that counts take where formats stand before them.
const COUNTS: usize = 10;

/// Columns for formats: as many as the longest one has, where there are several and there is room.
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
    row.put(Role::TextDim, &format!("{:>2}", session.calls.len()));
    row
}

/// What is known of the open session and its file.
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

/// What a file holds: `4 sessions 31 calls ! 2 lines dropped`.
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

/// What was decided in the open session: the glyphs of the list in words.
fn meaning<'m>(model: &'m Model, entry: &Entry, width: usize) -> Row<'m> {
    let theme = &model.theme;
    let mut row = Row::new(theme, width);
    let Some((_, replay)) = &entry.replay else {
        row.put(Role::TextDim, if entry.session.is_some() { "not judged" } else { "" });
        return row;
    };
    let verdict = SessionVerdict::of(replay);
    let counted = [
        (verdict.stopped, Role::VerdictDeny, Glyph::Deny, stopped_word(replay.mode())),
        (verdict.after, Role::VerdictAfter, Glyph::After, "after that"),
        (verdict.violated, Role::VerdictDeny, Glyph::Deny, "violated"),
        (verdict.not_taken, Role::VerdictDeny, Glyph::Deny, "not chosen"),
    ];
    for (count, role, glyph, word) in counted.into_iter().filter(|counted| counted.0 > 0) {
        let between = if row.used() > 0 { 2 } else { 0 };
        row.gap(between).put(role, &format!("{count}{}", theme.glyph(glyph)));
        row.put(Role::TextDim, &format!(" {word}"));
    }
    if !verdict.objects() {
        let (role, glyph) = verdict.look();
        let word = match (verdict.not_exercised, replay.mode()) {
            (true, _) => " no rule had to decide",
            (false, Mode::Enforce) => " nothing stopped",
            (false, Mode::Shadow) => " nothing would stop",
        };
        row.put(role, theme.glyph(glyph)).put(Role::TextDim, word);
    }
    row
}
