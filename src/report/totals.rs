//! What all sessions come to: the object that closes the JSON, and the last lines for people.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::json::{SCHEMA, line};
use super::paint::Paint;
use super::{End, Look, Scope, Total, words};
use crate::diagnostic::Code;
use crate::engine::{Mode, Verdict};
use crate::monitor::rule::RulePlace;
use crate::monitor::{Rule, RuleId};
use crate::policy::Policy;
use crate::replay::{RuleCount, ToolCount};

/// Entries of each list that people are shown.
const SHOWN: usize = 10;

/// Writes the closing object and a line feed.
pub fn json(total: &Total, policy: &Policy, out: &mut dyn Write) -> io::Result<()> {
    let tables = &total.tables;
    let by_rule = by_rule(total, policy).into_iter().map(|(rule, count)| RuleLine {
        rule: &rule.id,
        name: words::rule_name(rule),
        source: RulePlace::of(rule),
        count,
    });
    let by_tool = tables.tools.iter().map(|(tool, count)| (&**tool, ToolLine::of(*count))).collect();
    let totals = Totals {
        sessions: total.sessions,
        turns: total.turns,
        calls: total.calls,
        allow: total.allow,
        deny: total.deny,
        halt: total.halt,
        not_reached: total.not_reached,
        deny_counterfactual: total.deny_counterfactual,
        violated_rules: tables.violated(),
        objected: total.objected,
        disagree: total.disagree,
        alternatives: total.alternatives,
        alternatives_stopped: total.alternatives_stopped,
        reading: ReadingLine::of(total),
        by_rule: by_rule.collect(),
        by_code: &tables.codes,
        by_reason: tables.reasons.iter().map(|(reason, count)| (&**reason, *count)).collect(),
        by_tool,
        other_tools: (tables.other_tools != ToolCount::default()).then(|| ToolLine::of(tables.other_tools)),
    };
    line(&LastLine { schema: SCHEMA, totals }, out)
}

#[derive(Serialize)]
struct LastLine<'a> {
    schema: &'static str,
    totals: Totals<'a>,
}

#[derive(Serialize)]
struct Totals<'a> {
    sessions: u64,
    turns: u64,
    calls: u64,
    allow: u64,
    deny: u64,
    halt: u64,
    not_reached: u64,
    deny_counterfactual: u64,
    violated_rules: u64,
    /// Sessions in which a call was stopped or a rule is violated.
    objected: u64,
    disagree: u64,
    /// Calls of choices that were not taken, which no count above has.
    #[serde(skip_serializing_if = "is_zero")]
    alternatives: u64,
    #[serde(skip_serializing_if = "is_zero")]
    alternatives_stopped: u64,
    #[serde(flatten)]
    reading: ReadingLine,
    by_rule: Vec<RuleLine<'a>>,
    by_code: &'a BTreeMap<Code, u64>,
    by_reason: BTreeMap<&'a str, u64>,
    by_tool: BTreeMap<&'a str, ToolLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other_tools: Option<ToolLine>,
}

pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// How completely the recordings were read.
#[derive(Serialize)]
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
}

/// Why results are not about everything that was named, a sentence each, with whether something is missing for it; `did` is
/// what was done with the sessions.
pub(super) fn incomplete(total: &Total, did: &str) -> Vec<(bool, String)> {
    let errors = (total.errors > 0).then(|| {
        let errors = words::count(total.errors, "error");
        (true, format!("{errors} in recordings: not everything was {did}"))
    });
    let skipped = words::skipped(total.skipped);
    let them = if total.skipped == 1 { "it" } else { "them" };
    let skipped = skipped.map(|skipped| (false, format!("{skipped}: nothing in {them} is a recording")));
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

#[derive(Serialize)]
struct Diagnostics {
    errors: u64,
    warnings: u64,
    notices: u64,
}

#[derive(Serialize)]
struct RuleLine<'a> {
    rule: &'a str,
    name: String,
    source: RulePlace<'a>,
    #[serde(flatten)]
    count: RuleCount,
}

#[derive(Serialize)]
struct ToolLine {
    calls: u64,
    #[serde(flatten)]
    count: ToolCount,
}

impl ToolLine {
    fn of(count: ToolCount) -> ToolLine {
        ToolLine { calls: count.calls(), count }
    }
}

/// The rules that spoke, those that did most first.
fn by_rule<'p>(total: &Total, policy: &'p Policy) -> Vec<(&'p Rule, RuleCount)> {
    let mut rules: Vec<(RuleId, RuleCount)> =
        total.tables.rules.iter().map(|(rule, count)| (*rule, *count)).collect();
    rules.sort_by_key(|(rule, count)| (Reverse(count.stopped + count.violated), *rule));
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
        (_, 0) => format!("{calls} in {sessions}"),
        (0, _) => format!("violated in {sessions}"),
        _ => format!("{calls}, violated in {} of {sessions}", words::thousands(count.violated)),
    };
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
        deny: total.deny,
        halt: total.halt,
        not_reached: total.not_reached,
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
    match total.disagree {
        0 => {}
        1 => last.push("1 decision differs from the recording".to_owned()),
        many => last.push(format!("{} from the recording", words::count(many, "decision") + " differ")),
    }
    last.extend(words::skipped(total.skipped));
    writeln!(out, "{}: {}", counts.join(", "), last.join("; "))
}
