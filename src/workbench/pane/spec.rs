//! What a pane is: a row of the table of panes.

use crate::workbench::line::Line;
use crate::workbench::model::Model;
use crate::workbench::rows::{Hint, Rows, hints};

/// What a pane is.
pub struct PaneSpec {
    /// Its name on the screen.
    pub title: &'static str,
    /// The same where there is little room.
    pub short: &'static str,
    /// What stands beside the title.
    pub note: fn(&Model) -> String,
    /// Its lines at a width; `None` where its rows are made one by one.
    pub lines: fn(&Model, usize) -> Option<Vec<Line>>,
    /// Those rows.
    pub rows: &'static (dyn Rows + Sync),
    /// What Enter does on a row.
    pub enter: Enter,
    /// What it shows is about the selected call.
    pub about_call: bool,
    /// The cursor is seen while other panes have the keys.
    pub keeps_cursor: bool,
    /// The keys most wanted in it.
    pub hints: fn(&Model) -> &'static [Hint],
}

/// What Enter does on a row of a pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enter {
    /// Nothing.
    Nothing,
    /// Goes to the transcript.
    Transcript,
    /// Opens the whole body.
    Body,
    /// Goes to where the change stands.
    Change,
    /// Shows the rule that the row rests on.
    Rule,
    /// Goes to the call that the row rests on, with its rule shown.
    Call,
}

static NONE: Vec<Line> = Vec::new();

/// A pane of lines, but for what each has of its own.
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
