//! What recordings say of every rule: a document, and JSON.

use std::cmp::Reverse;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::counts::incomplete;
use super::doc::{Body, Doc, List, Section, Span};
use super::formats::Report;
use super::json::line;
use super::mergeable::{Mergeable, rows};
use super::{Completeness, Provenance, RunCounts, words};

use crate::explore::coverage::{Coverage, Exercise, RuleUse, ToolUse};
use crate::explore::occurrence::{Extent, Occurrence, Place};
use rulestep_base::merge::is_zero;
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
    pub read: &'a RunCounts,
    /// Whether text may be coloured.
    pub color: bool,
}

impl Report for View<'_> {
    /// The rules in three groups, with what each was asked; then the tools that no rule is about.
    fn doc(&self) -> Doc {
        let View { coverage, policy, mode, read, .. } = *self;
        let rules = coverage.of_policy(policy);
        let mut sections = Vec::new();
        for (exercise, heading) in GROUPS {
            let group = rules.iter().filter(|(_, _, used)| used.exercise() == exercise);
            let items = group.map(|(_, rule, used)| {
                let lead = vec![Span::name(rule_name(rule)), Span::plain("  "), Span::detail(rule.place())];
                let is_asked = exercise != Exercise::NeverAsked;
                (lead, is_asked.then(|| vec![Span::name(answered(used, mode))]).into_iter().collect())
            });
            let items: Vec<_> = items.collect();
            if items.is_empty() {
                continue;
            }
            let heading = match (exercise, mode) {
                (Exercise::Fired, Mode::Shadow) => WOULD_FIRE,
                _ => heading,
            };
            sections.push(Section {
                heading: Some(format!("{heading} ({})", words::thousands(items.len() as u64))),
                body: Body::List(List { numbered: false, items }),
                notes: Vec::new(),
            });
        }
        let free = coverage.ungoverned(policy);
        if !free.is_empty() {
            let mut line = vec![Span::label("tools without a rule, by calls"), Span::plain("  ")];
            for (nth, (tool, calls)) in free.iter().take(TOOLS).enumerate() {
                let comma = if nth == 0 { "" } else { ", " };
                let calls = Span::plain(format!(" {}", words::thousands(*calls)));
                line.extend([Span::plain(comma), Span::name(words::name(tool)), calls]);
            }
            if free.len() > TOOLS {
                let more = words::thousands((free.len() - TOOLS) as u64);
                line.push(Span::plain(format!(", and {more} more")));
            }
            sections.push(Section { body: Body::Line(line), ..Section::default() });
        }
        Doc { title: Some(sums(coverage, &rules)), notes: incomplete(read, "counted"), sections }
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        json(self, out)
    }

    fn color(&self) -> bool {
        self.color
    }
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
    match occurrence.place() {
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

/// What recordings say of every rule; two of them make one.
#[derive(Serialize, Deserialize)]
pub(super) struct CoverageLine {
    schema: String,
    sessions: u64,
    calls: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    alternatives: u64,
    #[serde(flatten)]
    reading: Completeness,
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
    #[serde(flatten)]
    counts: RuleUse,
}

#[derive(Serialize, Deserialize)]
struct ToolLine {
    tool: String,
    #[serde(flatten)]
    counts: ToolUse,
    /// Whether no rule is about it.
    ungoverned: bool,
}

impl Mergeable for CoverageLine {
    fn merge(&mut self, other: CoverageLine) -> Result<(), String> {
        self.provenance.join(other.provenance, &mut self.reading, &other.reading)?;
        self.sessions += other.sessions;
        self.calls += other.calls;
        self.alternatives += other.alternatives;
        rows(
            &mut self.rules,
            other.rules,
            |row| row.rule.clone(),
            |row, more| {
                row.counts.merge(&more.counts);
                // The one that tells most is the smallest.
                row.state = row.state.min(more.state);
            },
        );
        rows(
            &mut self.tools,
            other.tools,
            |row| row.tool.clone(),
            |row, more| {
                row.counts.merge(&more.counts);
                row.ungoverned &= more.ungoverned;
            },
        );
        self.settle();
        Ok(())
    }

    fn settle(&mut self) {
        self.rules.sort_by(|a, b| {
            let order = |row: &RuleLine| (row.state, Reverse(row.counts.fired()));
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
        self.reading.is_incomplete()
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
        // How a violation counts is in the policy.
        counts: RuleUse { unenforced: 0, ..used.clone() },
    });
    let tools = coverage.tools.iter().map(|(tool, used)| ToolLine {
        tool: tool.to_string(),
        counts: used.clone(),
        ungoverned: free.iter().any(|(name, _)| *name == tool),
    });
    let mut object = CoverageLine {
        schema: SCHEMA.to_owned(),
        sessions: coverage.sessions,
        calls: coverage.calls,
        alternatives: coverage.alternatives,
        reading: read.reading.clone(),
        rules: lines.collect(),
        tools: tools.collect(),
        provenance: read.provenance.judged(Some(policy.digest()), view.mode, None),
    };
    object.settle();
    line(&object, out)
}
