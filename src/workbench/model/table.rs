//! The list of sessions as a table: which of them pass the filter, in which order, in which groups.

use std::collections::HashSet;

use super::Model;
use crate::explore::filter::Filter;
use crate::explore::rows::SessionRow;
use crate::explore::sieve::Sieve;
use crate::explore::table::{Column, Group, GroupKey, GroupKind, Place, group, sift, sort};

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

impl Model {
    /// The entries that the list of sessions keeps, in its order: what `F`, `O`, `]s` and pane 8 are about.
    pub fn scope(&self) -> std::vec::IntoIter<usize> {
        let entries: Vec<usize> = match &self.archive.table.view {
            Some(view) => view.places.iter().map(|place| *place as usize).collect(),
            None => (0..self.archive.entries.len()).collect(),
        };
        entries.into_iter()
    }

    /// How many entries the list keeps.
    pub fn scope_len(&self) -> usize {
        self.archive.table.view.as_ref().map_or(self.archive.entries.len(), |view| view.places.len())
    }

    /// `12 of 533 sessions`, where the list does not keep all.
    pub fn scope_note(&self) -> Option<String> {
        let (kept, all) = (self.scope_len(), self.archive.entries.len());
        (!self.archive.table.filter.is_empty()).then(|| format!("{kept} of {all} sessions"))
    }

    /// Lines of the list: entries, and headings of groups.
    pub fn table_len(&self) -> usize {
        self.archive.table.view.as_ref().map_or(self.archive.entries.len(), |view| view.lines.len())
    }

    /// A line of the list.
    pub fn table_line(&self, at: usize) -> Option<TableLine> {
        match &self.archive.table.view {
            Some(view) => view.lines.get(at).copied(),
            None => (at < self.archive.entries.len()).then_some(TableLine::Entry(at)),
        }
    }

    /// The line that an entry is on; of one in a folded group, that of its heading.
    pub fn table_line_of(&self, entry: usize) -> Option<usize> {
        let Some(view) = &self.archive.table.view else {
            return (entry < self.archive.entries.len()).then_some(entry);
        };
        view.lines.iter().position(|line| *line == TableLine::Entry(entry)).or_else(|| {
            let holds = |group: &Group| group.places.iter().any(|place| *place as usize == entry);
            let group = view.groups.iter().position(holds)?;
            view.lines.iter().position(|line| *line == TableLine::Group(group))
        })
    }

    /// Where an entry is among those that the list keeps, from 0.
    pub fn place_in_scope(&self, entry: usize) -> Option<usize> {
        match &self.archive.table.view {
            Some(view) => view.places.iter().position(|place| *place as usize == entry),
            None => Some(entry),
        }
    }

    /// Lists the sessions anew, as far as anything is asked of them.
    pub fn arrange(&mut self) {
        let (entries, names, table) = (&self.archive.entries, &self.archive.names, &mut self.archive.table);
        table.stale = 0;
        table.view = table.asks().then(|| {
            let mut places = sift(entries, &Sieve::new(&table.filter, names));
            let mut kept = vec![false; entries.len()];
            for place in &places {
                if let Some(kept) = kept.get_mut(*place as usize) {
                    *kept = true;
                }
            }
            let hidden = entries.iter().zip(&kept).filter(|(_, kept)| !**kept);
            let hidden_damage = hidden.filter(|(entry, _)| entry.row.problems > 0).count();
            if let Some((column, reverse)) = table.sort {
                sort(entries, &mut places, column, reverse, names);
            }
            let groups = table.group.map(|kind| group(entries, &places, kind, names)).unwrap_or_default();
            let entry = |place: &Place| TableLine::Entry(*place as usize);
            let mut lines = Vec::with_capacity(places.len() + groups.len());
            for (at, group) in groups.iter().enumerate() {
                lines.push(TableLine::Group(at));
                if !table.folded.contains(&group.key) {
                    lines.extend(group.places.iter().map(entry));
                }
            }
            if groups.is_empty() {
                lines.extend(places.iter().map(entry));
            } else {
                // The order of the list is that of its groups.
                places = groups.iter().flat_map(|group| &group.places).copied().collect();
            }
            View { places, kept, groups, lines, hidden_damage }
        });
        self.recount_changes();
    }

    /// Whether the list should be made anew: much of what it is made from has changed, or some, and no more is on its way.
    pub fn table_is_due(&self) -> bool {
        let table = &self.archive.table;
        let done = self.work.reading.is_none()
            && self.judging().is_none()
            && self.basis.changes.comparison.as_ref().is_none_or(|_| self.compared_all());
        table.view.is_some() && table.stale > 0 && (done || table.stale * 8 > self.archive.entries.len())
    }

    /// Whether every session was compared.
    fn compared_all(&self) -> bool {
        self.basis.changes.counts().0 >= self.session_count()
    }
}
