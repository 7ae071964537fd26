//! What recordings say of every rule: as text, markdown and JSON.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde::Serialize;

use super::json::line;
use super::paint::Paint;
use super::words;

use crate::explore::coverage::{Coverage, Exercise, RuleUse};
use crate::explore::occurrence::Occurrence;
use crate::monitor::rule::RulePlace;
use crate::monitor::{Rule, rule_name};
use crate::policy::Policy;
use crate::session::CallRef;

/// The shape of the JSON.
pub const SCHEMA: &str = "rulestep.coverage/1";

/// Tools that people are shown by name.
const TOOLS: usize = 20;

/// One output of a coverage.
pub struct Output {
    /// What `--format` calls it.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// Writes it, coloured if it may be.
    pub write: fn(&Coverage, &Policy, bool, &mut dyn Write) -> io::Result<()>,
}

/// Every output; the first is the default.
pub static OUTPUTS: &[Output] = &[
    Output { name: "text", title: "text for people", write: text },
    Output {
        name: "json",
        title: "one JSON object",
        write: |coverage, policy, _, out| json(coverage, policy, out),
    },
    Output {
        name: "markdown",
        title: "Markdown for a pull request",
        write: |coverage, policy, _, out| markdown(coverage, policy, out),
    },
];

/// The rules in three groups, with what each was asked; then the tools that no rule is about, and the sums.
fn text(coverage: &Coverage, policy: &Policy, color: bool, out: &mut dyn Write) -> io::Result<()> {
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
    writeln!(out, "{}", sums(coverage, &rules))
}

const GROUPS: [(Exercise, &str); 3] = [
    (Exercise::Fired, "fired: stopped a call, spoke against one, or was violated"),
    (Exercise::Passed, "asked, never fired"),
    (Exercise::NeverAsked, "never asked: no recorded call is one that the rule is about"),
];

/// `12 calls in 9 sessions: 8 passed, 4 stopped · first refund-124:4.1, last refund-129:2.1`.
fn answered(used: &RuleUse) -> String {
    let sessions = words::count(used.sessions, "session");
    let asked = match used.calls {
        0 => sessions,
        calls => format!("{} in {sessions}", words::count(calls, "call")),
    };
    let answers = [
        (used.passed, "passed"),
        (used.stopped, "stopped"),
        (used.objected, "also failed"),
        (used.held, "held"),
        (used.violated, "violated"),
        (used.pending, "undecided"),
    ];
    let answers = answers.into_iter().filter(|(count, _)| *count > 0);
    let answers: Vec<String> =
        answers.map(|(count, word)| format!("{} {word}", words::thousands(count))).collect();
    let mut text = format!("{asked}: {}", answers.join(", "));
    if let (Some(first), Some(last)) = (&used.extent.first, &used.extent.last) {
        let _ = write!(text, " · first {}", at(first));
        if first != last {
            let _ = write!(text, ", last {}", at(last));
        }
    }
    text
}

/// As `explain --at` takes it.
pub(super) fn at(occurrence: &Occurrence) -> String {
    let session = words::name(&occurrence.session);
    match occurrence.call {
        Some(call) => format!("{session}:{}.{}", call.turn, call.call),
        None => session.into_owned(),
    }
}

fn sums(coverage: &Coverage, rules: &[(crate::monitor::RuleId, &Rule, RuleUse)]) -> String {
    let count = |exercise| rules.iter().filter(|(_, _, used)| used.exercise() == exercise).count() as u64;
    format!(
        "{}, {}, {}: {} fired, {} asked but never fired, {} never asked",
        words::count(coverage.sessions, "session"),
        words::count(coverage.calls, "call"),
        words::count(rules.len() as u64, "rule"),
        words::thousands(count(Exercise::Fired)),
        words::thousands(count(Exercise::Passed)),
        words::thousands(count(Exercise::NeverAsked)),
    )
}

fn markdown(coverage: &Coverage, policy: &Policy, out: &mut dyn Write) -> io::Result<()> {
    let rules = coverage.of_policy(policy);
    writeln!(out, "### {}\n", sums(coverage, &rules))?;
    writeln!(out, "| rule | sessions | calls | passed | stopped | violated | state |")?;
    writeln!(out, "|---|--:|--:|--:|--:|--:|---|")?;
    for (_, rule, used) in &rules {
        writeln!(
            out,
            "| {} `{}` | {} | {} | {} | {} | {} | {} |",
            super::diff::markdown::code(&rule_name(rule)),
            rule.place().replace('|', "\\|"),
            used.sessions,
            used.calls,
            used.passed,
            used.stopped + used.objected,
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
    held: u64,
    violated: u64,
    pending: u64,
    first: Option<OccurrenceLine<'a>>,
    last: Option<OccurrenceLine<'a>>,
}

#[derive(Serialize)]
pub(super) struct OccurrenceLine<'a> {
    session: &'a str,
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<CallRef>,
}

impl<'a> OccurrenceLine<'a> {
    pub fn of(of: &'a Occurrence) -> OccurrenceLine<'a> {
        OccurrenceLine { session: &of.session, file: &of.file, call: of.call }
    }
}

#[derive(Serialize)]
struct ToolLine<'a> {
    tool: &'a str,
    calls: u64,
    asked: u64,
    /// Whether no rule is about it.
    ungoverned: bool,
}

fn json(coverage: &Coverage, policy: &Policy, out: &mut dyn Write) -> io::Result<()> {
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
        held: used.held,
        violated: used.violated,
        pending: used.pending,
        first: used.extent.first.as_ref().map(OccurrenceLine::of),
        last: used.extent.last.as_ref().map(OccurrenceLine::of),
    });
    let tools = coverage.tools.iter().map(|(tool, used)| ToolLine {
        tool,
        calls: used.calls,
        asked: used.asked,
        ungoverned: free.iter().any(|(name, _)| *name == tool),
    });
    let object = CoverageLine {
        schema: SCHEMA,
        sessions: coverage.sessions,
        calls: coverage.calls,
        rules: lines.collect(),
        tools: tools.collect(),
    };
    line(&object, out)
}
