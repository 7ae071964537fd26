//! The sentences of order rules: what is expected, the evidence for and against a call, what happened instead.

use std::sync::Arc;

use crate::dialect::sequence_rules::asks::{self, Part, conditions, label};
use crate::dialect::sequence_rules::codes;
use crate::dialect::sequence_rules::facts::{Order, OrderOutcome, ToolName};
use crate::monitor::About;
use rulestep_base::diagnostic::Code;
use rulestep_base::session::{CallRef, Outcome, Session};
use rulestep_base::wording::sentence::{self, name};
use rulestep_base::wording::{at, count, line, list, thousands, tool_of};

/// Number of an alias's tools that are named.
const MEMBERS: usize = 4;

/// The expectation of a rule, in a line.
pub(super) fn expected(order: &Order) -> String {
    match order {
        Order::Require { tool } => format!("{} succeeds at least once", operand(tool)),
        Order::Before { first, or, then, same } => {
            let same = match same.first() {
                Some(one) if **one == *"file" => " of the same file".to_owned(),
                Some(_) => {
                    format!(" with the same {}", list(same.iter().map(|path| name(path).into_owned())))
                }
                None => String::new(),
            };
            format!("{} before {}{same}", firsts(first, or), any(then))
        }
        Order::Never { call } => absence(call),
        Order::ImmediatelyBefore { first, then } => {
            format!("{} directly before every {}", operand(first), any(then))
        }
        Order::Blocklist { pattern, tools } => match pattern {
            Some(pattern) if tools.is_empty() => format!("no tool with `{}` in its name", name(pattern)),
            Some(pattern) => {
                format!("no tool with `{}` in its name, and no call to {}", name(pattern), names_or(tools))
            }
            None => format!("no call to {}", names_or(tools)),
        },
        Order::Allowlist { tools, calls } if tools.is_empty() && calls.is_empty() => {
            "no call at all".to_owned()
        }
        Order::Allowlist { tools, calls } => {
            let tools = tools.iter().map(|tool| name(tool).into_owned());
            format!("only {}", list(tools.chain(calls.iter().map(operand))))
        }
        Order::MaxCalls { tool, max: 0 } if tool.tool.is_empty() => absence(tool),
        Order::MaxCalls { tool, max: 0 } => format!("no call to {}", operand(tool)),
        Order::MaxCalls { tool, max } if tool.tool.is_empty() => {
            format!("{} in at most {}", operand(tool), count(*max, "call"))
        }
        Order::MaxCalls { tool, max } => format!("at most {} to {}", count(*max, "call"), operand(tool)),
        Order::Eventually { tool, within } => {
            format!("{} succeeds {}", operand(tool), among(*within))
        }
        Order::NeverAfter { trigger, forbidden, until } => {
            let until = until.as_ref().map(|until| format!(" until {}", operand(until))).unwrap_or_default();
            format!("{} after {}{until}", absence(forbidden), operand(trigger))
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

/// The evidence of a rule that allows a call, in a line.
pub(super) fn in_favour(order: &Order, done: u64) -> String {
    let expected = expected(order);
    match order {
        Order::MaxCalls { .. } => format!("{expected}, {} so far", thousands(done)),
        Order::Sequence { .. } | Order::Exact { .. } => {
            format!("{expected}: {done} of {} done", count(steps(order) as u64, "step"))
        }
        _ => expected,
    }
}

/// What would satisfy it, in a line.
pub(super) fn suggestion(code: Code, order: &Order, done: u64) -> Option<String> {
    Some(match (code, order) {
        (codes::REQUIRED_MISSING, Order::Require { tool }) => {
            format!("{} successfully", orders([tool]))
        }
        (codes::BEFORE_MISSING | codes::BEFORE_LATE, Order::Before { first, or, then, .. }) => {
            format!(
                "{} successfully before {}",
                orders([first].into_iter().chain(or)),
                either(then.iter().flat_map(callable).collect())
            )
        }
        (codes::NOT_ADJACENT, Order::ImmediatelyBefore { first, then }) => {
            format!(
                "{} successfully, directly before {}",
                orders([first]),
                either(then.iter().flat_map(callable).collect())
            )
        }
        (codes::FORBIDDEN_CALL | codes::SELF_GUARD, Order::Never { call }) => without(call, None),
        (codes::UNSEEN_SESSION, _) => "read the recordings of the whole tree".to_owned(),
        (codes::SWEEP, _) => {
            "search a folder without such files, leave them out, or set `sweeps: allow`".to_owned()
        }
        (codes::OPAQUE_COMMAND, _) => "write the commands out, or set `opaque: allow`".to_owned(),
        (codes::BLOCKLISTED, _) => "skip the call, or remove the name from the list".to_owned(),
        (codes::NOT_ALLOWLISTED, Order::Allowlist { calls, .. }) if !calls.is_empty() => {
            "leave out what is not on the list, or add it there".to_owned()
        }
        (codes::NOT_ALLOWLISTED, _) => "skip the call, or add the name to the list".to_owned(),
        (codes::MAX_CALLS_OVER, _) => "skip the call, or raise `max`".to_owned(),
        (codes::DEADLINE_MISSED, Order::Eventually { tool, within }) => {
            format!("{} successfully {}", orders([tool]), among(*within))
        }
        (codes::AFTER_TRIGGER, Order::NeverAfter { until: Some(until), .. }) => {
            format!("{} successfully; the call is allowed after it", orders([until]))
        }
        (codes::AFTER_TRIGGER, Order::NeverAfter { trigger, forbidden, .. }) => {
            format!("{} before {}, or not at all", orders([forbidden]), either(callable(trigger)))
        }
        (codes::FOLLOW_UP_MISSING, Order::After { then, trigger, within }) => {
            let within = count(*within, "call");
            format!(
                "{} successfully within {within} after every {}",
                orders([then]),
                either(callable(trigger))
            )
        }
        (codes::SEQUENCE_INTERRUPTED, Order::Sequence { tools, .. }) => {
            let (first, last) = (tools.first()?, tools.last()?);
            format!("make the call before {} or after {}", either(callable(first)), either(callable(last)))
        }
        (codes::SEQUENCE_OUT_OF_ORDER | codes::SEQUENCE_CUT_SHORT, Order::Sequence { tools, .. }) => {
            format!("{} next, successfully", orders([tools.get(usize::try_from(done).ok()?)?]))
        }
        (codes::SEQUENCE_NOT_EXACT, Order::Exact { .. }) => match next(order, done) {
            Some(next) => format!("call {next} here, or change the list"),
            None => "skip the call, or add it to the list".to_owned(),
        },
        (codes::SEQUENCE_CUT_SHORT, Order::Exact { .. }) => {
            format!("call {} next, successfully", next(order, done)?)
        }
        _ => return None,
    })
}

/// The alternative to a call that a rule never allows: if the rule forbids only a part of a command line, or only some
/// calls of a tool, the rest is possible. No earlier call lifts such a ban.
pub(super) fn without(call: &ToolName, part: Option<&Part>) -> String {
    let command = part.map(|part| &part.command).filter(|command| !command.is_empty());
    if let Some(Part { sweep: Some(folder), .. }) = part {
        return format!("search less than `{}`, or leave out such files", name(folder));
    }
    let unknown = part.and_then(|part| part.unknown.as_deref());
    match (command, unknown) {
        (Some(command), Some(word)) => {
            format!(
                "write `{}` out, so that what is done is known, or leave `{}` out",
                name(word),
                name(command)
            )
        }
        (Some(command), None) => format!("leave `{}` out; no earlier call allows it", name(command)),
        (None, _) if !call.args_match.is_empty() => {
            "skip the call, or give it other arguments; no earlier call allows these".to_owned()
        }
        (None, _) => "skip the call; no earlier call allows it".to_owned(),
    }
}

/// Why a call is stopped or reported, in a line.
pub(super) fn against(code: Code, order: &Order, done: u64, about: &About<'_>) -> String {
    let (earlier, session) = (|| about.earlier(), about.session);
    let ran_in = |call: CallRef| format!("{} ran in {}", tool_of(call, session), at(call, session));
    match (code, order) {
        (codes::BEFORE_MISSING, Order::Before { first, or, same, .. }) => match earlier() {
            _ if !same.is_empty() => format!("{} is not known to have succeeded", expected(order)),
            Some(call) => format!("{} is not known to have succeeded; {}", firsts(first, or), ran_in(call)),
            None => format!("{} has not succeeded yet{}", firsts(first, or), unread(about)),
        },
        (codes::UNSEEN_SESSION, Order::NeverAfter { trigger, .. }) => {
            let why = about.session.facts.tree.missing().unwrap_or("the call is not recorded whole");
            format!("{} may have happened before: {}", operand(trigger), line(why))
        }
        (codes::FORBIDDEN_CALL | codes::SELF_GUARD, _) => format!("the rule allows {}", expected(order)),
        (codes::NOT_ADJACENT, Order::ImmediatelyBefore { first, .. }) => match earlier() {
            Some(call) => {
                let (before, place) = (tool_of(call, session), at(call, session));
                format!(
                    "the call directly before is {before} in {place}, not a successful {}",
                    operand(first)
                )
            }
            None => format!("it is the first call, and {} must succeed directly before it", operand(first)),
        },
        (codes::BLOCKLISTED, Order::Blocklist { .. }) => format!("the rule allows {}", expected(order)),
        (codes::NOT_ALLOWLISTED, Order::Allowlist { .. }) => format!("the rule allows {}", expected(order)),
        (codes::MAX_CALLS_OVER, Order::MaxCalls { tool, max }) => {
            let done = match done {
                1 => "once".to_owned(),
                many => format!("{} times", thousands(many)),
            };
            format!("{} already ran {done}, and the limit is {}", operand(tool), count(*max, "call"))
        }
        (codes::DEADLINE_MISSED, Order::Eventually { tool, within }) => {
            format!("{} has not succeeded {}", operand(tool), among(*within))
        }
        (codes::AFTER_TRIGGER, _) => match earlier() {
            Some(call) => format!("forbidden since {}", ran_in(call)),
            None => expected(order),
        },
        (codes::FOLLOW_UP_MISSING, Order::After { trigger, then, within }) => {
            let after = earlier().map_or_else(
                || operand(trigger),
                |call| format!("{} in {}", tool_of(call, session), at(call, session)),
            );
            format!("no successful {} within {} after {after}", operand(then), count(*within, "call"))
        }
        (codes::SEQUENCE_INTERRUPTED | codes::SEQUENCE_OUT_OF_ORDER, Order::Sequence { tools, .. }) => {
            let next = next(order, done).unwrap_or_default();
            format!("the next step is {next} ({done} of {} done)", tools.len())
        }
        (codes::SEQUENCE_NOT_EXACT, Order::Exact { tools }) => {
            let of = tools.len();
            let failed = earlier().filter(|call| {
                let outcome = session.calls.get(call.index as usize).map(|call| call.outcome);
                outcome.is_some_and(|outcome| outcome != Outcome::Ok)
            });
            if let Some(failed) = failed {
                return format!("{}, but is not known to have succeeded", ran_in(failed));
            }
            match next(order, done) {
                Some(next) => format!("call {} of {of} in the list is {next}", done + 1),
                None if of == 0 => "the list has no calls".to_owned(),
                None => format!("the list ends after {}", count(of as u64, "call")),
            }
        }
        _ => code.title().to_owned(),
    }
}

/// What happened instead of the expectation.
pub(super) struct Actual<'a> {
    pub code: Code,
    pub rule: &'a Order,
    pub count: u64,
    pub state: &'a OrderOutcome,
    pub session: &'a Session,
}

impl Actual<'_> {
    pub fn sentence(&self) -> String {
        let fault = self.state.position.map(|index| self.call(index)).unwrap_or_default();
        match (self.code, self.rule) {
            (codes::REQUIRED_MISSING, Order::Require { tool }) => {
                format!("{} never succeeded", operand(tool))
            }
            (codes::BEFORE_MISSING, Order::Before { first, .. }) => {
                format!("{fault} ran, but {} never succeeded", operand(first))
            }
            (codes::BEFORE_LATE, _) => match self.state.calls.first() {
                Some(late) => {
                    format!("{fault} ran before {}", self.call(*late))
                }
                None => fault,
            },
            (codes::NOT_ADJACENT, _) => match self.state.calls.as_slice() {
                [before, _] => format!("{fault} ran directly after {}", self.call(*before)),
                _ => format!("{fault} ran before any other call"),
            },
            (codes::MAX_CALLS_OVER, _) => {
                format!("{} ran, and {fault} is over the limit", count(self.count, "call"))
            }
            (codes::DEADLINE_MISSED, Order::Eventually { tool, .. }) if self.state.position.is_none() => {
                format!("{} never succeeded in {}", operand(tool), count(self.count, "call"))
            }
            (codes::DEADLINE_MISSED, _) => format!("{fault} came too late"),
            (codes::AFTER_TRIGGER, _) => match self.state.calls.first() {
                Some(trigger) => format!("{fault} ran after {}", self.call(*trigger)),
                None => fault,
            },
            (codes::FOLLOW_UP_MISSING, Order::After { then, .. }) => {
                let others = match self.count {
                    0 | 1 => " has".to_owned(),
                    open => format!(" and {} have", count(open - 1, "other call")),
                };
                format!("{fault}{others} no successful {} in time", operand(then))
            }
            (codes::SEQUENCE_INTERRUPTED | codes::SEQUENCE_OUT_OF_ORDER, _) => {
                let next = next(self.rule, self.count).unwrap_or_default();
                format!("{fault} ran where {next} was next")
            }
            (codes::SEQUENCE_NOT_EXACT, _) => match next(self.rule, self.count) {
                Some(next) => format!("{fault} ran where {next} was next"),
                None => format!("{fault} ran after the last call of the list"),
            },
            (codes::SEQUENCE_CUT_SHORT, _) => {
                let of = steps(self.rule);
                let next = next(self.rule, self.count).unwrap_or_default();
                format!("ended after {} of {}, before {next}", self.count, count(of as u64, "step"))
            }
            _ => format!("{fault} ran"),
        }
    }

    /// `DeleteCustomer in turn 2`.
    fn call(&self, index: u32) -> String {
        let at_index = CallRef { turn: 0, call: 0, index };
        let own = self.session.calls.get(index as usize).map(|call| call.at);
        let call = own.or(Some(at_index).filter(|call| call.elsewhere().is_some()));
        let named = |call| format!("{} in {}", tool_of(call, self.session), at(call, self.session));
        call.map_or_else(|| "a call".to_owned(), named)
    }
}

/// The clause that a session of the tree was not read, if the rule looks at all of them.
fn unread(about: &About<'_>) -> String {
    let gap = || about.session.facts.tree.missing();
    let why = about.rule.options.tree.then(gap).flatten();
    why.map_or_else(String::new, |why| format!(" ({})", line(why)))
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

/// The number of steps of a rule.
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

/// An operand in a few words: a tool, or what a call does.
pub(in crate::dialect) fn title(named: &ToolName) -> String {
    match &named.does {
        Some(question) if named.tool.is_empty() => asks::title(question),
        _ => named.tool.to_string(),
    }
}

/// A tool, and what its arguments must match.
pub(in crate::dialect) fn operand(named: &ToolName) -> String {
    let tool = match &named.does {
        Some(question) if named.tool.is_empty() => label(question),
        _ => name(&named.tool).into_owned(),
    };
    let arguments = named
        .args_match
        .iter()
        .map(|(argument, pattern)| format!("{} ~ {}", name(argument), sentence::pattern(pattern)));
    let does = named.does.iter().filter(|_| !named.tool.is_empty()).flat_map(|question| conditions(question));
    let conditions: Vec<String> = arguments.chain(does).collect();
    if conditions.is_empty() { tool } else { format!("{tool} ({})", conditions.join(", ")) }
}

/// The instruction to make one of these calls: `call Login or run \`id\``.
pub(in crate::dialect) fn orders<'t>(calls: impl IntoIterator<Item = &'t ToolName>) -> String {
    let mut last = "";
    let mut order = |(verb, what): (&'static str, String)| {
        if std::mem::replace(&mut last, verb) == verb { what } else { format!("{verb} {what}") }
    };
    let each = |named: &ToolName| match &named.does {
        Some(question) if named.tool.is_empty() => vec![asks::order(question)],
        _ => callable(named).into_iter().map(|what| ("call", what)).collect(),
    };
    either(calls.into_iter().flat_map(each).map(&mut order).collect())
}

/// The tools that can be called, for a rule that names an alias, which no model can call.
fn callable(named: &ToolName) -> Vec<String> {
    match named.members.len() {
        0 => vec![operand(named)],
        1..=MEMBERS => {
            let member = |tool: &Arc<str>| operand(&ToolName { tool: Arc::clone(tool), ..named.clone() });
            named.members.iter().map(member).collect()
        }
        many => vec![format!("one of the {many} tools of {}", operand(named))],
    }
}

/// The clause that there is no such call.
fn absence(named: &ToolName) -> String {
    match &named.does {
        Some(question) if named.tool.is_empty() => asks::absence(question),
        _ => format!("no {}", operand(named)),
    }
}

fn firsts(first: &ToolName, or: &[ToolName]) -> String {
    either([first].into_iter().chain(or).map(operand).collect())
}

/// `a`, `a or b`, `a, b or c`.
fn either(mut words: Vec<String>) -> String {
    match words.pop() {
        Some(last) if words.is_empty() => last,
        Some(last) => format!("{} or {last}", words.join(", ")),
        None => "any tool".to_owned(),
    }
}

fn any(operands: &[ToolName]) -> String {
    either(operands.iter().map(operand).collect())
}

fn names_or(names: &[Arc<str>]) -> String {
    either(names.iter().map(|tool| name(tool).into_owned()).collect())
}

fn names(names: &[Arc<str>]) -> String {
    list(names.iter().map(|tool| name(tool).into_owned()))
}
