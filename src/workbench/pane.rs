//! The panes, a file each: their content, links, search and copying.
//!
//! A pane is its file and its row of `Pane::spec`. Its lines are built once for a state and a width and kept in the
//! model; a list that may be long makes its rows on demand.

mod changes;
mod decision;
mod forbidden;
pub mod part;
pub mod policy;
mod preconditions;
pub mod sessions;
mod spec;
mod split;
mod tools;
#[cfg(test)]
mod toy;
mod transcript;

use ratatui::layout::Rect;

use self::part::supposed;
use self::spec::PaneSpec;
use super::layout::{Layout, Pane, Shape};
use super::line::{Line, Link};
use super::model::Model;
use super::rows::{Hint, Rows, Space, are_cut};

pub use self::changes::{origin_word, rule_name, words_of};
pub use self::decision::look;
pub use self::spec::Enter;

/// The parts of a pane.
#[derive(Debug, Clone, Copy)]
pub struct Areas {
    /// Information about all rows.
    pub above: Rect,
    /// The rows.
    pub rows: Rect,
    /// Information about the selected one.
    pub below: Rect,
}

/// Rows of a list that something may be above.
const LEAST: u16 = 3;

impl Pane {
    const fn spec(self) -> &'static PaneSpec {
        match self {
            Self::Sessions => &sessions::SPEC,
            Self::Transcript => &transcript::SPEC,
            Self::Tools => &tools::SPEC,
            Self::Forbidden => &forbidden::SPEC,
            Self::Preconditions => &preconditions::SPEC,
            Self::Decision => &decision::SPEC,
            Self::Policy => &policy::SPEC,
            Self::Changes => &changes::SPEC,
            #[cfg(test)]
            Self::Toy => &toy::SPEC,
        }
    }

    /// The effect of Enter on one of its rows.
    pub const fn enter(self) -> Enter {
        self.spec().enter
    }

    /// Whether its cursor is seen while other panes have the keys.
    pub const fn keeps_cursor(self) -> bool {
        self.spec().keeps_cursor
    }

    /// Whether what it shows is about the selected call: it begins again for another one.
    pub const fn is_about_call(self) -> bool {
        self.spec().about_call
    }

    /// Its short name.
    pub const fn short(self) -> &'static str {
        self.spec().short
    }

    /// Its title: number, name, and a mark for a what-if.
    pub fn title(self, model: &Model) -> String {
        format!("{} {}{}", self.number(), self.spec().title, supposed::title(model, self))
    }

    /// The note beside the title.
    pub fn note(self, model: &Model) -> String {
        (self.spec().note)(model)
    }

    /// The keys most wanted in it.
    pub fn hints(self, model: &Model) -> &'static [Hint] {
        (self.spec().hints)(model)
    }

    /// Its lines, built now, at most `width` columns wide; `None` if its rows are made one by one.
    pub fn lines(self, model: &Model, width: usize) -> Option<Vec<Line>> {
        (self.spec().lines)(model, width)
    }

    /// Its visible rows.
    pub fn rows(self, model: &Model) -> &dyn Rows {
        match model.built(self) {
            Some(lines) => lines,
            None => self.spec().rows,
        }
    }

    /// The targets of the row under its cursor.
    pub fn link(self, model: &Model) -> Link {
        self.rows(model).link(model, model.list(self).cursor)
    }

    /// The areas of its rows, and of the parts above and below them.
    pub fn areas(self, model: &Model, layout: &Layout) -> Option<Areas> {
        let inner = layout.inner(self)?;
        let shown = self.spec().rows;
        // With little room, only the rows are shown.
        let head =
            Some(shown.head(model, inner.width)).filter(|head| head + LEAST <= inner.height).unwrap_or(0);
        let foot = shown.foot(inner.width, inner.height - head);
        let above = Rect { height: head, ..inner };
        let rows = Rect { y: above.bottom(), height: inner.height - head - foot, ..inner };
        Some(Areas { above, rows, below: Rect { y: rows.bottom(), height: foot, ..inner } })
    }

    /// The number of its rows, and of its visible ones. A pane that is not on screen is as high as the screen.
    pub fn extent(self, model: &Model) -> (usize, usize) {
        let height = self.areas(model, &model.layout()).map_or(model.size.height, |areas| areas.rows.height);
        (self.rows(model).len(model), usize::from(height))
    }

    /// The room for its rows in `area`, and the marks in them.
    pub fn space(self, model: &Model, area: Rect) -> Space<'_> {
        let (width, height) = (usize::from(area.width), usize::from(area.height));
        let focus = self == model.place.focus && model.dialog.overlays.is_empty();
        // Places found stay marked in the transcript, whatever has the keys.
        let query = model.dialog.query.as_deref().filter(|_| focus || self == Self::Transcript);
        Space::new(model.list(self), width, height, model.out(self), query)
    }

    /// Whether anything visible of it is cut at the right edge.
    pub fn is_cut(self, model: &Model) -> bool {
        let area = self.areas(model, &model.layout()).map(|areas| areas.rows);
        area.is_some_and(|area| are_cut(self.rows(model), model, &self.space(model, area)))
    }
}

/// The panes whose numbers and short names are above the others, separated by a blank; the names as far as there is
/// room.
pub fn tabs(width: u16, model: &Model, layout: &Layout) -> Vec<(Pane, String)> {
    let beside = layout.shape == Shape::Medium && !model.place.zoom;
    let panes = || Pane::ALL.into_iter().filter(move |pane| !beside || *pane != Pane::Transcript);
    let tab = |pane: Pane, letters: usize| {
        format!("{}{}", pane.number(), pane.short().chars().take(letters).collect::<String>())
    };
    let room = usize::from(width) + 1;
    let fits = |letters: &usize| panes().map(|pane| tab(pane, *letters).len() + 1).sum::<usize>() <= room;
    let letters = [5, 3, 2].into_iter().find(fits).unwrap_or(0);
    panes().map(|pane| (pane, tab(pane, letters))).collect()
}

/// The lines of a pane under one version.
#[cfg(test)]
pub fn of_version(pane: Pane, seen: super::model::seen::Seen<'_>, width: usize) -> Vec<Line> {
    let lines = match pane {
        Pane::Tools => tools::lines,
        Pane::Forbidden => forbidden::lines,
        Pane::Preconditions => preconditions::lines,
        _ => decision::lines,
    };
    lines(seen, width)
}
