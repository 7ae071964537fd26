//! Sentences about the order of calls: what a rule expects, what happened instead, what would mend it.

use std::sync::Arc;

use super::{Sentence, at, count, fault, list, thousands, tool_of};
use crate::diagnostic::Code;
use crate::diagnostic::code;
use crate::engine::{Mode, Verdict};
use crate::monitor::finding::RuleState;
use crate::monitor::order::{Named, Order};
use crate::monitor::{Detail, Finding, Found};
use crate::replay::Replay;
use crate::session::{CallRef, Outcome, Session};
use crate::wording::sentence::name;

/// What a violated rule has to say, a line each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// What the rule expects.
    pub expected: String,
    /// What happened instead. Calls are counted from 1 among those that ran.
    pub actual: String,
    /// What would mend it.
    pub suggestion: Option<String>,
}

/// What there is to say of a rule about the session that is violated; nothing of another.
pub fn violation(state: &RuleState, replay: &Replay) -> Option<Violation> {
    if let Detail::Fault(fault) = &state.detail {
        return Some(Violation {
            expected: fault::EXPECTED.to_owned(),
            actual: fault::against(fault),
            suggestion: Some(fault::WAY_OUT.to_owned()),
        });
    }
    let (code, Detail::Order { rule, count }) = (state.code?, &state.detail) else { return None };
    Some(Violation {
        expected: shown(expected(rule)),
        actual: shown(Actual { code, rule, count: *count, state, replay }.sentence()),
        suggestion: suggestion(code, rule, *count).map(shown),
    })
}

/// What a rule about the order of calls has to say of a call; nothing of another rule.
pub fn of_finding(finding: &Finding, session: &Session) -> Option<Violation> {
    let Detail::Order { rule, count } = &finding.detail else { return None };
    Some(Violation {
        expected: shown(expected(rule)),
        actual: shown(against(finding.code, rule, *count, &finding.found, session)),
        suggestion: suggestion(finding.code, rule, *count).map(shown),
    })
}

/// What a rule about the session expects, whatever came of it.
pub fn expectation(state: &RuleState) -> Option<String> {
    match &state.detail {
        Detail::Order { rule, .. } => Some(shown(expected(rule))),
        _ => None,
    }
}

/// What would satisfy a violated rule about the session.
pub fn suggested(state: &RuleState) -> Option<String> {
    match &state.detail {
        Detail::Order { rule, count } => suggestion(state.code?, rule, *count).map(shown),
        _ => None,
    }
}

fn shown(sentence: String) -> String {
    Sentence::new(sentence).to_string()
}

/// The calls that ran, in order: what the rules about the session look at.
pub fn trace(replay: &Replay) -> Vec<CallRef> {
    let calls = replay.session().calls.iter().zip(replay.calls());
    let ran = calls.filter(|(call, judged)| {
        let allowed = replay.mode() == Mode::Shadow || judged.decision.verdict == Verdict::Allow;
        allowed && call.outcome != Outcome::Refused
    });
    ran.map(|(call, _)| call.at).collect()
}

/// What a rule expects, in a line.
pub(super) fn expected(order: &Order) -> String {
    match order {
        Order::Require { tool } => format!("{} succeeds at least once", operand(tool)),
        Order::Before { first, then } => format!("{} before {}", operand(first), any(then)),
        Order::ImmediatelyBefore { first, then } => {
            format!("{} directly before every {}", operand(first), any(then))
        }
        Order::Blocklist { pattern, tools } => match pattern {
            Some(pattern) if tools.is_empty() => format!("no tool with `{}` in its name", name(pattern)),
            Some(pattern) => {
                format!("no tool with `{}` in its name, and no call of {}", name(pattern), names_or(tools))
            }
            None => format!("no call of {}", names_or(tools)),
        },
        Order::Allowlist { tools } if tools.is_empty() => "no call at all".to_owned(),
        Order::Allowlist { tools } => format!("only {}", names(tools)),
        Order::MaxCalls { tool, max: 0 } => format!("no call of {}", operand(tool)),
        Order::MaxCalls { tool, max } => format!("at most {} of {}", count(*max, "call"), operand(tool)),
        Order::Eventually { tool, within } => {
            format!("{} succeeds {}", operand(tool), among(*within))
        }
        Order::NeverAfter { trigger, forbidden } => {
            format!("no {} after {}", operand(forbidden), operand(trigger))
        }
        Order::After { trigger, then, within } => {
            format!("{} within {} after every {}", operand(then), count(*within, "call"), operand(trigger))
        }
        Order::Sequence { tools, strict } => {
            let steps: Vec<String> = tools.iter().map(operand).collect();
            let strictly = if *strict { ", with nothing between them" } else { "" };
            format!("{} in this order{strictly}", steps.join(", "))
        }
        Order::Exact { tools } if tools.is_empty() => "no call at all".to_owned(),
        Order::Exact { tools } => format!("exactly the calls {}", names(tools)),
    }
}

/// What a rule that allows a call looked at, in a line.
pub(super) fn in_favour(order: &Order, done: u64) -> String {
    let expected = expected(order);
    match order {
        Order::MaxCalls { .. } => format!("{expected}, {} before", thousands(done)),
        Order::Sequence { .. } | Order::Exact { .. } => {
            format!("{expected}: {done} of {} done", count(steps(order) as u64, "step"))
        }
        _ => expected,
    }
}

/// What would mend it, in a line.
pub(super) fn suggestion(code: Code, order: &Order, done: u64) -> Option<String> {
    Some(match (code, order) {
        (code::REQUIRED_MISSING, Order::Require { tool }) => {
            format!("add a call of {} that succeeds", operand(tool))
        }
        (code::BEFORE_MISSING | code::BEFORE_LATE, Order::Before { first, then }) => {
            format!("call {}, with success, before {}", operand(first), any(then))
        }
        (code::NOT_ADJACENT, Order::ImmediatelyBefore { first, then }) => {
            format!("call {}, with success, directly before {}", operand(first), any(then))
        }
        (code::BLOCKLISTED, _) => "leave the call out, or take the name off the list".to_owned(),
        (code::NOT_ALLOWLISTED, _) => "leave the call out, or put the name on the list".to_owned(),
        (code::MAX_CALLS_OVER, _) => "leave the call out, or raise `max`".to_owned(),
        (code::DEADLINE_MISSED, Order::Eventually { tool, within }) => {
            format!("call {}, with success, {}", operand(tool), among(*within))
        }
        (code::AFTER_TRIGGER, Order::NeverAfter { trigger, forbidden }) => {
            format!("call {} before {}, or not at all", operand(forbidden), operand(trigger))
        }
        (code::FOLLOW_UP_MISSING, Order::After { then, trigger, .. }) => {
            format!("call {}, with success, soon after every {}", operand(then), operand(trigger))
        }
        (code::SEQUENCE_INTERRUPTED, Order::Sequence { tools, .. }) => {
            let (first, last) = (tools.first()?, tools.last()?);
            format!("make the call before {} or after {}", operand(first), operand(last))
        }
        (code::SEQUENCE_OUT_OF_ORDER | code::SEQUENCE_CUT_SHORT, Order::Sequence { .. }) => {
            format!("call {} next, with success", next(order, done)?)
        }
        (code::SEQUENCE_NOT_EXACT, Order::Exact { .. }) => match next(order, done) {
            Some(next) => format!("call {next} here, or change the list"),
            None => "leave the call out, or add it to the list".to_owned(),
        },
        (code::SEQUENCE_CUT_SHORT, Order::Exact { .. }) => {
            format!("call {} next, with success", next(order, done)?)
        }
        _ => return None,
    })
}

/// What speaks against a call, in a line.
pub(super) fn against(code: Code, order: &Order, done: u64, found: &[Found], session: &Session) -> String {
    let earlier = || found.first().map(|found| found.call);
    let ran_in = |call: CallRef| format!("{} ran in {}", tool_of(call, session), at(call, session));
    match (code, order) {
        (code::BEFORE_MISSING, Order::Before { first, .. }) => match earlier() {
            Some(call) => format!("{} is not known to have succeeded: {}", operand(first), ran_in(call)),
            None => format!("{} has not succeeded yet", operand(first)),
        },
        (code::NOT_ADJACENT, Order::ImmediatelyBefore { first, .. }) => match earlier() {
            Some(call) => format!("not directly behind a successful {}: {}", operand(first), ran_in(call)),
            None => format!("not directly behind a successful {}: it is the first call", operand(first)),
        },
        (code::BLOCKLISTED, Order::Blocklist { .. }) => format!("the rule wants {}", expected(order)),
        (code::NOT_ALLOWLISTED, Order::Allowlist { .. }) => format!("the rule allows {}", expected(order)),
        (code::MAX_CALLS_OVER, Order::MaxCalls { tool, max }) => {
            format!("{} ran {} of {max} times", operand(tool), done)
        }
        (code::DEADLINE_MISSED, Order::Eventually { tool, within }) => {
            format!("{} has not succeeded {}", operand(tool), among(*within))
        }
        (code::AFTER_TRIGGER, _) => match earlier() {
            Some(call) => format!("forbidden since {}", ran_in(call)),
            None => expected(order),
        },
        (code::FOLLOW_UP_MISSING, Order::After { trigger, then, within }) => {
            let after = earlier().map_or_else(
                || operand(trigger),
                |call| format!("{} in {}", tool_of(call, session), at(call, session)),
            );
            format!("no successful {} within {} after {after}", operand(then), count(*within, "call"))
        }
        (code::SEQUENCE_INTERRUPTED | code::SEQUENCE_OUT_OF_ORDER, Order::Sequence { tools, .. }) => {
            let next = next(order, done).unwrap_or_default();
            format!("{next} is the next of {}, {done} done", count(tools.len() as u64, "step"))
        }
        (code::SEQUENCE_NOT_EXACT, Order::Exact { tools }) => {
            let of = tools.len();
            let failed = earlier().filter(|call| {
                let outcome = session.calls.get(call.index as usize).map(|call| call.outcome);
                outcome.is_some_and(|outcome| outcome != Outcome::Ok)
            });
            if let Some(failed) = failed {
                return format!("{}, and is not known to have succeeded", ran_in(failed));
            }
            match next(order, done) {
                Some(next) => format!("{next} is call {} of the {of} in the list", done + 1),
                None if of == 0 => "the list has no calls".to_owned(),
                None => format!("the list ends after {}", count(of as u64, "call")),
            }
        }
        _ => code.page().map_or(code.as_str(), |page| page.title).to_owned(),
    }
}

/// A deadline on the way, in a line.
pub(super) fn deadline(
    tool: &str,
    since: Option<CallRef>,
    left: u64,
    open: u64,
    session: &Session,
) -> String {
    let since = since.map_or_else(String::new, |call| {
        format!(" after {} in {}", tool_of(call, session), at(call, session))
    });
    let others = if open > 1 { format!(", {} open", count(open, "window")) } else { String::new() };
    format!("{} is due{since}: {} left{others}", name(tool), count(left, "call"))
}

/// A sequence on the way, in a line.
pub(super) fn step(done: u64, of: u64, next: Option<&str>) -> String {
    let next = next.map_or_else(String::new, |next| format!(", then {}", name(next)));
    format!("sequence: {done} of {}{next}", count(of, "step"))
}

/// What happened instead of what a rule expects.
struct Actual<'a> {
    code: Code,
    rule: &'a Order,
    count: u64,
    state: &'a RuleState,
    replay: &'a Replay,
}

impl Actual<'_> {
    fn sentence(&self) -> String {
        let fault = self.state.position.map(|index| self.call(index)).unwrap_or_default();
        match (self.code, self.rule) {
            (code::REQUIRED_MISSING, Order::Require { tool }) => format!("{} never succeeded", operand(tool)),
            (code::BEFORE_MISSING, Order::Before { first, .. }) => {
                format!("{fault}, but {} never succeeded", operand(first))
            }
            (code::BEFORE_LATE, Order::Before { first, .. }) => match self.state.calls.first() {
                Some(late) => {
                    format!("{fault}, but {} not before place {}", operand(first), self.place(*late))
                }
                None => fault,
            },
            (code::NOT_ADJACENT, _) => match self.state.calls.as_slice() {
                [before, _] => format!("{fault}, directly behind {}", self.call(*before)),
                _ => format!("{fault}, before anything else"),
            },
            (code::MAX_CALLS_OVER, _) => {
                format!("{}, the one too many is {fault}", count(self.count, "call"))
            }
            (code::DEADLINE_MISSED, Order::Eventually { tool, .. }) if self.state.position.is_none() => {
                format!("{} never succeeded in {}", operand(tool), count(self.count, "call"))
            }
            (code::DEADLINE_MISSED, _) => format!("{fault} came too late"),
            (code::AFTER_TRIGGER, _) => match self.state.calls.first() {
                Some(trigger) => format!("{fault}, after {}", self.call(*trigger)),
                None => fault,
            },
            (code::FOLLOW_UP_MISSING, Order::After { then, .. }) => {
                let open = if self.count > 1 {
                    format!(", and {} more without", self.count - 1)
                } else {
                    String::new()
                };
                format!("{fault} has no successful {} in time{open}", operand(then))
            }
            (code::SEQUENCE_INTERRUPTED | code::SEQUENCE_OUT_OF_ORDER, _) => {
                let next = next(self.rule, self.count).unwrap_or_default();
                format!("{fault}, where {next} was next")
            }
            (code::SEQUENCE_NOT_EXACT, _) => match next(self.rule, self.count) {
                Some(next) => format!("{fault}, where {next} was next"),
                None => format!("{fault}, after the last call of the list"),
            },
            (code::SEQUENCE_CUT_SHORT, _) => {
                let of = steps(self.rule);
                let next = next(self.rule, self.count).unwrap_or_default();
                format!("ended after {} of {}, {next} was next", self.count, count(of as u64, "step"))
            }
            _ => fault,
        }
    }

    /// `DeleteCustomer at place 2`.
    fn call(&self, index: u32) -> String {
        let session = self.replay.session();
        let tool = session.calls.get(index as usize).map(|call| tool_of(call.at, session));
        format!("{} at place {}", tool.unwrap_or("a call".into()), self.place(index))
    }

    /// Place in the trace, from 1.
    fn place(&self, index: u32) -> usize {
        trace(self.replay).iter().take_while(|call| call.index <= index).count()
    }
}

/// The step that comes next.
fn next(order: &Order, done: u64) -> Option<String> {
    let done = usize::try_from(done).ok()?;
    match order {
        Order::Sequence { tools, .. } => tools.get(done).map(operand),
        Order::Exact { tools } => tools.get(done).map(|tool| name(tool).into_owned()),
        _ => None,
    }
}

/// How many steps a rule has.
fn steps(order: &Order) -> usize {
    match order {
        Order::Sequence { tools, .. } => tools.len(),
        Order::Exact { tools } => tools.len(),
        _ => 0,
    }
}

/// How soon a call must come.
fn among(within: u64) -> String {
    match within {
        0 => "before the first call".to_owned(),
        1 => "as the first call".to_owned(),
        many => format!("among the first {}", count(many, "call")),
    }
}

/// A tool, and what its arguments must match.
fn operand(named: &Named) -> String {
    let tool = name(&named.tool).into_owned();
    if named.args_match.is_empty() {
        return tool;
    }
    let arguments =
        named.args_match.iter().map(|(argument, pattern)| format!("{} ~ {}", name(argument), name(pattern)));
    format!("{tool} ({})", arguments.collect::<Vec<_>>().join(", "))
}

/// `a`, `a or b`, `a, b or c`.
fn either(mut words: Vec<String>) -> String {
    match words.pop() {
        Some(last) if words.is_empty() => last,
        Some(last) => format!("{} or {last}", words.join(", ")),
        None => "any tool".to_owned(),
    }
}

fn any(operands: &[Named]) -> String {
    either(operands.iter().map(operand).collect())
}

fn names_or(names: &[Arc<str>]) -> String {
    either(names.iter().map(|tool| name(tool).into_owned()).collect())
}

fn names(names: &[Arc<str>]) -> String {
    list(names.iter().map(|tool| name(tool).into_owned()))
}
