//! What changes between two versions: one file an output.
//!
//! Data is written session by session. What people read begins with what they must not miss, whichever session it is in,
//! so it is gathered first: by kind and rule, a few changes of each worded, the others counted. Memory is then bounded by
//! the number of rules, not of sessions; only JUnit, of which the counts are first, keeps a few lines of every session.

mod entry;
mod idle;
mod json;
mod junit;
pub mod markdown;
mod scan;
mod text;

use std::collections::BTreeMap;
use std::io::{self, Write};

pub use entry::{noun, title};
pub use json::SCHEMA;

use super::{Look, Scope, Total, ci};
use crate::compare::{Compared, Comparison, Effects, Kind, Origin, RuleAt, Totals, groups};
use crate::engine::Mode;
use entry::Entry;

/// An output of comparisons.
pub struct Output {
    /// What `--format` calls it.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// What it needs once all sessions are compared.
    keeps: Keeps,
    /// Writes one session.
    session: fn(&Compared, &View<'_>, &mut dyn Write) -> io::Result<()>,
    /// Writes what closes the output, or all of it.
    pub end: fn(&Whole, &View<'_>, &mut dyn Write) -> io::Result<()>,
}

/// Every output of comparisons; the first is the default.
pub static OUTPUTS: &[Output] = &[
    Output {
        name: "text",
        title: "text for people",
        keeps: Keeps::Groups,
        session: |_, _, _| Ok(()),
        end: text::end,
    },
    Output {
        name: "json",
        title: "one JSON object per session, then one with totals, each on its own line",
        keeps: Keeps::Nothing,
        session: json::session,
        end: json::end,
    },
    Output {
        name: "markdown",
        title: "Markdown for a pull request",
        keeps: Keeps::Groups,
        session: |_, _, _| Ok(()),
        end: markdown::end,
    },
    Output {
        name: "junit",
        title: "JUnit XML for a build server, one test case per session",
        keeps: Keeps::Sessions,
        session: |_, _, _| Ok(()),
        end: junit::end,
    },
    Output {
        name: "sarif",
        title: "SARIF for code scanning",
        keeps: Keeps::Groups,
        session: |_, _, _| Ok(()),
        end: |whole, view, out| scan::with(whole, view, |run| ci::sarif::write(run, out)),
    },
    Output {
        name: "github",
        title: "GitHub Actions annotations",
        keeps: Keeps::Groups,
        session: |_, _, _| Ok(()),
        end: |whole, view, out| scan::with(whole, view, |run| ci::github::write(run, out)),
    },
];

/// What is compared, and how it is to look.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The versions.
    pub comparison: &'a Comparison,
    /// What the base was called.
    pub base: &'a str,
    /// What the new version was called.
    pub new: &'a str,
    /// How sessions are judged.
    pub mode: Mode,
    /// How it is to look; in full, every change is worded.
    pub look: Look,
    /// Kinds of change that are a failure.
    pub fails: &'a [Kind],
    /// The command that does it again.
    pub command: &'a str,
}

/// One session, compared and written: small beside the session.
pub struct Part {
    /// What each output writes of it at once.
    pub bytes: Vec<Vec<u8>>,
    totals: Totals,
    effects: Effects,
    groups: Vec<(Key, Gathered)>,
    case: Option<Case>,
}

/// All sessions.
#[derive(Default)]
pub struct Whole {
    /// Changes, counted.
    pub totals: Totals,
    /// What is wrong with recordings, counted; and whether the work was broken off.
    pub told: Total,
    /// What altered rules match.
    effects: Effects,
    groups: BTreeMap<Key, Gathered>,
    cases: Vec<Case>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeps {
    Nothing,
    Groups,
    Sessions,
}

type Key = (Kind, Option<RuleAt>);

/// Changes of one kind and one rule.
#[derive(Default)]
struct Gathered {
    count: u64,
    sessions: u64,
    /// Some of them, in words: primary ones, then downstream ones.
    entries: [Vec<Entry>; 2],
}

/// A session as a test.
struct Case {
    session: String,
    file: String,
    changes: u64,
    /// Kinds that are a failure, and how often they are there.
    failing: Vec<(Kind, u64)>,
    lines: Vec<String>,
}

/// Changes of one kind and one rule that are worded.
const SHOWN: usize = 10;

impl Part {
    /// Words a session, as far as the outputs need it.
    pub fn of(compared: &Compared, view: &View<'_>, outputs: &[&Output]) -> Part {
        let changes = compared.changes();
        let mut totals = Totals::default();
        totals.add(changes);
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
                    Gathered { count: group.changes.len() as u64, sessions: 1, ..Gathered::default() };
                for entry in entry::entries(&group.changes, compared, view, most) {
                    gathered.take(entry, most);
                }
                ((group.kind, group.rule), gathered)
            })
        };
        let wanted = |keeps| outputs.iter().any(|output| output.keeps == keeps);
        let groups = if wanted(Keeps::Groups) { gather().collect() } else { Vec::new() };
        let case = wanted(Keeps::Sessions).then(|| Case::of(compared, view, &totals, gather()));
        Part { bytes, totals, effects: Effects::of(compared, view.comparison), groups, case }
    }
}

impl Whole {
    /// Takes the next session in.
    pub fn take(&mut self, part: Part, most: usize) {
        self.totals.merge(&part.totals);
        self.effects.merge(&part.effects);
        for (key, more) in part.groups {
            let group = self.groups.entry(key).or_default();
            group.count += more.count;
            group.sessions += more.sessions;
            more.entries.into_iter().flatten().for_each(|entry| group.take(entry, most));
        }
        self.cases.extend(part.case);
    }

    /// Changes that are a failure.
    pub fn failures(&self, fails: &[Kind]) -> u64 {
        fails.iter().map(|kind| self.totals.of(*kind).sum()).sum()
    }

    /// The groups of a kind in the order of their rules, those after the others in which nothing is primary.
    fn of(&self, kind: Kind) -> Vec<(Option<RuleAt>, &Gathered)> {
        let groups = self.groups.iter().filter(|((other, _), _)| *other == kind);
        let mut groups: Vec<_> = groups.map(|((_, rule), gathered)| (*rule, gathered)).collect();
        groups.sort_by_key(|(_, gathered)| gathered.entries.first().is_none_or(Vec::is_empty));
        groups
    }
}

impl View<'_> {
    /// How many changes of a kind and a rule are worded.
    pub fn most(&self) -> usize {
        if self.look.scope == Scope::Full { usize::MAX } else { SHOWN }
    }
}

impl Gathered {
    fn take(&mut self, entry: Entry, most: usize) {
        let [primary, downstream] = &mut self.entries;
        let entries = if entry.origin == Origin::Primary { primary } else { downstream };
        if entries.len() < most {
            entries.push(entry);
        }
    }

    /// What is shown: primary ones first.
    fn shown(&self, most: usize) -> impl Iterator<Item = &Entry> {
        self.entries.iter().flatten().take(most)
    }

    /// How many changes are not shown.
    fn rest(&self, most: usize) -> u64 {
        self.count.saturating_sub(self.shown(most).map(|entry| entry.changes).sum())
    }
}

impl Case {
    fn of(
        compared: &Compared,
        view: &View<'_>,
        totals: &Totals,
        groups: impl Iterator<Item = (Key, Gathered)>,
    ) -> Case {
        let session = compared.session();
        let failing = view.fails.iter().map(|kind| (*kind, totals.of(*kind).sum()));
        Case {
            session: super::words::name(&session.id).into_owned(),
            file: super::words::name(&session.origin.file).into_owned(),
            changes: totals.all().shown(),
            failing: failing.filter(|(_, count)| *count > 0).collect(),
            lines: groups.flat_map(|(key, group)| junit::lines(key, &group, view)).collect(),
        }
    }
}
