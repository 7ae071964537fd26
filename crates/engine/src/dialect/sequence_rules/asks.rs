//! Questions about what a call does, as this dialect uses them: how an unknown counts, and what a finding says.

use std::sync::Arc;

use crate::dialect::question::Question;
use crate::monitor::Effect;
use rulestep_base::session::Body;
use rulestep_base::wording::sentence::name;
pub(in crate::dialect) use rulestep_shell::question::Copies;

/// The role of a side in its rule. It determines how an unknown counts: never for the agent, unless the rule says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::dialect) enum Role {
    /// A match satisfies the rule.
    Permits,
    /// A match begins something that forbids other calls.
    Triggers,
    /// A match is what the rule stops.
    Forbids,
}

/// The part of a call that a finding is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Part {
    /// The command as it was read; empty for a call that is not one.
    pub command: Arc<str>,
    /// Its range in the command line, in characters.
    pub characters: [usize; 2],
    /// The unknown word on which the answer depends, if any.
    pub unknown: Option<Arc<str>>,
    /// Whether it runs code that was not read.
    pub opaque: bool,
    /// The folder that it searches, if it is a sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Arc<str>>,
    /// The command of the same call that comes first.
    pub since: Option<Arc<str>>,
    /// The part of the earlier call that it rests on.
    pub trigger: Option<Arc<Part>>,
}

/// The response to a call that the rule would stop if opaque code did it, or if a sweep read what it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Response {
    Allow,
    #[default]
    Report,
    Ask,
    Deny,
}

impl Response {
    pub fn effect(self) -> Effect {
        match self {
            Response::Allow => Effect::None,
            Response::Report => Effect::Report,
            Response::Ask => Effect::Ask,
            Response::Deny => Effect::Deny,
        }
    }
}

/// What happens to a call about which a rule cannot be sure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum OnDoubt {
    /// The doubt counts against the agent.
    #[default]
    Deny,
    /// It counts against the agent, and a person is asked about a call that would be allowed if it counted for the
    /// agent.
    Ask,
    /// It counts for the agent.
    Allow,
}

/// How a rule treats what it does not know of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Doubts {
    pub unsure: OnDoubt,
    pub opaque: Response,
    pub sweeps: Response,
}

/// Why a command line cannot be read to its end; `None`: it can.
pub(in crate::dialect) fn unread(line: &str) -> Option<String> {
    use rulestep_shell::{Root, facts::Table, tool};
    let root = Root::of("", None, Table::default());
    let read = tool::of_call("Bash", Some(&serde_json::json!({"command": line})), &root);
    read.problem.map(|problem| problem.to_string())
}

/// A command line that a question means.
pub(in crate::dialect) fn example(question: &Question) -> Option<String> {
    question.example()
}

/// A call that reads the file which another call works on, if a question asks about reading: the tool and its
/// arguments.
pub(in crate::dialect) fn reading(
    question: &Question,
    call: crate::monitor::Prospect<'_>,
) -> Option<(Arc<str>, serde_json::Value)> {
    let given = call.wanted.parsed().filter(|_| question.asks_reads())?;
    let earlier = call.earlier.iter().rev().map(|call| &*call.tool);
    let (tool, arguments) = rulestep_shell::tool::reading(question.facts(), call.tool, given, earlier)?;
    Some((tool.into(), arguments))
}

/// Whether a question asks how a call ended.
pub(in crate::dialect) fn asks_end(question: &Question) -> bool {
    question.asks_end()
}

/// The arguments of a call that a question looks at; `None`: any of them.
pub(in crate::dialect) fn looked_at(question: &Question, tool: &str, given: &Body) -> Option<Vec<String>> {
    rulestep_shell::tool::looks_at(question.facts(), tool, given.parsed())
}

/// What is learned from a call by a question.
pub(in crate::dialect) use crate::dialect::question::learns::learns;

/// A question as the name of a call.
pub(in crate::dialect) fn label(question: &Question) -> String {
    name(&question.label()).into_owned()
}

/// The instruction to make a matching call: the verb, and its object.
pub(in crate::dialect) fn order(question: &Question) -> (&'static str, String) {
    let (verb, what) = question.order();
    (verb, name(&what).into_owned())
}

/// The clause that there is no matching call.
pub(in crate::dialect) fn absence(question: &Question) -> String {
    name(&question.absence()).into_owned()
}

/// The same for a column, where it is cleaned like any other text.
pub(in crate::dialect) fn title(question: &Question) -> String {
    question.label()
}

/// Its conditions besides a tool's name.
pub(in crate::dialect) fn conditions(question: &Question) -> Vec<String> {
    question.conditions().map(|condition| name(&condition).into_owned()).collect()
}
