//! The list of sessions for the rest of the workbench: the listed entries, and their lines.

use super::{Measure, TableLine, View};
use crate::explore::sieve::Sieve;
use crate::explore::table::{Column, Group, Place, group, sift, sort};
use crate::workbench::model::{Entry, Model};

impl Model {
    /// The entries that the list of sessions keeps, in its order: what `F`, `O`, `]s` and pane 8 are about.
    pub fn scope(&self) -> std::vec::IntoIter<usize> {
        let entries: Vec<usize> = match &self.archive.table.view {
            Some(view) => view.places.iter().map(|place| *place as usize).collect(),
            None => (0..self.archive.entries.len()).collect(),
        };
        entries.into_iter()
    }

    /// The number of listed entries.
    pub fn scope_len(&self) -> usize {
        self.archive.table.view.as_ref().map_or(self.archive.entries.len(), |view| view.places.len())
    }

    /// `12 of 533 sessions`, if the list does not keep all.
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

    /// The index of an entry among the listed ones, from 0.
    pub fn place_in_scope(&self, entry: usize) -> Option<usize> {
        match &self.archive.table.view {
            Some(view) => view.places.iter().position(|place| *place as usize == entry),
            None => Some(entry),
        }
    }

    /// Lists the sessions again, if they are filtered, sorted or grouped.
    pub fn arrange(&mut self) {
        let (entries, names, table) = (&self.archive.entries, &self.archive.names, &mut self.archive.table);
        table.stale = 0;
        // Others may be listed.
        table.unmeasured = entries.len().max(1);
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

    /// Measures the columns of the sessions that the list keeps, if that is due. `cell` is what a column shows of one.
    pub fn measure_columns(&mut self, cell: fn(&Model, &Entry, Column) -> usize) {
        let all = self.archive.entries.len();
        let resting = self.work.reading.is_none() && self.judging().is_none();
        let unmeasured = self.archive.table.unmeasured;
        if unmeasured == 0 || !resting && unmeasured * 8 <= all {
            return;
        }
        let mut measured = Column::ALL.map(|column| (column, Measure::default()));
        for entry in self.scope().filter_map(|at| self.archive.entries.get(at)) {
            for (column, measure) in &mut measured {
                let width = cell(self, entry, *column);
                measure.filled += usize::from(width > 0);
                measure.width = measure.width.max(width);
            }
        }
        self.archive.table.measured = measured.to_vec();
        self.archive.table.unmeasured = 0;
    }

    /// Whether the list should be made again: much of what it is made from has changed, or some, and no more is on its way.
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
