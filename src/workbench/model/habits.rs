//! What the person at the keyboard is used to: how the screen is dressed, what was run before.

use super::saved::Restore;
use crate::explore::table::Column;
use crate::workbench::keys::Keymap;
use crate::workbench::layout::Pane;
use crate::workbench::theme::{Depth, GlyphSet};
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::Millis;

/// What is kept for the person, whatever is open.
#[derive(Default)]
pub struct Habits {
    /// What every theme is fitted to.
    pub dress: Dress,
    /// Which chords mean which command.
    pub keymap: Keymap,
    /// What is wrong in the files in which the person chose all this.
    pub problems: Vec<Diagnostic>,
    /// The lines that were run by name, the newest last.
    pub history: Vec<String>,
    /// Whether the mouse is listened to.
    pub mouse: bool,
    /// The last click, of which a second one may make a double click.
    pub click: Option<Click>,
    /// Where the workbench was closed, until its session is read or a key is pressed.
    pub restore: Option<Restore>,
    /// Whether it begins at a stopped call, and what it says there: until that call is known or a key is pressed.
    pub welcome: Welcome,
}

/// What is looked for as the recordings arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Welcome {
    /// Nothing: somebody goes through them, or they were left somewhere.
    #[default]
    Over,
    /// The first stopped call of the samples, with a line that says what there is to do.
    Samples,
    /// The first stopped call or violated rule of somebody's own recordings: that is what they are opened for.
    Recordings,
}

/// What is under the pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A row of the overlay on top.
    OverlayRow(usize),
    /// Something else of it.
    Overlay,
    /// A row of a pane.
    Row(Pane, usize),
    /// The heading of a column of the list of sessions.
    Heading(Column),
    /// Something else of a pane, or its name above.
    Pane(Pane),
}

/// A click.
#[derive(Debug, Clone, Copy)]
pub struct Click {
    /// What it hit.
    pub target: Target,
    /// When.
    pub at: Millis,
}

/// What the terminal can show, whichever theme is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dress {
    /// How many colours it has.
    pub depth: Depth,
    /// The glyphs it is limited to; `None`: those of the theme.
    pub glyphs: Option<GlyphSet>,
}

impl Default for Dress {
    fn default() -> Self {
        Self { depth: Depth::Rgb, glyphs: None }
    }
}
