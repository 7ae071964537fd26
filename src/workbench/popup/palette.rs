//! The list in which commands are run by their names.

mod answers;
mod keys;
pub mod state;
pub mod themes;

pub use self::keys::{is_open, key, open, open_again};
pub use self::state::PaletteView;
use self::state::{PaletteRow, with_argument};
use super::spec::Popup;
use crate::workbench::keys::Command;
use crate::workbench::model::Model;
use crate::workbench::paint::Row;
use crate::workbench::rows::{Hint, Rows, Space, hints};
use crate::workbench::theme::Role;

/// Columns of names with their arguments, and of keys.
const NAMES: usize = 23;
const KEYS: usize = 10;
/// Columns from which keys have a column of their own; below that, what a command does needs the room.
const WITH_KEYS: usize = 60;

impl Rows for PaletteView {
    fn len(&self, _: &Model) -> usize {
        self.rows.len()
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let mut row = space.columns(model);
        row.gap(1);
        match self.rows.get(at) {
            Some(PaletteRow::Command(command)) => return self.command(model, *command, space),
            Some(PaletteRow::Value { value, doc, .. }) => {
                row.column(Role::TextStrong, value, NAMES).put(Role::TextDim, doc);
            }
            None => {}
        }
        vec![row]
    }

    fn text(&self, _: &Model, at: usize) -> Option<String> {
        self.rows.get(at).map(PaletteRow::line)
    }

    fn instead(&self, model: &Model) -> Vec<(Role, String)> {
        let text = match with_argument(self.typed.trim_start()) {
            Some((Command::GoTo, ..)) => match model.session() {
                Some(session) => format!(
                    "A call by its number, 1 to {}, or a turn, T1 to T{}.",
                    session.calls.len(),
                    session.turns.len()
                ),
                None => "No session is open.".to_owned(),
            },
            Some((Command::Theme, ..)) => "No theme has this name.".to_owned(),
            Some((command, ..)) => format!("`{}` knows no such name.", command.row().name),
            None => "No command has these words. An empty line lists all.".to_owned(),
        };
        vec![(Role::TextDim, text)]
    }
}

impl PaletteView {
    /// Its name, its keys and its description; below or beside that why it is not available now.
    fn command<'m>(&self, model: &'m Model, command: Command, space: &Space<'_>) -> Vec<Row<'m>> {
        let mut row = space.columns(model);
        row.gap(1);
        let table = command.row();
        let missing = self.missing(command, &model.derived.facts);
        let (name, said) =
            if missing.is_some() { (Role::TextDim, Role::TextDim) } else { (Role::TextStrong, Role::Text) };
        let argument = table.argument.map(|argument| format!(" {}", argument.word())).unwrap_or_default();
        row.column(name, &format!("{}{argument}", table.name), NAMES);
        if row.used() + row.left() >= WITH_KEYS {
            row.column(Role::Key, &model.preferences.keymap.keys(command), KEYS);
        }
        let begins = row.used();
        row.put(said, &model.preferences.keymap.worded(table.doc));
        let Some(missing) = missing else { return vec![row] };
        let missing = format!("({})", model.preferences.keymap.worded(missing));
        if missing.chars().count() + 2 <= row.left() {
            row.gap(2).put(said, &missing);
            return vec![row];
        }
        let mut below = space.columns(model);
        below.gap(begins).put(said, &missing);
        vec![row, below]
    }
}

impl Popup for PaletteView {
    fn title(&self, _: &Model, _: usize) -> String {
        let title = match with_argument(self.typed.trim_start()) {
            Some((Command::SortSessions, ..)) => "Sort sessions by",
            Some((Command::FilterSessions, ..)) => "Filter the sessions",
            Some((Command::Theme, ..)) => "Choose a theme",
            Some((Command::Base, ..)) => "Compare with a base",
            Some((Command::GoTo, ..)) => "Go to a call or a turn",
            Some((Command::SetMark, ..)) => "Set a bookmark",
            Some((Command::GoMark, ..)) => "Go to a bookmark",
            Some((Command::Export, ..)) => "Write into a file",
            Some(_) | None => "Run a command",
        };
        title.to_owned()
    }

    fn note(&self, _: &Model) -> String {
        self.rows.len().to_string()
    }

    fn height(&self, model: &Model, at: usize, space: &Space<'_>) -> usize {
        self.rows(model, at, space).len()
    }

    fn hints(&self) -> &'static [Hint] {
        hints![Open "run it", Close "close"]
    }

    fn filter(&self) -> Option<&str> {
        Some(&self.typed)
    }

    fn sift(&mut self, model: &Model, words: String) {
        self.typed = words;
        self.recalled = None;
        self.collect(model);
    }

    fn typing(&self) -> (&'static str, &'static str) {
        (":", "Enter runs, Tab completes, Up repeats, Esc closes")
    }

    fn lists_commands(&self) -> bool {
        true
    }
}
