//! The results of a rejection plan's conditions for one call: a tree, each leaf with the text it looked at.

use std::ops::Range;
use std::sync::Arc;

use crate::monitor::history::Speaker;
use rulestep_base::session::Body;

/// The facts of a rejection plan about one call.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Whether each condition of the plan matched, in order; empty if the plan has none or is unreadable.
    pub matched: Vec<bool>,
    /// The plan and its conditions.
    pub tree: Condition,
    /// The answer depends on whether the call counts as a message; here it does, or does not.
    pub counts: Option<bool>,
}

/// One condition and its result.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// Its kind.
    pub kind: ConditionKind,
    /// Its place in the document, as a JSON pointer.
    pub pointer: Arc<str>,
    /// Whether it matched; at the root, whether the call is rejected. `negate` is counted in.
    pub value: bool,
    /// Why it could not be evaluated, and so counts as matched.
    pub unevaluable: Option<Cause>,
    /// Its parts: conditions of the plan or of a group.
    pub conditions: Vec<Condition>,
}

/// The kind of a condition, and the text that it looked at.
#[derive(Debug, Clone, PartialEq)]
pub enum ConditionKind {
    /// The plan itself: all of its conditions, and at least one.
    Plan,
    /// Joined conditions; `None` if the operator is missing.
    Group(Option<Join>),
    /// A pattern searched for in one message.
    Regex {
        /// The pattern, as written.
        pattern: Arc<str>,
        /// The result is turned around.
        negate: bool,
        /// The speaker whose messages are counted.
        speaker: Speaker,
        /// The message among them: from 0 the oldest, from -1 the newest.
        position: i64,
        /// The message at the target, if there is one.
        seen: Option<TargetMessage>,
    },
    /// A template.
    Liquid {
        /// The template, as written.
        template: Arc<str>,
        /// Its output, without white space around it.
        printed: Option<Arc<str>>,
    },
    /// The document has something there that cannot be read as a condition.
    Unknown,
}

/// How the conditions of a group are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// All must match.
    And,
    /// One must match.
    Or,
}

/// The message that a pattern was searched for in.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetMessage {
    /// Its index in the history that the call has, from 0.
    pub message: usize,
    /// Its role.
    pub role: Arc<str>,
    /// Whether it is the response that makes the call.
    pub own: bool,
    /// Its content, as recorded; [`Body::said`] is the text that was searched.
    pub content: Body,
    /// Where the pattern was found, in bytes of that text.
    pub found: Option<Range<usize>>,
}

/// Why a condition cannot be evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// Its own text is wrong, whatever the history: the message from loading the plan.
    Text(Arc<str>),
    /// The search for the pattern was given up after this many steps.
    Budget(u64),
    /// The message's content is neither text nor a list of parts.
    Content,
    /// The template printed something that is neither `true` nor `false`.
    Printed,
    /// The template needs the current time, and there is none.
    NoInstant,
    /// The template failed, in the words of its engine.
    Template(Arc<str>),
}
