//! Rows with a cursor: the content of a pane or an overlay. `update` moves, searches, follows and copies the same rows
//! that `draw` draws.

use std::hash::{DefaultHasher, Hash};
use std::ops::Range;

use super::keys::Command;
use super::line::{Line, Link};
use super::list::List;
use super::model::Model;
use super::paint::Row;
use super::theme::Role;
use super::transcript::contains;

/// The room for rows on the screen, and the marks in them.
#[derive(Debug, Clone)]
pub struct Space<'q> {
    /// Columns.
    pub width: usize,
    /// Columns that are scrolled out of sight at the left edge.
    pub out: usize,
    /// The search text.
    pub query: Option<&'q str>,
    /// The row under the cursor.
    pub cursor: usize,
    /// The rows on screen, if each takes one row of the screen.
    pub window: Range<usize>,
}

impl<'q> Space<'q> {
    /// For a list in `width` columns and `height` rows of the screen.
    pub fn new(list: List, width: usize, height: usize, out: usize, query: Option<&'q str>) -> Self {
        Self { width, out, query, cursor: list.cursor, window: list.top..list.top + height }
    }

    /// An empty row of this width.
    pub fn row<'m>(&self, model: &'m Model) -> Row<'m> {
        Row::scrolled(&model.theme, self.width, self.out)
    }

    /// The same for a row in columns.
    pub fn columns<'m>(&self, model: &'m Model) -> Row<'m> {
        Row::flowing(&model.theme, self.width, self.out)
    }
}

/// Keys that are wanted together, and a word for their effect.
pub type Hint = (&'static [Command], &'static str);

/// Hints: `Open "go there", NextTurn PreviousTurn "turn"`.
macro_rules! hints {
    ($($($command:ident)+ $word:literal),+) => {
        &[$((&[$($crate::workbench::keys::Command::$command),+], $word)),+]
    };
}
pub(super) use hints;

/// Rows with a cursor.
pub trait Rows {
    /// The number of rows.
    fn len(&self, model: &Model) -> usize;

    /// A row as it is drawn, in one row of the screen or several.
    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>>;

    /// Its text.
    fn text(&self, model: &Model, at: usize) -> Option<String>;

    /// The text that copying it puts on the clipboard.
    fn copied(&self, model: &Model, at: usize) -> Option<String> {
        self.text(model, at)
    }

    /// Whether `query` (lower case) is found in it.
    fn matches(&self, model: &Model, at: usize, query: &str) -> bool {
        self.text(model, at).is_some_and(|text| contains(&text, query))
    }

    /// The columns at which `query` (lower case) is found in it; none for rows that begin at a hit.
    fn columns_of(&self, _model: &Model, _at: usize, _query: &str) -> Range<usize> {
        0..0
    }

    /// Its targets.
    fn link(&self, _model: &Model, _at: usize) -> Link {
        Link::default()
    }

    /// Their subject: with another one, horizontal scrolling begins again. The cursor makes no difference.
    fn subject(&self, _model: &Model, _hasher: &mut DefaultHasher) {}

    /// The text if there are no rows.
    fn instead(&self, _model: &Model) -> Vec<(Role, String)> {
        Vec::new()
    }

    /// Rows of the screen above the list, in this room.
    fn head(&self, _model: &Model, _width: u16) -> u16 {
        0
    }

    /// The rows above.
    fn above<'m>(&self, _model: &'m Model, _width: u16) -> Vec<Row<'m>> {
        Vec::new()
    }

    /// Rows of the screen below the list, in this room.
    fn foot(&self, _width: u16, _height: u16) -> u16 {
        0
    }

    /// The rows below.
    fn below<'m>(&self, _model: &'m Model, _width: u16, _height: u16) -> Vec<Row<'m>> {
        Vec::new()
    }
}

impl Rows for Vec<Line> {
    fn len(&self, _: &Model) -> usize {
        self.len()
    }

    fn rows<'m>(&self, model: &'m Model, at: usize, space: &Space<'_>) -> Vec<Row<'m>> {
        let mut row = space.row(model);
        if let Some(line) = self.get(at) {
            line.fill(&mut row, space.query);
        }
        vec![row]
    }

    fn text(&self, _: &Model, at: usize) -> Option<String> {
        self.get(at).map(Line::plain)
    }

    fn columns_of(&self, _: &Model, at: usize, query: &str) -> Range<usize> {
        self.get(at).and_then(|line| line.columns_of(query)).unwrap_or_default()
    }

    fn link(&self, _: &Model, at: usize) -> Link {
        self.get(at).map(|line| line.link).unwrap_or_default()
    }

    fn subject(&self, _: &Model, hasher: &mut DefaultHasher) {
        self.iter().for_each(|line| line.plain().hash(hasher));
    }
}

/// Whether anything on screen is cut where scrolling sideways shows more.
pub fn are_cut(rows: &dyn Rows, model: &Model, space: &Space<'_>) -> bool {
    let seen = space.window.start..space.window.end.min(rows.len(model));
    seen.into_iter().any(|at| rows.rows(model, at, space).iter().any(Row::is_cut))
}
