//! The result of a search for a way out.

use std::sync::Arc;

use serde_json::Value;

use crate::monitor::RuleId;
use rulestep_base::session::edit::{AddedCall, Edit};
use rulestep_base::session::{Body, CallRef};

/// What would have to happen before a stopped call.
#[derive(Debug, Clone, PartialEq)]
pub struct WayOut {
    /// The call.
    pub call: CallRef,
    /// The result of the search.
    pub answer: Answer,
    /// Another value of one argument with which the call is allowed as it is; searched for if no calls help.
    pub change: Option<ArgumentChange>,
    /// Tools of the answer that the model was not offered.
    pub not_offered: Vec<Arc<str>>,
}

/// The result of a search for a way out.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The call is allowed after these, in this order. If empty, it is allowed as it is, in a turn of its own.
    After(Vec<Step>),
    /// The messages decide, whatever is called: these rules.
    Said(Vec<RuleId>),
    /// No calls help.
    Never(Obstacle),
    /// No calls up to this many help. Whether more would is not known.
    NotWithin(u32),
}

/// One turn before the call.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its call; `None`: a turn without calls.
    pub call: Option<AddedCall>,
    /// Whether a call of most other tools would do as well: a rule looks at the call directly before.
    pub any: bool,
    /// The rules that stop this call or a later step without it.
    pub rules: Vec<RuleId>,
}

/// What stops every way.
#[derive(Debug, Clone, PartialEq)]
pub struct Obstacle {
    /// The tool whose calls are stopped: that of the call, or of one that it needs.
    pub tool: Arc<str>,
    /// The rule that stops them.
    pub rule: RuleId,
    /// Whether that rule alone stops them for the rest of the session.
    pub lasting: bool,
}

/// Another value of an argument.
#[derive(Debug, Clone, PartialEq)]
pub struct ArgumentChange {
    /// Its path, as a JSONPath.
    pub path: Arc<str>,
    /// A value with which the call is allowed.
    pub value: Value,
    /// The arguments with it.
    pub arguments: Body,
}

impl WayOut {
    /// The changes of the session that show it; empty if nothing helps.
    pub fn edits(&self) -> Vec<Edit> {
        let before = self.call.index;
        match (&self.answer, &self.change) {
            (Answer::After(steps), _) if steps.is_empty() => vec![Edit::NextTurn(before)],
            (Answer::After(steps), _) => {
                steps.iter().map(|step| Edit::AddTurn { before, call: step.call.clone() }).collect()
            }
            (_, Some(change)) => {
                vec![Edit::Arguments { call: before, arguments: change.arguments.clone() }]
            }
            (_, None) => Vec::new(),
        }
    }
}
