//! The totals of a replay: the object that closes the JSON, and the last lines for people.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::json::{SCHEMA, line};
use super::mergeable::{Mergeable, add, rows};
use super::paint::Paint;
use super::{End, Look, Provenance, Scope, Total, words};
use rulestep_engine::monitor::rule::RulePlace;
use rulestep_engine::monitor::{Rule, RuleId};
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::{RuleCount, ToolCount, beyond_most};
use rulestep_engine::run::{Mode, Verdict};

/// Entries of each list that people are shown.
const SHOWN: usize = 10;

/// Writes the closing object and a line feed.
pub fn json(total: &Total, policy: &Policy, mode: Mode, out: &mut dyn Write) -> io::Result<()> {
    let tables = &total.tables;
    let by_rule = by_rule(total, policy).into_iter().map(|(rule, count)| RuleLine {
        rule: rule.id.to_string(),
        name: words::rule_name(rule),
        source: RulePlace::of(rule),
        count,
    });
    let mut totals = Totals {
        sessions: total.sessions,
        turns: total.turns,
        calls: total.calls,
        copied: total.copied,
        allow: total.allow,
        ask: total.ask,
        would_stop: total.would_stop,
        reported: total.reported,
        deny: total.deny,
        halt: total.halt,
        not_reached: total.not_reached,
        deny_counterfactual: total.deny_counterfactual,
        violated_rules: tables.violated(),
        unenforced_rules: tables.unenforced(),
        objected: total.objected,
        disagree: total.disagree,
        alternatives: total.alternatives,
        alternatives_stopped: total.alternatives_stopped,
        reading: ReadingLine::of(total),
        policy_warnings: policy.warnings().len() as u64,
        unseen_tools: total.unseen.iter().cloned().collect(),
        rules_off: total.off.iter().cloned().collect(),
        by_rule: by_rule.collect(),
        by_code: tables.codes.iter().map(|(code, count)| (code.as_str().to_owned(), *count)).collect(),
        by_reason: tables.reasons.iter().map(|(reason, count)| (reason.to_string(), *count)).collect(),
        by_tool: tables.tools.iter().map(|(tool, count)| (tool.to_string(), ToolLine::of(*count))).collect(),
        other_tools: ToolLine::rest(tables.other_tools),
        provenance: total.provenance.judged(Some(policy.digest()), mode, None),
    };
    totals.settle();
    line(&LastLine { schema: SCHEMA, totals: &totals }, out)
}

/// What closes the JSON of a replay or a comparison.
#[derive(Serialize)]
pub(super) struct LastLine<'a, T> {
    pub schema: &'static str,
    pub totals: &'a T,
}

/// The totals of a replay; two of them can be merged.
#[derive(Serialize, Deserialize)]
pub(super) struct Totals {
    sessions: u64,
    turns: u64,
    calls: u64,
    /// Calls that forks have as their past, which no other count has.
    #[serde(default, skip_serializing_if = "is_zero")]
    copied: u64,
    allow: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    ask: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    would_stop: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    reported: u64,
    deny: u64,
    halt: u64,
    not_reached: u64,
    deny_counterfactual: u64,
    violated_rules: u64,
    /// Session rules that are violated and only report, or are in shadow mode; `violated_rules` does not have them.
    #[serde(default, skip_serializing_if = "is_zero")]
    unenforced_rules: u64,
    /// Sessions in which a call was stopped or a rule is violated.
    objected: u64,
    disagree: u64,
    /// Calls of choices that were not taken, which no count above has.
    #[serde(default, skip_serializing_if = "is_zero")]
    alternatives: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    alternatives_stopped: u64,
    #[serde(flatten)]
    reading: ReadingLine,
    /// What is probably not meant in the policy.
    #[serde(default, skip_serializing_if = "is_zero")]
    policy_warnings: u64,
    /// Tools that the text of the policy has and no session: no rule for them was checked.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    unseen_tools: BTreeSet<String>,
    /// Rules that `when` switches off in every session.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    rules_off: BTreeSet<String>,
    by_rule: Vec<RuleLine>,
    by_code: BTreeMap<String, u64>,
    by_reason: BTreeMap<String, u64>,
    by_tool: BTreeMap<String, ToolLine>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    other_tools: Option<ToolLine>,
    provenance: Provenance,
}

impl Mergeable for Totals {
    fn merge(&mut self, other: Totals) -> Result<(), String> {
        add!(self, other: sessions, turns, calls, copied, allow, ask, would_stop, reported, deny, halt, not_reached, deny_counterfactual,
            violated_rules, unenforced_rules, objected, disagree, alternatives, alternatives_stopped);
        self.reading.merge(other.reading, &mut self.provenance, other.provenance)?;
        // All are of one policy.
        self.policy_warnings = self.policy_warnings.max(other.policy_warnings);
        self.unseen_tools.retain(|tool| other.unseen_tools.contains(tool));
        self.rules_off.retain(|rule| other.rules_off.contains(rule));
        rows(
            &mut self.by_rule,
            other.by_rule,
            |row| row.rule.clone(),
            |row, more| row.count.merge(more.count),
        );
        for (known, more) in [(&mut self.by_code, other.by_code), (&mut self.by_reason, other.by_reason)] {
            more.into_iter().for_each(|(key, count)| *known.entry(key).or_default() += count);
        }
        let counts =
            |lines: BTreeMap<String, ToolLine>| lines.into_iter().map(|(tool, line)| (tool, line.count));
        let mut tools: BTreeMap<String, ToolCount> = counts(std::mem::take(&mut self.by_tool)).collect();
        counts(other.by_tool).for_each(|(tool, more)| tools.entry(tool).or_default().merge(more));
        let mut rest = beyond_most(&mut tools);
        [&self.other_tools, &other.other_tools].into_iter().flatten().for_each(|line| rest.merge(line.count));
        self.by_tool = tools.into_iter().map(|(tool, count)| (tool, ToolLine::of(count))).collect();
        self.other_tools = ToolLine::rest(rest);
        self.settle();
        Ok(())
    }

    fn settle(&mut self) {
        self.by_rule.sort_by(|a, b| {
            let order = |row: &RuleLine| Reverse(row.count.stopped + row.count.violated);
            order(a).cmp(&order(b)).then_with(|| (&a.source, &a.rule).cmp(&(&b.source, &b.rule)))
        });
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

    fn found(&self) -> bool {
        self.objected > 0
    }
}

pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// How completely the recordings were read.
#[derive(Serialize, Deserialize)]
pub(super) struct ReadingLine {
    skipped: u64,
    diagnostics: Diagnostics,
    interrupted: bool,
}

impl ReadingLine {
    pub fn of(total: &Total) -> ReadingLine {
        ReadingLine {
            skipped: total.skipped,
            diagnostics: Diagnostics {
                errors: total.errors,
                warnings: total.warnings,
                notices: total.notices,
            },
            interrupted: total.interrupted,
        }
    }

    /// Adds how completely others were read. What is wrong with files that both read is counted once.
    pub fn merge(
        &mut self,
        other: ReadingLine,
        own: &mut Provenance,
        others: Provenance,
    ) -> Result<(), String> {
        let (mine, theirs) = (own.problems(), others.problems());
        own.merge(others)?;
        let all = own.problems();
        let (known, more) = (&mut self.diagnostics, other.diagnostics);
        for (known, more, mine, theirs, all) in [
            (&mut self.skipped, other.skipped, mine.skipped, theirs.skipped, all.skipped),
            (&mut known.errors, more.errors, mine.errors, theirs.errors, all.errors),
            (&mut known.warnings, more.warnings, mine.warnings, theirs.warnings, all.warnings),
            (&mut known.notices, more.notices, mine.notices, theirs.notices, all.notices),
        ] {
            *known = known.saturating_sub(mine) + more.saturating_sub(theirs) + all;
        }
        self.interrupted |= other.interrupted;
        Ok(())
    }

    /// Whether something that was named was not read.
    pub fn incomplete(&self) -> bool {
        self.interrupted || self.diagnostics.errors > 0
    }
}

/// Why results are not about everything that was named, a sentence each, with whether the run fails for it; `did` is what was
/// done with the sessions.
pub(super) fn incomplete(total: &Total, did: &str) -> Vec<(bool, String)> {
    let errors = (total.errors > 0).then(|| {
        let errors = words::count(total.errors, "error");
        (true, format!("{errors} in recordings: not everything was {did}"))
    });
    let skipped = words::skipped(total.skipped);
    let them = if total.skipped == 1 { "it" } else { "them" };
    let skipped =
        skipped.map(|skipped| (total.strict, format!("{skipped}: nothing in {them} is a recording")));
    let interrupted = (true, "interrupted: these results are incomplete".to_owned());
    let interrupted = total.interrupted.then_some(interrupted);
    errors.into_iter().chain(skipped).chain(interrupted).collect()
}

/// The same as paragraphs of Markdown.
pub(super) fn incomplete_markdown(total: &Total, did: &str) -> Vec<String> {
    let bold = |(missing, line)| if missing { format!("**{line}**") } else { line };
    incomplete(total, did).into_iter().map(bold).collect()
}

/// The same as lines of text.
pub(super) fn incomplete_text(total: &Total, did: &str, paint: Paint) -> Vec<String> {
    let bold = |(missing, line): (bool, String)| if missing { paint.bold(&line) } else { line };
    incomplete(total, did).into_iter().map(bold).collect()
}

#[derive(Serialize, Deserialize)]
struct Diagnostics {
    errors: u64,
    warnings: u64,
    notices: u64,
}

#[derive(Serialize, Deserialize)]
struct RuleLine {
    rule: String,
    name: String,
    source: RulePlace,
    #[serde(flatten)]
    count: RuleCount,
}

#[derive(Serialize, Deserialize)]
struct ToolLine {
    calls: u64,
    #[serde(flatten)]
    count: ToolCount,
}

impl ToolLine {
    fn of(count: ToolCount) -> ToolLine {
        ToolLine { calls: count.calls(), count }
    }

    fn rest(count: ToolCount) -> Option<ToolLine> {
        (count != ToolCount::default()).then(|| ToolLine::of(count))
    }
}

/// The rules that spoke, those that did most first.
fn by_rule<'p>(total: &Total, policy: &'p Policy) -> Vec<(&'p Rule, RuleCount)> {
    let mut rules: Vec<(RuleId, RuleCount)> =
        total.tables.rules.iter().map(|(rule, count)| (*rule, *count)).collect();
    rules.sort_by_key(|(rule, count)| {
        (
            Reverse(count.stopped + count.violated),
            Reverse(count.asked + count.would_stop + count.reported + count.unenforced),
            *rule,
        )
    });
    rules.into_iter().filter_map(|(rule, count)| Some((policy.rules().get(rule)?, count))).collect()
}

/// Writes the last lines; the very last one has the sums.
pub fn text(end: &End<'_>, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let End { total, policy, mode, .. } = *end;
    let paint = Paint { color: look.color };
    let most = if look.scope == Scope::Full { usize::MAX } else { SHOWN };
    rules(total, policy, most, paint, out)?;
    let tables = &total.tables;
    let codes = tables.codes.iter().map(|(code, count)| (code.as_str().to_owned(), *count));
    let reasons = tables.reasons.iter().map(|(reason, count)| (words::name(reason).into_owned(), *count));
    let tools = tables.tools.iter().map(|(tool, count)| (words::name(tool).into_owned(), count.stopped()));
    counts("by code", codes, 0, most, out)?;
    counts("by reason", reasons, 0, most, out)?;
    counts("by tool", tools, tables.other_tools.stopped(), most, out)?;
    told(total, paint, out)?;
    last(total, mode, paint, out)
}

/// A line for each rule: how often, its name, its place.
fn rules(total: &Total, policy: &Policy, most: usize, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let rules = by_rule(total, policy);
    let lines: Vec<(String, &Rule)> =
        rules.iter().take(most).map(|(rule, count)| (did(*count), *rule)).collect();
    let width = lines.iter().map(|(did, _)| did.chars().count()).max().unwrap_or_default();
    for (nth, (did, rule)) in lines.into_iter().enumerate() {
        let label = if nth == 0 { "by rule" } else { "" };
        let place = paint.dim(&rule.place());
        writeln!(out, "{label:<10} {did:<width$}  {}  {place}", paint.bold(&words::rule_name(rule)))?;
    }
    match rules.len().saturating_sub(most) {
        0 => Ok(()),
        rest => {
            let rest = words::count(rest as u64, "more rule");
            writeln!(out, "{:<10} {rest} (--full shows all)", "")
        }
    }
}

/// `3 calls in 2 sessions (1 counterfactual)`, `violated in 4 sessions`.
fn did(count: RuleCount) -> String {
    let sessions = words::count(count.sessions, "session");
    let calls = words::count(count.stopped, "call");
    let mut did = match (count.stopped, count.violated) {
        (0, 0) => {
            let shadow = "would be stopped outside shadow mode";
            [(count.asked, "asked about"), (count.would_stop, shadow), (count.reported, "reported")]
                .into_iter()
                .filter(|(calls, _)| *calls > 0)
                .map(|(calls, how)| format!("{} {how}", words::count(calls, "call")))
                .collect::<Vec<_>>()
                .join(", ")
        }
        (_, 0) => format!("{calls} in {sessions}"),
        (0, _) => format!("violated in {sessions}"),
        _ => format!("{calls}, violated in {} of {sessions}", words::thousands(count.violated)),
    };
    if count.unenforced > 0 {
        let comma = if did.is_empty() { "" } else { ", " };
        let violated = words::count(count.unenforced, "session");
        did.push_str(&format!("{comma}violated in {violated} (not enforced)"));
    }
    if count.counterfactual > 0 {
        did.push_str(&format!(" ({} counterfactual)", words::thousands(count.counterfactual)));
    }
    did
}

/// One line: the most frequent first.
fn counts(
    label: &str,
    counts: impl Iterator<Item = (String, u64)>,
    unnamed: u64,
    most: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut counts: Vec<(String, u64)> = counts.filter(|(_, count)| *count > 0).collect();
    counts.sort_by(|(a, many), (b, more)| more.cmp(many).then_with(|| a.cmp(b)));
    let rest = counts.iter().skip(most).map(|(_, count)| count).sum::<u64>() + unnamed;
    let shown =
        counts.into_iter().take(most).map(|(name, count)| format!("{name} {}", words::thousands(count)));
    let rest = (rest > 0).then(|| format!("others {}", words::thousands(rest)));
    let line: Vec<String> = shown.chain(rest).collect();
    if line.is_empty() { Ok(()) } else { writeln!(out, "{label:<10} {}", line.join(", ")) }
}

/// Writes what is wrong with recordings and policies, and whether the work was broken off.
pub(super) fn told(total: &Total, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let told = [(total.errors, "error"), (total.warnings, "warning"), (total.notices, "notice")];
    let told = told.into_iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = told.map(|(count, kind)| words::count(count, kind)).collect();
    if !told.is_empty() {
        writeln!(out, "diagnostics: {}", told.join(", "))?;
    }
    if total.interrupted {
        writeln!(out, "{}", paint.bold("interrupted: these results are incomplete"))?;
    }
    Ok(())
}

fn last(total: &Total, mode: Mode, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let sums = super::text::Sums {
        allow: total.allow,
        ask: total.ask,
        would_stop: total.would_stop,
        reported: total.reported,
        deny: total.deny,
        halt: total.halt,
        not_reached: total.not_reached,
        copied: total.copied,
        deny_counterfactual: total.deny_counterfactual,
        alternatives: total.alternatives,
        alternatives_stopped: total.alternatives_stopped,
    };
    let counts = [
        words::count(total.sessions, "session"),
        words::count(total.turns, "turn"),
        words::count(total.calls, "call"),
    ];
    let mut last = vec![sums.phrase(mode, paint)];
    let violated = total.tables.violated();
    if violated > 0 {
        let counted = format!("{} violated", words::count(violated, "session rule"));
        last.push(paint.verdict(Verdict::Deny, counted));
    }
    last.extend(total.unenforced());
    match total.disagree {
        0 => {}
        1 => last.push("1 decision differs from the recording".to_owned()),
        many => last.push(format!("{} from the recording", words::count(many, "decision") + " differ")),
    }
    last.extend(words::skipped(total.skipped));
    writeln!(out, "{}: {}", counts.join(", "), last.join("; "))
}
