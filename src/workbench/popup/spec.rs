//! The specification of a popup: its state, rows, title, keys and actions.

use std::any::Any;

use crate::workbench::effect::Effect;
use crate::workbench::keys::{Command, Scope};
use crate::workbench::list::Listed;
use crate::workbench::model::Model;
use crate::workbench::model::select::Editable;
use crate::workbench::paint::Row;
use crate::workbench::rows::{Hint, Rows, Space};

/// The commands that mean something of their own: `Open Do(enter), Edit Ask(edit)`.
macro_rules! acts {
    ($($command:ident $kind:ident($act:expr)),+ $(,)?) => {
        fn acts(&self) -> &'static [($crate::workbench::keys::Command, $crate::workbench::popup::Act)] {
            &[$(($crate::workbench::keys::Command::$command, $crate::workbench::popup::Act::$kind($act))),+]
        }
    };
}
pub(super) use acts;

/// The action of a key in a popup.
#[derive(Clone, Copy)]
pub enum Act {
    /// This.
    Do(fn(&mut Model)),
    /// This, which asks for an effect.
    Ask(Asks),
    /// This, which may choose a command to be run.
    Choose(fn(&mut Model) -> Option<Command>),
}

impl Act {
    /// Executes it; returns the command that was chosen, if any.
    pub fn run(self, model: &mut Model, effects: &mut Vec<Effect>) -> Option<Command> {
        match self {
            Self::Do(act) => act(model),
            Self::Ask(act) => act(model, effects),
            Self::Choose(act) => return act(model),
        }
        None
    }
}

/// Asks for work outside.
pub type Asks = fn(&mut Model, &mut Vec<Effect>);

/// Rows in a frame of their own, over the panes.
pub trait Popup: Rows + Listed {
    /// The text on the upper edge, in an area of this width.
    fn title(&self, model: &Model, width: usize) -> String;

    /// The text at its end: the number of the row under the cursor, and of rows.
    fn note(&self, model: &Model) -> String {
        let len = self.len(model);
        format!("{}/{len}", if len == 0 { 0 } else { self.list().cursor + 1 })
    }

    /// The keys most wanted in it.
    fn hints(&self) -> &'static [Hint];

    /// The scope of its keys while it is on top.
    fn scope(&self) -> Scope {
        Scope::Help
    }

    /// The commands with a meaning of their own while it is on top; the others act as everywhere.
    fn acts(&self) -> &'static [(Command, Act)] {
        &[]
    }

    /// The action of a command in it, if it has its own.
    fn act(&self, command: Command) -> Option<Act> {
        self.acts().iter().find(|(own, _)| *own == command).map(|(_, act)| *act)
    }

    /// The request that it makes while it is open, after every change.
    fn asks(&self) -> Option<Asks> {
        None
    }

    /// Applies news: another policy, other recordings, more counts.
    fn renew(&mut self, _model: &Model) {}

    /// Rows of the screen that each row takes at least.
    fn tall(&self) -> usize {
        1
    }

    /// Rows of the screen that one of them takes.
    fn height(&self, _model: &Model, _at: usize, _space: &Space<'_>) -> usize {
        self.tall()
    }

    /// Columns of one step of scrolling sideways.
    fn stride(&self, model: &Model) -> usize {
        model.overlay_space(self.list()).width / 2
    }

    /// The words that every row shown contains, where rows are sifted instead of searched.
    fn filter(&self) -> Option<&str> {
        None
    }

    /// The problem of the typed filter, if it is invalid.
    fn refused(&self) -> Option<&str> {
        None
    }

    /// Keeps the rows that contain these words.
    fn sift(&mut self, _model: &Model, _words: String) {}

    /// The sign before the text typed in it, and the effect of keys meanwhile.
    fn typing(&self) -> (&'static str, &'static str) {
        ("/", "Enter keeps, Esc goes back")
    }

    /// The id of the rule that the cursor is on; where no row is about a rule, of the one that is shown below it.
    fn rule(&self, model: &Model) -> Option<String> {
        Some(model.rule(model.shown_rule()?)?.id.to_string())
    }

    /// The file of the row under the cursor, for an editor.
    fn editable(&self, _model: &Model) -> Option<Editable> {
        None
    }

    /// Whether it lists commands: those act on the screen below it.
    fn lists_commands(&self) -> bool {
        false
    }

    /// The preview of the row under the cursor, in place of the pane of changes; `None`: there is none.
    fn preview(&self) -> Option<&dyn Preview> {
        None
    }
}

/// The preview of the row under the cursor, in a frame below the popup.
pub trait Preview {
    /// Its title.
    fn title(&self) -> &'static str;

    /// The note beside the title.
    fn note(&self) -> String;

    /// Its rows, in this many columns and rows of the screen.
    fn rows<'m>(&self, model: &'m Model, width: usize, height: usize) -> Vec<Row<'m>>;
}

/// A row of the table of popups: how a state is known as the popup that it is.
pub struct PopupSpec {
    /// To be seen.
    pub seen: fn(&dyn Any) -> Option<&dyn Popup>,
    /// To be changed.
    pub changed: fn(&mut dyn Any) -> Option<&mut dyn Popup>,
}

impl PopupSpec {
    /// For a type of state.
    pub const fn of<V: Popup + 'static>() -> PopupSpec {
        PopupSpec {
            seen: |state| state.downcast_ref::<V>().map(|view| view as &dyn Popup),
            changed: |state| state.downcast_mut::<V>().map(|view| view as &mut dyn Popup),
        }
    }
}
