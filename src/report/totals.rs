//! The totals of a replay: the object that closes the JSON, and the last lines for people.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::completeness::DiagnosticCounts;
use super::json::{SCHEMA, line};
use super::mergeable::{Mergeable, rows};
use super::paint::Paint;
use super::{Completeness, End, Look, Provenance, RunCounts, Scope, words};
use rulestep_base::merge::{Merge, is_zero};
use rulestep_engine::monitor::rule::RulePlace;
use rulestep_engine::monitor::{Rule, RuleId};
use rulestep_engine::policy::Policy;
use rulestep_engine::replay::{Counts, RuleCount, ToolCount, beyond_most};
use rulestep_engine::run::{Mode, Verdict};

/// Entries of each list that people are shown.
const SHOWN: usize = 10;

/// Writes the closing object and a line feed.
pub fn json(total: &RunCounts, policy: &Policy, mode: Mode, out: &mut dyn Write) -> io::Result<()> {
    let tables = &total.tables;
    let by_rule = by_rule(total, policy).into_iter().map(|(rule, count)| RuleLine {
        rule: rule.id.to_string(),
        name: words::rule_name(rule),
        source: RulePlace::of(rule),
        count,
    });
    let mut totals = JsonTotals {
        counts: total.counts,
        reading: total.reading.clone(),
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
pub(super) struct JsonTotals {
    #[serde(flatten)]
    counts: Counts,
    #[serde(flatten)]
    reading: Completeness,
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

impl Mergeable for JsonTotals {
    fn merge(&mut self, other: JsonTotals) -> Result<(), String> {
        self.counts.merge(&other.counts);
        self.provenance.join(other.provenance, &mut self.reading, &other.reading)?;
        // All are of one policy.
        self.policy_warnings = self.policy_warnings.max(other.policy_warnings);
        self.unseen_tools.retain(|tool| other.unseen_tools.contains(tool));
        self.rules_off.retain(|rule| other.rules_off.contains(rule));
        rows(
            &mut self.by_rule,
            other.by_rule,
            |row| row.rule.clone(),
            |row, more| row.count.merge(&more.count),
        );
        Merge::merge(&mut self.by_code, &other.by_code);
        Merge::merge(&mut self.by_reason, &other.by_reason);
        let counts =
            |lines: BTreeMap<String, ToolLine>| lines.into_iter().map(|(tool, line)| (tool, line.count));
        let mut tools: BTreeMap<String, ToolCount> = counts(std::mem::take(&mut self.by_tool)).collect();
        counts(other.by_tool).for_each(|(tool, more)| tools.entry(tool).or_default().merge(&more));
        let mut rest = beyond_most(&mut tools);
        [&self.other_tools, &other.other_tools]
            .into_iter()
            .flatten()
            .for_each(|line| rest.merge(&line.count));
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
        self.counts.sessions
    }

    fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    fn incomplete(&self) -> bool {
        self.reading.is_incomplete()
    }

    fn found(&self) -> bool {
        self.counts.objected > 0
    }
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
fn by_rule<'p>(total: &RunCounts, policy: &'p Policy) -> Vec<(&'p Rule, RuleCount)> {
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
fn rules(
    total: &RunCounts,
    policy: &Policy,
    most: usize,
    paint: Paint,
    out: &mut dyn Write,
) -> io::Result<()> {
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
pub(super) fn told(total: &RunCounts, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let Completeness { diagnostics: DiagnosticCounts { errors, warnings, notices }, interrupted, .. } =
        total.reading;
    let told = [(errors, "error"), (warnings, "warning"), (notices, "notice")];
    let told = told.into_iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = told.map(|(count, kind)| words::count(count, kind)).collect();
    if !told.is_empty() {
        writeln!(out, "diagnostics: {}", told.join(", "))?;
    }
    if interrupted {
        writeln!(out, "{}", paint.bold("interrupted: these results are incomplete"))?;
    }
    Ok(())
}

fn last(total: &RunCounts, mode: Mode, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let counts = &total.counts;
    let sizes = [
        words::count(counts.sessions, "session"),
        words::count(counts.turns, "turn"),
        words::count(counts.calls, "call"),
    ];
    let mut last = vec![super::text::phrase(counts, mode, paint)];
    last.extend(counts.worded().map(|(counter, count, noun)| {
        let text = format!("{} {noun}", words::thousands(count));
        if counter.objects { paint.verdict(Verdict::Deny, text) } else { text }
    }));
    match counts.disagree {
        0 => {}
        1 => last.push("1 decision differs from the recording".to_owned()),
        many => last.push(format!("{} from the recording", words::count(many, "decision") + " differ")),
    }
    last.extend(words::skipped(total.reading.skipped));
    writeln!(out, "{}: {}", sizes.join(", "), last.join("; "))
}
