//! The list of all commands.

use super::Window;
use crate::workbench::keys;
use crate::workbench::model::Model;
use crate::workbench::model::overlay::HelpView;
use crate::workbench::paint::Row;
use crate::workbench::rows::{Hint, Rows, Space, hints};
use crate::workbench::text::{self, CleanLine, Marks};
use crate::workbench::theme::Role;

/// Columns of the keys.
const KEYS: usize = 11;
/// Columns from which groups of commands are named beside them; below that, what they do needs the room.
const NAMED: usize = 96;

impl Rows for HelpView {
    fn len(&self, _: &Model) -> usize {
        self.shown().count()
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let first = at.saturating_sub(1);
        let mut near = self.shown().skip(first);
        let before = near.next().filter(|_| at > first && at > space.window.start);
        let Some(command) = (if at > first { near.next() } else { self.shown().next() }) else {
            return Vec::new();
        };
        let (facts, theme, width) = (&model.settled.facts, &model.theme, space.width);
        let missing = (command.missing)(facts).is_some();
        let (role, said) = if missing { (Role::TextDim, Role::TextDim) } else { (Role::Key, Role::Text) };
        let lines = lines(model, command, width, theme.marks());
        let row = |(place, line)| {
            let mut row = Row::new(theme, width);
            let named = place == 0 && before.is_none_or(|before| before.group != command.group);
            let keys = if place == 0 { model.habits.keymap.keys(command.command) } else { String::new() };
            let group = if named { keys::heading(command.group) } else { "" };
            row.gap(1)
                .column(Role::TextDim, group, heading(width))
                .column(role, &keys, KEYS)
                .shown(said, line);
            row
        };
        lines.into_iter().enumerate().map(row).collect()
    }

    fn text(&self, model: &Model, at: usize) -> Option<String> {
        let row = self.shown().nth(at)?;
        Some(format!("{}  {}", model.habits.keymap.keys(row.command), row.doc))
    }
}

impl Window for HelpView {
    fn title(&self, _: &Model, _: usize) -> String {
        match self.filter.as_str() {
            "" => "Commands".to_owned(),
            filter => format!("Commands  /{filter}"),
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
}

/// What a command does, and what it misses, beside its keys.
fn lines(model: &Model, command: &keys::Row, width: usize, marks: Marks) -> Vec<CleanLine> {
    let room = width.saturating_sub(1 + heading(width) + KEYS).max(1);
    let missing = (command.missing)(&model.settled.facts);
    let missing =
        missing.map(|missing| format!("  ({})", model.habits.keymap.worded(missing))).unwrap_or_default();
    text::wrap(&format!("{}{missing}", command.doc), room, usize::MAX, marks)
}

/// Columns of the names of groups.
fn heading(width: usize) -> usize {
    if width >= NAMED { 21 } else { 0 }
}
