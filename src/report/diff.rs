//! The changes between two versions: one file for each output.
//!
//! Data is written session by session. Text for people begins with the most important changes of all sessions, so it is
//! gathered first: by kind and rule, a few changes of each worded, the others counted. Memory is then bounded by the
//! number of rules, not of sessions; only JUnit, which begins with counts, keeps a few lines of every session.

mod edits;
mod entry;
mod gate;
mod idle;
mod json;
mod junit;
pub mod markdown;
mod scan;
mod text;
mod view;
mod whole;

use std::io::{self, Write};

pub use edits::summary as rules_summary;
pub use entry::{noun, title};
pub use json::SCHEMA;
pub(super) use json::TotalsLine;
pub use view::View;
pub use whole::{DiffResult, Part};

use super::ci;
use crate::compare::{Effects, SessionDiff, Totals, groups};
use whole::{Case, ChangeGroup, Key};

/// An output of comparisons.
pub struct Output {
    /// Its name for `--format`.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What it keeps until all sessions are compared.
    keeps: Memory,
    /// Writes one session.
    session: fn(&SessionDiff, &View<'_>, &mut dyn Write) -> io::Result<()>,
    /// Writes the end of the output, or all of it.
    pub end: fn(&DiffResult, &View<'_>, &mut dyn Write) -> io::Result<()>,
}

/// Every output of comparisons; the first is the default.
pub static OUTPUTS: &[Output] = &[
    Output {
        name: "text",
        title: "Text for people",
        keeps: Memory::Groups,
        session: |_, _, _| Ok(()),
        end: text::end,
    },
    Output {
        name: "json",
        title: "One JSON object per session, then one with totals, each on its own line",
        keeps: Memory::Nothing,
        session: json::session,
        end: json::end,
    },
    Output {
        name: "markdown",
        title: "Markdown for a pull request",
        keeps: Memory::Groups,
        session: |_, _, _| Ok(()),
        end: markdown::end,
    },
    Output {
        name: "junit",
        title: "JUnit XML for a build server, one test case per session",
        keeps: Memory::Sessions,
        session: |_, _, _| Ok(()),
        end: junit::end,
    },
    Output {
        name: "sarif",
        title: "SARIF for code scanning",
        keeps: Memory::Groups,
        session: |_, _, _| Ok(()),
        end: |whole, view, out| scan::with(whole, view, |run| ci::sarif::write(run, out)),
    },
    Output {
        name: "github",
        title: "GitHub Actions annotations",
        keeps: Memory::Groups,
        session: |_, _, _| Ok(()),
        end: |whole, view, out| scan::with(whole, view, |run| ci::github::write(run, out)),
    },
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Memory {
    Nothing,
    Groups,
    Sessions,
}

impl Part {
    /// Words a session, as far as the outputs need it.
    pub fn of(compared: &SessionDiff, view: &View<'_>, outputs: &[&Output]) -> Part {
        let changes = compared.changes();
        let mut totals = Totals::default();
        totals.add(changes);
        totals.note(compared, view.comparison.base());
        let bytes = outputs.iter().map(|output| {
            let mut bytes = Vec::new();
            // Writing to memory does not fail; were it to, the session would be without its end rather than vanish.
            let _ = (output.session)(compared, view, &mut bytes);
            bytes
        });
        let bytes = bytes.collect();
        let most = view.most();
        let gather = || {
            groups(changes).into_iter().map(|group| {
                let mut gathered =
                    ChangeGroup { count: group.changes.len() as u64, sessions: 1, ..ChangeGroup::default() };
                for entry in entry::entries(&group.changes, compared, view, most) {
                    gathered.take(entry, most);
                }
                ((group.kind, group.rule), gathered)
            })
        };
        let wanted = |keeps| outputs.iter().any(|output| output.keeps == keeps);
        let groups = if wanted(Memory::Groups) { gather().collect() } else { Vec::new() };
        let case = wanted(Memory::Sessions).then(|| Case::of(compared, view, &totals, gather()));
        Part { bytes, totals, effects: Effects::of(compared, view.comparison), groups, case }
    }
}

impl Case {
    fn of(
        compared: &SessionDiff,
        view: &View<'_>,
        totals: &Totals,
        groups: impl Iterator<Item = (Key, ChangeGroup)>,
    ) -> Case {
        let session = compared.session();
        let failing = view.fails.iter().map(|kind| (*kind, totals.of(*kind).sum()));
        Case {
            session: super::words::name(&session.id).into_owned(),
            file: super::words::name(&session.origin.file).into_owned(),
            uncompared: totals.uncompared,
            is_compared: totals.compared() > 0,
            failing: failing.filter(|(_, count)| *count > 0).collect(),
            lines: groups.flat_map(|(key, group)| junit::lines(key, &group, view)).collect(),
        }
    }
}
