//! The list in which commands are run by their names: the typed text, and the matching rows.

use crate::workbench::keys::{self, Argument, Command, Facts, Scope};
use crate::workbench::list::List;
use crate::workbench::theme::Theme;

/// The list of commands to run by name.
pub struct PaletteView {
    /// The scope in which commands are available: the overlay below.
    pub scope: Scope,
    /// The cursor.
    pub list: List,
    /// The typed text.
    pub typed: String,
    /// The matches, the best first.
    pub rows: Vec<PaletteRow>,
    /// The theme that is chosen, while others are looked at.
    pub theme: Option<Box<Theme>>,
    /// The line of the history that is typed again, counted from the newest.
    pub recalled: Option<usize>,
}

/// Something that can be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaletteRow {
    /// A command.
    Command(Command),
    /// A command with the text after its name.
    Value {
        /// The command.
        command: Command,
        /// The value of its argument.
        value: String,
        /// A description of it.
        doc: String,
    },
}

impl PaletteRow {
    /// The command.
    pub const fn command(&self) -> Command {
        match self {
            Self::Command(command) | Self::Value { command, .. } => *command,
        }
    }

    /// The line that says the same when it is typed.
    pub fn line(&self) -> String {
        match self {
            Self::Command(command) => command.row().name.to_owned(),
            Self::Value { command, value, .. } => format!("{} {value}", command.row().name),
        }
    }
}

impl PaletteView {
    /// The row under the cursor.
    pub fn row(&self) -> Option<&PaletteRow> {
        self.rows.get(self.list.cursor)
    }

    /// Why a command cannot be run here, if so.
    pub fn missing(&self, command: Command, facts: &Facts) -> Option<&'static str> {
        command.row().missing_in(self.scope, facts)
    }
}

/// The command whose whole name begins the line, its argument, and the typed part of that.
pub fn with_argument(line: &str) -> Option<(Command, Argument, &str)> {
    let (name, value) = line.split_once(' ')?;
    let row = keys::TABLE.iter().find(|row| row.name == name)?;
    Some((row.command, row.argument?, value))
}
