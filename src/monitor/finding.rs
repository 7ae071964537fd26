//! What rules say: findings against a call, checks that were made, the state that stands, and how rules end.
//!
//! These are facts: codes, values and calls. Sentences for people are made from them in `report`.

use std::cmp::Ordering;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Number, Value};

use super::fault::Fault;
use super::kept::{Dispatched, Files, Recorded};
use super::order::Order;
use super::plan::Plan;
use super::rule::RuleId;
use crate::diagnostic::code::Code;
use crate::session::CallRef;

/// What a finding does to a call, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing was said.
    #[default]
    None,
    /// True as well, but another rule of the unit was first.
    Also,
    /// Worth knowing; changes no decision.
    Report,
    /// The call does not run.
    Deny,
    /// The call does not run, and the session is over.
    Halt,
}

impl Effect {
    /// The word of the JSON output and the screen.
    pub fn word(self) -> &'static str {
        match self {
            Effect::None => "none",
            Effect::Also => "also",
            Effect::Report => "report",
            Effect::Deny => "deny",
            Effect::Halt => "halt",
        }
    }
}

/// What one rule said about one call.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The rule.
    pub rule: RuleId,
    /// What it does to the call.
    pub effect: Effect,
    /// Why, as a stable code.
    pub code: Code,
    /// What was checked in the call.
    pub checked: Option<Checked>,
    /// The earlier calls it rests on, the decisive one first.
    pub found: Vec<Found>,
    /// What else there is to know, by kind.
    pub detail: Detail,
    /// The rule's own reason, for telemetry; never told to the model.
    pub reason: Option<Arc<str>>,
    /// The text that is told to the model instead of a result.
    pub tell_llm: Option<Arc<str>>,
}

/// A rule that was asked about a call, also when it had nothing against it.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// The rule.
    pub rule: RuleId,
    /// Whether it is content with the call.
    pub passed: bool,
    /// Why not.
    pub code: Option<Code>,
    /// What was checked in the call.
    pub checked: Option<Checked>,
    /// The earlier calls it rests on.
    pub found: Vec<Found>,
    /// What else there is to know.
    pub detail: Detail,
}

/// A value of the call that a rule looked at.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checked {
    /// JSONPath in the arguments.
    pub path: Arc<str>,
    /// What stands there; absent where there is not exactly one value.
    pub value: Option<Value>,
}

/// An earlier call that a finding rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The call.
    pub call: CallRef,
    /// Its value at the path that was compared, where one was.
    pub value: Option<Value>,
}

/// What a finding or check knows beyond its code, by kind of rule.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Detail {
    /// Nothing more.
    #[default]
    None,
    /// A rule about an earlier call.
    Prior(Box<Prior>),
    /// A rule about completed turns.
    Steps {
        /// Turns completed before this one.
        completed: u64,
        /// The fewest that the rule asks for, as it was written.
        wanted: Number,
    },
    /// A rule about the calls that were dispatched.
    Dispatch(Box<Dispatch>),
    /// A rule about tools that must have succeeded: those that have not, sorted.
    Missing(Vec<Arc<str>>),
    /// A rule about a file that must have been read.
    File(Box<Touched>),
    /// A rejection plan.
    Plan(Arc<Plan>),
    /// A rule about the order of calls.
    Order {
        /// What it asks.
        rule: Arc<Order>,
        /// Calls or steps so far, where it counts any.
        count: u64,
    },
    /// The rule failed by itself.
    Fault(Arc<Fault>),
}

/// The facts of a rule about the calls that were dispatched.
#[derive(Debug, Clone, PartialEq)]
pub struct Dispatch {
    /// The policy's own name.
    pub policy: Arc<str>,
    /// What was compared.
    pub rule: DispatchRule,
    /// On a halt, every call that was dispatched before it.
    pub dispatched: Option<Dispatched>,
}

/// What is compared with the calls that were dispatched.
#[derive(Debug, Clone, PartialEq)]
pub enum DispatchRule {
    /// The last calls, this one included, each with the pattern of its name.
    Sequence(Arc<[NamePattern]>),
    /// How many calls of the tool there were.
    Limit {
        /// Calls dispatched before this one.
        used: u64,
        /// The most that may be.
        allowed: u64,
    },
}

/// A pattern of a tool's name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum NamePattern {
    /// The name itself.
    Exact(Arc<str>),
    /// Any name that begins so.
    Prefix(Arc<str>),
}

/// A file that a call writes.
#[derive(Debug, Clone, PartialEq)]
pub struct Touched {
    /// What a read is looked up by: the path below the mount point. `None`: the call names no path, and passes.
    pub key: Option<Arc<str>>,
    /// Whether it exists; `None`: there is no path, or nobody lists the files and no call has touched it.
    pub exists: Option<bool>,
    /// Whether it was read with one of the tools that count.
    pub read: bool,
}

/// The facts of a rule about an earlier call.
#[derive(Debug, Clone, PartialEq)]
pub struct Prior {
    /// The tool that must have run.
    pub tool: Arc<str>,
    /// Which prior call decides: `newest` or `any`.
    pub matching: &'static str,
    /// The other reading of `match` would have decided differently.
    pub other_reading: bool,
    /// What the deciding call's result was asked, and what stood there.
    pub outputs: Vec<Output>,
    /// A path under which the failed condition would hold: the result is wrapped in another object.
    pub hint: Option<Arc<str>>,
}

/// One condition on a result.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// JSONPath in the result.
    pub path: Arc<str>,
    /// The comparison.
    pub comparison: Comparison,
    /// What was wanted.
    pub wanted: Value,
    /// What stood there: the first few nodes.
    pub got: Vec<Value>,
    /// How many nodes stood there in all.
    pub nodes: usize,
    /// Whether it holds.
    pub holds: bool,
}

/// Operators of conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// There is, or there is no, node.
    Exists,
    /// Equal by JSON equality.
    Equals,
    /// A number that is at least the wanted one.
    Gte,
    /// A number that is at most the wanted one.
    Lte,
}

impl Comparison {
    /// The key of the policy language.
    pub fn word(self) -> &'static str {
        match self {
            Comparison::Exists => "exists",
            Comparison::Equals => "equals",
            Comparison::Gte => "gte",
            Comparison::Lte => "lte",
        }
    }

    /// Whether an order between two numbers is what a bound asks for.
    pub fn admits(self, order: Ordering) -> bool {
        match self {
            Comparison::Gte => order != Ordering::Less,
            Comparison::Lte => order != Ordering::Greater,
            Comparison::Equals => order == Ordering::Equal,
            Comparison::Exists => true,
        }
    }
}

/// Something that stands at a moment, for people to look at.
#[derive(Debug, Clone, PartialEq)]
pub enum StateItem {
    /// A tool that is forbidden for the rest of the session.
    Forbidden {
        /// The tool.
        tool: Arc<str>,
        /// The call since which it is.
        since: CallRef,
        /// The rule that forbids it.
        rule: RuleId,
    },
    /// A precondition of a tool, as the first call of the turn would find it.
    Precondition {
        /// The rule.
        rule: RuleId,
        /// The tool it governs.
        tool: Arc<str>,
        /// Whether some call could meet it now.
        satisfied: bool,
        /// Why not.
        code: Option<Code>,
        /// The earlier calls that meet it, the newest first, a few.
        by: Vec<CallRef>,
        /// What else there is to know.
        detail: Detail,
    },
    /// How far a tool's limit is used up.
    Limit {
        /// The rule.
        rule: RuleId,
        /// The tool.
        tool: Arc<str>,
        /// Calls so far.
        used: u64,
        /// The most that may be.
        allowed: u64,
    },
    /// What a document of tool policies has recorded, and the files it knows.
    Recorded {
        /// What its rules' ids begin with: `FILE#`.
        document: Arc<str>,
        /// Tools and keys.
        recorded: Recorded,
        /// The files that exist.
        files: Files,
        /// Whether the files at the session's start were listed.
        listed: bool,
    },
    /// A call that must come soon.
    Deadline {
        /// The rule.
        rule: RuleId,
        /// The tool that is waited for.
        tool: Arc<str>,
        /// The call since which it is; `None`: the session's start.
        since: Option<CallRef>,
        /// Calls left: the last of them may still be it.
        left: u64,
        /// Calls that wait for one, this one included.
        open: u64,
    },
    /// How far a sequence has come.
    Step {
        /// The rule.
        rule: RuleId,
        /// Steps done.
        done: u64,
        /// Steps in all.
        of: u64,
        /// The tool of the next step; `None` when all are done.
        next: Option<Arc<str>>,
    },
    /// A rule that failed by itself: what it has recorded is not known.
    Fault {
        /// The rule.
        rule: RuleId,
        /// What failed.
        fault: Arc<Fault>,
    },
}

/// How a rule about a session stands.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleState {
    /// The rule.
    pub rule: RuleId,
    /// Its outcome.
    pub outcome: RuleOutcome,
    /// Why it is violated.
    pub code: Option<Code>,
    /// The call at fault, by index in the session.
    pub position: Option<u32>,
    /// The calls that were read for it.
    pub calls: Vec<u32>,
    /// Calls that it stopped.
    pub averted: u32,
    /// What else there is to know.
    pub detail: Detail,
}

/// Outcomes of rules about sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleOutcome {
    /// It had something to decide and is true.
    Held,
    /// It is false.
    Violated,
    /// It had nothing to decide.
    NotExercised,
    /// Not yet decided.
    Pending,
}

impl RuleOutcome {
    /// The word of the JSON output and the screen.
    pub fn word(self) -> &'static str {
        match self {
            RuleOutcome::Held => "held",
            RuleOutcome::Violated => "violated",
            RuleOutcome::NotExercised => "not_exercised",
            RuleOutcome::Pending => "pending",
        }
    }
}

impl Finding {
    /// A finding without evidence.
    pub fn new(rule: RuleId, effect: Effect, code: Code) -> Finding {
        Finding {
            rule,
            effect,
            code,
            checked: None,
            found: Vec::new(),
            detail: Detail::None,
            reason: None,
            tell_llm: None,
        }
    }
}

impl Check {
    /// A check without evidence.
    pub fn new(rule: RuleId, passed: bool) -> Check {
        Check { rule, passed, code: None, checked: None, found: Vec::new(), detail: Detail::None }
    }
}
