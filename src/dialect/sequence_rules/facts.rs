//! What a sequence rule asks: which tools, in which order, how often, how soon. And how it ended.

use std::sync::Arc;

use serde::Serialize;

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
        /// What comes first.
        first: ToolName,
        /// What needs it, one or several.
        then: Vec<ToolName>,
    },
    /// Directly before every `then` is a `first`.
    ImmediatelyBefore {
        /// What comes first.
        first: ToolName,
        /// What needs it, one or several.
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
        /// How many calls it may take, its own included.
        within: u64,
    },
    /// Once `trigger` ran, no `forbidden`.
    NeverAfter {
        /// What begins it.
        trigger: ToolName,
        /// What may not follow.
        forbidden: ToolName,
    },
    /// Every `trigger` is followed by a `then`.
    After {
        /// What begins it.
        trigger: ToolName,
        /// What must follow.
        then: ToolName,
        /// How many calls later at the latest.
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
            Order::Before { first, then } | Order::ImmediatelyBefore { first, then } => {
                [first].into_iter().chain(then).collect()
            }
            Order::NeverAfter { trigger, forbidden } => vec![trigger, forbidden],
            Order::After { trigger, then, .. } => vec![trigger, then],
            Order::Sequence { tools, .. } => tools.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The tools it names, in the order in which it asks about them.
    pub fn tools(&self) -> Arc<[Arc<str>]> {
        let own = |named: &ToolName| Arc::clone(&named.tool);
        match self {
            Order::Require { tool } | Order::MaxCalls { tool, .. } | Order::Eventually { tool, .. } => {
                [own(tool)].into()
            }
            Order::Before { first, then } | Order::ImmediatelyBefore { first, then } => {
                [first].into_iter().chain(then).map(own).collect()
            }
            Order::Blocklist { pattern, tools } => {
                let contains = pattern.iter().map(|pattern| format!("…{pattern}…").into());
                contains.chain(tools.iter().cloned()).collect()
            }
            Order::Allowlist { tools } => tools.as_slice().into(),
            Order::NeverAfter { trigger, forbidden } => [own(trigger), own(forbidden)].into(),
            Order::After { trigger, then, .. } => [own(trigger), own(then)].into(),
            Order::Sequence { tools, .. } => tools.iter().map(own).collect(),
            Order::Exact { tools } => tools.as_slice().into(),
        }
    }
}

/// A tool as a rule names it: by its own name or an alias, perhaps only with certain arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolName {
    /// The name in the rule.
    pub tool: Arc<str>,
    /// Patterns of arguments that must match, by argument.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args_match: Vec<(Arc<str>, Arc<str>)>,
}

/// What a rule requires, and how it ended.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderOutcome {
    /// What it requires.
    pub asks: Arc<Order>,
    /// Calls or steps, where it counts any.
    pub count: u64,
    /// The call at fault, by index in the session.
    pub position: Option<u32>,
    /// The calls that were read for it.
    pub calls: Vec<u32>,
}
