//! The list of sessions as a table: filtered, sorted and grouped.

mod listing;

use std::collections::HashSet;

use crate::explore::filter::Filter;
use crate::explore::table::{Column, Group, GroupKey, GroupKind, Place};

/// The choice of no sort column.
pub const FILE_ORDER: &str = "file order";

/// How the sessions are listed. By default they are all there, in the order of their files.
#[derive(Default)]
pub struct SessionTable {
    /// The filter.
    pub filter: Filter,
    /// The sort column, and whether backwards.
    pub sort: Option<(Column, bool)>,
    /// The grouping.
    pub group: Option<GroupKind>,
    /// The columns that the person chose, those first that are worth most; empty: the usual ones.
    pub columns: Vec<Column>,
    /// How many cells of each column are filled, and its width, as measured last.
    measured: Vec<(Column, Measure)>,
    /// Sessions that have come or changed since.
    unmeasured: usize,
    /// The folded groups.
    pub folded: HashSet<GroupKey>,
    /// The resulting list; `None` for the default.
    view: Option<View>,
    /// Sessions that have come or changed since.
    stale: usize,
}

/// How many cells of a column are filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Measure {
    /// Sessions that have something in it.
    pub filled: usize,
    /// The widest of that, in columns of the screen.
    pub width: usize,
}

/// The sessions as they are listed.
struct View {
    /// Those that pass, in order.
    places: Vec<Place>,
    /// Whether each entry is among them.
    kept: Vec<bool>,
    groups: Vec<Group>,
    lines: Vec<TableLine>,
    /// Sessions with damage that do not pass.
    hidden_damage: usize,
}

/// A line of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableLine {
    /// The heading of a group, by its place.
    Group(usize),
    /// An entry.
    Entry(usize),
}

impl SessionTable {
    /// Whether the sessions are filtered, sorted or grouped.
    fn asks(&self) -> bool {
        !self.filter.is_empty() || self.sort.is_some() || self.group.is_some()
    }

    /// A session has arrived, or its data has changed.
    pub fn note_change(&mut self) {
        self.stale += 1;
        self.unmeasured += 1;
    }

    /// The measure of a column.
    pub fn measure(&self, column: Column) -> Measure {
        let known = self.measured.iter().find(|(known, _)| *known == column);
        known.map_or(Measure::default(), |(_, measure)| *measure)
    }

    /// The filter, the order and the groups, in words.
    pub fn words(&self) -> Option<String> {
        let filter = (!self.filter.is_empty()).then(|| self.filter.text().trim().to_owned());
        let hidden = self.hidden_damage();
        let hidden = (hidden > 0).then(|| format!("{hidden} damaged hidden"));
        let order = self.sort.map(|(column, reverse)| {
            format!("by {}{}", column.word(), if reverse { ", descending" } else { "" })
        });
        let groups = self.group.map(|kind| format!("grouped by {}", kind.word()));
        let words: Vec<String> = [hidden, filter, order, groups].into_iter().flatten().collect();
        (!words.is_empty()).then(|| words.join("  "))
    }

    /// A group, by its place.
    pub fn group_at(&self, at: usize) -> Option<&Group> {
        self.view.as_ref()?.groups.get(at)
    }

    /// Damaged sessions that the filter hides.
    pub fn hidden_damage(&self) -> usize {
        self.view.as_ref().map_or(0, |view| view.hidden_damage)
    }

    /// Whether an entry is listed, be it in a folded group.
    pub fn keeps(&self, entry: usize) -> bool {
        self.view.as_ref().is_none_or(|view| view.kept.get(entry).copied().unwrap_or(true))
    }
}
