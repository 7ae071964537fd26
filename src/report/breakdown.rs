//! Findings counted by rule, tool, code, reason or session: as text, Markdown and JSON.

use std::io::{self, Write};

use serde::Serialize;

use super::columns::columns;
use super::coverage::{ExtentLine, extent};
use super::json::line;
use super::paint::Paint;
use super::totals::{ReadingLine, incomplete_markdown, incomplete_text, is_zero};
use super::{Total, words};

use crate::engine::{Mode, Verdict};

use crate::explore::breakdown::{Breakdown, By, Count, Key};
use crate::monitor::rule::RulePlace;
use crate::monitor::rule_name;
use crate::policy::Policy;

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

    /// Where it stands, for what is in a file.
    fn place(&self, key: &Key) -> Option<String> {
        match key {
            Key::Rule(id) => self.policy.rules().get(*id).map(|rule| rule.place()),
            Key::Session(file, ..) => Some(words::line(file)),
            Key::Code(_) | Key::Name(_) => None,
        }
    }

    /// What is in no row, though it decides how the command ends.
    fn uncounted(&self) -> Option<String> {
        let stopped = self.breakdown.alternatives_stopped;
        let did = words::decided(Verdict::Deny, self.mode);
        (stopped > 0).then(|| {
            let calls = words::count(stopped, "call");
            format!(
                "not counted: {calls} {did} in choices that were not taken; `replay` without `--by` lists them"
            )
        })
    }
}

/// The columns of numbers, right-aligned, then the name, the place and where it happened.
fn text(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let paint = Paint { color: view.color };
    let rows = view.breakdown.sorted();
    let cells: Vec<Vec<String>> = rows.iter().map(|(_, row)| numbers(row).to_vec()).collect();
    let stopped = words::stopped(view.mode);
    let mut lines = columns(&[stopped, "violated", "calls", "sessions"], &cells).into_iter();
    let head = lines.next().unwrap_or_default();
    writeln!(out, "{}  {}", paint.bold(&head), paint.bold(view.by.word()))?;
    for ((key, row), line) in rows.iter().zip(lines) {
        let place = view.place(key).map(|place| format!("  {}", paint.dim(&place))).unwrap_or_default();
        let spots = extent(&row.extent).map(|spots| format!("  {spots}")).unwrap_or_default();
        writeln!(out, "{line}  {}{place}{spots}", view.name(key))?;
    }
    let incomplete = incomplete_text(view.read, "counted", paint);
    view.uncounted().into_iter().chain(incomplete).try_for_each(|line| writeln!(out, "{line}"))
}

fn numbers(row: &Count) -> [String; 4] {
    [row.stopped, row.violated, row.calls, row.sessions].map(words::thousands)
}

fn markdown(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let stopped = words::stopped(view.mode);
    writeln!(out, "| {} | {stopped} | violated | calls | sessions |", view.by.word())?;
    writeln!(out, "|---|--:|--:|--:|--:|")?;
    for (key, row) in view.breakdown.sorted() {
        let name = super::diff::markdown::code(&view.name(key));
        writeln!(out, "| {name} | {} |", numbers(row).join(" | "))?;
    }
    let incomplete = incomplete_markdown(view.read, "counted");
    view.uncounted().into_iter().chain(incomplete).try_for_each(|line| writeln!(out, "\n{line}"))
}

#[derive(Serialize)]
struct BreakdownLine<'a> {
    schema: &'static str,
    by: &'static str,
    #[serde(skip_serializing_if = "is_zero")]
    alternatives_stopped: u64,
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
            sessions: row.sessions,
            extent: ExtentLine::of(&row.extent),
        }
    });
    let object = BreakdownLine {
        schema: SCHEMA,
        by: view.by.word(),
        alternatives_stopped: view.breakdown.alternatives_stopped,
        reading: ReadingLine::of(view.read),
        rows: rows.collect(),
    };
    line(&object, out)
}
