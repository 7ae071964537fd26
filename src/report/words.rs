//! Sentences for people, made from facts: what a rule found, what it looked at, what would change it.
//!
//! One place words everything, for the command line and for the workbench. Recorded values are quoted as compact JSON and
//! made safe for a terminal; a sentence is one line and holds nothing hidden. Long values are cut where it is displayed.

pub mod call;
mod contracts;
mod counted;
pub mod fault;
pub mod order;
pub mod plan;
mod rule;
mod sequence_policies;
mod tool_policies;

use std::cell::OnceCell;
use std::collections::HashMap;

pub use counted::counted_refusal;
pub use rule::rule_name;

use crate::diagnostic::Code;
use crate::diagnostic::code;
use crate::engine::Verdict;
use crate::monitor::finding::RuleOutcome;
use crate::monitor::{Check, Checked, Detail, Finding, Found, Reason, Rule, Rules, StateItem};
use crate::replay::{NotTaken, Replay};
use crate::session::{AlternativeRef, Call, CallRef, Outcome, Session};
use crate::wording::sentence::{name as held, value};
use crate::wording::tool_of;
pub use crate::wording::{Sentence, at, count, line, list, name, skipped, thousands};

/// Most lines of a rule that are shown.
const LINES: u32 = 24;
/// How many earlier calls that do not count are listed.
const ATTEMPTS: usize = 4;

/// What a rule found against a call, in a line.
pub fn finding(finding: &Finding, rule: &Rule, session: &Session) -> Sentence {
    let (checked, found) = (finding.checked.as_ref(), finding.found.as_slice());
    Sentence::new(Fact { checked, found, detail: &finding.detail, rule, session }.against(finding.code))
}

/// What a rule looked at, and what it came to, in a line: also for a rule that is content.
pub fn check(check: &Check, rule: &Rule, session: &Session) -> Sentence {
    let fact =
        Fact { checked: check.checked.as_ref(), found: &check.found, detail: &check.detail, rule, session };
    Sentence::new(match check.code {
        Some(code) => fact.against(code),
        None => fact.in_favour(),
    })
}

/// What would change a finding, in a line; nothing where there is no way.
pub fn way_out(finding: &Finding, rule: &Rule) -> Option<Sentence> {
    way(finding, rule).map(Sentence::new)
}

fn way(finding: &Finding, rule: &Rule) -> Option<String> {
    let detail = &finding.detail;
    Some(match (finding.code, detail) {
        (code, Detail::Dispatch(dispatch)) => return sequence_policies::way_out(code, dispatch),
        (_, Detail::Missing(tools)) => tool_policies::way_out_for_missing(tools),
        (_, Detail::Fault(_)) => fault::WAY_OUT.to_owned(),
        (_, Detail::File(file)) => tool_policies::way_out_for_file(file, finding.checked.as_ref()),
        (code::PLAN_MATCHED, Detail::Plan(made)) => plan::way_out(made),
        (code, Detail::Order { rule, count }) => order::suggestion(code, rule, *count)?,
        (code, _) => return contracts::way_out(code, finding, rule),
    })
}

/// What was checked in the call: `$.order_id is "ORD-124"`.
pub fn checked(checked: &Checked) -> Sentence {
    Sentence::new(match &checked.value {
        Some(found) => format!("{} is {}", held(&checked.path), value(found)),
        None => format!("{} has not exactly one value", held(&checked.path)),
    })
}

/// An earlier call that a finding rests on: `turn 1: check_eligibility, "ORD-123"`.
pub fn found(found: &Found, session: &Session) -> Sentence {
    let mut line = format!("{}: {}", at(found.call, session), tool_of(found.call, session));
    if let Some(found) = &found.value {
        line.push_str(", ");
        line.push_str(&value(found));
    }
    Sentence::new(line)
}

/// The calls of a session by tool, so that those before a call are found without passing by all the others.
pub struct ByTool<'a> {
    calls: HashMap<&'a str, Vec<&'a Call>>,
    ran: OnceCell<Vec<CallRef>>,
}

impl<'a> ByTool<'a> {
    /// Of this session.
    pub fn of(session: &'a Session) -> ByTool<'a> {
        let mut calls: HashMap<&str, Vec<&Call>> = HashMap::new();
        for call in &session.calls {
            calls.entry(&call.tool).or_default().push(call);
        }
        ByTool { calls, ran: OnceCell::new() }
    }

    /// The calls that ran, in order; found out when they are first asked for.
    pub fn ran(&self, replay: &Replay) -> &[CallRef] {
        self.ran.get_or_init(|| order::trace(replay))
    }

    /// The calls of a tool before a call, the newest first.
    fn before(&self, tool: &str, call: CallRef) -> impl Iterator<Item = &'a Call> {
        let calls = self.calls.get(tool).map(Vec::as_slice).unwrap_or_default();
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
) -> Vec<Sentence> {
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
        Sentence::new(format!("{}: {}, {why}", at(other.at, session), held(&other.tool)))
    });
    attempts.collect()
}

/// What a rule knows beyond its code, a line each: conditions on results, completed turns, which call decides.
pub fn details(detail: &Detail) -> Vec<Sentence> {
    let lines = match detail {
        Detail::None => Vec::new(),
        Detail::Fault(fault) => vec![fault::against(fault)],
        Detail::Plan(made) => plan::tree(made),
        Detail::Steps { completed, wanted } => vec![contracts::completed(*completed, wanted)],
        Detail::Prior(prior) => contracts::details(prior),
        Detail::Dispatch(dispatch) => sequence_policies::details(dispatch),
        Detail::Missing(tools) => vec![tool_policies::missing(tools)],
        Detail::File(file) => tool_policies::details(file),
        Detail::Order { rule, .. } => vec![order::expected(rule)],
    };
    lines.into_iter().map(Sentence::new).collect()
}

/// Something that stands at a moment, in a line.
pub fn state(item: &StateItem, rules: &Rules, session: &Session) -> Sentence {
    Sentence::new(match item {
        StateItem::Forbidden { tool, since, .. } => format!(
            "{} is forbidden since {} ran in {}",
            held(tool),
            tool_of(*since, session),
            at(*since, session)
        ),
        StateItem::Precondition { rule, tool, satisfied, code, by, detail } => {
            let stands = contracts::state(detail, *satisfied, *code, by, session);
            let otherwise = || match code {
                Some(code) => title(*code),
                None => rules.get(*rule).map_or("holds", |rule| rule.kind),
            };
            format!("{}: {}", held(tool), stands.unwrap_or_else(|| otherwise().to_owned()))
        }
        StateItem::Limit { tool, used, allowed, .. } => sequence_policies::limit(tool, *used, *allowed),
        StateItem::Recorded { recorded, files, listed, .. } => {
            tool_policies::recorded(recorded, files, *listed)
        }
        StateItem::Deadline { tool, since, left, open, .. } => {
            order::deadline(tool, *since, *left, *open, session)
        }
        StateItem::Step { done, of, next, .. } => order::step(*done, *of, next.as_deref()),
        StateItem::Fault { fault, .. } => fault::against(fault),
    })
}

/// Why a tool is hidden, in a few words.
pub fn reason(reason: &Reason, rules: &Rules) -> String {
    let why = reason.fault.as_deref().map_or_else(|| title(reason.code).to_owned(), fault::against);
    match rules.get(reason.rule) {
        Some(rule) => format!("{why}: {} ({})", rule_name(rule), place(rule)),
        None => why,
    }
}

/// What a code is called.
fn title(code: Code) -> &'static str {
    code.page().map_or(code.as_str(), |page| page.title)
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
    format!("{}:{}", line(rule.source.name()), rule.source.position(rule.span.start).line)
}

/// The rule's own lines with their numbers, a few; and whether there are more.
pub fn lines(rule: &Rule) -> (Vec<(u32, String)>, bool) {
    first_lines(rule, LINES)
}

/// As [`lines`], as many as are asked for.
pub fn first_lines(rule: &Rule, most: u32) -> (Vec<(u32, String)>, bool) {
    let first = rule.source.position(rule.span.start).line;
    let last = rule.source.position(rule.span.end.saturating_sub(1).max(rule.span.start)).line;
    let shown = first..=last.min(first.saturating_add(most.saturating_sub(1)));
    let text = |number| rule.source.line(number).map(line).unwrap_or_default();
    (shown.map(|number| (number, text(number))).collect(), last >= first.saturating_add(most))
}

/// Where a call of a choice that was not taken stands: the call where the choice has several.
pub fn at_choice(other: &NotTaken<'_>) -> String {
    let AlternativeRef { turn, choice, call } = other.at();
    match other.alternative.calls().len() {
        0 | 1 => format!("turn {turn} choice {choice}"),
        _ => format!("turn {turn} choice {choice} call {call}"),
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
            (_, Detail::Fault(fault)) => fault::against(fault),
            (_, Detail::Dispatch(dispatch)) => {
                sequence_policies::against(dispatch, self.found, self.rule.tool.as_deref(), self.session)
            }
            (_, Detail::Missing(tools)) => tool_policies::missing(tools) + self.middle(),
            (_, Detail::File(file)) => tool_policies::file(file, self.checked, self.found, self.session),
            (code::PLAN_MATCHED, Detail::Plan(made)) => plan::against(made),
            (code, Detail::Order { rule, count }) => {
                order::against(code, rule, *count, self.found, self.session)
            }
            (code, _) => contracts::against(code, self).unwrap_or_else(|| title(code).to_owned()),
        }
    }

    fn in_favour(&self) -> String {
        match self.detail {
            Detail::None => "holds".to_owned(),
            Detail::Fault(fault) => fault::against(fault),
            Detail::Plan(made) => plan::in_favour(made),
            Detail::Steps { completed, wanted } => contracts::steps(*completed, wanted),
            Detail::Prior(prior) => contracts::in_favour(prior, self),
            Detail::Dispatch(dispatch) => sequence_policies::in_favour(dispatch),
            Detail::Missing(tools) => tool_policies::missing(tools),
            Detail::File(file) => tool_policies::file(file, self.checked, self.found, self.session),
            Detail::Order { rule, count } => order::in_favour(rule, *count),
        }
    }

    /// Absence proves little in a recording that begins after its session did.
    fn middle(&self) -> &'static str {
        if self.session.facts.from_the_middle { " (the recording starts in the middle)" } else { "" }
    }
}
