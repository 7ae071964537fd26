//! Statements of rules about tools in terms that belong to no dialect, so that rules of several documents and languages
//! can be compared with each other and with recordings without running them.

use std::sync::Arc;

use serde_json::Value;

use super::RuleId;
use rulestep_base::session::Body;

/// One thing that a rule says.
pub struct Statement {
    /// The rule.
    pub rule: RuleId,
    /// The rule applies only to sessions whose context does not contradict these values.
    pub when: Arc<[(Arc<str>, Value)]>,
    /// The statement.
    pub says: Says,
}

/// Whether a tool matches.
pub type NameTest = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// A statement about tools.
#[derive(Clone)]
pub enum Says {
    /// Each call of the tool needs an earlier success of one of these.
    Needs {
        /// The tool.
        tool: Arc<str>,
        /// What it needs.
        any_of: Arc<[Arc<str>]>,
        /// Whether that call must be the one directly before.
        directly: bool,
    },
    /// No call of these tools runs, whatever happened before.
    Never(NameTest),
    /// After a call of one tool, no call of the other one runs in the session.
    Forbids {
        /// The first tool.
        after: Arc<str>,
        /// The other one.
        tool: Arc<str>,
    },
    /// A call of the second kind does not run directly after one of the first kind.
    Apart(NameTest, NameTest),
    /// A session needs a success of one of these.
    Must(Arc<[Arc<str>]>),
    /// After a call of the tool, a session needs a success of one of the others.
    Follows {
        /// The tool.
        after: Arc<str>,
        /// Whether every call needs one after it, or the session needs it once.
        each: bool,
        /// What must follow.
        any_of: Arc<[Arc<str>]>,
    },
    /// The rule denies no call, whatever happened before.
    Nothing,
    /// The calls of a session are these.
    Exactly(Arc<[Arc<str>]>),
}

/// A condition on the context of a session: the rule is off if the key has another value.
#[derive(Debug, Clone)]
pub struct Condition {
    /// The rule.
    pub rule: RuleId,
    /// Below `context`, with dots.
    pub key: Arc<str>,
    /// The required value.
    pub value: Value,
}

/// A value that a rule looks at in calls of a tool.
pub struct Probe {
    /// The rule.
    pub rule: RuleId,
    /// The tool.
    pub tool: Arc<str>,
    /// The part of its calls.
    pub part: CallPart,
    /// The path, as it is written.
    pub path: Arc<str>,
    /// The condition on the value, in words; `None` if any value will do.
    pub condition: Option<String>,
    /// Whether a call is denied where the condition fails. Others choose the calls that a rule is about, and a rule may well be
    /// about what never happened.
    pub is_required: bool,
    /// Looks.
    pub look: Arc<dyn Fn(&Body) -> Look + Send + Sync>,
}

/// A part of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallPart {
    /// The arguments.
    Arguments,
    /// The result.
    Result,
}

/// The result of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Something is at the path.
    pub present: bool,
    /// The condition passes.
    pub passes: bool,
}
