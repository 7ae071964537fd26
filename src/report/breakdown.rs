//! Findings counted by rule, tool, code, reason or session: a document, and JSON.

use std::io::{self, Write};

use serde::Serialize;

use super::counts::incomplete;
use super::coverage::extent;
use super::doc::{Body, Doc, Row, Section, Span, Table};
use super::formats::Report;
use super::json::line;
use super::{Completeness, RunCounts, words};

use rulestep_base::merge::is_zero;
use rulestep_engine::run::{Mode, Verdict};

use crate::explore::breakdown::{Breakdown, By, Count, Key};
use rulestep_engine::monitor::rule::RulePlace;
use rulestep_engine::monitor::rule_name;
use rulestep_engine::policy::Policy;

/// The shape of the JSON.
pub const SCHEMA: &str = "rulestep.breakdown/1";

/// What is written, and how.
pub struct View<'a> {
    /// The rows.
    pub breakdown: &'a Breakdown,
    /// What they are counted by.
    pub by: By,
    /// The policy that decided.
    pub policy: &'a Policy,
    /// The mode in which it decided.
    pub mode: Mode,
    /// How completely the recordings were read.
    pub read: &'a RunCounts,
    /// Whether text may be coloured.
    pub color: bool,
}

impl Report for View<'_> {
    fn doc(&self) -> Doc {
        let shown = self.columns();
        let rows = self.breakdown.sorted().into_iter().map(|(key, row)| {
            let place = self.place(key).map(Span::detail);
            Row {
                name: self.name(key),
                numbers: shown.iter().map(|(_, number)| number(row)).collect(),
                aside: place.into_iter().chain(extent(&row.extent).map(Span::name)).collect(),
            }
        });
        let heads = shown.iter().map(|(head, _)| *head).collect();
        let body = Body::Table(Table { key: self.by.word(), heads, rows: rows.collect() });
        let uncounted = self.uncounted().map(|line| (false, line));
        Doc {
            title: None,
            notes: uncounted.chain(incomplete(self.read, "counted")).collect(),
            sections: vec![Section { body, ..Section::default() }],
        }
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        json(self, out)
    }

    fn color(&self) -> bool {
        self.color
    }
}

impl View<'_> {
    /// How a row is called.
    fn name(&self, key: &Key) -> String {
        match key {
            Key::Rule(id) => self.policy.rules().get(*id).map(rule_name).unwrap_or_default(),
            Key::Code(code) => code.as_str().to_owned(),
            Key::Name(name) | Key::Session(_, _, name) => words::name(name).into_owned(),
        }
    }

    /// Its file and line, for what is in a file.
    fn place(&self, key: &Key) -> Option<String> {
        match key {
            Key::Rule(id) => self.policy.rules().get(*id).map(|rule| rule.place()),
            Key::Session(file, ..) => Some(words::line(file)),
            Key::Code(_) | Key::Name(_) => None,
        }
    }

    /// What is in no row, though it decides how the command ends.
    fn uncounted(&self) -> impl Iterator<Item = String> {
        let did = words::decided(Verdict::Deny, self.mode);
        let unkeyed = match self.by {
            By::Reason => "without a reason of the rule",
            _ => "with arguments that no rule can decide about",
        };
        let lines = [
            (self.breakdown.alternatives_stopped, "in choices that were not taken"),
            (self.breakdown.unkeyed, unkeyed),
        ];
        lines.into_iter().filter(|(stopped, _)| *stopped > 0).map(move |(stopped, which)| {
            let calls = words::count(stopped, "call");
            format!("not counted: {calls} {did} {which}; `replay` without `--by` lists them")
        })
    }

    /// The columns of numbers; those of what stops nothing only where there is something in them.
    fn columns(&self) -> Vec<Column> {
        let stopped = words::stopped(self.mode);
        let all: [(bool, Column); 8] = [
            (true, (stopped, |row| row.stopped)),
            (true, ("violated", |row| row.violated)),
            (false, ("asked about", |row| row.asked)),
            (false, ("shadow rule", |row| row.would_stop)),
            (false, ("reported", |row| row.reported)),
            (false, ("not enforced", |row| row.unenforced)),
            (true, ("calls", |row| row.calls)),
            (true, ("sessions", |row| row.sessions)),
        ];
        let is_used = |(always, (_, number)): &(bool, Column)| {
            *always || self.breakdown.rows.values().any(|row| number(row) > 0)
        };
        all.into_iter().filter(is_used).map(|(_, column)| column).collect()
    }
}

/// What a column is called, and the number that is in it.
type Column = (&'static str, fn(&Count) -> u64);

#[derive(Serialize)]
struct BreakdownLine<'a> {
    schema: &'static str,
    by: &'static str,
    #[serde(skip_serializing_if = "is_zero")]
    alternatives_stopped: u64,
    /// Stopped calls that have nothing to be counted by.
    #[serde(skip_serializing_if = "is_zero")]
    not_counted: u64,
    #[serde(flatten)]
    reading: Completeness,
    rows: Vec<RowLine<'a>>,
}

#[derive(Serialize)]
struct RowLine<'a> {
    key: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<RulePlace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(flatten)]
    counts: &'a Count,
}

fn json(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let rows = view.breakdown.sorted().into_iter().map(|(key, row)| {
        let rule = match key {
            Key::Rule(id) => view.policy.rules().get(*id),
            _ => None,
        };
        RowLine {
            key: match key {
                Key::Rule(_) => rule.map(|rule| rule.id.to_string()).unwrap_or_default(),
                Key::Code(code) => code.as_str().to_owned(),
                Key::Name(name) | Key::Session(_, _, name) => name.to_string(),
            },
            name: view.name(key),
            source: rule.map(RulePlace::of),
            file: match key {
                Key::Session(file, ..) => Some(file),
                _ => None,
            },
            counts: row,
        }
    });
    let object = BreakdownLine {
        schema: SCHEMA,
        by: view.by.word(),
        alternatives_stopped: view.breakdown.alternatives_stopped,
        not_counted: view.breakdown.unkeyed,
        reading: view.read.reading.clone(),
        rows: rows.collect(),
    };
    line(&object, out)
}
