//! Findings counted by rule, tool, code, reason or session: as text, Markdown and JSON.

use std::io::{self, Write};

use serde::Serialize;

use super::columns::columns;
use super::coverage::{ExtentLine, extent};
use super::json::line;
use super::paint::Paint;
use super::totals::{ReadingLine, incomplete_markdown, incomplete_text, is_zero};
use super::{Total, words};

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
    pub read: &'a Total,
    /// Whether text may be coloured.
    pub color: bool,
}

/// One output.
pub struct Output {
    /// What `--format` calls it.
    pub name: &'static str,
    /// Writes it.
    pub write: fn(&View<'_>, &mut dyn Write) -> io::Result<()>,
}

/// Every output.
pub static OUTPUTS: &[Output] = &[
    Output { name: "text", write: text },
    Output { name: "json", write: json },
    Output { name: "markdown", write: markdown },
];

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

/// The columns of numbers, right-aligned, then the name, the place and where it happened.
fn text(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let paint = Paint { color: view.color };
    let rows = view.breakdown.sorted();
    let shown = view.columns();
    let cells: Vec<Vec<String>> = rows.iter().map(|(_, row)| numbers(&shown, row)).collect();
    let heads: Vec<&str> = shown.iter().map(|(head, _)| *head).collect();
    let mut lines = columns(&heads, &cells).into_iter();
    let head = lines.next().unwrap_or_default();
    writeln!(out, "{}  {}", paint.bold(&head), paint.bold(view.by.word()))?;
    for ((key, row), line) in rows.iter().zip(lines) {
        let place = view.place(key).map(|place| format!("  {}", paint.dim(&place))).unwrap_or_default();
        let spots = extent(&row.extent).map(|spots| format!("  {spots}")).unwrap_or_default();
        writeln!(out, "{line}  {}{place}{spots}", view.name(key))?;
    }
    let incomplete = incomplete_text(view.read, "counted", paint);
    view.uncounted().chain(incomplete).try_for_each(|line| writeln!(out, "{line}"))
}

/// What a column is called, and the number that is in it.
type Column = (&'static str, fn(&Count) -> u64);

fn numbers(columns: &[Column], row: &Count) -> Vec<String> {
    columns.iter().map(|(_, number)| words::thousands(number(row))).collect()
}

fn markdown(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let shown = view.columns();
    let heads: Vec<&str> = shown.iter().map(|(head, _)| *head).collect();
    writeln!(out, "| {} | {} |", view.by.word(), heads.join(" | "))?;
    writeln!(out, "|---|{}", "--:|".repeat(shown.len()))?;
    for (key, row) in view.breakdown.sorted() {
        let name = super::diff::markdown::code(&view.name(key));
        writeln!(out, "| {name} | {} |", numbers(&shown, row).join(" | "))?;
    }
    let incomplete = incomplete_markdown(view.read, "counted");
    view.uncounted().chain(incomplete).try_for_each(|line| writeln!(out, "\n{line}"))
}

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
    reading: ReadingLine,
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
    calls: u64,
    stopped: u64,
    counterfactual: u64,
    violated: u64,
    #[serde(skip_serializing_if = "is_zero")]
    asked: u64,
    #[serde(skip_serializing_if = "is_zero")]
    would_stop: u64,
    #[serde(skip_serializing_if = "is_zero")]
    reported: u64,
    #[serde(skip_serializing_if = "is_zero")]
    unenforced: u64,
    sessions: u64,
    #[serde(flatten)]
    extent: ExtentLine,
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
            calls: row.calls,
            stopped: row.stopped,
            counterfactual: row.counterfactual,
            violated: row.violated,
            asked: row.asked,
            would_stop: row.would_stop,
            reported: row.reported,
            unenforced: row.unenforced,
            sessions: row.sessions,
            extent: ExtentLine::of(&row.extent),
        }
    });
    let object = BreakdownLine {
        schema: SCHEMA,
        by: view.by.word(),
        alternatives_stopped: view.breakdown.alternatives_stopped,
        not_counted: view.breakdown.unkeyed,
        reading: ReadingLine::of(view.read),
        rows: rows.collect(),
    };
    line(&object, out)
}
