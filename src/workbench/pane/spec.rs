//! The specification of a pane: a row of the table of panes.

use crate::workbench::line::Line;
use crate::workbench::model::Model;
use crate::workbench::rows::{Hint, Rows, hints};

/// The specification of a pane.
pub struct PaneSpec {
    /// Its name on the screen.
    pub title: &'static str,
    /// Its short name.
    pub short: &'static str,
    /// The note beside the title.
    pub note: fn(&Model) -> String,
    /// Its lines at a width; `None` if its rows are made one by one.
    pub lines: fn(&Model, usize) -> Option<Vec<Line>>,
    /// Those rows.
    pub rows: &'static (dyn Rows + Sync),
    /// The effect of Enter on a row.
    pub enter: Enter,
    /// Whether its content is about the selected call.
    pub about_call: bool,
    /// The cursor is seen while other panes have the keys.
    pub keeps_cursor: bool,
    /// The keys most wanted in it.
    pub hints: fn(&Model) -> &'static [Hint],
}

/// The effect of Enter on a row of a pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enter {
    /// Nothing.
    Nothing,
    /// Goes to the transcript.
    Transcript,
    /// Opens the whole body.
    Body,
    /// Goes to the place of the change.
    Change,
    /// Shows the rule that the row rests on.
    Rule,
    /// Goes to the call that the row rests on, and shows its rule.
    Call,
}

static NONE: Vec<Line> = Vec::new();

/// A pane of lines, without its own parts.
pub const OF_LINES: PaneSpec = PaneSpec {
    title: "",
    short: "",
    note: |_| String::new(),
    lines: |_, _| None,
    rows: &NONE,
    enter: Enter::Rule,
    about_call: true,
    keeps_cursor: false,
    hints: |_| {
        hints![
            NextCall PreviousCall "row", NextTurn PreviousTurn "turn", NextFinding "stop",
            Open "go there", NextPane "pane", Right "scroll right", Edit "edit", Zoom "zoom", Help "help",
            Quit "quit"
        ]
    },
};
