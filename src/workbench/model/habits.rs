//! What the person at the keyboard is used to: how the screen is dressed, what was run before.

use crate::workbench::theme::{Depth, GlyphSet};

/// What is kept for the person, whatever is open.
#[derive(Default)]
pub struct Habits {
    /// What every theme is fitted to.
    pub dress: Dress,
    /// The lines that were run by name, the newest last.
    pub history: Vec<String>,
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
