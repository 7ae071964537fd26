//! The list of sessions as a table: which of them pass the filter, in which order, in which groups.

mod listing;

use std::collections::HashSet;

use crate::explore::filter::Filter;
use crate::explore::rows::SessionRow;
use crate::explore::table::{Column, Group, GroupKey, GroupKind, Place};

/// What is chosen to have no column sort.
pub const FILE_ORDER: &str = "file order";

/// How the sessions are listed. As long as nothing is asked of them they are all there, in the order of their files.
#[derive(Default)]
pub struct SessionTable {
    /// Which are listed.
    pub filter: Filter,
    /// What they are sorted by, and whether backwards.
    pub sort: Option<(Column, bool)>,
    /// What they are grouped by.
    pub group: Option<GroupKind>,
    /// The columns that any session has something in, of those that may be empty.
    filled: HashSet<Column>,
    /// The groups whose sessions are out of sight.
    pub folded: HashSet<GroupKey>,
    /// What that comes to; `None` while nothing is asked.
    view: Option<View>,
    /// Sessions that have come or changed since.
    stale: usize,
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
    /// Whether anything is asked of the sessions.
    fn asks(&self) -> bool {
        !self.filter.is_empty() || self.sort.is_some() || self.group.is_some()
    }

    /// What is known of a session has changed.
    pub fn note_change(&mut self) {
        self.stale += 1;
    }

    /// A session has come.
    pub fn note_entry(&mut self, row: &SessionRow) {
        self.stale += 1;
        let known = [
            (Column::When, row.began.is_some()),
            (Column::Project, row.project.is_some()),
            (Column::Branch, row.branch.is_some()),
            (Column::Agent, row.agent.is_some()),
            (Column::Problems, row.problems > 0),
        ];
        self.filled.extend(known.into_iter().filter(|(_, known)| *known).map(|(column, _)| column));
    }

    /// Whether any session has something in this column.
    pub fn fills(&self, column: Column) -> bool {
        self.filled.contains(&column)
    }

    /// What is asked of the sessions, in words: the filter, the order, the groups.
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
