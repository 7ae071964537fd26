//! What recordings say of every rule: as text, markdown and JSON.

use std::io::{self, Write};

use serde::Serialize;

use super::json::line;
use super::paint::Paint;
use super::totals::{ReadingLine, incomplete_markdown, incomplete_text, is_zero};
use super::{Total, words};

use crate::explore::coverage::{Coverage, Exercise, RuleUse};
use crate::explore::occurrence::{Extent, Occurrence, Place};
use crate::monitor::rule::RulePlace;
use crate::monitor::{Rule, rule_name};
use crate::policy::Policy;
use crate::session::{AlternativeRef, CallRef};

/// The shape of the JSON.
pub const SCHEMA: &str = "rulestep.coverage/1";

/// Tools that people are shown by name.
const TOOLS: usize = 20;

/// What is written, and how.
pub struct View<'a> {
    /// What was counted.
    pub coverage: &'a Coverage,
    /// The rules.
    pub policy: &'a Policy,
    /// How completely the recordings were read.
    pub read: &'a Total,
    /// Whether text may be coloured.
    pub color: bool,
}

/// One output of a coverage.
pub struct Output {
    /// What `--format` calls it.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// Writes it.
    pub write: fn(&View<'_>, &mut dyn Write) -> io::Result<()>,
}

/// Every output; the first is the default.
pub static OUTPUTS: &[Output] = &[
    Output { name: "text", title: "text for people", write: text },
    Output { name: "json", title: "one JSON object", write: json },
    Output { name: "markdown", title: "Markdown for a pull request", write: markdown },
];

/// The rules in three groups, with what each was asked; then the tools that no rule is about, and the sums.
fn text(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let View { coverage, policy, read, color } = *view;
    let paint = Paint { color };
    let rules = coverage.of_policy(policy);
    for (exercise, heading) in GROUPS {
        let group: Vec<_> = rules.iter().filter(|(_, _, used)| used.exercise() == exercise).collect();
        if group.is_empty() {
            continue;
        }
        writeln!(out, "{}", paint.bold(&format!("{heading} ({})", words::thousands(group.len() as u64))))?;
        for (_, rule, used) in group {
            writeln!(out, "  {}  {}", rule_name(rule), paint.dim(&rule.place()))?;
            if exercise != Exercise::NeverAsked {
                writeln!(out, "      {}", answered(used))?;
            }
        }
        writeln!(out)?;
    }
    let free = coverage.ungoverned(policy);
    if !free.is_empty() {
        let shown = free.iter().take(TOOLS);
        let shown = shown.map(|(tool, calls)| format!("{} {}", words::name(tool), words::thousands(*calls)));
        let mut shown: Vec<String> = shown.collect();
        if free.len() > TOOLS {
            shown.push(format!("and {} more", words::thousands((free.len() - TOOLS) as u64)));
        }
        writeln!(out, "{}  {}", paint.bold("tools without a rule, by calls"), shown.join(", "))?;
    }
    for line in incomplete_text(read, "counted", paint) {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "{}", sums(coverage, &rules))
}

const GROUPS: [(Exercise, &str); 3] = [
    (Exercise::Fired, "fired: stopped a call, spoke against one, or was violated"),
    (Exercise::Passed, "asked, never fired"),
    (Exercise::NeverAsked, "never asked: no recorded call is one that the rule is about"),
];

/// `12 calls in 9 sessions: 8 passed, 4 stopped · 2 calls in choices not taken · first refund-124:4.1, last refund-129:2.1`.
pub fn answered(used: &RuleUse) -> String {
    let sessions = words::count(used.sessions, "session");
    let asked = match used.calls {
        0 => sessions,
        calls => format!("{} in {sessions}", words::count(calls, "call")),
    };
    let answers = [
        (used.passed, "passed"),
        (used.stopped, "stopped"),
        (used.objected.saturating_sub(used.reported), "also failed"),
        (used.reported, "reported"),
        (used.held, "held"),
        (used.violated, "violated"),
        (used.pending, "undecided"),
    ];
    let answers = answers.into_iter().filter(|(count, _)| *count > 0);
    let answers: Vec<String> =
        answers.map(|(count, word)| format!("{} {word}", words::thousands(count))).collect();
    let mut parts = vec![match answers.as_slice() {
        [] => asked,
        answers => format!("{asked}: {}", answers.join(", ")),
    }];
    if used.alternatives > 0 {
        let mut others = format!("{} in choices not taken", words::count(used.alternatives, "call"));
        if used.alternatives_failed > 0 {
            others.push_str(&format!(", {} failed", words::thousands(used.alternatives_failed)));
        }
        parts.push(others);
    }
    parts.extend(extent(&used.extent));
    parts.join(" · ")
}

/// `first refund-124:4.1, last refund-129:2.1`.
pub(super) fn extent(extent: &Extent) -> Option<String> {
    let first = extent.first.as_ref()?;
    let last = extent.last.as_ref().filter(|last| *last != first);
    let last = last.map(|last| format!(", last {}", at(last))).unwrap_or_default();
    Some(format!("first {}{last}", at(first)))
}

/// As `explain --at` takes it.
fn at(occurrence: &Occurrence) -> String {
    let session = words::name(&occurrence.session);
    match occurrence.place {
        Place::Call(call) => format!("{session}:{}.{}", call.turn, call.call),
        Place::Choice(at) => format!("{session}:{}.{}.{}", at.turn, at.choice, at.call),
        Place::Session => session.into_owned(),
    }
}

fn sums(coverage: &Coverage, rules: &[(crate::monitor::RuleId, &Rule, RuleUse)]) -> String {
    let count = |exercise| rules.iter().filter(|(_, _, used)| used.exercise() == exercise).count() as u64;
    let others = match coverage.alternatives {
        0 => String::new(),
        others => format!(" and {} in choices not taken", words::thousands(others)),
    };
    format!(
        "{}, {}{others}, {}: {} fired, {} asked but never fired, {} never asked",
        words::count(coverage.sessions, "session"),
        words::count(coverage.calls, "call"),
        words::count(rules.len() as u64, "rule"),
        words::thousands(count(Exercise::Fired)),
        words::thousands(count(Exercise::Passed)),
        words::thousands(count(Exercise::NeverAsked)),
    )
}

fn markdown(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let View { coverage, policy, read, .. } = *view;
    let rules = coverage.of_policy(policy);
    writeln!(out, "### {}\n", sums(coverage, &rules))?;
    for line in incomplete_markdown(read, "counted") {
        writeln!(out, "{line}\n")?;
    }
    writeln!(out, "| rule | sessions | calls | passed | stopped | violated | state |")?;
    writeln!(out, "|---|--:|--:|--:|--:|--:|---|")?;
    for (_, rule, used) in &rules {
        writeln!(
            out,
            "| {} `{}` | {} | {} | {} | {} | {} | {} |",
            super::diff::markdown::code(&rule_name(rule)),
            rule.place().replace('|', "\\|"),
            used.sessions,
            used.calls + used.alternatives,
            used.passed + used.alternatives - used.alternatives_failed,
            used.stopped + used.objected + used.alternatives_failed,
            used.violated,
            used.exercise().word().replace('_', " "),
        )?;
    }
    Ok(())
}

#[derive(Serialize)]
struct CoverageLine<'a> {
    schema: &'static str,
    sessions: u64,
    calls: u64,
    #[serde(skip_serializing_if = "is_zero")]
    alternatives: u64,
    #[serde(flatten)]
    reading: ReadingLine,
    rules: Vec<RuleLine<'a>>,
    tools: Vec<ToolLine<'a>>,
}

#[derive(Serialize)]
struct RuleLine<'a> {
    rule: &'a str,
    name: String,
    dialect: &'static str,
    source: RulePlace<'a>,
    state: &'static str,
    sessions: u64,
    calls: u64,
    passed: u64,
    stopped: u64,
    also_failed: u64,
    /// Of those, the calls that were allowed.
    reported: u64,
    held: u64,
    violated: u64,
    pending: u64,
    #[serde(skip_serializing_if = "is_zero")]
    alternatives: u64,
    #[serde(skip_serializing_if = "is_zero")]
    alternatives_failed: u64,
    #[serde(flatten)]
    extent: ExtentLine<'a>,
}

#[derive(Serialize)]
pub(super) struct ExtentLine<'a> {
    first: Option<OccurrenceLine<'a>>,
    last: Option<OccurrenceLine<'a>>,
}

#[derive(Serialize)]
pub(super) struct OccurrenceLine<'a> {
    session: &'a str,
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<CallRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<AlternativeRef>,
}

impl<'a> ExtentLine<'a> {
    pub fn of(of: &'a Extent) -> ExtentLine<'a> {
        ExtentLine {
            first: of.first.as_ref().map(OccurrenceLine::of),
            last: of.last.as_ref().map(OccurrenceLine::of),
        }
    }
}

impl<'a> OccurrenceLine<'a> {
    pub fn of(of: &'a Occurrence) -> OccurrenceLine<'a> {
        let (call, choice) = match of.place {
            Place::Session => (None, None),
            Place::Call(at) => (Some(at), None),
            Place::Choice(at) => (None, Some(at)),
        };
        OccurrenceLine { session: &of.session, file: &of.file, call, choice }
    }
}

#[derive(Serialize)]
struct ToolLine<'a> {
    tool: &'a str,
    calls: u64,
    #[serde(skip_serializing_if = "is_zero")]
    alternatives: u64,
    asked: u64,
    /// Whether no rule is about it.
    ungoverned: bool,
}

fn json(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let View { coverage, policy, read, .. } = *view;
    let rules = coverage.of_policy(policy);
    let free = coverage.ungoverned(policy);
    let lines = rules.iter().map(|(_, rule, used)| RuleLine {
        rule: &rule.id,
        name: rule_name(rule),
        dialect: rule.dialect,
        source: RulePlace::of(rule),
        state: used.exercise().word(),
        sessions: used.sessions,
        calls: used.calls,
        passed: used.passed,
        stopped: used.stopped,
        also_failed: used.objected,
        reported: used.reported,
        held: used.held,
        violated: used.violated,
        pending: used.pending,
        alternatives: used.alternatives,
        alternatives_failed: used.alternatives_failed,
        extent: ExtentLine::of(&used.extent),
    });
    let tools = coverage.tools.iter().map(|(tool, used)| ToolLine {
        tool,
        calls: used.calls,
        alternatives: used.alternatives,
        asked: used.asked,
        ungoverned: free.iter().any(|(name, _)| *name == tool),
    });
    let object = CoverageLine {
        schema: SCHEMA,
        sessions: coverage.sessions,
        calls: coverage.calls,
        alternatives: coverage.alternatives,
        reading: ReadingLine::of(read),
        rules: lines.collect(),
        tools: tools.collect(),
    };
    line(&object, out)
}
