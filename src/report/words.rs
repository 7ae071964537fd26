//! Sentences for people, made from facts: what a rule found, what it looked at, what would change it.
//!
//! One place words everything, for the command line and for the workbench. Recorded values are quoted as compact JSON,
//! cut when they are long, and made safe for a terminal; a sentence is one line and holds nothing hidden.

pub mod order;
pub mod plan;
mod sequence_policies;
mod tool_policies;

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Number, Value};

use super::clean::{self, Marks};
use crate::diagnostic::Code;
use crate::diagnostic::code;
use crate::engine::Verdict;
use crate::monitor::finding::{Comparison, Output, Prior, RuleOutcome};
use crate::monitor::{Check, Checked, Detail, Finding, Found, Reason, Rule, Rules, StateItem};
use crate::session::{Call, CallRef, Outcome, Session};

/// Columns a quoted value may take.
const VALUE: usize = 48;
/// Columns a quoted name may take.
const NAME: usize = 64;
/// Most lines of a rule that are shown.
const LINES: u32 = 24;
/// How many earlier values a sentence lists.
const LISTED: usize = 3;
/// How many earlier calls that do not count are listed.
const ATTEMPTS: usize = 4;

/// What a rule found against a call, in a line.
pub fn finding(finding: &Finding, rule: &Rule, session: &Session) -> String {
    Fact { checked: finding.checked.as_ref(), found: &finding.found, detail: &finding.detail, rule, session }
        .against(finding.code)
}

/// What a rule looked at, and what it came to, in a line: also for a rule that is content.
pub fn check(check: &Check, rule: &Rule, session: &Session) -> String {
    let fact =
        Fact { checked: check.checked.as_ref(), found: &check.found, detail: &check.detail, rule, session };
    match check.code {
        Some(code) => fact.against(code),
        None => fact.in_favour(),
    }
}

/// What would change a finding, in a line; nothing where there is no way.
pub fn way_out(finding: &Finding, rule: &Rule) -> Option<String> {
    let detail = &finding.detail;
    let bound = || bound(finding.checked.as_ref());
    Some(match (finding.code, detail) {
        (code::FORBIDDEN, _) => {
            let place = place(rule);
            format!(
                "nothing in this session: `forbids_after` lasts to its end; change {place} if it should not"
            )
        }
        (code::STEP_COUNT_BELOW, Detail::Steps { completed, wanted }) => {
            let wanted = wanted.as_u64().or_else(|| wanted.as_f64().map(|wanted| wanted.ceil() as u64))?;
            format!("call it {} later", count(wanted.saturating_sub(*completed), "turn"))
        }
        (code::PRIOR_TOOL_MISSING | code::RESOURCE_UNMATCHED, Detail::Prior(prior)) => {
            format!("call {}{} with success, in an earlier turn", name(&prior.tool), bound())
        }
        (code::RESOURCE_MISSING, _) => {
            let path = finding.checked.as_ref().map(|checked| name(&checked.path))?;
            format!("give the call exactly one value at `{path}`")
        }
        (code::PRIOR_OUTPUT_UNMATCHED, Detail::Prior(prior)) => match (&prior.hint, failed(prior)) {
            (Some(hint), Some(failed)) => format!(
                "the result is wrapped: the condition would hold at `{}` instead of `{}`",
                name(hint),
                name(&failed.path)
            ),
            (_, Some(failed)) => {
                format!("a later {}{} with {}", name(&prior.tool), bound(), condition(failed))
            }
            (_, None) => format!("a later {}{} with another result", name(&prior.tool), bound()),
        },
        (code, Detail::Dispatch(dispatch)) => return sequence_policies::way_out(code, dispatch),
        (_, Detail::Missing(tools)) => tool_policies::way_out_for_missing(tools),
        (_, Detail::File(file)) => tool_policies::way_out_for_file(file, finding.checked.as_ref()),
        (code::PLAN_MATCHED, Detail::Plan(made)) => plan::way_out(made),
        (code, Detail::Order { rule, count }) => order::suggestion(code, rule, *count)?,
        _ => return None,
    })
}

/// What was checked in the call: `$.order_id is "ORD-124"`.
pub fn checked(checked: &Checked) -> String {
    match &checked.value {
        Some(found) => format!("{} is {}", name(&checked.path), value(found)),
        None => format!("{} has not exactly one value", name(&checked.path)),
    }
}

/// An earlier call that a finding rests on: `turn 1: check_eligibility, "ORD-123"`.
pub fn found(found: &Found, session: &Session) -> String {
    let mut line = format!("{}: {}", at(found.call, session), tool_of(found.call, session));
    if let Some(found) = &found.value {
        line.push_str(", ");
        line.push_str(&value(found));
    }
    line
}

/// The calls of a session by tool, so that those before a call are found without passing by all the others.
pub struct ByTool<'a>(HashMap<&'a str, Vec<&'a Call>>);

impl<'a> ByTool<'a> {
    /// Of this session.
    pub fn of(session: &'a Session) -> ByTool<'a> {
        let mut calls: HashMap<&str, Vec<&Call>> = HashMap::new();
        for call in &session.calls {
            calls.entry(&call.tool).or_default().push(call);
        }
        ByTool(calls)
    }

    /// The calls of a tool before a call, the newest first.
    fn before(&self, tool: &str, call: CallRef) -> impl Iterator<Item = &'a Call> {
        let calls = self.0.get(tool).map(Vec::as_slice).unwrap_or_default();
        let end = calls.partition_point(|other| other.at.index < call.index);
        calls.iter().take(end).rev().copied()
    }
}

/// For a finding that rests on absence: the earlier calls of the wanted tool and why they do not count, a line each.
/// `stopped` tells whether this replay stopped a call.
pub fn attempts(
    finding: &Finding,
    call: CallRef,
    session: &Session,
    by_tool: &ByTool<'_>,
    stopped: &dyn Fn(CallRef) -> bool,
) -> Vec<String> {
    let (code::PRIOR_TOOL_MISSING, Detail::Prior(prior)) = (finding.code, &finding.detail) else {
        return Vec::new();
    };
    let attempts = by_tool.before(&prior.tool, call).take(ATTEMPTS).map(|other| {
        let why = match other.outcome {
            _ if stopped(other.at) => "it is stopped here",
            Outcome::Ok if other.at.turn == call.turn => "in the same turn, so its result was not known",
            Outcome::Ok => "its result came too late",
            outcome => became(outcome),
        };
        format!("{}: {}, {why}", at(other.at, session), name(&other.tool))
    });
    attempts.collect()
}

/// What a rule knows beyond its code, a line each: conditions on results, completed turns, which call decides.
pub fn details(detail: &Detail) -> Vec<String> {
    match detail {
        Detail::None => Vec::new(),
        Detail::Plan(made) => plan::tree(made),
        Detail::Steps { completed, wanted } => {
            vec![format!("{} completed, at least {wanted} asked", count(*completed, "turn"))]
        }
        Detail::Prior(prior) => {
            let mut lines: Vec<String> = prior.outputs.iter().map(output).collect();
            if let Some(hint) = &prior.hint {
                lines.push(format!("`{}` would match", name(hint)));
            }
            if prior.other_reading {
                lines.push(format!("with `match: {}` it would be decided otherwise", other(prior)));
            }
            lines
        }
        Detail::Dispatch(dispatch) => sequence_policies::details(dispatch),
        Detail::Missing(tools) => vec![tool_policies::missing(tools)],
        Detail::File(file) => tool_policies::details(file),
        Detail::Order { rule, .. } => vec![order::expected(rule)],
    }
}

/// Something that stands at a moment, in a line.
pub fn state(item: &StateItem, rules: &Rules, session: &Session) -> String {
    match item {
        StateItem::Forbidden { tool, since, .. } => format!(
            "{} is forbidden since {} ran in {}",
            name(tool),
            tool_of(*since, session),
            at(*since, session)
        ),
        StateItem::Precondition { rule, tool, satisfied, code, by, detail } => {
            let stands = match (detail, code) {
                (Detail::Steps { completed, wanted }, _) => steps(*completed, wanted),
                (Detail::Prior(prior), _) if *satisfied => {
                    let calls = list(by.iter().map(|by| at(*by, session)));
                    format!("{} ran{}{calls}", name(&prior.tool), if by.is_empty() { "" } else { " in " })
                }
                (Detail::Prior(prior), Some(code::PRIOR_TOOL_MISSING)) => {
                    format!("{} has not succeeded in an earlier turn", name(&prior.tool))
                }
                (Detail::Prior(prior), Some(code::RESOURCE_UNMATCHED)) => {
                    format!("{} ran, but without a value to compare", name(&prior.tool))
                }
                (Detail::Prior(prior), Some(code::PRIOR_OUTPUT_UNMATCHED)) => {
                    format!("{} ran, but its result does not satisfy the contract", name(&prior.tool))
                }
                (_, Some(code)) => code.page().map_or(code.as_str(), |page| page.title).to_owned(),
                (_, None) => rules.get(*rule).map_or("holds", |rule| rule.kind).to_owned(),
            };
            format!("{}: {stands}", name(tool))
        }
        StateItem::Limit { tool, used, allowed, .. } => sequence_policies::limit(tool, *used, *allowed),
        StateItem::Recorded { recorded, files, listed, .. } => {
            tool_policies::recorded(recorded, files, *listed)
        }
        StateItem::Deadline { tool, since, left, open, .. } => {
            order::deadline(tool, *since, *left, *open, session)
        }
        StateItem::Step { done, of, next, .. } => order::step(*done, *of, next.as_deref()),
    }
}

/// Why a tool is hidden, in a few words.
pub fn reason(reason: &Reason, rules: &Rules) -> String {
    let title = reason.code.page().map_or(reason.code.as_str(), |page| page.title);
    match rules.get(reason.rule) {
        Some(rule) => format!("{title} ({})", place(rule)),
        None => title.to_owned(),
    }
}

/// The word for a decision, as a participle: `allowed`, `denied`.
pub fn decided(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allowed",
        Verdict::Deny => "denied",
        Verdict::Halt => "halted",
        Verdict::NotReached => "not reached",
    }
}

/// What the recording says became of a call: `ran`, `ran and failed`.
pub fn became(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ok => "it ran",
        Outcome::Error => "it ran and failed",
        Outcome::Refused => "it was refused",
        Outcome::Unknown => "it has no result",
    }
}

/// How a rule about a session ended.
pub fn ended(outcome: RuleOutcome) -> &'static str {
    match outcome {
        RuleOutcome::Held => "held",
        RuleOutcome::Violated => "violated",
        RuleOutcome::NotExercised => "not exercised",
        RuleOutcome::Pending => "pending",
    }
}

/// Where a rule stands: `contracts/issue_refund.yaml:3`.
pub fn place(rule: &Rule) -> String {
    format!("{}:{}", name(rule.source.name()), rule.source.position(rule.span.start).line)
}

/// The rule's own lines with their numbers, a few; and whether there are more.
pub fn lines(rule: &Rule) -> (Vec<(u32, String)>, bool) {
    let first = rule.source.position(rule.span.start).line;
    let last = rule.source.position(rule.span.end.saturating_sub(1).max(rule.span.start)).line;
    let shown = first..=last.min(first.saturating_add(LINES - 1));
    let text = |number| rule.source.line(number).map(line).unwrap_or_default();
    (shown.map(|number| (number, text(number))).collect(), last >= first.saturating_add(LINES))
}

/// Where a call stands, for people: the turn, and the call where the turn has several.
pub fn at(call: CallRef, session: &Session) -> String {
    match session.turn(call.turn) {
        Some(turn) if turn.calls.len() > 1 => format!("turn {} call {}", call.turn, call.call),
        _ => format!("turn {}", call.turn),
    }
}

/// A recorded value as compact JSON, cut and safe.
pub fn value(value: &Value) -> String {
    let text = value.to_string();
    match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(inside) if value.is_string() => {
            format!("\"{}\"", clean::fit(inside, VALUE, Marks::Unicode).text())
        }
        _ => clean::fit(&text, VALUE, Marks::Unicode).text(),
    }
}

/// A name or a path from a recording or a policy, cut and safe.
pub fn name(name: &str) -> Cow<'_, str> {
    let plain = name.len() <= NAME && name.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if plain { name.into() } else { clean::fit(name, NAME, Marks::Unicode).text().into() }
}

/// Any recorded text as one safe line.
pub fn line(text: &str) -> String {
    clean::show(text, Marks::Unicode).text()
}

/// `1 turn`, `2 turns`.
pub fn count(number: u64, thing: &str) -> String {
    let plural = match number {
        1 => "",
        _ => "s",
    };
    format!("{} {thing}{plural}", thousands(number))
}

/// A number with a comma at every third digit.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `a`, `a and b`, `a, b and c`.
pub fn list(items: impl IntoIterator<Item = String>) -> String {
    let mut items: Vec<String> = items.into_iter().collect();
    match items.pop() {
        None => String::new(),
        Some(last) if items.is_empty() => last,
        Some(last) => format!("{} and {last}", items.join(", ")),
    }
}

/// What a finding or a check rests on.
struct Fact<'a> {
    checked: Option<&'a Checked>,
    found: &'a [Found],
    detail: &'a Detail,
    rule: &'a Rule,
    session: &'a Session,
}

impl Fact<'_> {
    fn against(&self, code: Code) -> String {
        match (code, self.detail) {
            (code::FORBIDDEN, _) => self.forbidden(),
            (code::STEP_COUNT_BELOW, Detail::Steps { completed, wanted }) => {
                steps(*completed, wanted) + self.middle()
            }
            (code::PRIOR_TOOL_MISSING, Detail::Prior(prior)) => {
                format!("{} has not succeeded in an earlier turn{}", name(&prior.tool), self.middle())
            }
            (code::RESOURCE_MISSING, Detail::Prior(prior)) => format!(
                "this call has not exactly one value at `{}` to compare with {}",
                self.checked.map_or(Cow::Borrowed("$"), |checked| name(&checked.path)),
                name(&prior.tool)
            ),
            (code::RESOURCE_UNMATCHED, Detail::Prior(prior)) => self.unmatched(prior) + self.middle(),
            (code::PRIOR_OUTPUT_UNMATCHED, Detail::Prior(prior)) => self.bad_output(prior),
            (_, Detail::Dispatch(dispatch)) => {
                sequence_policies::against(dispatch, self.found, self.rule.tool.as_deref(), self.session)
            }
            (_, Detail::Missing(tools)) => tool_policies::missing(tools) + self.middle(),
            (_, Detail::File(file)) => tool_policies::file(file, self.checked, self.found, self.session),
            (code::PLAN_MATCHED, Detail::Plan(made)) => plan::against(made),
            (code, Detail::Order { rule, count }) => {
                order::against(code, rule, *count, self.found, self.session)
            }
            _ => code.page().map_or(code.as_str(), |page| page.title).to_owned(),
        }
    }

    fn in_favour(&self) -> String {
        match self.detail {
            Detail::None => "holds".to_owned(),
            Detail::Plan(made) => plan::in_favour(made),
            Detail::Steps { completed, wanted } => steps(*completed, wanted),
            Detail::Dispatch(dispatch) => sequence_policies::in_favour(dispatch),
            Detail::Missing(tools) => tool_policies::missing(tools),
            Detail::File(file) => tool_policies::file(file, self.checked, self.found, self.session),
            Detail::Prior(prior) => {
                let when = self.found.first().map(|found| format!(" in {}", at(found.call, self.session)));
                let bound = bound(self.checked);
                let outputs = prior.outputs.iter().map(condition).collect::<Vec<_>>();
                let outputs =
                    if outputs.is_empty() { String::new() } else { format!(" with {}", list(outputs)) };
                format!("{} ran{}{bound}{outputs}", name(&prior.tool), when.unwrap_or_default())
            }
            Detail::Order { rule, .. } => order::expected(rule),
        }
    }

    fn forbidden(&self) -> String {
        let by = self.rule.tool.as_deref().map_or(Cow::Borrowed("a call"), name);
        match self.found.first() {
            Some(first) => format!("forbidden since {by} ran in {}", at(first.call, self.session)),
            None => format!("forbidden since {by} ran"),
        }
    }

    fn unmatched(&self, prior: &Prior) -> String {
        let tool = name(&prior.tool);
        let path = self.checked.map_or(Cow::Borrowed("$"), |checked| field(&checked.path));
        let wanted = self.checked.and_then(|checked| checked.value.as_ref()).map_or_else(String::new, value);
        let mut values: Vec<String> = Vec::new();
        for found in self.found.iter().filter_map(|found| found.value.as_ref()) {
            let shown = value(found);
            if !values.contains(&shown) {
                values.push(shown);
            }
        }
        if values.is_empty() {
            return format!("{tool} ran without exactly one value for {path}, so not for {wanted}");
        }
        let more = values.len() > LISTED;
        values.truncate(LISTED);
        if more {
            values.push("others".to_owned());
        }
        format!("{tool} ran for {path} {}, not {wanted}", list(values))
    }

    fn bad_output(&self, prior: &Prior) -> String {
        let tool = name(&prior.tool);
        let when = self.found.first().map(|found| format!(" in {}", at(found.call, self.session)));
        let when = when.unwrap_or_default();
        let what = failed(prior).map_or_else(|| "another result".to_owned(), got);
        let mut sentence = format!("{tool}{when} gave {what}");
        if let Some(hint) = &prior.hint {
            sentence.push_str(&format!("; `{}` would match", name(hint)));
        } else if prior.other_reading {
            sentence.push_str(&format!("; with `match: {}` it would pass", other(prior)));
        }
        sentence
    }

    /// Absence proves little in a recording that begins after its session did.
    fn middle(&self) -> &'static str {
        if self.session.facts.from_the_middle { " (the recording starts in the middle)" } else { "" }
    }
}

/// ` for order_id "ORD-124"`, or nothing where there is no value.
fn bound(checked: Option<&Checked>) -> String {
    let bound = checked.and_then(|checked| Some((&checked.path, checked.value.as_ref()?)));
    bound.map_or_else(String::new, |(path, found)| format!(" for {} {}", field(path), value(found)))
}

fn tool_of(call: CallRef, session: &Session) -> Cow<'_, str> {
    session.calls.get(call.index as usize).map_or(Cow::Borrowed("a call"), |call| name(&call.tool))
}

/// A path as a field's name where it is one: `$.order_id` is `order_id`.
fn field(path: &str) -> Cow<'_, str> {
    name(path.strip_prefix("$.").unwrap_or(path))
}

fn steps(completed: u64, wanted: &Number) -> String {
    let completed = match completed {
        0 => "no turn was completed".to_owned(),
        1 => "1 turn was completed".to_owned(),
        many => format!("{} were completed", count(many, "turn")),
    };
    format!("{completed} before, at least {wanted} asked")
}

fn bounded(comparison: Comparison, bound: &str) -> String {
    match comparison {
        Comparison::Gte => format!("at least {bound}"),
        Comparison::Lte => format!("at most {bound}"),
        Comparison::Equals | Comparison::Exists => bound.to_owned(),
    }
}

fn failed(prior: &Prior) -> Option<&Output> {
    prior.outputs.iter().find(|output| !output.holds)
}

fn other(prior: &Prior) -> &'static str {
    if prior.matching == "any" { "newest" } else { "any" }
}

/// What a condition asks: `eligible true`, `score at least 5`.
fn condition(output: &Output) -> String {
    let path = field(&output.path);
    match output.comparison {
        Comparison::Exists if output.wanted == Value::Bool(false) => format!("no {path}"),
        Comparison::Exists => format!("some {path}"),
        Comparison::Equals => format!("{path} {}", value(&output.wanted)),
        Comparison::Gte | Comparison::Lte => {
            format!("{path} {}", bounded(output.comparison, &value(&output.wanted)))
        }
    }
}

/// What stood there instead: `eligible false, not true`.
fn got(output: &Output) -> String {
    let path = field(&output.path);
    let wanted = value(&output.wanted);
    if output.nodes == 0 {
        return format!("nothing at {path}");
    }
    let mut values: Vec<String> = output.got.iter().take(LISTED).map(value).collect();
    if output.nodes > values.len() {
        values.push(format!("{} more", output.nodes - values.len()));
    }
    let values = list(values);
    match output.comparison {
        Comparison::Exists => format!("{path} {values}, though there should be none"),
        comparison => {
            let all = if output.nodes > 1 { "all " } else { "" };
            format!("{path} {values}, not {all}{}", bounded(comparison, &wanted))
        }
    }
}

/// A condition, what stood there, and whether it holds.
fn output(output: &Output) -> String {
    let asked = format!("{} {} {}", name(&output.path), output.comparison.word(), value(&output.wanted));
    let mut values: Vec<String> = output.got.iter().take(LISTED).map(value).collect();
    if output.nodes > values.len() && !values.is_empty() {
        values.push(format!("{} more", output.nodes - values.len()));
    }
    let found = if values.is_empty() { "nothing".to_owned() } else { list(values) };
    format!("{asked}: found {found}{}", if output.holds { "" } else { ", which does not hold" })
}
