//! What recordings say of every rule: as text, markdown and JSON.

use std::cmp::{Ordering, Reverse};
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::json::line;
use super::mergeable::{Mergeable, add, rows};
use super::paint::Paint;
use super::totals::{ReadingLine, incomplete_markdown, incomplete_text, is_zero};
use super::{Provenance, Total, words};

use crate::explore::coverage::{Coverage, Exercise, RuleUse};
use crate::explore::occurrence::{Extent, Occurrence, Place};
use rulestep_base::session::{AlternativeRef, CallRef};
use rulestep_engine::monitor::rule::RulePlace;
use rulestep_engine::monitor::{Rule, rule_name};
use rulestep_engine::policy::Policy;
use rulestep_engine::run::Mode;

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
    /// What a replay assumes after a stopped call.
    pub mode: Mode,
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
    Output { name: "text", title: "Text for people", write: text },
    Output { name: "json", title: "One JSON object", write: json },
    Output { name: "markdown", title: "Markdown for a pull request", write: markdown },
];

/// The rules in three groups, with what each was asked; then the tools that no rule is about, and the sums.
fn text(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let View { coverage, policy, mode, read, color } = *view;
    let paint = Paint { color };
    let rules = coverage.of_policy(policy);
    for (exercise, heading) in GROUPS {
        let group: Vec<_> = rules.iter().filter(|(_, _, used)| used.exercise() == exercise).collect();
        if group.is_empty() {
            continue;
        }
        let heading = match (exercise, mode) {
            (Exercise::Fired, Mode::Shadow) => WOULD_FIRE,
            _ => heading,
        };
        writeln!(out, "{}", paint.bold(&format!("{heading} ({})", words::thousands(group.len() as u64))))?;
        for (_, rule, used) in group {
            writeln!(out, "  {}  {}", rule_name(rule), paint.dim(&rule.place()))?;
            if exercise != Exercise::NeverAsked {
                writeln!(out, "      {}", answered(used, mode))?;
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
    (Exercise::Fired, "with findings: stopped, reported or objected to a call, or was violated"),
    (Exercise::Passed, "checked, without findings"),
    (Exercise::NeverAsked, "never checked: the rule applies to no recorded call"),
];
/// The first of these headings where nothing is stopped.
const WOULD_FIRE: &str = "with findings: would have stopped, reported or objected to a call, or was violated";

/// `12 calls in 9 sessions: 8 passed, 4 stopped · 2 calls in choices not taken · first refund-124:4.1, last refund-129:2.1`.
pub fn answered(used: &RuleUse, mode: Mode) -> String {
    let sessions = words::count(used.sessions, "session");
    let asked = match used.calls {
        0 => sessions,
        calls => format!("{} in {sessions}", words::count(calls, "call")),
    };
    let answers = [
        (used.passed, "passed"),
        (used.stopped, words::stopped(mode)),
        (used.objected.saturating_sub(used.reported + used.asked_about), "also failed"),
        (used.asked_about, "asked about"),
        (used.reported.saturating_sub(used.would_stop), "reported"),
        (used.would_stop, "would be stopped by it outside shadow mode"),
        (used.held, "held"),
        (used.violated, "violated"),
        (used.pending, "pending"),
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

fn sums(coverage: &Coverage, rules: &[(rulestep_engine::monitor::RuleId, &Rule, RuleUse)]) -> String {
    let count = |exercise| rules.iter().filter(|(_, _, used)| used.exercise() == exercise).count() as u64;
    let others = match coverage.alternatives {
        0 => String::new(),
        others => format!(" and {} in choices not taken", words::thousands(others)),
    };
    format!(
        "{}, {}{others}, {}: {} with findings, {} checked without findings, {} never checked",
        words::count(coverage.sessions, "session"),
        words::count(coverage.calls, "call"),
        words::count(rules.len() as u64, "rule"),
        words::thousands(count(Exercise::Fired)),
        words::thousands(count(Exercise::Passed)),
        words::thousands(count(Exercise::NeverAsked)),
    )
}

fn markdown(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let View { coverage, policy, mode, read, .. } = *view;
    let rules = coverage.of_policy(policy);
    writeln!(out, "### {}\n", sums(coverage, &rules))?;
    for line in incomplete_markdown(read, "counted") {
        writeln!(out, "{line}\n")?;
    }
    writeln!(out, "| rule | sessions | calls | passed | {} | violated | state |", words::stopped(mode))?;
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

/// What recordings say of every rule; two of them make one.
#[derive(Serialize, Deserialize)]
pub(super) struct CoverageLine {
    schema: String,
    sessions: u64,
    calls: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    alternatives: u64,
    #[serde(flatten)]
    reading: ReadingLine,
    rules: Vec<RuleLine>,
    tools: Vec<ToolLine>,
    provenance: Provenance,
}

#[derive(Serialize, Deserialize)]
struct RuleLine {
    rule: String,
    name: String,
    dialect: String,
    source: RulePlace,
    state: Exercise,
    sessions: u64,
    calls: u64,
    passed: u64,
    stopped: u64,
    also_failed: u64,
    /// Of those, the calls that were allowed.
    reported: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    asked_about: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    would_stop: u64,
    held: u64,
    violated: u64,
    pending: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    alternatives: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    alternatives_failed: u64,
    #[serde(flatten)]
    extent: ExtentLine,
}

#[derive(Serialize, Deserialize)]
pub(super) struct ExtentLine {
    first: Option<OccurrenceLine>,
    last: Option<OccurrenceLine>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct OccurrenceLine {
    session: String,
    file: String,
    /// Place of the session in the file, from 0.
    index: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call: Option<CallRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    choice: Option<AlternativeRef>,
}

impl ExtentLine {
    pub fn of(of: &Extent) -> ExtentLine {
        ExtentLine {
            first: of.first.as_ref().map(OccurrenceLine::of),
            last: of.last.as_ref().map(OccurrenceLine::of),
        }
    }
}

impl OccurrenceLine {
    pub fn of(of: &Occurrence) -> OccurrenceLine {
        let (call, choice) = match of.place {
            Place::Session => (None, None),
            Place::Call(at) => (Some(at), None),
            Place::Choice(at) => (None, Some(at)),
        };
        let (session, file) = (of.session.to_string(), of.file.to_string());
        OccurrenceLine { session, file, index: of.index, call, choice }
    }

    fn order(&self) -> (&str, usize) {
        (&self.file, self.index)
    }

    /// The first of both, or the last.
    pub fn nearer(known: &mut Option<OccurrenceLine>, other: Option<OccurrenceLine>, nearer: Ordering) {
        if let Some(other) = other
            && known.as_ref().is_none_or(|known| other.order().cmp(&known.order()) == nearer)
        {
            *known = Some(other);
        }
    }
}

#[derive(Serialize, Deserialize)]
struct ToolLine {
    tool: String,
    calls: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    alternatives: u64,
    asked: u64,
    /// Whether no rule is about it.
    ungoverned: bool,
}

impl Mergeable for CoverageLine {
    fn merge(&mut self, other: CoverageLine) -> Result<(), String> {
        self.reading.merge(other.reading, &mut self.provenance, other.provenance)?;
        add!(self, other: sessions, calls, alternatives);
        rows(
            &mut self.rules,
            other.rules,
            |row| row.rule.clone(),
            |row, more| {
                add!(row, more: sessions, calls, passed, stopped, also_failed, reported, asked_about, would_stop, held, violated,
                pending,
                alternatives, alternatives_failed);
                // The one that tells most is the smallest.
                row.state = row.state.min(more.state);
                OccurrenceLine::nearer(&mut row.extent.first, more.extent.first, Ordering::Less);
                OccurrenceLine::nearer(&mut row.extent.last, more.extent.last, Ordering::Greater);
            },
        );
        rows(
            &mut self.tools,
            other.tools,
            |row| row.tool.clone(),
            |row, more| {
                add!(row, more: calls, alternatives, asked);
                row.ungoverned &= more.ungoverned;
            },
        );
        self.settle();
        Ok(())
    }

    fn settle(&mut self) {
        self.rules.sort_by(|a, b| {
            let fired =
                |row: &RuleLine| row.stopped + row.violated + row.also_failed + row.alternatives_failed;
            let order = |row: &RuleLine| (row.state, Reverse(fired(row)));
            order(a).cmp(&order(b)).then_with(|| (&a.source, &a.rule).cmp(&(&b.source, &b.rule)))
        });
        self.tools.sort_by(|a, b| a.tool.cmp(&b.tool));
    }

    fn sessions(&self) -> u64 {
        self.sessions
    }

    fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    fn incomplete(&self) -> bool {
        self.reading.incomplete()
    }
}

fn json(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let View { coverage, policy, read, .. } = *view;
    let rules = coverage.of_policy(policy);
    let free = coverage.ungoverned(policy);
    let lines = rules.iter().map(|(_, rule, used)| RuleLine {
        rule: rule.id.to_string(),
        name: rule_name(rule),
        dialect: rule.dialect.to_owned(),
        source: RulePlace::of(rule),
        state: used.exercise(),
        sessions: used.sessions,
        calls: used.calls,
        passed: used.passed,
        stopped: used.stopped,
        also_failed: used.objected,
        reported: used.reported,
        asked_about: used.asked_about,
        would_stop: used.would_stop,
        held: used.held,
        violated: used.violated,
        pending: used.pending,
        alternatives: used.alternatives,
        alternatives_failed: used.alternatives_failed,
        extent: ExtentLine::of(&used.extent),
    });
    let tools = coverage.tools.iter().map(|(tool, used)| ToolLine {
        tool: tool.to_string(),
        calls: used.calls,
        alternatives: used.alternatives,
        asked: used.asked,
        ungoverned: free.iter().any(|(name, _)| *name == tool),
    });
    let mut object = CoverageLine {
        schema: SCHEMA.to_owned(),
        sessions: coverage.sessions,
        calls: coverage.calls,
        alternatives: coverage.alternatives,
        reading: ReadingLine::of(read),
        rules: lines.collect(),
        tools: tools.collect(),
        provenance: read.provenance.judged(Some(policy.digest()), view.mode, None),
    };
    object.settle();
    line(&object, out)
}
