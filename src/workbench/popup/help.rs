//! The list of all commands, signs and colours.

use super::spec::{Popup, acts};
use crate::workbench::keys;
use crate::workbench::keys::Command;
use crate::workbench::keys::Scope;
use crate::workbench::list::List;
use crate::workbench::model::Model;
use crate::workbench::model::overlay::words_of;
use crate::workbench::paint::Row;
use crate::workbench::rows::{Hint, Rows, Space, hints};
use crate::workbench::text;
use crate::workbench::text::Marks;
use crate::workbench::theme::{Glyph, Role, Theme};
use crate::workbench::transcript::contains;
use rulestep_base::wording::glyph::NOTES;

/// The list of commands.
#[derive(Default)]
pub struct HelpView {
    /// The scope in which commands are available: the overlay below.
    pub scope: Option<Scope>,
    /// The cursor.
    pub list: List,
    /// Words that every row shown contains.
    pub filter: String,
}

/// A row of help.
#[derive(Clone, Copy)]
pub enum HelpRow {
    /// A command.
    Command(&'static keys::Row),
    /// A mark and its meaning.
    Glyph(Glyph),
    /// A sign that is no command, mark or colour: its group, the sign, and its meaning.
    Note(&'static str, &'static str, &'static str),
    /// A colour and its meaning.
    Role(Role),
}

impl HelpRow {
    /// Under which heading it is.
    pub const fn heading(&self) -> &'static str {
        match self {
            Self::Command(row) => keys::heading(row),
            Self::Glyph(_) => "Marks",
            Self::Note(heading, ..) => heading,
            Self::Role(_) => "Colours",
        }
    }

    /// Its text.
    pub fn doc(&self) -> &'static str {
        match self {
            Self::Command(row) => row.doc,
            Self::Glyph(glyph) => glyph.doc(),
            Self::Note(_, _, doc) => doc,
            Self::Role(role) => role.doc().trim_end_matches('.'),
        }
    }
}

/// Columns of the keys.
const KEYS: usize = 11;
/// The sample text of a colour.
const SAMPLE: &str = "colour";
/// Columns from which groups of commands are named beside them; otherwise the descriptions need the room.
const NAMED: usize = 96;
/// Columns from which they are named above them; below that, a row alone may fill the screen.
const HEADED: usize = 50;

impl Rows for HelpView {
    fn len(&self, model: &Model) -> usize {
        self.shown(model).len()
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let shown = self.shown(model);
        let Some(help) = shown.get(at) else { return Vec::new() };
        let before = at.checked_sub(1).filter(|_| at > space.window.start).and_then(|at| shown.get(at));
        let named = before.is_none_or(|before| before.heading() != help.heading());
        // Without room beside them, a heading is a line of its own.
        let begins = at
            .checked_sub(1)
            .and_then(|at| shown.get(at))
            .is_none_or(|before| before.heading() != help.heading());
        let (theme, width) = (&model.theme, space.width);
        let missing = self.missing(model, help);
        let said = if missing.is_empty() { Role::Text } else { Role::TextDim };
        let room = width.saturating_sub(2 + heading(width) + KEYS).max(1);
        let lines = text::wrap(&format!("{}{missing}", worded(model, help)), room, usize::MAX, theme.marks());
        let row = |(place, line)| {
            let mut row = Row::new(theme, width);
            let group = if named && place == 0 { help.heading() } else { "" };
            row.gap(1).column(Role::TextDim, group, heading(width));
            match help {
                _ if place > 0 => row.gap(KEYS),
                HelpRow::Command(command) => {
                    let role = if missing.is_empty() { Role::Key } else { Role::TextDim };
                    row.column(role, &keys_of(model, command), KEYS)
                }
                HelpRow::Glyph(glyph) => row.column(Role::of(*glyph), &both(theme, *glyph), KEYS),
                HelpRow::Note(_, sign, _) => row.column(Role::Key, sign, KEYS),
                HelpRow::Role(role) => row.put(*role, SAMPLE).gap(KEYS.saturating_sub(SAMPLE.len())),
            };
            row.shown(said, line);
            row
        };
        let above = (begins && (HEADED..NAMED).contains(&width)).then(|| {
            let mut row = Row::new(theme, width);
            row.gap(1).put(Role::TextDim, help.heading());
            row
        });
        above.into_iter().chain(lines.into_iter().enumerate().map(row)).collect()
    }

    fn text(&self, model: &Model, at: usize) -> Option<String> {
        let shown = self.shown(model);
        let row = shown.get(at)?;
        let sign = match row {
            HelpRow::Command(command) => keys_of(model, command),
            HelpRow::Glyph(glyph) => both(&model.theme, *glyph),
            HelpRow::Note(_, sign, _) => (*sign).to_owned(),
            HelpRow::Role(role) => role.name().to_owned(),
        };
        Some(format!("{sign}  {}", worded(model, row)))
    }

    fn instead(&self, _: &Model) -> Vec<(Role, String)> {
        vec![(Role::TextDim, "No row has these words. An empty filter shows all.".to_owned())]
    }
}

/// The text of a row, with the current keys and marks.
fn worded(model: &Model, row: &HelpRow) -> String {
    let said = model.preferences.keymap.worded(row.doc()).into_owned();
    match row {
        HelpRow::Glyph(_) => {
            let with = |said: String, glyph: &Glyph| said.replace(glyph.unicode(), model.theme.glyph(*glyph));
            Glyph::ALL.iter().fold(said, with)
        }
        HelpRow::Command(_) | HelpRow::Note(..) | HelpRow::Role(_) => said,
    }
}

/// A mark as it is drawn, and its ASCII form if that is another one.
fn both(theme: &Theme, glyph: Glyph) -> String {
    match (theme.glyph(glyph), glyph.ascii()) {
        (drawn, ascii) if drawn == ascii => drawn.to_owned(),
        (drawn, ascii) => format!("{drawn}  {ascii}"),
    }
}

/// A command's keys, else its name as it is typed.
fn keys_of(model: &Model, row: &keys::Row) -> String {
    match model.preferences.keymap.keys(row.command) {
        keys if keys.is_empty() => format!(":{}", row.name),
        keys => keys,
    }
}

impl Popup for HelpView {
    fn title(&self, _: &Model, _: usize) -> String {
        match self.filter.as_str() {
            "" => "Help: keys, then marks, then colours".to_owned(),
            filter => format!("Help  /{filter}"),
        }
    }

    fn note(&self, model: &Model) -> String {
        Rows::len(self, model).to_string()
    }

    fn height(&self, model: &Model, at: usize, space: &Space<'_>) -> usize {
        self.rows(model, at, space).len()
    }

    fn hints(&self) -> &'static [Hint] {
        hints![Open "run it", Search "filter", Quit "close"]
    }

    fn filter(&self) -> Option<&str> {
        Some(&self.filter)
    }

    fn sift(&mut self, _: &Model, words: String) {
        self.filter = words;
    }

    acts![Open Choose(enter), Help Do(|model| drop(model.dialog.overlays.pop()))];

    fn lists_commands(&self) -> bool {
        true
    }
}

impl HelpView {
    /// The rows that pass the filter: the commands in the order of the table, then the marks and colours.
    pub fn shown(&self, model: &Model) -> Vec<HelpRow> {
        let filter = self.filter.to_lowercase();
        let words = words_of(&filter);
        let commands = keys::TABLE.iter().map(HelpRow::Command);
        let glyphs = Glyph::ALL.iter().map(|glyph| HelpRow::Glyph(*glyph));
        let ascii = model.theme.marks() == Marks::Ascii;
        let counts = keys::COUNTS.iter().map(|(keys, doc)| HelpRow::Note(keys::COUNTED, keys, doc));
        let notes = NOTES.iter().map(|(mark, plain, doc)| {
            HelpRow::Note("Where text is shown", if ascii { plain } else { mark }, doc)
        });
        let roles = Role::LEGEND.iter().map(|role| HelpRow::Role(*role));
        let passes = |row: &HelpRow| {
            let own = match row {
                HelpRow::Command(row) => {
                    format!("{} {}", model.preferences.keymap.keys(row.command), row.name)
                }
                HelpRow::Glyph(glyph) => model.theme.glyph(*glyph).to_owned(),
                HelpRow::Note(_, sign, _) => (*sign).to_owned(),
                HelpRow::Role(role) => role.name().to_owned(),
            };
            let fields = [row.doc(), row.heading(), &own];
            words.iter().all(|word| fields.iter().any(|field| contains(field, word)))
        };
        commands.chain(counts).chain(glyphs).chain(notes).chain(roles).filter(passes).collect()
    }

    /// What a command is missing, in brackets; empty if it is available.
    fn missing(&self, model: &Model, row: &HelpRow) -> String {
        let HelpRow::Command(row) = row else { return String::new() };
        let scope = self.scope.unwrap_or(keys::Scope::Panes);
        match row.missing_in(scope, &model.derived.facts) {
            Some(missing) => format!("  ({})", model.preferences.keymap.worded(missing)),
            None => String::new(),
        }
    }
}

/// Columns of the names of groups.
fn heading(width: usize) -> usize {
    if width >= NAMED { 21 } else { 0 }
}

/// Opens the list.
pub fn open(model: &mut Model) {
    let scope = Some(model.scope_of_keys());
    model.dialog.open(HelpView { scope, ..HelpView::default() });
}

/// Returns the command under the cursor to be run, if it is available where help was opened.
fn enter(model: &mut Model) -> Option<Command> {
    let help = model.dialog.top::<HelpView>()?;
    let shown = help.shown(model);
    let Some(HelpRow::Command(row)) = shown.get(help.list.cursor) else {
        model.say("this row explains what is on the screen; there is nothing to run");
        return None;
    };
    let scope = help.scope.unwrap_or(Scope::Panes);
    let command = row.command;
    if let Some(missing) = row.missing_in(scope, &model.facts()) {
        let missing = model.preferences.keymap.worded(missing).into_owned();
        model.say(missing);
        return None;
    }
    model.dialog.overlays.pop();
    Some(command)
}
