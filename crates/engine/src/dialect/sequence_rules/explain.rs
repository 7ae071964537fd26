//! The explanations of sequence rules: what each expects, what happened instead, what would satisfy it.

mod part;
mod sentences;

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::asks::Part;
use super::codes;
use super::facts::{Order, OrderOutcome};
use crate::monitor::explanation::{detail, state};
use crate::monitor::{About, Explain, Explanation, Line, LineState, Rule, RuleId, StateItem};
use part::{for_model, in_part};
use rulestep_base::session::CallRef;
use rulestep_base::wording::sentence::name;
use rulestep_base::wording::{self, Sentence, all, at, count, joined, tool_of};
use sentences::{Actual, against, expected, in_favour, suggestion, without};
pub(in crate::dialect) use sentences::{
    operand as operand_words, orders as operand_orders, title as operand_title,
};

/// The requirement of a rule, and its count when a call is checked.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderCheck {
    /// Its requirement.
    pub asks: Arc<Order>,
    /// The number of calls or steps so far, if the rule counts.
    pub count: u64,
    /// The matching part of the call, if the rule asks what calls do.
    pub part: Option<Part>,
}

/// A call that must come soon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deadline {
    /// The tool that is waited for.
    pub tool: Arc<str>,
    /// The call that started it; `None`: the session's start.
    pub since: Option<CallRef>,
    /// Calls left: the required one may still be the last of them.
    pub left: u64,
    /// Triggers that wait for the tool, this one included.
    pub open: u64,
}

/// Progress of a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Steps done.
    pub done: u64,
    /// Steps in all.
    pub of: u64,
    /// The tool of the next step; `None` when all are done.
    pub next: Option<Arc<str>>,
}

/// The name of a rule without its own.
pub(super) fn phrase(rule: &Rule) -> Option<String> {
    Some(match (rule.kind, &*rule.tools) {
        ("never_after", [trigger, forbidden]) => {
            format!("no {} after {}", wording::name(forbidden), wording::name(trigger))
        }
        ("max_calls" | "count", [tool]) => format!("limit on {}", wording::name(tool)),
        ("never", [tool]) => format!("no such {}", wording::name(tool)),
        ("require", [tool]) => format!("{} required", wording::name(tool)),
        ("eventually", [tool]) => format!("{} in time", wording::name(tool)),
        ("before", [first, then @ ..]) => format!("{} before {}", wording::name(first), all(then)),
        ("immediately_before", [first, then @ ..]) => {
            format!("{} directly before {}", wording::name(first), all(then))
        }
        ("after", [trigger, then]) => format!("{} after {}", wording::name(then), wording::name(trigger)),
        ("blocklist", [_, ..]) => format!("no {}", all(&rule.tools)),
        ("allowlist", [_, ..]) => format!("only {}", all(&rule.tools)),
        ("sequence", [_, ..]) => joined(&rule.tools, ", then "),
        _ => return None,
    })
}

impl Explain for OrderCheck {
    fn explain(&self, about: &About<'_>) -> Explanation {
        let expected = Sentence::new(expected(&self.asks));
        let headline = match (about.code, &self.part) {
            (Some(code), Some(part)) => in_part(part, against(code, &self.asks, self.count, about), code),
            (Some(code), None) => against(code, &self.asks, self.count, about),
            (None, _) => in_favour(&self.asks, self.count),
        };
        let way_out = about.code.and_then(|code| match (code, &*self.asks) {
            (codes::NOT_ALLOWLISTED, Order::Allowlist { .. })
                if self.part.as_ref().is_some_and(|part| part.opaque) =>
            {
                Some("write the commands out, or set `opaque: allow`".to_owned())
            }
            (codes::FORBIDDEN_CALL | codes::SELF_GUARD, Order::Never { call }) => {
                Some(without(call, self.part.as_ref()))
            }
            _ => suggestion(code, &self.asks, self.count),
        });
        let part = self.part.as_ref().filter(|part| !part.command.is_empty()).map(|part| Line {
            label: "matched",
            state: if part.unknown.is_some() || part.opaque || part.sweep.is_some() {
                LineState::Doubtful
            } else {
                LineState::Bad
            },
            ..Line::new(name(&part.command).into_owned())
        });
        let own = Line { text: expected.clone(), ..Line::new("") };
        Explanation {
            lines: [Some(own), part].into_iter().flatten().collect(),
            expected: Some(expected),
            way_out: way_out.map(Sentence::new),
            doubt: about.code.and(self.part.as_ref()).and_then(for_model),
            ..Explanation::new(about, headline)
        }
    }

    fn data(&self) -> Map<String, Value> {
        match &self.part {
            Some(part) => detail(&json!({"asks": self.asks, "count": self.count, "command": part})),
            None => detail(&json!({"asks": self.asks, "count": self.count})),
        }
    }
}

impl Explain for OrderOutcome {
    fn explain(&self, about: &About<'_>) -> Explanation {
        let way_out = about.code.and_then(|code| suggestion(code, &self.asks, self.count));
        let headline = match about.code {
            Some(code) => {
                let OrderOutcome { asks: rule, count, .. } = self;
                Actual { code, rule, count: *count, state: self, session: about.session }.sentence()
            }
            None => in_favour(&self.asks, self.count),
        };
        Explanation {
            expected: Some(Sentence::new(expected(&self.asks))),
            way_out: way_out.map(Sentence::new),
            ..Explanation::new(about, headline)
        }
    }
}

impl Deadline {
    /// As an item of a turn's state.
    pub(super) fn kept(self, rule: RuleId) -> StateItem {
        StateItem::Kept { rule, tool: Some(Arc::clone(&self.tool)), facts: Arc::new(self) }
    }
}

impl Explain for Deadline {
    fn explain(&self, about: &About<'_>) -> Explanation {
        let (tool, left, session) = (name(&self.tool), count(self.left, "call"), about.session);
        let open = (self.open > 1).then(|| format!("{} waiting", count(self.open, "trigger")));
        let after = self.since.map(|call| format!("after {}", tool_of(call, session)));
        let since = self.since.zip(after.as_ref());
        let since =
            since.map_or_else(String::new, |(call, after)| format!(" {after} in {}", at(call, session)));
        let why = after.unwrap_or_else(|| "from the session's start".to_owned());
        let line = Line {
            value: Some(Sentence::new(format!("due within {left}"))),
            state: LineState::Pending,
            lines: vec![Line { call: self.since, value: open.clone().map(Sentence::new), ..Line::new(why) }],
            ..Line::new(&*tool)
        };
        Explanation {
            lines: vec![line],
            ..Explanation::new(
                about,
                format!(
                    "{tool} is due{since}: {left} left{}",
                    open.map_or_else(String::new, |open| format!(", {open}"))
                ),
            )
        }
    }

    fn data(&self) -> Map<String, Value> {
        let Deadline { tool, since, left, open } = self;
        state("deadline", &json!({"tool": tool, "since": since, "left": left, "open": open}))
    }
}

impl Progress {
    /// As an item of a turn's state.
    pub(super) fn kept(self, rule: RuleId) -> StateItem {
        StateItem::Kept { rule, tool: self.next.clone(), facts: Arc::new(self) }
    }
}

impl Explain for Progress {
    fn explain(&self, about: &About<'_>) -> Explanation {
        let Progress { done, of, next } = self;
        let (text, then, state) = match next {
            Some(next) => {
                (format!("next {}", name(next)), format!(", next {}", name(next)), LineState::Pending)
            }
            None => ("sequence done".to_owned(), String::new(), LineState::Good),
        };
        let value = Some(Sentence::new(format!("steps {done} of {of}")));
        Explanation {
            lines: vec![Line { value, state, ..Line::new(text) }],
            ..Explanation::new(about, format!("sequence: {done} of {} done{then}", count(*of, "step")))
        }
    }

    fn data(&self) -> Map<String, Value> {
        let Progress { done, of, next } = self;
        state("step", &json!({"done": done, "of": of, "next": next}))
    }
}
