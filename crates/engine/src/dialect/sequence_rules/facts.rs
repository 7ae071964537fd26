//! Requirements of sequence rules: which tools, in which order, how often, how soon. And their outcomes.

use super::asks::title;
use std::sync::Arc;

use serde::Serialize;

use crate::dialect::question::Question;

/// A sequence rule in its own terms.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Order {
    /// The tool runs at least once.
    Require {
        /// The tool.
        tool: ToolName,
    },
    /// No `then` without an earlier `first`.
    Before {
        /// The call that comes first.
        first: ToolName,
        /// Alternatives to it.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        or: Vec<ToolName>,
        /// The calls that need it.
        then: Vec<ToolName>,
        /// What both calls must have in common.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        same: Vec<Arc<str>>,
    },
    /// Directly before every `then` is a `first`.
    ImmediatelyBefore {
        /// The call that comes first.
        first: ToolName,
        /// The calls that need it.
        then: Vec<ToolName>,
    },
    /// No call of these.
    Blocklist {
        /// Text that no name may contain.
        pattern: Option<Arc<str>>,
        /// Names, with `*` and `?`.
        tools: Vec<Arc<str>>,
    },
    /// No call of anything else.
    Allowlist {
        /// Names, with `*` and `?`.
        tools: Vec<Arc<str>>,
        /// Calls, of which each command is allowed.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolName>,
    },
    /// No such call.
    Never {
        /// The call.
        call: ToolName,
    },
    /// No more calls than this.
    MaxCalls {
        /// The tool.
        tool: ToolName,
        /// The most that may be.
        max: u64,
    },
    /// A call among the first of the session.
    Eventually {
        /// The tool.
        tool: ToolName,
        /// The number of calls within which it must come, its own included.
        within: u64,
    },
    /// Once `trigger` ran, no `forbidden`.
    NeverAfter {
        /// The call that begins the ban.
        trigger: ToolName,
        /// The forbidden call.
        forbidden: ToolName,
        /// The call that lifts the ban, until the next trigger.
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<ToolName>,
    },
    /// Every `trigger` is followed by a `then`.
    After {
        /// The call that begins the obligation.
        trigger: ToolName,
        /// The call that must follow.
        then: ToolName,
        /// The number of calls within which it must follow.
        within: u64,
    },
    /// The steps in this order.
    Sequence {
        /// The steps.
        tools: Vec<ToolName>,
        /// Whether nothing may come between them.
        strict: bool,
    },
    /// The calls are these, and no others.
    #[serde(rename = "exact_sequence")]
    Exact {
        /// The tools, in order.
        tools: Vec<Arc<str>>,
    },
}

impl Order {
    /// The tools that it names one by one, each perhaps with patterns of arguments.
    pub fn operands(&self) -> Vec<&ToolName> {
        match self {
            Order::Require { tool } | Order::MaxCalls { tool, .. } | Order::Eventually { tool, .. } => {
                vec![tool]
            }
            Order::Before { first, or, then, .. } => [first].into_iter().chain(or).chain(then).collect(),
            Order::ImmediatelyBefore { first, then } => [first].into_iter().chain(then).collect(),
            Order::Never { call } => vec![call],
            Order::Allowlist { calls, .. } => calls.iter().collect(),
            Order::NeverAfter { trigger, forbidden, until } => {
                [trigger, forbidden].into_iter().chain(until).collect()
            }
            Order::After { trigger, then, .. } => vec![trigger, then],
            Order::Sequence { tools, .. } => tools.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// A text that equal orders share and few others have, to look them up by.
    pub fn outline(&self) -> String {
        let asks = self.operands().into_iter().map(|named| {
            let question = named.does.as_ref().map(|question| title(question)).unwrap_or_default();
            format!("{:?} {question}", named.args_match)
        });
        format!("{:?} {}", self.tools(), asks.collect::<Vec<_>>().join(" "))
    }

    /// The tools it names, in the order in which it asks about them.
    pub fn tools(&self) -> Arc<[Arc<str>]> {
        let own = |named: &ToolName| Arc::clone(&named.tool);
        if let Order::Allowlist { tools, .. } = self {
            return tools.as_slice().into();
        }
        // An operand without a tool has no tool's name.
        if self.operands().iter().any(|named| named.tool.is_empty()) {
            return self.operands().into_iter().map(own).filter(|tool| !tool.is_empty()).collect();
        }
        match self {
            Order::Require { tool } | Order::MaxCalls { tool, .. } | Order::Eventually { tool, .. } => {
                [own(tool)].into()
            }
            Order::Before { first, or, then, .. } => {
                [first].into_iter().chain(or).chain(then).map(own).collect()
            }
            Order::ImmediatelyBefore { first, then } => [first].into_iter().chain(then).map(own).collect(),
            Order::Never { call } => [own(call)].into(),
            Order::Blocklist { pattern, tools } => {
                let contains = pattern.iter().map(|pattern| format!("…{pattern}…").into());
                contains.chain(tools.iter().cloned()).collect()
            }
            Order::Allowlist { tools, .. } => tools.as_slice().into(),
            Order::NeverAfter { trigger, forbidden, .. } => [own(trigger), own(forbidden)].into(),
            Order::After { trigger, then, .. } => [own(trigger), own(then)].into(),
            Order::Sequence { tools, .. } => tools.iter().map(own).collect(),
            Order::Exact { tools } => tools.as_slice().into(),
        }
    }
}

/// A tool as a rule names it: by its own name or an alias, perhaps only with certain arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ToolName {
    /// The name in the rule.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub tool: Arc<str>,
    /// Patterns of arguments that must match, by argument.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args_match: Vec<(Arc<str>, Arc<str>)>,
    /// Its question about what a call does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub does: Option<Arc<Question>>,
    /// The tools of an alias; empty for a tool's own name.
    #[serde(skip)]
    pub members: Vec<Arc<str>>,
}

/// The requirement of a rule, and its outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderOutcome {
    /// Its requirement.
    pub asks: Arc<Order>,
    /// The number of calls or steps, if the rule counts.
    pub count: u64,
    /// The call at fault, by index in the session.
    pub position: Option<u32>,
    /// The calls that were read for it.
    pub calls: Vec<u32>,
}
