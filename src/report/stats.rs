//! What recordings hold: a document, and JSON.

mod data;

use std::io::{self, Write};

use super::counts::incomplete;
use super::doc::{self, Body, Doc, Span, Table};
use super::formats::Report;
use super::{RunCounts, words};
use crate::explore::inventory::{FileCalls, Inventory, SessionCount, sorted};
use crate::explore::occurrence::Occurrence;
pub use data::SCHEMA;
pub(super) use data::StatsLine;
use rulestep_engine::policy::Policy;
use rulestep_engine::run::Mode;

/// Rows of a list that people are shown, unless they ask for all.
const MOST: usize = 10;

/// What is written, and how.
pub struct View<'a> {
    /// What was counted.
    pub inventory: &'a Inventory,
    /// The policy that decided, where one was named.
    pub policy: Option<&'a Policy>,
    /// What a replay assumes after a stopped call.
    pub mode: Mode,
    /// How completely the recordings were read.
    pub read: &'a RunCounts,
    /// Every row is shown.
    pub full: bool,
    /// Whether text may be coloured.
    pub color: bool,
}

impl Report for View<'_> {
    fn doc(&self) -> Doc {
        let sections = sections(self.inventory, self.policy.is_some()).into_iter();
        let sections = sections.filter(|section| !section.rows.is_empty() || !section.notes.is_empty());
        Doc {
            title: Some(sums(self.inventory)),
            notes: incomplete(self.read, "counted"),
            sections: sections.map(|section| self.section(section)).collect(),
        }
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        data::json(self.inventory, self.policy, self.mode, self.read, out)
    }

    fn color(&self) -> bool {
        self.color
    }
}

impl View<'_> {
    /// A list, cut to its first rows.
    fn section(&self, section: Section<'_>) -> doc::Section {
        let most = if self.full { usize::MAX } else { MOST };
        let rest = section.rows.len().saturating_sub(most);
        let rest = (rest > 0).then(|| {
            let more = Span::plain(format!("{} more (", words::thousands(rest as u64)));
            vec![more, Span::name("--full"), Span::plain(" shows all)")]
        });
        let rows = section.rows.into_iter().take(most).map(|row| doc::Row {
            name: row.shown(),
            numbers: row.numbers,
            aside: Vec::new(),
        });
        let rows: Vec<doc::Row> = rows.collect();
        let body = match rows.is_empty() {
            true => Body::Empty,
            false => Body::Table(Table { key: "", heads: section.heads, rows }),
        };
        let notes = section.notes.into_iter().map(|note| vec![Span::plain(note)]);
        let notes = rest.into_iter().chain(notes).collect();
        doc::Section { heading: Some(section.title.to_owned()), body, notes }
    }
}

/// A list of the inventory.
pub struct Section<'a> {
    /// What it lists.
    pub title: &'static str,
    /// How a filter asks for one of its rows.
    pub asks: Ask,
    /// Heads of the numbers.
    pub heads: Vec<&'static str>,
    /// All rows, those with the greatest first number first.
    pub rows: Vec<Row<'a>>,
    /// What is missing in it.
    pub notes: Vec<String>,
}

/// How a filter asks for a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// By a key, such as `tool:`, with the whole name.
    Key(&'static str),
    /// By a text that some call has among its arguments.
    Text,
    /// By the name of the program among the arguments: its subcommand may be anywhere after it.
    Program,
    /// By the last name of the path: what is before it may be written in several ways.
    File,
    /// No filter can.
    Nothing,
    /// By the day.
    Day,
}

/// A row of it.
pub struct Row<'a> {
    /// As recorded; `None` for what is not recorded.
    pub name: Option<String>,
    /// One for each head.
    pub numbers: Vec<u64>,
    /// The first call, or session, that it counts.
    pub first: Option<&'a Occurrence>,
}

impl Row<'_> {
    /// The name for people.
    pub fn shown(&self) -> String {
        self.name.as_deref().map_or_else(|| "(not recorded)".to_owned(), words::line)
    }
}

/// The lists, in the order in which they are shown. Where a policy `judged`, the calls that it stops have a column.
pub fn sections(inventory: &Inventory, judged: bool) -> Vec<Section<'_>> {
    let mut tool_heads = vec!["calls", "errors", "refused", "no result"];
    tool_heads.extend(judged.then_some("stopped"));
    let tools = sorted(&inventory.tools, |tool| tool.calls).into_iter().map(|(name, tool)| {
        let mut numbers = vec![tool.calls, tool.errors, tool.refused, tool.no_result];
        numbers.extend(tool.stopped.filter(|_| judged));
        Row { name: Some(name.to_string()), numbers, first: tool.first.as_ref() }
    });
    let programs = sorted(&inventory.programs, |program| program.calls).into_iter();
    let programs = programs.map(|(name, program)| {
        let numbers = vec![program.calls, program.sessions, program.ok, program.errors];
        Row { name: Some(name.to_string()), numbers, first: program.first.as_ref() }
    });
    let places = sorted(&inventory.places, |of| of.calls).into_iter();
    let places = places.map(|(zone, of)| of_files(zone.title().to_owned(), of));
    let files = sorted(&inventory.files, |file| file.calls).into_iter();
    let files = files.map(|(name, file)| of_files(name.to_string(), file));
    let hosts = sorted(&inventory.hosts, |host| host.calls).into_iter().map(|(name, host)| {
        let numbers = vec![host.calls, host.sessions, host.reached];
        Row { name: Some(name.to_string()), numbers, first: host.first.as_ref() }
    });
    let gaps = sorted(&inventory.gaps, |of| of.calls).into_iter().map(|(gap, of)| {
        let name = Some(gap.title().to_owned());
        Row { name, numbers: vec![of.calls, of.sessions], first: of.first.as_ref() }
    });
    let projects = sorted(&inventory.projects, |count| count.sessions).into_iter();
    let projects = projects.map(|(name, count)| of_sessions(name.as_deref().map(str::to_owned), count));
    let days = inventory.days.iter().rev();
    let days = days.map(|(day, count)| of_sessions(day.map(|day| day.to_string()), count));
    let lines = (inventory.commands > 0).then(|| words::count(inventory.commands, "command line"));
    vec![
        Section {
            title: "tools",
            asks: Ask::Key("tool"),
            heads: tool_heads,
            rows: tools.collect(),
            notes: Vec::new(),
        },
        Section {
            title: "programs that calls run",
            asks: Ask::Program,
            heads: vec!["calls", "sessions", "ok", "errors"],
            rows: programs.collect(),
            notes: lines
                .map(|lines| format!("in {lines}; `explain shell` shows what each does"))
                .into_iter()
                .collect(),
        },
        Section {
            title: "where calls read, write and delete",
            asks: Ask::Nothing,
            heads: vec!["calls", "sessions", "read", "written", "deleted"],
            rows: places.collect(),
            notes: Vec::new(),
        },
        Section {
            title: "files, by name",
            asks: Ask::File,
            heads: vec!["calls", "sessions", "read", "written", "deleted"],
            rows: files.collect(),
            notes: Vec::new(),
        },
        Section {
            title: "hosts",
            asks: Ask::Text,
            heads: vec!["calls", "sessions", "reached"],
            rows: hosts.collect(),
            notes: Vec::new(),
        },
        Section {
            title: "not known",
            asks: Ask::Nothing,
            heads: vec!["calls", "sessions"],
            rows: gaps.collect(),
            notes: Vec::new(),
        },
        Section {
            title: "projects",
            asks: Ask::Key("project"),
            heads: vec!["sessions", "calls"],
            rows: projects.collect(),
            notes: Vec::new(),
        },
        Section {
            title: "days (UTC), the newest first",
            asks: Ask::Day,
            heads: vec!["sessions", "calls"],
            rows: days.collect(),
            notes: Vec::new(),
        },
    ]
}

fn of_files(name: String, of: &FileCalls) -> Row<'_> {
    let numbers = vec![of.calls, of.sessions, of.read, of.written, of.deleted];
    Row { name: Some(name), numbers, first: of.first.as_ref() }
}

fn of_sessions(name: Option<String>, count: &SessionCount) -> Row<'_> {
    Row { name, numbers: vec![count.sessions, count.calls], first: count.first.as_ref() }
}

/// `533 sessions, 2,661 calls of 62 tools`.
pub fn sums(inventory: &Inventory) -> String {
    let others = match inventory.alternatives {
        0 => String::new(),
        others => format!("; not counted: {} in choices not taken", words::count(others, "call")),
    };
    let copied = match inventory.copied {
        0 => String::new(),
        copied => format!("; {}", words::not_counted(copied)),
    };
    format!(
        "{}, {} of {}{others}{copied}",
        words::count(inventory.sessions, "session"),
        words::count(inventory.calls, "call"),
        words::count(inventory.tools.len() as u64, "tool"),
    )
}
