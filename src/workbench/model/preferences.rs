//! The user's preferences: the look of the screen, earlier commands.

use super::saved::Restore;
use crate::explore::table::Column;
use crate::workbench::keys::Keymap;
use crate::workbench::layout::Pane;
use crate::workbench::theme::{Depth, GlyphSet};
use rulestep_base::diagnostic::Diagnostic;
use rulestep_base::session::Millis;

/// State that belongs to the user, whatever is open.
#[derive(Default)]
pub struct Preferences {
    /// The terminal's capabilities, which every theme is fitted to.
    pub caps: TerminalCaps,
    /// The chords of commands.
    pub keymap: Keymap,
    /// Problems of the configuration files.
    pub problems: Vec<Diagnostic>,
    /// The lines that were run by name, the newest last.
    pub history: Vec<String>,
    /// Whether the mouse is listened to.
    pub mouse: bool,
    /// The latest click, for detecting a double click.
    pub click: Option<Click>,
    /// The position when the workbench was closed, until its session is read or a key is pressed.
    pub restore: Option<Restore>,
    /// Whether it begins at a stopped call, and what it says there: until that call is known or a key is pressed.
    pub welcome: Welcome,
}

/// What to jump to as the recordings arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Welcome {
    /// The user navigated, or a position was restored: do not jump.
    #[default]
    Over,
    /// The first stopped call of the samples, with a line that says what there is to do.
    Samples,
    /// The first stopped call or violated rule of the user's own recordings.
    Recordings,
}

/// The element under the pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A row of the overlay on top.
    OverlayRow(usize),
    /// Another part of it.
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
    /// The clicked element.
    pub target: Target,
    /// When.
    pub at: Millis,
}

/// The capabilities of the terminal, for every theme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalCaps {
    /// Its number of colours.
    pub depth: Depth,
    /// The glyphs it is limited to; `None`: those of the theme.
    pub glyphs: Option<GlyphSet>,
}

impl Default for TerminalCaps {
    fn default() -> Self {
        Self { depth: Depth::Rgb, glyphs: None }
    }
}
